"""*Sub-graph retriever*: finds relations worth following from an entity, for a question.

A tree is grown from a seed node by node. Each step adds the neighbour of the tree whose comparison vector (the mean
of its own embedding and those of all relations on the path from the seed) has the highest cosine with the question.
Source: the thesis *Unveiling Hidden Information in Unstructured Documents* (Milano-Bicocca, 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from trivium.common.arrays import Integers
from trivium.graph.protocols import SearchStore
from trivium.graph.records import Floats, Neighbour, Vectors, round_scores
from trivium.graph.schema import Label, mirror_type
from trivium.native.loops import loops


@dataclass(frozen=True, slots=True)
class GrownNode:
    """A node of a sub-graph, reached from node number ``parent`` by ``relation``; both are None for the seed.
    ``score`` is the cosine of its comparison vector (for the seed, of its own embedding).
    """

    uri: str
    score: float
    parent: int | None = None
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class SubGraph:
    """A tree of entities. ``nodes[0]`` is the seed; parents come before their children."""

    nodes: tuple[GrownNode, ...]

    @property
    def score(self) -> float:
        """Mean score of the nodes, [-1, 1]."""
        return sum(node.score for node in self.nodes) / len(self.nodes)

    def path_to(self, number: int) -> list[GrownNode]:
        """Return the nodes from the seed to node ``number``, both included."""
        path = []
        step: int | None = number
        while step is not None:
            path.append(self.nodes[step])
            step = self.nodes[step].parent
        return path[::-1]


def grow(
    store: SearchStore, vector: Vectors, seeds: Sequence[Neighbour], size: int, fan_out: int
) -> list[SubGraph]:
    """Grow one sub-graph of at most ``size`` nodes from each seed, in the order of the seeds.

    Relations are followed in both directions, backwards under their mirrored type. Only the first ``fan_out``
    neighbours of a node by uri are considered, which bounds the cost of hubs. All trees grow in lockstep: each step
    takes at most three store calls, regardless of the number of seeds.
    """
    atlas = _Atlas(store, vector, fan_out)
    trees = [_Tree([GrownNode(seed.uri, seed.score)], [(np.zeros(vector.size), 0)]) for seed in seeds]
    for _ in range(size - 1):
        atlas.visit([tree.nodes[-1].uri for tree in trees if tree.growing])
        for tree in trees:
            if tree.growing:
                tree.extend(atlas)
    return [SubGraph(tuple(tree.nodes)) for tree in trees]


@dataclass(frozen=True, slots=True)
class _Steps:
    """The relations that lead away from a node, sorted: (neighbour, type as walked, type as stored). ``vectors`` (s,
    d) are those of the neighbours; ``types`` (s,) are rows of :attr:`_Atlas.type_vectors`.
    """

    walked: list[tuple[str, str, str]]
    vectors: Vectors
    types: Integers


class _Atlas:
    """The explored neighbourhood: relations of visited nodes and the vectors they need."""

    def __init__(self, store: SearchStore, question: Vectors, fan_out: int) -> None:
        self.question = question.astype(np.float64)
        self.steps: dict[str, _Steps] = {}
        self.type_vectors = np.empty((0, question.size), dtype=np.float32)
        self._store = store
        self._fan_out = fan_out
        self._types: dict[str, int] = {}
        self._has_vector: list[bool] = []  # of each row of type_vectors

    def visit(self, uris: Sequence[str]) -> None:
        new = sorted(set(uris) - self.steps.keys())
        if not new:
            return
        found: dict[str, set[tuple[str, str, str]]] = {uri: set() for uri in new}
        for source, stored, target, *_ in self._store.relations(new):
            if source == target:
                continue
            if source in found:
                found[source].add((target, stored, stored))
            if target in found:
                found[target].add((source, mirror_type(stored), stored))
        walked = [sorted(edges)[: self._fan_out] for edges in found.values()]
        steps = [step for some in walked for step in some]
        self._learn_types(steps)
        vectors = self._store.vectors(Label.ENTITY, [neighbour for neighbour, _, _ in steps])
        types = np.array([self._type(relation, stored) for _, relation, stored in steps], dtype=np.int64)
        begin = 0
        for uri, some in zip(new, walked, strict=True):
            end = begin + len(some)
            self.steps[uri] = _Steps(some, vectors[begin:end], types[begin:end])
            begin = end

    def _learn_types(self, steps: Sequence[tuple[str, str, str]]) -> None:
        wanted = sorted({name for step in steps for name in step[1:]} - self._types.keys())
        if wanted:
            more = self._store.relation_vectors(wanted)
            first = len(self._types)
            self._types.update(zip(wanted, range(first, first + len(wanted)), strict=True))
            self._has_vector += (~np.isnan(more[:, 0])).tolist()
            self.type_vectors = np.concatenate([self.type_vectors, more])

    def _type(self, relation: str, stored: str) -> int:
        """Return the row of the vector of the type as walked, or of the stored type if the store embeds no mirrored
        types.
        """
        walked = self._types[relation]
        return walked if self._has_vector[walked] else self._types[stored]


@dataclass(slots=True)
class _Tree:
    """A sub-graph under construction. ``walked[i]`` is the sum of the relation vectors from the seed to node i and
    their number. ``options`` are the possible additions, (-score rounded, neighbour, relation, parent, place among
    the parent's steps, score), which sort best first in a total order.
    """

    nodes: list[GrownNode]
    walked: list[tuple[Floats, int]]
    options: list[tuple[float, str, str, int, int, float]] = field(default_factory=list)
    growing: bool = True

    def extend(self, atlas: _Atlas) -> None:
        """Add the best neighbour of the tree, or stop growing when there is none."""
        self._look_around(atlas, len(self.nodes) - 1)
        members = {node.uri for node in self.nodes}
        self.options = [option for option in self.options if option[1] not in members]
        if not self.options:
            self.growing = False
            return
        _, neighbour, walked, parent, place, score = min(self.options)
        total, count = self.walked[parent]
        relation = atlas.type_vectors[atlas.steps[self.nodes[parent].uri].types[place]]
        known = relation[0] == relation[0]  # not NaN
        self.walked.append((total + relation, count + 1) if known else (total, count))
        self.nodes.append(GrownNode(neighbour, score, parent, walked))

    def _look_around(self, atlas: _Atlas, parent: int) -> None:
        steps = atlas.steps[self.nodes[parent].uri]
        scores = np.empty(len(steps.walked))
        total, _ = self.walked[parent]
        before = np.asarray(total, np.float64)
        loops.mean_cosines(steps.vectors, atlas.type_vectors, steps.types, before, atlas.question, scores)
        rounded = round_scores(scores)
        for place, (first, score) in enumerate(zip(rounded.tolist(), scores.tolist(), strict=True)):
            if score == score:  # skip NaN: a neighbour without an embedding
                neighbour, walked, _ = steps.walked[place]
                self.options.append((-first, neighbour, walked, parent, place, score))
