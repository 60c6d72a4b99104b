"""A complete graph store over any source of truth."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import asdict
from typing import Self

from trivium.common.closing import Closing
from trivium.errors import StoreBusyError
from trivium.graph.check_findings import PAGES, VECTORS, Finding, wrong_vectors
from trivium.graph.page_checks import check_page
from trivium.graph.page_facts import check_chunker, choose, latest
from trivium.graph.page_graph import PageGraph, QuestionNode, RelationEdge
from trivium.graph.records import Codes, Passage, Progress, Vectors, WriteReport
from trivium.graph.schema import embedding_text
from trivium.graph.source_store.derived_graph import Draft, Graph
from trivium.graph.source_store.reads import Content, Searchable, SourceReads
from trivium.graph.source_store.source_of_truth import PICTURES, SENTENCES, TEXTS, SourceOfTruth
from trivium.graph.stored_vectors import (
    EMBEDDED,
    FILLED,
    check_codes,
    check_vectors,
    dimension_of,
    refuse_embedder,
    split_vectors,
)
from trivium.types import EmbedderIdentity

_ATTEMPTS = 20


class SourceStore(SourceReads, Closing):
    """A :class:`trivium.graph.protocols.GraphStore` over a :class:`~trivium.graph.source_store.SourceOfTruth`.

    After a change all of the source is read again, and the index of all nodes is made in memory by the next search: for
    thousands of pages, not for millions. Thread-safe. A pinned store sees one state.

    Returned mappings have every node asked for as a key, with an empty list for unknown ones, except that
    :meth:`resolve` and :meth:`lookup_names` skip unknown ones.
    """

    def __init__(self, source: SourceOfTruth) -> None:
        self._source = source
        self._lock = threading.RLock()
        self._content: Content | None = None
        self._pinned = False

    # -- lifecycle -------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the source."""
        self._source.close()

    @contextmanager
    def pinned(self) -> Iterator[SourceStore]:
        """See the protocol."""
        view = copy(self)
        view._content, view._pinned = self._now(), True
        yield view

    @property
    def location(self) -> str:
        """Where the store is, for display."""
        return self._source.location

    # -- the committed state ---------------------------------------------------------------------------------

    def _now(self) -> Content:
        """Return the content of the committed state, whichever process wrote it."""
        known = self._content
        if known is not None and (self._pinned or known.key == self._source.state()):
            return known
        with self._lock:
            for _ in range(_ATTEMPTS):
                key = self._source.state()
                known = self._content
                if known is not None and known.key == key:
                    return known
                content = self._read(key, known)
                if self._source.state() == key:
                    self._content = content
                    return content
        raise StoreBusyError(
            f"the store at {self.location} is written to without a pause: try again when that has finished"
        )

    def _read(self, key: object, earlier: Content | None) -> Content:
        """Read all of the source. What is as it was ``earlier`` keeps what was made of it."""
        source, settings = self._source, dict(self._source.settings())
        graph = Graph({stored.page.uri: stored for stored in source.pages()}, dict(source.types()))
        if earlier is not None and graph == earlier.searchable.graph:
            graph = earlier.searchable.graph
        embedder = settings.get("embedder")
        searchable = Searchable(
            graph,
            dict(source.vectors(TEXTS)),
            dict(source.vectors(SENTENCES)),
            0 if embedder is None else json.loads(embedder)["dimension"],
        )
        if earlier is not None and searchable == earlier.searchable:
            searchable = earlier.searchable
        return Content(key, settings, searchable, dict(source.vectors(PICTURES)))

    @contextmanager
    def _writing(self) -> Iterator[Content]:
        """Commit what is written to the source in the block, which is given what the source held before."""
        with self._lock, self._source.writing():
            yield self._now()

    @contextmanager
    def _changing(self) -> Iterator[Draft]:
        """Commit the changes of a graph, without the vectors of what is not there any more."""
        with self._writing() as content:
            before = content.searchable.graph
            draft = Draft(before)
            yield draft
            after, source = draft.graph(), self._source
            source.put_pages(draft.differences(before))
            source.delete_pages([uri for uri in before.stored if uri not in after.stored])
            if after.types != before.types:
                source.put_types(after.types)
            source.delete_vectors(
                TEXTS, [text for text in content.searchable.texts if text not in after.texts]
            )
            passages = content.searchable.sentences
            source.delete_vectors(SENTENCES, [text for text in passages if text not in after.passages])
            source.delete_vectors(
                PICTURES,
                [
                    chunk.uri
                    for uri, page in before.pages.items()
                    if uri not in after.pages or after.pages[uri].chunks is not page.chunks
                    for chunk in page.chunks
                    if chunk.uri in content.pictures
                ],
            )

    # -- writing ---------------------------------------------------------------------------------------------

    def write(self, pages: Sequence[PageGraph], chunker: str | None = None) -> WriteReport:
        for page in pages:
            check_page(page)
        with self._changing() as draft:
            if chunker is not None:
                check_chunker(self.chunker, chunker)
                self._source.put_setting("chunker", chunker)
            stored = {
                uri: (known.page.content_hash, known.page.revision) for uri, known in draft.stored.items()
            }
            loaded, _, report = choose(latest(pages), stored)
            for page in loaded.values():
                draft.put(page)
            for page in pages:
                draft.claim(page.uri, page.aliases)
        return report

    def add_aliases(self, aliases: Mapping[str, Sequence[str]]) -> None:
        with self._changing() as draft:
            for uri in aliases.keys() & draft.stored.keys():
                draft.claim(uri, aliases[uri])

    def add_relations(self, relations: Mapping[str, Sequence[RelationEdge]]) -> int:
        with self._changing() as draft:
            return sum(draft.relate(uri, edges) for uri, edges in relations.items() if uri in draft.stored)

    def put_questions(self, questions: Mapping[str, Sequence[QuestionNode]]) -> int:
        with self._changing() as draft:
            return sum(draft.answer(uri, asked) for uri, asked in questions.items() if uri in draft.stored)

    def set_types(self, types: Mapping[str, str]) -> int:
        with self._changing() as draft:
            graph, before = self._graph, dict(draft.types)
            draft.types |= {graph.resolve(uri): kind for uri, kind in types.items()}
            return sum(before.get(uri, "") != draft.types.get(uri, "") for uri in graph.entities)

    def delete(self, pages: Sequence[str]) -> list[str]:
        with self._changing() as draft:
            wanted = dict.fromkeys(map(self._graph.resolve, pages))
            return [uri for uri in wanted if draft.stored.pop(uri, None) is not None]

    # -- settings --------------------------------------------------------------------------------------------

    def _set(self, name: str, value: str | None) -> None:
        with self._writing():
            self._source.put_setting(name, value)

    def set_fusion_decision(self, decision: str | None) -> None:
        self._set("fusion", decision)

    def set_links_pending(self, pending: bool) -> None:
        self._set("links_pending", "1" if pending else None)

    def set_entities(self, recogniser: str | None) -> None:
        self._set("entities", recogniser)

    def set_languages(self, languages: str | None) -> None:
        self._set("languages", languages)

    # -- vectors ---------------------------------------------------------------------------------------------

    def set_embedder(self, identity: EmbedderIdentity) -> None:
        with self._writing() as content:
            stored = content.embedder("embedder")
            if stored not in (None, identity) and (content.searchable.texts or content.searchable.sentences):
                refuse_embedder(FILLED, stored, identity)
            if stored != identity:
                self._source.put_setting("embedder", json.dumps(asdict(identity)))

    def put_vectors(self, texts: Sequence[str], vectors: Vectors) -> None:
        with self._writing() as content:
            check_vectors(vectors, len(texts), dimension_of(content.embedder("embedder")))
            known = content.searchable.graph.texts
            rows = zip(texts, vectors.astype("<f4"), strict=True)
            self._source.put_vectors(TEXTS, {text: row.tobytes() for text, row in rows if text in known})

    def put_sentences(self, passages: Sequence[Passage], codes: Sequence[Codes]) -> None:
        with self._writing() as content:
            check_codes(codes, len(passages), dimension_of(content.embedder("embedder")))
            texts = [embedding_text(passage.headings, passage.text) for passage in passages]
            known = content.searchable.graph.passages
            rows = zip(texts, codes, strict=True)
            self._source.put_vectors(SENTENCES, {text: row.tobytes() for text, row in rows if text in known})

    def set_image_embedder(self, identity: EmbedderIdentity) -> None:
        with self._writing() as content:
            stored = content.embedder("image_embedder")
            if stored is not None and stored != identity and content.pictures:
                refuse_embedder(EMBEDDED, stored, identity)
            self._source.put_setting("image_embedder", json.dumps(asdict(identity)))

    def put_picture_vectors(self, pictures: Mapping[str, bytes], vectors: Vectors) -> None:
        with self._writing() as content:
            rows = split_vectors(vectors, len(pictures), content.embedder("image_embedder"))
            known = self.thumbnails(list(pictures))
            found = {
                uri: row
                for (uri, picture), row in zip(pictures.items(), rows, strict=True)
                if known.get(uri) == picture
            }
            self._source.put_vectors(PICTURES, found)

    def refresh(self, progress: Progress | None = None) -> None:
        self._held()
        if progress is not None:
            progress(1, 1)

    # -- checking --------------------------------------------------------------------------------------------

    def checker(self) -> Self:
        return self

    def check(self, progress: Progress | None = None) -> list[Finding]:
        """See :class:`trivium.graph.protocols.StoreChecker`. Looks at the sizes of vectors."""
        content = self._now().searchable
        size = content.dimension
        wrong = [text for text, data in content.texts.items() if len(data) != 4 * size]
        wrong += [text for text, data in content.sentences.items() if not size or len(data) % size]
        if progress is not None:
            progress(1, 1)
        return [wrong_vectors(f"vectors are not of {size} numbers", wrong, wrong)] if wrong else []

    def repair(self, findings: Sequence[Finding]) -> None:
        """See :class:`trivium.graph.protocols.StoreChecker`."""
        self.drop_vectors([text for finding in findings if finding.kind == VECTORS for text in finding.keys])
        with self._changing() as draft:
            for uri in (uri for finding in findings if finding.kind == PAGES for uri in finding.where):
                draft.give_up(uri)

    def page_digests(self) -> dict[str, str]:
        """See :class:`trivium.graph.protocols.StoreChecker`."""
        return {uri: stored.digest for uri, stored in self._graph.stored.items()}

    def drop_vectors(self, texts: Sequence[str]) -> None:
        """See :class:`trivium.graph.protocols.StoreChecker`."""
        with self._writing():
            self._source.delete_vectors(TEXTS, texts)
            self._source.delete_vectors(SENTENCES, texts)
