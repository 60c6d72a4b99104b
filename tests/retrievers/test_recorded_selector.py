"""Selections of a language model that are recorded once and replayed without it."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from tests.fakes.chat_model import ScriptedModel
from trivium.errors import ChatModelError, ConfigurationError, InputError
from trivium.retrievers.llm_path_selectors import (
    LlmSelector,
    RecordedSelector,
    make_selector,
)
from trivium.retrievers.path import Option, OptionKind
from trivium.settings.settings import Settings


def options(*names: str) -> list[Option]:
    return [Option(OptionKind.SECTION, name, name, (name,), (name,), 0.0) for name in names]


OFFERED = options("Mars", "Mars#Moons", "Venus", "Sun")


def test_what_was_recorded_is_replayed_without_the_model(tmp_path: Path) -> None:
    """All places that the model names, in its order; the model is not asked a second time, in one run or in the next."""
    file = tmp_path / "paths.jsonl"
    model = ScriptedModel('{"places": [4, 2, 1, 3]}', '{"places": []}')
    recording = RecordedSelector(file, LlmSelector(model, most=None))
    chosen = [OFFERED[row] for row in (3, 1, 0, 2)]
    assert recording.select("Which moons?", OFFERED) == chosen
    assert recording.select("Who?", OFFERED) == []
    assert recording.select("Which moons?", OFFERED) == chosen and len(model.asked) == 2
    assert "at most" not in model.asked[0][0].content
    silent = ScriptedModel("never asked")
    again = RecordedSelector(file, LlmSelector(silent, most=None))
    for selector in (again, RecordedSelector(file)):
        assert selector.select("Which moons?", OFFERED) == chosen
        assert selector.select("Who?", OFFERED) == [] == selector.select("Unknown", [])
    assert silent.asked == []
    first = json.loads(file.read_text("utf-8").splitlines()[0])
    assert first == {
        "question": "Which moons?",
        "selector": "llm:scripted",
        "offered": ["Mars", "Mars#Moons", "Venus", "Sun"],
        "chosen": ["Sun", "Mars#Moons", "Mars", "Venus"],
    }


def test_other_options_are_asked_for_when_recording_and_left_out_when_replaying(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Another store offers others: a recording has both, and a replay keeps of what was chosen last what is offered, and
    says so once."""
    file = tmp_path / "paths.jsonl"
    model = ScriptedModel('{"places": [2, 1]}', '{"places": [1]}')
    recording = RecordedSelector(file, LlmSelector(model, most=None))
    recording.select("Which?", OFFERED[:2])
    assert recording.select("Which?", OFFERED[1:3]) == [OFFERED[1]]
    replay = RecordedSelector(file)
    assert replay.select("Which?", OFFERED[:2]) == [OFFERED[1], OFFERED[0]]
    assert caplog.records == []
    with caplog.at_level(logging.WARNING):
        assert replay.select("Which?", OFFERED[2:]) == [] == replay.select("Which?", OFFERED[2:])
    assert len(caplog.records) == 1


def test_a_failure_is_not_recorded(tmp_path: Path) -> None:
    """The question has no path, and the next run asks again; replaying, it is an error that names the remedy."""
    file = tmp_path / "paths.jsonl"

    def fail(_: object) -> str:
        raise ChatModelError("no")

    failing = RecordedSelector(file, LlmSelector(ScriptedModel(fail)))
    assert failing.select("Which?", OFFERED) == [] and not file.exists()
    working = RecordedSelector(file, LlmSelector(ScriptedModel("2")))
    assert working.select("Which?", OFFERED) == [OFFERED[1]]
    with pytest.raises(ConfigurationError, match=r"no selection for the question 'Who\?'.*record:"):
        RecordedSelector(file).select("Who?", OFFERED)


def test_a_recording_that_was_killed_goes_on(tmp_path: Path) -> None:
    """A line without its end is cut off, and the next one stands by itself."""
    file = tmp_path / "paths.jsonl"
    RecordedSelector(file, LlmSelector(ScriptedModel("1"))).select("One?", OFFERED)
    file.write_text(file.read_text("utf-8") + '{"question": "Tw', "utf-8")
    RecordedSelector(file, LlmSelector(ScriptedModel("2"))).select("Two?", OFFERED)
    recorded = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [one["question"] for one in recorded] == ["One?", "Two?"]


@pytest.mark.parametrize(
    "line", ["[1]", "{}", "no", '{"question": 1, "selector": "", "offered": [], "chosen": []}']
)
def test_another_file_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "paths.jsonl"
    file.write_text(line + "\n", "utf-8")
    with pytest.raises(InputError, match="line 1"):
        RecordedSelector(file)


def test_the_names_of_selectors(tmp_path: Path) -> None:
    """``llm-all`` sets no limit; a replay needs its file and no model, a recording a model."""
    file = tmp_path / "paths.jsonl"
    with pytest.raises(ConfigurationError, match="there is none"):
        make_selector(f"replay:{file}")
    with pytest.raises(ConfigurationError, match="got no file"):
        make_selector("replay")
    with pytest.raises(ConfigurationError, match="no language model is named"):
        make_selector(f"record:{file}", Settings(chat_model="none"))
    file.touch()
    assert isinstance(make_selector(f"replay:{file}"), RecordedSelector)
