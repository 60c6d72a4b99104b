"""What embedding a relation has.

Each relation has that of its type. A mirrored one has that of the relation it mirrors: its type is a name made up
for the way back (``is_discovered by_of``), and says the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from trivium.graph.model import RelationEdge
from trivium.graph.records import Vectors
from trivium.graph.schema import mirror_type


class RelationReader(Protocol):
    """What is asked of a store."""

    def relations(self, entities: Sequence[str]) -> list[RelationEdge]: ...

    def relation_vectors(self, types: Sequence[str]) -> Vectors: ...


def relation_embeddings(store: RelationReader, relations: Sequence[RelationEdge]) -> Vectors:
    """Embeddings (n x d) of relations, where the store keeps those of their types; see
    :meth:`trivium.graph.protocols.GraphStore.relation_embeddings`."""
    sources = list(dict.fromkeys(relation.source for relation in relations))
    stated = store.relations(sources)
    types = {mirrored(relation): relation.type for relation in stated}
    types |= {
        relation: relation.type for relation in stated
    }  # one that is stated comes before a mirror of its name
    kinds = sorted(set(types.values()))
    vectors = store.relation_vectors(kinds)
    row_of = {kind: row for row, kind in enumerate(kinds)}
    found = np.full((len(relations), vectors.shape[1]), np.nan, dtype=np.float32)
    for row, relation in enumerate(relations):
        kind = types.get(relation)
        if kind is not None:
            found[row] = vectors[row_of[kind]]
    return found


def mirrored(relation: RelationEdge) -> RelationEdge:
    """The relation back.

    >>> mirrored(RelationEdge("Phobos", "discovered by", "Asaph Hall"))
    RelationEdge(source='Asaph Hall', type='is_discovered by_of', target='Phobos')
    """
    return RelationEdge(relation.target, mirror_type(relation.type), relation.source)
