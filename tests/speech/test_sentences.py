"""What of an answer is spoken: its words, sentence by sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.speech import spoken_sentences
from trivium.speech.sentences import LONGEST


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Asaph Hall found them [1][2]. In 1877 [3, 4].", ["Asaph Hall found them.", "In 1877."]),
        ("Two moons【1†source】. So [1] it is.", ["Two moons.", "So it is."]),
        ("**Mars** has *two* `moons`.", ["Mars has two moons."]),
        ("# Moons\n\n1. Phobos\n2. Deimos [2]", ["Moons", "Phobos", "Deimos"]),
        ("See [the page](https://example.org/a_b).", ["See the page."]),
        ("It is at https://example.org/mars?x=1.", ["It is at."]),
        ("| moon | km |\n|---|---|\n| Phobos | 22 |", ["moon, km", "Phobos, 22"]),
        ("```python\nprint(1)\n```\nDone.", ["Done."]),
        ("<b>Mars</b> <script>alert(1)</script>", ["Mars alert(1)"]),
        ("![the planet](mars.png)", ["the planet"]),
        ("    An indented quotation.", ["An indented quotation."]),
        ("Found by J. Smith on St. Kilda. Later lost.", ["Found by J. Smith on St. Kilda.", "Later lost."]),
        ("[1] [2]", []),
        ("*** --- ...", []),
    ],
)
def test_citations_markup_and_addresses_are_not_spoken(text: str, spoken: list[str]) -> None:
    assert spoken_sentences(text) == spoken


def test_a_sentence_without_an_end_is_cut_behind_commas_or_between_words() -> None:
    """So that it begins to sound, and can be stopped."""
    clause = "the sky over the old crater is dark and cold, "
    pieces = spoken_sentences(clause * 30)
    assert len(pieces) > 3 and max(map(len, pieces)) <= LONGEST
    assert all(piece.endswith(",") for piece in pieces)
    assert " ".join(pieces) == (clause * 30).strip()
    assert [len(piece) for piece in spoken_sentences("x" * 700)] == [300, 300, 100]


@given(st.text(max_size=400))
def test_whatever_the_text_pieces_are_short_and_have_a_word(text: str) -> None:
    for piece in spoken_sentences(text):
        assert 0 < len(piece) <= LONGEST
        assert any(character.isalnum() or character == "_" for character in piece)
