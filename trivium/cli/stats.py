"""The command that counts the contents of a store."""

from __future__ import annotations

from dataclasses import asdict

from rich.markup import escape
from rich.table import Table

from trivium.chunking.chunker_spec import DEFAULT
from trivium.cli.options import Json, Store
from trivium.cli.terminal import count, err, out, print_json, shown
from trivium.embedding.late_chunking import is_late, is_plain
from trivium.engine import Engine
from trivium.errors import FusionError
from trivium.fusion.stored_decision import Decision, read_decision
from trivium.graph.records import StoreInfo
from trivium.serialization import info_json


def stats(store: Store, json: Json = False) -> None:
    """Count nodes and relationships of a store, and show its embedder and its default fusion.

    Example:  trivium stats --store my-store --json
    """
    with Engine.open(store) as engine:
        info = engine.info()
        passages = engine.store.count_pending_sentences()
        fusion, decision, problem = _default_fusion(engine)
    if json:
        decided = None if decision is None else asdict(decision)
        waiting = {"sentences_to_embed": passages}
        print_json({**info_json(info), **waiting, "default_fusion": fusion, "fusion_decision": decided})
        return
    out.print(f"[bold]{escape(info.location)}[/]")
    print_info(info)
    if info.embedder is not None and passages:
        out.print(f"sentences of {passages:,} passages not embedded")
    if fusion is None:
        err.print(f"[bold red]error:[/] {shown(problem)}", soft_wrap=True)
        return
    why = "" if decision is None else f" (decided on {decision.questions:,} of your questions)"
    out.print(f"default fusion: {shown(fusion)}{why}", soft_wrap=True)


def _default_fusion(engine: Engine) -> tuple[str | None, Decision | None, str]:
    """Return the name of the store's default fusion and the decision on it, or why there is none that can be used."""
    try:
        kept = engine.store.fusion_decision
        decision = None if kept is None else read_decision(kept)
        return engine.searcher.fusions.of_store().name, decision, ""
    except FusionError as error:
        return None, None, str(error)


def print_info(info: StoreInfo) -> None:
    """Print the counts of a store."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    for name, number in [*info.nodes.items(), *info.relationships.items(), ("aliases", info.aliases)]:
        table.add_row(name, f"{number:,}")
    out.print(table)
    if info.chunker is not None and info.chunker != DEFAULT:
        out.print(f"chunker {escape(info.chunker)}")
    if info.embedder is None:
        out.print("not embedded yet")
    else:
        chunks = ", late chunking" if is_late(info.embedder) else ""
        if is_plain(info.embedder):
            chunks = ", chunks without headings"
        waiting = f", {count(info.to_embed, 'text')} waiting" if info.to_embed else ""
        out.print(
            f"embedder {info.embedder.name} ({info.embedder.dimension} dimensions{chunks}): "
            f"{count(info.embedded, 'text')} embedded{waiting}"
        )
