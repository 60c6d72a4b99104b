"""Terms that a document defines, in texts made by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.parser.defined_terms import MAX_TERMS, Passage, is_glossary, used_terms

USE = "Later the Company sold Net Assets, and the company of friends did not mind."


def terms(*texts: str, glossary: bool = False) -> list[list[str]]:
    return used_terms([Passage(text, glossary) for text in texts])


@pytest.mark.parametrize(
    "definition",
    [
        'Acme Corporation (the "Company") makes anvils.',
        "Acme Corporation (together with its subsidiaries, the “Company”) makes anvils.",
        "Acme Corporation (hereinafter referred to as the “Company”) makes anvils.",
        "Acme (“we,” “us” or the “Company”) makes anvils.",
        '"Company" means Acme Corporation.',
        "“Company”, refers to Acme Corporation.",
        '"Company" shall mean Acme Corporation.',
    ],
)
def test_a_term_is_known_by_how_it_is_defined(definition: str) -> None:
    assert terms(definition, USE) == [["Company"], ["Company"]]


@pytest.mark.parametrize(
    "text",
    [
        "He said “Company” aloud.",
        'A song (played by "Company" in 1999).',
        "Company means well.",
        '"it" means this. It is.',
    ],
)
def test_what_is_only_quoted_is_no_term(text: str) -> None:
    assert terms(text, USE) == [[], []]


def test_a_term_of_running_text_keeps_its_capital_one_of_a_glossary_does_not() -> None:
    assert terms('"Net Assets" means all.', "the net assets", "Net Assets") == [
        ["Net Assets"],
        [],
        ["Net Assets"],
    ]
    glossary = [
        Passage("net assets: all there is\nbustard – a bird", True),
        Passage("The Bustard has Net Assets."),
    ]
    assert used_terms(glossary) == [["net assets", "bustard"], ["bustard", "net assets"]]
    assert terms("net assets: all there is", "net assets") == [[], []], "no glossary"


def test_a_term_that_is_used_once_or_everywhere_tells_nothing() -> None:
    assert terms('"Company" means Acme.', "Anvils are heavy.") == [[], []]
    everywhere = ['"Company" means Acme.'] + ["The Company."] * 30
    assert not any(terms(*everywhere))
    some = ['"Company" means Acme.', "The Company.", *["Anvils."] * 30]
    assert terms(*some)[:2] == [["Company"], ["Company"]]


def test_a_document_has_few_terms_the_most_used_ones() -> None:
    names = [f"Item {chr(65 + i // 26)}{chr(65 + i % 26)}" for i in range(60)]
    definitions = [f'"{name}" means a thing.' for name in names]
    found = terms(*definitions, *(f"See {name}." for name in names), "Item BH, Item BH.", "Item BH again.")
    kept = {term for passage in found for term in passage}
    assert len(kept) == MAX_TERMS and "Item BH" in kept


@pytest.mark.parametrize(
    ("heading", "expected"),
    [("Glossary", True), ("2. Definitions and interpretation", True), ("Defined", False)],
)
def test_headings_of_glossaries(heading: str, expected: bool) -> None:
    assert is_glossary(heading) == expected


@given(st.lists(st.tuples(st.text(max_size=80), st.booleans()), max_size=6))
def test_every_text_gives_terms_that_stand_twice_in_it(texts: list[tuple[str, bool]]) -> None:
    """Whatever stands in it; the same each time."""
    passages = [Passage(text, glossary) for text, glossary in texts]
    found = used_terms(passages)
    assert found == used_terms(passages) and len(found) == len(passages)
    for term in {term for terms_ in found for term in terms_}:
        assert sum(term in terms_ for terms_ in found) >= 2
