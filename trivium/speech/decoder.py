"""Program that decodes audio: file content on stdin, samples on stdout (16 kHz, 16 bits, mono).

It reads untrusted files with FFmpeg, so it runs as a separate process (``python -I decoder.py FORMAT SECONDS``) with
memory and time limits and, after loading, without permission to open files or connections. It imports nothing of
Trivium, so that it starts in a fraction of a second.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

if sys.platform != "win32":
    import resource

RATE = 16_000
"""Sample rate in Hz, as required by recognisers."""
NOT_READ, NO_SOUND, TOO_LONG = 3, 4, 5
"""Exit codes."""

_MEMORY = 512 << 20
_PROCESSOR_SECONDS = 20
_DAMAGED_FRAMES = 1000
"""Number of undecodable frames after which the rest is not tried."""


def main(form: str, seconds: float) -> int:
    """Decode stdin and return the exit code."""
    import av
    import av.subtitles.codeccontext
    import av.subtitles.stream  # what the package would import at the first file

    _limit()
    most = int(seconds * RATE)
    written = 0
    try:
        with av.open(sys.stdin.buffer, format=form, metadata_errors="ignore") as container:
            if not container.streams.audio:
                return NO_SOUND
            resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
            for frame in _frames(container, av.error.InvalidDataError):
                for part in resampler.resample(frame):
                    written += part.samples
                    if written > most:
                        return TOO_LONG
                    sys.stdout.buffer.write(bytes(part.planes[0])[: 2 * part.samples])
    except (av.error.FFmpegError, ValueError, OverflowError, MemoryError):
        return NOT_READ
    sys.stdout.buffer.flush()
    return 0 if written else NO_SOUND


def _frames(container: Any, damaged: type[Exception]) -> Iterator[Any]:
    """Yield the decodable frames, and finally None, which flushes the resampler."""
    frames = container.decode(audio=0)
    left = _DAMAGED_FRAMES
    while left:
        try:
            frame = next(frames)
        except StopIteration:
            break
        except damaged:
            left -= 1
            continue
        frame.pts = None  # timestamps of damaged files may jump
        yield frame
    yield None


def _limit() -> None:
    if sys.platform == "win32":
        return
    for name, limit in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 3),  # only the standard streams
        (resource.RLIMIT_CPU, _PROCESSOR_SECONDS),
        (resource.RLIMIT_DATA, _MEMORY),
    ):
        _, hard = resource.getrlimit(name)
        least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(name, (least, least))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2])))
