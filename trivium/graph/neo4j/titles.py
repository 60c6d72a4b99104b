"""What titles stand for before a change and after it.

A page's own title stands for itself; of several pages that claim an alias the one with the lowest uri holds it; any
other title stands for itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.batches import each
from trivium.graph.neo4j.cypher import writing as cypher
from trivium.graph.neo4j.keys import names_of
from trivium.graph.neo4j.nodes import Parameters


@dataclass(slots=True)
class Titles:
    """``moved`` are the titles a change lets stand for something else, with what they stood for and will stand for;
    ``rows`` what to note of them. Other titles have to be asked for with :meth:`learn` before they are resolved."""

    moved: dict[str, tuple[str, str]] = field(default_factory=dict)
    rows: list[Parameters] = field(default_factory=list)
    unclaimed: list[str] = field(default_factory=list)
    _leads: dict[str, str] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)

    async def learn(self, transaction: AsyncManagedTransaction, titles: Iterable[str]) -> None:
        """Ask where titles lead."""
        new = [title for title in dict.fromkeys(titles) if title not in self._asked]
        self._asked.update(new)
        self._leads.update(dict(await each(transaction, cypher.LEADS, "titles", new)))

    def old(self, title: str) -> str:
        """What a title stood for."""
        moved = self.moved.get(title)
        return self._leads.get(title, title) if moved is None else moved[0]

    def new(self, title: str) -> str:
        """What a title stands for now."""
        moved = self.moved.get(title)
        return self._leads.get(title, title) if moved is None else moved[1]


async def settle_titles(
    transaction: AsyncManagedTransaction,
    *,
    added: Collection[str],
    removed: Mapping[str, Iterable[str]],
    claims: Mapping[str, Iterable[str]],
) -> Titles:
    """The titles of pages that come (``added``), of pages that go with their aliases (``removed``), and of new
    ``claims`` (page -> aliases)."""
    claimants: dict[str, list[str]] = {}
    for page, aliases in claims.items():
        for alias in aliases:
            claimants.setdefault(alias, []).append(page)
    gone = [title for page, aliases in removed.items() for title in (page, *aliases)]
    asked = list(dict.fromkeys([*added, *gone, *claimants]))
    titles = Titles()
    for title, is_page, leads_to, claimed_by in await each(transaction, cypher.STANDINGS, "titles", asked):
        own = (is_page and title not in removed) or title in added
        left = [page for page in claimed_by if page not in removed]
        new = claimants.get(title, [])
        leads = None if own else min([*left, *new], default=None)
        before = title if leads_to is None else leads_to
        after = title if leads is None else leads
        if before != after:
            titles.moved[title] = (before, after)
        if new or (left and leads != leads_to):
            name, short_name = names_of(title)
            titles.rows.append(
                {"uri": title, "name": name, "short_name": short_name, "leads_to": leads, "pages": new}
            )
        elif claimed_by and not left:
            titles.unclaimed.append(title)
    return titles
