"""Titles and headings as parts of uris."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.graph.schema import SEPARATOR, escape, headings_of, page_of, page_uri, section_uri, unescape

TITLES = st.text(st.sampled_from("#%235 A")) | st.text(max_size=20)
"""Mostly of characters that mean something in a uri."""


@given(TITLES)
def test_a_title_comes_back_from_its_uri(title: str) -> None:
    """So no two titles have the same uri."""
    assert unescape(escape(title)) == title
    assert SEPARATOR not in escape(title)


@given(st.lists(TITLES, min_size=1, max_size=4))
def test_headings_come_back_from_the_uri_of_their_section(headings: list[str]) -> None:
    uri = page_uri(headings[0])
    for heading in headings[1:]:
        uri = section_uri(uri, heading)
    assert headings_of(uri) == headings
    assert unescape(page_of(uri)) == headings[0]


@pytest.mark.parametrize(
    ("title", "uri"),
    [
        ("C#", "C%23"),
        ("#", "%23"),
        ("%23", "%2523"),
        ("%2523", "%252523"),
        ("A%B", "A%B"),
        ("%", "%"),
        ("100%", "100%"),
        ("%25", "%25"),
        ("%20 #23", "%20 %2323"),
    ],
)
def test_only_the_separator_and_what_looks_like_it_are_changed(title: str, uri: str) -> None:
    """The uris of other titles are the titles."""
    assert page_uri(title) == uri
    assert unescape(uri) == title
