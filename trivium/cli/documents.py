"""Commands that list and remove documents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from typing import Annotated

import typer
from rich.cells import cell_len, set_cell_size
from rich.table import Table
from rich.text import Text

from trivium.cli.options import Json, Store
from trivium.cli.terminal import count, cuts, out, print_json, shown
from trivium.common.iteration import batched
from trivium.engine import Engine
from trivium.graph.page_facts import each_page
from trivium.graph.protocols import PageReader
from trivium.graph.records import PageRecord
from trivium.graph.schema import Hop, unescape
from trivium.index.record_pages import RECORDS
from trivium.serialization import info_json
from trivium.text.normalise import composed, plain

_SHOWN = 50
_BATCH = 500
_COLUMNS = ("title", "source", "format", "passages")


def list_documents(
    store: Store,
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATTERN...",
            help="Only documents whose title or source matches one, such as 'reports/*'; case is ignored.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", min=0, help=f"Maximum number; 0 for all.  \\[default: {_SHOWN}, with --json all]"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List documents by title, with their source and number of passages.

    Examples:

        trivium list --store my-store

        trivium list 'reports/*' --limit 0 --store my-store
    """
    most = (0 if json else _SHOWN) if limit is None else limit
    with Engine.open(store) as engine:
        listed, found = _listed(engine.store, most or None, patterns or ())
        passages: dict[str, int] = {}
        for batch in batched([page.uri for page in listed], _BATCH):
            passages |= {uri: len(chunks) for uri, chunks in engine.store.expand(batch, Hop.BELOW).items()}
    if json:
        print_json(
            {
                "documents": [_document(page, passages[page.uri]) for page in listed],
                "count": found,
                "more": found - len(listed),
            }
        )
        return
    if listed:
        _print_rows(
            [(unescape(page.uri), _source(page), page.format, f"{passages[page.uri]:,}") for page in listed]
        )
    if patterns and not found:
        out.print(
            "nothing matches: patterns are compared with whole titles and sources, as in 'reports/*'",
            style="dim",
        )
    more = found - len(listed)
    out.print(
        count(found, "document") + (f", {more:,} not shown (--limit 0 shows all)" if more else ""),
        style="dim",
    )


def _print_rows(rows: Sequence[tuple[str, str, str, str]]) -> None:
    """Print documents below a header: at a terminal as a table that fits it, else in one line each, however long, so that
    ``grep`` finds whole paths.
    """
    if cuts():
        table = Table(box=None, pad_edge=False, header_style="dim")
        for name in _COLUMNS[:-1]:
            table.add_column(name, overflow="fold")
        table.add_column(_COLUMNS[-1], justify="right")
        for row in rows:
            table.add_row(*map(shown, row))
        out.print(table)
        return
    lines = [_COLUMNS, *(tuple(plain(cell).replace("\n", " ") for cell in row) for row in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for *texts, number in lines:
        padded = (set_cell_size(text, width) for text, width in zip(texts, widths, strict=False))
        out.print(Text("  ".join((*padded, number.rjust(widths[-1])))), soft_wrap=True)


def _listed(store: PageReader, most: int | None, patterns: Sequence[str]) -> tuple[list[PageRecord], int]:
    """Return the documents to show, and how many there are. Patterns are compared with the titles and sources of all."""
    if not patterns:
        listed = store.pages(limit=most)
        return listed, store.count_pages() if most else len(listed)
    fits = re.compile("|".join(translate(composed(pattern).lower()) for pattern in patterns)).match
    found = [
        page
        for page in each_page(store)
        if fits(unescape(page.uri).lower()) or fits(composed(_source(page)).lower())
    ]
    return found[:most], len(found)


def _source(page: PageRecord) -> str:
    return page.source.removeprefix(RECORDS)


def _document(page: PageRecord, passages: int) -> dict[str, object]:
    return {
        "title": unescape(page.uri),
        "uri": page.uri,
        "document": page.path or _source(page),
        "source": _source(page),
        "format": page.format,
        "path": page.path,
        "modified": page.modified,
        "added": page.added,
        "revision": page.revision,
        "metadata": dict(page.metadata),
        "passages": passages,
    }


def remove(
    pages: Annotated[
        list[str],
        typer.Argument(
            metavar="TITLE...",
            help="Titles (or aliases) of documents, or the files they were read from.",
        ),
    ],
    store: Store,
    json: Json = False,
) -> None:
    """Remove documents. A removed document that others still cite remains as an entity.

    Example:  trivium remove "Mars" "Phobos (moon)" --store my-store
    """
    with Engine.open(store) as engine:
        removed = engine.remove(pages)
        if json:
            print_json({"removed": removed, **info_json(engine.info())})
        else:
            for page in removed:
                out.print(f"removed {shown(unescape(page))}", soft_wrap=True)
