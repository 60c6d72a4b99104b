"""A small graph with hand-set cosines, for the tests of the retrievers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from tests.fakes.memory_store import MemoryStore
from trivium.graph.build_page_graph import build
from trivium.graph.records import Vectors
from trivium.graph.schema import headings_of, section_of
from trivium.retrievers.query import Query
from trivium.types import Chunk, ChunkKind, EmbedderIdentity, Link, Page, Relation, Section

QUESTION = np.array([1, 0, 0, 0], dtype=np.float32)
"""The vector all cosines are set against."""

Block = tuple[str, Sequence[str]]  # text, titles it links to


def page(
    title: str,
    lead: Sequence[Block] = (),
    sections: Mapping[str, Sequence[Block]] | None = None,
    relations: Sequence[tuple[str, str]] = (),
    aliases: Sequence[str] = (),
) -> Page:
    """A page with one level of sections; offsets count in the joined texts."""
    texts: list[str] = []

    def chunk(block: Block) -> Chunk:
        text, targets = block
        start = sum(len(t) + 1 for t in texts)
        texts.append(text)
        return Chunk(
            ChunkKind.PARAGRAPH,
            text,
            start,
            start + len(text),
            tuple(Link(t, start, start + 1) for t in targets),
        )

    return Page(
        title=title,
        chunks=tuple(chunk(block) for block in lead),
        sections=tuple(
            Section(heading, 1, None, tuple(chunk(block) for block in blocks))
            for heading, blocks in (sections or {}).items()
        ),
        text="\n".join(texts),
        relations=tuple(Relation(*relation) for relation in relations),
        aliases=tuple(aliases),
    )


def unit(cosine: float, axis: int = 1) -> Vectors:
    """A unit vector with the given cosine to QUESTION; the rest lies along one other axis."""
    vector = np.zeros(4, dtype=np.float32)
    vector[0] = cosine
    vector[axis] = math.sqrt(1 - cosine**2)
    return vector


def store_of(pages: Sequence[Page], cosines: Mapping[str, float | Vectors]) -> MemoryStore:
    """A store with the pages. ``cosines`` is by embedded text, or chunk uri; everything else is 0."""
    store = MemoryStore()
    graphs = [build(each) for each in pages]
    store.write(graphs)
    store.set_embedder(EmbedderIdentity("hand", "1", 4))
    wanted = dict(cosines)
    for graph in graphs:
        for chunk in graph.chunks:
            if chunk.uri in wanted:
                wanted[f"{' > '.join(headings_of(section_of(chunk.uri)))}: {chunk.text}"] = wanted[chunk.uri]
    texts = list(store.pending_texts())
    values = [wanted.get(text, 0.0) for text in texts]
    vectors = [value if isinstance(value, np.ndarray) else unit(float(value)) for value in values]
    store.put_vectors(texts, np.stack(vectors))
    return store


def ask(store: MemoryStore, text: str = "?") -> Query:
    return Query(text=text, vector=QUESTION, store=store)


SOLAR = [
    page(
        "Mars",
        lead=[("Mars is a red planet.", ["Sun"])],
        sections={
            "Moons": [("It has two moons.", ["Phobos", "Deimos"]), ("Hall found them.", ["Asaph Hall"])],
            "Missions": [("Viking landed in 1976.", ["Viking 1"])],
        },
        relations=[("moon", "Phobos"), ("moon", "Deimos")],
        aliases=["Red Planet"],
    ),
    page(
        "Phobos",
        lead=[("Phobos orbits Mars.", ["Mars", "Asaph Hall"])],
        relations=[("discoverer", "Asaph Hall")],
    ),
    page("Earth", lead=[("Earth has one moon.", ["Moon"])], sections={"Life": [("There is life.", [])]}),
]
"""Mars, its moon and the Earth."""
