"""When a trained fusion may be the default."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from trivium.datasets.gold import Gold, Traced
from trivium.errors import InputError
from trivium.evaluation.default_gate import Verdict, decide, verdict
from trivium.evaluation.report import Report
from trivium.evaluation.run import evaluate
from trivium.types import Question

SINGLES = ("vector", "walk")


def _report(
    network: Sequence[bool],
    vector: Sequence[bool],
    convex: Sequence[bool],
    *,
    groups: int = 1,
    pages: int | None = None,
) -> Report:
    """An evaluation in which a row found all gold of a question or nothing, by the truth of its place."""
    count = len(network)
    questions = tuple(Question(f"q{n}", "?") for n in range(count))
    gold = {
        f"q{n}": Gold(
            tuple((f"P{n if pages is None else n % pages}#chunk-{n}-{g + 1}",) for g in range(groups))
        )
        for n in range(count)
    }

    def row(found: Sequence[bool]) -> list[list[tuple[str, float]]]:
        return [
            [(chunk, 1.0) for group in gold[f"q{n}"].groups for chunk in group] if own else []
            for n, own in enumerate(found)
        ]

    rows = {
        "network": row(network),
        "vector": row(vector),
        "walk": row([False] * count),
        "convex": row(convex),
    }
    return evaluate(questions, Traced(questions, gold), rows)


def _verdict(network: int, vector: int, convex: int, count: int = 40) -> Verdict:
    """Rows that found the first so many."""
    found = ([n < some for n in range(count)] for some in (network, vector, convex))
    return verdict(_report(*found), "network", SINGLES)


def test_the_verdict_names_the_best_single_retriever_and_the_measure() -> None:
    """hit@5 where there is one thing to find."""
    one = _verdict(30, 20, 25)
    assert (one.measure, one.mean, one.single.row, one.single.mean, one.convex.mean) == (
        "hit@5",
        0.75,
        "vector",
        0.5,
        0.625,
    )
    assert one.single.difference.mean == pytest.approx(0.25)
    assert one.single.difference.low > 0
    assert one.decision == "as good"  # 5 of 40 more than convex may be luck (p = 1/16)
    several = _report([True] * 8, [True] * 8, [False] * 8, groups=2)
    assert verdict(several, "network", SINGLES).measure == "recall@5"


@pytest.mark.parametrize(
    ("sets", "active", "because"),
    [
        ({"a": (36, 20, 20)}, True, "better than its parts, and nowhere significantly worse"),
        ({"a": (36, 20, 20), "b": (10, 30, 10)}, False, "significantly worse than vector on b"),
        ({"a": (36, 20, 20), "b": (10, 10, 30)}, False, "significantly worse than convex on b"),
        ({"a": (36, 20, 20), "b": (28, 30, 30)}, True, "nowhere significantly worse"),
        ({"a": (20, 20, 18)}, False, "not better than its parts"),
        ({"a": (21, 20, 20), "b": (20, 20, 23)}, False, "not better than its parts"),
    ],
)
def test_the_rule(sets: dict[str, tuple[int, int, int]], active: bool, because: str) -> None:
    """Worse by more than luck on one set, or no better in the mean: shut. A little worse on one set: luck."""
    gate = decide({name: _verdict(*found) for name, found in sets.items()})
    assert gate.active is active
    assert because in gate.because


def test_a_large_set_does_not_outvote_a_small_one() -> None:
    """Every set counts alike in the mean."""
    gate = decide({"large": _verdict(202, 200, 200, 400), "small": _verdict(8, 10, 10, 12)})
    assert not gate.active
    assert "not better" in gate.because


def test_a_loss_on_few_pages_counts_too() -> None:
    """Twelve questions are lost on four of twelve pages. A test by page could not speak (p is 1/8 at least), so it is by
    question, p = 2 / 2**12. On six pages it is by page, p = 2 / 2**6."""
    for pages, p in ((4, 2 / 2**12), (6, 2 / 2**6)):
        found = [n % 12 >= pages or n >= 12 * (12 // pages) for n in range(72)]
        assert found.count(False) == 12
        one = verdict(_report(found, [True] * 72, [True] * 72, pages=12), "network", SINGLES)
        assert one.single.p == pytest.approx(p, abs=1e-3)
        assert one.decision == "worse"


def test_the_figures_are_plain_values() -> None:
    """As an artefact keeps them."""
    kept = decide({"a": _verdict(36, 20, 20)}).to_json()
    assert kept["active"] is True
    assert kept["sets"]["a"]["decision"] == "better"
    assert kept["sets"]["a"]["single"]["row"] == "vector"
    assert kept["sets"]["a"]["single"]["difference"] == pytest.approx(0.4)
    assert kept["sets"]["a"]["single"]["p"] < 0.01


def test_a_report_without_what_is_compared_is_refused() -> None:
    """A row that is missing, or no question at all."""
    report = _report([True], [True], [True])
    with pytest.raises(InputError, match="no diffusion"):
        verdict(report, "network", ("vector", "diffusion"))
    with pytest.raises(InputError, match="needs traced questions"):
        verdict(_report([], [], []), "network", SINGLES)
    with pytest.raises(InputError, match="at least one set of questions"):
        decide({})
