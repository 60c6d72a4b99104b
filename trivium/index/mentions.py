"""Links of documents that have none: to other documents whose titles they mention, and to terms that they define.

Which links these are hangs on what else is in the store, so that they are made when all documents of a load have come,
and again when new titles come. The content hash of such a page has two parts with a dot between them: the first is that
of the page without links, by which it is known again when it is loaded again; the second, of its links, is empty
until they are made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from trivium.common.iteration import batched
from trivium.graph.model import ChunkNode, PageGraph
from trivium.graph.protocols import GraphReader, GraphWriter, PageReader
from trivium.graph.records import PageRecord
from trivium.graph.schema import MAX_URI_BYTES, headings_of, page_uri, unescape
from trivium.index.listing import each_page
from trivium.index.record_pages import RECORDS
from trivium.parser.gazetteer import Gazetteer, Mention
from trivium.parser.terms import Passage, is_glossary, used_terms
from trivium.text import normalise_name, normalise_title, without_parenthesis
from trivium.types import ChunkKind

_DOT = "."
_PAGES_A_TIME = 50
_FEW_WORDS = 100
_WITHOUT = frozenset({"", "records", "nq", "wiki"})
"""Formats of pages that have links of their own, or get them elsewhere."""
_GENERIC_TITLES = """
abstract appendix changelog chapter conclusion contact content contents cover document draft faq figure foreword guide
history home image index info introduction license manual news note notes overview page preface readme references report
review section slides summary table test text title untitled welcome
"""
_GENERIC = frozenset(_GENERIC_TITLES.split())
"""Titles of one word that say what kind of document it is."""


class PageSearch(Protocol):
    """What looking for mentions needs of a store."""

    def pages(self, after: str | None = None, limit: int | None = None) -> Sequence[PageRecord]: ...

    def pages_saying(
        self, words: Sequence[str], *, source: str = "", mark: str = ""
    ) -> Sequence[PageRecord]: ...

    def page_text(self, page: str) -> str: ...


class MentionStore(GraphReader, PageReader, GraphWriter, Protocol):
    """What linking needs of a store."""


def marked(graph: PageGraph) -> PageGraph:
    """A page that is to be linked, marked so; any other one as it is."""
    plain = (
        graph.format not in _WITHOUT
        and not graph.source.startswith(RECORDS)
        and not graph.relations
        and not any(chunk.cites or chunk.references for chunk in graph.chunks)
    )
    return replace(graph, content_hash=graph.content_hash + _DOT) if plain else graph


def adopted(graphs: Sequence[PageGraph], store: PageReader) -> list[PageGraph]:
    """The pages; those that the store has linked already with its hash, so that it knows them again."""
    waiting = [graph.uri for graph in graphs if graph.content_hash.endswith(_DOT)]
    stored = store.find_pages(waiting) if waiting else {}
    return [
        replace(graph, content_hash=stored[graph.uri].content_hash)
        if graph.uri in stored
        and graph.content_hash.endswith(_DOT)
        and stored[graph.uri].content_hash.startswith(graph.content_hash)
        else graph
        for graph in graphs
    ]


def link_mentions(store: MentionStore, new_names: Iterable[str], *, every: bool = False) -> list[str]:
    """Link the pages that are not linked yet, and those that mention one of the ``new_names`` (titles and aliases that
    have come), or ``every`` one; returns the uris of those whose links have changed."""
    if every:
        wanted = [page.uri for page in each_page(store) if _DOT in page.content_hash]
    else:
        mentioning = (page.uri for page in pages_mentioning(store, new_names, mark=_DOT))
        wanted = sorted({*store.unlinked_pages(), *mentioning})
    if not wanted:
        return []
    gazetteer = Gazetteer(store.names())
    changed: list[str] = []
    for uris in batched(wanted, _PAGES_A_TIME):
        graphs = list(store.page_graphs(uris))
        linked = [linked_page(graph, gazetteer) for graph in graphs]
        different = [
            after
            for before, after in zip(graphs, linked, strict=True)
            if before.content_hash != after.content_hash
        ]
        if different:
            store.write(different)
        changed.extend(
            after.uri
            for before, after in zip(graphs, linked, strict=True)
            if [chunk.cites for chunk in before.chunks] != [chunk.cites for chunk in after.chunks]
        )
    return changed


def pages_mentioning(
    store: PageSearch, names: Iterable[str], *, source: str = "", mark: str = ""
) -> Iterator[PageRecord]:
    """The pages, by uri, whose texts mention one of the names, of those whose source begins with ``source`` and whose
    content hash contains ``mark``. Only the texts that have a word of a name are read, as long as the names are few."""
    new = Gazetteer((name, name) for name in names)
    if not len(new):
        return
    words = new.words()
    pages: Iterable[PageRecord]
    if words is not None and len(words) <= _FEW_WORDS:
        pages = store.pages_saying(words, source=source, mark=mark)
    else:
        pages = (p for p in each_page(store) if p.source.startswith(source) and mark in p.content_hash)
    yield from (page for page in pages if new.find(store.page_text(page.uri)))


def linked_page(graph: PageGraph, gazetteer: Gazetteer) -> PageGraph:
    """The page with links to what its chunks mention, in place of those that it had."""
    title = unescape(graph.uri)
    own = {normalise_name(title), normalise_name(without_parenthesis(title))}
    terms = used_terms([_passage(chunk) for chunk in graph.chunks])
    chunks = tuple(
        replace(chunk, cites=tuple(dict.fromkeys(_cites(graph.uri, own, chunk.text, used, gazetteer))))
        for chunk, used in zip(graph.chunks, terms, strict=True)
    )
    digest = hashlib.blake2b(
        repr([chunk.cites for chunk in chunks]).encode("utf-8", "surrogatepass"), digest_size=8
    )
    base = graph.content_hash.partition(_DOT)[0]
    return replace(graph, chunks=chunks, content_hash=f"{base}{_DOT}{digest.hexdigest()}")


def _cites(
    own_uri: str, own: set[str], text: str, terms: Iterable[str], gazetteer: Gazetteer
) -> Iterator[str]:
    for mention in gazetteer.find(text):
        if mention.name not in own and mention.target != own_uri and _is_name_there(mention, text):
            yield mention.target
    for term in terms:
        # Of this document: another one may call somebody else "Company".
        uri = page_uri(normalise_title(f"{term} ({unescape(own_uri)})"))
        if len(uri.encode("utf-8", "surrogatepass")) <= MAX_URI_BYTES:
            yield uri


def _is_name_there(mention: Mention, text: str) -> bool:
    """Whether a title stands there as a name. Documents are called by ordinary words, too."""
    if " " in mention.name:
        return True
    first = text[mention.start]
    return (first.isupper() or first.isdecimal()) and mention.name not in _GENERIC


def _passage(chunk: ChunkNode) -> Passage:
    headings = headings_of(chunk.parent)
    glossary = chunk.kind == ChunkKind.DEFINITION or any(map(is_glossary, headings[1:]))
    return Passage(chunk.text, glossary)
