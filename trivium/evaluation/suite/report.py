"""The report of a suite over all its sets: as JSON, as Markdown, and in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from rich.console import Console
from rich.text import Text

from trivium.evaluation.fitted_table import FittedTable
from trivium.evaluation.latency import TOTAL
from trivium.evaluation.matches import LATE_PRECISION, SHOWN_RANKS, chart
from trivium.evaluation.report import SHOWN_REASONS
from trivium.evaluation.significance import LEVEL, RESAMPLES, holm
from trivium.evaluation.suite.results import Paired, SetResult
from trivium.evaluation.tables import BETTER, WORSE, grid, plain, share
from trivium.search.stages import STAGES

_FOLLOWED = "a reranked or cut row from the same without"

Adjusted = Mapping[tuple[str, str, str], float]
"""(set, fusion, measure) -> p-value after Holm's correction."""


def adjusted(results: Sequence[SetResult]) -> Adjusted:
    """Return the p-values of every fusion against the best retrievers, and of reranked or cut rows against their
    originals, corrected over all sets and measures of that row.
    """
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
                + (f", {_FOLLOWED}" if any(result.followed for result in results) else "")
                + f" (paired permutation test, Holm over {_family(results)} tests, p < {LEVEL:g})",
                style="dim",
            )
        )
    for result in results:
        for warning in result.report.get("warnings", ()):
            console.print(Text(f"warning: {result.name}: {warning}", style="yellow"))
    tokens = sum(result.model.tokens for result in results)
    console.print(Text(f"tokens of language models: {tokens:,}", style="dim"))


def to_markdown(results: Sequence[SetResult]) -> str:
    """Return the report as Markdown: means with intervals, tests, times, and the conditions of the measurement."""
    corrected = adjusted(results)
    lines = ["# Evaluation", ""]
    for result in results:
        lines += [*_quality(result, corrected), ""]
    if any((result.fusions or result.runs) and result.tests for result in results):
        lines += [*_tests(results, corrected), ""]
    if any(result.followed and result.tests for result in results):
        lines += [*_tests_of_followed(results, corrected), ""]
    lines += [*_times(results), "", *_circumstances(results)]
    return "\n".join(lines) + "\n"


def _table(results: Sequence[SetResult], corrected: Adjusted) -> FittedTable:
    # Names come from the command line and from files: use Text, never markup.
    heads = [
        f"{result.name}\n{' '.join(measure.ljust(6) for measure in result.measures)}" for result in results
    ]
    table = FittedTable(["system", *heads])
    for row in dict.fromkeys(row for result in results for row in result.rows):
        table.add_row(Text(row), *(_cell(result, row, corrected) for result in results))
    return table


def _cell(result: SetResult, row: str, corrected: Adjusted) -> Text:
    cell = Text()
    for measure in result.measures:
        shown = _shown(result.mean(row, measure))
        best = max(_shown(result.mean(other, measure)) for other in result.rows)
        mark = _mark(result, row, measure, corrected)
        if cell:
            cell.append(" ")
        cell.append(shown, style="bold" if shown == best else "")
        cell.append(mark.ljust(max(len(measure), 6) - len(shown)))
    return cell


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
    counted = ["passages"] if result.cut else []
    yield grid(
        ["system", *result.measures, "mrr", "ndcg@10", *counted],
        [
            [plain(row)]
            + [_mean(result, row, measure, corrected) for measure in (*result.measures, "mrr", "ndcg@10")]
            + [f"{result.mean(row, measure) or 0.0:.1f}" for measure in counted]
            for row in result.rows
        ],
    )
    for warning in report.get("warnings", ()):
        yield ""
        yield f"Warning: {plain(warning)}"
    matches = {row: report["rows"][row]["cmc"] for row in result.rows}
    if all(matches.values()):
        yield ""
        yield "Share of questions with a gold passage among the first k (CMC), and precision far down the list:"
        yield ""
        late = [
            measure for measure in LATE_PRECISION if all(measure in report["rows"][row] for row in matches)
        ]
        yield grid(
            ["system", *(f"k = {rank}" for rank in SHOWN_RANKS), "ranks 1 on", *late],
            [
                [plain(row), *(share(shares[rank - 1]) for rank in SHOWN_RANKS), f"`{chart(shares)}`"]
                + [share(result.mean(row, measure) or 0.0) for measure in late]
                for row, shares in matches.items()
            ],
        )
    if result.page is not None:
        yield ""
        yield f"Question by question: [{plain(result.page)}]({quote(result.page)})"
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


