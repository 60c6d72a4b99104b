"""The interfaces of recognisers and voices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.int16]
"""Mono audio: n samples."""

MAX_SECONDS = 120.0
"""Default maximum duration of audio; a spoken question takes about ten seconds."""
MAX_BYTES = 16 << 20
"""Maximum size of an audio file: two minutes of uncompressed mono audio, or at a low sampling rate."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript, empty if no speech was detected. ``language`` is an ISO 639-1 code, ``seconds`` the duration of the
    audio.
    """

    text: str
    language: str
    seconds: float


class Recogniser(Protocol):
    """Transcribes audio. Must be thread-safe."""

    @property
    def name(self) -> str:
        """Its name in the settings."""
        ...

    def transcribe(self, audio: bytes) -> Transcript:
        """Transcribe an audio file, given its content. Must raise StoppedError soon after the stop in force
        (:mod:`trivium.common.stopping`) is requested.

        Raises AudioError for a file that is not audio, damaged or too long, and SpeechError when the recogniser fails.
        """
        ...


class Voice(Protocol):
    """Synthesises speech. Must be thread-safe."""

    @property
    def name(self) -> str:
        """Its name in the settings."""
        ...

    @property
    def rate(self) -> int:
        """Sample rate in Hz."""
        ...

    def say(self, sentence: str) -> Samples:
        """Speak a sentence. Returns no samples if it contains nothing that this voice can speak. Raises SpeechError."""
        ...
