"""Expands sources (files, folders, globs, remote collections) to items in a fixed order, and reads the pages of an
item, which is the task of a worker process.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from trivium.errors import InputError
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.documents.formats import document_formats, reader_of
from trivium.parser.sources.read_files import (
    packed_as,
    parse_json,
    read_document,
    read_lines,
    read_slice,
    too_long,
)
from trivium.parser.sources.recognise_format import is_left_out, known_formats, recognise
from trivium.parser.sources.referenced_pictures import shown_pictures
from trivium.parser.sources.source_items import (
    ARXIV,
    HUGGING_FACE,
    MEDIAWIKI,
    WEB,
    Format,
    Item,
    LeftOut,
    Problem,
    check_format,
    printable_path,
)
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits
from trivium.types import Page

if TYPE_CHECKING:
    from trivium.parser.sources.mediawiki import MediaWiki

# Files that desktop systems create in folders.
_DESKTOP_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
# A folder with this file is a store, possibly the one being built.
_STORE_FILE = "graph.db"
PARTS_FILE = "parts.txt"
"""A folder with this file contains the parts of a build (:mod:`trivium.index.ray_build`)."""
_MARKS = (_STORE_FILE, PARTS_FILE)

Found = Item | Problem | LeftOut
"""Results of expanding sources."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of a source. ``place`` is its path in the collection (:attr:`trivium.types.Page.path`), beginning with the
    name of the searched folder or its own. ``root`` is the path of that folder. ``named``: it was named explicitly,
    rather than found in a folder or by a pattern.
    """

    path: str
    place: str
    root: str
    named: bool = True


def discover(
    sources: Sequence[str],
    format: Format = "auto",
    limits: InputLimits = DEFAULT_LIMITS,
) -> Iterator[Found]:
    """Yield the items of the sources, in the given order and sorted within each; each file once.

    A source is a file, a folder (searched recursively, following symbolic links), a glob, an ``http`` or ``https``
    address, ``wiki:Title`` (a page of a MediaWiki), ``arxiv:QUERY`` (papers) or ``hf:NAME[:SPLIT]`` (a Hugging Face
    data set in the format of Natural Questions).

    ``format`` sets the format of the files; ``auto`` detects it for each file. An unusable input yields a Problem; a
    file in an unsupported format yields LeftOut if it was found in a folder or by a pattern. Items of remote sources
    are fetched lazily.

    Raises InputError immediately, before the first item, when a source matches nothing or the format is unknown, and
    MissingExtraError when a required package is missing.
    """
    check_format(format)
    expanded: list[str | list[FoundFile | Problem]] = []
    for source in sources:
        if source.startswith(HUGGING_FACE):
            from trivium.parser.sources import huggingface

            huggingface.check(source)
            expanded.append(source)
        elif source.startswith((MEDIAWIKI, ARXIV, *WEB)):
            expanded.append(source)
        else:
            expanded.append(expand(source))
    return _items(expanded, format, limits)


def _items(
    expanded: Sequence[str | list[FoundFile | Problem]],
    format: Format,
    limits: InputLimits,
) -> Iterator[Found]:
    seen: set[str] = set()
    wiki: MediaWiki | None = None
    for source in expanded:
        if isinstance(source, list):
            shown: frozenset[str] = frozenset()  # pictures that are part of the pages that show them
            if format == "auto":
                shown = shown_pictures((file.path for file in source if isinstance(file, FoundFile)), limits)
            for file in source:
                if isinstance(file, Problem):
                    yield file
                elif file.path in shown:
                    continue
                elif (real := os.path.realpath(file.path)) not in seen:
                    seen.add(real)
                    for item in file_items(file.path, format, limits, named=file.named):
                        yield _placed(item, file) if isinstance(item, Item) else item
        elif source.startswith(HUGGING_FACE):
            from trivium.parser.sources import huggingface

            yield from huggingface.items(source)
        elif source.startswith(ARXIV):
            from trivium.parser.sources import arxiv

            yield from arxiv.items(source)
        elif source.startswith(WEB):
            from trivium.parser.sources import web

            try:
                yield web.fetch(source, format, limits)
            except InputError as error:
                yield Problem(source, str(error))
        else:
            from trivium.parser.sources.mediawiki import MediaWiki

            wiki = wiki or MediaWiki()
            try:
                yield wiki.item(source.removeprefix(MEDIAWIKI))
            except InputError as error:
                yield Problem(source, str(error))


def _placed(item: Item, file: FoundFile) -> Item:
    """Add the place of its file to an item. Documents of an archive are placed below it, and none can refer to files
    outside.
    """
    if item.entry is None:
        return replace(item, path=file.place, root=file.root)
    return replace(item, path=f"{file.place}/{item.path}") if item.path else item


def expand(source: str) -> list[FoundFile | Problem]:
    """Return the files of a source, sorted. Raises InputError when there are none."""
    if os.path.lexists(source):
        matches = [source]
    elif glob.has_magic(source):
        matches = sorted(glob.glob(source, recursive=True))  # noqa: PTH207 - a pattern may be absolute
        if not matches:
            raise InputError(f"nothing matches {source!r}")
    else:
        raise InputError(
            f"there is no file or folder {source!r}; expected a path, a glob, an address, wiki:TITLE, arxiv:QUERY or"
            " hf:NAME"
        )
    files: list[FoundFile | Problem] = []
    for match in matches:
        root = match if Path(match).is_dir() else str(Path(match).parent)
        files.extend(
            path
            if isinstance(path, Problem)
            else FoundFile(_with_folder(path), _place(path, root), root, path == source)
            for path in (_walk(match) if Path(match).is_dir() else [match])
        )
    if not files:
        raise InputError(
            f"there are no files in {source!r}, nor in folders below it (hidden folders and stores are not searched);"
            f" expected documents: {known_formats()}"
        )
    return files


def _with_folder(path: str) -> str:
    """Return a path with a folder, also for a file in the working directory, because bare names are those of uploads.

    >>> _with_folder("report.pdf"), _with_folder("docs/report.pdf")
    ('./report.pdf', 'docs/report.pdf')
    """
    return path if os.path.dirname(path) else f"{os.curdir}{os.sep}{path}"  # noqa: PTH120 - Path drops the dot


def _place(path: str, root: str) -> str:
    """Return the place of a file in the collection with the folder ``root``, as valid text."""
    below = PurePath(os.path.relpath(path, root)).as_posix()
    return printable_path(f"{Path(root).resolve().name}/{below}".lstrip("/"))


def _walk(folder: str) -> Iterator[str | Problem]:
    """Yield the files below a folder, sorted. Each folder is visited once, even if several links lead to it.

    Hidden folders, stores, parts of builds, and folders ``NAME_files`` that a browser saves next to ``NAME.html`` are
    skipped.
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
            store = any(Path(place, name, mark).is_file() for mark in _MARKS)
            if name.startswith(".") or assets or store or real in entered:
                continue
            entered.add(real)
            kept.append(name)
        folders[:] = kept
        for name in sorted(files):
            if name not in _DESKTOP_FILES:
                yield str(Path(place, name))
    yield from problems


