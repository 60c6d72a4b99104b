"""Measures of single answers, citations above all, and how rows are summed up and compared."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from rich.console import Console

from trivium.datasets.gold import Cause, Gold, Traced, Untraceable
from trivium.evaluation.answers.grading_judge import Graded
from trivium.evaluation.answers.model_free_measures import MEASURES, measure
from trivium.evaluation.answers.records import Answered, Cited, Said
from trivium.evaluation.answers.report import AnswerReport, print_answer_report
from trivium.evaluation.answers.summary import summarise
from trivium.types import Question

GOLD = Gold.of([["Mars#chunk-2"]])
TEXT = "Asaph Hall found them in 1877 [2]. Galileo wept [1]."


def answered(**changes: object) -> Answered:
    """Two statements, the second without support; three hits, of which the third did not fit into the prompt."""
    fields: dict[str, object] = {
        "row": "vector",
        "question": "q",
        "text": TEXT,
        "outcome": "answered",
        "statements": (
            Said(start=0, end=34, citations=(2,), support=0.9, supported=True),
            Said(start=35, end=52, citations=(1,), support=0.1, supported=False),
        ),
        "citations": (Cited(number=1, uri="Io#chunk-1"), Cited(number=2, uri="Mars#chunk-2")),
        "hits": ("Io#chunk-1", "Mars#chunk-2", "Moon#chunk-1"),
        "offered": (1, 2),
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "seconds": 2.0,
        "search_seconds": 0.5,
    }
    return Answered.model_validate({**fields, **changes})


def test_every_measure_of_an_answer() -> None:
    """By hand: without marks 8 words, of which 2 are known."""
    found = measure(answered(), ["Asaph Hall"], GOLD)
    assert set(found) == set(MEASURES)
    assert found["exact_match"] == 0 and found["contained"] == found["contained_offered"] == 1
    assert found["f1"] == found["rouge_l"] == pytest.approx(2 * 2 / (8 + 2))
    assert found["gold_offered"] == found["cited_gold"] == found["citations_offered"] == 1
    assert (found["supported"], found["not_found"]) == (0.5, 0)


def test_what_was_not_offered_counts_for_nothing() -> None:
    """Gold that was found but did not fit into the prompt could not be read, so the reader is not blamed."""
    found = measure(answered(), ["Asaph Hall"], Gold.of([["Moon#chunk-1"]]))
    assert (found["gold_offered"], found["cited_gold"]) == (0, 0) and math.isnan(found["contained_offered"])


def test_a_refusal_says_nothing() -> None:
    """Words that it shares with a known answer are no answer; what only answers have is left open."""
    refusal = answered(text="Not in the collection.", outcome="absent", statements=(), citations=())
    found = measure(refusal, ["the collection"], GOLD)
    assert [found[name] for name in ("exact_match", "f1", "contained", "rouge_l")] == [0, 0, 0, 0]
    assert (found["not_found"], found["gold_offered"], found["contained_offered"]) == (1, 1, 0)
    assert all(math.isnan(found[name]) for name in ("cited_gold", "citations_offered", "supported"))


@pytest.mark.parametrize(
    ("changes", "share"),
    [
        # In the text alone, though the list knows nothing of it: 3 was found, but not offered.
        ({"text": f"{TEXT} So [3]."}, 2 / 3),
        ({"text": f"{TEXT} So [9]."}, 2 / 3),
        # In the list, but with another passage than that of its number.
        ({"citations": (Cited(number=1, uri="Io#chunk-1"), Cited(number=2, uri="Moon#chunk-1"))}, 1 / 2),
        # A statement that names what was not offered.
        ({"statements": (Said(start=0, end=34, citations=(2, 3), support=1, supported=True),)}, 2 / 3),
    ],
)
def test_a_citation_of_what_was_not_offered_is_seen(changes: dict[str, object], share: float) -> None:
    """Wherever it stands."""
    assert measure(answered(**changes), ["Asaph Hall"], GOLD)["citations_offered"] == pytest.approx(share)


def summary(judged: bool = False) -> AnswerReport:
    """Four questions on two pages; the second row is right twice more."""
    questions = [Question(f"q{i}", "?", ("x",)) for i in range(4)]
    gold = {q.id: Gold.of([[f"{'Mars' if i < 2 else 'Io'}#chunk-{i}"]]) for i, q in enumerate(questions)}
    lost = Untraceable("lost", Cause.NO_PAGE, "no page [red]X")
    values = {
        "vector": {
            "contained": np.array([0.0, 0, 1, 1]),
            "cited_gold": np.array([math.nan, 0, 1, 1]),
            "faithfulness": np.full(4, math.nan),
        },
        "[red]fused": {
            "contained": np.array([1.0, 1, 1, 1]),
            "cited_gold": np.array([1.0, 1, math.nan, 1]),
            "faithfulness": np.array([1.0, 0.5, math.nan, math.nan]),
        },
    }
    answers = {
        row: [answered(row=row, question=q.id, seconds=1.0 + i) for i, q in enumerate(questions)]
        for row in values
    }
    judgements = {
        row: [
            Graded(
                row=row,
                question="q",
                missing={"faithfulness": "malformed: [red]no"},
                calls=2,
                malformed=1,
                prompt_tokens=7,
            )
        ]
        * 4
        for row in values
    }
    return summarise(
        Traced(tuple(questions), gold, (lost,)),
        [q.id for q in questions],
        2,
        answers,
        {"judge": {"grades": judgements}} if judged else {},
        values,
        reader="[red]model",
        bertscore=None,
        k=6,
    )


def test_means_are_over_the_answers_a_measure_speaks_of() -> None:
    """And say how many these are; one that speaks of none has no mean, and is not zero."""
    found = json.loads(json.dumps(summary().to_json(), allow_nan=False))
    rows = found["rows"]
    assert (found["questions"], found["traced"], found["without_answers"], found["asked"]) == (5, 4, 2, 4)
    assert (rows["vector"]["contained"], rows["vector"]["n"]["contained"]) == (0.5, 4)
    assert rows["vector"]["cited_gold"] == pytest.approx(2 / 3) and rows["vector"]["n"]["cited_gold"] == 3
    assert rows["vector"]["faithfulness"] is None and "faithfulness" not in rows["vector"]["ci"]
    assert rows["[red]fused"]["faithfulness"] == 0.75
    assert rows["vector"]["milliseconds"]["answer"]["median"] == 2500
    assert rows["vector"]["milliseconds"]["search"]["median"] == 500
    assert rows["vector"]["tokens"] == {"prompt": 400, "completion": 40}


def test_rows_are_compared_over_the_questions_that_both_speak_of() -> None:
    """Paired, by page: two pages have four patterns of signs, of which half are as extreme or more."""
    found = {c["measure"]: c for c in summary().to_json()["comparisons"]}
    assert set(found) == {"contained", "cited_gold"}  # nobody's faithfulness is known on both sides
    contained = found["contained"]
    assert (contained["row"], contained["against"], contained["questions"]) == ("[red]fused", "vector", 4)
    assert (contained["difference"], contained["ci"], contained["p"]) == (0.5, [0.0, 1.0], 1.0)
    assert (found["cited_gold"]["questions"], found["cited_gold"]["difference"]) == (2, 0.5)
    assert (summary().resampled, summary().clusters) == ("pages", 2)


def test_the_table_shows_what_is_missing_and_no_markup_of_others() -> None:
    """Names, models and reasons come from outside."""
    console = Console(width=100, record=True, force_terminal=False)
    print_answer_report(summary(judged=True), console)
    text = console.export_text()
    assert "[red]fused" in text and "[red]model" in text
    assert ".667 (" in text and " of 3" in text
    assert "4 of 8 replies malformed" in text and "4  faithfulness: malformed: [red]no" in text
    assert "4 of 5 questions asked (1 could not be traced, 2 have no known answer)" in text
    assert (
        "[red]fused is 0.500 above vector in contained (95 %: +0.000 to +1.000), p = 1.000, 4 questions"
        in text
    )
