"""Adds links to documents that have none: to other documents whose titles they mention, to terms that they define, and
to the names recognised in them (:mod:`trivium.index.recognise_names`) that a second passage has.

The links depend on the other documents in the store, so they are made at the end of a load, and again when new titles
are added. The content hash of such a page has two parts separated by a dot. The first is that of the page without
links, which identifies it when it is loaded again; the second is that of its links, empty until they are made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from trivium.common.iteration import batched
from trivium.graph.page_facts import each_page
from trivium.graph.page_graph import ChunkNode, PageGraph
from trivium.graph.protocols import PageReader
from trivium.graph.records import PageRecord
from trivium.graph.schema import MAX_URI_BYTES, headings_of, page_uri, unescape
from trivium.index.known_names import KnownNames, NameStore
from trivium.index.recognise_names import LINKED
from trivium.index.record_pages import RECORDS
from trivium.parser.defined_terms import Passage, is_glossary, used_terms
from trivium.parser.gazetteer import Gazetteer, Mention, possible_names
from trivium.text.normalise import normalise_name, normalise_title, without_parenthesis
from trivium.types import ChunkKind

_DOT = "."
_OWN_LINKS = "+"
"""Before the dot of a page that has links of its own: only links to recognised names are added to those."""
_PAGES_A_TIME = 50
_FEW_NAMES = 1000
"""Up to this many names are looked up in the index of words."""
_FEW_PAGES = 20
_FEW_FORMS = 20_000
"""Names are looked up in the store for up to this many sequences of words in so many pages. Reading all names takes
longer for fewer, and their number grows with the store."""
_WITHOUT = LINKED | {"records"}
"""Formats of pages that have links of their own, or get them elsewhere."""
_GENERIC_TITLES = """
abstract appendix changelog chapter conclusion contact content contents cover document draft faq figure foreword guide
history home image index info introduction license manual news note notes overview page preface readme references report
review section slides summary table test text title untitled welcome
"""
_GENERIC = frozenset(_GENERIC_TITLES.split())
"""One-word titles that only say what kind of document it is."""


def marked(graph: PageGraph, *, named: bool = False) -> PageGraph:
    """Mark a page that is to be linked; other pages are returned unchanged. ``named``: names are recognised, so that
    records have no links yet, and that documents with links of their own cite names, too.
    """
    records = graph.source.startswith(RECORDS)
    if not (named if records else graph.format not in _WITHOUT):
        return graph
    if all(edge.chunk for edge in graph.relations) and not any(c.cites or c.references for c in graph.chunks):
        return replace(graph, content_hash=graph.content_hash + _DOT)
    # What a chunk links to itself is not a name, so that stored citations can be told apart.
    chunks = []
    for chunk in graph.chunks:
        own = set(map(_form, chunk.cites))
        chunks.append(replace(chunk, names=tuple(one for one in chunk.names if _form(one.uri) not in own)))
    graph = replace(graph, chunks=tuple(chunks))
    named = any(chunk.names for chunk in chunks)
    return replace(graph, content_hash=graph.content_hash + _OWN_LINKS + _DOT) if named else graph


def _form(uri: str) -> str:
    """Return a title as titles and names are compared."""
    return normalise_name(without_parenthesis(unescape(uri)))


def adopted(graphs: Sequence[PageGraph], store: PageReader) -> list[PageGraph]:
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


def link_mentions(
    store: NameStore,
    new_names: Iterable[str],
    named: Collection[tuple[str, str]] = (),
    *,
    every: bool = False,
) -> list[str]:
    """Link the pages that are not linked yet, and those that mention one of the ``new_names`` (added titles and
    aliases), or ``every`` page. ``named`` are the recognised names (uri and kind) of pages that were added,
    replaced or removed. Return the uris of pages whose links have changed.
    """
    if every:
        wanted = [page.uri for page in each_page(store) if _DOT in page.content_hash]
    else:
        mentioning = (page.uri for page in pages_mentioning(store, new_names, mark=_DOT))
        wanted = sorted({*store.unlinked_pages(), *mentioning})
    known = KnownNames(store)
    wanted = sorted({*wanted, *known.read((uri for uri, _ in named), wanted)})
    changed = _link(store, wanted, known) if wanted else []
    known.set_kinds(named)
    return changed


def _link(store: NameStore, wanted: Sequence[str], known: KnownNames) -> list[str]:
    gazetteer = _names_for(store, wanted)
    changed: list[str] = []
    for uris in batched(wanted, _PAGES_A_TIME):
        graphs = list(store.page_graphs(uris))
        known.read((name.uri for graph in graphs for chunk in graph.chunks for name in chunk.names), wanted)
        linked = [linked_page(graph, gazetteer, known.repeated) for graph in graphs]
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


def _names_for(store: NameStore, uris: Sequence[str]) -> Gazetteer:
    """Return a gazetteer of all names that the pages can mention. For a few pages only those are read; for many, all
    names of the store.
    """
    forms: dict[str, None] = {}
    for graph in store.page_graphs(uris) if len(uris) <= _FEW_PAGES else ():
        for chunk in graph.chunks:
            forms.update(dict.fromkeys(possible_names(chunk.body)))
            forms.update(dict.fromkeys(normalise_name(unescape(name.uri)) for name in chunk.names))
        if len(forms) > _FEW_FORMS:
            break
    if len(uris) > _FEW_PAGES or len(forms) > _FEW_FORMS:
        return Gazetteer(store.names())
    return Gazetteer(store.names_like(list(forms)))


def pages_mentioning(
    store: NameStore, names: Iterable[str], *, source: str = "", mark: str = ""
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


def linked_page(graph: PageGraph, gazetteer: Gazetteer, repeated: Mapping[str, bool]) -> PageGraph:
    """Return the page with its links replaced by links to what its chunks mention, except links of its own. ``repeated``
    says of each name recognised in them whether a second passage has it.
    """
    base = graph.content_hash.partition(_DOT)[0]
    if base.endswith(_OWN_LINKS):
        cites = [
            _with_names(chunk, _name_links(chunk, graph.uri, gazetteer, repeated)) for chunk in graph.chunks
        ]
    else:
        cites = _mentioned(graph, gazetteer, repeated)
    chunks = tuple(
        replace(chunk, cites=tuple(dict.fromkeys(uris)))
        for chunk, uris in zip(graph.chunks, cites, strict=True)
    )
    digest = hashlib.blake2b(
        repr([chunk.cites for chunk in chunks]).encode("utf-8", "surrogatepass"), digest_size=8
    )
    return replace(graph, chunks=chunks, content_hash=f"{base}{_DOT}{digest.hexdigest()}")


def _with_names(chunk: ChunkNode, names: Sequence[_Link]) -> list[str]:
    """Return what a chunk links to itself, and names."""
    forms = {_form(name.uri) for name in chunk.names}
    own = [uri for uri in chunk.cites if _form(uri) not in forms]
    return [*own, *(link.target for link in names if _form(link.target) in forms)]


def _mentioned(graph: PageGraph, gazetteer: Gazetteer, repeated: Mapping[str, bool]) -> list[list[str]]:
    """Return what the chunks of a page without links mention."""
    title = unescape(graph.uri)
    own = {normalise_name(title), normalise_name(without_parenthesis(title))}
    records = graph.source.startswith(RECORDS)
    terms: Sequence[Sequence[str]] = [()] * len(graph.chunks)
    if not records:
        terms = used_terms([_passage(chunk) for chunk in graph.chunks])
    named = [_name_links(chunk, graph.uri, gazetteer, repeated) for chunk in graph.chunks]
    entities = {_form(link.target): link.target for names in named for link in names}
    cites = []
    for chunk, names, used in zip(graph.chunks, named, terms, strict=True):
        titles = [
            _Link(mention.start, mention.end, mention.target)
            for mention in gazetteer.find(chunk.body)
            if mention.name not in own
            and mention.target != graph.uri
            and (records or _is_name_there(mention, chunk.body))
        ]
        cites.append([*(link.target for link in _longest(titles, names)), *_term_uris(title, used, entities)])
    return cites


class _Link(NamedTuple):
    """A place in the body of a chunk that links to ``target``."""

    start: int
    end: int
    target: str


def _name_links(
    chunk: ChunkNode, own_uri: str, gazetteer: Gazetteer, repeated: Mapping[str, bool]
) -> list[_Link]:
    """Return the names of a chunk that are titles or that a second passage has."""
    links = []
    for name in chunk.names:
        title = unescape(name.uri)
        target = None if normalise_name(title) in _GENERIC else gazetteer.target(title)
        if target is None and repeated[name.uri]:
            target = name.uri
        if target is not None and own_uri not in (target, name.uri):
            links.append(_Link(name.start, name.end, target))
    return links


def _longest(titles: Sequence[_Link], names: Sequence[_Link]) -> list[_Link]:
    """Merge links in order. Of a title and a name at the same place the longer one stays, or else the title."""

    def overlap(one: _Link, other: _Link) -> bool:
        return one.start < other.end and other.start < one.end

    kept = [
        name
        for name in names
        if all(title.end - title.start < name.end - name.start for title in titles if overlap(title, name))
    ]
    free = [title for title in titles if not any(overlap(title, name) for name in kept)]
    return sorted([*free, *kept], key=lambda link: (link.start, link.end))


def _term_uris(title: str, terms: Iterable[str], entities: Mapping[str, str]) -> Iterator[str]:
    """Yield the uris of terms: those of ``entities``, by form, where the document has one for it ("FDA")."""
    for term in terms:
        if known := entities.get(normalise_name(term)):
            yield known
            continue
        # The term as defined by this document: another one may define "Company" differently.
        uri = page_uri(normalise_title(f"{term} ({title})"))
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
