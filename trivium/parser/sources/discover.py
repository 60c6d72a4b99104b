"""Expands sources (files, folders, globs, remote collections) to items, in a fixed order; and reads an item's pages,
which is what a worker process does."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from trivium.errors import InputError
from trivium.limits import DEFAULT_LIMITS, InputLimits
from trivium.parser.html import parse_html
from trivium.parser.sources import huggingface, mediawiki, nq
from trivium.parser.sources.base import Format, Item, Problem, printable_path
from trivium.parser.sources.files import (
    is_gzipped,
    parse_json,
    read_document,
    read_lines,
    read_slice,
    too_long,
)
from trivium.parser.sources.nq_rows import as_row
from trivium.parser.sources.recognise import Recognised, recognise
from trivium.types import Page

# Files that desktop systems create in folders.
_DESKTOP_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})


def discover(
    sources: Sequence[str], format: Format = "auto", limits: InputLimits = DEFAULT_LIMITS
) -> Iterator[Item | Problem]:
    """The items of the sources, in the order given and sorted within each; each file once.

    A source is a file, a folder (searched through, symbolic links followed), a glob, ``wiki:Title`` (a page
    of a MediaWiki) or ``hf:NAME[:SPLIT]`` (a Hugging Face data set in the shape of Natural Questions).
    ``format`` sets the format of the files; ``auto`` recognises each by its content. An input that cannot be used
    yields a Problem in its place. Items of remote sources are fetched as the iterator advances.

    Raises InputError at once, before the first item, when a source matches nothing, and MissingExtraError
    when a package it needs is missing.
    """
    expanded: list[str | list[str | Problem]] = []
    for source in sources:
        if source.startswith(huggingface.PREFIX):
            huggingface.check(source)
            expanded.append(source)
        elif source.startswith(mediawiki.PREFIX):
            expanded.append(source)
        else:
            expanded.append(expand(source))
    return _items(expanded, format, limits)


def _items(
    expanded: Sequence[str | list[str | Problem]], format: Format, limits: InputLimits
) -> Iterator[Item | Problem]:
    seen: set[str] = set()
    wiki: mediawiki.MediaWiki | None = None
    for source in expanded:
        if isinstance(source, list):
            for path in source:
                if isinstance(path, Problem):
                    yield path
                elif (real := os.path.realpath(path)) not in seen:
                    seen.add(real)
                    yield from file_items(path, format, limits)
        elif source.startswith(huggingface.PREFIX):
            yield from huggingface.items(source)
        else:
            wiki = wiki or mediawiki.MediaWiki()
            try:
                yield wiki.item(source.removeprefix(mediawiki.PREFIX))
            except InputError as error:
                yield Problem(source, str(error))


def expand(source: str) -> list[str | Problem]:
    """The files a source names, sorted. Raises InputError when there are none."""
    if os.path.lexists(source):
        matches = [source]
    elif glob.has_magic(source):
        matches = sorted(glob.glob(source, recursive=True))  # noqa: PTH207 - a pattern may be absolute
        if not matches:
            raise InputError(f"nothing matches {source!r}")
    else:
        raise InputError(
            f"there is no file or folder {source!r}; expected a path, a glob, wiki:TITLE or hf:NAME"
        )
    paths: list[str | Problem] = []
    for match in matches:
        paths.extend(_walk(match) if Path(match).is_dir() else [match])
    if not paths:
        raise InputError(f"there are no files in {source!r}")
    return paths


def _walk(folder: str) -> Iterator[str | Problem]:
    """The files below a folder, sorted. Each folder is visited once, even when several links lead to it.

    Hidden folders are skipped, and so are the images and scripts that a browser saves as ``NAME_files`` beside
    ``NAME.html``.
    """
    problems: list[Problem] = []
    entered = {os.path.realpath(folder)}

    def report(error: OSError) -> None:
        problems.append(Problem(printable_path(str(error.filename)), f"cannot be read: {error.strerror}"))

    for place, folders, files in os.walk(folder, followlinks=True, onerror=report):
        yield from problems
        problems.clear()
        pages = {Path(name).stem for name in files if Path(name).suffix.lower() in (".html", ".htm")}
        kept = []
        for name in sorted(folders):
            real = os.path.realpath(Path(place, name))
            assets = name.endswith("_files") and name.removesuffix("_files") in pages
            if name.startswith(".") or assets or real in entered:
                continue
            entered.add(real)
            kept.append(name)
        folders[:] = kept
        for name in sorted(files):
            if name not in _DESKTOP_FILES:
                yield str(Path(place, name))
    yield from problems


def file_items(
    path: str, format: Format = "auto", limits: InputLimits = DEFAULT_LIMITS
) -> Iterator[Item | Problem]:
    """The items of one file, or why there are none."""
    name = printable_path(path)
    try:
        if not Path(path).exists():
            raise InputError("the symbolic link is broken")
        if not Path(path).is_file():
            raise InputError("expected a regular file")
        kind: Recognised = recognise(Path(path), limits) if format == "auto" else format
        if kind == "nq":
            yield from _rows(path, limits)
        else:
            yield Item(kind, path)
    except InputError as error:
        yield Problem(name, str(error))


def _rows(path: str, limits: InputLimits) -> Iterator[Item | Problem]:
    """One item per row, given by its byte range; rows of a compressed file, which has none, are included as content."""
    packed = is_gzipped(Path(path))
    for line in read_lines(Path(path), limits):
        if line.data is None:
            reason = too_long("row", line.length, limits)
            yield Problem(f"{printable_path(path)}, line {line.number}", reason)
        else:
            content = line.data if packed else None
            yield Item("nq", path, line.offset, line.length, line.number, content)


def read(item: Item, limits: InputLimits = DEFAULT_LIMITS) -> list[Page]:
    """The pages of an item of format ``html``, ``nq`` or ``wiki``. A page's ``source`` is the item's name.

    Raises InputError (ParseError among them) when the document cannot be used. Records are read by
    :func:`trivium.parser.sources.records.read_records`, since their links need the titles of all records.
    """
    if item.format == "records":
        raise ValueError("records are read with read_records and records_to_pages")
    data = _bytes(item, limits)
    if item.format == "html":
        return [parse_html(data, source=item.name, limits=limits)]
    value = parse_json(data, limits)
    if item.format == "nq":
        return [nq.to_page(as_row(value), source=item.name, limits=limits)]
    return [mediawiki.to_page(value, source=item.name, limits=limits)]


def _bytes(item: Item, limits: InputLimits) -> bytes:
    if item.content is not None:
        return item.content
    if item.length is not None:
        return read_slice(Path(item.location), item.offset, item.length)
    return read_document(Path(item.location), limits)
