"""Finding a text among the chunks of a page, with hand-made chunks and a slow oracle."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.datasets.match_text import MIN_SHARE, PageTexts

TEN = "one two three four five six seven eight nine ten"  # seven 4-grams


def test_sixty_percent_of_the_four_grams_is_the_limit() -> None:
    """Eight words of TEN have 5 of its 7 4-grams (71 %), seven have 4 (57 %)."""
    assert PageTexts(["one two three four five six seven eight"]).best(TEN) == (0,)
    assert PageTexts(["one two three four five six seven"]).best(TEN) == ()


def test_punctuation_case_and_decomposed_letters_do_not_matter() -> None:
    assert PageTexts(["„Café“ — NOIR, et (thé) vert!"]).best("Cafe\u0301 noir et the\u0301 vert") == (0,)


def test_the_best_share_wins_then_the_preferred_then_the_tightest_chunk() -> None:
    partly, whole, wordy = TEN.removesuffix(" ten"), TEN, f"{TEN} and some more words"
    assert PageTexts([partly, whole]).best(TEN) == (1,)
    assert PageTexts([wordy, whole]).best(TEN) == (1,)
    assert PageTexts([wordy, whole]).best(TEN, preferred=[0]) == (0,)
    assert PageTexts([partly, whole]).best(TEN, preferred=[0]) == (1,)


def test_equal_chunks_are_all_returned_in_the_order_of_the_page() -> None:
    assert PageTexts([TEN, "other", TEN.upper()]).best(TEN) == (0, 2)


def test_a_text_under_four_words_has_to_be_there_as_whole_words() -> None:
    page = PageTexts(["the red planets", "a red planet, they say", "redplanet"])
    assert page.best("Red planet") == (1,)
    assert page.best("...") == ()


def test_of_a_split_text_the_largest_part_is_found() -> None:
    """Neither half holds the text, together they share 3 + 2 of its 7 4-grams."""
    page = PageTexts(["one two three four five six", "six seven eight nine ten", "nothing of it at all"])
    assert page.best(TEN) == ()
    assert page.best_part(TEN) == (0,)


def test_one_part_alone_or_chunks_that_merely_quote_are_no_split_text() -> None:
    assert PageTexts(["one two three four five six"]).best_part(TEN) == ()
    around = " ".join(f"w{i}" for i in range(20))
    quotes = [f"{around} one two three four five six {around}", f"{around} six seven eight nine ten {around}"]
    assert PageTexts(quotes).best_part(TEN) == ()


def test_answers_are_found_as_whole_words_and_any_of_them_is_enough() -> None:
    page = PageTexts(["About 24 hours.", "In 1924, hours passed", "It takes a day", ""])
    assert page.containing(["24 HOURS", "a day"]) == (0, 2)
    assert page.containing(["!", ""]) == ()


WORD = st.sampled_from("abc")
TEXT = st.lists(WORD, max_size=12).map(" ".join)


@settings(deadline=None, max_examples=50)
@given(st.lists(TEXT, max_size=5), TEXT)
def test_the_index_agrees_with_comparing_every_chunk_in_turn(texts: list[str], text: str) -> None:
    """Oracle: 4-grams as sets of strings, no index."""

    def grams(words: list[str]) -> set[str]:
        return {" ".join(words[i : i + 4]) for i in range(len(words) - 3)}

    def share(chunk: str) -> float:
        words = text.split()
        if len(words) < 4:
            return float(bool(words) and f" {text} " in f" {chunk} ")
        return len(grams(words) & grams(chunk.split())) / len(grams(words))

    keys = [(-share(c), len(c.split())) for c in texts if share(c) >= MIN_SHARE]
    expected = tuple(i for i, c in enumerate(texts) if keys and (-share(c), len(c.split())) == min(keys))
    assert PageTexts(texts).best(text) == expected
