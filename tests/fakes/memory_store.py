"""A GraphStore held in dictionaries: no index, no file, every answer worked out from the pages when asked.

It exists to be obviously right. The contract suite runs over it like over any other store, retrievers are
tested on it, and the embedded store is compared with it after random sequences of writes and deletes.
Where the protocol leaves a case open, this is the reading all stores share:

- reads that return a mapping have every asked node as a key, with an empty list for an unknown one
  (``resolve`` and ``lookup_names`` leave unknown ones out);
- a chunk the store does not know has NaN similarities and no terms;
- vectors of texts that no node has are not kept, and aliases of pages that are not there neither;
- of one page twice in a batch the loser still gives its aliases;
- before the first ``set_embedder`` there are no neighbours, and ``vectors`` has no columns.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Self

import numpy as np

from trivium.errors import EmbedderMismatchError, StoreError
from trivium.graph.model import ChunkNode, PageGraph, RelationEdge, SectionNode
from trivium.graph.schema import (
    SCHEMA_VERSION,
    Hop,
    Label,
    RelationshipType,
    embedding_text,
    headings_of,
    unescape,
)
from trivium.graph.store import (
    Adjacency,
    ChunkRecord,
    Neighbour,
    Progress,
    Reached,
    Similarities,
    StoreInfo,
    TermCounts,
    TermStatistics,
    Vectors,
    WriteReport,
    rank_key,
    round_score,
)
from trivium.text import normalise_name, without_parenthesis
from trivium.types import EmbedderIdentity

K1, B = 1.2, 0.75


def chunk_text(chunk: ChunkNode) -> str:
    """What of a chunk is embedded."""
    return embedding_text(headings_of(chunk.parent), chunk.text)


def _best(scores: list[float]) -> float:
    known = [score for score in scores if not math.isnan(score)]
    return max(known) if known else math.nan


class MemoryStore:
    """See the module's docstring."""

    def __init__(self) -> None:
        self._pages: dict[str, PageGraph] = {}
        self._claims: dict[str, set[str]] = {}
        self._vectors: dict[str, Vectors] = {}
        self._embedder: EmbedderIdentity | None = None

    # -- life ------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Nothing to let go of."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- writing ---------------------------------------------------------------------------------------------

    def write(self, pages: Sequence[PageGraph]) -> WriteReport:
        chosen: dict[str, PageGraph] = {}
        for page in pages:
            _check(page)
            other = chosen.get(page.uri)
            if other is None or _revision(page) > _revision(other):
                chosen[page.uri] = page
        added = replaced = unchanged = 0
        skipped = []
        for page in chosen.values():
            stored = self._pages.get(page.uri)
            if stored is None:
                added += 1
            elif stored.content_hash == page.content_hash:
                unchanged += 1
                continue
            elif page.revision is not None and page.revision < _revision(stored):
                skipped.append(page.uri)
                continue
            else:
                replaced += 1
            self._pages[page.uri] = page
        for page in pages:
            self._claims.setdefault(page.uri, set()).update(page.aliases)
        self._prune()
        return WriteReport(added, replaced, unchanged, tuple(skipped))

    def add_aliases(self, aliases: Mapping[str, Sequence[str]]) -> None:
        for uri in aliases:
            if uri in self._pages:
                self._claims.setdefault(uri, set()).update(aliases[uri])
        self._prune()

    def delete(self, pages: Sequence[str]) -> list[str]:
        wanted = dict.fromkeys(self._resolve(uri) for uri in pages)
        removed = [uri for uri in wanted if self._pages.pop(uri, None) is not None]
        for uri in removed:
            del self._claims[uri]
        self._prune()
        return removed

    def pages(self) -> list[tuple[str, str, int | None, str]]:
        return [(p.uri, p.source, p.revision, p.content_hash) for _, p in sorted(self._pages.items())]

    # -- embeddings ------------------------------------------------------------------------------------------

    @property
    def embedder(self) -> EmbedderIdentity | None:
        return self._embedder

    def set_embedder(self, identity: EmbedderIdentity) -> None:
        if self._vectors and identity != self._embedder:
            raise EmbedderMismatchError(f"the store was filled by {self._embedder}, not {identity}")
        self._embedder = identity

    def pending_texts(self) -> list[str]:
        return [text for text in self._texts() if text not in self._vectors]

    def put_vectors(self, texts: Sequence[str], vectors: Vectors) -> None:
        if self._embedder is None:
            raise StoreError("set_embedder comes before put_vectors")
        if vectors.shape != (len(texts), self._embedder.dimension):
            raise StoreError(f"expected {(len(texts), self._embedder.dimension)}, got {vectors.shape}")
        if not np.all(np.abs(np.linalg.norm(vectors, axis=1) - 1) < 1e-3):
            raise StoreError("vectors must be finite and of unit length")
        self._vectors.update((text, vectors[i].copy()) for i, text in enumerate(texts))
        self._prune()

    def refresh(self, progress: Progress | None = None) -> None:
        if progress is not None:
            progress(1, 1)

    # -- reading ---------------------------------------------------------------------------------------------

    def info(self) -> StoreInfo:
        chunks, sections = self._chunks(), self._sections()
        above = {s.uri: self._ancestors(s.parent) for _, s in sections}
        cites = sum(len(self._cited(c)) for _, c in chunks)
        follows = len(chunks) - len({c.parent for _, c in chunks})
        counts = {
            RelationshipType.HAS_SUBCHAPTER: len(sections),
            RelationshipType.IS_SUBCHAPTER_OF: sum(len(ancestors) for ancestors in above.values()),
            RelationshipType.HAS_CHUNK: len(chunks),
            RelationshipType.IS_CHUNK_OF: sum(len(self._ancestors(c.parent)) for _, c in chunks),
            RelationshipType.NEXT: follows,
            RelationshipType.PREVIOUS: follows,
            RelationshipType.CITES: cites,
            RelationshipType.CITED_IN: cites,
            RelationshipType.SEMANTIC_REL: 2 * len(self._relations()),
        }
        nodes = {
            Label.ENTITY: len(self._entities()),
            Label.PAGE: len(self._pages),
            Label.SUBCHAPTER: len(sections),
            Label.CHUNK: len(chunks),
        }
        return StoreInfo(
            location="memory",
            schema_version=SCHEMA_VERSION,
            embedder=self._embedder,
            nodes={str(label): count for label, count in nodes.items()},
            relationships={str(kind): count for kind, count in counts.items()},
            aliases=len(self._aliases()),
            embedded=len(self._vectors),
            to_embed=len(self.pending_texts()),
        )

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]:
        texts = {uri: text for label in labels for uri, text in self._nodes(label).items()}
        found = [Neighbour(uri, self._cosine(vector, text)) for uri, text in texts.items()]
        found = [n for n in found if not math.isnan(n.score)]
        return sorted(found, key=lambda n: rank_key(n.score, n.uri))[:k]

    def reach(
        self,
        labels: Sequence[Label],
        vector: Vectors,
        nodes: int,
        hop: Hop,
        limit: int | None,
        *,
        exact: bool = False,
    ) -> list[Reached]:
        chunks = {c.uri: c for _, c in self._chunks()}
        found: dict[str, Reached] = {}
        for node in self.nearest(labels, vector, nodes, exact=exact):
            for uri in self.expand([node.uri], hop)[node.uri]:
                cosine = self._cosine(vector, chunk_text(chunks[uri]))
                found.setdefault(uri, Reached(uri, node.uri, node.score, cosine, chunks[uri].position))

        def order(r: Reached) -> tuple[float, float, int, str]:
            own = math.inf if math.isnan(r.cosine) else -round_score(r.cosine)
            return (-round_score(r.score), own, r.position, r.uri)

        return sorted(found.values(), key=order)[:limit]

    def words(self, terms: Sequence[str], k: int) -> list[str]:
        wanted = list(dict.fromkeys(terms))
        statistics = self.term_statistics(wanted)
        scored = []
        for _, chunk in self._chunks():
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
        nodes = {c.uri: c for _, c in self._chunks()}
        text = [nodes[uri].terms.split() if uri in nodes else [] for uri in chunks]
        headings = [nodes[uri].heading_terms.split() if uri in nodes else [] for uri in chunks]
        shape = (len(chunks), len(terms))
        return TermCounts(
            text=np.array([[have.count(t) for t in terms] for have in text], float).reshape(shape),
            headings=np.array([[have.count(t) for t in terms] for have in headings], float).reshape(shape),
            text_length=np.array([len(have) for have in text], float),
            headings_length=np.array([len(have) for have in headings], float),
        )

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics:
        have = [_all_terms(c) for _, c in self._chunks()]
        df = Counter(term for each in have for term in set(each))
        mean = sum(len(each) for each in have) / len(have) if have else 0.0
        return TermStatistics(len(have), mean, np.array([df[t] for t in terms], float))

    def similarities(self, vector: Vectors, chunks: Sequence[str]) -> Similarities:
        nodes = {c.uri: (page, c) for page, c in self._chunks()}
        rows = []
        for uri in chunks:
            if uri not in nodes:
                rows.append([math.nan] * 4)
                continue
            page, chunk = nodes[uri]
            title = unescape(page.uri)
            entities = [self._cosine(vector, unescape(e)) for e in self._cited(chunk)]
            rows.append(
                [
                    self._cosine(vector, chunk_text(chunk)),
                    self._cosine(vector, title if chunk.parent == page.uri else chunk.parent),
                    self._cosine(vector, title),
                    _best(entities),
                ]
            )
        return Similarities(*np.array(rows, float).reshape(len(chunks), 4).T)

    def vectors(self, label: Label, uris: Sequence[str]) -> Vectors:
        texts = self._nodes(label)
        return self._rows([texts.get(uri) for uri in uris])

    def relation_vectors(self, types: Sequence[str]) -> Vectors:
        known = {relation.type for relation in self._relations()}
        return self._rows([kind if kind in known else None for kind in types])

    def relations(self, entities: Sequence[str]) -> list[RelationEdge]:
        asked = set(entities)
        return [r for r in self._relations() if r.source in asked or r.target in asked]

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        outlines: dict[str, list[str]] = {uri: [] for uri in pages}
        for page, section in self._sections():
            if page.uri in outlines:
                outlines[page.uri].append(section.uri)
        return outlines

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {uri: [] for uri in uris}
        for page, chunk in self._chunks():
            starts = {Hop.BELOW: [page.uri], Hop.CHILD: [chunk.parent], Hop.CITED_IN: self._cited(chunk)}
            for uri in starts[hop]:
                if uri in found:
                    found[uri].append(chunk.uri)
        return found

    def cited(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        nodes = {c.uri: c for _, c in self._chunks()}
        return {uri: self._cited(nodes[uri]) if uri in nodes else [] for uri in chunks}

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        nodes = {c.uri: (page, c) for page, c in self._chunks()}
        records = []
        for uri in chunks:
            if uri not in nodes:
                raise StoreError(f"there is no chunk {uri!r} in the store")
            page, c = nodes[uri]
            records.append(
                ChunkRecord(
                    c.uri, page.uri, c.parent, c.text, c.kind, c.position, c.start, c.end, c.token_count
                )
            )
        return records

    def page_text(self, page: str) -> str:
        if page not in self._pages:
            raise StoreError(f"there is no page {page!r} in the store")
        return self._pages[page].text

    def resolve(self, titles: Sequence[str]) -> dict[str, str]:
        known = self._entities() | self._aliases().keys()
        return {title: self._resolve(title) for title in titles if title in known}

    def lookup_names(self, names: Sequence[str]) -> dict[str, str]:
        citations = Counter(e for _, c in self._chunks() for e in self._cited(c))
        best: dict[str, tuple[int, bool, int, str]] = {}
        for uri in sorted(self._entities() | self._aliases().keys()):
            entity, title = self._resolve(uri), unescape(uri)
            rest = (entity not in self._pages, -citations[entity], entity)
            full, short = normalise_name(title), normalise_name(without_parenthesis(title))
            for name, kind in ((full, 0 if entity == uri else 1), (short, 2)):
                best[name] = min(best.get(name, (3, *rest)), (kind, *rest))
        return {name: best[name][-1] for name in names if name in best and name}

    def names(self) -> Iterator[tuple[str, str]]:
        aliases = self._aliases()
        for uri in sorted(self._pages):
            yield unescape(uri), uri
            yield from ((unescape(a), uri) for a in sorted(aliases) if aliases[a] == uri)

    def adjacency(self) -> Adjacency:
        chunks = sorted(c.uri for _, c in self._chunks())
        entities = sorted(self._entities())
        chunk_rows = {uri: i for i, uri in enumerate(chunks)}
        entity_rows = {uri: i for i, uri in enumerate(entities)}
        neighbours: list[set[int]] = [set() for _ in range(len(chunks) + len(entities))]
        for page, chunk in self._chunks():
            for entity in (page.uri, *self._cited(chunk)):
                a, b = chunk_rows[chunk.uri], len(chunks) + entity_rows[entity]
                neighbours[a].add(b)
                neighbours[b].add(a)
        indptr = np.cumsum([0, *(len(each) for each in neighbours)]).astype(np.int64)
        indices = np.array([j for each in neighbours for j in sorted(each)], dtype=np.int32)
        return Adjacency(chunks, entities, indptr, indices, chunk_rows, entity_rows)

    def chunk_uris(self) -> list[str]:
        return [c.uri for _, c in self._chunks()]

    # -- what follows from the pages -------------------------------------------------------------------------

    def _sections(self) -> list[tuple[PageGraph, SectionNode]]:
        """Every section, by page uri and position."""
        return [
            (page, section)
            for _, page in sorted(self._pages.items())
            for section in sorted(page.sections, key=lambda s: s.position)
        ]

    def _chunks(self) -> list[tuple[PageGraph, ChunkNode]]:
        """Every chunk, by page uri and position."""
        return [
            (page, chunk)
            for _, page in sorted(self._pages.items())
            for chunk in sorted(page.chunks, key=lambda c: c.position)
        ]

    def _ancestors(self, uri: str) -> list[str]:
        """The section or page and everything above it."""
        parents = {s.uri: s.parent for _, s in self._sections()}
        found = [uri]
        while found[-1] in parents:
            found.append(parents[found[-1]])
        return found

    def _aliases(self) -> dict[str, str]:
        """Alias -> page. A page's own title beats an alias; of two claims the lowest page uri holds."""
        aliases: dict[str, str] = {}
        for uri, claims in sorted(self._claims.items(), reverse=True):
            aliases.update((alias, uri) for alias in claims if alias not in self._pages)
        return aliases

    def _resolve(self, uri: str) -> str:
        return self._aliases().get(uri, uri)

    def _cited(self, chunk: ChunkNode) -> list[str]:
        aliases = self._aliases()
        return list(dict.fromkeys(aliases.get(uri, uri) for uri in chunk.cites))

    def _relations(self) -> list[RelationEdge]:
        """Distinct relations, resolved, by source, type and target."""
        aliases = self._aliases()
        triples = {
            (aliases.get(r.source, r.source), r.type, aliases.get(r.target, r.target))
            for page in self._pages.values()
            for r in page.relations
        }
        return [RelationEdge(*triple) for triple in sorted(triples)]

    def _entities(self) -> set[str]:
        cited = {e for _, c in self._chunks() for e in self._cited(c)}
        related = {e for r in self._relations() for e in (r.source, r.target)}
        return self._pages.keys() | cited | related

    def _nodes(self, label: Label) -> dict[str, str]:
        """uri -> embedded text of every node of a label."""
        if label is Label.CHUNK:
            return {c.uri: chunk_text(c) for _, c in self._chunks()}
        if label is Label.SUBCHAPTER:
            return {s.uri: s.uri for _, s in self._sections()}
        uris = self._pages.keys() if label is Label.PAGE else self._entities()
        return {uri: unescape(uri) for uri in sorted(uris)}

    def _texts(self) -> list[str]:
        """Every distinct embedded text: chunks, pages, sections, entities, relation types."""
        order = (Label.CHUNK, Label.PAGE, Label.SUBCHAPTER, Label.ENTITY)
        nodes = [text for label in order for text in self._nodes(label).values()]
        return list(dict.fromkeys([*nodes, *sorted({r.type for r in self._relations()})]))

    def _prune(self) -> None:
        self._vectors = {text: self._vectors[text] for text in self._texts() if text in self._vectors}

    def _cosine(self, vector: Vectors, text: str) -> float:
        mine = self._vectors.get(text)
        if mine is None:
            return math.nan
        return float(np.clip(mine.astype(np.float64) @ vector.astype(np.float64), -1.0, 1.0))

    def _rows(self, texts: Sequence[str | None]) -> Vectors:
        dimension = 0 if self._embedder is None else self._embedder.dimension
        rows = np.full((len(texts), dimension), np.nan, dtype=np.float32)
        for i, text in enumerate(texts):
            if text is not None and text in self._vectors:
                rows[i] = self._vectors[text]
        return rows


def _check(page: PageGraph) -> None:
    """Refuse a page that contradicts itself."""
    parents = {page.uri, *(section.uri for section in page.sections)}
    nodes: list[SectionNode | ChunkNode] = [*page.sections, *page.chunks]
    for node in nodes:
        if node.parent not in parents:
            raise StoreError(f"{node.uri!r} stands under {node.parent!r}, which is not of page {page.uri!r}")
    for uris in ([section.uri for section in page.sections], [chunk.uri for chunk in page.chunks]):
        if len(set(uris)) < len(uris):
            raise StoreError(f"every section and chunk of page {page.uri!r} needs a uri of its own")


def _revision(page: PageGraph) -> int:
    """An unknown revision is older than any known one."""
    return -1 if page.revision is None else page.revision


def _all_terms(chunk: ChunkNode) -> list[str]:
    return chunk.heading_terms.split() + chunk.terms.split()
