"""Two runs question by question."""

from __future__ import annotations

import pytest

from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.comparison.outcomes import compare, rank_of

GOLD = {q: Gold.of([[f"{q}#gold", f"{q}#other"]]) for q in ("a", "b", "c", "d")}


def ranking(question: str, rank: int | None) -> list[tuple[str, float]]:
    """Six chunks, gold at this rank."""
    uris = [f"{question}#{n}" for n in range(1, 7)]
    if rank is not None:
        uris[rank - 1] = f"{question}#gold"
    return [(uri, 1.0 / n) for n, uri in enumerate(uris, start=1)]


def test_questions_come_by_the_size_of_the_difference_with_both_ranks() -> None:
    """a: 1/2 to 1 (+1/2); b: 1/4 to none (-1/4); c: 3 and 3; d: unanswered to 1 (+1)."""
    first = {"a": ranking("a", 2), "b": ranking("b", 4), "c": ranking("c", 3)}
    second = {"a": ranking("a", 1), "b": ranking("b", None), "c": ranking("c", 3), "d": ranking("d", 1)}
    found = compare(first, second, GOLD)
    assert [(d.question, d.verdict, d.gain) for d in found.differences] == [
        ("d", "won", 1.0),
        ("a", "won", 0.5),
        ("b", "lost", -0.25),
        ("c", "tied", 0.0),
    ]
    assert [d.ranks for d in found.differences] == [((None, 1),), ((2, 1),), ((4, None),), ((3, 3),)]
    assert [(t.measure, t.first, t.second, t.won, t.lost, t.tied) for t in found.totals] == [
        ("hit@1", 0.0, 0.5, 2, 0, 2),
        ("hit@3", 0.5, 0.75, 1, 0, 3),
        ("hit@5", 0.75, 0.75, 1, 1, 2),
        ("reciprocal rank", pytest.approx((1 / 2 + 1 / 4 + 1 / 3) / 4), pytest.approx((1 + 1 + 1 / 3) / 4), 2, 1, 1),
    ]  # fmt: skip


def test_a_second_gold_part_in_sight_outweighs_a_first_place() -> None:
    """Parts at 1 and 6 become 2 and 5: the mean reciprocal rank falls from .58 to .35, but now both are among five."""
    gold = {"q": Gold.of([["A#gold"], ["B#gold"]])}
    lists = [["A#gold", "1", "2", "3", "4", "B#gold"], ["1", "A#gold", "2", "3", "B#gold", "4"]]
    first, second = ({"q": [(uri, 1.0 / n) for n, uri in enumerate(uris, start=1)]} for uris in lists)
    found = compare(first, second, gold)
    (question,) = found.differences
    assert question.ranks == ((1, 2), (6, 5))
    assert (question.gain, question.verdict, question.focus) == (0.5, "won", 0)
    assert [(t.measure, t.won, t.lost) for t in found.totals] == [
        ("recall@5", 1, 0),
        ("all@5", 1, 0),
        ("reciprocal rank", 0, 1),
    ]


def test_the_rank_of_a_part_is_that_of_its_first_chunk() -> None:
    assert rank_of([("x", 3), ("b", 2), ("a", 1)], ("a", "b")) == 2
    assert rank_of([("x", 3)], ("a", "b")) is None


@pytest.mark.parametrize(
    ("first", "second", "gold"),
    [({}, {"a": []}, GOLD), ({"a": []}, {"z": []}, GOLD), ({"a": []}, {"a": []}, {})],
)
def test_runs_and_judgements_of_other_questions_are_refused(first: dict, second: dict, gold: dict) -> None:
    with pytest.raises(InputError, match="expected judgements"):
        compare(first, second, gold)
