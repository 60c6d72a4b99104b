"""From a spoken question to a spoken, cited answer, at the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Run
from trivium.settings import Settings
from trivium.speech import Speech, speak, transcribe
from trivium.text import words

QUESTION = "Which instrument searches for water below the surface of Mars?"


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
    (tmp_path / "question.wav").write_bytes(speak("How long does a day on Venus take?"))
    done = trivium(
        "ask", "--listen", tmp_path / "question.wav", "--speak", tmp_path / "answer.wav",
        "--store", sample_store, "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    answer = done.json
    assert (
        words(answer["question"])
        == words(answer["heard"]["text"])
        == words("How long does a day on Venus take?")
    )
    assert answer["found"] and answer["citations"][0]["page"] == "Venus"
    heard = words(transcribe(tmp_path / "answer.wav").text)
    said = words(answer["answer"])
    assert len(set(said) & set(heard)) > 0.7 * len(set(said) - {"1", "2", "3"})


def test_an_answer_to_a_typed_question_can_be_spoken(
    trivium: Run, sample_store: Path, tmp_path: Path
) -> None:
    """It is printed all the same."""
    done = trivium(
        "ask", "Who discovered the moons of Mars?", "--speak", tmp_path / "answer.wav", "--store", sample_store
    )  # fmt: skip
    assert done.code == 0 and "Asaph Hall" in done.out
    assert (tmp_path / "answer.wav").stat().st_size > 48_000  # a second


def test_what_is_no_spoken_question_is_said(trivium: Run, sample_store: Path, tmp_path: Path) -> None:
    (tmp_path / "text.wav").write_text("Who?")
    done = trivium("ask", "--listen", tmp_path / "text.wav", "--store", sample_store)
    assert done.code == 1 and "expected audio (WAV, FLAC," in done.err
    done = trivium("ask", "--listen", tmp_path / "nothing.wav", "--store", sample_store)
    assert done.code == 1 and "nothing.wav" in done.err
