"""Questions asked of a small real store by scripted readers: rows, resuming, judging, refusing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.fakes.chat_model import ScriptedModel
from trivium.cli.app import app
from trivium.datasets.gold import Gold
from trivium.engine import Engine
from trivium.errors import (
    ChatModelError,
    EmbeddingError,
    FusionError,
    InputError,
    MissingExtraError,
    RerankError,
)
from trivium.evaluation.answers.asking import gold_hits
from trivium.evaluation.answers.bertscore import BertScore
from trivium.evaluation.answers.run import evaluate_answers
from trivium.evaluation.trec import write_run
from trivium.llm.base import Message
from trivium.llm.json_replies import JsonSchema
from trivium.rerank.base import Deadline, RerankCandidate
from trivium.rerank.llm_pointwise import PointwiseReranker
from trivium.types import Question, Turn, Usage

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
    """It is right about one of three; the gold passages, one each, do not help it; tokens are counted."""
    model = Reader()
    report = evaluate_answers(engine, QUESTIONS, tmp_path, ["lexical"], ["rrf"], gold=True, model=model, k=2)
    assert tuple(report.rows) == ("lexical", "rrf", "gold") and report.reader == "reader"
    for row in report.rows.values():
        assert row.values["contained"].tolist() == [1, 0, 0]
        assert row.means["citations_offered"] == 1.0 and row.means["supported"] < 1.0
        assert row.usage.prompt_tokens > 100 < row.usage.completion_tokens * 10
    assert [one.hits for one in report.answers["gold"]] == [
        ("Phobos#chunk-1",), ("Titan#chunk-1",), ("Triton#chunk-1",)
    ]  # fmt: skip
    assert all(len(one.hits) == 2 for one in report.answers["lexical"])
    assert {c.found.row for c in report.comparisons} == {"rrf", "gold"}


def test_the_run_of_another_system_is_a_context(engine: Engine, tmp_path: Path) -> None:
    """Its first k passages in its order; a question it does not have gets none. Another run of the name is refused."""
    theirs = tmp_path / "theirs.run"
    uris = ["Titan#chunk-1", "Phobos#chunk-1", "Triton#chunk-1"]
    write_run(theirs, "theirs", {"phobos": [(uri, 1.0) for uri in uris], "titan": [("Titan#chunk-1", 7.0)]})

    def asked() -> dict[tuple[str, str], list[str]]:
        evaluate_answers(engine, QUESTIONS, tmp_path / "out", ["lexical"], runs=[theirs], model=Reader(), k=2)
        lines = (tmp_path / "out" / "answers.jsonl").read_text().splitlines()
        return {(each["row"], each["question"]): each["hits"] for each in map(json.loads, lines)}

    contexts = asked()
    assert {row for row, _ in contexts} == {"lexical", "theirs"}
    assert contexts["theirs", "phobos"] == uris[:2] and contexts["theirs", "titan"] == uris[:1]
    assert contexts["theirs", "triton"] == []
    assert asked() == contexts
    write_run(theirs, "theirs", {"phobos": [("Titan#chunk-1", 1.0)]})
    with pytest.raises(InputError, match=r"begun with other settings \(row theirs"):
        asked()
    theirs.rename(tmp_path / "gold.run")
    with pytest.raises(InputError, match="runs named unlike the other rows, got gold"):
        evaluate_answers(engine, QUESTIONS, tmp_path / "x", gold=True, runs=[tmp_path / "gold.run"])


class Backwards:
    """A reranker that turns the order round; it fails for what is asked about Titan."""

    name = "backwards"
    views: tuple[str, ...] = ()
    independent = False

    def rerank(
        self, question: str, candidates: Sequence[RerankCandidate], deadline: Deadline
    ) -> Sequence[float]:
        """Places from the end."""
        if "Titan" in question:
            raise RerankError("out of order")
        return [float(place) for place in range(len(candidates))]


def test_contexts_are_reranked_and_cut_and_named_so(engine: Engine, tmp_path: Path) -> None:
    """Beside each context as it is. All five passages turned round: the last of the plain search come first; where the
    reranker fails the order is that of the search, and the report says so. Of its scores 4, 3 .. 0 near:0.3 keeps those
    of 4 - .3 * (4 - 0) = 2.8 and more: two."""
    theirs = tmp_path / "theirs.run"
    order = [f"{title}#chunk-1" for title in ("Titan", "Mars", "Deimos")]
    runs = {name: [(uri, 3.0 - place) for place, uri in enumerate(order)] for name in ASKED}
    write_run(theirs, "theirs", runs)
    asked = {"rerank": [Backwards()], "cut": ["near:0.3:1-5"], "model": Reader(), "k": 2}
    report = evaluate_answers(
        engine, QUESTIONS, tmp_path / "a", ["vector"], runs=[theirs], gold=True, **asked
    )
    assert tuple(report.rows) == (
        "vector", "theirs", "vector > backwards", "theirs > backwards", "vector > near:0.3:1-5",
        "theirs > near:0.3:1-5", "vector > backwards > near:0.3:1-5", "theirs > backwards > near:0.3:1-5", "gold",
    )  # fmt: skip
    hits = {row: [list(one.hits) for one in given] for row, given in report.answers.items()}
    for n, question in enumerate(QUESTIONS[:3]):
        plain = [hit.uri for hit in engine.search(question.text, 5, ["vector"])]
        turned = plain if question.id == "titan" else plain[::-1]
        assert hits["vector"][n] == plain[:2] and hits["vector > backwards"][n] == turned[:2]
        assert hits["theirs"][n] == order[:2]
        assert hits["theirs > backwards"][n] == (order if question.id == "titan" else order[::-1])[:2]
    cut = hits["vector > backwards > near:0.3:1-5"]
    assert cut[0] == hits["vector > backwards"][0] and len(cut[2]) == 2
    # Scores 3, 2, 1 of the run: 3 - .3 * (3 - 1) = 2.4 keeps the first alone.
    assert hits["theirs > near:0.3:1-5"] == [order[:1]] * 3
    assert report.rows["theirs > near:0.3:1-5"].passages == 1.0
    warned = {row: list(told.warnings.items()) for row, told in report.rows.items() if told.warnings}
    failed = "backwards: out of order; the passages are in the order of the search"
    assert set(warned) == {row for row in report.rows if "backwards" in row}
    assert warned["vector > backwards"] == [(failed, 1)]
    assert report.to_json()["rows"]["vector > backwards"]["warnings"] == {failed: 1}
    again = Reader()
    told = evaluate_answers(
        engine, QUESTIONS, tmp_path / "a", ["vector"], runs=[theirs], gold=True, **{**asked, "model": again}
    )
    assert again.asked == [] and told.to_json() == report.to_json()


def test_the_command_answers_from_reranked_passages(engine: Engine, tmp_path: Path) -> None:
    """What Python gives, printed with the number of passages of a cut; a language model of the command grades them."""
    lines = [{"id": q.id, "question": q.text, "answers": q.answers, "page": q.page} for q in QUESTIONS[:3]]
    file = tmp_path / "q.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    asked = [
        "evaluate",
        str(file),
        "--store",
        str(engine.store.location),
        "--answers",
        "--retriever",
        "lexical",
    ]
    asked += ["--rerank", "bm25", "--cut", "near:0.9:1-1", "--out", str(tmp_path / "out"), "--k", "3"]
    done = CliRunner().invoke(app, [*asked, "--json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["rows"]
    assert {row: told["passages"] for row, told in rows.items()} == {
        "lexical": rows["lexical"]["passages"], "lexical > bm25": rows["lexical"]["passages"],
        "lexical > near:0.9:1-1": 1, "lexical > bm25 > near:0.9:1-1": 1,
    }  # fmt: skip
    printed = CliRunner().invoke(app, asked, env={"COLUMNS": "200"})
    assert "lexical > bm25 > near:0.9:1-1: " in printed.stdout and "; 1.0 passages" in printed.stdout


def test_rows_are_named_as_those_of_retrieval(engine: Engine, tmp_path: Path) -> None:
    """In the same order, so that both reports can be read side by side."""
    options = {"rerank": ["bm25", "weighted:0.7"], "cut": ["gap", "near:0.5"]}
    names = ["vector", "lexical"], ["rrf"]
    answers = evaluate_answers(engine, QUESTIONS, tmp_path, *names, **options, model=Reader())
    assert list(answers.rows) == list(engine.evaluate(QUESTIONS, *names, **options).rows)
    assert len(answers.rows) == 3 * 3 * 3


def test_what_reranks_and_cuts_is_checked_first_and_another_is_another_row(
    engine: Engine, tmp_path: Path
) -> None:
    """Before anything is asked or written; what a language model took to grade passages is told beside the reader's."""
    for wrong, said in (
        ({"cut": ["probability"]}, "needs probabilities"),
        ({"cut": ["elbow"]}, "unknown cut"),
        ({"rerank": ["bm25", "bm25"]}, "every reranker and every cut once, got bm25, bm25"),
    ):
        with pytest.raises(InputError, match=said):
            evaluate_answers(engine, QUESTIONS, tmp_path / "no", ["vector"], **wrong)
    assert not (tmp_path / "no").exists()
    # Grades cost 4 characters a token: the prompt's, and '{"score": 3}' are 12 characters, 3 tokens a passage.
    judge = ScriptedModel('{"score": 3}')
    report = evaluate_answers(
        engine, QUESTIONS, tmp_path, ["lexical"], rerank=[PointwiseReranker(judge)], model=Reader(), k=2
    )
    row, plain = report.rows["lexical > llm-pointwise:scripted"], report.rows["lexical"]
    read = sum(judge.count_tokens(message.content) for asked in judge.asked for message in asked)
    assert row.search_usage == Usage(read, 3 * len(judge.asked)) and len(judge.asked) >= 6
    assert plain.search_usage == Usage() and row.usage == plain.usage
    other = PointwiseReranker(ScriptedModel('{"score": 3}'), "llm-pointwise:scripted")
    other.model.name = "another"  # type: ignore[misc]
    with pytest.raises(InputError, match="begun with other settings"):
        evaluate_answers(engine, QUESTIONS, tmp_path, ["lexical"], rerank=[other], model=Reader(), k=2)


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
    evaluate_answers(engine, QUESTIONS, tmp_path / "a", **rows, model=again, fresh=True)
    assert len(again.asked) == 6


