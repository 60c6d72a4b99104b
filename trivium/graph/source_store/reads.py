"""What is read of a source of truth without its index, and the index itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager

from trivium.graph.arrays.filtered import ArrayWithin
from trivium.graph.arrays.held import HeldReads, HeldStore
from trivium.graph.arrays.snapshot import IndexSnapshot
from trivium.graph.filter_values import ChunkFacts
from trivium.graph.filters import Condition
from trivium.graph.model import PageGraph, RelationEdge
from trivium.graph.pages import BLOCKS
from trivium.graph.pictures import PictureVectors, join_vectors
from trivium.graph.records import PageRecord, Passage, Pending, StoreInfo, Vectors, WaitingTexts, unknown_page
from trivium.graph.schema import SCHEMA_VERSION, headings_of, unescape
from trivium.graph.source_store.content import Content
from trivium.graph.source_store.graph import Graph
from trivium.graph.vectors import relation_embeddings
from trivium.text.normalise import normalise_name, without_parenthesis
from trivium.types import EmbedderIdentity


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

    def types(self) -> dict[str, str]:
        return dict(sorted(self._graph.types.items()))

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
            Passage(tuple(headings_of(chunk.parent)), chunk.text)
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
