"""Speech recognition and synthesis as used by the command line and the server."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from trivium.common import stopping
from trivium.errors import InputError, TriviumError
from trivium.settings.settings import Settings, load_settings
from trivium.speech.protocols import Recogniser, Samples, Transcript, Voice
from trivium.speech.registry import check_recogniser, check_voice, open_recogniser, open_voice
from trivium.speech.sentences import spoken_sentences

_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")
_PAUSE_SECONDS = 0.25


class Speech:
    """A recogniser and a voice: the given ones, or else the configured ones, which are loaded on first use.
    Thread-safe.
    """

    def __init__(
        self,
        *,
        recogniser: Recogniser | None = None,
        voice: Voice | None = None,
        settings: Settings | None = None,
    ) -> None:
        """``settings`` None reads the settings."""
        self._recogniser = recogniser
        self._voice = voice
        self._settings = load_settings() if settings is None else settings

    def check_hearing(self) -> None:
        """Raise ConfigurationError or MissingExtraError when recognition is not available. Loads nothing."""
        if self._recogniser is None:
            check_recogniser(self._settings)

    def check_speaking(self) -> None:
        """Raise ConfigurationError or MissingExtraError when synthesis is not available. Loads nothing."""
        if self._voice is None:
            check_voice(self._settings)

    @property
    def hears(self) -> bool:
        """Whether speech recognition is installed."""
        return _passes(self.check_hearing)

    @property
    def speaks(self) -> bool:
        """Whether speech synthesis is installed."""
        return _passes(self.check_speaking)

    @property
    def recogniser(self) -> Recogniser:
        """The recogniser. Raises ConfigurationError and MissingExtraError."""
        return open_recogniser(self._settings) if self._recogniser is None else self._recogniser

    @property
    def voice(self) -> Voice:
        """The voice. Raises ConfigurationError and MissingExtraError."""
        return open_voice(self._settings) if self._voice is None else self._voice

    def transcribe(self, audio: bytes) -> Transcript:
        """Transcribe an audio file, given its content. Raises AudioError for a file that is not audio, damaged or too
        long, SpeechError, ConfigurationError and MissingExtraError.
        """
        return self.recogniser.transcribe(audio)

    def spoken(self, text: str) -> Iterator[Samples]:
        """Speak a text sentence by sentence, yielding each as soon as it is ready, without Markdown and citations.
        Raises InputError when it contains nothing to speak, SpeechError, ConfigurationError and MissingExtraError.
        """
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
        """Speak a text to a WAV file. Raises the errors of :meth:`spoken`."""
        return wav_file(self.spoken(text), self.voice.rate)


def transcribe(audio: bytes | Path) -> Transcript:
    """Transcribe an audio file, given its content or path, with the configured recogniser. Raises the errors of
    :meth:`Speech.transcribe`.
    """
    return Speech().transcribe(audio.read_bytes() if isinstance(audio, Path) else audio)


def speak(text: str) -> bytes:
    """Speak a text to a WAV file with the configured voice. Raises the errors of :meth:`Speech.speak`."""
    return Speech().speak(text)


def wav_file(spoken: Iterable[Samples], rate: int) -> bytes:
    """Return sentences as a WAV file (uncompressed, 16 bits, mono), each with a pause behind it.

    >>> import numpy as np
    >>> len(wav_file([np.zeros(100, np.int16)], 8000)) == 44 + 200 + 4000
    True
    """
    pause = bytes(2 * int(rate * _PAUSE_SECONDS))
    sound = b"".join(samples.astype("<i2").tobytes() + pause for samples in spoken)
    size = len(sound) + _HEADER.size - 8
    return (
        _HEADER.pack(b"RIFF", size, b"WAVE", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16, b"data", len(sound))
        + sound
    )


def nothing_to_say(voice: Voice) -> InputError:
    """Create the error for a text without anything to speak."""
    return InputError(f"expected some text that the voice {voice.name} can say, got none")


def _passes(check: Callable[[], None]) -> bool:
    try:
        check()
    except TriviumError:
        return False
    return True
