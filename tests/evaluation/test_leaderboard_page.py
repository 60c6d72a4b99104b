"""The page of a leaderboard holds what was found, and nothing of what it is given becomes markup."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from typer.testing import CliRunner

from tests.evaluation.test_leaderboard import GOLD, RUNS
from trivium.cli.app import app
from trivium.datasets.gold import Gold
from trivium.evaluation.leaderboard import leaderboard_page, rank_runs
from trivium.evaluation.report_pages import MOST_LINES
from trivium.evaluation.trec_files import run_path, write_qrels, write_run

EVIL = "<script>alert(1)</script>\"'&{{ 7 * 7 }}"


def filled(folder: Path, **more: dict[str, list[tuple[str, float]]]) -> Path:
    folder.mkdir()
    for name, run in {**RUNS, **more}.items():
        write_run(run_path(folder, name), name, run)
    write_qrels(folder / "qrels.txt", GOLD)
    return folder


def test_every_run_is_in_each_table_in_its_order() -> None:
    found = BeautifulSoup(leaderboard_page(rank_runs(RUNS, GOLD)), "html.parser")
    tables = found.find_all("table")
    assert len(tables) == 3
    for table in tables:
        names = [head.get_text(strip=True) for head in table.select("tbody th")]
        assert names == ["best", "half", "never"]
    ranked = [cell.get_text() for cell in tables[0].select("tbody tr")[1].find_all(["td", "th"])]
    assert ranked[:3] == ["2", "half", ".500"] and ranked[4].startswith("-0.400 (") and ranked[-1] == "9"
    curves = [line["points"].split() for line in found.find_all("polyline")]
    assert [len(points) for points in curves] == [20, 20, 20]
    heights = [[float(point.split(",")[1]) for point in points] for points in curves]
    assert all(a >= b for line in heights for a, b in pairwise(line))


def test_names_are_text_and_the_page_loads_and_runs_nothing() -> None:
    page = leaderboard_page(rank_runs({**RUNS, EVIL: RUNS["half"]}, GOLD, baseline=EVIL))
    found = BeautifulSoup(page, "html.parser")
    assert found.find_all(["script", "link", "img", "iframe", "a"]) == []
    assert not re.search(r"https?://|url\(|@import", page)
    assert EVIL in found.get_text() and "49" not in found.h1.get_text()
    assert not [
        name for tag in found.find_all(True) for name in tag.attrs if name.startswith("on") or name == "style"
    ]
    policy = found.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")


def test_few_documents_are_said_to_be_only_a_hint() -> None:
    """Seven documents are; forty are not."""
    assert "so few that both are only a hint" in leaderboard_page(rank_runs(RUNS, GOLD))
    gold = {f"q{i}": Gold.of([[f"page {i}#chunk-1"]]) for i in range(40)}
    page = leaderboard_page(rank_runs({"a": {"q0": [("page 0#chunk-1", 1.0)]}}, gold))
    assert "(40 of them)" in page and "hint" not in page


def test_more_runs_than_can_be_told_apart_are_listed_but_not_drawn() -> None:
    many = {f"run {number:02d}": RUNS["half"] for number in range(MOST_LINES + 3)}
    page = BeautifulSoup(leaderboard_page(rank_runs(many, GOLD)), "html.parser")
    assert len(page.find_all("polyline")) == MOST_LINES
    assert all(len(table.select("tbody tr")) == len(many) for table in page.find_all("table"))


def test_the_command_ranks_a_folder(tmp_path: Path) -> None:
    """With a name that is no file name, and [red] that is no markup of the terminal."""
    folder = filled(tmp_path / "runs", **{"[red]a/b > c": RUNS["best"]})
    asked = ["leaderboard", str(folder), "--measure", "mrr", "--baseline", "half"]
    answer = CliRunner().invoke(app, [*asked, "--json"])
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    assert [place["name"] for place in found["places"]] == ["[red]a/b > c", "best", "half", "never"]
    assert (found["measure"], found["baseline"], found["page"]) == (
        "mrr",
        "half",
        str(folder / "leaderboard.html"),
    )
    assert "[red]a/b &gt; c" in (folder / "leaderboard.html").read_text("utf-8")
    printed = CliRunner().invoke(app, [*asked, "--out", str(tmp_path / "own.html")], env={"COLUMNS": "100"})
    assert printed.exit_code == 0 and (tmp_path / "own.html").is_file()
    assert "[red]a/b > c" in printed.stdout and "Differences to half: two-sided" in " ".join(
        printed.stdout.split()
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["EMPTY"], "expected a folder with TREC runs"),
        (["ABOVE"], "did you mean RUNS?"),
        (["RUNS", "--baseline", "nobody"], "expected one of the runs as baseline"),
        (["RUNS", "--measure", "luck"], "expected a measure, one of"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, arguments: list[str], said: str) -> None:
    folder = filled(tmp_path / "runs")
    (tmp_path / "empty").mkdir()
    words = [
        word.replace("RUNS", str(folder))
        .replace("EMPTY", str(tmp_path / "empty"))
        .replace("ABOVE", str(tmp_path))
        for word in arguments
    ]
    answer = CliRunner().invoke(app, ["leaderboard", *words])
    assert (
        answer.exit_code != 0 and said.replace("RUNS", str(folder)) in f"{answer.output} {answer.exception}"
    )
