"""Hearing and speaking, as the command line and the server do it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from trivium.common import stopping
from trivium.errors import InputError, TriviumError
from trivium.settings import Settings, load_settings
from trivium.speech.base import Recogniser, Samples, Transcript, Voice
from trivium.speech.registry import check_recogniser, check_voice, open_recogniser, open_voice
from trivium.speech.sentences import spoken_sentences
from trivium.speech.wav import wav_file


class Speech:
    """A recogniser and a voice: those that are given, else those of the settings, which are loaded at their first use.
    Thread-safe."""

    def __init__(
        self,
        *,
        recogniser: Recogniser | None = None,
        voice: Voice | None = None,
        settings: Settings | None = None,
    ) -> None:
        """``settings``: None reads them."""
        self._recogniser = recogniser
        self._voice = voice
        self._settings = load_settings() if settings is None else settings

    def check_hearing(self) -> None:
        """Raises ConfigurationError or MissingExtraError where nothing can be heard; loads nothing."""
        if self._recogniser is None:
            check_recogniser(self._settings)

    def check_speaking(self) -> None:
        """The same of speaking."""
        if self._voice is None:
            check_voice(self._settings)

    @property
    def hears(self) -> bool:
        """Whether what it needs to hear is installed."""
        return _passes(self.check_hearing)

    @property
    def speaks(self) -> bool:
        """Whether what it needs to speak is installed."""
        return _passes(self.check_speaking)

    @property
    def seconds(self) -> float:
        """How long audio may last for the recogniser of the settings."""
        return self._settings.audio_seconds

    @property
    def recogniser(self) -> Recogniser:
        """Raises ConfigurationError and MissingExtraError."""
        return open_recogniser(self._settings) if self._recogniser is None else self._recogniser

    @property
    def voice(self) -> Voice:
        """Raises ConfigurationError and MissingExtraError."""
        return open_voice(self._settings) if self._voice is None else self._voice

    def transcribe(self, audio: bytes) -> Transcript:
        """What is said in an audio file, given its content. Raises AudioError for what is no audio, damaged or too long,
        SpeechError, ConfigurationError and MissingExtraError."""
        return self.recogniser.transcribe(audio)

    def spoken(self, text: str) -> Iterator[Samples]:
        """A text sentence by sentence, each as soon as it is ready, without Markdown and citations. Raises InputError
        where there is nothing in it to say, SpeechError, ConfigurationError and MissingExtraError."""
        voice, silent = self.voice, True
        for sentence in spoken_sentences(text):
            stopping.check()
            samples = voice.say(sentence)
            if len(samples):
                silent = False
                yield samples
        if silent:
            raise nothing_to_say(voice)

    def speak(self, text: str) -> bytes:
        """A text as a WAV file; raises as :meth:`spoken` does."""
        return wav_file(self.spoken(text), self.voice.rate)


def transcribe(audio: bytes | Path) -> Transcript:
    """What is said in an audio file (its content, or where it lies), by the recogniser of the settings. Raises as
    :meth:`Speech.transcribe`."""
    return Speech().transcribe(audio.read_bytes() if isinstance(audio, Path) else audio)


def speak(text: str) -> bytes:
    """A text as a WAV file, in the voice of the settings. Raises as :meth:`Speech.speak`."""
    return Speech().speak(text)


def nothing_to_say(voice: Voice) -> InputError:
    """The error of a text without a sound."""
    return InputError(f"expected some text that the voice {voice.name} can say, got none")


def _passes(check: Callable[[], None]) -> bool:
    try:
        check()
    except TriviumError:
        return False
    return True
