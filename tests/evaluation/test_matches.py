"""The CMC as figures and as a chart."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from trivium.datasets.gold import Gold
from trivium.evaluation.ranking_measures import CMC_DEPTH, cumulative_matches
from trivium.evaluation.tables import chart, matches_table


def printed(matches: dict[str, list[float]], means: dict[str, dict[str, float]]) -> str:
    out = io.StringIO()
    Console(file=out, width=80).print(matches_table(matches, means))
    return out.getvalue()


def test_the_share_of_questions_grows_where_the_first_gold_passage_stands() -> None:
    """Four questions: gold first, third (and fourth), 21st, and nowhere."""
    gold = [Gold.of([["g"]]), Gold.of([["g"], ["h"]]), Gold.of([["g"]]), Gold.of([["g"]])]
    rankings = [["g"], ["a", "b", "g", "h"], [*map(str, range(20)), "g"], []]
    found = cumulative_matches(gold, rankings).tolist()
    assert found == [0.25, 0.25, *[0.5] * (CMC_DEPTH - 2)]


@pytest.mark.parametrize(
    ("share", "drawn"),
    [(0, " "), (0.001, "▁"), (0.249, "▁"), (0.25, "▂"), (0.5, "▄"), (0.875, "▇"), (0.999, "▇"), (1, "█")],
)
def test_a_column_is_empty_only_for_none_and_full_only_for_all(share: float, drawn: str) -> None:
    assert chart([share]) == drawn


def test_a_line_a_system_with_figures_chart_and_precision_within_eighty_columns() -> None:
    shares = [0.25, 0.25, *[0.5] * 17, 1.0]
    text = printed({"[b]mine": shares}, {"[b]mine": {"precision@10": 0.1, "precision@20": 0.0625}})
    head, _, line = text.strip("\n").splitlines()
    assert " ".join(head.split()) == "CMC @1 @3 @5 @10 @20 ranks 1 to 20 P@10 P@20"
    assert " ".join(line.split()) == f"[b]mine .250 .500 .500 .500 1.000 {chart(shares)} .100 .062"
    assert chart(shares) == "▂▂" + "▄" * 17 + "█"


def test_without_traced_questions_there_is_nothing_to_draw() -> None:
    assert matches_table({"vector": []}, {"vector": {}}) is matches_table({}, {}) is None
