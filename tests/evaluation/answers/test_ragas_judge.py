"""The package ragas with a model of ours: its own arithmetic, on replies that are scripted."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
import pytest
from pydantic import BaseModel

from tests.fakes.chat_model import ScriptedModel
from trivium.embedding.embedder import Vectors
from trivium.errors import MissingExtraError
from trivium.evaluation.answers.judged import MalformedError
from trivium.evaluation.answers.ragas_judge import RagasJudge, package_version, read_reply, strict_schema
from trivium.llm.chat_model import Message

needs_ragas = pytest.mark.skipif(
    find_spec("ragas") is None and os.environ.get("CI") != "true",
    reason="ragas is not installed: make ragas",
)
QUESTION = "Who found the moons of Mars?"
SAID = "Asaph Hall found them in Paris."


class Embedder:
    """Two directions: texts with "found", and others."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors."""
        return np.array([[1.0, 0.0] if "found" in text else [0.6, 0.8] for text in texts], dtype=np.float32)


def say(messages: Sequence[Message]) -> str:
    """What ragas asks for, by the names in the schema it shows: two statements, of which the first holds; questions that
    the answer might answer, one of three about something else; one of two passages useful; the known answer found."""
    asked = messages[0].content
    if '"noncommittal"' in asked:
        say.questions += 1  # type: ignore[attr-defined]
        about = "Where is Paris?" if say.questions % 3 == 0 else "Who found them?"  # type: ignore[attr-defined]
        return json.dumps({"question": about, "noncommittal": 0})
    if '"classifications"' in asked:
        found = {"statement": "Asaph Hall.", "reason": "it is said", "attributed": 1}
        return json.dumps({"classifications": [found]})
    if '"claims"' in asked:
        last = asked.rpartition("response")[2]
        return json.dumps(
            {"claims": ["Hall found them.", "It was in Paris."] if "Paris" in last else ["Hall found them."]}
        )
    if '"statements"' in asked and '"verdict"' in asked:
        return json.dumps({"statements": verdicts(asked)})
    if '"verdict"' in asked:
        useful = "Hall discovered" in asked.rpartition("context")[2]
        return json.dumps({"reason": "so", "verdict": int(useful)})
    return json.dumps({"statements": ["Hall found them.", "It was in Paris."]})


say.questions = 0  # type: ignore[attr-defined]


def verdicts(asked: str) -> list[dict[str, object]]:
    """One on each statement: Paris is nowhere."""
    last = asked.rpartition('"statements"')[2]
    shown = [text for text in ("Hall found them.", "It was in Paris.") if text in last]
    return [{"statement": text, "reason": "so", "verdict": int("Paris" not in text)} for text in shown]


@needs_ragas
@pytest.mark.filterwarnings("ignore")
def test_the_measures_of_ragas_by_its_own_arithmetic() -> None:
    """Faithfulness 1 of 2; relevancy the mean cosine of 1, 1 and .6; the useful passage stands second: precision 1/2; the
    known answer is in the passages: recall 1; one true, one false positive and no negative: F1 2/3."""
    model = ScriptedModel(say)
    found = RagasJudge(model, Embedder()).judge(  # type: ignore[arg-type]
        "vector", "q1", QUESTION, SAID, ["Mars is red.", "Asaph Hall discovered both."], ["Hall found them."]
    )
    assert found.missing == {}
    assert found.values == {
        "ragas_faithfulness": 0.5,
        "ragas_answer_relevancy": pytest.approx((1 + 1 + 0.6) / 3),
        "ragas_context_precision": pytest.approx(0.5),
        "ragas_context_recall": 1.0,
        "ragas_factual_correctness": pytest.approx(0.67),
    }
    assert found.calls == len(model.asked) == 2 + 3 + 2 + 1 + 4 and found.prompt_tokens > 1000
    assert package_version().startswith("0.4")


@needs_ragas
@pytest.mark.filterwarnings("ignore")
def test_what_ragas_cannot_have_is_missing_with_the_reason() -> None:
    """A reply that is not what it asks for, twice; no passages; a refusal, which is neither relevant nor correct."""
    judge = RagasJudge(ScriptedModel("no"), Embedder())  # type: ignore[arg-type]
    found = judge.judge("vector", "q1", QUESTION, SAID, ["Mars is red."], ["Hall"])
    assert len(found.missing) == 5 and all("malformed: no object" in why for why in found.missing.values())
    refused = judge.judge("vector", "q1", QUESTION, "", [], ["Hall"])
    assert refused.values == {"ragas_answer_relevancy": 0.0, "ragas_factual_correctness": 0.0}
    assert set(refused.missing.values()) == {"the reader was given no passages"} and refused.calls == 0


def test_without_the_package_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of every extra."""
    monkeypatch.setitem(sys.modules, "ragas", None)
    with pytest.raises(MissingExtraError, match=r"trivium\[ragas\]"):
        RagasJudge(ScriptedModel("x"), Embedder())  # type: ignore[arg-type]


class Inner(BaseModel):
    """A part."""

    verdict: int = 0


class Outer(BaseModel):
    """A whole."""

    parts: list[Inner]


def test_schemas_are_strict_and_replies_are_checked() -> None:
    """Every property required, no others; what is not of the schema is malformed and says where."""
    schema = strict_schema(Outer)
    inner = schema["$defs"]["Inner"]
    assert inner["required"] == ["verdict"] and inner["additionalProperties"] is False
    assert schema["required"] == ["parts"] and "default" not in inner["properties"]["verdict"]
    assert read_reply('Sure: {"parts": [{"verdict": 1}]}', Outer).parts[0].verdict == 1
    with pytest.raises(MalformedError, match=r"parts\.0\.verdict"):
        read_reply('{"parts": [{"verdict": "x"}]}', Outer)
    with pytest.raises(MalformedError, match="no object with parts"):
        read_reply("[]", Outer)
