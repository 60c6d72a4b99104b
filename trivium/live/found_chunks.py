"""Converts documents of live sources to chunks like those of a store: split, named, with search terms and vectors.
Content that the collection already has is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import dots
from trivium.common.cache import LruCache
from trivium.embedding.embedder import Embedder, deduplicate, quantize_int8
from trivium.embedding.late_chunking import embedded_headings
from trivium.graph.protocols import SearchStore
from trivium.graph.records import ChunkRecord, Codes, PageRecord, Passage, Vectors
from trivium.graph.schema import Hop, chunk_uri, embedding_text, entity_text, page_uri, section_uri
from trivium.graph.stored_vectors import sentence_texts
from trivium.live.ask_sources import FoundDocument
from trivium.live.source import LivePassage
from trivium.parser.split_blocks import split_points
from trivium.text.headings_in_passages import body_of
from trivium.text.languages import Analyzer, StoreLanguages
from trivium.text.normalise import count_tokens, normalise_heading, normalise_title
from trivium.types import ChunkKind, LiveOrigin

MAX_CHUNKS = 100
"""Maximum number of chunks per question, first documents first. All have to be embedded while the user waits."""
WITH_SENTENCES = 12
"""Number of chunks closest to the question whose sentences are embedded as well."""
_MAX_HEADING = 200
_REMEMBERED = 4_096
_BETWEEN = re.compile(r"(?<!\s)\s++(?:[-–—|·•»]|::)\s+")
"""Separator between the title of a page and the name of its site in a search engine's title."""


@dataclass(frozen=True, slots=True)
class LiveChunk:
    """A chunk of a document outside the collection. ``headings`` begin with the original title; in the uri the host is
    appended to it, so that it cannot be confused with a page of the collection.
    """

    record: ChunkRecord
    headings: tuple[str, ...]
    terms: str
    heading_terms: str
    origin: LiveOrigin
    page: PageRecord

    @property
    def page_text(self) -> str:
        """The text that is embedded for its page."""
        return entity_text(page_uri(self.headings[0]))

    @property
    def section_text(self) -> str:
        """The text that is embedded for its section."""
        parent = page_uri(self.headings[0])
        if len(self.headings) == 1:
            return self.page_text
        for heading in self.headings[1:]:
            parent = section_uri(parent, heading)
        return parent


