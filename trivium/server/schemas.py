"""Request and response models, as described by OpenAPI."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from trivium.answering.answer_layout import tables_as_lines
from trivium.graph.protocols import SearchStore
from trivium.search.picture_queries import views_for
from trivium.search.requests import AskRequest, SearchRequest, describe
from trivium.serialization import answer_json
from trivium.server.request_fields import (
    AnyText,
    CutOption,
    ExplainOption,
    FusionOption,
    IntentOption,
    Name,
    PictureText,
    PromptOption,
    QuestionText,
    RecallText,
    RerankOption,
    Retrievers,
    RewriteOption,
    SettingsOption,
    Sources,
    Uri,
    WhereText,
    Whole,
)
from trivium.server.thumbnail_links import (
    Addresses,
    ServedCitation,
    ServedHit,
    addresses,
    served_citation,
    served_hit,
)
from trivium.types import (
    Answer,
    AnswerForm,
    AnswerPart,
    Disagreement,
    Hit,
    Intent,
    Outcome,
    SourceOutcome,
    Statement,
    Turn,
    Usage,
)

MAX_HITS = 100
_SAME = (
    "k",
    "retrievers",
    "fusion",
    "explain",
    "settings",
    "where",
    "sources",
    "rerank",
    "cut",
    "intent",
    "rewrite",
)
"""Fields that have the names they have in requests of the engine."""
MAX_TURNS = 20
"""Maximum number of turns in the history of a question."""
MAX_ANSWER_CHARACTERS = 20_000
"""Maximum length of an answer in the history."""


class Given(BaseModel):
    """The body of a request. Unknown keys and numbers in quotes are rejected."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class FindingFields(Given):
    """A question, and how its passages are found."""

    question: QuestionText
    k: int
    retrievers: Retrievers = None
    fusion: FusionOption = None
    settings: SettingsOption = None
    where: WhereText = None

    def options(self) -> dict[str, Any]:
        """Return the fields that requests of the engine have under the same names, without the question."""
        return {name: getattr(self, name) for name in _SAME if name in type(self).model_fields}


class QuestionFields(FindingFields):
    """A question, and how passages for it are found: what searches and answers share, over HTTP and MCP."""

    sources: Sources = None
    rerank: RerankOption = None
    cut: CutOption = None


class SearchFields(QuestionFields):
    """A search."""

    explain: ExplainOption = False
    recall_query: RecallText = None

    def request(self, **callbacks: Any) -> SearchRequest:
        """Return the engine's request. ``callbacks`` are its ``on_sources`` and ``on_warnings``."""
        return SearchRequest(self.question, recall=self.recall_query, **self.options(), **callbacks)


class SearchBody(SearchFields):
    """A question and how to search for it. With a picture, no text is needed."""

    question: AnyText = ""
    k: Annotated[int, Field(ge=1, le=MAX_HITS, description=describe(SearchRequest, "k"))] = 10
    image: PictureText = None

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"question": "Who discovered the two moons of Mars?", "k": 3, "explain": True}]
        }
    )

    @model_validator(mode="after")
    def _ask_something(self) -> Self:
        if not self.question.strip() and (self.image is None or self.views != ["image"]):
            raise ValueError(
                "question: needs some text; only the retriever image, given a picture, does without"
            )
        return self

    @property
    def views(self) -> Sequence[str] | None:
        """The retrievers to ask; None for those of the collection."""
        return views_for(self.image, self.retrievers)

    def options(self) -> dict[str, Any]:
        """Return the fields of the engine's request, with the content of the picture's file."""
        image = None if self.image is None else b64decode(self.image)
        return {**super().options(), "retrievers": self.views, "image": image}


class SearchAnswer(BaseModel):
    """The passages found, best first. Pictures have the address of a `thumbnail`; `live` is the origin of a passage
    from outside the collection. `sources` are the live sources that were asked.
    """

    hits: list[ServedHit]
    warnings: list[str] = Field(
        default=[],
        description="Parts that failed and were skipped, such as a reranker; that texts are not embedded yet; and why no"
        " passage matches `where`: names that no document has, with similar names.",
    )
    sources: tuple[SourceOutcome, ...] = ()

    @classmethod
    def of(
        cls,
        hits: Sequence[Hit],
        store: SearchStore,
        warnings: Sequence[str] = (),
        sources: Sequence[SourceOutcome] = (),
    ) -> Self:
        """Create the answer from hits of a store and of live sources."""
        thumbnails = addresses(store, hits)
        return cls(
            hits=[served_hit(hit, thumbnails) for hit in hits],
            warnings=list(warnings),
            sources=tuple(sources),
        )


class PastTurn(Given):
    """An earlier question and its answer."""

    question: QuestionText
    answer: Whole = Field(max_length=MAX_ANSWER_CHARACTERS)

    def turn(self) -> Turn:
        """Convert to the engine's type. The answer may be its Markdown."""
        return Turn(self.question, tables_as_lines(self.answer))


