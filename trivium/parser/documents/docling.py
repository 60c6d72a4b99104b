"""Reads PDF files with Docling, which detects layout, tables and formulas with neural networks.

Docling runs as a separate program in its own environment, because it needs PyTorch and other versions of shared
packages. Its output, a ``DoclingDocument`` as JSON, is converted to a page here. It is enabled by the setting
``pdf_reader``; ``docling_command`` is the program. Source: https://docling-project.github.io/docling
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trivium.errors import ConfigurationError, ParseError
from trivium.limits import InputLimits
from trivium.parser.document import Document
from trivium.parser.documents.base import DocumentFile, page_of
from trivium.parser.grid import MAX_COLUMNS, MAX_ROWS, Cell, Table
from trivium.parser.pictures import Pictures
from trivium.parser.runs import LINE, TextRun, Verbatim
from trivium.parser.sources.base import clean_text
from trivium.parser.tables import linearise
from trivium.settings import load_settings
from trivium.text import normalise_title
from trivium.types import ChunkKind, Page

if sys.platform != "win32":
    import resource

Item = Mapping[str, Any]

_MAX_JSON = 256 << 20  # bytes
_MAX_DEPTH = 50  # nested groups
_MAX_TITLE = 250
_LEFT_OUT = frozenset({"page_header", "page_footer", "empty_value", "marker"})
_TABLES = frozenset({"table", "document_index"})
_PICTURES = frozenset({"picture", "chart"})


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """Read the file as a page; see :class:`~trivium.parser.documents.base.DocumentReader`. Raises ConfigurationError
    when Docling is not available.
    """
    return read_written(_converted(file.data, limits), file, limits)


def _converted(data: bytes, limits: InputLimits) -> object:
    command = shlex.split(load_settings().docling_command)
    seconds = limits.seconds + limits.ocr_seconds
    with tempfile.TemporaryDirectory(prefix="trivium-docling-") as name:
        folder = Path(name)
        source = folder / "document.pdf"
        source.write_bytes(data)
        options = ["--from", "pdf", "--to", "json", "--image-export-mode", "placeholder"]
        try:
            done = subprocess.run(
                [*command, *options, "--output", str(folder / "out"), str(source)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
                cwd=folder,
                preexec_fn=_without_limits if sys.platform != "win32" else None,
            )
        except FileNotFoundError as error:
            raise ConfigurationError(
                f"there is no program {command[0]!r} to read PDF files with: install it in an environment of its own"
                " (pipx install docling), name it by TRIVIUM_DOCLING_COMMAND, or set TRIVIUM_PDF_READER=pdfium"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise ParseError(
                f"Docling takes more than {seconds:g} seconds for this PDF, the limit: split it"
            ) from error
        written = folder / "out" / "document.json"
        if done.returncode != 0 or not written.is_file():
            last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            said = clean_text(last[0])[:300] if last else f"it ended with {done.returncode}"
            raise ParseError(f"Docling could not read this PDF: {said}")
        if written.stat().st_size > _MAX_JSON:
            raise ParseError(f"Docling makes more than {_MAX_JSON >> 20} MB of this PDF, the limit: split it")
        try:
            return json.loads(written.read_bytes())
        except (ValueError, RecursionError) as error:
            raise ParseError(f"Docling wrote no JSON of this PDF: {error}") from error


def _without_limits() -> None:
    """Lift the limits of the parsing process, which are meant for its own work. The time of this program is limited
    separately.
    """
    for name in (resource.RLIMIT_CPU, resource.RLIMIT_DATA):
        _, hard = resource.getrlimit(name)
        resource.setrlimit(name, (hard, hard))


def read_written(content: object, file: DocumentFile, limits: InputLimits) -> Page:
    """Convert a ``DoclingDocument``, given as the parsed JSON of its ``export_to_dict``, to a page. Raises ParseError
    for anything else, and for a document without text.
    """
    if not isinstance(content, Mapping) or content.get("schema_name") != "DoclingDocument":
        raise ParseError("expected the JSON of a DoclingDocument")
    try:
        return _Reader(content, limits).page(file)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ParseError(
            f"the JSON is no DoclingDocument that is known here ({type(error).__name__}: {error})"
        ) from error


class _Reader:
    def __init__(self, content: Item, limits: InputLimits) -> None:
        self._content = content
        self._document = Document(limits.headings)
        self._pictures = Pictures(limits)
        self._title = ""
        # Captions are written together with their table or picture.
        self._taken: set[str] = {
            caption["$ref"]
            for kind in ("tables", "pictures")
            for item in content.get(kind, ())
            for caption in item.get("captions", ())
        }

    def page(self, file: DocumentFile) -> Page:
        self._children(self._content["body"], 0)
        document = self._document
        if not document.has_chunks:
            raise ParseError("the PDF has no text: Docling found none on its pages")
        return page_of(
            document,
            file,
            "pdf",
            title=normalise_title(self._title[:_MAX_TITLE]),
            metadata={"reader": "docling"},
        )

    def _item_of(self, reference: Item) -> Item:
        """Return the item that a reference like ``#/texts/3`` points to."""
        _, kind, number = reference["$ref"].split("/")
        item: Item = self._content[kind][int(number)]
        return item

    def _within_once(self, parent: Item) -> Iterator[Item]:
        """Yield the children of an item that have not been visited. Each item has one place, and in cyclic groups the
        number of paths would double at each level.
        """
        for reference in parent.get("children", ()):
            if reference["$ref"] not in self._taken:
                self._taken.add(reference["$ref"])
                yield self._item_of(reference)

    def _children(self, parent: Item, depth: int) -> None:
        items: list[Item] = []  # consecutive list items
        for item in self._within_once(parent):
            if item.get("content_layer", "body") != "body" or item["label"] in _LEFT_OUT:
                continue
            if item["label"] == "list_item":
                items.append(item)
                continue
            self._list(items)
            items = []
            self._item(item)
            if depth < _MAX_DEPTH and item["label"] not in _TABLES | _PICTURES:
                self._children(item, depth + 1)
        self._list(items)

    def _item(self, item: Item) -> None:
        label, text = item["label"], item.get("text", "")
        self._turn_to(item)
        if label in _TABLES:
            self._document.block(ChunkKind.TABLE, linearise(self._table(item)))
        elif label in _PICTURES:
            self._pictures.add(self._document, caption=self._caption(item))
        elif label == "title" and not self._title:
            self._title = _line(text)
        elif label in ("title", "section_header", "field_heading"):
            self._document.heading(_line(text)[:_MAX_TITLE], int(item.get("level", 1)))
        elif text:
            run = Verbatim() if label == "code" else TextRun()
            run.add(clean_text(text))
            self._document.block(ChunkKind.PARAGRAPH, run)

    def _list(self, items: Sequence[Item]) -> None:
        if not items:
            return
        run = TextRun()
        self._turn_to(items[0])
        places: list[tuple[int, int]] = []
        for item in items:
            run.separate(LINE)
            page = _page(item)
            if page is not None:
                places.append((run.length + len(run.pending), page))
            run.add(clean_text(item["text"]))
            for inner in self._within(item, 0):
                run.separate(LINE)
                run.add(inner)
        self._document.block(ChunkKind.LIST, run, places=places)

    def _within(self, parent: Item, depth: int) -> Iterator[str]:
        """Yield the texts of nested lists."""
        for item in self._within_once(parent):
            if item.get("text"):
                yield clean_text(item["text"])
            if depth < _MAX_DEPTH:
                yield from self._within(item, depth + 1)

    def _table(self, item: Item) -> Table:
        table = Table(is_infobox=False)
        table.caption.add(self._caption(item))
        if table.caption.length:
            table.caption.separate(LINE)
        rows: dict[int, list[Item]] = {}
        for cell in item["data"]["table_cells"]:
            rows.setdefault(int(cell["start_row_offset_idx"]), []).append(cell)
        for _, row in sorted(rows.items())[:MAX_ROWS]:
            cells = []
            for cell in sorted(row, key=lambda cell: int(cell["start_col_offset_idx"]))[:MAX_COLUMNS]:
                made = Cell(
                    is_header=bool(cell.get("column_header") or cell.get("row_header")),
                    columns=max(1, min(MAX_COLUMNS, int(cell.get("col_span", 1)))),
                    rows=max(1, min(MAX_ROWS, int(cell.get("row_span", 1)))),
                )
                made.add(clean_text(cell["text"]))
                cells.append(made)
            if all(cell.get("column_header") for cell in row):
                table.head_rows.add(len(table.rows))
            table.rows.append(cells)
        return table

    def _caption(self, item: Item) -> str:
        return " ".join(_line(self._item_of(caption)["text"]) for caption in item.get("captions", ()))

    def _turn_to(self, item: Item) -> None:
        page = _page(item)
        if page is not None:
            self._document.page = page


def _page(item: Item) -> int | None:
    """Return the page on which an item begins; None if unknown."""
    return next((int(place["page_no"]) for place in item.get("prov", ())[:1]), None)


def _line(text: str) -> str:
    return " ".join(clean_text(text).split())
