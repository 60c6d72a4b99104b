"""Resolves addresses of other files, as file systems, site generators and note-taking programs do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from urllib.parse import unquote

Parts = tuple[str, ...]

_WEB_SUFFIXES = frozenset((".md", ".markdown", ".mdx", ".html", ".htm", ".xhtml"))
"""Suffixes that a site treats as equivalent, and may omit."""
_INDEX_STEMS = frozenset(("index", "_index", "readme"))
_WIKI = re.compile(r"\[\[(.*)\]\]", re.DOTALL)
_SUFFIX = re.compile(r"\.[a-z][a-z0-9]{0,9}", re.IGNORECASE)
_MAX_RIVALS = 1_000
"""Maximum number of files with the same name that are compared. With more, the address is too ambiguous."""


class FilePaths:
    """The paths of the files of a collection, with ``/`` as separator.

    An address is resolved in this order:

    1. relative to the file that contains it, first exactly as written, then ignoring case and suffixes of web pages,
      with a folder standing for its ``index.md``, ``_index.md`` or ``README.md``;
    2. relative to the folder into which a site turns that file (``setup.md`` is served at ``setup/``);
    3. from the root, as in ``/docs/setup/``: any file whose path ends this way. Wiki links and names without a folder
      are resolved this way, too.

    Of several files the one nearest to the file with the address is taken, then the shortest path, then the first.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._exact: set[str] = set()
        self._by_key: dict[Parts, list[str]] = {}
        self._by_last: dict[str, dict[Parts, None]] = {}
        for path in paths:
            self.add(path)

    def add(self, path: str) -> None:
        """Add a file."""
        if path in self._exact:
            return
        self._exact.add(path)
        key = _key(_parts(path))
        self._by_key.setdefault(key, []).append(path)
        if key:
            self._by_last.setdefault(key[-1], {})[key] = None

    def __contains__(self, path: str) -> bool:
        return path in self._exact

    def find(self, address: str, path: str) -> str | None:
        """Return the path of the file that an address in the file at ``path`` refers to; None if there is none.

        >>> files = FilePaths(["site/docs/_index.md", "site/docs/setup.md", "site/docs/notes/My note.md"])
        >>> files.find("../setup.md#linux", "site/docs/notes/My note.md"), files.find("/docs/", "site/docs/setup.md")
        ('site/docs/setup.md', 'site/docs/_index.md')
        >>> files.find("[[my note]]", "site/docs/setup.md")
        'site/docs/notes/My note.md'
        """
        wiki = _WIKI.fullmatch(address)
        name = plain_address(address if wiki is None else wiki[1], wiki=wiki is not None)
        if not name:
            return None
        if wiki is None:
            if name.startswith("/"):
                return self._nearest(self._ending(_parts(name)), path, name)
            for joined in _joined(name, path):
                if joined in self._exact:
                    return joined
                found = self._nearest(self._by_key.get(_key(_parts(joined)), ()), path, name)
                if found is not None:
                    return found
            if name.startswith("."):
                return None
        return self._nearest(self._ending(_parts(name)), path, name)

    def _ending(self, parts: Parts) -> Iterator[str]:
        """Iterate over the files whose path ends with these names."""
        key = _key(parts)
        rivals = self._by_last.get(key[-1], {}) if key else {}
        if len(rivals) <= _MAX_RIVALS:
            for rival in rivals:
                if rival[-len(key) :] == key:
                    yield from self._by_key[rival]

    def _nearest(self, found: Iterable[str], path: str, name: str) -> str | None:
        suffix = _suffix(name)
        own = _parts(path)

        def rank(candidate: str) -> tuple[bool, int, int, str]:
            parts = _parts(candidate)
            return (not candidate.endswith(name.lstrip("/")), -_shared(own, parts), len(parts), candidate)

        kept = (
            candidate
            for candidate in found
            if suffix in _WEB_SUFFIXES
            or (not suffix and _suffix(candidate) in _WEB_SUFFIXES)
            or suffix == _suffix(candidate)
            or (suffix and candidate.lower().endswith(name.lower().lstrip("/")))
        )
        return min(kept, key=rank, default=None)


def plain_address(address: str, *, wiki: bool = False) -> str:
    """Return an address decoded, without query and fragment."""
    path = address.partition("#")[0]
    if not wiki:
        path = unquote(path.partition("?")[0])
    return path.strip().replace("\\", "/")


def future_path(address: str, path: str) -> str | None:
    """Return the path of a file that may be loaded later, if the address is relative and has the suffix of a
    document; else None.
    """
    name = plain_address(address)
    if _WIKI.fullmatch(address) or name.startswith("/") or _suffix(name) not in _WEB_SUFFIXES:
        return None
    joined = next(_joined(name, path))
    return joined if "/" in joined or "/" not in path else None


def looks_like_page_file(uri: str) -> bool:
    """Whether a citation names a file instead of a page, as it does until the file is loaded; see
    :func:`future_path`.

    >>> looks_like_page_file("docs/gone.md"), looks_like_page_file("AC/DC"), looks_like_page_file("Missing note")
    (True, False, False)
    """
    return _suffix(uri) in _WEB_SUFFIXES


def _joined(name: str, path: str) -> Iterator[str]:
    """Iterate over an address relative to a file, and to the folder into which a site turns it."""
    own = PurePosixPath(path)
    yield _normal(f"{own.parent.as_posix()}/{name}")
    if own.name and own.stem.lower() not in _INDEX_STEMS:
        yield _normal(f"{own.with_suffix('').as_posix()}/{name}")


def _normal(path: str) -> str:
    kept: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del kept[-1:]
        elif part not in ("", "."):
            kept.append(part)
    return "/".join(kept)


def _parts(path: str) -> Parts:
    return tuple(part for part in path.split("/") if part not in ("", "."))


def _key(parts: Parts) -> Parts:
    """Return the lookup key of a path: lower case, without the suffix of a web page and the name of an index file."""
    if not parts:
        return ()
    *folders, last = (part.lower() for part in parts)
    if _suffix(last) in _WEB_SUFFIXES:
        last = last.rpartition(".")[0]
    return (*folders, last) if last not in _INDEX_STEMS or not folders else tuple(folders)


def _suffix(name: str) -> str:
    _, dot, suffix = name.rpartition("/")[2].rpartition(".")
    suffix = f"{dot}{suffix}".lower()
    return suffix if dot and _SUFFIX.fullmatch(suffix) else ""


def _shared(one: Parts, other: Parts) -> int:
    """Return how many folders two paths share."""
    count = 0
    for first, second in zip(one[:-1], other[:-1], strict=False):
        if first != second:
            break
        count += 1
    return count
