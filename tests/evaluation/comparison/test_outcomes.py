"""Two runs question by question, and the words for why."""

from __future__ import annotations

import pytest

from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.comparison.outcomes import compare, rank_of
from trivium.evaluation.comparison.why import (
    Contributions,
    View,
    contributions_sentence,
    positions_sentence,
    ranks_sentence,
)

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


def test_what_did_not_find_the_gold_is_said() -> None:
    nobody = [View("page", None, 1)]
    assert (
        positions_sentence("the gold", ("v", 3), ("d", None), nobody)
        == "v ranks the gold 3rd, d does not find it."
    )
    assert (
        positions_sentence("the gold", ("v", None), ("d", 2), [])
        == "d ranks the gold 2nd, v does not find it."
    )
    assert (
        positions_sentence("the gold", ("v", None), ("d", None), nobody)
        == "Neither v nor d finds the gold: no view returned it."
    )
    assert positions_sentence("the gold", ("v", None), ("d", None), []) == "Neither v nor d finds the gold."
    assert ranks_sentence(nobody) == ""


def test_of_a_view_without_a_list_only_its_share_is_said() -> None:
    shares = Contributions({"a": 1.0}, {"a": 0.0})
    said = "In mix, a (+1.00) favoured it over Mars."
    assert contributions_sentence("mix", "Mars", [View("a", None, None, has_list=False)], shares) == said


def test_views_that_hardly_moved_are_not_named() -> None:
    """Differences +1, -0.05 and 0: a tenth of the strongest is the least that counts."""
    shares = Contributions({"a": 1.0, "b": 0.0, "c": 0.3}, {"a": 0.0, "b": 0.05, "c": 0.3})
    assert contributions_sentence("mix", "Mars", [View("a", 2, None)], shares) == (
        "In mix, a (2nd, +1.00) favoured it over Mars."
    )
    against = Contributions({"a": 0.0}, {"a": 0.5})
    assert (
        contributions_sentence("mix", "Mars", [View("a", None, 1)], against)
        == "In mix, a (not in its list, -0.50) favoured Mars."
    )
    assert (
        contributions_sentence("mix", "Mars", [], Contributions({"a": 0.5}, {"a": 0.5}))
        == "In mix no view separates it from Mars."
    )
    unseen = Contributions(None, {"a": 0.5})
    assert contributions_sentence("mix", "Mars", [], unseen).startswith("mix could not rank it")
