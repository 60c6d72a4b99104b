"""Over-long blocks are cut at rows, items, sentences, and only then at words."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from trivium.parser.html import parse_html
from trivium.parser.split_blocks import MAX_CHARACTERS, MAX_TOKENS, _max_tokens, split_points
from trivium.text.normalise import count_tokens


def pieces(text: str) -> list[str]:
    return [text[start:end] for start, end in split_points(text)]


def test_what_fits_is_not_cut() -> None:
    """Exactly 400 tokens fit, 401 do not."""
    assert pieces("word " * 399 + "word") == ["word " * 399 + "word"]
    assert [count_tokens(piece) for piece in pieces("word " * 400 + "word")] == [400, 1]


def test_lines_are_kept_whole() -> None:
    """Rows of a table and items of a list."""
    text = "\n".join(f"row {number} " + "x " * 148 + "end" for number in range(4))
    assert [count_tokens(piece) for piece in pieces(text)] == [302, 302]
    assert [piece.split()[1] for piece in pieces(text)] == ["0", "2"]


def test_sentences_are_kept_whole() -> None:
    """A full stop after an initial or before a small letter does not end one."""
    sentence = "It was J. Smith of e.g. the " + "very " * 90 + "end. "
    assert all(
        piece.startswith("It was J. Smith") and piece.endswith("end.") for piece in pieces(sentence * 9)
    )


def test_a_monster_sentence_is_cut_between_words() -> None:
    """No word is torn."""
    text = " ".join(f"word{number}" for number in range(1_000))
    assert [len(piece.split()) for piece in pieces(text)] == [400, 400, 200]


def test_other_scripts_are_cut_at_sentences_and_between_words() -> None:
    """A danda ends a sentence, vowel signs stay with their word, and in Thai, without spaces, with their letter."""
    sentence = "संधियों के लिए विश्वविद्यालयों की स्थापना हुई।"
    assert all(piece.startswith("संधियों") and piece.endswith("हुई।") for piece in pieces(f"{sentence} " * 60))
    assert {word for piece in pieces("विश्वविद्यालयों " * 300) for word in piece.split()} == {"विश्वविद्यालयों"}
    assert all(piece[0] in "กท" for piece in pieces("กำลังที่" * 200))


def test_text_without_spaces_is_cut_by_length() -> None:
    """One endless word is one token; it is still no chunk."""
    assert [len(piece) for piece in pieces("x" * 20_000)] == [MAX_CHARACTERS, MAX_CHARACTERS, 4_000]


def test_the_pieces_of_a_long_list_carry_their_own_links() -> None:
    """Each link is in the piece that shows it."""
    items = "".join(f'<li><a href="/wiki/Item_{n}">item {n}</a> ' + "x " * 90 for n in range(20))
    page = parse_html(f"<title>T</title><ul>{items}</ul>")
    assert len(page.chunks) == 5
    for chunk in page.chunks:
        assert page.text[chunk.start : chunk.end] == chunk.text
        assert len(chunk.links) == 4
        assert all(f"item {link.target.split()[1]} " in chunk.text for link in chunk.links)


def test_a_link_across_a_cut_ends_with_its_piece() -> None:
    """It is not repeated in the next."""
    page = parse_html(f'<title>T</title><p>{"a " * 399}<a href="/wiki/X">b b b b</a></p>')
    first, second = page.chunks
    assert [page.text[link.start : link.end] for link in first.links] == ["b"]
    assert second.links == ()


TEXT = st.text(alphabet=st.sampled_from("ab .!?\n(é–“_,9Aकि।ที"), max_size=3_000)


@given(TEXT)
def test_pieces_are_in_order_and_lose_nothing_but_white_space(text: str) -> None:
    """They never overlap, never exceed the limit, and every other character is in one of them."""
    points = split_points(text)
    end = 0
    for start, stop in points:
        assert not text[end:start].strip()
        assert start < stop or not text
        assert count_tokens(text[start:stop]) <= MAX_TOKENS
        end = stop
    assert not text[end:].strip()


@given(TEXT)
def test_the_estimate_never_falls_short(text: str) -> None:
    """It bounds the number of tokens from above, and is exact for ASCII."""
    assert _max_tokens(text) >= count_tokens(text)
    ascii_text = text.encode("ascii", "ignore").decode()
    assert _max_tokens(ascii_text) == count_tokens(ascii_text)


def test_a_row_that_is_too_long_is_cut_between_its_cells() -> None:
    """No value is parted from its header."""
    row = "; ".join(f"col{number}: {number}" for number in range(300))
    assert len(pieces(row)) > 1
    for piece in pieces(row):
        assert all(re.fullmatch(r"col(\d+): \1", cell) for cell in piece.rstrip(";").split("; "))
