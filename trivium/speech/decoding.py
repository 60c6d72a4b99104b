"""From an audio file to samples, in a process apart and within limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.common.programs import NotStartedError, run_apart
from trivium.errors import AudioError, AudioTooLongError, SpeechError
from trivium.speech.base import MAX_SECONDS
from trivium.speech.decoder import NO_SOUND, NOT_READ, RATE, TOO_LONG

Waveform = NDArray[np.float32]
"""n samples from -1 to 1, 16,000 a second."""

_PROGRAM = Path(__file__).with_name("decoder.py")
_PATIENCE_SECONDS = 30.0
_KINDS = "WAV, FLAC, Ogg, WebM, MP4, MP3, AAC or AIFF"


def decode(audio: bytes, seconds: float = MAX_SECONDS) -> Waveform:
    """The samples of an audio file that lasts ``seconds`` at most, however many channels and samples a second it
    has. A file that breaks off is read as far as it goes.

    Raises AudioError for what is no audio or cannot be decoded, AudioTooLongError, and SpeechError where the program that
    decodes cannot be started.
    """
    form = container_format(audio)
    most = int(seconds * RATE) * 2
    try:
        code, pcm = run_apart(_PROGRAM, [form, str(seconds)], [audio], most=most, seconds=_PATIENCE_SECONDS)
    except NotStartedError as error:
        raise SpeechError(f"the program that decodes audio cannot be started: {error}") from error
    if len(pcm) > most or code == TOO_LONG:
        raise AudioTooLongError(f"the audio lasts longer than {seconds:g} seconds, the limit")
    if code == NO_SOUND:
        raise AudioError("there is no sound in this audio")
    if code == NOT_READ or code < 0:
        raise AudioError(
            f"the audio cannot be decoded: expected {_KINDS}, got a damaged file or another codec"
        )
    if code != 0:
        raise SpeechError(f"the program that decodes audio failed (exit code {code})")
    return np.frombuffer(pcm, "<i2").astype(np.float32) / 32768.0


def container_format(audio: bytes) -> str:
    """FFmpeg's name of what an audio file begins like. Only these are decoded: among all that FFmpeg knows are lists of
    addresses, which it would fetch. Raises AudioError.

    >>> container_format(b"RIFF....WAVE"), container_format(b"OggS")
    ('wav', 'ogg')
    """
    for form, place, magic in (
        ("wav", 8, b"WAVE"),
        ("aiff", 8, b"AIFF"),
        ("ogg", 0, b"OggS"),
        ("flac", 0, b"fLaC"),
        ("matroska", 0, b"\x1a\x45\xdf\xa3"),
        ("mov", 4, b"ftyp"),
        ("mp3", 0, b"ID3"),
    ):
        if audio.startswith(magic, place):
            return form
    if len(audio) > 1 and audio[0] == 0xFF and audio[1] & 0xE0 == 0xE0:
        # A frame of MPEG audio; with layer 0 it is AAC.
        return "aac" if audio[1] & 0xF6 == 0xF0 else "mp3"
    raise AudioError(f"expected audio ({_KINDS}), got {'an empty file' if not audio else 'something else'}")
