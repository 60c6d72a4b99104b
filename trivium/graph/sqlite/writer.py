"""Loads and removes pages, inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from trivium.graph.page_facts import BLOCKS, check_chunker, choose, latest
from trivium.graph.page_graph import PageGraph, RelationEdge
from trivium.graph.records import WriteReport
from trivium.graph.schema import entity_text
from trivium.graph.sqlite.connection import Connection, as_json
from trivium.graph.sqlite.insert_rows import insert_pages, insert_relations
from trivium.graph.sqlite.mention_candidates import put_words
from trivium.graph.sqlite.reader import chunker as stored_chunker
from trivium.graph.sqlite.reconcile import Touched, reconcile
from trivium.graph.sqlite.row_ids import name_ids, text_ids
from trivium.graph.sqlite.store_state import begin_state, read_meta, write_meta


def write_pages(connection: Connection, pages: Sequence[PageGraph]) -> WriteReport:
    """Load pages; see :meth:`trivium.graph.protocols.GraphStore.write`."""
    chosen = latest(pages)
    stored = _stored(connection, chosen)
    versions = {uri: (content_hash, revision) for uri, (_, content_hash, revision) in stored.items()}
    loaded, replaced, report = choose(chosen, versions)
    touched = Touched()
    _empty_pages(connection, [stored[uri][0] for uri in replaced], touched)
    insert_pages(connection, list(loaded.values()), touched)
    claimed = _claim_aliases(connection, ((page.uri, page.aliases) for page in pages), touched)
    put_words(connection)
    if loaded or claimed:
        _finish(connection, touched)
    return report


def add_aliases(connection: Connection, aliases: Mapping[str, Sequence[str]]) -> None:
    """Add aliases of stored pages. Those of unknown pages are skipped."""
    touched = Touched()
    if _claim_aliases(connection, aliases.items(), touched):
        _finish(connection, touched)


def add_relations(connection: Connection, relations: Mapping[str, Sequence[RelationEdge]]) -> int:
    """Add relations of stored pages and return the number of rows inserted. New titles become entities; titles that
    are aliases are known already.
    """
    pages: dict[str, int] = dict(
        connection.execute(
            "SELECT n.uri, p.id FROM json_each(?) AS j JOIN name AS n ON n.uri = j.value"
            " JOIN page AS p ON p.id = n.id",
            [as_json(relations)],
        )
    )
    stated = [(pages[uri], edge) for uri, edges in relations.items() if uri in pages for edge in edges]
    titles = dict.fromkeys(title for _, edge in stated for title in (edge.source, edge.target))
    added = insert_relations(connection, stated, name_ids(connection, list(titles), entities=True))
    if added:
        begin_state(connection)
    return added


def set_types(connection: Connection, types: Mapping[str, str]) -> int:
    """Set the types of entities and return how many changed."""
    touched = Touched()
    changed = _give_types(connection, types, touched)
    if changed:
        _finish(connection, touched)
    return changed


def delete_pages(connection: Connection, uris: Sequence[str]) -> list[str]:
    """Remove pages by uri or alias. Return the uris removed, in the order asked."""
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
        touched = Touched()
        _remove_pages(connection, list(found), touched)
        _finish(connection, touched)
    return list(found.values())


def claim_chunker(connection: Connection, chunker: str) -> None:
    """Record what split the pages into chunks. Raises an error if existing pages were split by something else."""
    check_chunker(stored_chunker(connection), chunker)
    # The default chunker is stored as absent, as in stores from before chunkers could be chosen.
    if chunker != (read_meta(connection, "chunker") or BLOCKS):
        write_meta(connection, "chunker", None if chunker == BLOCKS else chunker)


def set_fusion_decision(connection: Connection, decision: str | None) -> None:
    """Replace or remove the decision on the default fusion. No index depends on it."""
    write_meta(connection, "fusion", decision)


def set_links_pending(connection: Connection, pending: bool) -> None:
    """Record whether a load has begun and not ended. No index depends on it."""
    write_meta(connection, "links_pending", "1" if pending else None)


def set_entities(connection: Connection, recogniser: str | None) -> None:
    """Record what recognises names. No index depends on it."""
    write_meta(connection, "entities", recogniser)


def set_languages(connection: Connection, languages: str | None) -> None:
    """Record the languages of the documents. No index depends on them."""
    write_meta(connection, "languages", languages)


def _finish(connection: Connection, touched: Touched) -> None:
    reconcile(connection, touched)
    begin_state(connection)


def _stored(connection: Connection, uris: Collection[str]) -> dict[str, tuple[int, str, int | None]]:
    """Map uris to (number, content hash, revision) of stored pages."""
    rows = connection.execute(
        "SELECT n.uri, p.id, p.content_hash, p.revision FROM json_each(?) AS j"
        " JOIN name AS n ON n.uri = j.value JOIN page AS p ON p.id = n.id",
        [as_json(uris)],
    )
    return {uri: (number, content_hash, revision) for uri, number, content_hash, revision in rows}


def _claim_aliases(
    connection: Connection, claims: Iterable[tuple[str, Sequence[str]]], touched: Touched
) -> bool:
    """Record aliases claimed by pages and return whether any was new. Those of unknown pages are skipped.

    Which page an alias refers to is decided once all pages of the transaction are stored.
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
    existing = set(
        connection.execute(
            "SELECT p.uri, n.uri FROM json_each(?) AS j JOIN name AS p ON p.uri = j.value"
            " JOIN alias AS a ON a.page_id = p.id JOIN name AS n ON n.id = a.name_id",
            [asked],
        )
    )
    added = [(page, alias) for page, alias in wanted if page in pages and (page, alias) not in existing]
    names = name_ids(connection, list(dict.fromkeys(alias for _, alias in added)), entities=False)
    connection.executemany(
        "INSERT INTO alias (name_id, page_id) VALUES (?, ?)",
        ((names[alias], pages[page]) for page, alias in added),
    )
    touched.claimed.update(names.values())
    return bool(added)


