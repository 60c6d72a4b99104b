"""Pages a Neo4j database cannot hold are refused before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trivium.errors import StoreError
from trivium.graph.node_properties import MAX_KEY_BYTES
from trivium.graph.page_facts import encode_metadata
from trivium.graph.page_graph import ChunkNode, PageGraph, RelationEdge, SectionNode
from trivium.graph.schema import mirror_type

_INT64 = range(-(1 << 63), 1 << 63)


def check_page(page: PageGraph) -> None:
    """Raise StoreError for a page that is inconsistent, or that a server could not store."""
    parents = {section.uri: section.parent for section in page.sections}
    nodes: list[SectionNode | ChunkNode] = [*page.sections, *page.chunks]
    for node in nodes:
        if node.parent != page.uri and node.parent not in parents:
            raise StoreError(
                f"{node.uri!r} stands under {node.parent!r}, which is neither the page {page.uri!r} nor one of its"
                " sections"
            )
    for uris in ([section.uri for section in page.sections], [chunk.uri for chunk in page.chunks]):
        if len(set(uris)) < len(uris):
            raise StoreError(f"every section and chunk of page {page.uri!r} needs a uri of its own")
    for section in page.sections:
        _check_above(section, page, parents)
    check_keys([page.uri, *parents, *(chunk.uri for chunk in page.chunks)])
    check_keys(title for chunk in page.chunks for title in chunk.cites)
    check_keys(page.aliases)
    check_relations(page.relations)
    check_keys(question.uri for question in page.questions)
    _check_texts(_texts(page), page.uri)
    if page.revision is not None and page.revision not in _INT64:
        raise StoreError(f"expected a revision of at most 64 bits for page {page.uri!r}, got {page.revision}")


def check_relations(relations: Iterable[RelationEdge]) -> None:
    """Raise StoreError for relations whose titles or types no index could hold."""
    for relation in relations:
        check_keys([relation.source, mirror_type(relation.type), relation.target])


def check_keys(keys: Iterable[str]) -> None:
    """Raise StoreError for a title or uri that no index could hold."""
    for key in keys:
        try:
            size = len(key.encode())
        except UnicodeEncodeError as error:
            raise StoreError(f"expected text, got half of a surrogate pair in {key[:80]!r}") from error
        if size > MAX_KEY_BYTES:
            raise StoreError(
                f"expected titles, uris and relation types of at most {MAX_KEY_BYTES:,} bytes, got one of"
                f" {size:,}: {key[:80]!r}..."
            )


def _check_above(section: SectionNode, page: PageGraph, parents: dict[str, str]) -> None:
    above, steps = section.parent, 0
    while above != page.uri:
        above, steps = parents[above], steps + 1
        if steps > len(parents):
            raise StoreError(
                f"{section.uri!r} stands under itself: sections of {page.uri!r} go round in a circle"
            )


def _texts(page: PageGraph) -> Iterator[str]:
    yield page.text
    yield page.source
    yield page.content_hash
    yield page.format
    yield page.path
    yield page.modified or ""
    yield encode_metadata(page.metadata)
    for chunk in page.chunks:
        yield from (chunk.text, chunk.kind, chunk.terms, chunk.heading_terms)
    for question in page.questions:
        yield from (question.text, *question.answers)


def _check_texts(texts: Iterable[str], page: str) -> None:
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise StoreError(
                f"expected text in page {page!r}, got half of a surrogate pair at character {error.start}"
            ) from error
