"""Read access to the documents of the collection."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from trivium.answering.conflicts import Conflict, conflicts
from trivium.engine import Engine
from trivium.graph.page_facts import document_name
from trivium.graph.page_graph import PageGraph
from trivium.graph.records import PageRecord, page_numbers
from trivium.graph.schema import Hop, headings_of, page_uri, unescape
from trivium.index.file_links import looks_like_page_file
from trivium.server.errors import not_found
from trivium.server.schemas import errors
from trivium.server.service import Serving
from trivium.server.thumbnail_links import address_of
from trivium.text.normalise import normalise_title
from trivium.types import MetadataValue

router = APIRouter(tags=["documents"])


class Document(BaseModel):
    """A document in the list.

    - ``document``: the name used by hits and conditions, the path of its file below the given folder, or an address.
    - ``path``: the same, empty for documents that are not files.
    - ``source``: the name of the file it was read from, without its folder.
    - ``modified``: ISO 8601 date, null if unknown.
    - ``added``: when a document of this title was first added.
    """

    uri: str = Field(examples=["Phobos (moon)"])
    title: str
    document: str = Field(examples=["reports/2024.pdf"])
    source: str
    revision: int | None
    format: str = Field(examples=["pdf"])
    path: str = Field(examples=["reports/2024.pdf"])
    modified: str | None
    metadata: dict[str, MetadataValue]
    added: str | None


class ListedDocument(Document):
    """A document in the list, with its number of passages."""

    passages: int


class Documents(BaseModel):
    """A page of the list, by uri. `next` is the value for `after` to get the next page; null at the end."""

    documents: list[ListedDocument]
    total: int
    next: str | None


class Section(BaseModel):
    """A heading. `start` is the offset of its first passage (null if it has none); `headings` are its parent headings
    and itself.
    """

    uri: str
    parent: str
    headings: list[str]
    level: int
    start: int | None


class Passage(BaseModel):
    """A passage: characters `start` to `end` of the text, directly under `section`. `cites` are the uris of documents
    that it links to or mentions and of entities without a document; `cites_sections` are the sections that its links
    refer to by an anchor. `pages` are the page numbers it is on, from 1, if the document has pages. `thumbnail` is the
    address of a small picture, null for most passages.
    """

    uri: str
    section: str
    kind: str
    start: int
    end: int
    cites: list[str]
    cites_sections: list[str]
    pages: list[int]
    thumbnail: str | None


class WholeDocument(Document):
    """A document with its structure. All offsets count characters of `text`."""

    aliases: list[str]
    text: str
    sections: list[Section]
    passages: list[Passage]


class Disagreements(BaseModel):
    """What documents say differently about the same, the most alike first."""

    conflicts: list[Conflict]


@router.get("/documents", responses=errors(422, 503))
async def list_documents(
    request: Request,
    serving: Serving,
    limit: Annotated[int, Query(ge=1, le=1000, description="Maximum number of documents.")] = 100,
    after: Annotated[str | None, Query(max_length=4000, description="Only documents after this uri.")] = None,
) -> Documents:
    """List the documents by uri, in pages."""

    def work(engine: Engine) -> Documents:
        pages = engine.store.pages(after, limit + 1)
        shown = pages[:limit]
        passages = engine.store.expand([page.uri for page in shown], Hop.BELOW)
        return Documents(
            documents=[
                ListedDocument(**_facts(page, page.added), passages=len(passages[page.uri])) for page in shown
            ],
            total=engine.store.count_pages(),
            next=shown[-1].uri if len(pages) > limit else None,
        )

    return await serving.read(request, work)


@router.get("/conflicts", responses=errors(422, 503))
async def list_conflicts(
    request: Request,
    serving: Serving,
    limit: Annotated[int, Query(ge=1, le=1000, description="Maximum number of disagreements.")] = 20,
) -> Disagreements:
    """List what documents say differently about the same. All passages are compared with those nearest to them: about
    five seconds for a thousand, so a large collection gets 503; `trivium conflicts` has no time limit.
    """

    def work(engine: Engine) -> Disagreements:
        return Disagreements(conflicts=conflicts(engine.store, limit))

    return await serving.read(request, work)


@router.get("/documents/{page:path}", responses=errors(404, 422, 503))
async def read_document(page: str, request: Request, serving: Serving) -> WholeDocument:
    """Return a document: its text with its sections, passages and their offsets. Aliases are resolved."""

    def work(engine: Engine) -> WholeDocument:
        uri = known_document(engine, page)
        for graph in list(engine.store.page_graphs([uri])):
            record = engine.store.find_pages([uri]).get(uri)
            added = None if record is None else record.added
            return _document(graph, added, _cited(engine, graph), _cited_sections(engine, graph))
        raise _no_document(page)

    return await serving.read(request, work)


def known_document(engine: Engine, page: str) -> str:
    """Return the uri of the document with this title, alias or uri. Raises ApiError if there is none."""
    store = engine.store
    uris = dict.fromkeys((page, page_uri(normalise_title(page))))
    resolved = store.resolve(list(uris))
    documents = store.find_pages(list(resolved.values()))  # entities need not be documents
    for uri in uris:
        if resolved.get(uri) in documents:
            return resolved[uri]
    raise _no_document(page)


def _no_document(page: str) -> Exception:
    return not_found(f"there is no document {page!r}")


def _file(source: str) -> str:
    """Return a source without its folder, which is not exposed to remote callers."""
    return PurePath(source).name if "://" not in source else source


def _facts(page: PageRecord | PageGraph, added: str | None) -> dict[str, Any]:
    return {
        "uri": page.uri,
        "title": unescape(page.uri),
        "document": document_name(page.path or page.source),
        "source": _file(page.source),
        "revision": page.revision,
        "format": page.format,
        "path": page.path,
        "modified": page.modified,
        "metadata": dict(page.metadata),
        "added": added,
    }


def _cited(engine: Engine, graph: PageGraph) -> dict[str, list[str]]:
    """Return the uris cited by each passage, without files that do not exist in the store."""
    cited = engine.store.cited([chunk.uri for chunk in graph.chunks])
    if not graph.path:
        return cited
    paths = {uri for uris in cited.values() for uri in uris if looks_like_page_file(uri)}
    missing = paths - engine.store.find_pages(sorted(paths)).keys()
    return {chunk: [uri for uri in uris if uri not in missing] for chunk, uris in cited.items()}


def _cited_sections(engine: Engine, graph: PageGraph) -> dict[str, list[str]]:
    return engine.store.cited_sections([chunk.uri for chunk in graph.chunks if chunk.anchors])


def _document(
    graph: PageGraph,
    added: str | None,
    cited: Mapping[str, list[str]],
    sections: Mapping[str, list[str]],
) -> WholeDocument:
    starts: dict[str, int] = {}
    for chunk in graph.chunks:
        starts[chunk.parent] = min(chunk.start, starts.get(chunk.parent, chunk.start))
    return WholeDocument(
        **_facts(graph, added),
        aliases=[unescape(alias) for alias in graph.aliases],
        text=graph.text,
        sections=[
            Section(
                uri=section.uri,
                parent=section.parent,
                headings=headings_of(section.uri),
                level=section.level,
                start=starts.get(section.uri),
            )
            for section in graph.sections
        ],
        passages=[
            Passage(
                uri=chunk.uri,
                section=chunk.parent,
                kind=chunk.kind,
                start=chunk.start,
                end=chunk.end,
                cites=cited.get(chunk.uri, []),
                cites_sections=sections.get(chunk.uri, []),
                pages=page_numbers(chunk.pages),
                thumbnail=address_of(chunk.uri) if chunk.thumbnail else None,
            )
            for chunk in graph.chunks
        ],
    )
