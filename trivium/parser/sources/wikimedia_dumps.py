"""The HTML dumps of Wikimedia Enterprise: one page per line of JSON, in files of a ``tar.gz`` or separate files.

https://enterprise.wikimedia.com/docs/data-dictionary/ describes the keys of a page. A dump is read as a stream: of a
compressed one only the current page is in memory.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from trivium.errors import InputError
from trivium.metadata import clean
from trivium.parser.html import parse_html
from trivium.parser.sources.read_files import Line, lines_of, opened, parse_json, read_head, too_long
from trivium.parser.sources.source_items import Item, Problem, clean_text, printable_path, some_keys
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits
from trivium.text.normalise import normalise_title
from trivium.types import Page

FORMAT = "wikimedia"

_SUFFIXES = frozenset((".ndjson", ".jsonl", ".json"))
_TAR_HEAD = 512


def is_tar(path: Path) -> bool:
    """Whether a file, gzipped or not, is a tar archive. Raises InputError when it cannot be read."""
    return read_head(path, _TAR_HEAD)[257:262] == b"ustar"


def is_dump(path: Path, limits: InputLimits = DEFAULT_LIMITS) -> bool:
    """Whether a tar archive is a dump: the first line of its first file is a page."""
    for _, line in _lines(path, limits):
        if line.data is None:
            return False
        try:
            row = parse_json(line.data, limits)
        except InputError:
            return False
        return isinstance(row, Mapping) and "article_body" in row
    return False


def rows_of_tar(path: str, limits: InputLimits = DEFAULT_LIMITS) -> Iterator[Item | Problem]:
    """Yield one item per page, with the page as its content, named by the file of the archive and the line."""
    for member, line in _lines(Path(path), limits):
        if line.data is None:
            place = f"{printable_path(path)}, {member}, line {line.number}"
            yield Problem(place, too_long("page", line.length, limits))
        else:
            yield Item(FORMAT, path, line=line.number, content=line.data, entry=member)


def _lines(path: Path, limits: InputLimits) -> Iterator[tuple[str, Line]]:
    """Yield the lines of the JSON files in an archive, with the name of the file."""
    with opened(path, limits) as file:
        try:
            with tarfile.open(fileobj=file, mode="r|") as archive:
                for member in archive:
                    name = PurePosixPath(member.name)
                    content = archive.extractfile(member) if member.isfile() else None
                    if content is not None and name.suffix.lower() in _SUFFIXES:
                        for line in lines_of(content, limits):
                            yield printable_path(name.name), line
        except tarfile.TarError as error:
            raise InputError(f"the tar archive is damaged or cut short: {error}") from error


def to_page(row: object, source: str = "", limits: InputLimits = DEFAULT_LIMITS) -> Page:
    """Convert a row to a page, with its revision, address and time, and with the titles redirected to it as aliases.
    Raises InputError when the row is not a page, or its HTML cannot be parsed.
    """
    if not isinstance(row, Mapping):
        raise InputError(f"expected a page of a Wikimedia dump, got a JSON {type(row).__name__}")
    body = row.get("article_body")
    html = body.get("html") if isinstance(body, Mapping) else None
    if not isinstance(html, str) or not html.strip():
        raise InputError(f"expected a page with article_body.html, got the keys {some_keys(row)}")
    title = _title(row.get("name"))
    page = parse_html(clean_text(html), source=source, title=title or None, limits=limits)
    redirects = row.get("redirects")
    names = [_title(_get(redirect, "name")) for redirect in redirects] if isinstance(redirects, list) else []
    aliases = dict.fromkeys((*page.aliases, title, *names))
    modified, address = row.get("date_modified"), row.get("url")
    return replace(
        page,
        aliases=tuple(alias for alias in aliases if alias and alias != page.title),
        revision=_revision(row) or page.revision,
        modified=clean_text(modified) if isinstance(modified, str) and modified else None,
        metadata=clean({"url": clean_text(address)}) if isinstance(address, str) and address else {},
    )


def _get(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, Mapping) else None


def _title(value: object) -> str:
    return normalise_title(clean_text(value)) if isinstance(value, str) else ""


def _revision(row: Mapping[str, object]) -> int | None:
    value = _get(row.get("version"), "identifier")
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 63 else None
