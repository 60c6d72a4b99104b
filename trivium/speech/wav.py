"""WAV files: uncompressed 16-bit mono audio."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from trivium.speech.protocols import Samples

_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")
_PAUSE_SECONDS = 0.25


def wav_file(spoken: Iterable[Samples], rate: int) -> bytes:
    """Return sentences as a WAV file, each with a pause behind it.

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
