"""Values passed between the stages of the pipeline. They are frozen and know nothing about storage.

The parser produces a :class:`Page`, the graph turns it into nodes, and a search returns :class:`Hit` values. All
offsets count characters (code points) of the page's plain text: ``page.text[chunk.start:chunk.end] == chunk.text``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from typing import Literal

MetadataValue = str | int | float | bool
"""A metadata value of a document: text, number or boolean. Dates are ISO 8601 text."""


class ChunkKind(StrEnum):
    """The kind of block that a chunk was on its page."""

    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    INFOBOX = "infobox"
    QUOTE = "quote"
    DEFINITION = "definition"
    IMAGE = "image"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Link:
    """A hyperlink to another document.

    ``target`` is the title that the link names (spaces, NFC, no fragment). It may be a redirect, which only the store
    can resolve. ``start`` and ``end`` delimit the link's visible text in the page's plain text.
    """

    target: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """One retrievable block of a page, with its links.

    - ``pages``: first and last page of a paginated document (PDF, slides, sheets) on which it stands, counted from 1;
      None for documents without pages.
    - ``references``: relative addresses of other documents, such as ``../setup.md#linux``. They can only be resolved
      once all documents are known.
    - ``thumbnail``: for a chunk of kind ``image``, a small WebP copy of the picture
      (:mod:`trivium.parser.thumbnails`); otherwise empty.
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
    """A heading and the chunks directly under it, without those of its sub-sections.

    ``level`` is 1 for the top sections of a page, 2 for their sub-sections, and so on, regardless of the page's own
    ``<h2>``..``<h6>``. ``parent`` is the index of the enclosing section in ``Page.sections``, None at the top.
    ``anchors`` are the names by which links refer to it (``<h2 id="setup">``, ``## Setup {#setup}``). ``start`` is the
    offset of the heading in the page's plain text, None if it is not there or not to be in a passage; ``page`` the page
    of a paginated document on which it stands.
    """

    heading: str
    level: int
    parent: int | None
    chunks: tuple[Chunk, ...] = ()
    anchors: tuple[str, ...] = ()
    start: int | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed relation from the page's subject to another title: the label of an infobox row and a linked value."""

    type: str
    target: str


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed document.

    - ``title``: the canonical title, as given by the page itself.
    - ``text``: the plain text that all offsets refer to.
    - ``chunks``: the chunks above the first heading; ``sections``: the sections in document order.
    - ``aliases``: other titles that redirect here.
    - ``revision``: None when the source has no revisions.
    - ``format``: format of the source document (``html``, ``pdf``, ``markdown``, ...).
    - ``path``: relative path of the file, such as ``docs/setup.md``, by which other files refer to it. Empty for
      documents that are not files. A store keeps the path below the folder that was loaded.
    - ``modified``: time of the last change (ISO 8601, UTC), None when unknown.
    - ``metadata``: stated by the document or given by the user.
    - ``missing``: parts of the document that could not be read, each with the reason, for the report of a load.
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
    missing: tuple[str, ...] = ()

    def all_chunks(self) -> Iterator[tuple[Section | None, Chunk]]:
        """Iterate over every chunk in document order with its section (None for the lead)."""
        for chunk in self.chunks:
            yield None, chunk
        for section in self.sections:
            for chunk in section.chunks:
                yield section, chunk


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Identifies the embedder that a store was built with. Vectors of different embedders cannot be mixed."""

    name: str
    version: str
    dimension: int


@dataclass(frozen=True, slots=True)
class GoldPassage:
    """A gold passage given by its text."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where one ``document``, named by its path, a suffix of it, or its id in a benchmark, answers a question: on any of
    these ``pages``, counted from 1, else in any of these ``quotes``, else anywhere.
    """

    document: str
    quotes: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text that an annotator marked on another program's rendering of the page: its words, without tags.

    ``place``, in [0, 1], is the relative position on that page where it begins. If the same words occur several
    times, ``occurrence`` gives the index of the marked occurrence, from 0, and their number.
    """

    text: str
    place: float
    occurrence: tuple[int, int] | None = None


class NoAnswer(StrEnum):
    """Why a question has no gold answer although annotators were asked."""

    NONE = "no annotator marked a long answer"
    FEW = "too few annotators marked a long answer"


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its gold data, as read from a question file.

    The gold is given in one of six ways, tried in this order: ``evidence``, ``gold_passages``, ``gold_titles``,
    ``page`` + ``marked``, ``page`` + ``paragraph`` (+ ``section``), ``page`` + ``answers``. With ``gold_any`` any
    part of it answers the question, otherwise all parts are needed together. Every chunk that overlaps a ``marked``
    text is gold by itself. ``history`` holds the preceding conversation, oldest first: turns, or just questions where
    the answers are unknown. ``no_answer`` gives the reason, and a sentence, for a question without gold.

    ``judged`` are the documents of a benchmark that were judged for the question, by their id, with their grades (0:
    not relevant); it comes before all other gold. ``unanswerable``: the collection does not have the answer.
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
    judged: tuple[tuple[str, int], ...] = ()
    unanswerable: bool = False