History = Annotated[
    list[PastTurn], Field(max_length=MAX_TURNS, description="The conversation so far, oldest first.")
]


class AskFields(QuestionFields):
    """A question to be answered from the collection."""

    history: History = Field(default=[])
    intent: IntentOption = None
    rewrite: RewriteOption = True
    prompt: PromptOption = None

    def options(self) -> dict[str, Any]:
        """Return the fields of the engine's request, without the question. How a model is prompted is named only if the
        request says so.
        """
        named = {} if self.prompt is None else {"prompt": self.prompt}
        return {**super().options(), "history": [turn.turn() for turn in self.history], **named}


class AskBody(AskFields):
    """A question to be answered from the collection."""

    k: Annotated[int, Field(ge=1, le=30, description=describe(AskRequest, "k"))] = 6
    stream: bool = Field(False, description="Stream the answer as server-sent events.")
    model: Name | None = Field(
        None,
        description="The language model that writes the answer: one of `models` in `GET /stats`, or `none` to quote"
        " passages; by default the first of them.",
    )

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"question": "Who discovered the two moons of Mars?"},
                {
                    "question": "When did he live?",
                    "history": [
                        {"question": "Who discovered the two moons of Mars?", "answer": "Asaph Hall [1]."}
                    ],
                    "stream": True,
                },
            ]
        }
    )


class AskAnswer(BaseModel):
    """An answer and its citations. Citation marks like `[1]` in `answer` are the numbers of `citations`; offsets of
    `statements` count characters of `answer`, those of `citations` characters of the page's text.
    """

    answer: str
    markdown: str = Field(
        "", description="The answer as Markdown: rows as a table, code fenced, lists in lines."
    )
    outcome: Outcome = Field(
        description="`closest` if no sentence states the answer, and the closest passages are quoted; `absent` if"
        " nothing in the collection is close."
    )
    intent: Intent = Field(description="The detected intent of the question.")
    searched_for: str | None = Field(
        description="The question that was searched for; differs if a follow-up was rewritten. Null if there was no"
        " search."
    )
    recall_query: str | None = Field(
        None,
        description="An alternative query written by a language model that contributed candidates; all candidates are"
        " ranked by `searched_for`.",
    )
    form: AnswerForm | None = Field(
        None, description="The form of an answer that quotes; null if a model wrote it, or there is none."
    )
    parts: tuple[AnswerPart, ...] = Field(
        (), description="What such an answer quotes; offsets count characters of the passage's `text`."
    )
    confidence: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Probability that the quoted part answers; null if a model wrote the answer or a rule found it.",
    )
    disagreements: tuple[Disagreement, ...] = Field(
        (), description="What other documents say instead, and which of the two is newer, if known."
    )
    citations: list[ServedCitation]
    statements: tuple[Statement, ...]
    passages: list[ServedHit]
    model: str | None = Field(description="The language model; null if the answer quotes the passages.")
    usage: Usage
    sources: tuple[SourceOutcome, ...] = Field(description="The live sources that were asked.")
    warnings: tuple[str, ...] = Field(
        (),
        description="Parts that failed and were skipped, such as a reranker; and that texts are not embedded yet.",
    )

    @classmethod
    def of(cls, answer: Answer, thumbnails: Addresses) -> Self:
        """Create the model from the engine's answer, with the thumbnails of its hits."""
        fields = answer_json(
            answer,
            lambda hit: served_hit(hit, thumbnails),
            lambda citation: served_citation(citation, thumbnails),
        )
        return cls(**{**fields, "statements": answer.statements})


class ExplainBody(FindingFields):
    """A question, a passage, and the search to explain."""

    uri: Uri = Field(description="The passage (chunk).", examples=["Phobos#chunk-1"])
    recall_query: RecallText = None
    k: int = Field(10, ge=1, le=MAX_HITS)

    def request(self) -> SearchRequest:
        """Return the search to explain."""
        return SearchRequest(self.question, recall=self.recall_query, **self.options())

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"question": "Who discovered the two moons of Mars?", "uri": "Mars#Moons#chunk-1"}]
        }
    )


class ErrorDetail(BaseModel):
    """The details of an error."""

    code: str = Field(description="Machine-readable code.", examples=["not_found"])
    message: str = Field(description="Human-readable message.", examples=["there is no document 'Vulcan'"])
    type: str | None = Field(None, description="Only below `/v1/`: its kind, as in OpenAI's API.")


class ErrorAnswer(BaseModel):
    """The format of every error."""

    error: ErrorDetail


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the ``responses`` of a route: the errors it may return in addition to those of every route."""
    return {status: {"model": ErrorAnswer} for status in statuses}
