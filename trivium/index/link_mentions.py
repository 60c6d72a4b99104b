"""Adds links to documents that have none: to other documents whose titles they mention, and to terms that they
define.

The links depend on the other documents in the store, so they are made at the end of a load, and again when new titles
are added. The content hash of such a page has two parts separated by a dot. The first is that of the page without
links, which identifies it when it is loaded again; the second is that of its links, empty until they are made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from trivium.common.iteration import batched
from trivium.graph.page_facts import each_page
from trivium.graph.page_graph import ChunkNode, PageGraph
from trivium.graph.protocols import GraphReader, GraphWriter, PageReader
from trivium.graph.records import PageRecord
from trivium.graph.schema import MAX_URI_BYTES, headings_of, page_uri, unescape
from trivium.index.record_pages import RECORDS
from trivium.parser.defined_terms import Passage, is_glossary, used_terms
from trivium.parser.gazetteer import Gazetteer, Mention, possible_names
from trivium.text.normalise import normalise_name, normalise_title, without_parenthesis
from trivium.types import ChunkKind

_DOT = "."
_PAGES_A_TIME = 50
_FEW_NAMES = 1000
"""Up to this many names are looked up in the index of words."""
_FEW_PAGES = 20
_FEW_FORMS = 20_000
"""Names are looked up in the store for up to this many sequences of words in so many pages. Reading all names takes
longer for fewer, and their number grows with the store."""
_WITHOUT = frozenset({"", "records", "nq", "wiki"})
"""Formats of pages that have links of their own, or get them elsewhere."""
_GENERIC_TITLES = """
abstract appendix changelog chapter conclusion contact content contents cover document draft faq figure foreword guide
history home image index info introduction license manual news note notes overview page preface readme references report
review section slides summary table test text title untitled welcome
"""
_GENERIC = frozenset(_GENERIC_TITLES.split())
"""One-word titles that only say what kind of document it is."""


class PageSearch(Protocol):
    """The part of a store that :func:`pages_mentioning` uses."""

    def pages(self, after: str | None = None, limit: int | None = None) -> Sequence[PageRecord]: ...

    def pages_with_words(
        self, names: Sequence[str], *, source: str = "", mark: str = ""
    ) -> Sequence[PageRecord]: ...

    def page_text(self, page: str) -> str: ...


class PageFinder(Protocol):
    """The part of a store that :func:`adopted` uses."""

    def find_pages(self, uris: Sequence[str]) -> dict[str, PageRecord]: ...


class MentionStore(GraphReader, PageReader, GraphWriter, Protocol):
    """The part of a store that linking uses."""


def marked(graph: PageGraph) -> PageGraph:
    """Mark a page that is to be linked; other pages are returned unchanged."""
    plain = (
        graph.format not in _WITHOUT
        and not graph.source.startswith(RECORDS)
        and not graph.relations
        and not any(chunk.cites or chunk.references for chunk in graph.chunks)
    )
    return replace(graph, content_hash=graph.content_hash + _DOT) if plain else graph


def adopted(graphs: Sequence[PageGraph], store: PageFinder) -> list[PageGraph]:
    """Return the pages; those already linked in the store get its hash, so that they are recognised as unchanged."""
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
    """Link the pages that are not linked yet, and those that mention one of the ``new_names`` (added titles and
    aliases), or ``every`` page. Return the uris of pages whose links have changed.
    """
    if every:
        wanted = [page.uri for page in each_page(store) if _DOT in page.content_hash]
    else:
        mentioning = (page.uri for page in pages_mentioning(store, new_names, mark=_DOT))
        wanted = sorted({*store.unlinked_pages(), *mentioning})
    if not wanted:
        return []
    gazetteer = _names_for(store, wanted)
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


def _names_for(store: MentionStore, uris: Sequence[str]) -> Gazetteer:
    """Return a gazetteer of all names that the pages can mention. For a few pages only those are read; for many, all
    names of the store.
    """
    forms: dict[str, None] = {}
    for graph in store.page_graphs(uris) if len(uris) <= _FEW_PAGES else ():
        for chunk in graph.chunks:
            forms.update(dict.fromkeys(possible_names(chunk.body)))
        if len(forms) > _FEW_FORMS:
            break
    if len(uris) > _FEW_PAGES or len(forms) > _FEW_FORMS:
        return Gazetteer(store.names())
    return Gazetteer(store.names_like(list(forms)))


def pages_mentioning(
    store: PageSearch, names: Iterable[str], *, source: str = "", mark: str = ""
) -> Iterator[PageRecord]:
    """Iterate over the pages, sorted by uri, whose texts mention one of the names. Only pages whose source begins
    with ``source`` and whose content hash contains ``mark``. If the names are few, only texts that have the words of
    a name are read, where the store can tell.
    """
    new = Gazetteer((name, name) for name in names)
    if not len(new):
        return
    pages: Iterable[PageRecord]
    if len(new) <= _FEW_NAMES:
        pages = store.pages_with_words(new.names(), source=source, mark=mark)
    else:
        pages = (p for p in each_page(store) if p.source.startswith(source) and mark in p.content_hash)
    yield from (page for page in pages if new.find(store.page_text(page.uri)))


def linked_page(graph: PageGraph, gazetteer: Gazetteer) -> PageGraph:
    """Return the page with its links replaced by links to what its chunks mention."""
    title = unescape(graph.uri)
    own = {normalise_name(title), normalise_name(without_parenthesis(title))}
    terms = used_terms([_passage(chunk) for chunk in graph.chunks])
    chunks = tuple(
        replace(chunk, cites=tuple(dict.fromkeys(_cites(graph.uri, own, chunk.body, used, gazetteer))))
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
        # The term as defined by this document: another one may define "Company" differently.
        uri = page_uri(normalise_title(f"{term} ({unescape(own_uri)})"))
        if len(uri.encode("utf-8", "surrogatepass")) <= MAX_URI_BYTES:
            yield uri


def _is_name_there(mention: Mention, text: str) -> bool:
    """Whether a title is used as a name at this place. Titles may be ordinary words."""
    if " " in mention.name:
        return True
    first = text[mention.start]
    return (first.isupper() or first.isdecimal()) and mention.name not in _GENERIC


def _passage(chunk: ChunkNode) -> Passage:
    headings = headings_of(chunk.parent)
    glossary = chunk.kind == ChunkKind.DEFINITION or any(map(is_glossary, headings[1:]))
    return Passage(chunk.body, glossary)
