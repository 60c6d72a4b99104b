"""What may be asked through a protocol, within which bounds, and how it is described there."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

QUESTION_CHARACTERS = 4000
"""The longest question; an embedder reads the first few hundred words."""

RetrieverName = Literal["vector", "page", "section", "entity", "path", "lexical", "diffusion", "walk"]
FusionName = Literal["default", "network", "convex", "rrf"]
"""The fusions by name; folders with trained ones are for the command line, not for whoever can reach a server."""


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("needs some text")
    return text


def _whole(text: str) -> str:
    """JSON can carry halves of characters, and nothing else takes them."""
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("holds half a surrogate pair, which is no character")
    return text


Whole = Annotated[str, AfterValidator(_whole)]
QuestionText = Annotated[
    Whole,
    AfterValidator(_not_blank),
    Field(
        min_length=1,
        max_length=QUESTION_CHARACTERS,
        description="What to look for.",
        examples=["Who found the moons of Mars?"],
    ),
]
Retrievers = Annotated[
    list[RetrieverName] | None,
    Field(
        max_length=8,
        description="Views to ask; all eight where none is named.",
        examples=[["vector", "walk"]],
    ),
]
FusionOption = Annotated[
    FusionName | None,
    Field(
        description="How to fuse them; `default` where none is named. One retriever alone keeps its own scores."
    ),
]
Uri = Annotated[Whole, Field(min_length=1, max_length=4000)]
