"""From a spoken question to a spoken, cited answer, at the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Run
from trivium.settings import Settings
from trivium.speech import Speech, speak, transcribe
from trivium.text import words

QUESTION = "How long does a day on Venus take?"


@pytest.fixture(scope="module", autouse=True)
def _models() -> None:
    """Skips where the extra is missing."""
    speech = Speech(settings=Settings())
    if not (speech.hears and speech.speaks):
        pytest.skip("needs the extra speech")


def test_a_spoken_question_gets_a_spoken_cited_answer(
    trivium: Run, sample_store: Path, tmp_path: Path
) -> None:
    """What is written into the file is the answer, and its citations are not read out."""
    (tmp_path / "question.wav").write_bytes(speak(QUESTION))
    done = trivium(
        "ask", "--listen", tmp_path / "question.wav", "--speak", tmp_path / "answer.wav",
        "--store", sample_store, "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    answer = done.json
    assert words(answer["question"]) == words(answer["heard"]["text"]) == words(QUESTION)
    assert answer["outcome"] == "answered" and answer["citations"][0]["page"] == "Venus"
    heard = words(transcribe(tmp_path / "answer.wav").text)
    said = words(answer["answer"])
    assert len(set(said) & set(heard)) > 0.7 * len(set(said) - {"1", "2", "3"})
