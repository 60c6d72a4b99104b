"""Citations that were not offered, control characters and thoughts do not come through, wherever the pieces are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.answering.citation_marks import MarkFilter, cited, without_thoughts


def through(text: str, step: int = 1000, offered: tuple[int, ...] = (1, 2, 3)) -> str:
    """A text after the filter, fed in pieces of ``step`` characters."""
    marks = MarkFilter(offered)
    fed = [marks.feed(text[at : at + step]) for at in range(0, len(text), step)]
    return "".join([*fed, marks.finish()])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Two moons [1]. Red [9].", "Two moons [1]. Red."),
        ("Two [1, 9, 2] moons [7; 8].", "Two [1][2] moons."),
        ("Two [passage 2] moons [ 3 ].", "Two [2] moons [3]."),
        ("Two【1†source】 moons【12:0†x】.", "Two[1] moons."),
        ("[0] [00001] [99999999999999999999]", " [1]"),
        ("A [note] and [1877-78] and [", "A [note] and [1877-78] and ["),
        ("a\x1b[31mred\x07\u202e gnp", "a [31mred   gnp"),
        ("So [9[9]] it [9[9[8]]] is [[1]].", "So it is [[1]]."),
        ("So: <passage 1> it is </Passage> if 1 < 2 and <b>.", "So: it is if 1 < 2 and <b>."),
        ("end [", "end ["),
        ("end [1", "end [1"),
        ("end \n\n", "end"),
    ],
)
@pytest.mark.parametrize("step", [1, 2, 5, 1000])
def test_marks_come_through_only_if_offered(text: str, expected: str, step: int) -> None:
    """Several ways to write them; one way to show them."""
    assert through(text, step) == expected


@given(st.text(alphabet="ab [],;12 9【】†\n", max_size=60), st.integers(1, 7))
def test_no_cut_of_the_pieces_changes_the_text(text: str, step: int) -> None:
    """Streaming shows what the whole would."""
    assert through(text, step) == through(text)


@given(st.text(alphabet="ab [],;129【】", max_size=60))
def test_whatever_is_written_only_offered_numbers_are_cited(text: str) -> None:
    """Also where a mark is left when another inside it is dropped."""
    assert set(cited(through(text, 1))) <= {1, 2, 3}


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["<think>hm", "m</thi", "nk>Yes", "."], "Yes."),
        (["  <th", "ink>never ends"], ""),
        (["<thin", "g> is"], "<thing> is"),
        (["Yes <think>no</think>"], "Yes <think>no</think>"),
        ([], ""),
    ],
)
def test_thoughts_before_an_answer_are_left_out(pieces: list[str], expected: str) -> None:
    """Only those that stand before it."""
    assert "".join(without_thoughts(pieces)) == expected
