"""Fields of a question shared by HTTP and MCP, with their limits, and the validation of names against an engine."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from trivium.answering.prompt_styles import shipped_styles, style_names
from trivium.errors import ConfigurationError, InputError
from trivium.fusion.fusion_names import FUSIONS
from trivium.graph.filter_language import MAX_CHARACTERS, parse
from trivium.live.ask_sources import MAX_SOURCES
from trivium.rerank.reranker_names import FREE, PREFIX
from trivium.retrievers.retriever_names import RETRIEVERS
from trivium.search.cut import Cut
from trivium.search.requests import AskRequest, PassageOptions, SearchRequest, describe
from trivium.search.retriever_set import NO_NAMES
from trivium.search.searcher import Searcher
from trivium.settings.settings import load_settings
from trivium.text.normalise import has_lone_surrogate
from trivium.types import Intent

MAX_QUESTION_CHARACTERS = 4000
"""Maximum length of a question. An embedder reads only its first few hundred words."""

Name = Annotated[str, Field(min_length=1, max_length=100)]


class OptionError(InputError):
    """A request names an unknown retriever, fusion or setting."""


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("needs some text")
    return text


def _whole(text: str) -> str:
    """Reject lone surrogates, which JSON can represent but no encoding can."""
    if has_lone_surrogate(text):
        raise ValueError("holds half a surrogate pair, which is no character")
    return text


Whole = Annotated[str, AfterValidator(_whole)]


def _as_in(name: str, request: type[PassageOptions] = SearchRequest, more: str = "", **limits: Any) -> Any:
    """Return a field that means what the field of the engine's request does, and is described as there."""
    return Field(description=describe(request, name) + more, **limits)


AnyText = Annotated[
    Whole,
    _as_in(
        "question", max_length=MAX_QUESTION_CHARACTERS, examples=["Who discovered the two moons of Mars?"]
    ),
]
QuestionText = Annotated[AnyText, AfterValidator(_not_blank), Field(min_length=1)]
RecallText = Annotated[
    Annotated[AnyText, AfterValidator(_not_blank)] | None,
    _as_in("recall", more=" It is the `recall_query` of an answer."),
]
Retrievers = Annotated[
    list[Annotated[Name, Field(examples=list(RETRIEVERS))]] | None,
    _as_in("retrievers", max_length=32, examples=[["vector", "walk"]]),
]
FusionOption = Annotated[Name | None, _as_in("fusion", examples=list(FUSIONS))]
SettingsOption = Annotated[
    dict[Name, int | float | bool | str | None] | None,
    _as_in("settings", max_length=64, examples=[{"walk.damping": 0.4}]),
]
ExplainOption = Annotated[bool, _as_in("explain")]
IntentOption = Annotated[Intent | None, _as_in("intent", AskRequest)]
RewriteOption = Annotated[bool, _as_in("rewrite", AskRequest)]


def _condition(text: str) -> str:
    try:
        parse(text)
    except InputError as error:
        raise ValueError(str(error)) from error
    return text


def _cut(text: str) -> str:
    try:
        Cut.read(text)
    except InputError as error:
        raise ValueError(str(error)) from error
    return text


RerankOption = Annotated[
    Name | None,
    _as_in(
        "rerank",
        more=f" Besides {' and '.join(FREE)}, those that the server's operator allows.",
        examples=["bm25", "weighted:0.7"],
    ),
]
CutOption = Annotated[
    Annotated[Name, AfterValidator(_cut)] | None,
    _as_in("cut", examples=["near", "gap:2-12", "probability:0.01"]),
]
WhereText = Annotated[
    Annotated[Whole, AfterValidator(_condition)] | None,
    _as_in("where", max_length=MAX_CHARACTERS, examples=["year >= 2020 and source = 'reports/*'"]),
]


def _base64(text: str) -> str:
    try:
        b64decode(text, validate=True)
    except ValueError as error:
        raise ValueError("expected a picture file in base64") from error
    return text


PictureText = Annotated[
    Annotated[str, Field(min_length=1), AfterValidator(_base64)] | None,
    _as_in(
        "image",
        more=" In base64; pictures are compared at 320 pixels per side, so larger ones have no advantage.",
    ),
]
Uri = Annotated[Whole, Field(min_length=1, max_length=4000)]
Sources = Annotated[
    list[Name] | None,
    _as_in(
        "sources",
        more=" Only if the server allows it (see `GET /live` in HTTP, the tool `stats` in MCP).",
        max_length=MAX_SOURCES,
        examples=[["web", "arxiv"]],
    ),
]
PromptOption = Annotated[
    Name | None,
    _as_in(
        "prompt",
        AskRequest,
        f" Styles: {', '.join(shipped_styles())}; files are taken only from the settings.",
        examples=shipped_styles(),
    ),
]


def check_prompt(prompt: str | None) -> None:
    """Raise OptionError for an unknown prompt style. Style files are only accepted from the command line and the
    settings, not from remote callers.
    """
    names = style_names(load_settings().prompts) if prompt is not None else []
    if prompt is not None and prompt not in names:
        raise OptionError(f"prompt: unknown prompt style {prompt!r}: expected one of {', '.join(names)}")


def describe_faults(faults: Sequence[tuple[tuple[int | str, ...], str]]) -> str:
    """Summarise validation errors, given as (location, message) pairs, without repeating the input."""
    return "; ".join(
        _fault(location, message.removeprefix("Value error, ")) for location, message in faults[:5]
    )


def _fault(location: tuple[int | str, ...], message: str) -> str:
    place = ".".join(str(part) for part in location if part != "body")
    return f"{place[:100]}: {message}" if place else message


def check_options(searcher: Searcher, request: PassageOptions) -> None:
    """Raise OptionError for an unknown name or invalid value, listing the valid ones. Folders of trained fusions, and
    rerankers that load files or query models, are only accepted from the command line, not from remote callers.
    """
    retrievers, fusion, rerank = request.retrievers, request.fusion, request.rerank
    if retrievers is not None and not retrievers:
        raise OptionError(f"retrievers: {NO_NAMES}")
    rerankers = searcher.retrievers.rerankers
    unknown = [
        name
        for name in retrievers or ()
        if name not in RETRIEVERS
        and name not in searcher.retrievers.names
        and not (name.startswith(PREFIX) and rerankers.offers(name.removeprefix(PREFIX)))
    ]
    if unknown:
        raise OptionError(f"retrievers: {searcher.retrievers.describe_unknown(unknown)}")
    if "image" in (retrievers or ()) and searcher.store.image_embedder is None:
        raise OptionError("retrievers: image: the pictures of this collection have no vectors")
    if fusion is not None and fusion not in FUSIONS and fusion not in searcher.fusions.names:
        known = ", ".join(map(repr, searcher.fusions.names))
        raise OptionError(f"fusion: unknown fusion {fusion!r}: expected one of {known}")
    if isinstance(rerank, str):
        if not rerankers.offers(rerank):
            known = ", ".join(map(repr, rerankers.names))
            raise OptionError(f"rerank: unknown reranker {rerank!r}: expected one of {known}")
        try:
            rerankers.get(rerank)
        except ConfigurationError as error:
            raise OptionError(f"rerank: {error}") from error
    try:
        searcher.live.choose(request.sources or ())
    except (ConfigurationError, InputError) as error:
        raise OptionError(f"sources: {error}") from error
    if request.settings:
        try:
            searcher.retrievers.choose(retrievers, request.settings)
        except ConfigurationError as error:
            raise OptionError(f"settings: {error}") from error
