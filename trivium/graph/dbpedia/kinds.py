"""One type for an entity that has many: the most specific one."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Mapping

from trivium.graph.dbpedia.vocabulary import Vocabulary


class Kinds:
    """Collects the classes of entities (by row) and the hierarchy of classes, and chooses.

    A class above another class of the same entity is out. Of those that remain, also when the data hold no
    hierarchy, the one that the fewest entities of the store have is taken: what is rare says most. Ties go to
    the type that comes first in the alphabet.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._names: dict[str, str] = {}
        self._kinds: defaultdict[int, set[str]] = defaultdict(set)
        self._parents: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, row: int, kind: str) -> None:
        """An entity is an instance of a class; classes outside the allow-list are passed over."""
        if self._takes(kind):
            self._kinds[row].add(sys.intern(kind))

    def place(self, kind: str, parent: str) -> None:
        """A class is below another."""
        if kind != parent and self._takes(kind) and self._takes(parent):
            self._parents[kind].add(parent)

    def choose(self) -> Mapping[int, str]:
        """Entity -> type as people say it, by row."""
        frequency = Counter(kind for kinds in self._kinds.values() for kind in kinds)
        above = {kind: self._above(kind) for kind in frequency}
        chosen = {}
        for row, kinds in sorted(self._kinds.items()):
            # Classes that are each above the other leave nothing over; then they all count.
            lowest = kinds - {parent for kind in kinds for parent in above[kind]} or kinds
            _, name, _ = min((frequency[kind], self._names[kind], kind) for kind in lowest)
            chosen[row] = name
        return chosen

    def _above(self, kind: str) -> set[str]:
        """Every class above a class, itself not."""
        found: set[str] = set()
        waiting = [kind]
        while waiting:
            fresh = self._parents.get(waiting.pop(), set()) - found
            found |= fresh
            waiting.extend(fresh)
        return found - {kind}

    def _takes(self, kind: str) -> bool:
        """Whether the class counts; its name is worked out once."""
        if kind not in self._names:
            name = self._vocabulary.type(kind)
            if name is None:
                return False
            self._names[kind] = name
        return True
