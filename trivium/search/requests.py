"""What can be asked of a store: a search, and an answer. Every door (Python, command line, HTTP, MCP) makes one of these
requests and passes it on whole. A field is described here, once: the options of commands and the fields of HTTP and MCP
take their descriptions from it (:func:`describe`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, TypedDict, get_args

from trivium.common.argument_checks import check_count, check_fields, shown
from trivium.errors import InputError
from trivium.fusion.fusion_names import FUSIONS
from trivium.graph.filter_conditions import Where
from trivium.graph.filter_language import parse
from trivium.live.registry import SOURCES
from trivium.rerank.reranker import Reranker
from trivium.rerank.reranker_names import NAMES as RERANKERS
from trivium.retrievers.retriever_names import NAMES as RETRIEVER_NAMES
from trivium.retrievers.setting_values import SettingValues
from trivium.search.cut import FORMS, Cut
from trivium.types import Intent, SourceOutcome, Turn

if TYPE_CHECKING:  # what writes answers is loaded with the first of them
    from pathlib import Path

    from trivium.answering.prompt_styles import PromptStyle
    from trivium.llm.chat_model import ChatModel

MAX_K = 10_000
"""Maximum number of hits. Memory and time grow with it."""
MAX_QUESTION_CHARACTERS = 20_000
"""Maximum length of a question. The time for keyword matching grows with its number of words."""
MAX_TURN_CHARACTERS = 200_000
"""Maximum length of a question or answer in the history, in characters."""
ANSWER_PASSAGES = 6
"""Number of passages that are read for an answer unless another is given."""

Told = Callable[[Sequence[SourceOutcome]], None]
"""Callback that receives the outcomes of live sources."""
Warned = Callable[[Sequence[str]], None]
"""Callback that receives readable warnings about failures that did not stop the search."""


def _about(text: str) -> dict[str, str]:
    return {"about": text}


@dataclass(frozen=True, kw_only=True)
class PassageOptions:
    """How passages are found and ordered. Raises InputError for a value of another type and for a malformed one;
    names are looked up when the request is asked.
    """

    k: int = field(default=10, metadata=_about("Number of passages."))
    retrievers: Sequence[str] | None = field(
        default=None,
        metadata=_about(
            f"Retrievers to ask, at least one of: {RETRIEVER_NAMES}. By default all eight. One without a fusion keeps"
            " its own scores."
        ),
    )
    fusion: str | None = field(
        default=None,
        metadata=_about(
            f"How their scores are fused: {', '.join(FUSIONS)}, or one of an installed package. If the default is a"
            " network trained on retrievers that are not asked, it is convex."
        ),
    )
    explain: bool = field(default=False, metadata=_about("Include what each retriever contributed."))
    settings: SettingValues | None = field(
        default=None,
        metadata=_about(
            "Settings of retrievers for this question only, by dotted name, such as walk.damping."
        ),
    )
    where: Where | None = field(
        default=None,
        metadata=_about(
            "A condition that passages must match, such as \"year >= 2020 and source = 'reports/*'\"."
        ),
    )
    sources: Sequence[str] | None = field(
        default=None,
        metadata=_about(
            f"Live sources to ask besides the store: {', '.join(SOURCES)}; or of an installed package. The question is"
            " sent to them."
        ),
    )
    rerank: str | Reranker | None = field(
        default=None,
        metadata=_about(
            f"Reranker of the first passages: {RERANKERS}, or one of an installed package. The settings rerank.passages"
            " and rerank.seconds limit their number and its time; if it fails, the order is unchanged and a warning"
            " says so."
        ),
    )
    cut: str | Cut | None = field(
        default=None,
        metadata=_about(
            f"Cut the passages by their scores instead of at a fixed k: {FORMS}. Without bounds k is the maximum."
        ),
    )

    def __post_init__(self) -> None:
        check_fields(
            self, but=("question", "retrievers", "fusion")
        )  # these say more where they are looked up
        check_count("k", self.k, MAX_K)
        if self.where is not None:
            object.__setattr__(self, "where", parse(self.where))
        if isinstance(self.cut, str):
            object.__setattr__(self, "cut", Cut.read(self.cut))


@dataclass(frozen=True)
class SearchRequest(PassageOptions):
    """A question, and how passages for it are found."""

    question: str = field(default="", metadata=_about("The question."))
    exact: bool = field(
        default=False, kw_only=True, metadata=_about("Use exact instead of approximate vector search.")
    )
    image: bytes | None = field(
        default=None,
        kw_only=True,
        metadata=_about(
            "The content of a picture file, to search for similar pictures with the retriever image. No question is"
            " needed when no other retriever is asked."
        ),
    )
    recall: str | None = field(
        default=None,
        kw_only=True,
        metadata=_about(
            "An alternative question, such as a paraphrase, that contributes candidates (also of live sources) but does"
            " not affect their ranking."
        ),
    )
    on_sources: Told | None = field(
        default=None,
        kw_only=True,
        metadata=_about("Called once per question with the outcomes of live sources."),
    )
    on_warnings: Warned | None = field(
        default=None,
        kw_only=True,
        metadata=_about(
            "Called with what failed and was skipped, such as a reranker, and with how many texts are not embedded yet;"
            " otherwise these are logged."
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.image is not None:
            from trivium.search.picture_queries import (
                check_picture,  # what reads pictures is loaded with the first of them
            )

            check_picture(self.image)
        if self.recall is not None:
            check_question(self.recall)


@dataclass(frozen=True)
class AskRequest(PassageOptions):
    """A question to be answered from the passages found for it."""

    question: str = field(metadata=_about("The question."))
    k: int = field(
        default=ANSWER_PASSAGES, kw_only=True, metadata=_about("Number of passages to answer from.")
    )
    history: Sequence[Turn | Mapping[str, str]] = field(
        default=(),
        kw_only=True,
        metadata=_about(
            "The conversation so far, as turns or mappings of question and answer, oldest first."
        ),
    )
    model: ChatModel | str | None = field(
        default=None,
        kw_only=True,
        metadata=_about(
            "The language model that writes the answer, or none to quote the best sentences of the passages."
        ),
    )
    prompt: str | Path | PromptStyle | None = field(
        default=None,
        kw_only=True,
        metadata=_about(
            "Prompt style of the language model: the name of a style, one defined in the settings, or a TOML file that"
            " defines one. Ignored without a model."
        ),
    )
    temperature: float | None = field(
        default=None, kw_only=True, metadata=_about("Sampling temperature, 0 (deterministic) to 2.")
    )
    max_tokens: int | None = field(
        default=None, kw_only=True, metadata=_about("Maximum length of the answer in tokens.")
    )
    intent: Intent | None = field(
        default=None, kw_only=True, metadata=_about("Intent of the question, instead of detecting it.")
    )
    rewrite: bool = field(
        default=True,
        kw_only=True,
        metadata=_about(
            "Whether to rewrite a follow-up question as a standalone question before the search."
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_question(self.question)
        object.__setattr__(self, "history", _turns(self.history))
        if self.intent is not None and self.intent not in get_args(Intent):
            raise InputError(f"expected an intent of {', '.join(get_args(Intent))}, got {shown(self.intent)}")

    @property
    def turns(self) -> Sequence[Turn]:
        """The history as turns."""
        return self.history  # type: ignore[return-value] # made in __post_init__

    def search(
        self, question: str, recall: str | None, on_sources: Told, on_warnings: Warned
    ) -> SearchRequest:
        """Return the search that finds the passages for this answer, by another wording of its question."""
        options = {one.name: getattr(self, one.name) for one in fields(PassageOptions)}
        return SearchRequest(
            question=question, recall=recall, on_sources=on_sources, on_warnings=on_warnings, **options
        )


class _PassageKeywords(TypedDict, total=False):
    explain: bool
    settings: SettingValues | None
    where: Where | None
    sources: Sequence[str] | None
    rerank: str | Reranker | None
    cut: str | Cut | None


class SearchOptions(_PassageKeywords, total=False):
    """The fields of :class:`SearchRequest` that methods take by keyword only, for type checkers."""

    exact: bool
    image: bytes | None
    recall: str | None
    on_sources: Told | None
    on_warnings: Warned | None


class AskOptions(_PassageKeywords, total=False):
    """The fields of :class:`AskRequest` besides its question, for type checkers."""

    k: int
    retrievers: Sequence[str] | None
    fusion: str | None
    history: Sequence[Turn | Mapping[str, str]]
    model: ChatModel | str | None
    prompt: str | Path | PromptStyle | None
    temperature: float | None
    max_tokens: int | None
    intent: Intent | None
    rewrite: bool


def describe(request: type[PassageOptions], name: str) -> str:
    """Return the description of a field of a request."""
    return next(str(one.metadata["about"]) for one in fields(request) if one.name == name)


def check_question(text: object) -> None:
    """Raise InputError unless the question is non-empty text of at most :data:`MAX_QUESTION_CHARACTERS`."""
    if not isinstance(text, str):
        raise InputError(f"expected a question as text, got {type(text).__name__}")
    if not text.strip():
        raise InputError("a question needs some text, got an empty one")
    if len(text) > MAX_QUESTION_CHARACTERS:
        raise InputError(
            f"a question may have {MAX_QUESTION_CHARACTERS:,} characters, got {len(text):,}: an embedder reads the first"
            " few hundred words"
        )


def _turns(history: object) -> list[Turn]:
    """Return the turns of a history. Raises InputError unless it is a sequence of turns of bounded length."""
    if not isinstance(history, Sequence) or isinstance(history, str):
        raise InputError(f"expected the history as a list of turns, got {type(history).__name__}")
    turns = []
    for said in history:
        match said:
            case Turn():
                turn = said
            case {"question": str(asked), "answer": str(answered)}:
                turn = Turn(asked, answered)
            case _:
                raise InputError(
                    "expected trivium.Turn(question, answer), or mappings of question and answer, in the history, got"
                    f" {type(said).__name__}"
                )
        if max(len(turn.question), len(turn.answer)) > MAX_TURN_CHARACTERS:
            raise InputError(
                f"a question or answer of the history may have {MAX_TURN_CHARACTERS:,} characters, got"
                f" {max(len(turn.question), len(turn.answer)):,}"
            )
        turns.append(turn)
    return turns
