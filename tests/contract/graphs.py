"""Small pages for the contract suite, written by hand or drawn by hypothesis."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from trivium.graph.page_graph import ChunkNode, Name, PageGraph, RelationEdge, SectionNode
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Codes, Vectors
from trivium.graph.schema import chunk_uri, headings_of, section_uri
from trivium.text.normalise import count_tokens, terms
from trivium.types import EmbedderIdentity

IDENTITY = EmbedderIdentity("toy", "1", 8)
Block = tuple[str, Sequence[str]]
"""A text and the titles it links to."""


def graph(
    title: str,
    lead: Sequence[Block] = (),
    sections: Mapping[str, Sequence[Block]] | None = None,
    *,
    aliases: Sequence[str] = (),
    relations: Sequence[tuple[str, str]] = (),
    revision: int | None = None,
    source: str = "test",
) -> PageGraph:
    """A page. A section is named by its path below the page: ``"Moons#Phobos"`` stands under ``"Moons"``."""
    nodes: list[SectionNode] = []
    chunks: list[ChunkNode] = []
    text = ""

    def add(parent: str, blocks: Sequence[Block]) -> None:
        nonlocal text
        for number, (words, cites) in enumerate(blocks, 1):
            start = len(text)
            text += words + "\n"
            chunks.append(
                ChunkNode(
                    uri=chunk_uri(parent, number),
                    parent=parent,
                    text=words,
                    kind="paragraph",
                    position=len(chunks),
                    start=start,
                    end=start + len(words),
                    token_count=count_tokens(words),
                    cites=tuple(cites),
                    terms=" ".join(terms(words)),
                    heading_terms=" ".join(terms(" ".join(headings_of(parent)))),
                )
            )

    add(title, lead)
    for path, blocks in (sections or {}).items():
        above, _, heading = path.rpartition("#")
        parent = f"{title}#{above}" if above else title
        uri = section_uri(parent, heading)
        nodes.append(SectionNode(uri, parent, path.count("#") + 1, len(nodes)))
        add(uri, blocks)
    edges = tuple(RelationEdge(title, kind, target) for kind, target in relations)
    content = repr((title, text, revision, nodes, chunks, edges))
    return PageGraph(
        uri=title,
        text=text,
        source=source,
        revision=revision,
        content_hash=hashlib.blake2b(content.encode(), digest_size=16).hexdigest(),
        aliases=tuple(aliases),
        sections=tuple(nodes),
        chunks=tuple(chunks),
        relations=edges,
    )


def unit(text: str, dimension: int = IDENTITY.dimension) -> Vectors:
    """A unit vector that depends on nothing but the text."""
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
    vector = np.random.default_rng(seed).standard_normal(dimension)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def embed_pending(store: GraphStore) -> None:
    """Give every text its vector."""
    store.set_embedder(IDENTITY)
    texts = list(store.pending_texts())
    if texts:
        store.put_vectors(texts, np.stack([unit(text) for text in texts]))
    passages = list(store.pending_sentences())
    if passages:
        store.put_sentences(passages, [codes(passage.text) for passage in passages])


def codes(text: str, dimension: int = IDENTITY.dimension) -> Codes:
    """Vectors of the words of a text, none where there is but one: what a store keeps of its sentences."""
    words = text.split()
    rows = [np.round(100 * unit(word, dimension)) for word in words if len(words) > 1]
    return np.array(rows, dtype=np.int8).reshape(len(rows), dimension)


_TITLES = ("A", "B", "C", "a", "b", "A (x)", "B (x)", "é", "%23")
_WORDS = ("red moon", "red", "blue moon moons", "")
_block = st.tuples(st.sampled_from(_WORDS), st.lists(st.sampled_from(_TITLES), max_size=3, unique=True))
_blocks = st.lists(_block, max_size=2)


def _named(page: PageGraph, names: Sequence[tuple[str, str]]) -> PageGraph:
    """The page with the same names in each chunk: uris and kinds."""
    if not names:
        return page
    found = tuple(Name(uri, kind, place, place + 1) for place, (uri, kind) in enumerate(names))
    chunks = tuple(replace(chunk, names=found) for chunk in page.chunks)
    return replace(page, chunks=chunks, content_hash=page.content_hash + repr(names))


def _said(page: PageGraph, places: Sequence[int]) -> PageGraph:
    """The page with places for the first of its relations, in the chunks with these numbers."""
    if not (page.chunks and places):
        return page
    edges = [
        edge._replace(chunk=page.chunks[place % len(page.chunks)].uri, start=place, end=place + 1)
        for edge, place in zip(page.relations, places, strict=False)
    ]
    relations = (*edges, *page.relations[len(edges) :])
    return replace(page, relations=relations, content_hash=page.content_hash + repr(places))


_names = st.lists(st.tuples(st.sampled_from(_TITLES), st.sampled_from(("person", "place", ""))), max_size=3)
pages = st.builds(
    lambda page, names, places: _said(_named(page, names), places),
    st.builds(
        graph,
        title=st.sampled_from(_TITLES),
        lead=_blocks,
        sections=st.fixed_dictionaries({}, optional={"S": _blocks, "T": _blocks}),
        aliases=st.lists(st.sampled_from(_TITLES), max_size=2, unique=True),
        relations=st.lists(st.tuples(st.sampled_from(("r", "A")), st.sampled_from(_TITLES)), max_size=2),
        revision=st.sampled_from((None, 1, 2)),
    ),
    _names,
    st.lists(st.integers(0, 3), max_size=2),
)
"""Pages over few titles, so that they collide, cite and alias one another all the time."""
