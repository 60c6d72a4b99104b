"""Integrity checks of an embedded store, and their repairs.

Most data is stored redundantly: as a row and in an index of its table, which SQLite compares, or as a text and its
hash. The rest has checksums (``page_sum``, ``vector_sum``, ``sentences_sum``) or can be derived from other rows.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from trivium.errors import StoreFormatError
from trivium.graph.embedded import check_counts, check_rows, check_structure, check_words
from trivium.graph.embedded.connection import Connection, Database, as_json
from trivium.graph.embedded.files import damaged_files
from trivium.graph.embedded.snapshot import latest_folder
from trivium.graph.findings import PAGES, Finding, Severity
from trivium.graph.records import Passage, Progress
from trivium.graph.schema import embedding_text
from trivium.graph.vectors import text_hash

_FILES = "index files"


@dataclass(frozen=True, slots=True)
class _Check:
    """``find`` looks for one kind of problem; ``repair`` repairs the keys of its findings, inside a transaction."""

    find: Callable[[Connection], Iterable[Finding]]
    repair: Mapping[str, Callable[[Connection, Sequence[int]], None]]


_STRUCTURE = _Check(check_structure.find, check_structure.REPAIRS)
_ROWS = (
    *(_Check(find, check_rows.REPAIRS) for find in check_rows.FINDS),
    _Check(check_words.find, check_words.REPAIRS),
    _Check(check_counts.find, check_counts.REPAIRS),  # after what else is repaired
)


class EmbeddedChecker:
    """The :class:`trivium.graph.protocols.StoreChecker` of an embedded store. ``forget_indexes`` makes the store
    reopen its derived files.
    """

    def __init__(self, database: Database, forget_indexes: Callable[[], None]) -> None:
        self._database = database
        self._forget_indexes = forget_indexes

    def check(self, progress: Progress | None = None) -> list[Finding]:
        """See the protocol. If the database file itself is damaged, its rows are not checked."""
        report = progress or (lambda _done, _total: None)
        steps = 2 + len(_ROWS)
        try:
            with self._database.reading_one_state() as connection:
                found = list(_STRUCTURE.find(connection))
                report(1, steps)
                for done, check in enumerate(() if found else _ROWS, start=2):
                    found += check.find(connection)
                    report(done, steps)
                found += self._check_files(connection)
        except StoreFormatError as error:
            found = [check_structure.beyond_repair([str(error)])]
        report(steps, steps)
        return found

    def repair(self, findings: Sequence[Finding]) -> None:
        """See the protocol. Damage to the database file is repaired only in its indexes."""
        for finding in findings:
            if finding.kind == _FILES:
                shutil.rmtree(finding.keys[0], ignore_errors=True)
                self._forget_indexes()
        repairs = {
            **check_structure.REPAIRS,
            **check_rows.REPAIRS,
            **check_words.REPAIRS,
            **check_counts.REPAIRS,
        }
        wanted = [finding for finding in findings if finding.kind in repairs and finding.repairable]
        damaged = [uri for finding in findings if finding.kind == PAGES for uri in finding.where]
        if wanted or damaged:
            with self._database.writing() as connection:
                for finding in wanted:
                    repairs[finding.kind](connection, finding.keys)
                check_rows.give_up_pages(connection, damaged)

    def page_digests(self) -> dict[str, str]:
        with self._database.reading() as connection:
            return dict(
                connection.execute(
                    "SELECT n.uri, s.digest FROM page_sum AS s JOIN name AS n ON n.id = s.page_id"
                )
            )

    def sum_pages(self, digests: Mapping[str, str]) -> None:
        with self._database.writing() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO page_sum (page_id, digest)"
                " SELECT p.id, ?2 FROM name AS n JOIN page AS p ON p.id = n.id WHERE n.uri = ?1",
                digests.items(),
            )

    def drop_vectors(self, texts: Sequence[str]) -> None:
        with self._database.writing() as connection:
            check_rows.drop_vectors(connection, _text_ids(connection, texts))

    def drop_sentences(self, passages: Sequence[Passage]) -> None:
        texts = [embedding_text(passage.headings, passage.text) for passage in passages]
        with self._database.writing() as connection:
            check_rows.drop_sentences(connection, _text_ids(connection, texts))

    def _check_files(self, connection: Connection) -> list[Finding]:
        """Check the files of the committed state, or of the latest earlier one, since the next index build starts
        from these.
        """
        folder = latest_folder(connection, self._database.folder)
        if folder is None:
            return []
        wrong = damaged_files(folder)
        if not wrong:
            return []
        return [
            Finding(
                kind=_FILES,
                severity=Severity.STALE,
                problem="derived files are missing, or not those that were written",
                where=tuple(str((folder / name).relative_to(self._database.folder)) for name in wrong),
                remedy="they are made again by a repair",
                repairable=True,
                keys=(folder,),
            )
        ]


def _text_ids(connection: Connection, texts: Sequence[str]) -> list[int]:
    rows = connection.execute(
        "SELECT t.id FROM json_each(?) AS j JOIN text AS t ON t.hash = j.value",
        [as_json(dict.fromkeys(map(text_hash, texts)))],
    )
    return [number for (number,) in rows]
