"""Which options of ``trivium build`` go together with ``--into``."""

from __future__ import annotations

import typer

from trivium.graph.factory import exists, is_address
from trivium.graph.sharded.manifest import is_sharded

_OPTION = "--into"
_HEADINGS = "a build by shards embeds chunks with their headings: leave out one of them"


def check_into(store: str, *, questions: bool, images: bool, late: bool, no_headings: bool) -> None:
    """Raise typer.BadParameter for a store that cannot be several new ones, and for options that need all documents in
    one process.
    """
    if is_address(store):
        raise typer.BadParameter("several stores are folders: name one as --store", param_hint=_OPTION)
    if exists(store) and not is_sharded(store):
        raise typer.BadParameter(
            f"{store} is a store already: name a new folder, or leave out --into  (trivium shards split  divides a"
            " store)",
            param_hint=_OPTION,
        )
    for given, option, reason in (
        (
            questions,
            "--questions",
            f"load them afterwards  (trivium add SOURCE... --questions --store {store})",
        ),
        (images, "--images", f"embed pictures afterwards  (trivium embed --images clip --store {store})"),
        (late, "--late", _HEADINGS),
        (no_headings, "--no-headings", _HEADINGS),
    ):
        if given:
            raise typer.BadParameter(f"not together with {option}: {reason}", param_hint=_OPTION)
