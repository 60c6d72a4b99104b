"""Server-sent events, as endpoints stream their answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def event_data(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The data of each event in a body that arrives in chunks of any size; comments, names and numbers of events are
    passed over.

    >>> list(event_data([b": ping\\n\\ndata: o", b"ne\\n\\ndata:two\\ndata: lines\\r\\n\\r\\n", b"data: [DONE]"]))
    [b'one', b'two\\nlines', b'[DONE]']
    """
    rest = b""
    data: list[bytes] = []
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield from _take(line, data)
    yield from _take(rest, data)
    yield from _take(b"", data)  # an event that nothing came after


def _take(line: bytes, data: list[bytes]) -> Iterator[bytes]:
    """Add a line to the event under way; an empty one ends it."""
    line = line.rstrip(b"\r")
    if line.startswith(b"data:"):
        data.append(line.removeprefix(b"data:").removeprefix(b" "))
    elif not line and data:
        yield b"\n".join(data)
        data.clear()
