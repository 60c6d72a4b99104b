"""The nodes and relationships of one page, ready for any store (made by :mod:`trivium.graph.build_page_graph`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from trivium.graph.schema import headings_as_text, unescape
from trivium.text.headings_in_passages import body_of
from trivium.text.normalise import normalise_title
from trivium.types import MetadataValue


@dataclass(frozen=True, slots=True)
class SectionNode:
    """A SubChapter. ``parent`` is the uri of the section or page it stands under; ``position`` counts from 0
    in the order of the page; ``level`` from 1. ``anchors`` are names by which links may mean it
    (:func:`trivium.graph.link_fragments.section_anchors`), each of one section of its page alone."""

    uri: str
    parent: str
    level: int
    position: int
    anchors: tuple[str, ...] = field(default=(), repr=False)


class Name(NamedTuple):
    """A name in the body of a chunk: ``body[start:end]`` is a form of the name of the entity ``uri``. ``kind`` is what
    the recogniser takes it for (person, place), empty where it does not say."""

    uri: str
    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ChunkNode:
    """A Chunk. ``position`` counts from 0 in the order of the page. ``cites`` are the distinct uris of the
    linked titles in order of appearance, redirects unresolved. ``terms`` and ``heading_terms`` are the search
    terms of the text and of the headings above it (:func:`trivium.text.normalise.terms`), joined by spaces. ``pages``
    are the first and the last page of a paginated document that it stands on. ``references`` are as in
    :class:`~trivium.types.Chunk`; no store keeps them: they become citations when the documents of a load are
    known. ``thumbnail`` is as there, too. ``anchors`` say of pages among ``cites`` which section a link means
    (:func:`trivium.graph.link_fragments.section_link`), in order; whether there is such a section is only known when it
    is asked for. ``names`` are those recognised in its body, in order. Which of them are among ``cites`` depends on the
    other documents (:mod:`trivium.index.link_mentions`)."""

    uri: str
    parent: str
    text: str
    kind: str
    position: int
    start: int
    end: int
    token_count: int
    cites: tuple[str, ...]
    terms: str
    heading_terms: str
    pages: tuple[int, int] | None = None
    references: tuple[str, ...] = ()
    thumbnail: bytes = field(default=b"", repr=False)
    anchors: tuple[str, ...] = field(default=(), repr=False)
    names: tuple[Name, ...] = field(default=(), repr=False)

    @property
    def body(self) -> str:
        """The text without the headings that it begins with (:func:`trivium.text.headings_in_passages.body_of`)."""
        return body_of(self.text, headings_as_text(self.parent))


class RelationEdge(NamedTuple):
    """A typed relation between two entities. Its mirror is implied, not listed. ``body[start:end]`` of the chunk with the
    uri ``chunk`` is the sentence or row that says it; ``chunk`` is empty where that is not known.
    """

    source: str
    type: str
    target: str
    chunk: str = ""
    start: int = 0
    end: int = 0

    @property
    def triple(self) -> tuple[str, str, str]:
        """Source, type and target, by which relations are told apart."""
        return self[:3]

    @staticmethod
    def distinct(relations: Iterable[RelationEdge]) -> list[RelationEdge]:
        """Each triple once, sorted, with the evidence of the first chunk by uri; without where none has some."""
        found: dict[tuple[str, str, str], RelationEdge] = {}
        for edge in sorted(relations):
            if edge.triple not in found or (edge.chunk and not found[edge.triple].chunk):
                found[edge.triple] = edge
        return list(found.values())


@dataclass(frozen=True, slots=True)
class QuestionNode:
    """A question that chunks of a page answer. ``uri`` is its id in the set of questions that it is from; ``answers`` are
    short ones, in their order; ``chunks`` are the uris of chunks, in the order of the page."""

    uri: str
    text: str
    answers: tuple[str, ...]
    chunks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageGraph:
    """Everything one page contributes to the graph. ``aliases`` are uris that resolve to this page.
    ``content_hash`` changes with everything but ``source`` and ``aliases``: what a page's own copy says of its
    redirects is never complete, so aliases accumulate until the page is removed. ``format``, ``path``, ``modified`` and
    ``metadata`` are those of :class:`~trivium.types.Page`; ``given`` are the keys of it that the user gave, in order.
    ``questions`` are those that its chunks answer, by uri, and not in the hash: they are given to a stored page
    (:meth:`~trivium.graph.protocols.GraphWriter.put_questions`), or come with one that is copied from another store.
    ``differing`` are keys of metadata in which its records differ, and which it therefore lacks; ``missing`` are the
    parts of its file that could not be read; ``alone`` says that no other file was looked for, such as a picture that it
    shows. None of these is stored."""

    uri: str
    text: str
    source: str
    revision: int | None
    content_hash: str
    aliases: tuple[str, ...]
    sections: tuple[SectionNode, ...]
    chunks: tuple[ChunkNode, ...]
    relations: tuple[RelationEdge, ...]
    format: str = ""
    path: str = ""
    modified: str | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    given: tuple[str, ...] = ()
    questions: tuple[QuestionNode, ...] = ()
    differing: tuple[str, ...] = field(default=(), compare=False)
    missing: tuple[str, ...] = field(default=(), compare=False)
    alone: bool = field(default=False, compare=False)

    @property
    def has_body(self) -> bool:
        """Whether it has more text than its title."""
        return normalise_title(self.text) not in ("", unescape(self.uri))
