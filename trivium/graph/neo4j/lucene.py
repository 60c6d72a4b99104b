"""Terms as a query of the full-text index, which reads a language of its own."""

from __future__ import annotations

from collections.abc import Sequence

MAX_CLAUSES = 1024
"""More than these a query may not have; what a question says in its first thousand words decides."""


def any_of(terms: Sequence[str]) -> str:
    """A query for what contains some of the terms; empty when none of them can be in the index.

    Between quotation marks only these and backslashes mean anything. The index splits at white space, so that it
    holds no term with some.

    >>> any_of(["red", 'say "no"', "*", 'a"b', "red"])
    '"red" "*" "a\\\\"b"'
    """
    single = [term for term in dict.fromkeys(terms) if term.split() == [term]]
    return " ".join(f'"{_escaped(term)}"' for term in single[:MAX_CLAUSES])


def _escaped(term: str) -> str:
    return term.replace("\\", "\\\\").replace('"', '\\"')
