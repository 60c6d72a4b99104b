"""A store that works every answer out when asked: no index, no file.

It exists to be obviously right. Retrievers are tested on it, and the other stores are compared with it after random
sequences of writes and deletes. What it keeps, and which graph follows from that, is a
:class:`~trivium.graph.source_store.SourceStore` over dictionaries; each search is done here, by the definition.
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
from collections.abc import Sequence

import numpy as np

from tests.fakes.dict_store import DictStore
from trivium.errors import StoreError
from trivium.graph.filter_conditions import Condition
from trivium.graph.filter_matching import Allowed, ChunkFacts, Coded
from trivium.graph.filtered_store import Within
from trivium.graph.page_graph import ChunkNode, RelationEdge
from trivium.graph.protocols import SearchStore
from trivium.graph.records import (
    Adjacency,
    ChunkRecord,
    Neighbour,
    Progress,
    Reached,
    SentenceVectors,
    Similarities,
    TermCounts,
    TermStatistics,
    Vectors,
    rank_key,
    round_score,
)
from trivium.graph.schema import Hop, Label, unescape
from trivium.graph.source_store.derived_graph import chunk_text
from trivium.graph.stored_vectors import join_codes
from trivium.text.normalise import normalise_name, without_parenthesis

K1, B = 1.2, 0.75


def _best(scores: list[float]) -> float:
    known = [score for score in scores if not math.isnan(score)]
    return max(known) if known else math.nan


class MemoryStore(DictStore):
    """See the module's docstring."""

    def refresh(self, progress: Progress | None = None) -> None:
        """There is no index."""
        if progress is not None:
            progress(1, 1)

    def look_ahead(self, vectors: Sequence[Vectors], like: Vectors) -> None:
        """There is nothing to prepare."""

    def nodes(self, label: Label) -> dict[str, str]:
        """uri -> embedded text of every node of a label."""
        graph = self._graph
        if label is Label.CHUNK:
            return {uri: chunk_text(chunk) for uri, (_, chunk) in graph.chunks.items()}
        if label is Label.SUBCHAPTER:
            return {uri: uri for uri in graph.sections}
        return {uri: graph.entities[uri] for uri in (graph.pages if label is Label.PAGE else graph.entities)}

    def cosine(self, vector: Vectors, text: str) -> float:
        """Cosine of a unit vector with that of a text, NaN where the text has none."""
        (mine,) = self.rows([text])
        return (
            float(np.clip(mine.astype(np.float64) @ vector.astype(np.float64), -1.0, 1.0))
            if len(mine)
            else math.nan
        )

    def rows(self, texts: Sequence[str | None]) -> Vectors:
        """Vectors of texts (n x d), NaN rows where there is none."""
        searchable = self._now().searchable
        rows = np.full((len(texts), searchable.dimension), np.nan, dtype=np.float32)
        for row, text in enumerate(texts):
            if text is not None and text in searchable.texts:
                rows[row] = np.frombuffer(searchable.texts[text], dtype="<f4")
        return rows

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]:
        texts = {uri: text for label in labels for uri, text in self.nodes(label).items()}
        found = [Neighbour(uri, self.cosine(vector, text)) for uri, text in texts.items()]
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
        chunks = {uri: chunk for uri, (_, chunk) in self._graph.chunks.items()}
        found: dict[str, Reached] = {}
        for node in self.nearest(labels, vector, nodes, exact=exact):
            for uri in self.expand([node.uri], hop)[node.uri]:
                cosine = self.cosine(vector, chunk_text(chunks[uri]))
                found.setdefault(uri, Reached(uri, node.uri, node.score, cosine, chunks[uri].position))

        def order(r: Reached) -> tuple[float, float, int, str]:
            own = math.inf if math.isnan(r.cosine) else -round_score(r.cosine)
            return (-round_score(r.score), own, r.position, r.uri)

        return sorted(found.values(), key=order)[:limit]

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        wanted = list(dict.fromkeys(terms))
        statistics = self.term_statistics(wanted)
        scored = []
        for _, chunk in self._graph.chunks.values():
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
        nodes = {uri: chunk for uri, (_, chunk) in self._graph.chunks.items()}
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
        have = [_all_terms(c) for _, c in self._graph.chunks.values()]
        df = Counter(term for each in have for term in set(each))
        mean = sum(len(each) for each in have) / len(have) if have else 0.0
        return TermStatistics(len(have), mean, np.array([df[t] for t in terms], float))

    def similarities(self, vector: Vectors, chunks: Sequence[str]) -> Similarities:
        nodes = self._graph.chunks
        rows = []
        for uri in chunks:
            if uri not in nodes:
                rows.append([math.nan] * 4)
                continue
            page, chunk = nodes[uri]
            title = self._graph.entities[page.uri]
            entities = [self.cosine(vector, self._graph.entities[e]) for e in self._graph.cited[chunk.uri]]
            rows.append(
                [
                    self.cosine(vector, chunk_text(chunk)),
                    self.cosine(vector, title if chunk.parent == page.uri else chunk.parent),
                    self.cosine(vector, title),
                    _best(entities),
                ]
            )
        return Similarities(*np.array(rows, float).reshape(len(chunks), 4).T)

    def vectors(self, label: Label, uris: Sequence[str]) -> Vectors:
        texts = self.nodes(label)
        return self.rows([texts.get(uri) for uri in uris])

    def sentence_vectors(self, chunks: Sequence[str]) -> SentenceVectors:
        texts = self.nodes(Label.CHUNK)
        searchable = self._now().searchable
        return join_codes(
            [searchable.sentences.get(texts.get(uri, ""), b"") for uri in chunks], searchable.dimension
        )

    def relation_vectors(self, types: Sequence[str]) -> Vectors:
        known = {relation.type for relation in self._graph.relations}
        return self.rows([kind if kind in known else None for kind in types])

    def relations(self, entities: Sequence[str]) -> list[RelationEdge]:
        asked = set(entities)
        return [r for r in self._graph.relations if r.source in asked or r.target in asked]

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        outlines: dict[str, list[str]] = {uri: [] for uri in pages}
        for page, section in self._graph.sections.values():
            if page.uri in outlines:
                outlines[page.uri].append(section.uri)
        return outlines

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {uri: [] for uri in uris}
        for page, chunk in self._graph.chunks.values():
            starts = {
                Hop.BELOW: [page.uri],
                Hop.CHILD: [chunk.parent],
                Hop.CITED_IN: self._graph.cited[chunk.uri],
            }
            for uri in starts[hop]:
                if uri in found:
                    found[uri].append(chunk.uri)
        return found

    def cited(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        nodes = {uri: chunk for uri, (_, chunk) in self._graph.chunks.items()}
        return {uri: self._graph.cited[uri] if uri in nodes else [] for uri in chunks}

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        nodes = self._graph.chunks
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

    def lookup_names(self, names: Sequence[str]) -> dict[str, str]:
        citations = Counter(e for _, c in self._graph.chunks.values() for e in self._graph.cited[c.uri])
        best: dict[str, tuple[int, bool, int, str]] = {}
        for uri in sorted(self._graph.entities.keys() | self._graph.aliases.keys()):
            entity, title = self._graph.resolve(uri), unescape(uri)
            rest = (entity not in self._graph.pages, -citations[entity], entity)
            full, short = normalise_name(title), normalise_name(without_parenthesis(title))
            for name, kind in ((full, 0 if entity == uri else 1), (short, 2)):
                best[name] = min(best.get(name, (3, *rest)), (kind, *rest))
        return {name: best[name][-1] for name in names if name in best and name}

    def adjacency(self) -> Adjacency:
        chunks = sorted(c.uri for _, c in self._graph.chunks.values())
        entities = sorted(self._graph.entities)
        chunk_rows = {uri: i for i, uri in enumerate(chunks)}
        entity_rows = {uri: i for i, uri in enumerate(entities)}
        neighbours: list[set[int]] = [set() for _ in range(len(chunks) + len(entities))]
        for page, chunk in self._graph.chunks.values():
            for entity in (page.uri, *self._graph.cited[chunk.uri]):
                a, b = chunk_rows[chunk.uri], len(chunks) + entity_rows[entity]
                neighbours[a].add(b)
                neighbours[b].add(a)
        indptr = np.cumsum([0, *(len(each) for each in neighbours)]).astype(np.int64)
        indices = np.array([j for each in neighbours for j in sorted(each)], dtype=np.int32)
        own_chunks = np.zeros((len(chunks) + len(entities), 2), dtype=np.int64)
        for entity, row in entity_rows.items():
            rows = [
                chunk_rows[chunk.uri] for page, chunk in self._graph.chunks.values() if page.uri == entity
            ]
            own_chunks[len(chunks) + row] = (min(rows), max(rows) + 1) if rows else (0, 0)
        return Adjacency(chunks, entities, indptr, indices, own_chunks, chunk_rows, entity_rows)

    def within(self, condition: Condition) -> SearchStore:
        return MemoryWithin(self, condition)

    def facts(self) -> ChunkFacts:
        """What conditions are about."""
        chunks = {chunk.uri: chunk for _, chunk in self._graph.chunks.values()}
        uris = sorted(chunks)
        numbers = np.array([chunks[uri].pages or (0, 0) for uri in uris], dtype=np.int64).reshape(-1, 2)
        return ChunkFacts(uris, self.pages, lambda: (Coded.of([chunks[uri].kind for uri in uris]), numbers))


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
        entities = self._store._graph.entities.keys() if Label.ENTITY in labels else set()
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
