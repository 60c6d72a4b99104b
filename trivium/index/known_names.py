"""What the other documents of a store say about recognised names: whether a second passage has them, and their kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import groupby
from operator import itemgetter
from typing import Protocol

from trivium.common.iteration import batched
from trivium.graph.protocols import GraphReader, GraphWriter, PageReader
from trivium.graph.schema import page_of

_NAMES_A_TIME = 10_000


class NameStore(GraphReader, PageReader, GraphWriter, Protocol):
    """The part of a store that linking uses."""


class KnownNames:
    """Names that were looked up in a store. A name that one passage alone has makes no entity."""

    def __init__(self, store: NameStore) -> None:
        self._store = store
        self._kinds: dict[str, Counter[str]] = {}
        self.repeated: dict[str, bool] = {}
        """Whether a second passage has the name, of the names that were read."""

    def read(self, names: Iterable[str], pages: Collection[str]) -> set[str]:
        """Look names up, those looked up before aside. Return the pages, besides ``pages``, of the one passage besides
        them that has one of the names: whether the name is an entity may have changed there.
        """
        new = [name for name in dict.fromkeys(names) if name not in self.repeated]
        if not new:
            return set()
        self.repeated.update(dict.fromkeys(new, False))
        self._kinds.update((name, Counter()) for name in new)
        these = set(pages)
        alone = set()
        for name, rows in groupby(self._store.named_in(new), key=itemgetter(0)):
            chunks = set()
            for _, chunk, kind in rows:
                chunks.add(chunk)
                self._kinds[name][kind] += 1
            self.repeated[name] = len(chunks) > 1
            others = [page for page in map(page_of, chunks) if page not in these]
            if len(others) == 1:
                alone.add(others[0])
        return alone

    def set_kinds(self, said_before: Collection[tuple[str, str]]) -> None:
        """Give the entities of the names the kind that most places say. ``said_before`` are names with kinds that pages
        now gone said. Types that no page said, such as DBpedia's, stay.
        """
        before, chosen = set(said_before), dict[str, str]()
        for names in batched(self._kinds, _NAMES_A_TIME):
            resolved, types = self._store.resolve(names), self._store.types(names)
            for name in names:
                kinds, old = self._kinds[name], types.get(name, "")
                if resolved.get(name) == name and (old in ("", *kinds) or (name, old) in before):
                    chosen[name] = min(filter(None, kinds), key=lambda kind: (-kinds[kind], kind), default="")
        if chosen:
            self._store.set_types(chosen)
