"""Fields of a question shared by HTTP and MCP, with their limits, and the validation of names against an engine."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from trivium.answering.prompt_styles import shipped_styles, style_names
from trivium.errors import ConfigurationError, InputError
from trivium.fusion.names import FUSIONS
from trivium.graph.filters import MAX_CHARACTERS, parse
from trivium.live.asking import MAX_SOURCES
from trivium.live.registry import SOURCES
from trivium.rerank.names import FREE, PREFIX
from trivium.retrievers.names import RETRIEVERS
from trivium.search.cut import FORMS, Cut
from trivium.search.retriever_set import NO_NAMES
from trivium.search.searcher import Searcher
from trivium.settings import load_settings
from trivium.text import has_lone_surrogate

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
AnyText = Annotated[
    Whole,
    Field(
        max_length=MAX_QUESTION_CHARACTERS,
        description="The question.",
        examples=["Who discovered the two moons of Mars?"],
    ),
]
QuestionText = Annotated[AnyText, AfterValidator(_not_blank), Field(min_length=1)]
RecallText = Annotated[
    Annotated[AnyText, AfterValidator(_not_blank)] | None,
    Field(
        description="An alternative question that contributes candidates but does not affect their ranking: the"
        " `recall_query` of an answer.",
    ),
]
Retrievers = Annotated[
    list[Annotated[Name, Field(examples=list(RETRIEVERS))]] | None,
    Field(
        max_length=32,
        description=f"Retrievers to ask, at least one; by default all eight ({', '.join(RETRIEVERS)}). Installed"
        " packages may add others.",
        examples=[["vector", "walk"]],
    ),
]
FusionOption = Annotated[
    Name | None,
    Field(
        description=f"How to fuse their scores: {', '.join(FUSIONS)}, or one from an installed package; by default"
        " `default`. A single retriever keeps its own scores.",
        examples=list(FUSIONS),
    ),
]
SettingsOption = Annotated[
    dict[Name, int | float | bool | str | None] | None,
    Field(
        max_length=64,
        description="Settings of retrievers for this question only, by dotted name.",
        examples=[{"walk.damping": 0.4}],
    ),
]


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
    Field(
        description=f"Reranker of the first passages: {', '.join(FREE)} (also with a weight, such as `weighted:0.7`),"
        " or one that the server's operator allows. If it fails or takes too long, their order is unchanged and"
        " `warnings` says so.",
        examples=["bm25", "weighted:0.7"],
    ),
]
CutOption = Annotated[
    Annotated[Name, AfterValidator(_cut)] | None,
    Field(
        description=f"Cut the passages by their scores instead of at a fixed `k`: {FORMS}. Without bounds `k` is the"
        " maximum.",
        examples=["near", "gap:2-12", "probability:0.01"],
    ),
]


WhereText = Annotated[
    Annotated[Whole, AfterValidator(_condition)] | None,
    Field(
        max_length=MAX_CHARACTERS,
        description="A condition that passages must match.",
        examples=["year >= 2020 and source = 'reports/*'"],
    ),
]


def _base64(text: str) -> str:
    try:
        b64decode(text, validate=True)
    except ValueError as error:
        raise ValueError("expected a picture file in base64") from error
    return text


PictureText = Annotated[
    Annotated[str, Field(min_length=1), AfterValidator(_base64)] | None,
    Field(
        description="A picture file in base64, to search for similar pictures with the retriever `image`, which is then"
        " the only one asked by default. Pictures are compared at 320 pixels per side, so larger ones have no"
        " advantage.",
    ),
]
Uri = Annotated[Whole, Field(min_length=1, max_length=4000)]


Sources = Annotated[
    list[Name] | None,
    Field(
        max_length=MAX_SOURCES,
        description=f"Live sources to ask besides the collection: {', '.join(SOURCES)}. Only if the server allows it"
        " (see `GET /live` in HTTP, the tool `stats` in MCP).",
        examples=[["web", "arxiv"]],
    ),
]


PromptOption = Annotated[
    Name | None,
    Field(
        description=f"Prompt style of the language model: {', '.join(shipped_styles())}, or one defined in the"
        " settings. Ignored without a model.",
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


def unknown_fields(unknown: Sequence[str], missing: Sequence[str], known: Iterable[str]) -> str:
    """Say which fields of a request are unknown and which are missing. An unknown field beside a missing one was
    probably meant as that one.

    >>> unknown_fields(["q"], ["question"], ["question", "k"])
    "unknown field 'q' (did you mean 'question'?); 'question' is missing"
    >>> unknown_fields(["retriever", "x"], [], ["question", "retrievers"])
    "unknown field 'retriever' (did you mean 'retrievers'?); unknown field 'x'"
    """
    said = []
    for name in unknown[:5]:
        close = get_close_matches(name, [*known], n=1) or (missing if len(unknown) == 1 else [])
        said.append(f"unknown field {name[:100]!r}" + (f" (did you mean {close[0]!r}?)" if close else ""))
    return "; ".join([*said, *(f"{name!r} is missing" for name in missing)])


def _fault(location: tuple[int | str, ...], message: str) -> str:
    place = ".".join(str(part) for part in location if part != "body")
    return f"{place[:100]}: {message}" if place else message


def check_options(
    searcher: Searcher,
    retrievers: Sequence[str] | None,
    fusion: str | None,
    settings: Mapping[str, Any] | None = None,
    sources: Sequence[str] | None = None,
    rerank: str | None = None,
) -> None:
    """Raise OptionError for an unknown name or invalid value, listing the valid ones. Folders of trained fusions, and
    rerankers that load files or query models, are only accepted from the command line, not from remote callers.
    """
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
    if rerank is not None:
        if not rerankers.offers(rerank):
            known = ", ".join(map(repr, rerankers.names))
            raise OptionError(f"rerank: unknown reranker {rerank!r}: expected one of {known}")
        try:
            rerankers.get(rerank)
        except ConfigurationError as error:
            raise OptionError(f"rerank: {error}") from error
    try:
        searcher.live.choose(sources or ())
    except (ConfigurationError, InputError) as error:
        raise OptionError(f"sources: {error}") from error
    if settings:
        try:
            searcher.retrievers.choose(retrievers, settings)
        except ConfigurationError as error:
            raise OptionError(f"settings: {error}") from error
