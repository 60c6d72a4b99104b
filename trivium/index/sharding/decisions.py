"""What is decided about all documents together, in a file that every machine reads: which copy of a page stays, what it
is called, which titles lead to it, what its links to files mean, and which store gets it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

from trivium.errors import InputError
from trivium.graph.model import PageGraph
from trivium.graph.records import PageRecord, WriteReport
from trivium.graph.schema import unescape
from trivium.graph.versions import choose, latest
from trivium.index.sharding.outline import Outline

_SCHEMA = """
CREATE TABLE page (
    uri      TEXT PRIMARY KEY,
    shard    INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    passages INTEGER NOT NULL,
    store    INTEGER,
    source   TEXT NOT NULL,
    revision INTEGER,
    hash     TEXT NOT NULL,
    text     TEXT NOT NULL,
    path     TEXT NOT NULL,
    language TEXT NOT NULL,
    links    TEXT
) STRICT;
CREATE TABLE claim (title TEXT NOT NULL, page TEXT NOT NULL, PRIMARY KEY (title, page)) STRICT, WITHOUT ROWID;
CREATE TABLE shard (number INTEGER PRIMARY KEY, key TEXT NOT NULL) STRICT;
"""
_REDIRECTS = """
CREATE TABLE redirect (title TEXT PRIMARY KEY, page TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO redirect SELECT title, min(page) FROM claim WHERE title NOT IN (SELECT uri FROM page) GROUP BY title;
CREATE INDEX redirect_page ON redirect (page);
CREATE INDEX page_place ON page (shard, number);
"""
_DEAL = """
UPDATE page SET store = dealt.store FROM (
    SELECT uri, (2 * sum(max(passages, 1)) OVER (ORDER BY shard, number) - max(passages, 1)) * ?1 / (2 * ?2) AS store
    FROM page
) AS dealt WHERE dealt.uri = page.uri
"""
"""The store of a page is that of the passage in its middle."""
Links = Sequence[tuple[int, Sequence[str], Sequence[str]]]
"""Of chunks that refer to files: position, what they cite by that, and the sections that are meant."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of the page with this ``number`` in its shard. ``links`` is None if its links are as they are."""

    number: int
    uri: str
    path: str
    language: str
    links: Links | None


class _File:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _rows(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        return self._connection.execute(query, values)


class PlannedPages(_File):
    """Collects what is decided. For a load (:mod:`trivium.index.merge`) it is an empty store to be filled: it keeps
    outlines, and answers what a load asks of a store.
    """

    links_pending = False
    languages: str | None = None

    def __init__(self, path: Path) -> None:
        """Create the file. It is only read when it is complete, so that nothing has to be durable."""
        path.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(sqlite3.connect(path, isolation_level=None))
        self._connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;" + _SCHEMA)

    # -- as a store ------------------------------------------------------------------------------------------------

    def write(self, pages: Sequence[PageGraph], chunker: str | None = None) -> WriteReport:  # noqa: ARG002
        chosen = latest(pages)
        stored = {
            uri: (page.content_hash, page.revision) for uri, page in self.find_pages(list(chosen)).items()
        }
        loaded, _, report = choose(chosen, stored)
        self._connection.executemany(
            "INSERT OR REPLACE INTO page VALUES (?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?, ?)",
            (_row(page) for page in loaded.values()),
        )
        self.add_aliases({page.uri: page.aliases for page in pages})
        return report

    def add_aliases(self, aliases: Mapping[str, Sequence[str]]) -> None:
        self._connection.executemany(
            "INSERT OR IGNORE INTO claim SELECT ?, uri FROM page WHERE uri = ?",
            ((title, page) for page, titles in aliases.items() for title in titles),
        )

    def delete(self, pages: Sequence[str]) -> list[str]:  # noqa: ARG002
        """Do nothing: documents are only retitled in a store that has some."""
        return []

    def find_pages(self, uris: Sequence[str]) -> dict[str, PageRecord]:
        rows = self._rows(
            "SELECT p.uri, p.source, p.revision, p.hash, p.path FROM json_each(?) AS j JOIN page AS p ON p.uri = j.value"
            " ORDER BY j.key",
            json.dumps(list(uris)),
        )
        return {
            uri: PageRecord(uri, source, revision, hash_, path=path)
            for uri, source, revision, hash_, path in rows
        }

    def pages(self, after: str | None = None, limit: int | None = None) -> list[PageRecord]:
        rows = self._rows(
            "SELECT uri FROM page WHERE uri > ? ORDER BY uri LIMIT ?",
            after or "",
            -1 if limit is None else limit,
        )
        return list(self.find_pages([uri for (uri,) in rows]).values())

    def pages_at(self, paths: Sequence[str]) -> list[PageRecord]:
        rows = self._rows(
            "SELECT DISTINCT p.uri FROM json_each(?) AS j JOIN page AS p ON p.path = j.value WHERE p.path <> ''"
            " ORDER BY p.uri",
            json.dumps(list(paths)),
        )
        return list(self.find_pages([uri for (uri,) in rows]).values())

    def resolve(self, titles: Sequence[str]) -> dict[str, str]:
        rows = self._rows(
            "SELECT j.value, coalesce((SELECT uri FROM page WHERE uri = j.value),"
            " (SELECT min(page) FROM claim WHERE title = j.value)) AS found FROM json_each(?) AS j"
            " WHERE found IS NOT NULL ORDER BY j.key",
            json.dumps(list(titles)),
        )
        return dict(rows)

    def aliases(self) -> list[str]:
        rows = self._rows(
            "SELECT DISTINCT title FROM claim WHERE title NOT IN (SELECT uri FROM page) ORDER BY title"
        )
        return [title for (title,) in rows]

    def names(self) -> list[tuple[str, str]]:
        """Return the titles and aliases, each with the uri of its page."""
        rows = self._rows(
            "SELECT uri, uri FROM page UNION ALL SELECT title, min(page) FROM claim"
            " WHERE title NOT IN (SELECT uri FROM page) GROUP BY title"
        )
        return [(unescape(name), page) for name, page in rows]

    def page_text(self, page: str) -> str:
        """Return what stands for the text of a page."""
        return str(next(self._rows("SELECT text FROM page WHERE uri = ?", page))[0])

    def page_graphs(self, uris: Sequence[str]) -> Iterator[PageGraph]:  # noqa: ARG002
        """Return nothing: only files that are loaded again are compared."""
        return iter(())

    def count_pages(self) -> int:
        return int(next(self._rows("SELECT count(*) FROM page"))[0])

    def set_languages(self, languages: str | None) -> None:
        self.languages = languages

    # -- the rest of the decisions ---------------------------------------------------------------------------------

    def deal(self, keys: Sequence[str], stores: int) -> None:
        """Decide which store gets each page, and complete the file. ``keys`` are those of the shards.

        The stores get documents that follow one another in the sources, so that each is made from shards of its own, of
        about the same number of passages.
        """
        self._connection.executemany("INSERT INTO shard VALUES (?, ?)", enumerate(keys))
        self._connection.execute("COMMIT")
        self._connection.executescript(_REDIRECTS)
        (total,) = next(self._rows("SELECT coalesce(sum(max(passages, 1)), 1) FROM page"))
        self._connection.execute(_DEAL, [stores, total])


class Decisions(_File):
    """Reads a complete file."""

    @classmethod
    def open(cls, path: Path) -> Self:
        """Raises InputError if the file cannot be read."""
        try:
            return cls(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True))
        except sqlite3.Error as error:
            raise InputError(f"{path} cannot be read ({error}): build again") from error

    def shards(self, store: int) -> list[tuple[int, str]]:
        """Return number and key of the shards that have pages of a store, in order."""
        rows = self._rows(
            "SELECT DISTINCT number, key FROM shard WHERE number IN (SELECT shard FROM page WHERE store = ?)"
            " ORDER BY number",
            store,
        )
        return [(number, key) for number, key in rows]

    def pages(self, shard: int, store: int) -> dict[int, Decision]:
        """Map the numbers of those pages of a shard that belong into a store to what is decided of them."""
        rows = self._rows(
            "SELECT number, uri, path, language, links FROM page WHERE shard = ? AND store = ?", shard, store
        )
        return {
            number: Decision(number, uri, path, language, None if links is None else json.loads(links))
            for number, uri, path, language, links in rows
        }

    def resolve(self, titles: Sequence[str]) -> dict[str, str]:
        """Map those of the titles that are aliases to pages."""
        rows = self._rows(
            "SELECT title, page FROM json_each(?) AS j CROSS JOIN redirect ON title = j.value",
            json.dumps(titles),
        )
        return dict(rows)

    def aliases(self, page: str) -> tuple[str, ...]:
        """Return the titles that lead to a page, sorted."""
        return tuple(
            title for (title,) in self._rows("SELECT title FROM redirect WHERE page = ? ORDER BY title", page)
        )

    def names(self) -> Iterator[tuple[str, str]]:
        """Iterate over the titles and aliases, each with the uri of its page."""
        rows = self._rows("SELECT uri, uri FROM page UNION ALL SELECT title, page FROM redirect")
        return ((unescape(name), page) for name, page in rows)

    def digest(self, store: int) -> str:
        """Return a digest of all that a store depends on: what is decided of its pages, and the names of all."""
        found = blake2b(digest_size=16)
        for query, values in (
            (
                "SELECT key, page.number, uri, path, language, links FROM page JOIN shard ON shard.number = page.shard"
                " WHERE store = ? ORDER BY page.shard, page.number",
                [store],
            ),
            ("SELECT uri FROM page ORDER BY uri", []),
            ("SELECT title, page FROM redirect ORDER BY title", []),
        ):
            for row in self._connection.execute(query, values):
                found.update(json.dumps(row).encode())
        return found.hexdigest()


def decisions_of(path: Path) -> closing[Decisions]:
    """Open a file until the block ends."""
    return closing(Decisions.open(path))


def _row(page: PageGraph) -> tuple[object, ...]:
    assert isinstance(page, Outline)
    linked = bool(page.chunks) and not any(chunk.references for chunk in page.chunks)
    links = [(chunk.position, chunk.cites, chunk.anchors) for chunk in page.chunks] if linked else None
    return (
        page.uri,
        page.shard,
        page.number,
        page.passages,
        page.source,
        page.revision,
        page.content_hash,
        page.text,
        page.path,
        page.language,
        None if links is None else json.dumps(links),
    )
