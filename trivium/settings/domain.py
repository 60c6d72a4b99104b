"""The subject of a collection as described by its owner: abbreviations with their meanings, and a scope."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Annotated, NamedTuple, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from trivium.text.normalise import content_terms, plain

MAX_TERMS = 200
MAX_TERM_CHARACTERS = 40
MAX_MEANING_CHARACTERS = 200
MAX_SCOPE_CHARACTERS = 200
_MAX_EXPANDED = 8
"""Maximum number of terms in a text whose meanings are added."""
_LONGEST_TEXT = 4000
"""Longer texts are not expanded because they contain enough words."""


class Term(NamedTuple):
    """A term of a domain, usually an abbreviation, and its meaning."""

    name: str
    meaning: str

    def find(self, text: str) -> re.Match[str] | None:
        """Find the name as a word in a text. The case is ignored, except for names that could be a common word ("IT",
        "US").
        """
        flags = re.IGNORECASE if len(self.name) > 2 and content_terms(self.name) else re.NOFLAG
        return re.search(rf"(?<!\w){re.escape(self.name)}(?!\w)", text, flags)


def _one_line(text: str, what: str, longest: int) -> str:
    line = text.strip()
    if not line or plain(line) != line or len(line.splitlines()) > 1:
        raise ValueError(f"expected {what} in one line, without control characters")
    if len(line) > longest:
        raise ValueError(f"expected {what} of at most {longest} characters, got {len(line)}")
    return line


def _term(text: str) -> str:
    name, colon, meaning = text.partition(":")
    if not colon or not name.strip() or not meaning.strip():
        raise ValueError('expected a term and its meaning, such as "EKS: Elastic Kubernetes Service"')
    name = _one_line(name, "a term", MAX_TERM_CHARACTERS)
    return f"{name}: {_one_line(meaning, 'a meaning', MAX_MEANING_CHARACTERS)}"


def _scope(text: str | None) -> str | None:
    return None if text is None else _one_line(text, "a scope", MAX_SCOPE_CHARACTERS)


class Domain(BaseModel):
    """The terms and the scope of a collection: the table ``[conversation]`` in ``trivium.toml``, or JSON in the
    environment variable ``TRIVIUM_CONVERSATION``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    terms: tuple[Annotated[str, AfterValidator(_term)], ...] = Field(default=(), max_length=MAX_TERMS)
    """Abbreviations and their meanings, such as ``"EKS: Elastic Kubernetes Service"``. A question with the abbreviation
    is also searched for with the meaning, and a language model may use both when it rewrites a question.
    """

    scope: Annotated[str | None, AfterValidator(_scope)] = None
    """A description of the collection, such as ``"the handbook of ACME"``, for language models that rewrite questions
    or answer.
    """

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        seen: set[str] = set()
        for term in self.glossary:
            if term.name.casefold() in seen:
                raise ValueError(f"terms: expected each term once, got {term.name!r} twice")
            seen.add(term.name.casefold())
        return self

    @cached_property
    def glossary(self) -> tuple[Term, ...]:
        """The parsed terms."""
        parts = (term.partition(":") for term in self.terms)
        return tuple(Term(name.strip(), meaning.strip()) for name, _, meaning in parts)

    def expand(self, text: str) -> str:
        """Insert the meanings of terms after them, unless the text contains them already.

        >>> Domain(terms=("EKS: Elastic Kubernetes Service",)).expand("How is EKS billed?")
        'How is EKS (Elastic Kubernetes Service) billed?'
        """
        if len(text) > _LONGEST_TEXT:
            return text
        said = text.casefold()
        places = [
            (found.end(), term.meaning)
            for term in self.glossary
            if term.meaning.casefold() not in said and (found := term.find(text)) is not None
        ]
        for end, meaning in sorted(sorted(places)[:_MAX_EXPANDED], reverse=True):
            text = f"{text[:end]} ({meaning}){text[end:]}"
        return text


NO_DOMAIN = Domain()
"""A collection without a description."""
