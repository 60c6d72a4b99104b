"""Piper speaks as a program of its own: started once, ended when it hangs, named when it is missing."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium.common.stopping import Stop, StoppedError
from trivium.errors import ConfigurationError, SpeechError
from trivium.settings.settings import Settings
from trivium.speech import Speech, piper
from trivium.speech.piper import PiperVoice

PROGRAM = """
import argparse, logging, sys, time, wave
from pathlib import Path
parser = argparse.ArgumentParser()
parser.add_argument("--model", required=True)
parser.add_argument("--output-dir", required=True)
given = parser.parse_args()
logging.basicConfig(level=logging.INFO)
Path(given.model).with_suffix(".starts").open("a").write("x")
for number, line in enumerate(sys.stdin):
    if "hang" in line:
        time.sleep(60)
    if "die" in line:
        sys.exit(3)
    path = Path(given.output_dir) / f"{number}.wav"
    with wave.open(str(path), "wb") as file:
        file.setframerate(22050); file.setsampwidth(2); file.setnchannels(1)
        file.writeframes(b"\\1\\0" * len(line.strip()))
    logging.info("Wrote %s", path)
"""
"""Does with its arguments and its lines what Piper does."""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "piper.py").write_text(PROGRAM)
    (tmp_path / "voice.onnx").write_bytes(b"")
    (tmp_path / "voice.onnx.json").write_text(json.dumps({"audio": {"sample_rate": 22050}}))
    return tmp_path / "voice.onnx"


@pytest.fixture
def command(tmp_path: Path) -> str:
    return f"{sys.executable} {tmp_path / 'piper.py'}"


@pytest.fixture
def voice(model: Path, command: str) -> Iterator[PiperVoice]:
    voice = PiperVoice(model, command)
    yield voice
    voice.close()


def test_one_program_speaks_sentence_after_sentence(voice: PiperVoice, model: Path) -> None:
    assert voice.rate == 22050
    assert [len(voice.say(text)) for text in ("Mars", "Two\nmoons", " ")] == [4, 9, 0]
    assert model.with_suffix(".starts").read_text() == "x"
    assert not list(Path(voice._folder).iterdir())


def test_after_a_sentence_that_ends_it_the_program_is_started_anew(voice: PiperVoice) -> None:
    with pytest.raises(SpeechError, match="Piper ended"):
        voice.say("die")
    assert len(voice.say("Mars")) == 4


def test_a_program_that_hangs_is_ended(voice: PiperVoice, monkeypatch: pytest.MonkeyPatch) -> None:
    """When nobody waits any more, and after its time in any case."""
    stop = Stop()
    threading.Timer(0.3, stop.ask).start()
    began = time.monotonic()
    with stop.in_force(), pytest.raises(StoppedError):
        voice.say("hang")
    monkeypatch.setattr(piper, "_PATIENCE_SECONDS", 0.3)
    with pytest.raises(SpeechError, match="took too long"):
        voice.say("hang")
    assert time.monotonic() - began < 20


def test_the_settings_name_the_voice_of_the_program_in_path(
    model: Path, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "piper"
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    speech = Speech(settings=Settings(voice=f"piper:{model}"))
    assert speech.speaks and len(speech.speak("Mars. Moon.")) > 44
    assert isinstance(speech.voice, PiperVoice)
    speech.voice.close()


def test_what_is_missing_is_named(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="pipx install piper-tts"):
        PiperVoice(model, "no-such-program")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not Speech(settings=Settings(voice=f"piper:{model}")).speaks
    with pytest.raises(ConfigurationError, match=r"expected a voice of Piper .*other\.onnx"):
        PiperVoice(tmp_path / "other.onnx")
