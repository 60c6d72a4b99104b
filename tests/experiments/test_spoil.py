"""The experiment with spoilt answers: what scripted judges catch is counted as it is, and kept."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from experiments.answers.spoil import ANY, main
from tests.evaluation.small_store import fill_folder
from tests.fakes.chat_model import ScriptedModel
from trivium.llm.chat_model import Message

RECORDS = {
    "Phobos": "Phobos is the larger moon of Mars. It was found by Asaph Hall in Washington.",
    "Titan": "Titan is the largest moon of Saturn. It was seen for the first time in 1655 by Huygens.",
    "Triton": "Triton is a moon of Neptune. It was found by William Lassell in Liverpool.",
}
QUESTIONS = {
    "Who found Phobos?": ("Asaph Hall", "Phobos"),
    "When was Titan seen?": ("1655", "Titan"),
    "Who found Triton?": ("William Lassell", "Triton"),
}


class Judge(ScriptedModel):
    """Looks for the right answer in the answer, and with ``keen`` for a "not" as well."""

    def __init__(self, name: str, keen: bool) -> None:
        super().__init__(self.say)
        self.name = name
        self._keen = keen

    def say(self, messages: Sequence[Message]) -> str:
        """A grade."""
        text = messages[-1].content
        answer = re.search(r"<answer>\n(.*)\n</answer>", text)
        known = re.search(r"Right answer: (.*)", text)
        assert answer is not None
        right = known is None or (known[1] in answer[1] and not (self._keen and " not " in answer[1]))
        return json.dumps({"reason": "", "grade": 5 if right else 1})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store and questions about it."""
    folder = tmp_path_factory.mktemp("spoilt")
    fill_folder(folder, RECORDS, QUESTIONS)
    return folder


def test_what_judges_catch_is_counted(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three right answers pass; of one changed number, three negations and two swapped names a keen judge finds all, the
    other one not the negations. By hallucination, which these judges do not look for, nothing is found."""
    judges = {"keen": Judge("keen", keen=True), "dull": Judge("dull", keen=False)}
    arguments = [
        "--store", str(folder / "store"), "--questions", str(folder / "questions.jsonl"), "--judge", "keen", "--judge",
        "dull", "--out", str(tmp_path),
    ]  # fmt: skip
    main([*arguments, "--json"], judges.__getitem__)
    found = json.loads(capsys.readouterr().out)
    assert found["answers"] == {"right": 3, "number": 1, "negation": 3, "name": 2}
    caught = {
        name: {kind: cells["correctness"]["wanting"] for kind, cells in judge["kinds"].items()}
        for name, judge in found["judges"].items()
    }
    assert caught["keen"] == {"right": 0, "number": 1, "negation": 3, "name": 2}
    assert caught["dull"] == {"right": 0, "number": 1, "negation": 0, "name": 2}
    kinds = found["judges"]["keen"]["kinds"]
    assert kinds["negation"]["hallucination"] == {"wanting": 0, "graded": 3}
    assert kinds["negation"][ANY] == {"wanting": 3, "graded": 3}
    # Of nine answers both find three wanting, one of the judges three more: 6/9 seen the same, 5/9 * 2/3 + ... by chance.
    agreed = {a["measure"]: a for a in found["agreement"]}
    by_chance = (6 / 9) * (3 / 9) + (3 / 9) * (6 / 9)
    assert agreed["correctness"]["kappa"] == pytest.approx((6 / 9 - by_chance) / (1 - by_chance))
    assert agreed["hallucination"]["kappa"] is None

    asked = len(judges["keen"].asked)
    assert asked == 18
    main(arguments, judges.__getitem__)
    assert len(judges["keen"].asked) == asked  # all is kept
    assert "| negation | 3 of 3 | 0 of 3 | 3 of 3 |" in capsys.readouterr().out
