"""The graph of stored pages: what follows from them, worked out on first use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from trivium.graph.link_fragments import split_link
from trivium.graph.node_properties import ancestors
from trivium.graph.page_facts import now, page_digest
from trivium.graph.page_graph import ChunkNode, PageGraph, QuestionNode, RelationEdge, SectionNode
from trivium.graph.records import PageRecord
from trivium.graph.schema import (
    QUESTION,
    Label,
    RelationshipType,
    embedding_text,
    entity_text,
    headings_as_text,
    without_unrequested,
)
from trivium.graph.source_store.source_of_truth import StoredPage


def chunk_text(chunk: ChunkNode) -> str:
    """Return the text of a chunk that is embedded."""
    return embedding_text(headings_as_text(chunk.parent), chunk.text)


@dataclass(frozen=True)
class Graph:
    """Pages by uri, and types of entities."""

    stored: Mapping[str, StoredPage]
    types: Mapping[str, str]

    @cached_property
    def pages(self) -> dict[str, PageGraph]:
        """Pages, sorted by uri."""
        return {uri: self.stored[uri].page for uri in sorted(self.stored)}

    @cached_property
    def records(self) -> list[PageRecord]:
        """What is known of each page, sorted by uri."""
        return [
            PageRecord(
                page.uri,
                page.source,
                page.revision,
                page.content_hash,
                page.format,
                page.path,
                page.modified,
                page.metadata,
                self.stored[page.uri].added,
                page.given,
            )
            for page in self.pages.values()
        ]

    @cached_property
    def aliases(self) -> dict[str, str]:
        """The page that each alias leads to, sorted by alias. A title is no alias; of several claims that of the lowest
        page uri holds.
        """
        found: dict[str, str] = {}
        for uri, page in self.pages.items():
            for alias in page.aliases:
                if alias not in self.pages:
                    found.setdefault(alias, uri)
        return dict(sorted(found.items()))

    def resolve(self, uri: str) -> str:
        """Return the entity that a title or alias refers to."""
        return self.aliases.get(uri, uri)

    @cached_property
    def sections(self) -> dict[str, tuple[PageGraph, SectionNode]]:
        """Sections with their pages, by page uri and position."""
        return {
            section.uri: (page, section)
            for page in self.pages.values()
            for section in sorted(page.sections, key=lambda section: section.position)
        }

    @cached_property
    def chunks(self) -> dict[str, tuple[PageGraph, ChunkNode]]:
        """Chunks with their pages, by page uri and position."""
        return {
            chunk.uri: (page, chunk)
            for page in self.pages.values()
            for chunk in sorted(page.chunks, key=lambda chunk: chunk.position)
        }

    @cached_property
    def cited(self) -> dict[str, list[str]]:
        """The distinct entities that each chunk cites, in order of appearance."""
        return {
            uri: list(dict.fromkeys(map(self.resolve, chunk.cites)))
            for uri, (_, chunk) in self.chunks.items()
        }

    def cited_sections(self, chunk: str) -> list[str]:
        """Return the distinct sections that a chunk's links mean."""
        if chunk not in self.chunks:
            return []
        found: dict[str, None] = {}
        for name, anchor in map(split_link, self.chunks[chunk][1].anchors):
            page = self.pages.get(self.resolve(name))
            meant = () if page is None else page.sections
            found.update((section.uri, None) for section in meant if anchor in section.anchors)
        return list(found)

    @cached_property
    def relations(self) -> list[RelationEdge]:
        """The distinct relations between entities, by source, type and target."""
        stated = (edge for page in self.pages.values() for edge in page.relations)
        return RelationEdge.distinct(
            edge._replace(source=self.resolve(edge.source), target=self.resolve(edge.target))
            for edge in stated
        )

    @cached_property
    def relation_types(self) -> list[str]:
        """The distinct types of relations, sorted."""
        return sorted({edge.type for edge in self.relations})

    @cached_property
    def entities(self) -> dict[str, str]:
        """The text of each entity, sorted by uri: of pages, of what chunks cite, and of both ends of relations."""
        ends = (end for edge in self.relations for end in (edge.source, edge.target))
        uris = {*self.pages, *(uri for cited in self.cited.values() for uri in cited), *ends}
        return {uri: entity_text(uri, self.types.get(uri, "")) for uri in sorted(uris)}

    @cached_property
    def passages(self) -> dict[str, ChunkNode]:
        """The distinct texts of chunks that are embedded, and the first chunk with each."""
        found: dict[str, ChunkNode] = {}
        for _, chunk in self.chunks.values():
            found.setdefault(chunk_text(chunk), chunk)
        return found

    @cached_property
    def texts(self) -> dict[str, None]:
        """The distinct texts that are embedded, in the order in which they are pending."""
        pages = (self.entities[uri] for uri in self.pages)
        others = (*pages, *self.sections, *self.entities.values(), *self.relation_types)
        return dict.fromkeys([*self.passages, *others])

    def counts(self) -> tuple[dict[str, int], dict[str, int]]:
        """Return the numbers of nodes by label, and of relationships by type."""
        above = {uri: len(up) for page in self.pages.values() for uri, up in ancestors(page).items()}
        cites = sum(map(len, self.cited.values()))
        parents = [chunk.parent for _, chunk in self.chunks.values()]
        follows = len(parents) - len(set(parents))
        questions = [question for page in self.pages.values() for question in page.questions]
        nodes = {
            Label.ENTITY: len(self.entities),
            Label.PAGE: len(self.pages),
            Label.SUBCHAPTER: len(self.sections),
            Label.CHUNK: len(self.chunks),
            QUESTION: len({question.uri for question in questions}),
        }
        relationships = {
            RelationshipType.HAS_SUBCHAPTER: len(self.sections),
            RelationshipType.IS_SUBCHAPTER_OF: sum(above.values()),
            RelationshipType.HAS_CHUNK: len(parents),
            RelationshipType.IS_CHUNK_OF: sum(1 + above[parent] for parent in parents),
            RelationshipType.NEXT: follows,
            RelationshipType.PREVIOUS: follows,
            RelationshipType.CITES: cites,
            RelationshipType.CITED_IN: cites,
            RelationshipType.SEMANTIC_REL: 2 * len(self.relations),
            RelationshipType.IS_ANSWER_OF: sum(len(question.chunks) for question in questions),
        }
        return (
            without_unrequested({str(label): count for label, count in nodes.items()}),
            without_unrequested({str(kind): count for kind, count in relationships.items()}),
        )


