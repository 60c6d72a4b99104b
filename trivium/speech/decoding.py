"""Decodes audio files to samples, in a separate process with limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.common.run_program import NotStartedError, run_once
from trivium.errors import AudioError, AudioTooLongError, SpeechError
from trivium.speech.decoder import NO_SOUND, NOT_READ, RATE, TOO_LONG
from trivium.speech.protocols import MAX_SECONDS

Waveform = NDArray[np.float32]
"""n samples from -1 to 1 at 16 kHz."""

_PROGRAM = Path(__file__).with_name("decoder.py")
_PATIENCE_SECONDS = 30.0
_KINDS = "WAV, FLAC, Ogg, WebM, MP4, MP3, AAC or AIFF"


def decode(audio: bytes, seconds: float = MAX_SECONDS) -> Waveform:
    """Decode an audio file of at most ``seconds``, with any number of channels and any sample rate. An incomplete file
    is decoded as far as possible.

    Raises AudioError for a file that is not audio or cannot be decoded, AudioTooLongError, and SpeechError when the
    decoder cannot be started.
    """
    form = container_format(audio)
    most = int(seconds * RATE) * 2
    try:
        code, pcm = run_once(_PROGRAM, [form, str(seconds)], [audio], most=most, seconds=_PATIENCE_SECONDS)
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
    """Return FFmpeg's name of the format that a file begins like. Only these formats are decoded: others that FFmpeg
    supports include playlists, whose addresses it would fetch. Raises AudioError.

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
        # An MPEG audio frame; layer 0 is AAC.
        return "aac" if audio[1] & 0xF6 == 0xF0 else "mp3"
    raise AudioError(f"expected audio ({_KINDS}), got {'an empty file' if not audio else 'something else'}")
