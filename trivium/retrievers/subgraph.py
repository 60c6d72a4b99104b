"""*Sub-graph retriever*: relations worth following from an entity, for a question.

From a seed a tree is grown node by node: of all neighbours of the tree, the one is added whose comparison
vector (mean of its own embedding and those of all relations walked from the seed to it) has the highest
cosine with the question. Source: the thesis
*Unveiling Hidden Information in Unstructured Documents* (Milano-Bicocca, 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from trivium.common.dots import dots
from trivium.graph.protocols import SearchStore
from trivium.graph.records import Floats, Neighbour, Vectors, round_score
from trivium.graph.schema import Label, mirror_type


@dataclass(frozen=True, slots=True)
class GrownNode:
    """A node of a sub-graph: reached from node number ``parent`` by ``relation``; both None for the seed.
    ``score`` is the cosine of its comparison vector (for the seed, of its own embedding)."""

    uri: str
    score: float
    parent: int | None = None
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class SubGraph:
    """A tree of entities; ``nodes[0]`` is the seed and a parent comes before its children."""

    nodes: tuple[GrownNode, ...]

    @property
    def score(self) -> float:
        """Mean score of its nodes, [-1, 1]."""
        return sum(node.score for node in self.nodes) / len(self.nodes)

    def path_to(self, number: int) -> list[GrownNode]:
        """The nodes from the seed to node ``number``, both included."""
        path = []
        step: int | None = number
        while step is not None:
            path.append(self.nodes[step])
            step = self.nodes[step].parent
        return path[::-1]


def grow(
    store: SearchStore, vector: Vectors, seeds: Sequence[Neighbour], size: int, fan_out: int
) -> list[SubGraph]:
    """One sub-graph of at most ``size`` nodes from each seed, in the order of the seeds.

    Relations are walked both ways, backwards under their mirrored type. Of a node's neighbours the first
    ``fan_out`` by uri are considered, so that a hub costs no more than others. The trees grow in step: each
    step asks the store three times at most, however many seeds there are.
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
class _Step:
    """A relation as walked away from a node: its type, or its mirror's, and the type as stored."""

    neighbour: str
    relation: str
    stored: str


@dataclass(slots=True)
class _Atlas:
    """The neighbourhood seen so far: relations of visited nodes and the vectors they need."""

    store: SearchStore
    question: Vectors
    fan_out: int
    steps: dict[str, list[_Step]] = field(default_factory=dict)
    entities: dict[str, Floats] = field(default_factory=dict)
    types: dict[str, Floats] = field(default_factory=dict)

    def visit(self, uris: Sequence[str]) -> None:
        new = sorted(set(uris) - self.steps.keys())
        if not new:
            return
        found: dict[str, set[tuple[str, str, str]]] = {uri: set() for uri in new}
        for edge in self.store.relations(new):
            if edge.source == edge.target:
                continue
            if edge.source in found:
                found[edge.source].add((edge.target, edge.type, edge.type))
            if edge.target in found:
                found[edge.target].add((edge.source, mirror_type(edge.type), edge.type))
        for uri, edges in found.items():
            self.steps[uri] = [_Step(*edge) for edge in sorted(edges)[: self.fan_out]]
        steps = [step for uri in new for step in self.steps[uri]]
        self._learn_entities(steps)
        self._learn_types(steps)

    def _learn_entities(self, steps: Sequence[_Step]) -> None:
        wanted = sorted({step.neighbour for step in steps} - self.entities.keys())
        if wanted:
            vectors = self.store.vectors(Label.ENTITY, wanted).astype(np.float64)
            self.entities.update(zip(wanted, vectors, strict=True))

    def _learn_types(self, steps: Sequence[_Step]) -> None:
        wanted = sorted({name for step in steps for name in (step.relation, step.stored)} - self.types.keys())
        if wanted:
            vectors = self.store.relation_vectors(wanted).astype(np.float64)
            self.types.update(zip(wanted, vectors, strict=True))

    def relation_vector(self, step: _Step) -> Floats:
        """Of the type as walked; a store that embeds no mirrors answers with the stored type's."""
        walked = self.types[step.relation]
        return self.types[step.stored] if np.isnan(walked[0]) else walked


@dataclass(slots=True)
class _Tree:
    """A sub-graph under way. ``walked[i]`` is the sum of the relation vectors from the seed to node i and how
    many they are. ``options`` are the additions seen so far, keyed for a total order: best first."""

    nodes: list[GrownNode]
    walked: list[tuple[Floats, int]]
    options: list[tuple[float, str, str, int, float, _Step]] = field(default_factory=list)
    growing: bool = True

    def extend(self, atlas: _Atlas) -> None:
        """Add the best neighbour of the tree; stop growing when there is none."""
        parent = len(self.nodes) - 1
        self._look_around(atlas, parent)
        members = {node.uri for node in self.nodes}
        open_options = [option for option in self.options if option[1] not in members]
        self.options = open_options
        if not open_options:
            self.growing = False
            return
        *_, origin, score, step = min(open_options, key=lambda option: option[:4])
        total, count = self.walked[origin]
        relation = atlas.relation_vector(step)
        known = not np.isnan(relation[0])
        self.walked.append((total + relation, count + 1) if known else (total, count))
        self.nodes.append(GrownNode(step.neighbour, score, origin, step.relation))

    def _look_around(self, atlas: _Atlas, parent: int) -> None:
        steps = atlas.steps[self.nodes[parent].uri]
        steps = [step for step in steps if not np.isnan(atlas.entities[step.neighbour][0])]
        if not steps:
            return
        total, count = self.walked[parent]
        own = np.stack([atlas.entities[step.neighbour] for step in steps])
        relations = np.stack([atlas.relation_vector(step) for step in steps])
        known = ~np.isnan(relations[:, 0])
        vectors = (own + total + np.nan_to_num(relations)) / (1 + count + known)[:, np.newaxis]
        norms = np.linalg.norm(vectors, axis=1)
        scores = dots(vectors, atlas.question) / np.where(norms > 0, norms, 1.0)
        for step, score in zip(steps, scores.tolist(), strict=True):
            self.options.append((-round_score(score), step.neighbour, step.relation, parent, score, step))
