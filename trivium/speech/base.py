"""What a recogniser and a voice are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.int16]
"""Sound of one channel: n samples."""

MAX_SECONDS = 120.0
"""How long audio may last where nobody says otherwise: a question is said in ten seconds."""
MAX_BYTES = 16 << 20
"""How large an audio file may be that is sent or read: two minutes without compression, one channel or a low rate."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said: empty where no speech was heard. ``language`` is a code of ISO 639-1, ``seconds`` how long the audio
    lasts."""

    text: str
    language: str
    seconds: float


class Recogniser(Protocol):
    """Turns audio into text. May be asked from several threads at once."""

    @property
    def name(self) -> str:
        """What it is called in the settings."""
        ...

    def transcribe(self, audio: bytes) -> Transcript:
        """What is said in an audio file, given its content. Ends with StoppedError soon after the stop in force
        (:mod:`trivium.common.stopping`) is asked.

        Raises AudioError for what is no audio, damaged or too long, and SpeechError where the recogniser fails.
        """
        ...


class Voice(Protocol):
    """Turns text into audio. May be asked from several threads at once."""

    @property
    def name(self) -> str:
        """What it is called in the settings."""
        ...

    @property
    def rate(self) -> int:
        """Samples a second."""
        ...

    def say(self, sentence: str) -> Samples:
        """The sound of a sentence; none where there is nothing in it that this voice can say. Raises SpeechError."""
        ...
