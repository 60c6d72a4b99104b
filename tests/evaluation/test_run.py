"""From rankings to the report, its JSON, its table and its folder."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from trivium.datasets.gold import Cause, Gold, Traced, Untraceable
from trivium.errors import InputError
from trivium.evaluation.ranking_measures import CMC_DEPTH
from trivium.evaluation.report import HEADLINE, Rankings, Report, print_report
from trivium.evaluation.run import evaluate
from trivium.evaluation.trec_files import read_qrels, read_run, write_runs
from trivium.types import Question

PAGES = ["Mars", "Mars", "Io", "Venus", "Earth", "Moon", "Pluto", "Ceres"]
QUESTIONS = [Question(f"q{i}", f"question {i}?", page=page) for i, page in enumerate(PAGES)]
LOST = Question("lost", "where?")
GOLD = {q.id: Gold.of([[f"{q.page}#chunk-{i}"]]) for i, q in enumerate(QUESTIONS)}
TRACED = Traced(
    tuple(QUESTIONS), GOLD, (Untraceable("lost", Cause.NO_PAGE, "the store knows no page [red]X"),)
)


def rankings() -> Rankings:
    """``perfect`` finds all first, ``half`` the even questions second, ``nothing`` nothing."""
    right = [GOLD[q.id].groups[0][0] for q in QUESTIONS]
    return {
        "nothing": [[] for _ in right],
        "half": [[("other", 0.9), (c if i % 2 == 0 else "wrong", 0.8)] for i, c in enumerate(right)],
        "perfect": [[(c, 1.0)] for c in right],
    }


def report() -> Report:
    return evaluate([*QUESTIONS, LOST], TRACED, rankings())


def test_means_are_over_the_traced_questions_and_the_lost_one_is_listed() -> None:
    answer = json.loads(json.dumps(report().to_json(), allow_nan=False))
    assert (answer["questions"], answer["traced"]) == (9, 8)
    assert answer["untraceable"] == [
        {"id": "lost", "cause": "the page is not in the store", "reason": "the store knows no page [red]X"}
    ]
    rows = answer["rows"]
    assert list(rows) == ["nothing", "half", "perfect"]
    assert [rows[r]["hit@1"] for r in rows] == [0, 0, 1]
    assert [rows[r]["hit@3"] for r in rows] == [0, 0.5, 1]
    assert [rows[r]["mrr"] for r in rows] == [0, 0.25, 1]
    assert [rows[r]["all@5"] for r in rows] == [0, 0.5, 1]
    assert rows["half"]["cmc"] == [0] + [0.5] * (CMC_DEPTH - 1)
    assert set(rows["half"]["ci"]) == set(HEADLINE)
    low, high = rows["half"]["ci"]["hit@5"]
    assert 0 < low < 0.5 < high < 1


def test_comparisons_are_with_the_first_row_and_flip_whole_pages() -> None:
    """Seven pages; perfect beats nothing on each of them: 2 of 2^7 sign patterns are as extreme."""
    answer = report().to_json()
    assert (answer["resampled"], answer["clusters"]) == ("pages", 7)
    found = {(c["row"], c["measure"]): c for c in answer["comparisons"]}
    assert set(found) == {(row, m) for row in ("half", "perfect") for m in HEADLINE}
    best = found["perfect", "hit@1"]
    assert (best["against"], best["difference"], best["ci"], best["p"]) == ("nothing", 1, [1, 1], 2 / 128)


def test_where_all_questions_share_a_page_the_questions_are_resampled() -> None:
    gold = {q.id: Gold.of([[f"Mars#chunk-{i}"]]) for i, q in enumerate(QUESTIONS)}
    answer = evaluate(QUESTIONS, Traced(tuple(QUESTIONS), gold), rankings())
    assert (answer.resampled, answer.clusters) == ("questions", 8)


def test_nothing_traced_is_a_report_without_numbers_not_an_error() -> None:
    traced = Traced((), {}, TRACED.untraceable)
    answer = evaluate([LOST], traced, {"vector": [], "page": []})
    as_json = answer.to_json()
    assert (as_json["questions"], as_json["traced"]) == (1, 0)
    assert as_json["rows"]["vector"]["hit@1"] is None
    assert "1 could not be traced" in printed(answer)


def test_the_report_is_the_same_every_time() -> None:
    assert report().to_json() == report().to_json()


def test_rankings_or_tracing_that_do_not_fit_the_questions_are_refused() -> None:
    with pytest.raises(InputError, match="expected 8 rankings of 'vector', one a traced question, got 0"):
        evaluate([*QUESTIONS, LOST], TRACED, {"vector": []})
    with pytest.raises(InputError, match="these 8 questions, got one of 9"):
        evaluate(QUESTIONS, TRACED, rankings())


def printed(report: Report, colour: bool = False) -> str:
    out = io.StringIO()
    colours = "standard" if colour else None
    print_report(report, Console(file=out, width=80, color_system=colours, force_terminal=colour))
    return out.getvalue()


def test_the_table_shows_rows_interval_comparison_and_reasons_as_plain_text() -> None:
    text = printed(report())
    half = next(line for line in text.splitlines() if "half" in line)
    assert half.split()[:4] == ["half", "0.000", "0.500", "0.500"]
    assert "half .000 .500 .500 .500 .500 " + 19 * "▄" in " ".join(text.split())
    assert "perfect is 1.000 above nothing in hit@5 (95 %: +1.000 to +1.000), p = 0.016" in text
    assert "8 of 9 questions traced; intervals and tests resample 7 pages." in text
    assert "1  the page is not in the store" in text
    assert "lost: the store knows no page [red]X" in text


def test_another_measure_is_compared_and_shown_instead() -> None:
    """By hand: ``half`` has every second gold chunk at rank 2."""
    found = evaluate([*QUESTIONS, LOST], TRACED, rankings(), "recall@2")
    (half, perfect) = [c for c in found.comparisons if c.measure == "recall@2"]
    assert (half.difference.mean, perfect.difference.mean) == (0.5, 1.0)
    assert set(found.to_json()["rows"]["half"]["ci"]) == {*HEADLINE, "recall@2"}
    text = printed(found)
    assert "half is 0.500 above nothing in recall@2" in text and "in hit@5" not in text
    assert {c.measure for c in report().comparisons} == set(HEADLINE)
    with pytest.raises(InputError, match="with a cutoff such as ndcg@10, got 'recall'"):
        evaluate([*QUESTIONS, LOST], TRACED, rankings(), "recall")


def test_a_long_name_goes_on_below_and_cuts_no_figure() -> None:
    """In 80 columns, as ``diffusion > weighted:0.7`` would be."""
    given = evaluate([*QUESTIONS, LOST], TRACED, {"diffusion > weighted:0.7": rankings()["half"]})
    text = printed(given)
    assert "…" not in text and "diffusion" in text and max(map(len, text.splitlines()[:3])) <= 80
    for measure in (*HEADLINE, "@10", "P@20"):
        assert measure in text


def test_the_best_of_each_column_is_bold_and_no_other() -> None:
    lines = printed(report(), colour=True).split("CMC")[0].splitlines()
    bold = {
        name: line.count("\x1b[1m")
        for line in lines
        for name in ("nothing", "half", "perfect")
        if line.replace("\x1b[0m", "").startswith(f"{name}  ")
    }
    assert bold["half"] == bold["nothing"] == 0
    assert bold["perfect"] == len(HEADLINE)


def test_a_folder_of_runs_holds_what_was_judged(tmp_path: Path) -> None:
    rows = {**rankings(), "../up": [[("x y", 0.5)]] * 8}
    answer = evaluate([*QUESTIONS, LOST], TRACED, rows)
    for _ in range(2):
        write_runs(answer, tmp_path / "a" / "b")
    names = sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file())
    assert names == [
        f"a/b/{n}"
        for n in (
            *("..%2Fup.run", "half.run", "metrics.csv", "metrics.json", "nothing.run", "perfect.run"),
            *("qrels.txt", "questions.csv"),
        )
    ]
    folder = tmp_path / "a" / "b"
    assert read_qrels(folder / "qrels.txt") == GOLD
    assert read_run(folder / "half.run")["q0"] == [("other", 0.9), ("Mars#chunk-0", 0.8)]
    assert read_run(folder / "nothing.run") == {}
    assert json.loads((folder / "metrics.json").read_text()) == answer.to_json()
    with (folder / "questions.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert lines[0] == {
        **{"id": "q0", "question": "question 0?", "nothing": "0.0", "half": "1.0", "perfect": "1.0"},
        "../up": "0.0",
    }
    assert [line["half"] for line in lines] == ["1.0", "0.0"] * 4
    with (folder / "metrics.csv").open(newline="") as file:
        assert {row["system"]: row["hit@3"] for row in csv.DictReader(file)}["half"] == "0.5"


def test_a_folder_that_cannot_be_made_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="expected a folder"):
        write_runs(report(), tmp_path / "file" / "runs")


def test_a_notebook_shows_the_means_and_no_name_becomes_markup() -> None:
    """Names of systems are given by people and folders."""
    given = evaluate([*QUESTIONS, LOST], TRACED, {"<b>mine</b>": rankings()["perfect"]})
    html = given._repr_html_()
    assert '&lt;b&gt;mine&lt;/b&gt;</th><td class="best">1.000' in html and "<b>" not in html
    assert "8 of 9 questions traced" in html
