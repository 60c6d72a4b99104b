"""What is read of a source of truth without its index, and the index itself."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trivium.graph.arrays.filtered_search import ArrayWithin
from trivium.graph.arrays.in_memory_store import Facts, HeldReads, HeldStore, made_index
from trivium.graph.arrays.rows_by_uri import (
    KeyedChunk,
    KeyedEntity,
    KeyedNodes,
    KeyedRows,
    KeyedSection,
    Nodes,
)
from trivium.graph.arrays.snapshot import IndexSnapshot
from trivium.graph.filter_conditions import Condition
from trivium.graph.filter_matching import ChunkFacts
from trivium.graph.node_properties import names_of
from trivium.graph.page_facts import BLOCKS
from trivium.graph.page_graph import PageGraph, RelationEdge
from trivium.graph.records import PageRecord, Passage, Pending, StoreInfo, Vectors, WaitingTexts, unknown_page
from trivium.graph.schema import SCHEMA_VERSION, headings_as_text, unescape
from trivium.graph.source_store.derived_graph import Graph, chunk_text
from trivium.graph.stored_vectors import PictureVectors, join_vectors, relation_embeddings
from trivium.settings.settings import load_settings
from trivium.text.normalise import normalise_name, without_parenthesis
from trivium.types import EmbedderIdentity


@dataclass(frozen=True)
class Searchable:
    """A graph with the vectors (bytes) of its texts and of the sentences of its chunks, by text."""

    graph: Graph
    texts: Mapping[str, bytes]
    sentences: Mapping[str, bytes]
    dimension: int

    @cached_property
    def held(self) -> HeldStore[None]:
        """The index and what else a search reads."""
        rows = KeyedRows(self.nodes(), self.dimension)
        return HeldStore(None, made_index(rows, "", load_settings().approximate_from), self._facts())

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors (n, d) of texts, NaN without one."""
        found = np.full((len(texts), self.dimension), np.nan, dtype=np.float32)
        for row, text in enumerate(texts):
            if text in self.texts:
                found[row] = np.frombuffer(self.texts[text], dtype="<f4")
        return found

    def nodes(self) -> KeyedNodes:
        """Return all nodes of the index."""
        graph = self.graph
        texts = [chunk_text(chunk) for _, chunk in graph.chunks.values()]
        chunks = [
            KeyedChunk(
                chunk.uri,
                page.uri,
                chunk.parent,
                chunk.position,
                " ".join(chunk.heading_terms.split()),
                " ".join(chunk.terms.split()),
                graph.cited[chunk.uri],
                chunk.kind,
                chunk.pages or (0, 0),
                self.sentences.get(text, b""),
            )
            for text, (page, chunk) in zip(texts, graph.chunks.values(), strict=True)
        ]
        sections = [
            KeyedSection(uri, page.uri, section.position) for uri, (page, section) in graph.sections.items()
        ]
        entities = [KeyedEntity(uri, uri in graph.pages) for uri in graph.entities]
        return KeyedNodes(
            Nodes.of(chunks, [self.vectors(texts)], self.dimension),
            Nodes.of(sections, [self.vectors(list(graph.sections))], self.dimension),
            Nodes.of(entities, [self.vectors(list(graph.entities.values()))], self.dimension),
        )

    def _facts(self) -> Facts:
        graph = self.graph
        relations: dict[str, list[RelationEdge]] = {}
        for edge in graph.relations:
            relations.setdefault(edge.source, []).append(edge)
        return Facts(
            chunks={
                uri: (
                    chunk.text,
                    chunk.kind,
                    chunk.start,
                    chunk.end,
                    chunk.token_count,
                    *(chunk.pages or (None, None)),
                )
                for uri, (_, chunk) in graph.chunks.items()
            },
            pages={record.uri: record for record in graph.records},
            names={uri: names_of(uri) for uri in graph.entities},
            relations=relations,
            aliases={alias: (*names_of(alias), page) for alias, page in graph.aliases.items()},
            types=dict(zip(graph.relation_types, self.vectors(graph.relation_types), strict=True)),
        )


