"""The report of a suite over all its sets: as JSON, as Markdown, and in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from trivium.evaluation.report import SHOWN_REASONS
from trivium.evaluation.significance import LEVEL, RESAMPLES, holm
from trivium.evaluation.suite.results import SetResult
from trivium.evaluation.tables import BETTER, WORSE, Cell, Table, chance, matches_table, plain, with_interval

Adjusted = Mapping[tuple[str, str, str], float]
"""(set, fusion, measure) -> p-value after Holm's correction."""


def adjusted(results: Sequence[SetResult]) -> Adjusted:
    """Return the p-values of every fusion against the best retrievers, corrected over all its sets and measures."""
    tests = [(result.name, test) for result in results for test in result.tests]
    found: dict[tuple[str, str, str], float] = {}
    for row in dict.fromkeys(test.row for _, test in tests):
        family = [(name, test) for name, test in tests if test.row == row]
        for (name, test), p in zip(family, holm([test.p for _, test in family]), strict=True):
            found[name, test.row, test.measure] = p
    return found


def to_json(results: Sequence[SetResult]) -> dict[str, Any]:
    """Return everything as plain JSON values; ``report`` of a set is the output of ``trivium evaluate --json`` for
    it.
    """
    corrected = adjusted(results)
    return {
        "sets": [
            {
                **result.model_dump(mode="json", exclude={"tests"}),
                "tests": [
                    {**test.model_dump(), "p_holm": corrected[result.name, test.row, test.measure]}
                    for test in result.tests
                ],
            }
            for result in results
        ]
    }


def print_suite(results: Sequence[SetResult], console: Console) -> None:
    """Print systems by sets, the best of each measure in bold, and the meaning of the marks."""
    corrected = adjusted(results)
    console.print(_table(results, corrected))
    if corrected:
        console.print(
            Text(
                f"{BETTER} {WORSE}  differs from the best single retriever of the set"
                + f" (paired permutation test, Holm over {_family(results)} tests, p < {LEVEL:g})",
                style="dim",
            )
        )
    for result in results:
        for warning in result.report.get("warnings", ()):
            console.print(Text(f"warning: {result.name}: {warning}", style="yellow"))


def to_markdown(results: Sequence[SetResult]) -> str:
    """Return the report as Markdown: means with intervals, tests, times, and the conditions of the measurement."""
    corrected = adjusted(results)
    lines = ["# Evaluation", "", _table(results, corrected).to_markdown(), ""]
    for result in results:
        lines += [*_quality(result, corrected), ""]
    if any(result.fusions and result.tests for result in results):
        lines += [*_tests(results, corrected), ""]
    lines += [*_circumstances(results)]
    return "\n".join(lines) + "\n"


def _table(results: Sequence[SetResult], corrected: Adjusted) -> Table:
    """Return systems by sets and measures."""
    columns = [(result, measure) for result in results for measure in result.measures]
    table = Table(["system", *(f"{result.name}\n{measure}" for result, measure in columns)])
    for row in dict.fromkeys(row for result in results for row in result.rows):
        table.add_row(row, *(_cell(result, row, measure, corrected) for result, measure in columns))
    return table


def _cell(result: SetResult, row: str, measure: str, corrected: Adjusted, interval: str = "") -> Cell:
    if row not in result.rows:
        return Cell("")
    shown = _shown(result.mean(row, measure))
    best = shown == max(_shown(result.mean(other, measure)) for other in result.rows)
    return Cell(f"{shown}{interval}", best, _mark(result, row, measure, corrected))


def _mark(result: SetResult, row: str, measure: str, corrected: Adjusted) -> str:
    for test in result.tests:
        if (test.row, test.measure) == (row, measure) and corrected[result.name, row, measure] < LEVEL:
            return BETTER if test.difference > 0 else WORSE
    return ""


def _shown(mean: float | None) -> str:
    return "-" if mean is None else f"{mean:.3f}"


def _family(results: Sequence[SetResult]) -> int:
    counts = Counter(test.row for result in results for test in result.tests)
    return max(counts.values(), default=0)


