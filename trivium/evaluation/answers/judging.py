"""Has answers judged by language models, by several methods, saving each judgement immediately."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from trivium.common.progress import StageProgress
from trivium.common.safe_files import JsonLines
from trivium.embedding.embedder import Embedder
from trivium.errors import InputError
from trivium.evaluation.answers import grading_judge, ragas_judge
from trivium.evaluation.answers.asking import kept, nothing
from trivium.evaluation.answers.grading_judge import Graded, Grader
from trivium.evaluation.answers.judged import JudgedAnswer
from trivium.evaluation.answers.ragas_judge import RagasJudge, RagasJudged
from trivium.evaluation.answers.records import Answered
from trivium.graph.protocols import GraphStore
from trivium.graph.schema import headings_of
from trivium.llm.chat_model import ChatModel
from trivium.types import Question

Judgements = Mapping[str, Mapping[str, Mapping[str, Sequence[JudgedAnswer]]]]
"""Judge -> method -> row -> judgement of each answer."""
_AskJudge = Callable[[Answered, Question, Sequence[str]], JudgedAnswer]


@dataclass(frozen=True, slots=True)
class Way:
    """A method of judging: its measures, the type and file name of its records, and the version its results depend
    on.
    """

    measures: tuple[str, ...]
    kind: type[JudgedAnswer]
    file: str
    version: Callable[[], Any]


WAYS: Mapping[str, Way] = {
    "grades": Way(grading_judge.MEASURES, Graded, "graded", lambda: grading_judge.VERSION),
    "ragas": Way(ragas_judge.MEASURES, RagasJudged, "ragas", ragas_judge.package_version),
}
"""Methods by name: grades with reasons, and the package ragas."""
DEFAULT_WAYS = ("grades",)
FILES = tuple(f"{way.file}-*.jsonl" for way in WAYS.values())


def check_ways(names: Sequence[str]) -> tuple[str, ...]:
    """Return the named methods without duplicates. Raises InputError for an unknown one, and MissingExtraError."""
    if unknown := set(names) - WAYS.keys():
        raise InputError(f"expected ways to judge {of_ways(unknown)}")
    for name in names:
        WAYS[name].version()
    return tuple(dict.fromkeys(names))


def of_ways(unknown: Collection[str]) -> str:
    """Return the end of a message about unknown methods: which there are."""
    return f"of {', '.join(WAYS)}, got {', '.join(sorted(unknown))}"


def judge_settings(model: ChatModel, ways: Sequence[str]) -> dict[str, Any]:
    """Return everything the judgements of a model depend on, by the name they are saved under."""
    about = {"name": model.name, "context_tokens": model.context_tokens}
    return {_key(model.name, way): {**about, "prompts": WAYS[way].version()} for way in ways}


def _key(model: str, way: str) -> str:
    return f"{model} ({way})"


def collect_judgements(
    store: GraphStore,
    embedder: Embedder,
    models: Sequence[ChatModel],
    ways: Sequence[str],
    answers: Mapping[str, Sequence[Answered]],
    asked: Sequence[Question],
    folder: Path,
    progress: StageProgress | None = None,
    before: Callable[[], None] = nothing,
    after: Callable[[JudgedAnswer], None] = nothing,
) -> Judgements:
    """Return the judgement of every answer by every model and method: those saved in the folder, and the others,
    which are requested and saved. ``before`` is called before each of these, ``after`` with it. Raises ChatModelError,
    MissingExtraError, and the errors of ``before``.
    """
    found: dict[str, dict[str, dict[str, list[JudgedAnswer]]]] = {}
    for model in models:
        for name in ways:
            way = WAYS[name]
            log: JsonLines[Any] = JsonLines(judgement_file(folder, model.name, name), way.kind)
            rows = found.setdefault(model.name, {}).setdefault(name, {row: [] for row in answers})
            with log.writing():
                earlier = {(record.row, record.question): record for record in log.records()}
                ask = _judge(name, model, embedder)
                for row, row_answers in answers.items():
                    for done, (question, answered) in enumerate(
                        zip(asked, row_answers, strict=True), start=1
                    ):
                        record = earlier.get((row, question.id))
                        if record is None:
                            before()
                            shown = _passages(store, answered)
                            record = kept(folder, partial(ask, answered, question, shown))
                            log.append(record)
                            after(record)
                        rows[row].append(record)
                        if progress is not None:
                            progress(f"{name} by {model.name}: {row}", done, len(asked))
    return found


def judgement_file(folder: Path, model: str, way: str) -> Path:
    """Return the file of a model's judgements by a method."""
    return folder / f"{WAYS[way].file}-{quote(model, safe='')}.jsonl"


def _judge(way: str, model: ChatModel, embedder: Embedder) -> _AskJudge:
    if way == "grades":
        grader = Grader(model)
        return lambda answered, question, shown: grader.grade(
            answered.row, question.id, question.text, _said(answered), "\n\n".join(shown), question.answers
        )
    by_ragas = RagasJudge(model, embedder)
    return lambda answered, question, shown: by_ragas.judge(
        answered.row, question.id, question.text, _said(answered), shown, question.answers
    )


def _said(answered: Answered) -> str:
    return "" if answered.refused else answered.said


def _passages(store: GraphStore, answered: Answered) -> list[str]:
    records = store.fetch(list(answered.context))
    return [f"{' > '.join(headings_of(record.section))}: {record.text}" for record in records]
