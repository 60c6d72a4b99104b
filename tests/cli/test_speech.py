"""`--listen` and `--speak`: what does not fit is said before anything is opened."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import typer

from tests.fakes.speech import FakeRecogniser, FakeVoice
from trivium import speech
from trivium.cli.speech import SpokenAsk
from trivium.errors import InputError, MissingExtraError
from trivium.settings import Settings
from trivium.speech import Speech, registry
from trivium.speech.base import MAX_BYTES
from trivium.types import Answer

ANSWER = Answer("Who?", "Who?", "Asaph Hall [1].", True, (), (), ())


@pytest.fixture
def recogniser(monkeypatch: pytest.MonkeyPatch) -> FakeRecogniser:
    """The one of the settings, beside a voice."""
    recogniser = FakeRecogniser()
    made = Speech(recogniser=recogniser, voice=FakeVoice(), settings=Settings())
    monkeypatch.setattr(speech, "Speech", lambda: made)
    return recogniser


def test_a_recording_is_heard_and_an_answer_written(recogniser: FakeRecogniser, tmp_path: Path) -> None:
    (tmp_path / "question.wav").write_bytes(b"RIFF")
    spoken = SpokenAsk(None, str(tmp_path / "question.wav"), tmp_path / "answer.wav")
    heard = spoken.hear()
    assert heard is not None and heard.text == recogniser.text
    spoken.say(ANSWER)
    assert len((tmp_path / "answer.wav").read_bytes()) == 44 + 200 + 4000


def test_a_recording_comes_through_a_pipe(
    recogniser: FakeRecogniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"RIFF piped")))
    assert SpokenAsk(None, "-", None).hear() is not None
    assert recogniser.heard == [b"RIFF piped"]


def test_without_the_options_nothing_is_heard_and_nothing_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    spoken = SpokenAsk("Who?", None, None)
    assert spoken.hear() is None
    spoken.say(ANSWER)


@pytest.mark.parametrize(
    ("question", "listen", "speak", "message"),
    [
        ("Who?", "question.wav", None, "got both"),
        (None, None, "answer.wav", "expected a question"),
        ("Who?", None, "no/such/answer.wav", "there is no folder"),
    ],
)
def test_options_that_do_not_fit_are_wrong_arguments(
    question: str | None, listen: str | None, speak: str | None, message: str
) -> None:
    with pytest.raises(typer.BadParameter, match=message):
        SpokenAsk(question, listen, None if speak is None else Path(speak))


def test_a_recording_without_speech_or_too_large_is_refused(
    recogniser: FakeRecogniser, tmp_path: Path
) -> None:
    path = tmp_path / "question.wav"
    path.write_bytes(b"RIFF")
    recogniser.text = ""
    with pytest.raises(InputError, match=r"heard no speech in its 1\.5 seconds"):
        SpokenAsk(None, str(path), None).hear()
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(InputError, match="bytes of audio at most"):
        SpokenAsk(None, str(path), None).hear()


def test_the_missing_extra_is_named_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    for listen, speak in (("question.wav", None), (None, Path("answer.wav"))):
        with pytest.raises(MissingExtraError, match=r"pip install 'trivium\[speech\]'"):
            SpokenAsk("Who?" if listen is None else None, listen, speak)