@dataclass(frozen=True, slots=True)
class GraphPath:
    """A path through the graph: ``relations[i]`` leads from ``nodes[i]`` to ``nodes[i + 1]``; nodes are uris.

    Its text form, ``A -[relation]-> B``, is for display only and cannot be parsed, since titles may contain such
    arrows.
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
"""What led a retriever to a chunk: the uri of a node, a path, or empty text when the chunk was found directly."""


@dataclass(frozen=True, slots=True)
class LiveOrigin:
    """Origin of a passage from a live source: the ``source`` that was asked, the ``address`` of the document, its
    publication date ``published`` (ISO 8601 if the source provides it in that form, None if unknown) and the time it
    was ``retrieved`` (ISO 8601, UTC).
    """

    source: str
    address: str
    published: str | None
    retrieved: str


@dataclass(frozen=True, slots=True)
class SourceOutcome:
    """Outcome of asking a live source: the number of documents ``found``, the ``seconds`` it took, and the ``error``
    if it failed. ``cached_age`` is the age of a cached answer in seconds, None for a fresh one. Both an error and an
    age mean that the source failed and an old answer was used.
    """

    name: str
    found: int
    seconds: float
    error: str | None = None
    cached_age: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked chunk of a result list.

    - ``rank`` starts at 1; a higher ``score`` is better. Score and probability do not depend on the number of hits
      requested.
    - ``section``: uri of the section (or page) directly above the chunk; ``start`` and ``end``: character offsets in
      the page's plain text.
    - ``baseline`` and ``contributions``: filled when an explanation was requested. ``baseline`` is the score of an
      average candidate of the question, ``contributions`` what each retriever adds to it; together they sum to
      ``score``.
    - ``provenance``: for each retriever, the node that made the chunk a candidate.
    - ``named``: the words of the question by which the page's title says that it is meant, such as *Adobe* and *FY2017*;
      filled when an explanation was requested.
    - ``probability``: probability in [0, 1] that the chunk answers the question, the sigmoid of the score of a
      trained fusion. None for other fusions and under a condition, where scores are not calibrated.
    - ``document``: path of the page's file below the loaded folder, or its source, such as an address.
    - ``pages``: pages of a paginated document (PDF, slides) on which the chunk stands, counted from 1; otherwise
      empty.
    - ``format``, ``metadata``: those of the page.
    - ``live``: origin of a passage from a live source, None for passages of the collection.
    - ``rerank_score``: score of the reranker, which then determines the rank, while ``score`` and ``probability`` are
      those of the search before it. None for passages that were not reranked.
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
    contributions: Mapping[str, float] = field(default_factory=dict, hash=False)
    provenance: Mapping[str, str] = field(default_factory=dict, hash=False)
    baseline: float = 0.0
    probability: float | None = None
    document: str = ""
    pages: tuple[int, ...] = ()
    format: str = ""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict, hash=False)
    live: LiveOrigin | None = None
    rerank_score: float | None = None
    named: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """HTML representation for notebooks. Texts come from documents and are escaped."""
        likely = "" if self.probability is None else f" ({self.probability:.0%} likely to answer)"
        parts = ", ".join(f"{_html(name)} {value:+.3f}" for name, value in self.contributions.items())
        explained = f"<p><small>{parts}</small></p>" if parts else ""
        return (
            f"<p><b>{self.rank}. {_html(self.section)}</b> <small>{_html(place_of(self.uri, self.pages))}"
            f"{likely}</small></p>{_html_lines(self.text)}{explained}"
        )


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage cited by an answer. ``number`` is its label in the answer's text, as in ``[1]``. ``start`` and
    ``end`` are character offsets of the whole passage in the page's plain text. ``document``, ``pages`` and ``live``
    are as in :class:`Hit`.
    """

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
    """Why a sentence of an answer cites passage ``number``. ``how`` is one of:

    - ``prompted``: the language model cited it itself.
    - ``similarity``: the passage was found afterwards to support the sentence.
    - ``quoted``: the sentence was taken from the passage.
    - ``computed``: the value was computed from rows of the passage.
    - ``graph``: the sentence names the ``entity`` (a uri) that the passage links to, or on whose page the passage
      stands.
    """

    number: int
    how: Literal["prompted", "similarity", "quoted", "computed", "graph"]
    entity: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an answer, at characters ``start`` to ``end`` of its text. ``citations`` are the passage numbers
    it cites itself or was assigned afterwards. ``support`` in [0, 1] says how well the best of these passages
    supports it, and ``supported`` whether that is enough. ``attribution`` explains each citation and names the
    entities that connect the sentence with the passage.
    """

    start: int
    end: int
    citations: tuple[int, ...]
    support: float
    supported: bool
    attribution: tuple[Attribution, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """What an answer quotes: characters ``start`` to ``end`` of the text of passage ``number``. ``cells`` are heads and
    values if it is a row of a table. The answer shows code and lists as they are written, and other parts in one line.
    """

    number: int
    form: AnswerForm
    start: int
    end: int
    cells: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What another document says instead of an answer: the ``text`` of a sentence or row, as it is written in passage
    ``number``, the chunk ``uri`` of a ``document``. ``relation`` tells whether it is ``earlier`` or ``later`` than what
    the answer quotes, and ``reason`` why; ``unknown`` if nothing tells which of the two is in force.
    """

    number: int
    uri: str
    document: str
    text: str
    relation: Literal["earlier", "later", "unknown"]
    reason: str = ""

    def __str__(self) -> str:
        """Return it in one line, for people."""
        label = {"earlier": "Earlier version", "later": "Later version"}.get(
            self.relation, "Another document says otherwise"
        )
        reason = f", {self.reason}" if self.reason else ""
        return f"{label} ({self.document}{reason}): {' '.join(self.text.split())}"


