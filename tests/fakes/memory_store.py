"""A GraphStore held in dictionaries: no index, no file, every answer worked out from the pages when asked.

It exists to be obviously right. The contract suite runs over it like over any other store, retrievers are
tested on it, and the embedded store is compared with it after random sequences of writes and deletes.
Where the protocol leaves a case open, this is the reading all stores share:

- reads that return a mapping have every asked node as a key, with an empty list for an unknown one
  (``resolve`` and ``lookup_names`` leave unknown ones out);
- a chunk the store does not know has NaN similarities and no terms;
- vectors of texts that no node has are not kept, and aliases of pages that are not there neither;
- of one page twice in a batch the loser still gives its aliases;
- named ``page_graphs`` come in the order asked; their titles are those written, not what they resolve to, their
  aliases all that the page claims, sorted, and their relations by source, type and target;
- a type set by alias is that of the page; of several uris of one entity the last holds; a title that becomes an
  alias is an entity no more, and its type is gone;
- before the first ``set_embedder`` there are no neighbours, and ``vectors`` has no columns.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import numpy as np

from tests.fakes.memory_checker import MemoryChecker
from tests.fakes.memory_graph import MemoryGraph, check, chunk_text, revision
from tests.fakes.memory_vectors import MemoryVectors
from trivium.errors import StoreError
from trivium.graph.allowed_chunks import Allowed
from trivium.graph.filter_values import ChunkFacts, Coded
from trivium.graph.filtered_store import Within
from trivium.graph.filters import Condition
from trivium.graph.model import ChunkNode, PageGraph, QuestionNode, RelationEdge
from trivium.graph.pages import BLOCKS, check_chunker
from trivium.graph.pictures import PictureVectors, join_vectors, refuse_claim
from trivium.graph.protocols import SearchStore
from trivium.graph.records import (
    Adjacency,
    ChunkRecord,
    Codes,
    Neighbour,
    PageRecord,
    Passage,
    Pending,
    Progress,
    Reached,
    SentenceVectors,
    Similarities,
    StoreInfo,
    TermCounts,
    TermStatistics,
    Vectors,
    WaitingTexts,
    WriteReport,
    rank_key,
    round_score,
)
from trivium.graph.schema import (
    QUESTION,
    SCHEMA_VERSION,
    Hop,
    Label,
    RelationshipType,
    embedding_text,
    headings_of,
    unescape,
    without_unrequested,
)
from trivium.graph.vectors import check_vectors, relation_embeddings
from trivium.settings.index_parameters import IndexParameters
from trivium.text.normalise import normalise_name, without_parenthesis
from trivium.types import EmbedderIdentity

K1, B = 1.2, 0.75


def _best(scores: list[float]) -> float:
    known = [score for score in scores if not math.isnan(score)]
    return max(known) if known else math.nan


class MemoryStore:
    """See the module's docstring."""

    def __init__(self) -> None:
        self._graph = MemoryGraph()
        self._vectors = MemoryVectors()
        self._decision: str | None = None
        self._chunker = BLOCKS
        self._languages: str | None = None
        self._links_pending = False
        self._index_parameters = IndexParameters()
        self._image_embedder: EmbedderIdentity | None = None
        self._pictures: dict[int, tuple[ChunkNode, bytes]] = {}

    remote = False

    # -- life ------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """There is nothing to close."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- checking ----------------------------------------------------------------------------------------------

    def checker(self) -> MemoryChecker:
        return MemoryChecker(self._graph, self._vectors)

    # -- writing ---------------------------------------------------------------------------------------------

    def write(self, pages: Sequence[PageGraph], chunker: str | None = None) -> WriteReport:
        if chunker is not None:
            check_chunker(self.chunker, chunker)
            self._chunker = chunker
        chosen: dict[str, PageGraph] = {}
        for page in pages:
            check(page)
            other = chosen.get(page.uri)
            if other is None or revision(page) > revision(other):
                chosen[page.uri] = page
        added = replaced = unchanged = 0
        skipped = []
        for page in chosen.values():
            stored = self._graph.pages.get(page.uri)
            if stored is None:
                added += 1
            elif stored.content_hash == page.content_hash:
                unchanged += 1
                continue
            elif page.revision is not None and page.revision < revision(stored):
                skipped.append(page.uri)
                continue
            else:
                replaced += 1
            self._graph.put(page)
        for page in pages:
            self._graph.claims[page.uri].update(page.aliases)
        self._prune()
        return WriteReport(added, replaced, unchanged, tuple(skipped))

    @property
    def chunker(self) -> str | None:
        return self._chunker if self._graph.pages else None

    def add_aliases(self, aliases: Mapping[str, Sequence[str]]) -> None:
        for uri in aliases:
            if uri in self._graph.pages:
                self._graph.claims[uri].update(aliases[uri])
        self._prune()

    def add_relations(self, relations: Mapping[str, Sequence[RelationEdge]]) -> int:
        count = 0
        for uri in relations:
            if uri in self._graph.pages:
                new = set(relations[uri]) - self._graph.relations_of(uri)
                self._graph.added[uri] |= new
                count += len(new)
        return count

    def put_questions(self, questions: Mapping[str, Sequence[QuestionNode]]) -> int:
        known = {uri: asked for uri, asked in questions.items() if uri in self._graph.pages}
        return sum(self._graph.answer(uri, asked) for uri, asked in known.items())

    def set_types(self, types: Mapping[str, str]) -> int:
        entities, before = self._graph.entities(), dict(self._graph.types)
        after = before | {self._graph.resolve(uri): kind for uri, kind in types.items()}
        self._graph.types = {uri: kind for uri, kind in after.items() if kind and uri in entities}
        self._prune()
        return sum(before.get(uri) != self._graph.types.get(uri) for uri in entities)

    def delete(self, pages: Sequence[str]) -> list[str]:
        wanted = dict.fromkeys(self._graph.resolve(uri) for uri in pages)
        removed = [uri for uri in wanted if self._graph.remove(uri)]
        self._prune()
        return removed

    def pages(self, after: str | None = None, limit: int | None = None) -> list[PageRecord]:
        found = [
            self._record(p) for uri, p in sorted(self._graph.pages.items()) if after is None or uri > after
        ]
        return found if limit is None else found[: max(limit, 0)]

    def page_sources(self) -> list[tuple[str, str]]:
        return [(page.uri, page.source) for page in self.pages()]

    def find_pages(self, uris: Sequence[str]) -> dict[str, PageRecord]:
        return {uri: self._record(self._graph.pages[uri]) for uri in uris if uri in self._graph.pages}

    def pages_with_words(self, names: Sequence[str], *, source: str = "", mark: str = "") -> list[PageRecord]:
        """All pages if there is a name: the oracle of stores that tell which may mention it."""
        return [
            page
            for page in (self.pages() if names else ())
            if page.source.startswith(source) and mark in page.content_hash
        ]

    def pages_at(self, paths: Sequence[str]) -> list[PageRecord]:
        return [page for page in self.pages() if page.path and page.path in paths]

    def pages_of_files(self, names: Sequence[str]) -> list[PageRecord]:
        return [page for page in self.pages() if page.source.rstrip("/").split("/")[-1] in set(names) - {""}]

    def unlinked_pages(self) -> list[str]:
        return [page.uri for page in self.pages() if page.content_hash.endswith(".")]

    def count_pages(self, after: str | None = None) -> int:
        return sum(after is None or uri > after for uri in self._graph.pages)

    def _record(self, page: PageGraph) -> PageRecord:
        return PageRecord(
            page.uri,
            page.source,
            page.revision,
            page.content_hash,
            page.format,
            page.path,
            page.modified,
            page.metadata,
            self._graph.added_at[page.uri],
            page.given,
        )

    def page_graphs(self, uris: Sequence[str] | None = None) -> Iterator[PageGraph]:
        yield from self._graph.page_graphs(uris)

    def types(self) -> dict[str, str]:
        return dict(sorted(self._graph.types.items()))

    # -- embeddings ------------------------------------------------------------------------------------------

    @property
    def embedder(self) -> EmbedderIdentity | None:
        return self._vectors.embedder

    def set_embedder(self, identity: EmbedderIdentity) -> None:
        self._vectors.claim(identity)

    @property
    def fusion_decision(self) -> str | None:
        return self._decision

    def set_fusion_decision(self, decision: str | None) -> None:
        self._decision = decision

    @property
    def links_pending(self) -> bool:
        return self._links_pending

    def set_links_pending(self, pending: bool) -> None:
        self._links_pending = pending

    @property
    def languages(self) -> str | None:
        return self._languages

    def set_languages(self, languages: str | None) -> None:
        self._languages = languages

    @property
    def index_parameters(self) -> IndexParameters:
        return self._index_parameters

    def set_index_parameters(self, parameters: IndexParameters) -> None:
        self._index_parameters = parameters

    def pending_texts(self) -> Pending[str]:
        texts = [text for text in self._graph.texts() if text not in self._vectors]
        return Pending(len(texts), lambda: [texts])

    def put_vectors(self, texts: Sequence[str], vectors: Vectors) -> None:
        self._vectors.put(texts, vectors)
        self._prune()

    def pending_sentences(self) -> Pending[Passage]:
        chunks = [(chunk_text(chunk), chunk) for _, chunk in self._graph.chunks()]
        pending = [chunk for text, chunk in chunks if not self._vectors.has_sentences(text)]
        passages = list(dict.fromkeys(Passage(tuple(headings_of(c.parent)), c.text) for c in pending))
        return Pending(len(passages), lambda: [passages])

    def count_pending_sentences(self) -> int:
        return len(self.pending_sentences())

    def put_sentences(self, passages: Sequence[Passage], codes: Sequence[Codes]) -> None:
        self._vectors.put_sentences([embedding_text(p.headings, p.text) for p in passages], codes)
        self._prune()

    @property
    def image_embedder(self) -> EmbedderIdentity | None:
        return self._image_embedder

    def set_image_embedder(self, identity: EmbedderIdentity) -> None:
        stored = self._image_embedder
        if stored is not None and stored != identity and self.picture_vectors().uris:
            refuse_claim(stored, identity)
        self._image_embedder = identity

    def pending_pictures(self) -> list[str]:
        known = self.picture_vectors().rows
        return sorted(c.uri for _, c in self._graph.chunks() if c.thumbnail and c.uri not in known)

    def put_picture_vectors(self, pictures: Mapping[str, bytes], vectors: Vectors) -> None:
        if self._image_embedder is None:
            raise StoreError("the store has no image embedder yet")
        check_vectors(vectors, len(pictures), self._image_embedder.dimension)
        own = {c.uri: c for _, c in self._graph.chunks()}
        for (uri, picture), vector in zip(pictures.items(), vectors, strict=True):
            if uri in own and own[uri].thumbnail == picture:
                self._pictures[id(own[uri])] = (own[uri], vector.astype("<f4").tobytes())

    def picture_vectors(self) -> PictureVectors:
        """Those of chunks that are still there: one that is written anew is another object."""
        found = {c.uri: self._pictures[id(c)][1] for _, c in self._graph.chunks() if id(c) in self._pictures}
        return join_vectors(found, 0 if self._image_embedder is None else self._image_embedder.dimension)

    def refresh(self, progress: Progress | None = None) -> None:
        if progress is not None:
            progress(1, 1)

    # -- reading ---------------------------------------------------------------------------------------------

    @property
    def location(self) -> str:
        """Where the store is, for people: a folder or an address."""
        return "memory"

    def info(self) -> StoreInfo:
        chunks, sections = self._graph.chunks(), self._graph.sections()
        above = {s.uri: self._graph.ancestors(s.parent) for _, s in sections}
        cites = sum(len(self._graph.cited(c)) for _, c in chunks)
        follows = len(chunks) - len({c.parent for _, c in chunks})
        questions = [each for asked in self._graph.questions.values() for each in asked.values()]
        counts = {
            RelationshipType.HAS_SUBCHAPTER: len(sections),
            RelationshipType.IS_SUBCHAPTER_OF: sum(len(ancestors) for ancestors in above.values()),
            RelationshipType.HAS_CHUNK: len(chunks),
            RelationshipType.IS_CHUNK_OF: sum(len(self._graph.ancestors(c.parent)) for _, c in chunks),
            RelationshipType.NEXT: follows,
            RelationshipType.PREVIOUS: follows,
            RelationshipType.CITES: cites,
            RelationshipType.CITED_IN: cites,
            RelationshipType.SEMANTIC_REL: 2 * len(self._graph.relations()),
            RelationshipType.IS_ANSWER_OF: sum(len(question.chunks) for question in questions),
        }
        nodes = {
            Label.ENTITY: len(self._graph.entities()),
            Label.PAGE: len(self._graph.pages),
            Label.SUBCHAPTER: len(sections),
            Label.CHUNK: len(chunks),
            QUESTION: len({question.uri for question in questions}),
        }
        return StoreInfo(
            location=self.location,
            schema_version=SCHEMA_VERSION,
            embedder=self._vectors.embedder,
            nodes=without_unrequested({str(label): count for label, count in nodes.items()}),
            relationships=without_unrequested({str(kind): count for kind, count in counts.items()}),
            aliases=len(self._graph.aliases()),
            embedded=len(self._vectors),
            to_embed=len(self.pending_texts()),
            chunker=self.chunker,
            index=self._index_parameters.chosen,
        )

    def waiting_texts(self) -> WaitingTexts:
        waiting = len(self.pending_texts())
        return WaitingTexts(waiting, waiting + len(self._vectors))

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]:
        texts = {uri: text for label in labels for uri, text in self._graph.nodes(label).items()}
        found = [Neighbour(uri, self._vectors.cosine(vector, text)) for uri, text in texts.items()]
        found = [n for n in found if not math.isnan(n.score)]
        return sorted(found, key=lambda n: rank_key(n.score, n.uri))[:k]

    def expand_nearest(
        self,
        labels: Sequence[Label],
        vector: Vectors,
        nodes: int,
        hop: Hop,
        limit: int | None,
        *,
        exact: bool = False,
    ) -> list[Reached]:
        chunks = {c.uri: c for _, c in self._graph.chunks()}
        found: dict[str, Reached] = {}
        for node in self.nearest(labels, vector, nodes, exact=exact):
            for uri in self.expand([node.uri], hop)[node.uri]:
                cosine = self._vectors.cosine(vector, chunk_text(chunks[uri]))
                found.setdefault(uri, Reached(uri, node.uri, node.score, cosine, chunks[uri].position))

        def order(r: Reached) -> tuple[float, float, int, str]:
            own = math.inf if math.isnan(r.cosine) else -round_score(r.cosine)
            return (-round_score(r.score), own, r.position, r.uri)

        return sorted(found.values(), key=order)[:limit]

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        wanted = list(dict.fromkeys(terms))
        statistics = self.term_statistics(wanted)
        scored = []
        for _, chunk in self._graph.chunks():
            have = _all_terms(chunk)
            score = 0.0
            for term, df in zip(wanted, statistics.document_frequency, strict=True):
                tf = have.count(term)
                idf = math.log(1 + (statistics.chunks - df + 0.5) / (df + 0.5))
                norm = 1 - B + B * len(have) / statistics.mean_length if tf else 1.0
                score += idf * tf * (K1 + 1) / (tf + K1 * norm)
            if score > 0:
                scored.append((score, chunk.uri))
        return [uri for _, uri in sorted(scored, key=lambda pair: rank_key(*pair))[:k]]

    def term_counts(self, chunks: Sequence[str], terms: Sequence[str]) -> TermCounts:
        nodes = {c.uri: c for _, c in self._graph.chunks()}
        text = [nodes[uri].terms.split() if uri in nodes else [] for uri in chunks]
        headings = [nodes[uri].heading_terms.split() if uri in nodes else [] for uri in chunks]
        shape = (len(chunks), len(terms))
        return TermCounts(
            text=np.array([[have.count(t) for t in terms] for have in text], float).reshape(shape),
            headings=np.array([[have.count(t) for t in terms] for have in headings], float).reshape(shape),
            text_length=np.array([len(have) for have in text], float),
            headings_length=np.array([len(have) for have in headings], float),
            places=np.array(
                [
                    (row, terms.index(word), position)
                    for row, have in enumerate(text)
                    for position, word in enumerate(have)
                    if word in terms
                ],
                np.int64,
            ).reshape(-1, 3),
        )

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics:
        have = [_all_terms(c) for _, c in self._graph.chunks()]
        df = Counter(term for each in have for term in set(each))
        mean = sum(len(each) for each in have) / len(have) if have else 0.0
        return TermStatistics(len(have), mean, np.array([df[t] for t in terms], float))

    def similarities(self, vector: Vectors, chunks: Sequence[str]) -> Similarities:
        nodes = {c.uri: (page, c) for page, c in self._graph.chunks()}
        rows = []
        for uri in chunks:
            if uri not in nodes:
                rows.append([math.nan] * 4)
                continue
            page, chunk = nodes[uri]
            title = self._graph.entity_text(page.uri)
            entities = [
                self._vectors.cosine(vector, self._graph.entity_text(e)) for e in self._graph.cited(chunk)
            ]
            rows.append(
                [
                    self._vectors.cosine(vector, chunk_text(chunk)),
                    self._vectors.cosine(vector, title if chunk.parent == page.uri else chunk.parent),
                    self._vectors.cosine(vector, title),
                    _best(entities),
                ]
            )
        return Similarities(*np.array(rows, float).reshape(len(chunks), 4).T)

    def vectors(self, label: Label, uris: Sequence[str]) -> Vectors:
        texts = self._graph.nodes(label)
        return self._vectors.rows([texts.get(uri) for uri in uris])

    def sentence_vectors(self, chunks: Sequence[str]) -> SentenceVectors:
        texts = self._graph.nodes(Label.CHUNK)
        return self._vectors.sentences([texts.get(uri) for uri in chunks])

    def relation_vectors(self, types: Sequence[str]) -> Vectors:
        known = {relation.type for relation in self._graph.relations()}
        return self._vectors.rows([kind if kind in known else None for kind in types])

    def relation_embeddings(self, relations: Sequence[RelationEdge]) -> Vectors:
        return relation_embeddings(self, relations)

    def relations(self, entities: Sequence[str]) -> list[RelationEdge]:
        asked = set(entities)
        return [r for r in self._graph.relations() if r.source in asked or r.target in asked]

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        outlines: dict[str, list[str]] = {uri: [] for uri in pages}
        for page, section in self._graph.sections():
            if page.uri in outlines:
                outlines[page.uri].append(section.uri)
        return outlines

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {uri: [] for uri in uris}
        for page, chunk in self._graph.chunks():
            starts = {
                Hop.BELOW: [page.uri],
                Hop.CHILD: [chunk.parent],
                Hop.CITED_IN: self._graph.cited(chunk),
            }
            for uri in starts[hop]:
                if uri in found:
                    found[uri].append(chunk.uri)
        return found

    def cited(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        nodes = {c.uri: c for _, c in self._graph.chunks()}
        return {uri: self._graph.cited(nodes[uri]) if uri in nodes else [] for uri in chunks}

    def cited_sections(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        nodes = {c.uri: c for _, c in self._graph.chunks()}
        return {uri: self._graph.cited_sections(nodes[uri]) if uri in nodes else [] for uri in chunks}

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        nodes = {c.uri: (page, c) for page, c in self._graph.chunks()}
        records = []
        for uri in chunks:
            if uri not in nodes:
                raise StoreError(f"there is no chunk {uri!r} in the store")
            page, c = nodes[uri]
            records.append(
                ChunkRecord(
                    *(c.uri, page.uri, c.parent, c.text, c.kind, c.position, c.start, c.end, c.token_count),
                    pages=c.pages,
                    document=page.path or page.source,
                    format=page.format,
                    metadata=page.metadata,
                )
            )
        return records

    def thumbnails(self, chunks: Sequence[str]) -> dict[str, bytes]:
        nodes = {c.uri: c.thumbnail for _, c in self._graph.chunks()}
        return {uri: nodes[uri] for uri in chunks if nodes.get(uri)}

    def page_text(self, page: str) -> str:
        if page not in self._graph.pages:
            raise StoreError(f"there is no page {page!r} in the store")
        return self._graph.pages[page].text

    def resolve(self, titles: Sequence[str]) -> dict[str, str]:
        known = self._graph.entities() | self._graph.aliases().keys()
        return {title: self._graph.resolve(title) for title in titles if title in known}

    def lookup_names(self, names: Sequence[str]) -> dict[str, str]:
        citations = Counter(e for _, c in self._graph.chunks() for e in self._graph.cited(c))
        best: dict[str, tuple[int, bool, int, str]] = {}
        for uri in sorted(self._graph.entities() | self._graph.aliases().keys()):
            entity, title = self._graph.resolve(uri), unescape(uri)
            rest = (entity not in self._graph.pages, -citations[entity], entity)
            full, short = normalise_name(title), normalise_name(without_parenthesis(title))
            for name, kind in ((full, 0 if entity == uri else 1), (short, 2)):
                best[name] = min(best.get(name, (3, *rest)), (kind, *rest))
        return {name: best[name][-1] for name in names if name in best and name}

    def names_like(self, forms: Sequence[str]) -> Iterable[tuple[str, str]]:
        return [
            (title, uri)
            for title, uri in self.names()
            if {normalise_name(title), normalise_name(without_parenthesis(title))} & set(forms)
        ]

    def aliases(self) -> list[str]:
        found = self._graph.aliases()
        return [unescape(alias) for alias in sorted(found) if found[alias] in self._graph.pages]

    def names(self) -> Iterator[tuple[str, str]]:
        aliases = self._graph.aliases()
        for uri in sorted(self._graph.pages):
            yield unescape(uri), uri
            yield from ((unescape(a), uri) for a in sorted(aliases) if aliases[a] == uri)

    def adjacency(self) -> Adjacency:
        chunks = sorted(c.uri for _, c in self._graph.chunks())
        entities = sorted(self._graph.entities())
        chunk_rows = {uri: i for i, uri in enumerate(chunks)}
        entity_rows = {uri: i for i, uri in enumerate(entities)}
        neighbours: list[set[int]] = [set() for _ in range(len(chunks) + len(entities))]
        for page, chunk in self._graph.chunks():
            for entity in (page.uri, *self._graph.cited(chunk)):
                a, b = chunk_rows[chunk.uri], len(chunks) + entity_rows[entity]
                neighbours[a].add(b)
                neighbours[b].add(a)
        indptr = np.cumsum([0, *(len(each) for each in neighbours)]).astype(np.int64)
        indices = np.array([j for each in neighbours for j in sorted(each)], dtype=np.int32)
        own_chunks = np.zeros((len(chunks) + len(entities), 2), dtype=np.int64)
        for entity, row in entity_rows.items():
            rows = [chunk_rows[chunk.uri] for page, chunk in self._graph.chunks() if page.uri == entity]
            own_chunks[len(chunks) + row] = (min(rows), max(rows) + 1) if rows else (0, 0)
        return Adjacency(chunks, entities, indptr, indices, own_chunks, chunk_rows, entity_rows)

    def chunk_uris(self) -> list[str]:
        return [c.uri for _, c in self._graph.chunks()]

    def within(self, condition: Condition) -> SearchStore:
        return MemoryWithin(self, condition)

    def facts(self) -> ChunkFacts:
        """What conditions are about."""
        chunks = {chunk.uri: chunk for _, chunk in self._graph.chunks()}
        uris = sorted(chunks)
        numbers = np.array([chunks[uri].pages or (0, 0) for uri in uris], dtype=np.int64).reshape(-1, 2)
        return ChunkFacts(uris, self.pages, lambda: (Coded.of([chunks[uri].kind for uri in uris]), numbers))

    @contextmanager
    def pinned(self) -> Iterator[Self]:
        """This store."""
        yield self

    def _prune(self) -> None:
        """Drop types and vectors of what is no longer there."""
        self._graph.prune()
        self._vectors.keep(self._graph.texts())


class MemoryWithin(Within):
    """The part of a store that a condition selects: everything is computed, then what does not match is dropped."""

    _store: MemoryStore

    @property
    def allowed(self) -> Allowed:
        return Allowed.of(self._condition, self._store.facts())

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]:
        found = self._store.nearest(labels, vector, 1 << 30, exact=True)
        entities = self._store._graph.entities() if Label.ENTITY in labels else set()
        allowed = entities | self.allowed.uri_set | self.allowed.parents | self.allowed.pages
        return [node for node in found if node.uri in allowed][: max(k, 0)]

    def expand_nearest(
        self,
        labels: Sequence[Label],
        vector: Vectors,
        nodes: int,
        hop: Hop,
        limit: int | None,
        *,
        exact: bool = False,
    ) -> list[Reached]:
        every = self._store.nearest(labels, vector, 1 << 30, exact=True)
        chunks = self.expand([node.uri for node in every], hop)
        leading = [node.uri for node in every if chunks[node.uri]][:nodes]
        allowed = self.allowed.uri_set
        found = self._store.expand_nearest(labels, vector, 1 << 30, hop, None)
        return [each for each in found if each.uri in allowed and each.source_node in leading][:limit]

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        found = self._store.keyword_search(terms, 1 << 30)
        allowed = self.allowed.uri_set
        return [uri for uri in found if uri in allowed][: max(k, 0)]


def _all_terms(chunk: ChunkNode) -> list[str]:
    return chunk.heading_terms.split() + chunk.terms.split()
