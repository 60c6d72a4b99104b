"""Taking out what pages hold: sections, chunks, citations, relations; and the pages themselves."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.graph.embedded.connection import Connection, as_json
from trivium.graph.embedded.settle import Touched
from trivium.graph.embedded.terms import TermChanges


def empty_pages(connection: Connection, pages: Sequence[int], touched: Touched, terms: TermChanges) -> None:
    """Remove what pages hold, by number, and note what that leaves behind. Pages and aliases stay."""
    if not pages:
        return
    these = [as_json(pages)]

    def numbers(query: str) -> set[int]:
        return {row[0] for row in connection.execute(query, these)}

    touched.mentioned |= numbers(
        "SELECT DISTINCT t.name_id FROM json_each(?) AS j JOIN chunk AS c ON c.page_id = j.value"
        " JOIN citation AS t ON t.chunk_id = c.id"
    )
    for source, kind, target in connection.execute(
        "SELECT source_id, type_id, target_id FROM json_each(?) AS j JOIN relation ON page_id = j.value",
        these,
    ):
        touched.mentioned.update((source, target))
        touched.types.add(kind)
    touched.texts |= numbers("SELECT text_id FROM json_each(?) AS j JOIN chunk ON page_id = j.value")
    touched.texts |= numbers("SELECT text_id FROM json_each(?) AS j JOIN section ON page_id = j.value")
    for of_headings, of_text in connection.execute(
        "SELECT heading_terms, terms FROM json_each(?) AS j JOIN chunk ON page_id = j.value", these
    ):
        terms.remove([*of_headings.split(), *of_text.split()])
    connection.execute("DELETE FROM chunk WHERE page_id IN (SELECT value FROM json_each(?))", these)
    connection.execute("DELETE FROM section WHERE page_id IN (SELECT value FROM json_each(?))", these)
    connection.execute("DELETE FROM relation WHERE page_id IN (SELECT value FROM json_each(?))", these)


def remove_pages(connection: Connection, pages: Sequence[int], touched: Touched, terms: TermChanges) -> None:
    """Remove pages by number with all they hold and claim; their names stay until they are settled."""
    empty_pages(connection, pages, touched, terms)
    these = [as_json(pages)]
    touched.claimed.update(pages)
    touched.claimed.update(
        name
        for (name,) in connection.execute(
            "SELECT name_id FROM json_each(?) AS j JOIN alias ON page_id = j.value", these
        )
    )
    connection.execute("DELETE FROM page WHERE id IN (SELECT value FROM json_each(?))", these)
