"""Leaderboards of several sets, and the mean over them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from typer.testing import CliRunner

from tests.evaluation.leaderboard.test_ranking import GOLD, RUNS
from trivium.cli.app import app
from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation import retrieval
from trivium.evaluation.leaderboard import ranking
from trivium.evaluation.leaderboard.page import leaderboard_page, sets_page
from trivium.evaluation.leaderboard.ranking import rank_runs
from trivium.evaluation.leaderboard.sets import rank_sets
from trivium.evaluation.trec import run_path, write_qrels, write_run

SMALL = {f"s{n}": Gold.of([[f"small {n}#chunk-1"]]) for n in range(2)}
RIGHT = {question: [(gold.groups[0][0], 1.0)] for question, gold in SMALL.items()}
WRONG = {question: [("other", 1.0)] for question in SMALL}
SETS = {"large": (RUNS, GOLD), "small": ({"best": WRONG, "half": RIGHT}, SMALL)}
EVIL = "<b>evil</b>"


def test_every_set_weighs_the_same() -> None:
    """hit@1 of ten and of two questions: (.9 + 0) / 2 = .45 and (.5 + 1) / 2 = .75. Over the twelve questions it would be
    .75 and .58, the other way round. Who is not in both sets has no mean."""
    found = rank_sets(SETS)
    assert (found.measure, found.baseline, found.hindsight) == ("hit@1", "half", True)
    assert [(place.name, place.means["hit@1"]) for place in found.places] == [("half", 0.75), ("best", 0.45)]
    assert found.partial == ("never",)
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert told["places"][1]["sets"] == {"large": 0.9, "small": 0.0}
    assert told["partial"] == ["never"] and list(told["sets"]) == ["large", "small"]


def test_each_set_is_ranked_and_tested_by_itself_against_the_same_run() -> None:
    """As it would be alone, with that baseline; a named one is taken for all."""
    found = rank_sets(SETS)
    for name, (runs, gold) in SETS.items():
        assert found.sets[name].to_json() == rank_runs(runs, gold, "hit@1", "half").to_json()
    named = rank_sets(SETS, "mrr", "best")
    assert (named.baseline, named.hindsight, named.measure) == ("best", False, "mrr")
    assert {board.baseline for board in named.sets.values()} == {"best"}
    with pytest.raises(
        InputError, match=r"small: expected one of the runs as baseline \(best, half\), got 'never'"
    ):
        rank_sets(SETS, baseline="never")
    with pytest.raises(InputError, match=r"expected a measure, one of hit@1, .*, got 'luck'"):
        rank_sets(SETS, "luck")
    with pytest.raises(InputError, match="empty: expected runs and judged questions, got 0 and 2"):
        rank_sets({"empty": ({}, SMALL)})


def test_a_run_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """To choose the baseline and to be ranked: five runs in two sets."""
    asked = []

    def counted(*given: Any) -> Any:
        asked.append(given)
        return retrieval.measure(*given)

    monkeypatch.setattr(ranking, "measure", counted)
    rank_sets(SETS)
    assert len(asked) == 5


def test_one_set_of_several_parts_makes_recall_the_measure_of_all() -> None:
    """Which is hit@5 where a question has one part: half the parts found are .5, the small set is all right."""
    parts = {"p": Gold.of([["a#1"], ["b#1"]])}
    found = rank_sets({"parts": ({"x": {"p": [("a#1", 1.0)]}}, parts), "small": ({"x": RIGHT}, SMALL)})
    assert (found.measure, found.places[0].means["recall@5"]) == ("recall@5", 0.75)


def test_sets_without_a_run_in_common_have_no_mean() -> None:
    """Each is tested against its own best."""
    found = rank_sets({"a": ({"x": RIGHT, "y": WRONG}, SMALL), "b": ({"z": RIGHT}, SMALL)})
    assert found.places == () and found.baseline is None and found.partial == ("x", "y", "z")
    assert [board.baseline for board in found.sets.values()] == ["x", "z"]
    assert "Mean over the sets" in sets_page(found)


def test_the_page_has_the_mean_and_the_tables_of_each_set() -> None:
    """Names of sets and runs are text, ids are each once, and a page of one set is as it was."""
    sets = {EVIL: SETS["large"], "small": ({**SETS["small"][0], EVIL: RIGHT}, SMALL)}
    page = BeautifulSoup(sets_page(rank_sets(sets)), "html.parser")
    tables = page.find_all("table")
    assert len(tables) == 2 + 2 * 3 and page.find_all(["b", "script"]) == []
    ranked = [
        [cell.get_text(strip=True) for cell in row.find_all(["td", "th"])] for row in tables[0].select("tr")
    ]
    assert ranked[0] == ["rank", "run", "mean hit@1", EVIL, "small"]
    assert [row[:5] for row in ranked[1:]] == [
        ["1", "half", ".750", ".500", "1.000"], ["2", "best", ".450", ".900", ".000"]
    ]  # fmt: skip
    ids = [tag["id"] for tag in page.find_all(id=True)]
    assert len(set(ids)) == len(ids) == 8
    assert "Not in all sets, and without a mean: never, <b>evil</b>." in page.get_text()
    alone = BeautifulSoup(leaderboard_page(rank_runs(RUNS, GOLD)), "html.parser")
    assert [tag["id"] for tag in alone.find_all(id=True)] == ["ranked", "measures", "matches"]
    assert alone.h2.get_text() == "Ranked, and tested against best"


def test_the_command_ranks_what_a_suite_wrote(tmp_path: Path) -> None:
    """Folders without runs are passed over; judgements named beside those of the sets are refused."""
    for name, (runs, gold) in SETS.items():
        (tmp_path / name).mkdir()
        for system, run in runs.items():
            write_run(run_path(tmp_path / name, system), system, run)
        write_qrels(tmp_path / name / "qrels.txt", gold)
    (tmp_path / "pictures").mkdir()
    done = CliRunner().invoke(app, ["leaderboard", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert [(place["name"], place["means"]["hit@1"]) for place in told["places"]] == [
        ("half", 0.75),
        ("best", 0.45),
    ]
    assert told["page"] == str(tmp_path / "leaderboard.html")
    assert "Mean over the sets" in (tmp_path / "leaderboard.html").read_text("utf-8")
    printed = CliRunner().invoke(app, ["leaderboard", str(tmp_path)], env={"COLUMNS": "100"})
    lines = printed.stdout.splitlines()
    assert ["1", "half", ".750", ".500", "1.000"] in [line.split() for line in lines]
    assert lines.index("large") < lines.index("small") and "each of which weighs the same" in printed.stdout
    refused = CliRunner().invoke(app, ["leaderboard", str(tmp_path), "--qrels", "x.txt"])
    assert refused.exit_code == 2 and "every set of the folder has its own" in " ".join(
        refused.output.split()
    )
