"""Everything a store answers, gathered so that two stores can be compared."""

from __future__ import annotations

from typing import Any

from tests.contract.graphs import unit
from trivium.graph.protocols import GraphStore
from trivium.graph.schema import Hop, Label

QUESTIONS = ("first", "second")
TERMS = ("red", "moon", "blue", "none")


def state_of(store: GraphStore) -> dict[str, Any]:
    """The answers of a store to every kind of read, floats to 6 digits."""
    info = store.info()
    chunks = store.chunk_uris()
    adjacency = store.adjacency()
    entities, pages = list(adjacency.entities), [page.uri for page in store.pages()]
    outline = store.outline(pages)
    sections = [uri for uris in outline.values() for uri in uris]
    titles = sorted({title for title, _ in store.names()} | set(entities))
    types = sorted({r.type for r in store.relations(entities)})
    sentences = store.sentence_vectors(chunks)
    statistics, counts = store.term_statistics(TERMS), store.term_counts(chunks, TERMS)
    return {
        "pages": store.pages(),
        "graphs": list(store.page_graphs()),
        "types": store.types(),
        "named": list(store.named_in(["A", "a", "A (x)", "%23", "none"])),
        "texts": [store.page_text(uri) for uri in pages],
        "nodes": dict(info.nodes),
        "relationships": dict(info.relationships),
        "aliases": info.aliases,
        "embedded": (info.embedded, info.to_embed),
        "pending": list(store.pending_texts()),
        "records": store.fetch(chunks),
        "outline": outline,
        "below": store.expand(pages, Hop.BELOW),
        "children": store.expand([*pages, *sections], Hop.CHILD),
        "cited_in": store.expand(entities, Hop.CITED_IN),
        "cited": store.cited(chunks),
        "relations": store.relations(entities),
        "names": list(store.names()),
        "aliases of pages": store.aliases(),
        "resolved": store.resolve(titles),
        "lookup": store.lookup_names(["a", "b", "c", "a x", "b x", "é", "23", ""]),
        "links": (
            list(adjacency.chunks),
            entities,
            adjacency.indptr.tolist(),
            adjacency.indices.tolist(),
            adjacency.own_chunks.tolist(),
            [adjacency.chunk_rows[uri] for uri in adjacency.chunks],
            [adjacency.entity_rows[uri] for uri in adjacency.entities],
        ),
        "statistics": (statistics.chunks, statistics.mean_length, statistics.document_frequency.tolist()),
        "counts": [
            each.tolist()
            for each in (
                counts.text,
                counts.headings,
                counts.text_length,
                counts.headings_length,
                counts.places,
            )
        ],
        "words": sorted(store.keyword_search(TERMS, 1000)),
        "vectors": {
            "entity": store.vectors(Label.ENTITY, entities).tobytes(),
            "page": store.vectors(Label.PAGE, pages).tobytes(),
            "section": store.vectors(Label.SUBCHAPTER, sections).tobytes(),
            "chunk": store.vectors(Label.CHUNK, chunks).tobytes(),
            "relation": store.relation_vectors(types).tobytes(),
        },
        "sentences": [part.tolist() for part in (sentences.codes, sentences.starts)],
        "pending_sentences": list(store.pending_sentences()),
        "searches": [_searches(store, question, chunks) for question in QUESTIONS],
    }


def _searches(store: GraphStore, question: str, chunks: list[str]) -> dict[str, Any]:
    vector = unit(question)
    similarities = store.similarities(vector, chunks)
    hops = (
        ([Label.PAGE], Hop.BELOW),
        ([Label.SUBCHAPTER, Label.PAGE], Hop.CHILD),
        ([Label.ENTITY], Hop.CITED_IN),
    )
    return {
        "nearest": [
            [(n.uri, f"{n.score:.6g}") for n in store.nearest(labels, vector, 4, exact=True)]
            for labels in ([Label.CHUNK], [Label.SUBCHAPTER, Label.PAGE], [Label.PAGE, Label.ENTITY])
        ],
        "reached": [
            [
                (r.uri, r.source_node, f"{r.score:.6g}", f"{r.cosine:.6g}", r.position)
                for r in store.expand_nearest(labels, vector, 3, hop, limit, exact=True)
            ]
            for labels, hop in hops
            for limit in (None, 0, 3)
        ],
        "similarities": [
            [f"{value:.6g}" for value in view]
            for view in (similarities.chunk, similarities.section, similarities.page, similarities.entity)
        ],
    }
