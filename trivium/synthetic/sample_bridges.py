"""Samples bridges at random: entities cited by chunks of at least two pages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from trivium.answering.passage_prompts import Source
from trivium.errors import InputError
from trivium.graph.protocols import GraphReader
from trivium.graph.records import Adjacency, ChunkRecord
from trivium.graph.schema import unescape
from trivium.parser.gazetteer import is_name
from trivium.synthetic.records import Bridge
from trivium.text.normalise import normalise_name, normalise_title, without_parenthesis
from trivium.types import ChunkKind

MIN_SOURCES = 2
_BATCH = 16
"""Number of entities whose chunks are fetched together."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How bridges are drawn.

    Up to ``entities`` entities are drawn with ``seed``, all with the same probability. At most ``sources`` chunks are
    offered per entity, each from a different page. Entities cited by more than ``most_cited`` chunks are left out
    because they are too common to connect passages. Chunks are of one of ``kinds`` and have at least ``least_tokens``
    tokens, so that they describe the entity rather than list it. Raises InputError for values out of range.
    """

    entities: int = 300
    seed: int = 0
    sources: int = 4
    most_cited: int = 50
    kinds: tuple[str, ...] = (ChunkKind.PARAGRAPH,)
    least_tokens: int = 20

    def __post_init__(self) -> None:
        if self.entities < 1 or self.seed < 0:
            raise InputError(
                f"expected at least 1 entity and a seed of 0 or more, got {self.entities} and {self.seed}"
            )
        if self.sources < MIN_SOURCES or self.most_cited < MIN_SOURCES:
            raise InputError(
                f"a multi-hop question needs {MIN_SOURCES} chunks or more: got sources={self.sources},"
                f" most_cited={self.most_cited}"
            )
        unknown = [kind for kind in self.kinds if kind not in list(ChunkKind)]
        if unknown or not self.kinds:
            raise InputError(f"expected kinds of {', '.join(ChunkKind)}, got {', '.join(unknown) or 'none'}")


def draw(store: GraphReader, sampling: Sampling) -> list[Bridge]:
    """Draw bridges in random order; fewer than ``sampling.entities`` if the store has no more. Drawing more keeps the
    first ones. Raises InputError when there is none.
    """
    chosen = list(islice(_chosen(store, sampling), sampling.entities))
    if not chosen:
        raise InputError(
            f"no entity of the store is cited on two pages, by {MIN_SOURCES} to {sampling.most_cited} chunks, in"
            f" {' or '.join(sampling.kinds)} of {sampling.least_tokens} tokens or more: allow more, or add documents"
        )
    names = _names(store, [entity for entity, _, _ in chosen])
    return [Bridge(entity, cited, names[entity], sources) for entity, cited, sources in chosen]


_Chosen = tuple[str, int, tuple[Source, ...]]


def _chosen(store: GraphReader, sampling: Sampling) -> Iterator[_Chosen]:
    graph = store.adjacency()
    citing = _citing(graph)
    counts = np.diff(citing.indptr)
    rows = np.flatnonzero((counts >= MIN_SOURCES) & (counts <= sampling.most_cited))
    rows = rows[[any(map(str.isalpha, graph.entities[row])) for row in rows.tolist()]] if len(rows) else rows
    ordered = rows[_order(len(rows), sampling.seed)].tolist()
    for start in range(0, len(ordered), _BATCH):
        batch = ordered[start : start + _BATCH]
        uris = {row: [graph.chunks[chunk] for chunk in citing.of(row)] for row in batch}
        distinct = list(dict.fromkeys(uri for row in batch for uri in uris[row]))
        records = {record.uri: record for record in store.fetch(distinct)}
        for row in batch:
            sources = _sources(graph.entities[row], [records[uri] for uri in uris[row]], sampling)
            if len(sources) >= MIN_SOURCES:
                yield graph.entities[row], int(counts[row]), sources


def _order(count: int, seed: int) -> NDArray[np.int64]:
    """Return a random order of ``count`` entities."""
    drawn = 1.0 - np.random.default_rng(seed).random(count)  # above 0
    return np.argsort(-np.log(drawn), kind="stable")


@dataclass(frozen=True, slots=True)
class _Citing:
    """The row numbers of the chunks that cite each entity, as ragged ranges: ``chunks[indptr[i]:indptr[i + 1]]``."""

    indptr: NDArray[np.int64]
    chunks: NDArray[np.int32]

    def of(self, entity: int) -> list[int]:
        rows: list[int] = self.chunks[self.indptr[entity] : self.indptr[entity + 1]].tolist()
        return rows


def _citing(graph: Adjacency) -> _Citing:
    """Return the citing chunks of every entity, without those of its own page, which the graph also connects to it."""
    first = len(graph.chunks)
    chunks = graph.indices[graph.indptr[first] :]
    entity = np.repeat(np.arange(len(graph.entities)), np.diff(graph.indptr[first:]))
    own_chunks = graph.own_chunks[first:][entity]
    elsewhere = (chunks < own_chunks[:, 0]) | (chunks >= own_chunks[:, 1])
    counts = np.bincount(entity[elsewhere], minlength=len(graph.entities))
    return _Citing(np.concatenate(([0], np.cumsum(counts))), chunks[elsewhere])


def _sources(entity: str, records: Iterable[ChunkRecord], sampling: Sampling) -> tuple[Source, ...]:
    """Return one random chunk of each of up to ``sampling.sources`` random pages. Two chunks of the same page would be
    found together, without a second hop. Each entity has its own random generator, so the draw does not depend on other
    entities.
    """
    by_page: dict[str, list[ChunkRecord]] = {}
    for record in sorted(records, key=lambda record: record.uri):
        if record.kind in sampling.kinds and record.token_count >= sampling.least_tokens:
            by_page.setdefault(record.page, []).append(record)
    entity_seed = int.from_bytes(hashlib.sha256(entity.encode()).digest()[:8])
    generator = np.random.default_rng([sampling.seed, entity_seed])
    pages = generator.permutation(sorted(by_page)).tolist()[: sampling.sources]
    drawn = [by_page[page][generator.integers(len(by_page[page]))] for page in pages]
    return tuple(Source(record.uri, record.page, record.section, record.text) for record in drawn)


def _names(store: GraphReader, entities: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the normalised names of each entity, which a question must not contain. Aliases that are only common words
    are left out.
    """
    names = {entity: _keys(unescape(entity)) for entity in entities}
    for name, entity in store.names():
        if entity in names:
            names[entity] |= set(filter(is_name, _keys(name)))
    return {entity: tuple(sorted(keys)) for entity, keys in names.items()}


def _keys(name: str) -> set[str]:
    title = normalise_title(name)
    return {normalise_name(title), normalise_name(without_parenthesis(title))} - {""}
