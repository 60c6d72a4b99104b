"""Reports the results of a run, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from torture.running import Result

_SHOWN = 10
_WORDS = 600


def print_results(results: Sequence[Result], console: Console) -> None:
    """Print a line for each kind, then each failure with the command that repeats it."""
    table = Table("kind", "tried", "failed", "seconds", "of which")
    for result in results:
        if result.not_run is not None:
            table.add_row(result.name, "-", "-", "-", escape(f"not run: {result.not_run}"))
            continue
        groups = ", ".join(f"{count:,} {name}" for name, count in result.groups.most_common())
        failed = f"[bold red]{len(result.failures):,}[/]" if result.failures else "0"
        table.add_row(result.name, f"{result.tried:,}", failed, f"{result.seconds:,.0f}", escape(groups))
    console.print(table)
    for result in results:
        for outcome in result.failures[:_SHOWN]:
            repeat = f"python -m torture --only {result.name} --case {outcome.seed}"
            console.print(f"[bold red]{result.name}[/] {escape(outcome.what)}    {repeat}", soft_wrap=True)
            console.print(f"    {escape((outcome.failure or '')[:_WORDS])}", soft_wrap=True)
        if len(result.failures) > _SHOWN:
            console.print(f"{result.name}: … and {len(result.failures) - _SHOWN:,} more (--json lists them)")


def as_json(results: Sequence[Result]) -> Mapping[str, Any]:
    """Return the results with every failure, for JSON."""
    return {
        result.name: {
            "tried": result.tried,
            "failed": len(result.failures),
            "seconds": round(result.seconds, 1),
            "groups": dict(result.groups),
            "not_run": result.not_run,
            "failures": [
                {"seed": outcome.seed, "what": outcome.what, "failure": outcome.failure}
                for outcome in result.failures
            ],
        }
        for result in results
    }
