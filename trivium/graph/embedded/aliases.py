"""Titles that lead to a page. They accumulate: a page's own copy does not list its redirects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trivium.graph.embedded.connection import Connection, as_json
from trivium.graph.embedded.keys import name_ids
from trivium.graph.embedded.settle import Touched


def claim_aliases(
    connection: Connection, claims: Iterable[tuple[str, Sequence[str]]], touched: Touched
) -> bool:
    """Note that pages claim aliases; those of unknown pages are passed over. Whether any was new.

    A claim does not say where the alias leads: that is settled when all pages of the transaction are in.
    """
    wanted = dict.fromkeys((page, alias) for page, aliases in claims for alias in aliases)
    asked = as_json(dict.fromkeys(page for page, _ in wanted))
    pages: dict[str, int] = dict(
        connection.execute(
            "SELECT n.uri, p.id FROM json_each(?) AS j JOIN name AS n ON n.uri = j.value"
            " JOIN page AS p ON p.id = n.id",
            [asked],
        )
    )
    known = set(
        connection.execute(
            "SELECT p.uri, n.uri FROM json_each(?) AS j JOIN name AS p ON p.uri = j.value"
            " JOIN alias AS a ON a.page_id = p.id JOIN name AS n ON n.id = a.name_id",
            [asked],
        )
    )
    fresh = [(page, alias) for page, alias in wanted if page in pages and (page, alias) not in known]
    names = name_ids(connection, list(dict.fromkeys(alias for _, alias in fresh)), entities=False)
    connection.executemany(
        "INSERT INTO alias (name_id, page_id) VALUES (?, ?)",
        ((names[alias], pages[page]) for page, alias in fresh),
    )
    touched.claimed.update(names.values())
    return bool(fresh)
