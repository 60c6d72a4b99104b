"""From resources of a data set to entities of the store."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from trivium.graph.dbpedia.titles import Titles, canonical


class Resources:
    """Which entity (by row) a resource is.

    A resource whose Wikipedia page is known from ``foaf:isPrimaryTopicOf`` is the entity of that page's title, or
    none; one without such a statement is the entity whose title is its local name. ``rows`` maps titles and
    aliases (as uris) to entities. Of several pages the first in uri order that the store has counts, so that
    the order of the statements does not matter.
    """

    def __init__(self, rows: Mapping[str, int], titles: Titles) -> None:
        self._rows = rows
        self._titles = titles
        self._linked: dict[str, int | None] = {}
        # Dumps are sorted by subject, and countries are everybody's object.
        self._named = lru_cache(maxsize=1 << 16)(self._look_up)

    def link(self, resource: str, page: str) -> None:
        """A resource is the primary topic of a page."""
        title = self._titles.of_page(page)
        if title is None:
            return
        key = canonical(resource)
        row, known = self._rows.get(title), self._linked.get(key)
        if row is not None:
            self._linked[key] = row if known is None else min(row, known)
        elif known is None and self._named(resource) is not None:
            # Remembered only where the name would mislead, which keeps this as small as the store.
            self._linked[key] = None

    def entity(self, resource: str) -> int | None:
        """The row of the entity, None where the store has none for the resource."""
        key = canonical(resource)
        return self._linked[key] if key in self._linked else self._named(resource)

    def _look_up(self, resource: str) -> int | None:
        title = self._titles.of_resource(resource)
        return None if title is None else self._rows.get(title)