def _quality(result: SetResult, corrected: Adjusted) -> Iterator[str]:
    report = result.report
    yield f"## {plain(result.name)}"
    yield ""
    chosen = (
        "all of the file" if result.inputs["sample"] is None else f"a sample, seed {result.inputs['seed']}"
    )
    yield (
        f"{report['questions']:,} questions ({chosen}), {report['traced']:,} traced. Means with 95 % intervals; "
        f"intervals and tests resample {report['clusters']:,} {report['resampled']}."
        + (" Exact vector search." if result.inputs["exact"] else "")
    )
    yield ""
    yield Table(
        ["system", *result.measures, "mrr", "ndcg@10"],
        [
            [row]
            + [_mean(result, row, measure, corrected) for measure in (*result.measures, "mrr", "ndcg@10")]
            for row in result.rows
        ],
    ).to_markdown()
    for warning in report.get("warnings", ()):
        yield ""
        yield f"Warning: {plain(warning)}"
    matches = matches_table({row: report["rows"][row]["cmc"] for row in result.rows}, report["rows"])
    if matches is not None:
        yield ""
        yield "Share of questions with a gold passage among the first k (CMC), and precision far down the list:"
        yield ""
        yield matches.to_markdown()
    if report["untraceable"]:
        yield ""
        yield "Not traced, and not in the means:"
        yield ""
        for cause, count in Counter(lost["cause"] for lost in report["untraceable"]).most_common():
            yield f"- {count}: {plain(cause)}"
        for lost in report["untraceable"][:SHOWN_REASONS]:
            yield f"  - {plain(lost['id'])}: {plain(lost['reason'])}"
        if len(report["untraceable"]) > SHOWN_REASONS:
            yield f"  - and {len(report['untraceable']) - SHOWN_REASONS} more, all in report.json"


def _mean(result: SetResult, row: str, measure: str, corrected: Adjusted) -> str | Cell:
    interval = result.interval(row, measure)
    if interval is None:
        return _shown(result.mean(row, measure))
    return _cell(result, row, measure, corrected, f" ({interval[0]:.3f} to {interval[1]:.3f})")


def _tests(results: Sequence[SetResult], corrected: Adjusted) -> Iterator[str]:
    yield "## Fusions against the best single retriever"
    yield ""
    yield (
        "The rival is the retriever with the highest mean on the same questions, measure by measure: picked with "
        f"hindsight. Two-sided paired permutation test of the mean difference ({RESAMPLES:,} sign patterns, or all of "
        "them where there are fewer), signs flipped page by page, with the 95 % bootstrap interval of the difference. "
        f"Holm's correction is over the {_family(results)} tests of a fusion, all sets and "
        f"measures; {BETTER} and "
        f"{WORSE} mark differences below {LEVEL:g} after it."
    )
    yield ""
    tests = [(result, test) for result in results for test in result.tests]
    rows: list[list[str | Cell]] = []
    for result, test in tests:
        p = corrected[result.name, test.row, test.measure]
        rows.append(
            [
                test.row,
                result.name,
                test.measure,
                test.against,
                with_interval(f"{test.difference:+.3f}", test.low, test.high),
                chance(test.p),
                Cell(chance(p), mark=_mark(result, test.row, test.measure, corrected)),
            ]
        )
    heads = ["fusion", "set", "measure", "rival", "difference", "p", "p (Holm)"]
    yield Table(heads, rows, keys=4).to_markdown()


def _circumstances(results: Sequence[SetResult]) -> Iterator[str]:
    yield "## Stores"
    yield ""
    rows = []
    for result in results:
        store: dict[str, Any] = result.store
        embedder, nodes = store["embedder"] or {}, store["nodes"]
        rows.append(
            [
                result.name,
                str(store["location"]),
                f"{embedder.get('name', '-')} {embedder.get('version', '')}",
                result.version,
                f"{nodes.get('Page', 0):,}",
                f"{nodes.get('Chunk', 0):,}",
            ]
        )
    head = ["set", "store", "embedder", "trivium", "pages", "chunks"]
    yield Table(head, rows, keys=4).to_markdown()
