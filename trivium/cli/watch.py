"""``--watch``: a build that keeps running."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import typer

from trivium.cli.arguments import wrong_argument
from trivium.cli.load_report import print_left_out
from trivium.cli.terminal import count, err, out, shown
from trivium.errors import InputError
from trivium.graph.factory import is_address
from trivium.graph.schema import unescape
from trivium.index.watching import Followed, Follower, changes, check_watch

_SHOWN = 3


def check_watched(sources: Sequence[str], json: bool) -> None:
    """Raise typer.BadParameter for sources that cannot be watched, before anything is created."""
    if json:
        raise typer.BadParameter("--watch goes on: it has no one JSON document", param_hint="--json")
    with wrong_argument("SOURCE", (InputError,)):
        for source in sources:
            if not Path(source).exists():
                raise InputError(f"only files and folders can be watched, got {source!r}")
    check_watch()


def follow(following: Follower, store: str) -> None:
    """Load and remove changed documents until Ctrl-C."""
    out.print(f"watching {', '.join(map(shown, following.request.paths))}; Ctrl-C ends it", soft_wrap=True)
    stop = threading.Event()
    try:
        for _ in changes(following.folders, stop, None if is_address(store) else store):
            done = following.follow()
            if done is not None:
                _print(done)
    except KeyboardInterrupt:
        stop.set()
    out.print("stopped watching")


def _print(done: Followed) -> None:
    # Problems are printed first, so that the summary is the last line.
    if done.report is not None:
        print_left_out(done.report)
    parts = []
    if done.report is not None:
        for number, word in ((done.report.added, "added"), (done.report.replaced, "replaced")):
            if number:
                parts.append(f"{number:,} {word}")
    if done.removed:
        names = ", ".join(shown(unescape(uri)) for uri in done.removed[:_SHOWN])
        parts.append(
            f"{count(len(done.removed), 'document')} removed ({names}{', …' * (len(done.removed) > _SHOWN)})"
        )
    if parts:
        out.print(f"[dim]{time.strftime('%H:%M:%S')}[/] {', '.join(parts)}", soft_wrap=True)
    if done.error is not None:
        err.print(f"[bold red]error:[/] {shown(str(done.error))}", soft_wrap=True)
