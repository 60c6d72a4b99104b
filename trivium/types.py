"""Values that travel between the stages. Frozen, and without knowledge of where they are stored.

The parser makes a :class:`Page`; the graph turns it into nodes; a search answers with :class:`Hit` values.
Every offset counts characters (code points) of the page's plain text: ``page.text[chunk.start:chunk.end] == chunk.text``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from typing import Literal

MetadataValue = str | int | float | bool
"""What a document says of itself under a key: text, a number, yes or no. Dates are text, as ISO 8601 writes them."""


class ChunkKind(StrEnum):
    """What kind of block a chunk was on its page."""

    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    INFOBOX = "infobox"
    QUOTE = "quote"
    DEFINITION = "definition"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Link:
    """A hyperlink to another document of the encyclopaedia.

    ``target`` is the title the link names (spaces, NFC, no fragment); it may be a redirect, which only the
    store can resolve. ``start`` and ``end`` delimit the link's visible text in the page's plain text.
    """

    target: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """One retrievable block of a page, with the links it contains.

    ``pages`` are the first and the last page of a paginated document (PDF, slides, sheets) that it stands on, from 1;
    None where the document has no pages. ``references`` name other documents as this one does, by an address relative to
    it (``../setup.md#linux``); which pages these are is only known when all documents are. ``thumbnail`` is a small copy
    of the picture that a chunk of kind ``image`` stands for, as a WebP file (:mod:`trivium.parser.thumbnails`); empty for
    other chunks, and where there is none.
    """

    kind: ChunkKind
    text: str
    start: int
    end: int
    links: tuple[Link, ...] = ()
    pages: tuple[int, int] | None = None
    references: tuple[str, ...] = ()
    thumbnail: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the chunks directly under it (not those of its sub-sections).

    ``level`` is 1 for the top sections of a page, 2 for theirs, and so on, however the page numbered its
    ``<h2>``..``<h6>``. ``parent`` is the index of the enclosing section in ``Page.sections``, None at the top.
    ``anchors`` are names that the document gives it for links (``<h2 id="setup">``, ``## Setup {#setup}``).
    """

    heading: str
    level: int
    parent: int | None
    chunks: tuple[Chunk, ...] = ()
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed relation from the page's subject to another title: an infobox row label and a linked value."""

    type: str
    target: str


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed document.

    ``title`` is canonical (what the page says of itself). ``text`` is the plain text all offsets refer to.
    ``chunks`` are those above the first heading; ``sections`` are in document order.
    ``aliases`` are other titles that lead here (redirects). ``revision`` is None when the source has none.
    ``format`` is what the document was (``html``, ``pdf``, ``markdown``, ...). ``path`` is where a file lies among those
    it came with, such as ``docs/setup.md``: by it others refer to it; empty for what is no file of its own. A store
    keeps the path below the folder that was given. ``modified`` is when it was last changed (ISO 8601, UTC), None when
    unknown. ``metadata`` is what it says of itself, or its user says of it.
    """

    title: str
    text: str
    chunks: tuple[Chunk, ...] = ()
    sections: tuple[Section, ...] = ()
    aliases: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    source: str = ""
    revision: int | None = None
    format: str = ""
    path: str = ""
    modified: str | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)

    def all_chunks(self) -> Iterator[tuple[Section | None, Chunk]]:
        """Every chunk in document order with its section (None for the lead)."""
        for chunk in self.chunks:
            yield None, chunk
        for section in self.sections:
            for chunk in section.chunks:
                yield section, chunk


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What a store remembers of the embedder that filled it; two that differ do not mix."""

    name: str
    version: str
    dimension: int


@dataclass(frozen=True, slots=True)
class GoldPassage:
    """A gold passage given by the text itself."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What answers a question in one ``document``, named by its path or the end of it: one of these ``pages``, from 1,
    or, without pages, one of these ``quotes``."""

    document: str
    quotes: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text that somebody marked on a page which another program had made of the document: its words, without tags.
    ``place``, in [0, 1], is where on that page it begins. Where the same words stand there several times, ``occurrence``
    says which of them is meant, from 0, and how many there are."""

    text: str
    place: float
    occurrence: tuple[int, int] | None = None


class NoAnswer(StrEnum):
    """Why people who were asked gave a question no answer that counts."""

    NONE = "no annotator marked a long answer"
    FEW = "too few annotators marked a long answer"


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what is known of its answer, as read from a question file.

    The gold is given in one of six ways, tried in this order: ``evidence``, ``gold_passages``, ``gold_titles``,
    ``page`` + ``marked``, ``page`` + ``paragraph`` (+ ``section``), ``page`` + ``answers``. With ``gold_any`` any part of
    it answers the question, else all of them together do. Of ``marked`` texts every chunk that holds some of one is gold
    by itself. ``history`` is what was asked before it, oldest first: turns of the conversation, or questions alone where
    the answers are not known. ``no_answer`` says of a question without gold why it has none: the kind, and a sentence.
    """

    id: str
    text: str
    answers: tuple[str, ...] = ()
    page: str | None = None
    section: str | None = None
    paragraph: str | None = None
    gold_titles: tuple[str, ...] = ()
    gold_passages: tuple[GoldPassage, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    gold_any: bool = False
    history: tuple[str | Turn, ...] = ()
    marked: tuple[MarkedText, ...] = ()
    no_answer: tuple[NoAnswer, str] | None = None


@dataclass(frozen=True, slots=True)
class GraphPath:
    """A path through the graph: ``relations[i]`` leads from ``nodes[i]`` to ``nodes[i + 1]``; nodes are uris.

    As text, ``A -[relation]-> B``, it is for people: titles may hold such arrows too, so that it cannot be read back.
    """

    nodes: tuple[str, ...]
    relations: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.nodes) != len(self.relations) + 1:
            raise ValueError(
                f"a path of {len(self.nodes)} nodes needs one relation fewer, got {len(self.relations)}"
            )

    def __str__(self) -> str:
        steps = zip(self.relations, self.nodes[1:], strict=True)
        return self.nodes[0] + "".join(f" -[{relation}]-> {node}" for relation, node in steps)


SourceNode = str | GraphPath
"""What led a retriever to a chunk: the uri of a node, a path, or the empty text where it found the chunk by itself."""


@dataclass(frozen=True, slots=True)
class LiveOrigin:
    """Where a passage is from that is not of the collection: the live ``source`` that was asked, the ``address`` of the
    document, when it was ``published`` (ISO 8601 where the source says it so; None where it does not) and ``retrieved``
    (ISO 8601, UTC)."""

    source: str
    address: str
    published: str | None
    retrieved: str


@dataclass(frozen=True, slots=True)
class SourceOutcome:
    """What came of asking a live source: how many documents were ``found`` in how many ``seconds``, and the ``error``
    that kept it from answering, None where it did. ``cached_age`` is how many seconds old the answer is, None for a new
    one: both an error and an age mean that an old answer was used since no new one could be had."""

    name: str
    found: int
    seconds: float
    error: str | None = None
    cached_age: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked chunk of an answer list. ``rank`` starts at 1; a higher ``score`` is better.

    ``section`` is the uri of the section (or page) directly above the chunk; ``start`` and ``end`` are
    characters into the page's plain text. ``contributions`` says how much each retriever added to ``baseline``, the
    score of an average candidate of the question (filled when an explanation was asked for: ``baseline`` and the
    contributions add up to ``score``), and ``provenance`` which node, by retriever, made it a candidate.
    ``probability`` in [0, 1] is how likely the chunk is to answer the question: the sigmoid of the score of a trained
    fusion, None with any other and under a condition, where scores are not calibrated. Score and probability of a hit do
    not depend on how many hits were asked for. ``document`` is the path of the page's file below the folder that was
    given, or else its source, such as an address; ``pages`` are the pages of a paginated document (PDF, slides) that the
    chunk stands on, from 1, none for others; ``format`` and ``metadata`` are those of the page. ``live`` says where a
    passage is from that a live source gave; None for those of the collection. ``rerank_score`` is that of the reranker,
    by which the passage has its rank, as ``score`` and ``probability`` are those of the search before it; None where it
    was not reranked.
    """

    uri: str
    text: str
    score: float
    rank: int
    page: str
    section: str
    kind: str
    start: int
    end: int
    contributions: Mapping[str, float] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    baseline: float = 0.0
    probability: float | None = None
    document: str = ""
    pages: tuple[int, ...] = ()
    format: str = ""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    live: LiveOrigin | None = None
    rerank_score: float | None = None

    @property
    def deciding(self) -> float:
        """The score that it has its rank by: that of the reranker where there is one."""
        return self.score if self.rerank_score is None else self.rerank_score

    def _repr_html_(self) -> str:
        """How notebooks show it. Its texts come from documents: they are escaped."""
        likely = "" if self.probability is None else f", {self.probability:.0%}"
        parts = ", ".join(f"{_html(name)} {value:+.3f}" for name, value in self.contributions.items())
        explained = f"<p><small>{parts}, baseline {self.baseline:+.3f}</small></p>" if parts else ""
        return (
            f"<p><b>{self.rank}. {_html(self.section)}</b> <small>{_html(place_of(self.uri, self.pages))}"
            f" (score {self.score:.3f}{likely})</small></p>{_html_lines(self.text)}{explained}"
        )


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that an answer rests on. ``number`` is what the answer's text calls it, as in ``[1]``; ``start`` and
    ``end`` are characters into the page's plain text, of the whole passage; ``document``, ``pages`` and ``live`` are as
    in :class:`Hit`."""

    number: int
    uri: str
    page: str
    section: str
    start: int
    end: int
    document: str = ""
    pages: tuple[int, ...] = ()
    live: LiveOrigin | None = None


@dataclass(frozen=True, slots=True)
class Attribution:
    """Why a sentence of an answer cites the passage ``number``. ``how``: ``prompted``, the language model cited it
    itself; ``similarity``, it was found afterwards to support the sentence; ``quoted``, the sentence was taken from it;
    ``graph``, the sentence names the ``entity`` (its uri) that the passage links to, or on whose page it stands."""

    number: int
    how: Literal["prompted", "similarity", "quoted", "graph"]
    entity: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an answer: characters ``start`` to ``end`` of its text. ``citations`` are the numbers it names and
    those found for it afterwards; ``support`` in [0, 1] says how well the best of these passages bears it out, and
    ``supported`` whether that is enough. ``attribution`` says of each citation how it came about, and which entities join
    the sentence to the passage."""

    start: int
    end: int
    citations: tuple[int, ...]
    support: float
    supported: bool
    attribution: tuple[Attribution, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens a language model read and wrote. Those of several calls can be added, and those of an earlier count taken
    away.

    >>> Usage(5, 2) + Usage(1, 1) - Usage(2)
    Usage(prompt_tokens=4, completion_tokens=3)
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def total(self) -> int:
        """Those read and written together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens
        )

    def __sub__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens - other.prompt_tokens, self.completion_tokens - other.completion_tokens
        )