@dataclass(frozen=True, slots=True)
class Usage:
    """Number of tokens a language model read and wrote. Usages can be added and subtracted.

    >>> Usage(5, 2) + Usage(1, 1) - Usage(2)
    Usage(prompt_tokens=4, completion_tokens=3)
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def total(self) -> int:
        """Sum of prompt and completion tokens."""
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
"""The outcome of an answer; see :class:`Answer`."""
AnswerForm = Literal["sentence", "row", "block", "list", "code", "clause", "computed", "closest"]
"""The form of a quoted answer: a sentence or two; rows of a table; a block of lines or a paragraph; a whole list or all
steps, in their order; code; what stands under a number or a heading; a count, total or average that was computed from the
rows quoted below it; or the closest passages.
"""
Intent = Literal["collection", "live", "small_talk", "conversation"]
"""What a question is about: the documents of the collection, sources outside it, nothing (a greeting or small talk),
or the conversation itself.
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question, with its evidence.

    - ``text``: the answer, with citation marks like ``[1]``.
    - ``outcome``: ``answered``; ``closest`` when no sentence states the answer and the text quotes the nearest
      passages; ``absent`` when nothing in the collection is near.
    - ``form``: the form of an answer that quotes; None of one that a model wrote, of small talk, and of ``absent``.
    - ``parts``: what such an answer quotes, in its order.
    - ``disagreements``: what other documents say instead of what it quotes.
    - ``confidence``: probability in [0, 1] that what is quoted answers; None if a model wrote the answer, if nothing
      answers, and of a computed value.
    - ``intent``: what the question was classified as.
    - ``passages``: the passages that were read, best first.
    - ``model``: the language model that wrote the text, if any.
    - ``searched_for``: the question, or the rewritten follow-up; None when nothing was searched for.
    - ``recall_query``: the alternative question that a model wrote for gathering candidates.
    - ``sources``: outcomes of live sources.
    - ``warnings``: failures that were worked around, such as that of a reranker; that texts are not embedded yet, or that
      the question is in a language that the embedder does not know.
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
    form: AnswerForm | None = None
    parts: tuple[AnswerPart, ...] = ()
    confidence: float | None = None
    disagreements: tuple[Disagreement, ...] = ()

    def __str__(self) -> str:
        """Return the text, with its citations."""
        return self.text

    def _repr_html_(self) -> str:
        """HTML representation for notebooks. Texts come from documents, users and models and are escaped."""
        cited = "".join(
            f"<li value={citation.number}>{_html(citation.section)}"
            f" <small>{_html(place_of(citation.uri, citation.pages))}</small></li>"
            for citation in self.citations
        )
        others = "".join(f"<p>{_html(str(other))}</p>" for other in self.disagreements)
        return f"<p><b>{_html(self.question)}</b></p>{_html_lines(self.text)}{others}<ol>{cited}</ol>"


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation and its answer."""

    question: str
    answer: str


def page_numbers(pages: Sequence[int]) -> str:
    """Format page numbers of a document for display.

    >>> page_numbers([12]), page_numbers([12, 13, 14]), page_numbers([])
    ('p. 12', 'pp. 12-14', '')
    """
    if not pages:
        return ""
    return f"p. {pages[0]}" if len(pages) == 1 else f"pp. {pages[0]}-{pages[-1]}"


def place_of(uri: str, pages: Sequence[int]) -> str:
    """Return a chunk's uri with the pages it stands on.

    >>> place_of("Report#chunk-2", (12, 13))
    'Report#chunk-2, pp. 12-13'
    """
    return ", ".join(filter(None, (uri, page_numbers(pages))))


def _html(text: str) -> str:
    """Escape an untrusted text for HTML and isolate its writing direction."""
    return f"<bdi>{escape(text)}</bdi>"


def _html_lines(text: str) -> str:
    return f'<p style="white-space: pre-wrap">{_html(text)}</p>'