def _give_types(connection: Connection, types: Mapping[str, str], touched: Touched) -> int:
    """Set the types of entities (by uri or alias) and update their texts, recording the old ones in ``touched``.
    Return the number of changed types. If an entity is given by several uris, the last one wins.
    """
    rows = connection.execute(
        """
        SELECT e.id, e.uri, e.text_id, coalesce(t.type, ''), j.key FROM json_each(?) AS j
        JOIN name AS n ON n.uri = j.value JOIN name AS e ON e.id = coalesce(n.leads_to, n.id)
        LEFT JOIN entity_type AS t ON t.name_id = e.id ORDER BY j.key
        """,
        [as_json(types)],
    )
    kinds = list(types.values())
    wanted = {number: (uri, text, old, kinds[place]) for number, uri, text, old, place in rows}
    changed = {number: (uri, text, new) for number, (uri, text, old, new) in wanted.items() if new != old}
    connection.executemany("DELETE FROM entity_type WHERE name_id = ?", ((number,) for number in changed))
    connection.executemany(
        "INSERT INTO entity_type (name_id, type) VALUES (?, ?)",
        ((number, kind) for number, (_, _, kind) in changed.items() if kind),
    )
    texts = text_ids(connection, (entity_text(uri, kind) for uri, _, kind in changed.values()))
    connection.executemany(
        "UPDATE name SET text_id = ? WHERE id = ?",
        ((texts[entity_text(uri, kind)], number) for number, (uri, _, kind) in changed.items()),
    )
    touched.texts.update(text for _, text, _ in changed.values())
    return len(changed)


def _empty_pages(connection: Connection, pages: Sequence[int], touched: Touched) -> None:
    """Remove the contents of pages, by number, recording what becomes unreferenced. Pages and aliases remain."""
    if not pages:
        return
    these = [as_json(pages)]

    def numbers(query: str) -> set[int]:
        return {row[0] for row in connection.execute(query, these)}

    touched.mentioned |= numbers(
        "SELECT DISTINCT t.name_id FROM json_each(?) AS j JOIN chunk AS c ON c.page_id = j.value"
        " JOIN citation AS t ON t.chunk_id = c.id"
    )
    relations = connection.execute(
        "SELECT source_id, type_id, target_id FROM json_each(?) AS j JOIN relation ON page_id = j.value",
        these,
    )
    for source, kind, target in relations:
        touched.mentioned.update((source, target))
        touched.types.add(kind)
    touched.texts |= numbers("SELECT text_id FROM json_each(?) AS j JOIN chunk ON page_id = j.value")
    touched.texts |= numbers("SELECT text_id FROM json_each(?) AS j JOIN section ON page_id = j.value")
    connection.execute("DELETE FROM chunk WHERE page_id IN (SELECT value FROM json_each(?))", these)
    connection.execute("DELETE FROM section WHERE page_id IN (SELECT value FROM json_each(?))", these)
    connection.execute("DELETE FROM relation WHERE page_id IN (SELECT value FROM json_each(?))", these)


def _remove_pages(connection: Connection, pages: Sequence[int], touched: Touched) -> None:
    """Remove pages, by number, with their contents and claims. Their names are left to :func:`reconcile`."""
    _empty_pages(connection, pages, touched)
    these = [as_json(pages)]
    touched.claimed.update(pages)
    touched.claimed.update(
        name
        for (name,) in connection.execute(
            "SELECT name_id FROM json_each(?) AS j JOIN alias ON page_id = j.value", these
        )
    )
    connection.execute("DELETE FROM page WHERE id IN (SELECT value FROM json_each(?))", these)
