"""The command line: chooses what to run, shows progress, prints the results."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from torture.cases import Kind
from torture.preloading import preloaded
from torture.report import as_json, print_results
from torture.running import Plan, Result, Watcher, run

KINDS = {
    "kills": "kills",
    "disks": "disks",
    "flips": "flips",
    "documents": "documents",
    "files": "files",
    "http": "http",
    "endpoints": "endpoints",
    "processes": "processes",
    "clocks": "clocks",
}
"""In the order in which they are run: the module of each, and what is its kind there, if not ``KIND``."""
SEEDS = Path(__file__).parent / "seeds.json"
"""Cases that failed once, `mended` or still `open`: kind, seed, and what it was."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the arguments say; the exit code is 1 where something failed."""
    given = _parsed(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with preloaded():
        kinds = [kind_named(name) for name in given.only or KINDS]
        plan = _plan(kinds, given)
        with _bars(plan) as watch:
            results = run(plan, watch)
    print_results(results, Console(width=None if sys.stdout.isatty() else 160))
    if given.json is not None:
        given.json.write_text(json.dumps(as_json(results), indent=1), "utf-8")
    return int(any(result.failures for result in results))


def kind_named(name: str) -> Kind:
    """Return the kind of a name in :data:`KINDS`."""
    module, _, attribute = KINDS[name].partition(":")
    kind: Kind = getattr(importlib.import_module(f"torture.{module}"), attribute or "KIND")
    return kind


def _plan(kinds: Sequence[Kind], given: argparse.Namespace) -> Plan:
    seeds = None
    if given.case is not None:
        seeds = {kind.name: given.case for kind in kinds}
    elif given.kept is not None:
        kept = json.loads(SEEDS.read_text("utf-8"))[given.kept]
        seeds = {kind: [int(seed) for seed in kept.get(kind, {})] for kind in KINDS}
    counted = seeds is not None or given.cases is not None or given.quick
    seconds = given.budget if given.budget is not None or counted else given.hours * 3600
    first = int(time.time()) * 1000 if given.seed is None else given.seed
    return Plan(kinds, given.jobs, seconds, given.cases, given.quick, first, seeds)


@contextmanager
def _bars(plan: Plan) -> Iterator[Watcher]:
    """Show a progress bar for each kind if stderr is a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description:<10}"), BarColumn(), TextColumn("{task.fields[count]}"))
    with Progress(*columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal) as bars:
        tasks = {
            kind.name: bars.add_task(kind.name, total=plan.seconds_of(kind), count="", start=False)
            for kind in plan.kinds
        }

        def watch(result: Result) -> None:
            bars.start_task(tasks[result.name])
            count = f"{result.tried:,} tried, {len(result.failures):,} failed"
            bars.update(tasks[result.name], completed=result.seconds, count=count)

        yield watch


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m torture",
        description="Faults on purpose: what is tried, how much of it fails, and the command that repeats each failure.",
    )
    parser.add_argument("--hours", type=float, default=1.0, help="time for all kinds together (default: 1)")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="the same in seconds")
    parser.add_argument("--only", action="append", choices=KINDS, help="this kind; may be repeated")
    parser.add_argument("--case", action="append", type=int, metavar="SEED", help="exactly this case again")
    parser.add_argument(
        "--kept", choices=("mended", "open"), help=f"the cases of {SEEDS.name}, which failed once or still do"
    )
    parser.add_argument("--quick", action="store_true", help="a few cases of each kind, as the tests do")
    parser.add_argument("--cases", type=int, help="cases of each kind and job at most")
    parser.add_argument("--seed", type=int, help="the first seed (default: by the clock)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one a core)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there")
    return parser.parse_args(arguments)
