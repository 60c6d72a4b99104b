"""What people see: hits, counts, progress. JSON goes to stdout by itself; everything chatty goes to stderr."""

from __future__ import annotations

import json
import math
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from trivium.graph.schema import headings_of
from trivium.graph.store import StoreInfo
from trivium.index.load import IngestReport
from trivium.parser.sources.base import Problem
from trivium.text import plain
from trivium.types import Hit

out = Console(highlight=False, soft_wrap=False)
err = Console(stderr=True, highlight=False)

STAGES = {
    "parse": "Reading",
    "records": "Linking",
    "embed": "Embedding",
    "sentences": "Sentences",
    "index": "Indexing",
    "links": "Mapping",
    "facts": "Reading",
    "relations": "Relating",
    "types": "Typing",
    "export": "Exporting",
}
_SNIPPET = 420
_PROBLEMS_SHOWN = 20
_BAR = 12
_SMALL = 0.03
"""Contributions below this share of the largest have no line of their own."""


class _Rate(ProgressColumn):
    """Items a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s", style="progress.data.speed")


class Reporter:
    """Progress of named stages; call it with (stage, done, total)."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(STAGES.get(stage, stage), total=total)
        self._progress.update(self._tasks[stage], completed=done, total=total)


@contextmanager
def progress(quiet: bool = False) -> Iterator[Reporter]:
    """Bars on stderr with rate and remaining time, when it is a terminal."""
    with Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        console=err,
        disable=quiet or not err.is_terminal,
    ) as bars:
        yield Reporter(bars)


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON document on stdout."""
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")


def shown(text: str) -> str:
    """Untrusted text for the terminal: no markup, no control characters."""
    return escape(plain(text))


def own_name() -> list[str]:
    """How this program was started, so that a command that is shown can be pasted."""
    name = sys.argv[0]
    if Path(name).name == "__main__.py":
        return ["python", "-m", "trivium"]
    return ["trivium"] if shutil.which("trivium") == name else [name]


def print_hits(question: str, hits: Sequence[Hit], explain: bool, log_odds: bool) -> None:
    """Hits as a list: where, what, and (explained) why. Scores that are ``log_odds`` are shown as probabilities too."""
    out.print(f"[bold]{shown(question)}[/]")
    if not hits:
        out.print("  Nothing found.")
        return
    for hit in hits:
        place = " › ".join(headings_of(hit.section))
        kind = "" if hit.kind == "paragraph" else f" [dim]({escape(hit.kind)})[/]"
        score = f"{hit.score:.4g}"
        if log_odds:
            score = (
                f"{probability(hit.score)} (log-odds {hit.score:+.2f})" if explain else probability(hit.score)
            )
        out.print(f"\n[bold cyan]{hit.rank:>2}[/]  [bold]{escape(place)}[/]{kind}  [dim]{score}[/]")
        for line in textwrap.wrap(_snippet(hit.text), width=max(40, min(out.width, 110) - 6)):
            out.print(f"    {escape(line)}")
        out.print(f"    [dim]{escape(hit.uri)}  {hit.start}-{hit.end}[/]")
        if explain:
            _print_explanation(hit)


def probability(log_odds: float) -> str:
    """Log-odds as a percentage.

    >>> probability(0.0), probability(2.2), probability(-9.0), probability(9.0)
    ('50 %', '90 %', '< 1 %', '> 99 %')
    """
    share = 1 / (1 + math.exp(-max(-50.0, log_odds)))
    if share < 0.01:
        return "< 1 %"
    return "> 99 %" if share > 0.99 else f"{100 * share:.0f} %"


def _snippet(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SNIPPET else flat[: _SNIPPET - 1].rsplit(" ", 1)[0] + " …"


def _print_explanation(hit: Hit) -> None:
    """What each retriever adds to the score of an average candidate; together that is the score."""
    values = dict(hit.contributions) or dict.fromkeys(sorted(hit.provenance), 0.0)
    largest = max(map(abs, values.values()), default=0.0)
    if hit.baseline != 0:
        _print_contribution("baseline", hit.baseline, 0.0, "an average candidate")
    small = [
        name
        for name in values
        if abs(values[name]) < _SMALL * largest or (values[name] == 0 and name not in hit.provenance)
    ]
    for name in sorted(values.keys() - small, key=lambda name: (-values[name], name)):
        source_node = hit.provenance.get(name)
        found = (
            "" if source_node is None else f"found through {source_node}" if source_node else "found directly"
        )
        _print_contribution(name, values[name], largest, found)
    finders = [name for name in small if name in hit.provenance]
    if finders:
        _print_contribution(
            "others", sum(values[name] for name in small), 0.0, f"found by {', '.join(finders)}"
        )


def _print_contribution(name: str, value: float, largest: float, found: str) -> None:
    block, colour = ("█", "green") if value >= 0 else ("░", "red")
    bar = block * min(_BAR, round(_BAR * abs(value) / largest)) if largest > 0 else ""
    line = f"      {name:<10}[{colour}]{value:+8.3f} {bar:<{_BAR}}[/]  [dim]{escape(found)}[/]"
    out.print(line, no_wrap=True, overflow="ellipsis")


def print_load(report: IngestReport, info: StoreInfo, seconds: float) -> None:
    """What a load did and what it left out."""
    parts = [f"{report.added:,} added", f"{report.replaced:,} replaced", f"{report.unchanged:,} unchanged"]
    if report.skipped:
        parts.append(f"{len(report.skipped):,} older than the stored revision")
    if report.duplicates:
        parts.append(f"{len(report.duplicates):,} copies of pages already read")
    out.print(f"[bold]Pages[/]: {', '.join(parts)}  [dim]({seconds:.1f} s)[/]")
    print_info(info)
    if report.problems:
        noun = "document" if len(report.problems) == 1 else "documents"
        err.print(f"[bold red]{len(report.problems):,} {noun} could not be read:[/]")
        print_problems(report.problems)


def print_problems(problems: Sequence[Problem], unlisted: int = 0) -> None:
    """The first problems, and how many more there are."""
    for problem in problems[:_PROBLEMS_SHOWN]:
        err.print(f"  {shown(problem.location)}: {shown(problem.reason)}", soft_wrap=True)
    more = max(0, len(problems) - _PROBLEMS_SHOWN) + unlisted
    if more:
        err.print(f"  … and {more:,} more (--json lists them)")


def print_info(info: StoreInfo) -> None:
    """Counts of a store."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    for name, count in [*info.nodes.items(), *info.relationships.items(), ("aliases", info.aliases)]:
        table.add_row(name, f"{count:,}")
    out.print(table)
    if info.embedder is None:
        out.print("not embedded yet")
    else:
        waiting = f", {info.to_embed:,} texts waiting" if info.to_embed else ""
        out.print(
            f"embedder {info.embedder.name} ({info.embedder.dimension} dimensions): "
            f"{info.embedded:,} texts embedded{waiting}"
        )


def info_json(info: StoreInfo) -> dict[str, Any]:
    """Counts of a store, as in SPEC section 6."""
    identity = info.embedder
    return {
        "store": info.location,
        "schema_version": info.schema_version,
        "nodes": dict(info.nodes),
        "relationships": dict(info.relationships),
        "aliases": info.aliases,
        "embedder": None if identity is None else identity.name,
        "embedder_version": None if identity is None else identity.version,
        "dimension": None if identity is None else identity.dimension,
        "embedded": info.embedded,
        "to_embed": info.to_embed,
    }


def load_json(report: IngestReport, info: StoreInfo, seconds: float) -> dict[str, Any]:
    """What a load did, for programs."""
    return {
        "pages": {
            "added": report.added,
            "replaced": report.replaced,
            "unchanged": report.unchanged,
            "relinked": report.relinked,
            "skipped": len(report.skipped),
        },
        "skipped": list(report.skipped),
        "duplicates": [
            {"page": copy.page, "kept": copy.kept, "dropped": copy.dropped} for copy in report.duplicates
        ],
        "problems": [{"location": p.location, "reason": p.reason} for p in report.problems],
        "seconds": round(seconds, 3),
        **info_json(info),
    }
