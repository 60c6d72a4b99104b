"""Questions asked of a small real store by scripted readers: rows, resuming, judging, refusing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.fakes.chat_model import ScriptedModel
from trivium.answering.answer import NOT_ASKED
from trivium.datasets.gold import Gold
from trivium.engine import Engine
from trivium.errors import (
    ChatModelError,
    EmbeddingError,
    FusionError,
    InputError,
    MissingExtraError,
)
from trivium.evaluation.answers.asking import gold_hits
from trivium.evaluation.answers.bertscore import BertScore
from trivium.evaluation.answers.report import AnswerReport
from trivium.evaluation.answers.run import evaluate_answers as run
from trivium.evaluation.requests import AnswersRequest
from trivium.llm.chat_model import Message
from trivium.llm.json_replies import JsonSchema
from trivium.types import Question, Turn

RECORDS = {
    "Mars": "Mars is a red planet. Its two moons are Phobos and Deimos.",
    "Phobos": "Phobos is the larger moon of Mars. Asaph Hall found it in 1877.",
    "Deimos": "Deimos is the smaller moon of Mars.",
    "Titan": "Titan is the largest moon of Saturn. Christiaan Huygens found it in 1655.",
    "Triton": "Triton is a moon of Neptune. William Lassell found it in 1846.",
}
QUESTIONS = [
    Question("phobos", "Who found Phobos?", ("Asaph Hall", "Hall"), "Phobos"),
    Question("titan", "When was Titan found?", ("1655",), "Titan"),
    Question("triton", "Who found Triton?", ("William Lassell",), "Triton"),
    Question("silent", "What is Deimos?", (), gold_titles=("Deimos",)),
    Question("lost", "Where is Vulcan?", ("nowhere",), "Vulcan"),
]
ASKED = ("phobos", "titan", "triton")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Five passages in a store."""
    folder = tmp_path_factory.mktemp("small")
    lines = [json.dumps({"title": title, "text": text}) + "\n" for title, text in RECORDS.items()]
    (folder / "records.jsonl").write_text("".join(lines))
    with Engine.create(folder / "store", "minilm") as engine:
        engine.build([folder / "records.jsonl"], workers=1)
        yield engine


class Reader(ScriptedModel):
    """Answers "Asaph Hall" whatever is asked; fails at the call with the number ``fails``."""

    name = "reader"

    def __init__(self, fails: int | None = None, **options: int) -> None:
        super().__init__("Asaph Hall found it [1]. So did Huygens.", **options)
        self._fails = fails

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        schema: JsonSchema | None = None,
    ) -> str:
        """The answer."""
        if self._fails == len(self.asked):
            raise ChatModelError("the line is dead")
        return super().complete(messages, max_tokens=max_tokens, temperature=temperature, schema=schema)


def evaluate_answers(
    engine: Engine,
    questions: Sequence[Question],
    folder: Path,
    retrievers: Sequence[str] = (),
    fusions: Sequence[str] = (),
    **options: Any,
) -> AnswerReport:
    """The report on a request made of these."""
    request = AnswersRequest(
        questions=questions, folder=folder, retrievers=retrievers, fusions=fusions, **options
    )
    return run(engine, request)


def test_the_best_sentences_of_vector_and_default_unless_rows_are_named(
    engine: Engine, tmp_path: Path
) -> None:
    """Without a model nothing is unfounded and all citations hold; what could not be asked is counted."""
    report = evaluate_answers(engine, QUESTIONS, tmp_path)
    assert tuple(report.rows) == ("vector", "default") and report.asked == ASKED
    assert (report.without_answers, [u.id for u in report.traced.untraceable]) == (1, ["lost"])
    for row in report.rows.values():
        assert row.means["citations_offered"] == row.means["supported"] == 1.0
        assert row.means["gold_offered"] == row.means["contained"] == 1.0
        assert 0.3 < row.means["cosine"] <= 1.0 and row.judged is None
        assert row.latency["answer"].median > row.latency["search"].median > 0


