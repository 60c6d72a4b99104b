"""What a collection is about, as its owner says it: abbreviations with their meanings, and a scope."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Annotated, NamedTuple, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from trivium.text import content_terms, plain

MAX_TERMS = 200
MAX_TERM_CHARACTERS = 40
MAX_MEANING_CHARACTERS = 200
MAX_SCOPE_CHARACTERS = 200
_MAX_EXPANDED = 8
"""Terms of a text whose meanings are added, the first ones."""
_LONGEST_TEXT = 4000
"""Longer texts are not expanded: they hold words enough."""


class Term(NamedTuple):
    """A word of a domain, mostly an abbreviation, and what it means."""

    name: str
    meaning: str

    def find(self, text: str) -> re.Match[str] | None:
        """Where a text says the name as a word: in any case, but just as it is written where it might be a common word
        ("IT", "US")."""
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
    """The words and the scope of a collection. In ``trivium.toml`` the table ``[conversation]``, in the environment
    ``TRIVIUM_CONVERSATION`` is JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    terms: tuple[Annotated[str, AfterValidator(_term)], ...] = Field(default=(), max_length=MAX_TERMS)
    """Abbreviations and their meanings, such as ``"EKS: Elastic Kubernetes Service"``: a question that says the one is
    searched for with the other, and a language model may use both when it rewrites a question."""

    scope: Annotated[str | None, AfterValidator(_scope)] = None
    """What the collection is, such as ``"the handbook of ACME"``: said to a language model that rewrites or answers."""

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
        """The terms, taken apart."""
        parts = (term.partition(":") for term in self.terms)
        return tuple(Term(name.strip(), meaning.strip()) for name, _, meaning in parts)

    def expand(self, text: str) -> str:
        """A text with the meanings of its terms behind them, where it does not say them itself.

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
"""Of a collection of which nothing is said."""
