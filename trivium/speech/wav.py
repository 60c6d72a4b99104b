"""WAV files: uncompressed 16-bit mono audio."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from trivium.speech.protocols import Samples

_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")
_UNKNOWN = 0xFFFFFFFF
"""Size of a file that is still being generated; players then continue to the end of the stream."""
_PAUSE_SECONDS = 0.25


def wav_header(rate: int, size: int | None = None) -> bytes:
    """Return the header for ``size`` bytes of audio; None if the size is not known yet."""
    riff, data = (_UNKNOWN, _UNKNOWN) if size is None else (size + _HEADER.size - 8, size)
    return _HEADER.pack(b"RIFF", riff, b"WAVE", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16, b"data", data)


def sound_bytes(samples: Samples, rate: int) -> bytes:
    """Return a sentence and the following pause as the bytes of a WAV file."""
    return samples.astype("<i2").tobytes() + bytes(2 * int(rate * _PAUSE_SECONDS))


def wav_file(spoken: Iterable[Samples], rate: int) -> bytes:
    """Return sentences as a WAV file.

    >>> import numpy as np
    >>> len(wav_file([np.zeros(100, np.int16)], 8000)) == 44 + 200 + 4000
    True
    """
    sound = b"".join(sound_bytes(samples, rate) for samples in spoken)
    return wav_header(rate, len(sound)) + sound