def test_a_reader_is_told_apart_from_its_context(engine: Engine, tmp_path: Path) -> None:
    """It is right about one of three; where what it says does not answer, the answer without it stands; tokens are
    counted."""
    model = Reader()
    report = evaluate_answers(engine, QUESTIONS, tmp_path, ["lexical"], ["rrf"], gold=True, model=model, k=2)
    assert tuple(report.rows) == ("lexical", "rrf", "gold") and report.reader == "reader"
    for row in report.rows.values():
        assert row.values["contained"][0] == 1 and sum(row.warnings.values()) == 1
        assert row.means["citations_offered"] == 1.0 and row.means["supported"] < 1.0
        assert row.usage.prompt_tokens > 100 < row.usage.completion_tokens * 10
    assert [one.hits for one in report.answers["gold"]] == [
        ("Phobos#chunk-1",), ("Titan#chunk-1",), ("Triton#chunk-1",)
    ]  # fmt: skip
    assert all(len(one.hits) == 2 for one in report.answers["lexical"])
    assert {c.found.row for c in report.comparisons} == {"rrf", "gold"}


def test_a_follow_up_question_is_asked_by_itself(engine: Engine, tmp_path: Path) -> None:
    """The same one of every context and reader; without its history nothing would say which moon is meant."""
    before = Turn("What is Titan?", "Titan is the largest moon of Saturn.")
    question = Question("when", "When was it found?", ("1655",), "Titan", history=(before,))
    model = Reader()
    for folder, asked in (("with", question), ("without", replace(question, history=()))):
        evaluate_answers(engine, [asked], tmp_path / folder, ["lexical"], model=model, k=1)
    told = [" ".join(message.content for message in messages[-1:]) for messages in model.asked]
    assert ["When was Titan found" in text for text in told] == [True, False]


def test_only_what_fits_into_the_prompt_counts_as_offered(engine: Engine, tmp_path: Path) -> None:
    """A small window holds fewer passages than were found."""
    report = evaluate_answers(engine, QUESTIONS, tmp_path, ["vector"], model=Reader(context_tokens=360), k=5)
    given = report.answers["vector"]
    assert all(len(one.hits) == 5 and 0 < len(one.offered) < 5 for one in given)
    assert report.rows["vector"].means["citations_offered"] == 1.0


def test_a_run_that_broke_off_goes_on(engine: Engine, tmp_path: Path) -> None:
    """Nothing is asked twice, and it comes out as if it had never stopped."""
    rows = {"retrievers": ["vector"], "fusions": ["rrf"]}
    with pytest.raises(ChatModelError, match=r"the line is dead.*run it again to go on"):
        evaluate_answers(engine, QUESTIONS, tmp_path / "a", **rows, model=Reader(fails=4))
    rest = Reader()
    went_on = evaluate_answers(engine, QUESTIONS, tmp_path / "a", **rows, model=rest)
    whole = evaluate_answers(engine, QUESTIONS, tmp_path / "b", **rows, model=Reader())
    assert len(rest.asked) == 2
    for row in whole.rows:
        assert went_on.rows[row].means == pytest.approx(whole.rows[row].means, nan_ok=True)
    again = Reader()
    evaluate_answers(engine, QUESTIONS, tmp_path / "a", **rows, model=again)
    assert again.asked == []


def test_more_may_be_asked_for_but_nothing_else(engine: Engine, tmp_path: Path) -> None:
    """Rows, a larger sample; another reader, number of passages or question file is another run."""
    small = evaluate_answers(engine, QUESTIONS, tmp_path, ["vector"], sample=2)
    assert len(small.asked) == 2
    more = evaluate_answers(engine, QUESTIONS, tmp_path, ["vector", "lexical"])
    assert len(more.asked) == 3 and len(more.rows) == 2
    for named, changes in {
        "reader": {"model": Reader()},
        "k": {"k": 5},
        "questions": {"questions": QUESTIONS[1:]},
    }.items():
        arguments = {"questions": QUESTIONS, **changes}
        with pytest.raises(InputError, match=f"other settings.*{named}"):
            evaluate_answers(engine, folder=tmp_path, retrievers=["vector"], **arguments)


def test_a_file_without_a_question_to_ask_gives_an_empty_report(engine: Engine, tmp_path: Path) -> None:
    """Means that do not exist are no zeros."""
    report = evaluate_answers(engine, QUESTIONS[3:], tmp_path, model=Reader()).to_json()
    assert (report["questions"], report["asked"], report["comparisons"]) == (2, 0, [])
    assert report["rows"]["vector"]["contained"] is None


def test_the_sample_is_the_same_every_time(engine: Engine, tmp_path: Path) -> None:
    """It is drawn from the questions that can be judged, so that it has the size that was asked for."""
    drawn = [
        evaluate_answers(engine, QUESTIONS, tmp_path / str(n), ["lexical"], sample=2).asked for n in range(2)
    ]
    assert drawn[0] == drawn[1]
    assert all(len(one) == 2 and set(one) <= set(ASKED) for one in drawn)


