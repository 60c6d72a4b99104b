"""Finding quotes of raw text among the chunks that were read from it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.datasets.match_text import MIN_SHARE, PageTexts, QuotedTexts, without_labels, words_of
from trivium.text.normalise import normalise_name

TEN = "one two three four five six seven eight nine ten"  # seven 4-grams
CAPITALS = "Country | Capital\nCountry: Norway; Capital: Oslo\nCountry: France; Capital: Paris; Seen: in 1999"


def test_words_in_a_row_or_enough_of_them_are_held_by_every_chunk_that_has_them() -> None:
    """Eight words of TEN have 5 of its 7 4-grams (71 %), seven have 4 (57 %)."""
    few, enough = "zero one two three four five six seven", "zero one two three four five six seven eight"
    other = " and what else there is to say about it all, which is a lot"
    texts = QuotedTexts([TEN.upper(), few + other, "nothing", enough + other, f"{TEN}, they say"])
    assert texts.holding([TEN]) == (0, 3, 4)


def test_a_quote_under_four_words_has_to_be_there_as_whole_words() -> None:
    texts = QuotedTexts(["#ciso-team", "the ciso, and the team", "CISO team"])
    assert texts.holding(["ciso team"]) == (0, 2)
    assert texts.holding(["ciso"]) == (0, 1, 2)


def test_a_quote_longer_than_a_chunk_is_held_by_the_chunks_that_lie_within_it() -> None:
    """They need words enough of their own to be recognised."""
    texts = QuotedTexts(
        ["one two three four", "seven eight nine ten or so", "five six", "six seven eight unlike it"]
    )
    assert texts.holding([f"{TEN} and a great many more words"]) == (0,)
    assert texts.holding([TEN]) == (0,)
    assert QuotedTexts(["seven eight nine ten more"]).holding([f"{TEN} more and more"]) == (0,)


def test_any_quote_will_do_and_those_that_nothing_holds_are_passed_over() -> None:
    texts = QuotedTexts(["the first one", "the second", "the third"])
    assert texts.holding(["nowhere at all", "THIRD", "first"]) == (0, 2)
    assert texts.holding(["nowhere"]) == texts.holding(["--", "![](picture.png)"]) == texts.holding([]) == ()


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ("Ask [the team](https://example.org/team?x=1) first", "ask the team first"),
        ("![Approved List](/images/approved-list.png)", "approved list"),
        ("[![badge](a.svg)](https://example.org/b) now", "badge now"),
        ("see [it](https://example.org/wiki/Mars_(planet)) there", "see it there"),
        ("see [it](<a file.md> \"The title\") and [that](b.md 'too')", "see it and that"),
        ("begins here](cut/off.md) and goes on", "begins here and goes on"),
        ("**bold**, _emphasis_, `code_word` and ~~gone~~", "bold emphasis code word and gone"),
        ("line<br>break, H<sub>2</sub>O &amp; <a href='x.md'>link</a>", "line break h 2 o link"),
        ("| Legal | `#legal`   |", "legal legal"),
        ("f(x) [not a link] (not an address)", "f x not a link not an address"),
        ("a < b and b > a", "a b and b a"),
    ],
)
def test_addresses_and_markup_are_no_words_of_a_quote(raw: str, read: str) -> None:
    assert normalise_name(words_of(raw)) == read
    assert QuotedTexts([f"before {read} after"]).holding([raw]) == (0,)


def test_rows_of_tables_are_found_though_chunks_name_the_columns() -> None:
    assert without_labels(CAPITALS) == "Country | Capital\nNorway; Oslo\nFrance; Paris; in 1999"
    texts = QuotedTexts(["Norway is north of France, and Paris was seen in 1999.", CAPITALS])
    assert texts.holding(["| Norway | [Oslo](oslo.md) |"]) == (1,)
    assert texts.holding(["| Country | Capital |\n|---|---|\n| Norway | Oslo |\n| France | Paris |"]) == (1,)
    assert texts.holding(["Country: Norway"]) == (1,)
    assert texts.holding(["| France | Paris | in 1999 |"]) == (1,)
    assert texts.holding(["| Norway | Paris |"]) == ()


def test_text_with_colons_is_still_found_as_it_is_written() -> None:
    text = "Note: we pack light; remember: bring water"
    assert QuotedTexts([text]).holding(["note we pack light remember bring"]) == (0,)


@pytest.mark.parametrize(
    "piece", ["](", "](a", "[a](<", '](a "', "](a ", "<a ", "; a", "; : ", "[](((", "](a(b"]
)
def test_hostile_quotes_take_no_time(piece: str) -> None:
    began = time.process_time()
    QuotedTexts([piece * 5_000]).holding([piece * 5_000])
    assert time.process_time() - began < 2


WORDS = st.lists(st.sampled_from("abcde"), max_size=12)


@given(st.lists(WORDS, max_size=5), WORDS)
def test_what_is_held_agrees_with_a_slow_oracle(chunks: list[list[str]], quote: list[str]) -> None:
    def grams(words: list[str]) -> set[tuple[str, ...]]:
        return {tuple(words[i : i + 4]) for i in range(len(words) - 3)}

    def holds(chunk: list[str]) -> bool:
        own, wanted = grams(chunk), grams(quote)
        in_a_row = any(chunk[i : i + len(quote)] == quote for i in range(len(chunk)))
        enough = bool(wanted) and len(own & wanted) / len(wanted) >= MIN_SHARE
        within = len(chunk) < len(quote) and bool(own) and len(own & wanted) / len(own) >= MIN_SHARE
        return bool(quote) and (in_a_row or enough or within)

    expected = tuple(row for row, chunk in enumerate(chunks) if holds(chunk))
    assert PageTexts([" ".join(chunk) for chunk in chunks]).holding(" ".join(quote)) == expected
