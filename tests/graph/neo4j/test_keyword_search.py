"""Terms as full-text queries."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from trivium.graph.neo4j.keyword_search import MAX_CLAUSES, any_of

_PHRASE = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1), max_size=8))
def test_a_query_is_nothing_but_phrases_that_read_as_the_terms(terms: list[str]) -> None:
    """Whatever they hold. Those with white space in them cannot be in the index and are left out."""
    query = any_of(terms)
    assert re.fullmatch(rf"(?:{_PHRASE.pattern}(?: |$))*", query, re.DOTALL)
    phrases = [re.sub(r"\\(.)", r"\1", phrase, flags=re.DOTALL) for phrase in _PHRASE.findall(query)]
    assert phrases == [term for term in dict.fromkeys(terms) if term.split() == [term]]


def test_what_the_language_of_queries_would_read_stands_between_quotation_marks() -> None:
    """By hand."""
    assert any_of(["a*", "AND", "x~2", "f:b", "/re/"]) == '"a*" "AND" "x~2" "f:b" "/re/"'
    assert any_of(['"', "\\"]) == r'"\"" "\\"'
    assert any_of([]) == any_of(["red OR grey", " ", ""]) == ""


def test_a_query_has_no_more_clauses_than_the_index_takes() -> None:
    """The first words of a very long question decide."""
    terms = [f"t{number}" for number in range(5000)]
    assert any_of(terms).split() == [f'"{term}"' for term in terms[:MAX_CLAUSES]]
