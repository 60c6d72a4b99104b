"""Finding a text on a page that words it a little differently."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trivium.parser.sources.locate_marked_text import PageWords, Window, occurrences, words_of

PAGE = (
    "Trade winds blow in the tropics.[1] Sailors used them for centuries. "
    "Season: 1; Title: Mercy; Viewers: 11.44. Season: 2; Title: Monsters; Viewers: 8.52. "
    "The doldrums are calm. Sailors used them for nothing."
)


def found(text: str, place: float = 0.0) -> tuple[str, float]:
    words = PageWords(PAGE)
    window = words.locate(words_of(text), place)
    assert window is not None
    return PAGE[words.starts[window.start] : words.ends[window.end - 1]], window.coverage


def test_words_that_follow_one_another_are_found_whatever_stands_between_them() -> None:
    assert found("used THEM , for centuries .") == ("used them for centuries", 1.0)


def test_of_several_equal_places_the_nearest_to_the_expected_one_is_taken() -> None:
    assert found("sailors used them for", 0.0) == ("Sailors used them for", 1.0)
    assert PAGE.rindex("Sailors") == PAGE.index("Sailors used them for nothing")
    words = PageWords(PAGE)
    window = words.locate(words_of("sailors used them for"), 0.9)
    assert window is not None
    assert words.starts[window.start] == PAGE.rindex("Sailors")


def test_a_table_told_in_another_order_is_found_by_its_words() -> None:
    text, coverage = found("Season Title Viewers 1 Mercy 11.44 2 Monsters 8.52")
    # The first "Season" is spare: the text says it once, and the window holds it again.
    assert text == "1; Title: Mercy; Viewers: 11.44. Season: 2; Title: Monsters; Viewers: 8.52"
    assert coverage == 1.0


def test_coverage_is_the_share_of_the_words_found() -> None:
    text, coverage = found("the doldrums are remarkably calm waters")
    assert text == "The doldrums are calm"
    assert coverage == 4 / 6


def test_words_too_common_to_tell_anything_still_belong_at_the_edge() -> None:
    words = PageWords(" ".join(["the", "sea"] * 15 + ["doldrums", "are", "calm"] + ["the", "sea"] * 15))
    assert words.locate(["quiet", "doldrums", "are", "calm", "the"], 0.0) == Window(30, 34, 0.8)


def test_a_row_of_a_table_is_found_between_its_headers() -> None:
    rows = [
        f"Number: {n}; Title: T{n}; Directed by: D{n}; Written by: W{n}; Aired on: A{n}" for n in range(9)
    ]
    page = PageWords("\n".join(rows))
    window = page.locate(words_of("4 T4 D4 W4 A4"), 0.0)
    assert window is not None
    start, end = page.starts[window.start], page.ends[window.end - 1]
    assert "\n".join(rows)[start:end] == rows[4].removeprefix("Number: ")
    assert window.coverage == 1.0


def test_nothing_is_found_when_no_word_is_there() -> None:
    assert PageWords(PAGE).locate(["zebra"], 0.5) is None
    assert PageWords("").locate(["zebra"], 0.5) is None
    assert occurrences([], ["a"]) == []


_TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=12)


@given(_TEXTS, _TEXTS, st.floats(0, 1))
def test_windows_lie_on_the_page_and_their_coverage_is_true(
    page: list[str], text: list[str], place: float
) -> None:
    words = PageWords(" ".join(page))
    window = words.locate(text, place)
    if window is None:
        assert occurrences(text, page) == []
        return
    assert 0 <= window.start < window.end <= len(page)
    inside = page[window.start : window.end]
    shared = sum(min(inside.count(word), text.count(word)) for word in set(text))
    assert window.coverage == shared / len(text)
    assert (window.coverage == 1.0 and inside == text) or occurrences(text, page) == []
