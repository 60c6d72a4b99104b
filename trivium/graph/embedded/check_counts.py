"""Checks the stored numbers, and the list of pages, against the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from trivium.graph.embedded.connection import Connection
from trivium.graph.embedded.counters import count_rows, recount
from trivium.graph.embedded.schema_versions import COUNTED_SINCE, schema_version
from trivium.graph.findings import Finding, Severity

_COUNTERS = "counters"
_LIST = "list of pages"
_AGAIN = "a repair makes them again"
_LISTED_WRONG = """
    SELECT n.uri FROM page AS p JOIN name AS n ON n.id = p.id LEFT JOIN page_uri AS u ON u.page_id = p.id
    WHERE u.uri IS NOT n.uri ORDER BY n.uri
    """


def find(connection: Connection) -> Iterator[Finding]:
    """Yield a finding for numbers that are wrong, and one for pages that are not listed or under another uri."""
    if schema_version(connection) < COUNTED_SINCE:
        return
    stored = dict(connection.execute("SELECT name, number FROM counter"))
    counted = count_rows(connection)
    numbers = sorted(name for name in counted.keys() | stored.keys() if counted.get(name) != stored.get(name))
    if numbers:
        yield _wrong(_COUNTERS, "numbers of nodes and relationships are wrong", numbers)
    pages = [uri for (uri,) in connection.execute(_LISTED_WRONG)]
    if pages:
        yield _wrong(_LIST, "pages are not listed, or under another uri", pages)


def _wrong(kind: str, problem: str, where: Sequence[str]) -> Finding:
    return Finding(
        kind=kind,
        severity=Severity.STALE,
        problem=problem,
        where=tuple(where),
        remedy=_AGAIN,
        repairable=True,
    )


def _recount(connection: Connection, _keys: Sequence[int]) -> None:
    recount(connection)


def _list_again(connection: Connection, _keys: Sequence[int]) -> None:
    connection.execute("DELETE FROM page_uri")
    connection.execute(
        "INSERT INTO page_uri (uri, page_id) SELECT n.uri, p.id FROM page AS p JOIN name AS n ON n.id = p.id"
    )


REPAIRS: Mapping[str, Callable[[Connection, Sequence[int]], None]] = {_COUNTERS: _recount, _LIST: _list_again}
"""The repair for each kind of finding. Repairs run inside a transaction."""
