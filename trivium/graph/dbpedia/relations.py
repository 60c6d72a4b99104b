"""The relations that stay: between entities that a document mentions together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from trivium.graph.dbpedia.mentions import Mentions
from trivium.graph.dbpedia.vocabulary import Vocabulary
from trivium.graph.model import RelationEdge


class Relations:
    """Collects relations between entities (rows of ``mentions``) and gives them out page by page."""

    def __init__(self, mentions: Mentions, vocabulary: Vocabulary) -> None:
        self._mentions = mentions
        self._vocabulary = vocabulary
        self._types: dict[str, str | None] = {}
        self._found: defaultdict[tuple[int, int], set[str]] = defaultdict(set)

    def type(self, predicate: str) -> str | None:
        """The type of relation a predicate states, None when it states none."""
        if predicate not in self._types:
            self._types[predicate] = self._vocabulary.relation(predicate)
        return self._types[predicate]

    def add(self, source: int, type: str, target: int) -> None:
        """Take a relation, unless it leads to itself or no document mentions both ends."""
        pair = (source, target)
        if source != target and (pair in self._found or len(self._mentions.together(source, target))):
            self._found[pair].add(type)

    def __len__(self) -> int:
        return sum(len(types) for types in self._found.values())

    def by_page(self) -> Iterator[tuple[str, list[RelationEdge]]]:
        """(page, the relations it bears witness to), pages by uri, relations by source, target and type."""
        uris = self._mentions.entities
        edges: list[RelationEdge] = []
        pages: defaultdict[int, list[int]] = defaultdict(list)
        for (source, target), types in sorted(self._found.items()):
            numbers = range(len(edges), len(edges) + len(types))
            edges.extend(RelationEdge(uris[source], type, uris[target]) for type in sorted(types))
            for page in self._mentions.together(source, target).tolist():
                pages[page].extend(numbers)
        for page in sorted(pages):
            yield uris[page], [edges[number] for number in pages[page]]
