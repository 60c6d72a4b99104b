"""Loading and removing pages, inside one transaction that the caller opens."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from trivium.graph.embedded.aliases import claim_aliases
from trivium.graph.embedded.connection import Connection, as_json
from trivium.graph.embedded.insert import insert_pages
from trivium.graph.embedded.relations import witness
from trivium.graph.embedded.remove import empty_pages, remove_pages
from trivium.graph.embedded.settle import Touched, settle
from trivium.graph.embedded.terms import TermChanges
from trivium.graph.embedded.types import give_types
from trivium.graph.model import PageGraph, RelationEdge
from trivium.graph.records import WriteReport
from trivium.graph.versions import choose, latest


def write_pages(connection: Connection, pages: Sequence[PageGraph]) -> WriteReport:
    """Load pages; see :meth:`trivium.graph.protocols.GraphStore.write`."""
    chosen = latest(pages)
    stored = _stored(connection, chosen)
    known = {uri: (content_hash, revision) for uri, (_, content_hash, revision) in stored.items()}
    loaded, replaced, report = choose(chosen, known)
    touched, terms = Touched(), TermChanges()
    empty_pages(connection, [stored[uri][0] for uri in replaced], touched, terms)
    insert_pages(connection, list(loaded.values()), touched, terms)
    claimed = claim_aliases(connection, ((page.uri, page.aliases) for page in pages), touched)
    if loaded or claimed:
        _finish(connection, touched, terms)
    return report


def add_aliases(connection: Connection, aliases: Mapping[str, Sequence[str]]) -> None:
    """More aliases of stored pages; those of pages that are not there are passed over."""
    touched = Touched()
    if claim_aliases(connection, aliases.items(), touched):
        _finish(connection, touched, TermChanges())


def add_relations(connection: Connection, relations: Mapping[str, Sequence[RelationEdge]]) -> int:
    """More relations of stored pages; returns how many were new. Titles they bring into play are entities from
    the start: one that is an alias is known already."""
    added = witness(connection, relations)
    if added:
        advance(connection)
    return added


def set_types(connection: Connection, types: Mapping[str, str]) -> int:
    """Give entities their types; returns how many changed."""
    touched = Touched()
    changed = give_types(connection, types, touched)
    if changed:
        _finish(connection, touched, TermChanges())
    return changed


def delete_pages(connection: Connection, uris: Sequence[str]) -> list[str]:
    """Remove pages by uri or alias. Returns the uris removed, in the order asked."""
    rows = connection.execute(
        """
        SELECT p.id, e.uri FROM json_each(?) AS j
        JOIN name AS n ON n.uri = j.value
        JOIN page AS p ON p.id = coalesce(n.leads_to, n.id)
        JOIN name AS e ON e.id = p.id
        ORDER BY j.key
        """,
        [as_json(uris)],
    ).fetchall()
    found: dict[int, str] = dict(rows)
    if found:
        touched, terms = Touched(), TermChanges()
        remove_pages(connection, list(found), touched, terms)
        _finish(connection, touched, terms)
    return list(found.values())


def advance(connection: Connection) -> None:
    """Begin a new generation: every index made from an earlier one is stale."""
    connection.execute("INSERT INTO generation (token) VALUES (lower(hex(randomblob(8))))")


def _finish(connection: Connection, touched: Touched, terms: TermChanges) -> None:
    terms.apply(connection)
    settle(connection, touched)
    advance(connection)


def _stored(connection: Connection, uris: Collection[str]) -> dict[str, tuple[int, str, int | None]]:
    """uri -> (number, content hash, revision) of the pages that are there."""
    rows = connection.execute(
        "SELECT n.uri, p.id, p.content_hash, p.revision FROM json_each(?) AS j"
        " JOIN name AS n ON n.uri = j.value JOIN page AS p ON p.id = n.id",
        [as_json(uris)],
    )
    return {uri: (number, content_hash, revision) for uri, number, content_hash, revision in rows}