@dataclass(frozen=True)
class EmbeddedChunks:
    """Chunks with their vectors (n x d), those of their sections and pages, and of the sentences (m x d each) of the
    chunks closest to the question; without rows for other chunks.
    """

    chunks: tuple[LiveChunk, ...]
    vectors: Vectors
    sections: Vectors
    pages: Vectors
    sentences: tuple[Codes, ...]

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Maps uris to rows."""
        return {chunk.record.uri: row for row, chunk in enumerate(self.chunks)}

    def take(self, rows: NDArray[np.int64]) -> EmbeddedChunks:
        """Return a subset of the rows."""
        some = rows.tolist()
        return EmbeddedChunks(
            tuple(self.chunks[row] for row in some),
            self.vectors[rows],
            self.sections[rows],
            self.pages[rows],
            tuple(self.sentences[row] for row in some),
        )


class TextVectors:
    """Caches vectors of texts: the next question of a conversation often finds the same documents. Thread-safe."""

    def __init__(self) -> None:
        self._known: LruCache[str, Vectors] = LruCache(_REMEMBERED)

    def of(self, texts: Sequence[str], embedder: Embedder) -> Vectors:
        """Return the vectors (n x d) of the texts, in order."""
        unique, places = deduplicate(texts)
        state = embedder.identity
        known = self._known.find(state, unique)
        new = [text for text in unique if text not in known]
        if new:
            vectors = dict(zip(new, embedder.embed(new), strict=True))
            self._known.put(state, vectors)
            known |= vectors
        if not texts:
            return np.zeros((0, state.dimension), dtype=np.float32)
        return np.stack([known[unique[place]] for place in places])


def embed_chunks(
    chunks: Sequence[LiveChunk], question: str, embedder: Embedder | None, known: TextVectors
) -> EmbeddedChunks:
    """Embed the chunks with the store's embedder. Without one only keyword search is possible, and the vectors have no
    columns.
    """
    if embedder is None:
        nothing = np.zeros((len(chunks), 0), dtype=np.float32)
        no_sentences = np.zeros((0, 0), dtype=np.int8)
        return EmbeddedChunks(tuple(chunks), nothing, nothing, nothing, tuple(no_sentences for _ in chunks))
    headings = [embedded_headings(embedder.identity, chunk.headings) for chunk in chunks]
    texts = [
        [embedding_text(own, chunk.record.body), chunk.section_text, chunk.page_text]
        for own, chunk in zip(headings, chunks, strict=True)
    ]
    vectors = known.of([text for own in texts for text in own], embedder).reshape(len(chunks), 3, -1)
    cosines = dots(vectors[:, 0], embedder.embed_query(question)) if chunks else np.zeros(0)
    closest = np.argsort(-cosines, kind="stable")[:WITH_SENTENCES].tolist()
    of_closest = {
        row: sentence_texts(Passage(chunks[row].headings, chunks[row].record.text), headings[row])
        for row in closest
    }
    codes = quantize_int8(known.of([text for row in closest for text in of_closest[row]], embedder))
    sentences = [codes[:0]] * len(chunks)
    begin = 0
    for row in closest:
        end = begin + len(of_closest[row])
        sentences[row] = codes[begin:end]
        begin = end
    return EmbeddedChunks(tuple(chunks), vectors[:, 0], vectors[:, 1], vectors[:, 2], tuple(sentences))


def cut_chunks(documents: Sequence[FoundDocument], store: SearchStore) -> list[LiveChunk]:
    """Split documents into at most :data:`MAX_CHUNKS` chunks, without those that the store contains."""
    analyzer = StoreLanguages.read(store.languages).analyzer
    taken: set[str] = set()
    chunks: list[LiveChunk] = []
    for found, held in zip(documents, _held(documents, store), strict=True):
        if held is None:
            continue
        for chunk in _chunks(found, taken, analyzer):
            if not held or _squeezed(chunk.record.text) not in held:
                chunks.append(chunk)
            if len(chunks) == MAX_CHUNKS:
                return chunks
    return chunks


def _chunks(found: FoundDocument, taken: set[str], analyzer: Analyzer) -> Iterator[LiveChunk]:
    document = found.document
    title = normalise_title(document.title)
    uri = _free_uri(title, urlsplit(document.address).netloc, taken)
    published = found.origin.published
    page = PageRecord(
        uri, document.address, None, "", found.format, "", published, {"source_name": found.origin.source}
    )
    offset = 0
    numbers: dict[str, int] = {}
    passages = document.passages or (LivePassage((), document.text),)
    for passage in passages:
        headings = tuple(
            normalise_heading(heading)[:_MAX_HEADING] or "Untitled" for heading in passage.headings
        )
        section = uri
        for heading in headings:
            section = section_uri(section, heading)
        above = (title, *headings)
        heading_terms = " ".join(analyzer.terms(" ".join(above)))
        spans = [(0, len(passage.text))] if document.whole else split_points(passage.text)
        for start, end in spans:
            numbers[section] = numbers.get(section, 0) + 1
            text = passage.text[start:end]
            body = body_of(text, above)
            yield LiveChunk(
                ChunkRecord(
                    uri=chunk_uri(section, numbers[section]),
                    page=uri,
                    section=section,
                    text=text,
                    kind=passage.kind if passage.kind in _KINDS else str(ChunkKind.PARAGRAPH),
                    position=sum(numbers.values()) - 1,
                    start=offset + start,
                    end=offset + end,
                    token_count=count_tokens(body),
                    document=document.address,
                    format=found.format,
                    metadata={} if published is None else {"published": published},
                ),
                above,
                " ".join(analyzer.terms(body)),
                heading_terms,
                found.origin,
                page,
            )
        offset += len(passage.text) + 2


_KINDS = frozenset(map(str, ChunkKind))


def _free_uri(title: str, host: str, taken: set[str]) -> str:
    shown = f"{title} ({host.rpartition('@')[2].removeprefix('www.')})"
    uri = page_uri(shown)
    number = 2
    while uri in taken:
        uri = page_uri(f"{shown} {number}")
        number += 1
    taken.add(uri)
    return uri


# -- comparison with the collection ------------------------------------------------------------------------------


def _held(documents: Sequence[FoundDocument], store: SearchStore) -> list[str | None]:
    """Return for each document None if the collection contains it, else the text of the page with its title, empty if
    there is none.
    """
    titles = [_titles(found.document.title) for found in documents]
    known = store.resolve(list(dict.fromkeys(title for own in titles for title in own)))
    pages = list(dict.fromkeys(known.values()))
    chunks = store.expand(pages, Hop.BELOW) if pages else {}
    first = {page: own[0] for page, own in chunks.items() if own}
    shown = dict(zip(first, (record.document for record in store.fetch(list(first.values()))), strict=True))
    texts: dict[str, str] = {}
    held: list[str | None] = []
    for found, own in zip(documents, titles, strict=True):
        page = next((known[title] for title in own if known.get(title) in shown), None)
        if page is None:
            held.append("")
        elif shown[page] in _names(found):
            held.append(None)
        else:
            if page not in texts:
                texts[page] = _squeezed(store.page_text(page))
            held.append(texts[page])
    return held


def _titles(title: str) -> list[str]:
    """Return possible titles of the page in the collection, because a search engine appends the name of the site."""
    whole = normalise_title(title)
    parts = [whole, _BETWEEN.split(whole)[0]]
    return [page_uri(part) for part in dict.fromkeys(parts) if part]


def _names(found: FoundDocument) -> set[str]:
    """Return the names that a hit of the collection would have for this document."""
    address = found.document.address
    parts = urlsplit(address)
    place = f"{parts.netloc.lower()}/{unquote(parts.path).lstrip('/')}"
    place = f"{place}index.html" if place.endswith("/") else place
    return {address, place, *found.document.names}


def _squeezed(text: str) -> str:
    return " ".join(text.split())