Outcome = Literal["answered", "closest", "absent"]
"""What an answer is; see :class:`Answer`."""
Intent = Literal["collection", "live", "small_talk", "conversation"]
"""What a question asks for: the documents of the collection, sources outside it, nothing (a greeting or small talk), or
what was said before in the conversation."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered to a question, and on what grounds.

    ``text`` holds citation marks like ``[1]``. ``outcome``: ``answered``; ``closest`` where no sentence states the answer
    and the text quotes the nearest passages; ``absent`` where nothing in the collection is near. ``intent`` is what the
    question was taken for. ``passages`` are those looked at, best first. ``model`` is the language model that wrote the
    text, if any. ``searched_for`` is the question, or what was made of a follow-up, None where nothing was searched for;
    ``recall_query`` is what a model wrote to gather candidates by as well. ``sources`` say what live sources gave,
    ``warnings`` what did not work and was done without, such as a reranker.
    """

    question: str
    searched_for: str | None
    text: str
    outcome: Outcome
    statements: tuple[Statement, ...]
    citations: tuple[Citation, ...]
    passages: tuple[Hit, ...]
    intent: Intent = "collection"
    model: str | None = None
    usage: Usage = Usage()
    sources: tuple[SourceOutcome, ...] = ()
    recall_query: str | None = None
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The text, with its citations."""
        return self.text

    def _repr_html_(self) -> str:
        """How notebooks show it. Its texts come from documents, people and models: they are escaped."""
        cited = "".join(
            f"<li value={citation.number}>{_html(citation.section)}"
            f" <small>{_html(place_of(citation.uri, citation.pages))}</small></li>"
            for citation in self.citations
        )
        return f"<p><b>{_html(self.question)}</b></p>{_html_lines(self.text)}<ol>{cited}</ol>"


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation and what was answered."""

    question: str
    answer: str


def page_numbers(pages: Sequence[int]) -> str:
    """Pages of a document as people name them.

    >>> page_numbers([12]), page_numbers([12, 13, 14]), page_numbers([])
    ('p. 12', 'pp. 12-14', '')
    """
    if not pages:
        return ""
    return f"p. {pages[0]}" if len(pages) == 1 else f"pp. {pages[0]}-{pages[-1]}"


def place_of(uri: str, pages: Sequence[int]) -> str:
    """A chunk's uri, with the pages it stands on.

    >>> place_of("Report#chunk-2", (12, 13))
    'Report#chunk-2, pp. 12-13'
    """
    return ", ".join(filter(None, (uri, page_numbers(pages))))


def _html(text: str) -> str:
    """A text from outside in HTML; what it says of the direction of writing ends with it."""
    return f"<bdi>{escape(text)}</bdi>"


def _html_lines(text: str) -> str:
    return f'<p style="white-space: pre-line">{_html(text)}</p>'
