"""What is kept of judged sets, and the report over them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, Literal

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from trivium.errors import InputError
from trivium.evaluation.digests import digest_of_files
from trivium.evaluation.suite.report import adjusted, print_suite, to_json, to_markdown
from trivium.evaluation.suite.results import (
    RESULT,
    Paired,
    SetResult,
    forget_result,
    load_result,
    save_result,
)

MEASURES = ("hit@1", "hit@3", "hit@5")


def row(one: float, three: float, five: float) -> dict[str, Any]:
    means = {"hit@1": one, "hit@3": three, "hit@5": five, "mrr": one, "ndcg@10": one}
    return {**means, "ci": {name: [mean - 0.1, mean + 0.1] for name, mean in means.items()}, "cmc": []}


def result(name: str = "squad", p: tuple[float, float, float] = (0.001, 0.02, 0.9)) -> SetResult:
    """vector .500 .700 .800, the fusion <b>mix .600 .650 .800, of which the first two differ."""
    differences = zip(MEASURES, (0.1, -0.05, 0.0), p, strict=True)
    return SetResult(
        name=name,
        version="0.1.0",
        inputs={"sample": 10, "seed": 3, "exact": False, "questions": "abc"},
        report={
            "questions": 11,
            "traced": 10,
            "untraceable": [
                {"id": "q|7", "cause": "no page", "reason": "the store knows no page [x](y)\n## Z"}
            ],
            "rows": {"vector": row(0.5, 0.7, 0.8), "<b>mix": row(0.6, 0.65, 0.8)},
            "comparisons": [],
            "resampled": "pages",
            "clusters": 8,
        },
        retrievers=("vector",),
        fusions=("<b>mix",),
        measures=MEASURES,
        tests=tuple(
            Paired(
                row="<b>mix", against="vector", measure=m, difference=d, low=d - 0.1, high=d + 0.1, p=value
            )
            for m, d, value in differences
        ),
        store={"location": "my_store", "embedder": None, "nodes": {"Page": 3, "Chunk": 4000}},
    )


def printed(results: list[SetResult], width: int = 100, colours: Literal["standard"] | None = None) -> str:
    file = io.StringIO()
    print_suite(results, Console(file=file, width=width, force_terminal=True, color_system=colours))
    return file.getvalue()


def test_the_correction_is_over_all_sets_and_measures_of_a_fusion() -> None:
    """Six tests, .001 .02 .9 twice: times 6, 5, 4, 3, 2, 1 from the smallest, never falling."""
    found = adjusted([result("a"), result("b")])
    assert [round(found["a", "<b>mix", m], 9) for m in MEASURES] == [0.006, 0.08, 1.0]
    assert [round(found["b", "<b>mix", m], 9) for m in MEASURES] == [0.006, 0.08, 1.0]


def test_the_table_marks_what_differs_after_the_correction_and_shows_the_best_in_bold() -> None:
    """.001 times 3 and .02 times 2 are below .05: up at 1, down at 3."""
    plain, coloured = printed([result()]), printed([result()], colours="standard")
    assert "0.500   0.700   0.800" in plain
    assert "<b>mix" in plain and "0.600▲  0.650▼  0.800" in plain
    assert "0.650▼" not in printed([result(p=(0.001, 0.03, 0.9))])  # .03 alone would be enough, .06 is not
    assert "Holm over 3 tests" in plain
    assert "\x1b[1m0.600\x1b[0m" in coloured and "\x1b[1m0.700\x1b[0m" in coloured
    assert coloured.count("\x1b[1m0.800") == 2


def test_sets_that_do_not_fit_side_by_side_go_below() -> None:
    lines = printed([result(name) for name in ("one", "two", "three")], width=60).splitlines()
    assert sum("system" in line.split() for line in lines) == 2
    assert max(map(len, lines)) <= 60


def test_the_markdown_has_every_figure_and_no_markup_from_outside() -> None:
    text = to_markdown([result()])
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert "| **0.600**▲ | 0.650▼ | **0.800** |" in text and "| **0.600 (0.500 to 0.700)**▲ |" in text
    assert "<td>&lt;b&gt;mix</td>" in html and "<b>" not in html
    assert "q|7: the store knows no page [x](y) ## Z" in html
    assert "| +0.100 (+0.000 to +0.200) | .001 | .003▲ |" in text
    assert "| -0.050 (-0.150 to +0.050) | .020 | .040▼ |" in text
    assert "4,000" in text


def test_the_json_has_the_report_as_it_was_and_the_corrected_tests() -> None:
    (only,) = json.loads(json.dumps(to_json([result()]), allow_nan=False))["sets"]
    assert only["report"] == result().report
    assert [test["p_holm"] for test in only["tests"]] == [0.003, 0.04, 0.9]


def test_a_result_is_found_again_only_for_the_same_inputs(tmp_path: Path) -> None:
    kept = result()
    assert load_result(tmp_path, kept.inputs) is None
    save_result(kept, tmp_path)
    assert load_result(tmp_path, kept.inputs) == kept
    assert load_result(tmp_path, {**kept.inputs, "seed": 4}) is None
    for name in ("vector.run", "%3Cb%3Emix.run", "mine.run"):
        (tmp_path / name).write_text("")
    forget_result(tmp_path)
    assert load_result(tmp_path, kept.inputs) is None
    assert [path.name for path in tmp_path.iterdir()] == ["mine.run"]
    save_result(kept, tmp_path)
    (tmp_path / RESULT).write_text((tmp_path / RESULT).read_text("utf-8")[:-20], "utf-8")
    assert load_result(tmp_path, kept.inputs) is None


def test_the_digest_of_files_sees_names_and_contents(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("x")
    other.write_text("x")
    assert digest_of_files([one]) == digest_of_files([one]) != digest_of_files([other])
    before = digest_of_files([one, other])
    other.write_text("y")
    assert digest_of_files([one, other]) != before
    with pytest.raises(InputError, match="readable"):
        digest_of_files([tmp_path / "none"])


def test_the_report_has_the_curve_of_matches_of_each_system() -> None:
    """Shares at ranks 1, 3, 5, 10, 20 and a column a rank."""
    given = result()
    rows = given.report["rows"]
    curves = {"vector": [0.5, 0.5, 0.7, 0.7, *[0.8] * 16], "<b>mix": [0.6, 0.6, *[0.65] * 17, 1.0]}
    report = {**given.report, "rows": {name: {**rows[name], "cmc": curves[name]} for name in rows}}
    text = to_markdown([given.model_copy(update={"report": report})])
    assert f"| vector | .500 | .700 | .800 | .800 | .800 | ▄▄▅▅{16 * '▆'} | - | - |" in text
    assert f"| \\<b\\>mix | .600 | .650 | .650 | .650 | 1.000 | ▄▄{17 * '▅'}█ | - | - |" in text
    assert "@20" not in to_markdown([given])