def test_more_may_be_asked_for_but_nothing_else(engine: Engine, tmp_path: Path) -> None:
    """Rows, a larger sample; another reader, number of passages or question file is another run."""
    small = evaluate_answers(engine, QUESTIONS, tmp_path, ["vector"], sample=2, seed=3)
    assert len(small.asked) == 2
    more = evaluate_answers(engine, QUESTIONS, tmp_path, ["vector", "lexical"])
    assert len(more.asked) == 3 and len(more.rows) == 2
    for named, changes in {
        "reader": {"model": Reader()},
        "k": {"k": 5},
        "exact": {"exact": True},
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


def test_the_sample_hangs_on_the_seed_alone(engine: Engine, tmp_path: Path) -> None:
    """It is drawn from the questions that can be judged, so that it has the size that was asked for."""
    drawn = [
        evaluate_answers(engine, QUESTIONS, tmp_path / str(n), ["lexical"], sample=2, seed=n // 2).asked
        for n in range(4)
    ]
    assert drawn[0] == drawn[1] and drawn[2] == drawn[3]
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
    report = evaluate_answers(engine, QUESTIONS, tmp_path, model=Reader(), judge=judge)
    row = report.rows["vector"]
    faithful = row.values["faithfulness"].tolist()
    assert faithful[0] == 1.0 and np.isnan(faithful[1]) and faithful[2] == 0.0
    assert row.values["correctness"].tolist()[0] == 1.0
    assert row.counts["faithfulness"] == 2 and row.judged is not None
    assert row.judged.malformed == 10 and sum(row.judged.missing.values()) == 5
    assert all("malformed" in reason for reason in row.judged.missing)
    silent = ScriptedModel("never asked")
    again = evaluate_answers(engine, QUESTIONS, tmp_path, model=Reader(), judge=silent)
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


def test_two_judges_are_averaged_and_their_agreement_is_told(engine: Engine, tmp_path: Path) -> None:
    """Of three answers (all "Asaph Hall", who found one of them): correctness 1, 0, 0 by one and .75, .5, .5 by the
    other. Both call the first one good and the others not: kappa 1; a third, who likes all, agrees by chance alone."""
    lenient, strict = Grading("lenient", 4, 3), Grading("strict", 5, 1)
    report = evaluate_answers(
        engine,
        QUESTIONS,
        tmp_path,
        ["vector"],
        model=Reader(),
        judge=[strict, lenient],
        judge_by=["grades"],
        k=1,
    )
    row = report.rows["vector"]
    assert row.values["correctness"].tolist() == [0.875, 0.25, 0.25]
    assert report.judges == ("strict", "lenient") and row.judged is not None
    assert report.by_judge["strict"]["vector"]["correctness"] == pytest.approx(1 / 3)
    assert row.values["hallucination"].tolist() == [0.125, 0.75, 0.75]  # turned round: 0 is nothing made up
    (found,) = [a for a in report.agreements if a.measure == "correctness"]
    assert (found.first, found.second, found.answers, found.kappa, found.same) == (
        "strict",
        "lenient",
        3,
        1,
        1,
    )
    # Disagreement squared: 1 + 4 + 4 seen; by chance (each of 5, 1, 1 with each of 4, 3, 3) (9 + 17 + 17) / 3.
    assert found.weighted == pytest.approx(1 - 9 / (43 / 3))
    told = report.to_json()
    assert told["judges"] == ["strict", "lenient"] and told["agreement"][1]["kappa"] == 1
    kept = [json.loads(line) for line in (tmp_path / "graded-strict.jsonl").read_text().splitlines()]
    assert kept[0]["grades"]["correctness"] == {"grade": 5, "reason": "so it seems", "asked": True}


def test_without_context_the_model_is_asked_alone(engine: Engine, tmp_path: Path) -> None:
    """No passage and no citation; what passages are needed for is missing, with the reason."""
    model = Reader()
    judge = Grading("judge", 5, 1)
    report = evaluate_answers(
        engine, QUESTIONS, tmp_path, ["vector"], no_context=True, model=model, judge=judge
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


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--sample", "3"], "--sample"),
        (["--judge", "local"], "--judge"),
        (["--seed", "0"], "--seed"),
        (["--judge-by", "grades"], "--judge-by"),
        (["--answers", "--judge-by", "grades"], "--judge-by"),
        (["--answers", "--judge-by", "claims"], "grades includes faithfulness"),
        (["--answers", "--model", "none", "--no-context"], "--no-context"),
        (["--answers", "--hits", "x"], "--hits"),
        (["--answers", "--activate"], "--activate"),
        (["--answers", "--suite", "x.toml"], "QUESTIONS"),
    ],
)
def test_options_that_do_not_belong_together_are_refused(arguments: list[str], named: str) -> None:
    """As wrong usage, by name, before a store is opened."""
    result = CliRunner().invoke(app, ["evaluate", "questions.jsonl", "--store", "no-such", *arguments])
    assert result.exit_code == 2 and named in result.stderr


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
    assert "refused" not in evaluate_answers(engine, QUESTIONS, tmp_path / "none").to_json()["rows"]["vector"]