def say_as_judge(messages: Sequence[Message]) -> str:
    """The best grade for what was said of Phobos, the worst for the rest. Whoever is asked about Titan talks nonsense."""
    asked = messages[1].content.rpartition("Question: ")[2]
    if "Titan" in asked:
        return "As a language model I like Titan."
    return json.dumps({"grade": 5 if "Phobos" in asked else 1})


def test_a_judge_is_asked_once_and_may_come_later(engine: Engine, tmp_path: Path) -> None:
    """Judgements are kept beside the answers; what it makes no sense of is missing, counted and not zero."""
    evaluate_answers(engine, QUESTIONS, tmp_path, model=Reader())
    judge = ScriptedModel(say_as_judge)
    report = evaluate_answers(engine, QUESTIONS, tmp_path, model=Reader(), judges=[judge])
    row = report.rows["vector"]
    faithful = row.values["faithfulness"].tolist()
    assert faithful[0] == 1.0 and np.isnan(faithful[1]) and faithful[2] == 0.0
    assert row.values["correctness"].tolist()[0] == 1.0
    assert row.counts["faithfulness"] == 2 and row.judged is not None
    assert row.judged.malformed == 10 and sum(row.judged.missing.values()) == 5
    assert all("malformed" in reason for reason in row.judged.missing)
    silent = ScriptedModel("never asked")
    again = evaluate_answers(engine, QUESTIONS, tmp_path, model=Reader(), judges=[silent])
    assert silent.asked == [] and again.to_json() == report.to_json()


class Grading(ScriptedModel):
    """A judge that gives one grade to whatever names Hall, and another to the rest."""

    def __init__(self, name: str, hall: int, rest: int) -> None:
        super().__init__(self.say)
        self.name = name
        self._grades = {True: hall, False: rest}

    def say(self, messages: Sequence[Message]) -> str:
        """A grade."""
        asked = messages[1].content.partition("<answer>")[0]
        return json.dumps({"reason": "so it seems", "grade": self._grades["Hall" in asked]})


def test_two_judges_are_averaged(engine: Engine, tmp_path: Path) -> None:
    """Of three answers (all "Asaph Hall", who found one of them): correctness 1, 0, 0 by one and .75, .5, .5 by the
    other."""
    lenient, strict = Grading("lenient", 4, 3), Grading("strict", 5, 1)
    report = evaluate_answers(
        engine,
        QUESTIONS,
        tmp_path,
        ["vector"],
        model=Reader(),
        judges=[strict, lenient],
        judge_by=["grades"],
        k=1,
    )
    row = report.rows["vector"]
    assert row.values["correctness"].tolist() == [0.875, 0.25, 0.25]
    assert report.judges == ("strict", "lenient") and row.judged is not None
    assert report.by_judge["strict"]["vector"]["correctness"] == pytest.approx(1 / 3)
    assert row.values["hallucination"].tolist() == [0.125, 0.75, 0.75]  # turned round: 0 is nothing made up
    told = report.to_json()
    assert told["judges"] == ["strict", "lenient"]
    kept = [json.loads(line) for line in (tmp_path / "graded-strict.jsonl").read_text().splitlines()]
    assert kept[0]["grades"]["correctness"] == {"grade": 5, "reason": "so it seems", "asked": True}


def test_without_context_the_model_is_asked_alone(engine: Engine, tmp_path: Path) -> None:
    """No passage and no citation; what passages are needed for is missing, with the reason."""
    model = Reader()
    judge = Grading("judge", 5, 1)
    report = evaluate_answers(
        engine, QUESTIONS, tmp_path, ["vector"], no_context=True, model=model, judges=[judge]
    )
    row = report.rows["no-context"]
    assert [one.hits for one in report.answers["no-context"]] == [()] * 3
    assert row.values["contained"].tolist() == [1, 0, 0] and row.means["gold_offered"] == 0
    assert row.counts["correctness"] == 3 and row.counts["hallucination"] == row.counts["faithfulness"] == 0
    assert row.judged is not None
    assert row.judged.missing["hallucination: the reader was given no passages"] == 3
    alone = model.asked[3:]
    assert [messages[-1].content for messages in alone] == [QUESTIONS[n].text for n in range(3)]
    with pytest.raises(InputError, match="for a language model"):
        evaluate_answers(engine, QUESTIONS, tmp_path / "none", no_context=True)


