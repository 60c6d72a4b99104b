"""A speech recogniser and a voice without models: audio is bytes, samples are numbers."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np

from trivium.common import stopping
from trivium.errors import AudioError
from trivium.speech import Samples, Transcript

BEGINNING = b"RIFF"
"""What all audio begins with for the fake recogniser."""


@dataclass
class FakeRecogniser:
    """Hears ``text`` in whatever begins with :data:`BEGINNING`; waits for ``gate``, or until it is to stop."""

    name: str = "fake"
    text: str = "Who found the moons of Mars?"
    gate: threading.Event = field(default_factory=threading.Event)
    open: bool = True
    heard: list[bytes] = field(default_factory=list)
    stopped: int = 0

    def transcribe(self, audio: bytes) -> Transcript:
        """See :class:`trivium.speech.Recogniser`."""
        if not audio.startswith(BEGINNING):
            raise AudioError("expected audio, got something else")
        self.heard.append(audio)
        try:
            while not self.open and not self.gate.is_set():
                stopping.sleep(0.01)
        except stopping.StoppedError:
            self.stopped += 1
            raise
        return Transcript(self.text, "en", 1.5)


@dataclass
class FakeVoice:
    """Says a sentence as a hundred samples of its number. From the second on it waits for ``gate`` where it is not
    ``open``."""

    name: str = "fake"
    rate: int = 8000
    gate: threading.Event = field(default_factory=threading.Event)
    open: bool = True
    said: list[str] = field(default_factory=list)

    def say(self, sentence: str) -> Samples:
        """See :class:`trivium.speech.Voice`."""
        self.said.append(sentence)
        while not self.open and len(self.said) > 1 and not self.gate.is_set():
            stopping.sleep(0.01)
        return np.full(100, len(self.said), np.int16)
