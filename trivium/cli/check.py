"""The command that checks and repairs a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from trivium.checking.report import CheckReport, unreadable
from trivium.cli.options import Json, StoreArgument, StoreToo, one_store, store_needed
from trivium.cli.print_hits import print_warnings
from trivium.cli.terminal import err, out, print_json, progress, shown
from trivium.common.suggested_commands import for_store
from trivium.engine import Engine
from trivium.errors import StoreFormatError
from trivium.graph.check_findings import Finding, Severity
from trivium.graph.records import WaitingTexts

PROBLEMS = 1
"""Exit code when problems remain."""
_SHOWN = 20
_COLOURS = {
    Severity.BROKEN: "bold red",
    Severity.DAMAGE: "bold red",
    Severity.STALE: "yellow",
    Severity.NOTE: "dim",
}


def check(
    store: StoreArgument = None,
    named: StoreToo = None,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Repair what can be repaired, and report the rest."),
    ] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Re-embed and compare all texts, not only a sample. Takes as long as embedding the store.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Check the integrity of a store and the rules of its graph: its database, checksums, derived
    files, pages and vectors.

    Exits with 0 if there are no problems and with 1 if problems remain. Other programs may use the store meanwhile.

    Examples:

        trivium check my-store

        trivium check my-store --repair --full
    """
    store = one_store(store, named) or store_needed()
    try:
        with Engine.open(store) as engine, progress(quiet=json) as bars:
            report = engine.check(repair=repair, full=full, progress=bars)
            waiting = _waiting(engine) if report.ok else None
    except StoreFormatError as error:
        report, waiting = unreadable(store, error), None
    if json:
        print_json(
            {
                "store": report.location,
                "ok": report.ok,
                "findings": _as_json(report.findings),
                "repaired": _as_json(report.repaired),
                "checked": dict(report.checked),
                "warnings": [] if waiting is None else [waiting],
            }
        )
    else:
        _print(report)
        print_warnings([] if waiting is None else [waiting], report.location)
    if not report.ok:
        raise typer.Exit(PROBLEMS)


def _waiting(engine: Engine) -> str | None:
    """Return a warning if not all texts are embedded, which is no damage."""
    info = engine.info()
    return WaitingTexts(info.to_embed, info.embedded + info.to_embed).warning


def _as_json(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Convert findings to JSON values, without their internal keys."""
    return [{name: value for name, value in asdict(f).items() if name != "keys"} for f in findings]


def _print(report: CheckReport) -> None:
    for finding in report.repaired:
        out.print(f"[green]repaired[/]  {shown(finding.kind)}: {shown(finding.problem)}", soft_wrap=True)
        _print_where(finding)
    for finding in report.findings:
        colour = _COLOURS[finding.severity]
        out.print(
            f"[{colour}]{finding.severity}[/]  {shown(finding.kind)}: {shown(finding.problem)}",
            soft_wrap=True,
        )
        _print_where(finding)
        if finding.remedy:
            out.print(
                f"    [dim]what to do:[/] {shown(for_store(finding.remedy, report.location))}", soft_wrap=True
            )
    counts = ", ".join(f"{count:,} {what}" for what, count in report.checked.items())
    if report.ok:
        out.print(f"[green]well[/]  {shown(report.location)}: {counts}", soft_wrap=True)
    else:
        err.print(f"problems were found in {shown(report.location)}", soft_wrap=True)


def _print_where(finding: Finding) -> None:
    for place in finding.where[:_SHOWN]:
        out.print(f"    {shown(place)}", soft_wrap=True)
    if len(finding.where) > _SHOWN:
        out.print(f"    … and {len(finding.where) - _SHOWN:,} more (--json lists them)")