def _mean(result: SetResult, row: str, measure: str, corrected: Adjusted) -> str:
    shown = _shown(result.mean(row, measure))
    interval = result.interval(row, measure)
    if interval is None:
        return shown
    best = shown == max(_shown(result.mean(other, measure)) for other in result.rows)
    mark = _mark(result, row, measure, corrected)
    return f"{f'**{shown}**' if best else shown}{mark} ({interval[0]:.3f} to {interval[1]:.3f})"


def _tests(results: Sequence[SetResult], corrected: Adjusted) -> Iterator[str]:
    given = any(result.runs for result in results)
    yield f"## Fusions{' and given runs' if given else ''} against the best single retriever"
    yield ""
    yield (
        "The rival is the retriever with the highest mean on the same questions, measure by measure: picked with "
        f"hindsight. Two-sided paired permutation test of the mean difference ({RESAMPLES:,} sign patterns, or all of "
        "them where there are fewer), signs flipped page by page, with the 95 % bootstrap interval of the difference. "
        f"Holm's correction is over the {_family(results)} tests of a {'row' if given else 'fusion'}, all sets and "
        f"measures; {BETTER} and "
        f"{WORSE} mark differences below {LEVEL:g} after it."
    )
    yield ""
    tests = [(result, test) for result in results for test in result.tests if test.row not in result.followed]
    yield _test_grid("system" if given else "fusion", "rival", tests, corrected)


def _tests_of_followed(results: Sequence[SetResult], corrected: Adjusted) -> Iterator[str]:
    yield "## Reranked and cut, against the same without"
    yield ""
    yield (
        "What a reranker or a cut follows is the rival, on the same questions. Test, intervals and marks are those of"
        " fusions; Holm's correction is over all sets and measures of a row."
    )
    yield ""
    tests = [(result, test) for result in results for test in result.tests if test.row in result.followed]
    yield _test_grid("system", "without", tests, corrected)


def _test_grid(
    system: str, rival: str, tests: Sequence[tuple[SetResult, Paired]], corrected: Adjusted
) -> str:
    rows = []
    for result, test in tests:
        p = corrected[result.name, test.row, test.measure]
        rows.append(
            [
                plain(test.row),
                plain(result.name),
                test.measure,
                plain(test.against),
                _difference(test),
                _p(test.p),
                _p(p) + _mark(result, test.row, test.measure, corrected),
            ]
        )
    return grid([system, "set", "measure", rival, "difference", "p", "p (Holm)"], rows, 4)


def _difference(test: Paired) -> str:
    return f"{test.difference:+.3f} ({test.low:+.3f} to {test.high:+.3f})"


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _times(results: Sequence[SetResult]) -> Iterator[str]:
    yield "## Milliseconds of a search"
    yield ""
    yield (
        "Median / 90th percentile over searches for ten hits, one after another, warm: all questions had been asked "
        "before in the same process. A stage is timed within the whole search, so the stages of one search add up to its "
        "total; their medians need not."
    )
    for result in results:
        if not result.latency:
            continue
        measured = [
            stage for stage in (*STAGES, TOTAL) if any(stage in row for row in result.latency.values())
        ]
        yield ""
        yield f"{plain(result.name)}, {result.timed} questions:"
        yield ""
        yield grid(
            ["system", *measured],
            [
                [plain(row)]
                + [f"{t[stage].median:.1f} / {t[stage].p90:.1f}" if stage in t else "" for stage in measured]
                for row, t in result.latency.items()
            ],
        )


def _circumstances(results: Sequence[SetResult]) -> Iterator[str]:
    yield "## Stores and models"
    yield ""
    rows = []
    for result in results:
        store: dict[str, Any] = result.store
        embedder, nodes = store["embedder"] or {}, store["nodes"]
        model = result.model
        rows.append(
            [
                plain(result.name),
                plain(store["location"]),
                plain(f"{embedder.get('name', '-')} {embedder.get('version', '')}"),
                "none" if model.name is None else f"{plain(model.name)}, {model.calls:,} calls",
                plain(result.version),
                f"{nodes.get('Page', 0):,}",
                f"{nodes.get('Chunk', 0):,}",
                f"{model.tokens:,}",
            ]
        )
    head = ["set", "store", "embedder", "language model", "trivium", "pages", "chunks", "tokens"]
    yield grid(head, rows, 5)
    if any(result.model.tokens for result in results):
        yield ""
        yield "Tokens are those that language models read and wrote while the questions were measured, times aside."
