"""From an item of work to pages: what a worker process does."""

from __future__ import annotations

from pathlib import Path

from trivium.parser.html import parse_html
from trivium.parser.sources import mediawiki, nq
from trivium.parser.sources.base import Item
from trivium.parser.sources.files import parse_json, read_document, read_slice
from trivium.parser.sources.nq_rows import as_row
from trivium.types import Page


def read(item: Item) -> list[Page]:
    """The pages of one item: ``html``, ``nq`` or ``wiki``. A page's ``source`` is the item's name.

    Raises InputError (ParseError among them) when the document is not usable. Records are read by
    :func:`trivium.parser.sources.records.read_records`, since they need the titles of all others first.
    """
    if item.format == "records":
        raise ValueError("records are read with read_records and records_to_pages")
    data = _bytes(item)
    if item.format == "html":
        return [parse_html(data, source=item.name)]
    value = parse_json(data)
    if item.format == "nq":
        return [nq.to_page(as_row(value), source=item.name)]
    return [mediawiki.to_page(value, source=item.name)]


def _bytes(item: Item) -> bytes:
    if item.content is not None:
        return item.content
    if item.length is not None:
        return read_slice(Path(item.location), item.offset, item.length)
    return read_document(Path(item.location))
