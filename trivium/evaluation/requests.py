"""What is asked of an evaluation: one object each, checked when it is made, and passed whole to where it is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from trivium.answering.writing_options import WritingOptions
from trivium.errors import InputError
from trivium.evaluation.answers.bertscore import BertScore
from trivium.evaluation.answers.judging import DEFAULT_WAYS, check_ways
from trivium.evaluation.documents import check_way
from trivium.evaluation.ranking_measures import measure_named
from trivium.evaluation.report import JUDGED_BY
from trivium.fusion.fusion_names import DEFAULT
from trivium.fusion.score_table import Fusion
from trivium.graph.filter_conditions import Condition
from trivium.graph.filter_language import parse
from trivium.llm.chat_model import ChatModel
from trivium.parser.sources.natural_question_rows import MAJORITY, check_annotators
from trivium.rerank.reranker import Reranker
from trivium.retrievers.query import Retriever
from trivium.retrievers.retriever_names import RETRIEVERS
from trivium.retrievers.setting_values import SettingValues
from trivium.search.candidates import DEPTH
from trivium.search.cut import Cut
from trivium.types import Question

Questions = str | Path | Sequence[Question]
"""A question file, or its questions."""
PASSAGES = 6
"""Default number of passages to answer from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateRequest:
    """Which retrieval is measured on which questions.

    - ``retrievers``, ``fusions``: the systems, by name or as objects, each with a name of its own; if neither these nor
      runs are given, all eight retrievers and ``default``.
    - ``measure``: the measure by which systems are compared, at any cutoff (:mod:`trivium.evaluation.ranking_measures`).
    - ``documents``: find documents instead of passages, scored by their ``best`` passage or the ``mean`` of their best
      three (:mod:`trivium.evaluation.documents`). Runs may then name documents.
    - ``rerank``: also measure each system after each of these rerankers, as the system ``NAME > RERANKER``.
    - ``cut``: also measure all of these, ended by each of these rules, as ``NAME > RULE`` (at most
      :data:`~trivium.evaluation.evaluator.CUT_K` passages if a rule has no bounds).
    - ``runs``: TREC files of further systems (ids of questions as in the question file, uris of chunks), to which
      rerankers and cuts apply as well.
    - ``where``: search only chunks that match. Gold chunks remain gold whether they match or not.
    - ``depth``: length of the retrievers' lists. None: as many as they find with their own settings, such as all chunks
      of three pages.
    - ``exact``: exact instead of approximate vector search.
    - ``hits``: file to save the hit lists to, for training.
    - ``settings``: settings of rerankers.
    - ``annotators``: for original rows of Natural Questions, whose answers count
      (:func:`trivium.parser.sources.natural_question_rows.counted`). Unreadable rows are the report's ``problems``.

    Raises InputError for a malformed condition or rule, and for an unknown measure.
    """

    questions: Questions
    retrievers: Sequence[str | Retriever] = ()
    fusions: Sequence[str | Fusion] = ()
    measure: str = JUDGED_BY
    documents: str | None = None
    rerank: Sequence[str | Reranker] = ()
    cut: Sequence[str | Cut] = ()
    runs: Sequence[str | Path] = ()
    where: str | Condition | None = None
    depth: int | None = DEPTH
    exact: bool = False
    hits: str | Path | None = None
    settings: SettingValues | None = None
    annotators: str = MAJORITY

    def __post_init__(self) -> None:
        check_annotators(self.annotators)
        check_way(self.documents)
        measure_named((), (), self.measure)  # raises for an unknown one
        if self.depth is not None and self.depth < 1:
            raise InputError(f"depth must be 1 or more, got {self.depth}")
        for name in ("retrievers", "fusions", "runs", "rerank", "cut"):
            object.__setattr__(self, name, tuple(getattr(self, name) or ()))
        object.__setattr__(self, "cut", tuple(map(_cut, self.cut)))
        if isinstance(self.where, str):
            object.__setattr__(self, "where", parse(self.where))
        if not self.retrievers and not self.fusions and not self.runs:
            object.__setattr__(self, "retrievers", RETRIEVERS)
            object.__setattr__(self, "fusions", (DEFAULT,))


class EvaluateOptions(TypedDict, total=False):
    """The fields of :class:`EvaluateRequest` that a method takes by keyword only, for type checkers."""

    measure: str
    documents: str | None
    rerank: Sequence[str | Reranker]
    cut: Sequence[str | Cut]
    runs: Sequence[str | Path]
    where: str | Condition | None
    depth: int | None
    exact: bool
    hits: str | Path | None
    settings: SettingValues | None
    annotators: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersRequest:
    """Which answers are measured on which questions, and the ``folder`` for them.

    ``model`` is the reader (None: the best sentences), ``writing`` how it is prompted. It answers from ``k`` passages of
    each context, one row each: of the named ``retrievers`` and ``fusions``, by default ``vector`` and ``default``;
    ``gold`` adds the gold passages themselves, and ``no_context`` an empty context (what the model knows by itself).

    The questions are those whose gold can be traced and whose answers are known; if there are more, ``sample`` of them.
    ``judges`` also judge the answers, by the methods in ``judge_by``
    (:data:`~trivium.evaluation.answers.judging.WAYS`); of several judges the mean counts. Unanswerable questions (also at
    most ``sample``) are asked, too, to see whether they are refused.

    Raises InputError for values out of range, an unknown method, one judge twice, and an empty context without a model.
    """

    questions: Questions
    folder: str | Path
    retrievers: Sequence[str] = ()
    fusions: Sequence[str] = ()
    gold: bool = False
    no_context: bool = False
    k: int = PASSAGES
    sample: int | None = None
    model: ChatModel | None = None
    writing: WritingOptions | None = None
    judges: Sequence[ChatModel] = ()
    judge_by: Sequence[str] = DEFAULT_WAYS
    bertscore: BertScore | None = None

    def __post_init__(self) -> None:
        if self.k < 1 or (self.sample is not None and self.sample < 1):
            raise InputError(f"k and sample must be 1 or more, got {self.k} and {self.sample}")
        if self.no_context and self.model is None:
            raise InputError("a row without context is for a language model: name one, or leave the row out")
        names = [judge.name for judge in self.judges]
        if len(set(names)) < len(names):
            raise InputError(f"expected every judge once, got {', '.join(names)}")
        object.__setattr__(self, "judge_by", check_ways(self.judge_by) if names else ())
        if not self.retrievers and not self.fusions:
            object.__setattr__(self, "retrievers", ("vector",))
            object.__setattr__(self, "fusions", (DEFAULT,))


def _cut(rule: str | Cut) -> Cut:
    return Cut.read(rule) if isinstance(rule, str) else rule
