"""What follows from stored pages, worked out anew whenever it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from trivium.errors import StoreError
from trivium.graph import pages as facts
from trivium.graph.anchors import split_link
from trivium.graph.model import ChunkNode, PageGraph, QuestionNode, RelationEdge, SectionNode
from trivium.graph.schema import Label, embedding_text, entity_text, headings_of

Triple = tuple[str, str, str]


def chunk_text(chunk: ChunkNode) -> str:
    """Return the text of a chunk that is embedded."""
    return embedding_text(headings_of(chunk.parent), chunk.text)


def triple(relation: RelationEdge) -> Triple:
    """Return the sort key of a relation."""
    return (relation.source, relation.type, relation.target)


def check(page: PageGraph) -> None:
    """Refuse a page that contradicts itself."""
    parents = {page.uri, *(section.uri for section in page.sections)}
    nodes: list[SectionNode | ChunkNode] = [*page.sections, *page.chunks]
    for node in nodes:
        if node.parent not in parents:
            raise StoreError(f"{node.uri!r} stands under {node.parent!r}, which is not of page {page.uri!r}")
    for uris in ([section.uri for section in page.sections], [chunk.uri for chunk in page.chunks]):
        if len(set(uris)) < len(uris):
            raise StoreError(f"every section and chunk of page {page.uri!r} needs a uri of its own")


def revision(page: PageGraph) -> int:
    """An unknown revision is older than any known one."""
    return -1 if page.revision is None else page.revision


@dataclass(slots=True)
class MemoryGraph:
    """What was stored, by uri: pages as written, the aliases each claims, the relations each got later, what entities
    are, and when each page was first stored. A page that has claims or added relations is there; so is an entity that
    has a type."""

    pages: dict[str, PageGraph] = field(default_factory=dict)
    claims: dict[str, set[str]] = field(default_factory=dict)
    added: dict[str, set[RelationEdge]] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    added_at: dict[str, str] = field(default_factory=dict)
    questions: dict[str, dict[str, QuestionNode]] = field(default_factory=dict)

    def put(self, page: PageGraph) -> None:
        """A page instead of the one of that uri; what was added to that one goes with it."""
        self.pages[page.uri] = page
        self.claims.setdefault(page.uri, set())
        self.added_at.setdefault(page.uri, facts.now())
        self.added[page.uri] = set()
        self.questions[page.uri] = {}
        self.answer(page.uri, page.questions)

    def answer(self, uri: str, questions: Sequence[QuestionNode]) -> int:
        """Questions that chunks of a page answer; how many that changed."""
        known, changed = self.questions[uri], 0
        for asked in {question.uri: question for question in questions}.values():
            in_order = sorted(self.pages[uri].chunks, key=lambda c: c.position)
            chunks = tuple(c.uri for c in in_order if c.uri in asked.chunks)
            before = known.pop(asked.uri, None)
            after = replace(asked, chunks=chunks) if chunks else None
            if after is not None:
                for others in self.questions.values():  # one node, whatever page it is answered on
                    if asked.uri in others:
                        others[asked.uri] = replace(after, chunks=others[asked.uri].chunks)
                known[asked.uri] = after
            changed += before != after
        return changed

    def remove(self, uri: str) -> bool:
        """Take a page out with all it claims and was given; whether it was there."""
        if uri not in self.pages:
            return False
        del self.pages[uri], self.claims[uri], self.added[uri], self.added_at[uri], self.questions[uri]
        return True

    def prune(self) -> None:
        """A type goes with its entity."""
        entities = self.entities()
        self.types = {uri: kind for uri, kind in self.types.items() if uri in entities}

    def page_graphs(self, uris: Sequence[str] | None) -> Iterator[PageGraph]:
        """Pages with everything they have by now, by uri or in the order asked."""
        for uri in sorted(self.pages) if uris is None else uris:
            if uri in self.pages:
                yield replace(
                    self.pages[uri],
                    aliases=tuple(sorted(self.claims[uri])),
                    relations=tuple(sorted(self.relations_of(uri), key=triple)),
                    questions=tuple(asked for _, asked in sorted(self.questions[uri].items())),
                )

    def sections(self) -> list[tuple[PageGraph, SectionNode]]:
        """Every section, by page uri and position."""
        return [
            (page, section)
            for _, page in sorted(self.pages.items())
            for section in sorted(page.sections, key=lambda s: s.position)
        ]

    def chunks(self) -> list[tuple[PageGraph, ChunkNode]]:
        """Every chunk, by page uri and position."""
        return [
            (page, chunk)
            for _, page in sorted(self.pages.items())
            for chunk in sorted(page.chunks, key=lambda c: c.position)
        ]

    def ancestors(self, uri: str) -> list[str]:
        """The section or page and everything above it."""
        parents = {s.uri: s.parent for _, s in self.sections()}
        found = [uri]
        while found[-1] in parents:
            found.append(parents[found[-1]])
        return found

    def aliases(self) -> dict[str, str]:
        """Alias -> page. A page's own title beats an alias; of two claims the lowest page uri holds."""
        aliases: dict[str, str] = {}
        for uri, claims in sorted(self.claims.items(), reverse=True):
            aliases.update((alias, uri) for alias in claims if alias not in self.pages)
        return aliases

    def resolve(self, uri: str) -> str:
        """Return the entity that a title refers to."""
        return self.aliases().get(uri, uri)

    def cited(self, chunk: ChunkNode) -> list[str]:
        """The distinct entities a chunk cites."""
        aliases = self.aliases()
        return list(dict.fromkeys(aliases.get(uri, uri) for uri in chunk.cites))

    def cited_sections(self, chunk: ChunkNode) -> list[str]:
        """The distinct sections that a chunk's links mean."""
        aliases, found = self.aliases(), []
        for name, anchor in map(split_link, chunk.anchors):
            page = self.pages.get(aliases.get(name, name))
            found += [] if page is None else [s.uri for s in page.sections if anchor in s.anchors]
        return list(dict.fromkeys(found))

    def relations_of(self, uri: str) -> set[RelationEdge]:
        """Relations a page bears witness to, titles as they stand."""
        return self.added[uri] | set(self.pages[uri].relations)

    def relations(self) -> list[RelationEdge]:
        """Distinct relations, resolved, by source, type and target."""
        aliases = self.aliases()
        triples = {
            (aliases.get(r.source, r.source), r.type, aliases.get(r.target, r.target))
            for uri in self.pages
            for r in self.relations_of(uri)
        }
        return [RelationEdge(*each) for each in sorted(triples)]

    def entities(self) -> set[str]:
        """Pages, what chunks cite, and both ends of relations."""
        cited = {e for _, c in self.chunks() for e in self.cited(c)}
        related = {e for r in self.relations() for e in (r.source, r.target)}
        return self.pages.keys() | cited | related

    def entity_text(self, uri: str) -> str:
        """Return the text of an entity that is embedded."""
        return entity_text(uri, self.types.get(uri, ""))

    def nodes(self, label: Label) -> dict[str, str]:
        """uri -> embedded text of every node of a label."""
        if label is Label.CHUNK:
            return {c.uri: chunk_text(c) for _, c in self.chunks()}
        if label is Label.SUBCHAPTER:
            return {s.uri: s.uri for _, s in self.sections()}
        uris = self.pages.keys() if label is Label.PAGE else self.entities()
        return {uri: self.entity_text(uri) for uri in sorted(uris)}

    def texts(self) -> list[str]:
        """Every distinct embedded text: chunks, pages, sections, entities, relation types."""
        order = (Label.CHUNK, Label.PAGE, Label.SUBCHAPTER, Label.ENTITY)
        nodes = [text for label in order for text in self.nodes(label).values()]
        return list(dict.fromkeys([*nodes, *sorted({r.type for r in self.relations()})]))
