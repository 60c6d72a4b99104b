"""Copies the documents of a store into several, with their vectors: nothing is embedded anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from trivium.common.iteration import batched
from trivium.common.progress import Progress
from trivium.errors import StoreError
from trivium.graph.model import PageGraph
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Passage, Vectors
from trivium.graph.schema import Label, embedding_text, entity_text, headings_of
from trivium.graph.sharded.create import page_uris
from trivium.graph.sharded.names import linked_titles, with_links_to

_PAGES = 50


def split(source: GraphStore, targets: Sequence[GraphStore], progress: Progress | None = None) -> None:
    """Copy every document of a store into one of the empty ``targets``, each time into the one that has the fewest
    passages so far. Redirects are resolved, since the page that they lead to may be in another one.

    ``progress`` counts documents. Raises StoreError if links of the store are still to be made.
    """
    if source.links_pending:
        raise StoreError(
            f"a load of {source.location} was interrupted: complete it first (trivium add, or build)"
        )
    types, unembedded = source.types(), frozenset(source.pending_sentences())
    for target in targets:
        target.set_languages(source.languages)
        target.set_index_parameters(source.index_parameters)
        if source.embedder is not None:
            target.set_embedder(source.embedder)
        if source.image_embedder is not None:
            target.set_image_embedder(source.image_embedder)
    uris, done = page_uris(source), 0
    sizes = [0] * len(targets)
    for some in batched(uris, _PAGES):
        parts: list[list[PageGraph]] = [[] for _ in targets]
        pages = _with_held_aliases(source, some)
        for page in with_links_to(pages, source.resolve(linked_titles(pages))):
            number = sizes.index(min(sizes))
            sizes[number] += max(1, len(page.chunks))
            parts[number].append(page)
        for target, pages in zip(targets, parts, strict=True):
            if pages:
                _copy(source, target, pages, types, unembedded)
        done += len(some)
        if progress is not None:
            progress(done, len(uris))
    for target in targets:
        target.refresh()


def _with_held_aliases(source: GraphStore, uris: Sequence[str]) -> list[PageGraph]:
    """Return pages without the aliases that another page holds or is called: it may be in another shard."""
    pages = list(source.page_graphs(uris))
    held = source.resolve(sorted({alias for page in pages for alias in page.aliases}))
    return [
        replace(page, aliases=tuple(alias for alias in page.aliases if held.get(alias) == page.uri))
        for page in pages
    ]


def _copy(
    source: GraphStore,
    target: GraphStore,
    pages: Sequence[PageGraph],
    types: Mapping[str, str],
    unembedded: frozenset[Passage],
) -> None:
    target.write(pages, source.chunker)
    entities = sorted({page.uri for page in pages}.union(*map(_mentioned, pages)))
    target.set_types({uri: types[uri] for uri in entities if uri in types})
    if source.embedder is None:
        return
    chunks = [chunk for page in pages for chunk in page.chunks]
    sections = [section.uri for page in pages for section in page.sections]
    kinds = sorted({relation.type for page in pages for relation in page.relations})
    passages = [Passage(tuple(headings_of(chunk.parent)), chunk.text) for chunk in chunks]
    uris = [chunk.uri for chunk in chunks]
    texts = [
        *(embedding_text(passage.headings, passage.text) for passage in passages),
        *sections,
        *(entity_text(uri, types.get(uri, "")) for uri in entities),
        *kinds,
    ]
    _put_vectors(
        target,
        texts,
        np.concatenate(
            [
                source.vectors(Label.CHUNK, uris),
                source.vectors(Label.SUBCHAPTER, sections),
                source.vectors(Label.ENTITY, entities),
                source.relation_vectors(kinds),
            ]
        ),
    )
    sentences = source.sentence_vectors(uris)
    codes = [
        sentences.codes[first:last]
        for first, last in zip(sentences.starts, sentences.starts[1:], strict=False)
    ]
    kept = [row for row, passage in enumerate(passages) if passage not in unembedded]
    target.put_sentences([passages[row] for row in kept], [codes[row] for row in kept])
    if source.image_embedder is not None:
        pictures, rows = source.picture_vectors(), source.picture_vectors().rows
        shown = {chunk.uri: chunk.thumbnail for chunk in chunks if chunk.thumbnail and chunk.uri in rows}
        target.put_picture_vectors(shown, pictures.vectors[[rows[uri] for uri in shown]])


def _put_vectors(target: GraphStore, texts: Sequence[str], vectors: Vectors) -> None:
    there = np.flatnonzero(~np.isnan(vectors[:, 0]))
    target.put_vectors([texts[row] for row in there.tolist()], vectors[there])


def _mentioned(page: PageGraph) -> Iterator[str]:
    for chunk in page.chunks:
        yield from chunk.cites
    for relation in page.relations:
        yield from (relation.source, relation.target)
