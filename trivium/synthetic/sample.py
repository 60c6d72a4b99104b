"""Which entities questions are made around: cited by chunks of at least two pages, drawn at random."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from trivium.errors import InputError
from trivium.graph.protocols import GraphReader
from trivium.graph.records import Adjacency, ChunkRecord
from trivium.graph.schema import unescape
from trivium.parser.gazetteer import is_name
from trivium.synthetic.records import Bridge, Source
from trivium.text import normalise_name, normalise_title, without_parenthesis
from trivium.types import ChunkKind

Weights = Literal["uniform", "cited"]
WEIGHTS: tuple[str, ...] = get_args(Weights)
LEAST_SOURCES = 2
_AT_ONCE = 16
"""Entities whose chunks are read together."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How bridges are drawn.

    ``weights``: every entity alike, or in proportion to the number of chunks that cite it. ``sources`` chunks are
    offered at most, each of another page. An entity cited by more than ``most_cited`` chunks is left out: what is said
    everywhere tells a reader nothing. Chunks are of one of ``kinds`` and have at least ``least_tokens``, so that they say
    something of the entity and not only list it.
    """

    entities: int = 300
    seed: int = 0
    weights: Weights = "uniform"
    sources: int = 4
    most_cited: int = 50
    kinds: tuple[str, ...] = (ChunkKind.PARAGRAPH,)
    least_tokens: int = 20

    def __post_init__(self) -> None:
        if self.entities < 1 or self.seed < 0:
            raise InputError(f"expected 1 entity or more and a seed from 0, got {self.entities}, {self.seed}")
        if self.weights not in WEIGHTS:
            raise InputError(f"expected weights {' or '.join(WEIGHTS)}, got {self.weights!r}")
        if self.sources < LEAST_SOURCES or self.most_cited < LEAST_SOURCES:
            raise InputError(
                f"a question of several hops needs {LEAST_SOURCES} chunks or more: got {self.sources} to offer,"
                f" of entities cited by {self.most_cited} at most"
            )
        unknown = [kind for kind in self.kinds if kind not in list(ChunkKind)]
        if unknown or not self.kinds:
            raise InputError(f"expected kinds of {', '.join(ChunkKind)}, got {', '.join(unknown) or 'none'}")


def draw(store: GraphReader, sampling: Sampling) -> list[Bridge]:
    """The bridges, in the order drawn; fewer than asked for where the store has no more. With more entities the first
    ones stay the same. Raises InputError where there is none."""
    chosen = list(islice(_chosen(store, sampling), sampling.entities))
    if not chosen:
        raise InputError(
            f"no entity of the store is cited on two pages, by {LEAST_SOURCES} to {sampling.most_cited} chunks, in"
            f" {' or '.join(sampling.kinds)} of {sampling.least_tokens} tokens or more: allow more, or add documents"
        )
    names = _names(store, [entity for entity, _, _ in chosen])
    return [Bridge(entity, cited, names[entity], sources) for entity, cited, sources in chosen]


_Chosen = tuple[str, int, tuple[Source, ...]]


def _chosen(store: GraphReader, sampling: Sampling) -> Iterator[_Chosen]:
    graph = store.adjacency()
    citing = _citing(graph)
    counts = np.diff(citing.indptr)
    rows = np.flatnonzero((counts >= LEAST_SOURCES) & (counts <= sampling.most_cited))
    rows = rows[[any(map(str.isalpha, graph.entities[row])) for row in rows.tolist()]] if len(rows) else rows
    ordered = rows[_order(counts[rows], sampling)].tolist()
    for start in range(0, len(ordered), _AT_ONCE):
        some = ordered[start : start + _AT_ONCE]
        uris = {row: [graph.chunks[chunk] for chunk in citing.of(row)] for row in some}
        wanted = list(dict.fromkeys(uri for row in some for uri in uris[row]))
        records = {record.uri: record for record in store.fetch(wanted)}
        for row in some:
            sources = _sources(graph.entities[row], [records[uri] for uri in uris[row]], sampling)
            if len(sources) >= LEAST_SOURCES:
                yield graph.entities[row], int(counts[row]), sources


def _order(counts: NDArray[np.int64], sampling: Sampling) -> NDArray[np.int64]:
    """A weighted draw without replacement: the largest of u^(1/w) first (Efraimidis and Spirakis, 2006)."""
    drawn = 1.0 - np.random.default_rng(sampling.seed).random(len(counts))  # above 0
    weights = np.ones(len(counts)) if sampling.weights == "uniform" else counts.astype(np.float64)
    return np.argsort(-np.log(drawn) / weights, kind="stable")


@dataclass(frozen=True, slots=True)
class _Citing:
    """For each entity the chunks that cite it, as rows."""

    indptr: NDArray[np.int64]
    chunks: NDArray[np.int32]

    def of(self, entity: int) -> list[int]:
        found: list[int] = self.chunks[self.indptr[entity] : self.indptr[entity + 1]].tolist()
        return found


def _citing(graph: Adjacency) -> _Citing:
    """The graph also joins chunks with their own page: those are left out."""
    first = len(graph.chunks)
    chunks = graph.indices[graph.indptr[first] :]
    entity = np.repeat(np.arange(len(graph.entities)), np.diff(graph.indptr[first:]))
    own_chunks = graph.own_chunks[first:][entity]
    elsewhere = (chunks < own_chunks[:, 0]) | (chunks >= own_chunks[:, 1])
    counts = np.bincount(entity[elsewhere], minlength=len(graph.entities))
    return _Citing(np.concatenate(([0], np.cumsum(counts))), chunks[elsewhere])


def _sources(entity: str, records: Iterable[ChunkRecord], sampling: Sampling) -> tuple[Source, ...]:
    """Some of the pages, and one chunk of each: two of one page are found together, by what the page is about, and join
    nothing. Drawn by a generator of the entity's own, so that no other entity makes a difference."""
    by_page: dict[str, list[ChunkRecord]] = {}
    for record in sorted(records, key=lambda record: record.uri):
        if record.kind in sampling.kinds and record.token_count >= sampling.least_tokens:
            by_page.setdefault(record.page, []).append(record)
    own = int.from_bytes(hashlib.sha256(entity.encode()).digest()[:8])
    generator = np.random.default_rng([sampling.seed, own])
    pages = generator.permutation(sorted(by_page)).tolist()[: sampling.sources]
    drawn = [by_page[page][generator.integers(len(by_page[page]))] for page in pages]
    return tuple(Source(one.uri, one.page, one.section, one.text) for one in drawn)


def _names(store: GraphReader, entities: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What each is called in a question that gives it away. Of aliases only those that are more than a common word."""
    names = {entity: _keys(unescape(entity)) for entity in entities}
    for name, entity in store.names():
        if entity in names:
            names[entity] |= set(filter(is_name, _keys(name)))
    return {entity: tuple(sorted(known)) for entity, known in names.items()}


def _keys(name: str) -> set[str]:
    title = normalise_title(name)
    return {normalise_name(title), normalise_name(without_parenthesis(title))} - {""}