def test_wrong_arguments_are_refused_before_anything_is_asked(engine: Engine, tmp_path: Path) -> None:
    """And before the folder is made."""
    model = Reader()
    folder = tmp_path / "run"
    for error, arguments in (
        (InputError, {"judges": [model], "judge_by": ["claims"]}),
        (InputError, {"judges": [model, model]}),
        (InputError, {"retrievers": ["no-such"]}),
        (FusionError, {"fusions": ["no-such"]}),
        (InputError, {"k": 0}),
        (InputError, {"sample": 0}),
    ):
        with pytest.raises(error):
            evaluate_answers(engine, QUESTIONS, folder, model=model, **arguments)
    assert model.asked == [] and not folder.exists()


def test_gold_passages_are_taken_part_by_part(engine: Engine) -> None:
    """The first of every part before the second of any."""
    gold = Gold((("Deimos#chunk-1", "Mars#chunk-1"), ("Titan#chunk-1",)))
    assert [hit.uri for hit in gold_hits(engine.store, gold, 2)] == ["Deimos#chunk-1", "Titan#chunk-1"]
    hits = gold_hits(engine.store, gold, 9)
    assert [(hit.rank, hit.page) for hit in hits] == [(1, "Deimos"), (2, "Titan"), (3, "Mars")]
    assert hits[1].text == RECORDS["Titan"]


class FakeScorer:
    """What the package bert-score offers, as far as it is used."""

    hash = "tiny_L1_no-idf"

    def __init__(self, model_type: str, num_layers: int | None = None) -> None:
        if model_type == "no-such":
            raise OSError("cannot reach the hub")

    def score(self, cands: list[str], refs: list[list[str]]) -> tuple[object, object, np.ndarray]:
        """F1 is 1 where a reference is the candidate."""
        assert all(cands) and len(cands) == len(refs)
        f1 = np.array([float(cand in ref) for cand, ref in zip(cands, refs, strict=True)])
        return None, None, f1


def test_bertscore_is_that_of_its_package(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is installed and its model can be had; the signature says which. Without, the extra is named."""
    monkeypatch.setitem(sys.modules, "bert_score", None)
    with pytest.raises(MissingExtraError, match=r"trivium\[bertscore\]"):
        BertScore()
    monkeypatch.setitem(sys.modules, "bert_score", SimpleNamespace(BERTScorer=FakeScorer))
    with pytest.raises(EmbeddingError, match="no-such"):
        BertScore("no-such")
    scorer = BertScore("tiny", 1)
    found = scorer.scores(["Hall", "", "Huygens"], [["Asaph Hall", "Hall"], ["x"], ["x"]])
    assert found[0] == 1 and np.isnan(found[1]) and found[2] == 0
    report = evaluate_answers(engine, QUESTIONS, tmp_path, ["vector"], bertscore=scorer)
    assert report.bertscore == FakeScorer.hash and report.rows["vector"].counts["bertscore"] == 3


def test_unanswerable_questions_are_asked_to_see_whether_they_are_refused(
    engine: Engine, tmp_path: Path
) -> None:
    """By hand: quoted sentences refuse both, a reader that invents what is near one of three. None is untraceable."""
    foreign = [
        Question("chess", "Who won the chess cup of 2019?", unanswerable=True),
        Question("peru", "What is the capital of Peru?", unanswerable=True),
    ]
    report = evaluate_answers(engine, [*foreign, *QUESTIONS], tmp_path / "quoted", ["lexical"], gold=True)
    assert report.asked == ASKED and [u.id for u in report.traced.untraceable] == ["lost"]
    told = report.to_json()
    assert (told["questions"], told["unanswerable"]) == (7, 2)
    for row in ("lexical", "gold"):
        assert (told["rows"][row]["refused"], told["rows"][row]["wrongly_refused"]) == (1.0, 0.0)
    asked = [*foreign, Question("near", "Who found Deimos?", unanswerable=True), *QUESTIONS]
    invented = evaluate_answers(engine, asked, tmp_path / "read", ["vector"], model=Reader())
    assert (invented.unanswerable, invented.refused["vector"]) == (3, pytest.approx(2 / 3))
    assert invented.rows["vector"].warnings[NOT_ASKED] == 2
    assert "refused" not in evaluate_answers(engine, QUESTIONS, tmp_path / "none").to_json()["rows"]["vector"]
