"""Table 4.3: what a reader makes of the first passages of a method.

The reader is always asked, whatever its passages are; what it refuses is counted, and wrong. Answers and judgements are
kept in a folder as they come.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from published import ANSWERED

from experiments.papers.set_table import Row
from trivium.answering.answer import final_text
from trivium.answering.events import NOT_FOUND
from trivium.answering.prompt_styles import PromptStyle
from trivium.answering.prompting import ANSWER_TOKENS, block, quoted
from trivium.common.safe_files import JsonLines
from trivium.embedding.embedder import Embedder
from trivium.engine import Engine
from trivium.errors import InputError
from trivium.evaluation.answers.model_free_measures import exact_match
from trivium.evaluation.answers.ragas_judge import RagasJudge
from trivium.graph.schema import headings_of
from trivium.llm.chat_model import ChatModel
from trivium.search.ranking import Ranking
from trivium.types import Question

COLUMNS = (*ANSWERED, "refused")
FACTUAL = "ragas_factual_correctness"


@dataclass(frozen=True, slots=True)
class Kept:
    """A line of the folder: a reply, or the number of a judgement (None where there is none), and what it depends on."""

    key: str
    text: str = ""
    number: float | None = None


@dataclass(frozen=True, eq=False)
class Reading:
    """Who reads, how, and who judges. Without a ``judge`` there is no factual correctness."""

    engine: Engine
    model: ChatModel
    style: PromptStyle
    judge: ChatModel | None
    folder: Path | None

    def rows(self, asked: Sequence[Question], rankings: Mapping[str, Sequence[Ranking]], k: int) -> list[Row]:
        """Return a row for each method: the answers from its first ``k`` passages to the ``asked`` questions, all of
        which have known answers. Raises ChatModelError and MissingExtraError.
        """
        overlap = rouge()
        embedder = self.engine.embedder
        judge = None if self.judge is None else RagasJudge(self.judge, embedder, (FACTUAL,))
        made = []
        with _log(self.folder) as (known, append):
            for method, ranked in rankings.items():
                values = []
                for done, (question, ranking) in enumerate(zip(asked, ranked, strict=True), start=1):
                    said = self._answer(question, [uri for uri, _ in ranking[:k]], known, append)
                    correct = math.nan
                    if judge is not None:
                        correct = self._judged(judge, question, said, known, append)
                    values.append(_measured(said, question.answers, overlap, embedder, correct))
                    if done % 25 == 0:
                        print(f"  {method}: {done} of {len(asked)} answered", file=sys.stderr)
                table = np.array(values, dtype=np.float64).reshape(len(values), len(COLUMNS))
                made.append(Row(method, f"{k} chunks", dict(zip(COLUMNS, table.T, strict=True))))
        return made

    def _answer(
        self, question: Question, uris: Sequence[str], known: dict[str, Kept], append: Callable[[Kept], None]
    ) -> str:
        found = self.engine.store.fetch(uris)
        passages = "".join(
            block(number, " > ".join(headings_of(one.section or one.page)), one.text)
            for number, one in enumerate(found, start=1)
        )
        messages = self.style.messages(passages, quoted(question.text))
        key = _key("answer", self.model.name, [[message.role, message.content] for message in messages])
        if key not in known:
            reply = self.model.complete(
                messages, max_tokens=min(ANSWER_TOKENS, self.model.context_tokens // 4), temperature=0.0
            )
            append(Kept(key, final_text(reply)))
        return known[key].text

    def _judged(
        self,
        judge: RagasJudge,
        question: Question,
        said: str,
        known: dict[str, Kept],
        append: Callable[[Kept], None],
    ) -> float:
        if said == NOT_FOUND:
            return 0.0
        name = "" if self.judge is None else self.judge.name
        key = _key("factual", name, [question.text, said, *question.answers])
        if key not in known:
            one = judge.judge("", question.id, question.text, said, (), question.answers)
            append(Kept(key, number=one.values.get(FACTUAL)))
        number = known[key].number
        return math.nan if number is None else number


def with_answers(asked: Sequence[Question], sample: int | None) -> list[int]:
    """Return the places of the questions with known answers, evenly ``sample`` of them. Raises InputError if none has."""
    places = [place for place, question in enumerate(asked) if question.answers]
    if not places:
        raise InputError("table 4.3 needs questions with known answers (`answers`), got none with any")
    step = 1 if sample is None else -(-len(places) // sample)
    return places[::step]


def _measured(
    said: str,
    answers: Sequence[str],
    overlap: Callable[[str, Sequence[str]], float],
    embedder: Embedder,
    correct: float,
) -> list[float]:
    if said == NOT_FOUND:
        return [0.0, 0.0, 0.0, correct, 1.0]
    vectors = embedder.embed([said, *answers])
    cosine = float((vectors[1:] @ vectors[0]).max())
    return [exact_match(said, answers), overlap(said, answers), cosine, correct, 0.0]


def rouge() -> Callable[[str, Sequence[str]], float]:
    """Return ROUGE-L of the package rouge-score, of the known answer that comes closest. Raises InputError without it."""
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        raise InputError("table 4.3 needs the package rouge-score: pip install rouge-score") from error
    scorer = RougeScorer(["rougeL"])
    return lambda said, answers: max(scorer.score(one, said)["rougeL"].fmeasure for one in answers)


def _key(*about: object) -> str:
    return hashlib.sha256(json.dumps(about, ensure_ascii=False).encode()).hexdigest()[:24]


@contextmanager
def _log(folder: Path | None) -> Iterator[tuple[dict[str, Kept], Callable[[Kept], None]]]:
    """What is kept, by key, and a function that keeps more, in the folder if there is one."""
    known: dict[str, Kept] = {}
    if folder is None:
        yield known, lambda one: known.update({one.key: one})
        return
    folder.mkdir(parents=True, exist_ok=True)
    lines = JsonLines(folder / "answers-4.3.jsonl", Kept)
    with lines.writing():
        known.update({one.key: one for one in lines.records()})

        def append(one: Kept) -> None:
            lines.append(one)
            known[one.key] = one

        yield known, append