def file_items(
    path: str,
    format: Format = "auto",
    limits: InputLimits = DEFAULT_LIMITS,
    *,
    label: str | None = None,
    named: bool = True,
) -> Iterator[Found]:
    """Yield the items of one file, or a problem. ``label`` is its name if that is not the path, for example of an
    upload. A file in an unsupported format that was not ``named`` explicitly is left out.
    """
    name = printable_path(path)
    try:
        if not Path(path).exists():
            raise InputError("the symbolic link is broken")
        if not Path(path).is_file():
            raise InputError("expected a regular file")
        try:
            kind = recognise(Path(path), limits, label) if format == "auto" else format
        except InputError as error:
            if named or not is_left_out(label or path, error):
                raise
            yield LeftOut(name)
            return
        if kind == "nq":
            yield from _rows(path, kind, limits)
        elif kind == "wikimedia":
            from trivium.parser.sources import wikimedia_dumps

            is_tar = wikimedia_dumps.is_tar(Path(path))
            yield from wikimedia_dumps.rows_of_tar(path, limits) if is_tar else _rows(path, kind, limits)
        elif kind == "zim":
            from trivium.parser.sources import zim

            yield from zim.items(path, limits)
        else:
            yield Item(kind, path)
    except InputError as error:
        yield Problem(name, str(error))