@dataclass(frozen=True)
class Content:
    """What a source of truth holds in the state ``key``."""

    key: Hashable
    settings: Mapping[str, str]
    searchable: Searchable
    pictures: Mapping[str, bytes]

    def embedder(self, name: str) -> EmbedderIdentity | None:
        """Return the embedder that a setting names."""
        value = self.settings.get(name)
        return None if value is None else EmbedderIdentity(**json.loads(value))


class SourceReads(HeldReads):
    """The part of a :class:`~trivium.graph.protocols.GraphStore` that reads the content of a source of truth."""

    remote = False

    @abstractmethod
    def _now(self) -> Content:
        """Return the content of the committed state."""

    @abstractmethod
    def pinned(self) -> AbstractContextManager[SourceReads]: ...

    @property
    @abstractmethod
    def location(self) -> str:
        """Where the store is, for display."""

    @property
    def _graph(self) -> Graph:
        return self._now().searchable.graph

    def _held(self) -> HeldStore[None]:
        return self._now().searchable.held

    def _setting(self, name: str) -> str | None:
        return self._now().settings.get(name)

    # -- pages -----------------------------------------------------------------------------------------------

    def pages(self, after: str | None = None, limit: int | None = None) -> list[PageRecord]:
        found = [page for page in self._graph.records if after is None or page.uri > after]
        return found if limit is None else found[: max(limit, 0)]

    def find_pages(self, uris: Sequence[str]) -> dict[str, PageRecord]:
        known = {page.uri: page for page in self._graph.records}
        return {uri: known[uri] for uri in uris if uri in known}

    def pages_with_words(self, names: Sequence[str], *, source: str = "", mark: str = "") -> list[PageRecord]:
        """See the protocol. Words are not looked up: returns all pages if there is a name."""
        pages = self._graph.records if names else []
        return [page for page in pages if page.source.startswith(source) and mark in page.content_hash]

    def pages_at(self, paths: Sequence[str]) -> list[PageRecord]:
        wanted = set(paths) - {""}
        return [page for page in self._graph.records if page.path in wanted]

    def pages_of_files(self, names: Sequence[str]) -> list[PageRecord]:
        wanted = set(names) - {""}
        return [page for page in self._graph.records if page.source.rstrip("/").rpartition("/")[2] in wanted]

    def unlinked_pages(self) -> list[str]:
        return [page.uri for page in self._graph.records if page.content_hash.endswith(".")]

    def count_pages(self) -> int:
        return len(self._graph.stored)

    def page_graphs(self, uris: Sequence[str] | None = None) -> Iterator[PageGraph]:
        """See the protocol. Named pages come in the order asked."""
        pages = self._graph.pages
        return (pages[uri] for uri in (pages if uris is None else uris) if uri in pages)

    def page_text(self, page: str) -> str:
        if page not in self._graph.pages:
            raise unknown_page(page)
        return self._graph.pages[page].text

    def named_in(self, names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
        wanted = set(names)
        return iter(
            sorted(
                (name.uri, uri, name.kind)
                for uri, (_, chunk) in self._graph.chunks.items()
                for name in chunk.names
                if name.uri in wanted
            )
        )

    @property
    def entities(self) -> str | None:
        return self._setting("entities")

    def types(self, entities: Sequence[str] | None = None) -> dict[str, str]:
        known = self._graph.types
        return {
            uri: known[uri] for uri in sorted(known if entities is None else known.keys() & set(entities))
        }

    def info(self) -> StoreInfo:
        content = self._now()
        searchable = content.searchable
        nodes, relationships = searchable.graph.counts()
        return StoreInfo(
            location=self.location,
            schema_version=SCHEMA_VERSION,
            embedder=content.embedder("embedder"),
            nodes=nodes,
            relationships=relationships,
            aliases=len(searchable.graph.aliases),
            embedded=len(searchable.texts),
            to_embed=len(searchable.graph.texts) - len(searchable.texts),
            chunker=self.chunker,
        )

    def waiting_texts(self) -> WaitingTexts:
        searchable = self._now().searchable
        texts = len(searchable.graph.texts)
        return WaitingTexts(texts - len(searchable.texts), texts)

    # -- searching -------------------------------------------------------------------------------------------

    def within(self, condition: Condition) -> ArrayWithin:
        """See the protocol."""
        return ArrayWithin(self, condition, self._current, self._facts)

    def _facts(self, index: IndexSnapshot) -> ChunkFacts | None:
        held = self._held()
        return held.chunk_facts(index) if held.index is index else None

    def cited_sections(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        graph = self._graph
        return {uri: graph.cited_sections(uri) for uri in chunks}

    def thumbnails(self, chunks: Sequence[str]) -> dict[str, bytes]:
        known = self._graph.chunks
        return {uri: known[uri][1].thumbnail for uri in chunks if uri in known and known[uri][1].thumbnail}

    def resolve(self, titles: Sequence[str]) -> dict[str, str]:
        graph = self._graph
        return {
            title: graph.resolve(title)
            for title in titles
            if title in graph.entities or title in graph.aliases
        }

    def names(self) -> Iterator[tuple[str, str]]:
        graph = self._graph
        for uri in graph.pages:
            yield unescape(uri), uri
            yield from ((unescape(alias), uri) for alias, page in graph.aliases.items() if page == uri)

    def names_like(self, forms: Sequence[str]) -> Iterable[tuple[str, str]]:
        wanted = set(forms)
        return [
            (title, uri)
            for title, uri in self.names()
            if wanted & {normalise_name(title), normalise_name(without_parenthesis(title))}
        ]

    def aliases(self) -> list[str]:
        return [unescape(alias) for alias in self._graph.aliases]

    def chunk_uris(self) -> list[str]:
        return list(self._graph.chunks)

    # -- settings and vectors ---------------------------------------------------------------------------------

    @property
    def chunker(self) -> str | None:
        return (self._setting("chunker") or BLOCKS) if self._graph.stored else None

    @property
    def fusion_decision(self) -> str | None:
        return self._setting("fusion")

    @property
    def links_pending(self) -> bool:
        return self._setting("links_pending") is not None

    @property
    def languages(self) -> str | None:
        return self._setting("languages")

    @property
    def embedder(self) -> EmbedderIdentity | None:
        return self._now().embedder("embedder")

    @property
    def image_embedder(self) -> EmbedderIdentity | None:
        return self._now().embedder("image_embedder")

    def pending_texts(self) -> Pending[str]:
        searchable = self._now().searchable
        texts = [text for text in searchable.graph.texts if text not in searchable.texts]
        return Pending(len(texts), lambda: [texts])

    def pending_sentences(self) -> Pending[Passage]:
        searchable = self._now().searchable
        passages = dict.fromkeys(
            Passage(tuple(headings_as_text(chunk.parent)), chunk.text)
            for text, chunk in searchable.graph.passages.items()
            if text not in searchable.sentences
        )
        return Pending(len(passages), lambda: [list(passages)])

    def count_pending_sentences(self) -> int:
        return len(self.pending_sentences())

    def pending_pictures(self) -> list[str]:
        content = self._now()
        chunks = content.searchable.graph.chunks
        return sorted(
            uri for uri, (_, chunk) in chunks.items() if chunk.thumbnail and uri not in content.pictures
        )

    def picture_vectors(self) -> PictureVectors:
        embedder = self.image_embedder
        return join_vectors(self._now().pictures, 0 if embedder is None else embedder.dimension)

    def relation_embeddings(self, relations: Sequence[RelationEdge]) -> Vectors:
        return relation_embeddings(self, relations)
