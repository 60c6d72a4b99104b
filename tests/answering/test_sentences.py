"""Where sentences end: full stops that do, and those that do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.text import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("He lived in the U.S. for years. Dr. Who left.", ["He lived in the U.S. for years.", "Dr. Who left."]),
        ("Built c. 1900 by J. R. Smith. It stands.", ["Built c. 1900 by J. R. Smith.", "It stands."]),
        ("It weighs 3.5 kg. Heavy.", ["It weighs 3.5 kg.", "Heavy."]),
        ("So it is [1]. And [2][3]. “Yes.” [1] No", ["So it is [1].", "And [2][3].", "“Yes.” [1]", "No"]),
        ("Found in 1877. [1] So they say.", ["Found in 1877. [1]", "So they say."]),
        ("Mass: 5 kg\nMoons: 2\n\nEnd", ["Mass: 5 kg", "Moons: 2", "End"]),
        ("Their album is Help! (album). (So they say.)", ["Their album is Help! (album).", "(So they say.)"]),
        ("1. First thing.\n2. Second thing.", ["1. First thing.", "2. Second thing."]),
        ("这是。那是！", ["这是。", "那是！"]),
        (" \n ", []),
    ],
)  # fmt: skip
def test_sentences(text: str, expected: list[str]) -> None:
    """Abbreviations, initials, numbers and lists do not end one; marks belong to the sentence before them."""
    assert [text[start:end] for start, end in sentences(text)] == expected


@given(st.text(alphabet="aB .!?\n1[]“”。(", max_size=60))
def test_nothing_but_white_space_is_between_sentences(text: str) -> None:
    """Whatever the text: in order, trimmed, not overlapping, and all of it."""
    end = 0
    for start, stop in sentences(text):
        assert end <= start < stop
        assert not text[end:start].strip()
        assert text[start:stop] == text[start:stop].strip()
        end = stop
    assert not text[end:].strip()