def _rows(path: str, format: Format, limits: InputLimits) -> Iterator[Item | Problem]:
    """Yield one item per row, with its byte range. Rows of a compressed file have none and are included as content."""
    packed = packed_as(Path(path)) is not None
    for line in read_lines(Path(path), limits):
        if line.data is None:
            reason = too_long("row", line.length, limits)
            yield Problem(f"{printable_path(path)}, line {line.number}", reason)
        else:
            content = line.data if packed else None
            yield Item(format, path, line.offset, line.length, line.number, content)


def read(item: Item, limits: InputLimits = DEFAULT_LIMITS, beside: list[str] | None = None) -> list[Page]:
    """Return the pages of an item of any format except ``records``. A page's ``source`` is the item's name. Addresses of
    other files that were looked for are added to ``beside``.

    Raises InputError (including ParseError) when the document cannot be used. Records are read by
    :func:`trivium.parser.sources.title_text_records.read_records`, because their links depend on all titles.
    """
    if item.format == "records":
        raise ValueError("records are read with read_records and records_to_pages")
    if item.format == "zim":
        from trivium.parser.sources import zim

        return [zim.to_page(item, limits)]
    data = _bytes(item, limits)
    if item.format in document_formats():
        pages = reader_of(item.format)(_document_file(item, data, limits, beside), limits)
        return [pages] if isinstance(pages, Page) else list(pages)
    return [replace(_page_of_json(item, parse_json(data, limits), limits), format=item.format)]


def _page_of_json(item: Item, value: object, limits: InputLimits) -> Page:
    """Return the page of a row or of the answer of a remote source."""
    if item.format == "arxiv":
        from trivium.parser.sources import arxiv

        return arxiv.to_page(value, source=item.name)
    if item.format == "wikimedia":
        from trivium.parser.sources import wikimedia_dumps

        return wikimedia_dumps.to_page(value, source=item.name, limits=limits)
    if item.format == "nq":
        from trivium.parser.sources import natural_questions
        from trivium.parser.sources.natural_question_rows import as_row

        return natural_questions.to_page(as_row(value), source=item.name, limits=limits)
    from trivium.parser.sources import mediawiki

    return mediawiki.to_page(value, source=item.name, limits=limits)


def _document_file(item: Item, data: bytes, limits: InputLimits, asked: list[str] | None) -> DocumentFile:
    def beside(address: str) -> bytes | None:
        if asked is not None:
            asked.append(address)
        return None if item.root is None else _read_below(item.root, Path(item.location), address, limits)

    return DocumentFile(
        data,
        source=item.name,
        path=item.path or printable_path(PurePath(item.source).as_posix()).lstrip("/"),
        modified=_modified(item),
        beside=beside,
        language=item.language,
    )


def _modified(item: Item) -> str | None:
    """Return the modification time of a file; None for uploads."""
    if item.content is not None or item.label is not None:
        return None
    try:
        changed = Path(item.location).stat().st_mtime
    except OSError:
        return None
    return datetime.fromtimestamp(int(changed), UTC).isoformat().replace("+00:00", "Z")


def _read_below(root: str, file: Path, address: str, limits: InputLimits) -> bytes | None:
    """Return a file by its address relative to another one; None if it is outside the root, also through a link."""
    try:
        path = (file.parent / address).resolve()
        if not path.is_relative_to(Path(root).resolve()) or not path.is_file():
            return None
        return read_document(path, limits)
    except (InputError, OSError, ValueError):  # an invalid file name
        return None


def _bytes(item: Item, limits: InputLimits) -> bytes:
    if item.content is not None:
        return item.content
    if item.length is not None:
        return read_slice(Path(item.location), item.offset, item.length)
    return read_document(Path(item.location), limits)
