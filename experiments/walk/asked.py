"""Inputs of the walk for each question: nearest chunks, mentioned entities, gold. The store is queried only once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from graphs import Links, Masses, read_links
from numpy.typing import NDArray

import trivium
from trivium.datasets.gold import Gold
from trivium.datasets.questions import read_questions
from trivium.evaluation.evaluator import Evaluator
from trivium.graph.records import Adjacency, Neighbour
from trivium.graph.schema import Label
from trivium.retrievers.lexical import LexicalRetriever
from trivium.retrievers.query import Candidate, Query
from trivium.retrievers.walk import WalkRetriever, WalkSettings

NEAR_CHUNKS, NEAR_ENTITIES, LEXICAL = 50, 20, 20
DEPTH = 30

Scored = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Rows and their scores, best first."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """The initial distribution of the walk. The first four fields are as in
    :class:`~trivium.retrievers.walk.WalkSettings`; ``share`` is its ``entity_share``. ``rarity``: a mentioned entity of
    degree d is weighted by ``d ** -rarity``. ``near`` is the share of the entities' mass for the nearest ones even if
    some are mentioned. ``lexical`` is the share of the chunks' mass for the 20 best of the lexical retriever.
    """

    chunks: int = 20
    entities: int = 5
    temperature: float = 0.02
    share: float = 0.25
    rarity: float = 0.0
    near: float = 0.0
    lexical: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question. Rows are nodes of the graph; ``chunks``, ``entities`` and ``words`` are sorted by descending score.
    An entity without a link has row -1.
    """

    id: str
    text: str
    gold: Gold
    chunks: Scored
    entities: Scored
    words: Scored
    named: NDArray[np.int64]
    shipped: tuple[str, ...]
    precise: tuple[str, ...]
    """Results of the walk as in the package, ``DEPTH`` deep, and with a precision of 1e-8."""


@dataclass(frozen=True, slots=True, eq=False)
class Set:
    """Questions of one kind with the graph they are asked of."""

    name: str
    links: Links
    degrees: NDArray[np.int64]
    asked: tuple[Asked, ...]


def read_set(engine: trivium.Engine, path: Path, sample: int | None = None) -> Set:
    """Return the traceable questions of a file, or about ``sample`` of them, evenly spaced."""
    traced = Evaluator(engine.searcher).trace(read_questions(path))
    questions = traced.questions
    if sample is not None:
        questions = questions[:: max(1, len(questions) // sample)][:sample]
    asked = []
    for question in questions:
        query = Query(question.text, engine.embedder.embed_query(question.text), engine.store)
        asked.append(see(query, question.id, traced.gold[question.id]))
    degrees = np.diff(engine.store.adjacency().indptr)
    return Set(path.stem.removesuffix("_questions"), read_links(engine.store), degrees, tuple(asked))


def see(query: Query, identifier: str, gold: Gold) -> Asked:
    """Query the store for the inputs of a question."""
    graph = query.store.adjacency()
    offset, rows = len(graph.chunks), graph.entity_rows
    words = LexicalRetriever().retrieve(query, LEXICAL)
    about = query.nearest(Label.ENTITY, NEAR_ENTITIES)
    shipped, precise = (
        WalkRetriever(WalkSettings(own_page_weight=1.0)),
        WalkRetriever(WalkSettings(own_page_weight=1.0, eps=1e-8)),
    )
    return Asked(
        id=identifier,
        text=query.text,
        gold=gold,
        chunks=chunk_rows(graph, query.nearest(Label.CHUNK, NEAR_CHUNKS)),
        entities=_scored([(offset + rows[n.uri] if n.uri in rows else -1, n.score) for n in about]),
        words=chunk_rows(graph, words),
        named=np.array([offset + rows[uri] for uri in query.named_entities if uri in rows], dtype=np.int64),
        shipped=tuple(c.uri for c in shipped.retrieve(query, DEPTH)),
        precise=tuple(c.uri for c in precise.retrieve(query, DEPTH)),
    )


def chunk_rows(graph: Adjacency, found: Sequence[Neighbour | Candidate]) -> Scored:
    """Return the rows and scores of chunks."""
    return _scored([(graph.chunk_rows[one.uri], one.score) for one in found if one.uri in graph.chunk_rows])


def sides(one: Set, asked: Sequence[Asked], seeds: Seeds) -> tuple[Masses, Masses]:
    """Return seeds on chunks and seeds on entities, (nodes, questions) each; columns sum to 1, or to 0 without seeds."""
    chunks = np.zeros((one.links.size, len(asked)), dtype=np.float32)
    entities = np.zeros_like(chunks)
    for column, question in enumerate(asked):
        rows, cosines = question.chunks[0][: seeds.chunks], question.chunks[1][: seeds.chunks]
        _add(chunks, column, rows, softmax(cosines, seeds.temperature), 1 - seeds.lexical)
        rows, scores = question.words
        if seeds.lexical > 0 and rows.size:
            _add(chunks, column, rows, softmax(scores / scores[0], 0.1), seeds.lexical)
        rows, cosines = question.entities[0][: seeds.entities], question.entities[1][: seeds.entities]
        rows, cosines = rows[rows >= 0], cosines[rows >= 0]
        near = softmax(cosines, seeds.temperature)
        if question.named.size:
            rare = one.degrees[question.named].astype(np.float64) ** -seeds.rarity
            _add(entities, column, question.named, rare / rare.sum(), 1 - seeds.near)
        _add(entities, column, rows, near, seeds.near if question.named.size else 1.0)
    for mass in (chunks, entities):
        total = mass.sum(axis=0)
        mass /= np.where(total > 0, total, 1)
    return chunks, entities


def softmax(scores: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """Return weights that sum to 1, as in :func:`trivium.retrievers.walk.softmax`."""
    if not scores.size:
        return scores
    weights = np.exp((scores - scores.max()) / temperature)
    return np.asarray(weights / weights.sum())


def mixed(chunks: Masses, entities: Masses, share: float) -> Masses:
    """Mix two distributions; a side without mass cedes its share. Also applies to two solutions, since the walk is
    linear in its seeds.
    """
    has_chunks, has_entities = chunks.any(axis=0), entities.any(axis=0)
    of_entities = np.where(has_entities, np.where(has_chunks, share, 1.0), 0.0).astype(chunks.dtype)
    mixture: Masses = chunks * (1 - of_entities) + entities * of_entities
    return mixture


def _scored(pairs: list[tuple[int, float]]) -> Scored:
    return (
        np.array([row for row, _ in pairs], dtype=np.int64),
        np.array([score for _, score in pairs], dtype=np.float64),
    )


def _add(
    mass: Masses, column: int, rows: NDArray[np.int64], shares: NDArray[np.float64], factor: float
) -> None:
    np.add.at(mass[:, column], rows, factor * shares)
