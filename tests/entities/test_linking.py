"""Mentions of one thing in a document share a name, and two things never do."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.entities.linking import LinkedName, linked_names
from trivium.entities.recogniser import NamedSpan

Named = str | tuple[str, str]


def linked(title: str, *mentions: Named, between: str = " met ") -> list[str]:
    """The shared names of mentions, each with its kind if it has one, one after another in a text."""
    return [link.name for link in links(title, *mentions, between=between)]


def links(title: str, *mentions: Named, between: str = " met ") -> list[LinkedName]:
    text, spans = "Yes", []
    for mention in mentions:
        name, kind = mention if isinstance(mention, tuple) else (mention, "")
        text += between
        spans.append(NamedSpan(len(text), len(text) + len(name), kind))
        text += name
    [found] = linked_names(title, [text], [spans])
    return found


def test_shorter_forms_are_the_full_name() -> None:
    forms = [
        "William Herschel",
        "W. Herschel",
        "Mr Herschel",
        "Herschel",
        "Sir William Herschel",
        "Herschel's",
    ]
    assert linked("Uranus", *forms) == ["William Herschel"] * 6
    assert linked("X", "John F. Kennedy", "John Kennedy", "Kennedy") == ["John F. Kennedy"] * 3
    assert linked("X", "John Ronald Reuel Tolkien", "J. R. R. Tolkien") == ["John Ronald Reuel Tolkien"] * 2
    assert linked("X", "Acme", "Acme Inc.", "ACME") == ["Acme Inc."] * 3
    assert linked("X", "the Royal Society", "Royal Society") == ["Royal Society"] * 2


def test_what_fits_two_names_stays_apart() -> None:
    names = ["William Herschel", "Caroline Herschel", "Herschel", "W. Herschel", "Wilma Herschel"]
    assert linked("X", *names) == names
    assert linked("X", "Acme Ltd", "Acme GmbH", "Acme") == ["Acme Ltd", "Acme GmbH", "Acme"]
    later = ["William Herschel", "Herschel", "Caroline Herschel", "Herschel"]
    assert linked("X", *later) == later
    assert linked("X", "Mr France", "France", "P-1", "Pillar 1") == ["Mr France", "France", "P-1", "Pillar 1"]
    assert linked("X", "Mr Bennet", "Mrs Bennet", "Bennet") == ["Mr Bennet", "Mrs Bennet", "Bennet"]


@pytest.mark.parametrize(
    ("full", "last"),
    [
        *(("New York", "York"), ("British Museum", "Museum"), ("University of London", "London")),
        *(
            ("IBM PowerPC", "PowerPC"),
            ("Tru64 Unix", "Unix"),
            ("Indo-Scythians", "Scythians"),
            ("St Ives", "Ives"),
        ),
    ],
)
def test_the_last_word_of_what_is_no_person_is_another_name(full: str, last: str) -> None:
    assert linked("X", full, last) == [full, last]


def test_what_stands_where_places_do_is_no_person() -> None:
    assert linked("X", "Jack London", "London", between=" lived in ") == ["Jack London", "London"]
    assert linked("X", "Jack London", ("London", "place")) == ["Jack London", "London"]
    assert linked("X", "London", "Jack London") == ["London", "Jack London"]  # named before
    assert linked("Mars", "Bruno Mars", "Mars") == ["Bruno Mars", "Mars"]


def test_a_company_named_far_more_often_than_its_subsidiaries_is_meant() -> None:
    assert linked("X", *["Acme Inc"] * 10, "Acme GmbH", "Acme")[-2:] == ["Acme GmbH", "Acme Inc"]
    assert linked("Acme Inc", "Acme GmbH", "Acme") == ["Acme GmbH", "Acme Inc"]


def test_capitals_of_signatures_are_not_the_name() -> None:
    assert linked("X", "ADA N. BYRON", "ADA N. BYRON", "Ada N. Byron") == ["Ada N. Byron"] * 3


def test_a_title_that_begins_with_an_ordinary_word_is_nobody() -> None:
    assert linked("Export Gmail", "Gmail") == ["Gmail"]
    assert linked("Charlie Byron", "Byron") == ["Byron"]  # a name that nothing tells to be one
    assert linked("Robert Byron", "Byron") == ["Robert Byron"]


def test_acronyms_are_the_name_beside_them() -> None:
    text = "The World Health Organization (WHO) and MoMA (Museum of Modern Art). WHO, W.H.O. and UN. Two UNs."
    names = ["World Health Organization", "MoMA", "WHO,", "W.H.O.", "UN.", "UNs"]
    spans = [NamedSpan(text.index(name), text.index(name) + len(name.rstrip(","))) for name in names]
    spans[4] = NamedSpan(spans[4].start, spans[4].start + 2)
    [found] = linked_names("X", [text], [spans])
    who = "World Health Organization"
    assert [link.name for link in found] == [who, "MoMA", who, who, "UN", "UN"]


def test_the_title_is_its_mentions() -> None:
    assert linked("Mercury (planet)", "Mercury", "Hermes") == ["Mercury (planet)", "Hermes"]
    assert linked("Alan Turing", "Alan Mathison Turing", "Turing") == ["Alan Turing"] * 2
    assert linked("John Adams", "Abigail", "Adams", "John Quincy Adams") == [
        "Abigail",
        "John Adams",
        "John Quincy Adams",
    ]


def test_kinds_are_those_of_most_mentions() -> None:
    assert {link.kind for link in links("X", ("Ada Byron", "person"), "Byron")} == {"person"}
    assert {link.kind for link in links("X", ("Acme", "place"), ("Acme", "work"))} == {""}


def test_a_form_of_address_by_itself_is_left_out() -> None:
    assert linked("X", "Sir", "Mr", "the Lord") == []


_WORDS = (
    "Ada Anna Byron Byrons London New York A. B. Mr Mrs the Inc. Inc GmbH WHO W.H.O. Acme Ünal ЖЖ 今 's -"
)
WORDS = st.sampled_from(_WORDS.split())
NAMES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)


@settings(deadline=None)
@given(st.text(max_size=6) | NAMES, st.lists(NAMES, max_size=8))
def test_names_are_in_order_and_the_same_again(title: str, names: list[str]) -> None:
    found = links(title, *names)
    assert found == links(title, *names)
    assert [link.start for link in found] == sorted(link.start for link in found)
    assert all(link.name for link in found)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["Ada", "Anna", "Bob"]), st.sampled_from(["Byron", "Lee"])), min_size=1
    ),
    st.lists(st.sampled_from(["A. Byron", "Byron", "Mr Lee", "B. Lee", "Ada", "Lee's"])),
    st.randoms(),
)
def test_two_full_names_never_share_a_name(
    people: list[tuple[str, str]], others: list[str], random: Random
) -> None:
    full = [" ".join(person) for person in people]
    mentions = [*full, *others]
    random.shuffle(mentions)
    for mention, name in zip(mentions, linked("X", *mentions), strict=True):
        if mention in full:
            assert name == mention
        assert name.split()[-1] in mention or mention == "Ada"