class Draft:
    """A graph that is being changed."""

    def __init__(self, before: Graph) -> None:
        self.stored = dict(before.stored)
        self.types = dict(before.types)

    def put(self, page: PageGraph) -> None:
        """Put a page in place of the one with its uri, of which the aliases remain."""
        known = self.stored.get(page.uri)
        chunks = tuple(replace(chunk, references=()) if chunk.references else chunk for chunk in page.chunks)
        self.stored[page.uri] = StoredPage(
            replace(
                page,
                aliases=() if known is None else known.page.aliases,
                chunks=chunks,
                relations=tuple(RelationEdge.distinct(page.relations)),
                questions=(),
            ),
            now() if known is None else known.added,
            page_digest(page),
        )
        self.claim(page.uri, page.aliases)
        self.answer(page.uri, page.questions)

    def claim(self, uri: str, aliases: Iterable[str]) -> None:
        """Add aliases of a page."""
        page = self.stored[uri].page
        if new := set(aliases) - set(page.aliases):
            self._replace(replace(page, aliases=tuple(sorted({*page.aliases, *new}))))

    def relate(self, uri: str, relations: Iterable[RelationEdge]) -> int:
        """Add relations of a page. Returns how many were new."""
        page = self.stored[uri].page
        known = {relation.triple for relation in page.relations}
        new = [relation for relation in RelationEdge.distinct(relations) if relation.triple not in known]
        if new:
            self._replace(replace(page, relations=tuple(sorted([*page.relations, *new]))))
        return len(new)

    def answer(self, uri: str, questions: Sequence[QuestionNode]) -> int:
        """Record which questions the chunks of a page answer. Returns how many changed."""
        page = self.stored[uri].page
        order = [chunk.uri for chunk in sorted(page.chunks, key=lambda chunk: chunk.position)]
        known = {question.uri: question for question in page.questions}
        changed = 0
        for asked in {question.uri: question for question in questions}.values():
            wanted = set(asked.chunks)
            chunks = tuple(chunk for chunk in order if chunk in wanted)
            before = known.pop(asked.uri, None)
            after = replace(asked, chunks=chunks) if chunks else None
            if after is not None:
                self._reword(after)
                known[asked.uri] = after
            changed += before != after
        if changed:
            answered = tuple(known[asked] for asked in sorted(known))
            self._replace(replace(self.stored[uri].page, questions=answered))
        return changed

    def give_up(self, uri: str) -> None:
        """Mark a page as damaged: the next load of it replaces it."""
        self._replace(replace(self.stored[uri].page, content_hash="", revision=None))

    def _reword(self, asked: QuestionNode) -> None:
        """Give a question on all other pages the text and answers that it has now: it is one node."""
        for other in list(self.stored.values()):
            if any(question.uri == asked.uri for question in other.page.questions):
                questions = (
                    replace(asked, chunks=question.chunks) if question.uri == asked.uri else question
                    for question in other.page.questions
                )
                self._replace(replace(other.page, questions=tuple(questions)))

    def _replace(self, page: PageGraph) -> None:
        self.stored[page.uri] = replace(self.stored[page.uri], page=page)

    def graph(self) -> Graph:
        """Return the graph with these changes, in which types are those of entities."""
        found = Graph(self.stored, self.types)
        return replace(
            found, types={uri: kind for uri, kind in self.types.items() if kind and uri in found.entities}
        )

    def differences(self, before: Graph) -> Iterator[StoredPage]:
        """Iterate over the pages that are new or other ones."""
        return (page for uri, page in self.stored.items() if page is not before.stored.get(uri))
