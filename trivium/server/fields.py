"""The fields of a question as HTTP and MCP describe them, their bounds, and the check of names against an engine."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
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
from trivium.search.searcher import Searcher
from trivium.settings import load_settings
from trivium.text import has_lone_surrogate

MAX_QUESTION_CHARACTERS = 4000
"""The longest question; an embedder reads the first few hundred words."""

Name = Annotated[str, Field(min_length=1, max_length=100)]


class OptionError(InputError):
    """A request names a retriever, a fusion or a setting that there is not."""


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("needs some text")
    return text


def _whole(text: str) -> str:
    """JSON can carry half a surrogate pair, which no encoding takes."""
    if has_lone_surrogate(text):
        raise ValueError("holds half a surrogate pair, which is no character")
    return text


Whole = Annotated[str, AfterValidator(_whole)]
AnyText = Annotated[
    Whole,
    Field(
        max_length=MAX_QUESTION_CHARACTERS,
        description="What to look for.",
        examples=["Who found the moons of Mars?"],
    ),
]
QuestionText = Annotated[AnyText, AfterValidator(_not_blank), Field(min_length=1)]
RecallText = Annotated[
    Annotated[AnyText, AfterValidator(_not_blank)] | None,
    Field(
        description="Another question, to which the retrievers are asked for candidates as well: the `recall_query` of an"
        " answer. It ranks nothing.",
    ),
]
Retrievers = Annotated[
    list[Annotated[Name, Field(examples=list(RETRIEVERS))]] | None,
    Field(
        max_length=32,
        description=f"Views to ask; all eight ({', '.join(RETRIEVERS)}) where none is named. Installed packages may add"
        " others.",
        examples=[["vector", "walk"]],
    ),
]
FusionOption = Annotated[
    Name | None,
    Field(
        description=f"How to fuse them: {', '.join(FUSIONS)}, or one that an installed package adds; `default` where none"
        " is named. One retriever alone keeps its own scores.",
        examples=list(FUSIONS),
    ),
]
SettingsOption = Annotated[
    dict[Name, int | float | bool | str | None] | None,
    Field(
        max_length=64,
        description="Values of retrievers for this question only, by dotted name.",
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
        description=f"What puts the first passages in order anew: {', '.join(FREE)} (also with a weight, such as"
        " `weighted:0.7`), or one that whoever runs the server allows. Where it fails or takes too long they stay as they"
        " are, and `warnings` says so.",
        examples=["bm25", "weighted:0.7"],
    ),
]
CutOption = Annotated[
    Annotated[Name, AfterValidator(_cut)] | None,
    Field(
        description=f"Where the passages end by their scores, in place of a fixed `k`: {FORMS}. Without bounds `k` is the"
        " most.",
        examples=["near", "gap:2-12", "probability:0.01"],
    ),
]


WhereText = Annotated[
    Annotated[Whole, AfterValidator(_condition)] | None,
    Field(
        max_length=MAX_CHARACTERS,
        description="A condition that passages must fulfil.",
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
        description="The content of a picture file in base64, to look for pictures like it. It is compared at 320"
        " pixels a side, so that it may as well be sent that small. The retriever `image` takes it, the only one asked"
        " where none is named.",
    ),
]
Uri = Annotated[Whole, Field(min_length=1, max_length=4000)]


Sources = Annotated[
    list[Name] | None,
    Field(
        max_length=MAX_SOURCES,
        description=f"Live sources to ask beside the collection: {', '.join(SOURCES)}. Only where the server allows it"
        " (HTTP says so at `GET /live`, MCP by the tool `stats`).",
        examples=[["web", "arxiv"]],
    ),
]


PromptOption = Annotated[
    Name | None,
    Field(
        description=f"How the language model is asked: {', '.join(shipped_styles())}, or a style that the settings name."
        " Nothing changes where there is no model.",
        examples=shipped_styles(),
    ),
]


def check_prompt(prompt: str | None) -> None:
    """Raises OptionError where there is no prompt style of that name. Files of styles are for the command line and for
    the settings, not for whoever can reach a server."""
    names = style_names(load_settings().prompts) if prompt is not None else []
    if prompt is not None and prompt not in names:
        raise OptionError(f"prompt: unknown prompt style {prompt!r}: expected one of {', '.join(names)}")


def describe_faults(faults: Sequence[tuple[tuple[int | str, ...], str]]) -> str:
    """Where a request is wrong and how, by the (location, message) pairs of a check; never what it said there."""
    return "; ".join(
        _fault(location, message.removeprefix("Value error, ")) for location, message in faults[:5]
    )


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
    """Raises OptionError that says what there is where a name or a value is not known. Folders with trained fusions, and
    rerankers that load files or ask models, are for the command line, not for whoever can reach a server."""
    rerankers = searcher.retrievers.rerankers
    unknown = [
        name
        for name in retrievers or ()
        if name not in RETRIEVERS
        and name not in searcher.retrievers.names
        and not (name.startswith(PREFIX) and rerankers.offers(name.removeprefix(PREFIX)))
    ]
    if unknown:
        known = ", ".join(map(repr, searcher.retrievers.names))
        raise OptionError(
            f"retrievers: unknown retriever {', '.join(map(repr, unknown))}: expected some of {known}"
        )
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
