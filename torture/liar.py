"""An endpoint of a language model that misbehaves as it is asked to: the question says which case it is.

What each provider's protocol calls things is in :mod:`torture.protocols`."""

from __future__ import annotations

import contextlib
import gzip
import json
import random
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from torture.cases import dice
from torture.protocols import ANSWER, Protocol, event

SECONDS = 30.0
"""How long a misbehaviour lasts at most."""
_ASKED = re.compile(r"\bcase ([a-j]+)\b")
_DIGITS, _LETTERS = "0123456789", "abcdefghij"
"""A number would be a code that the documents lack: the model would not be asked."""
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)

Sent = Iterator[bytes | float]
"""What is sent, and pauses in seconds."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: its protocol, whether a stream was asked for, and the head."""

    protocol: Protocol
    streamed: bool
    head: str


Misbehaviour = Callable[[random.Random, Asked], Sent]
"""Given dice, and what was asked."""


def question(seed: int | None) -> str:
    """Return the question that makes the endpoint misbehave as in a case; None: the one that it answers honestly."""
    asked = "Who discovered the moons of Mars?"
    return asked if seed is None else f"{asked} case {str(seed).translate(str.maketrans(_DIGITS, _LETTERS))}"


def misbehaviour(protocol: Protocol, seed: int) -> tuple[str, Misbehaviour, random.Random]:
    """Return the name of a case, its misbehaviour, and the random numbers for it."""
    drawn = dice(protocol.kind, seed)
    name = drawn.choice(list(_MISBEHAVIOURS))
    return name, _MISBEHAVIOURS[name], drawn


def listen() -> socket.socket:
    """Return a listening socket on a free port."""
    return socket.create_server(("127.0.0.1", 0), backlog=64)


def lie(listener: socket.socket, protocol: Protocol) -> None:
    """Answer until the process ends, each connection in a thread."""
    while True:
        client, _ = listener.accept()
        threading.Thread(target=_answer, args=(client, protocol), daemon=True).start()


def _answer(client: socket.socket, protocol: Protocol) -> None:
    with client, contextlib.suppress(OSError):
        client.settimeout(SECONDS)
        head, body = _request(client)
        named = _ASKED.search(body)
        asked = Asked(protocol, protocol.streamed(head, body), head)
        if named is None:
            sent: Sent = _honest(asked)
        else:
            seed = int(named[1].translate(str.maketrans(_LETTERS, _DIGITS)))
            _, act, drawn = misbehaviour(protocol, seed)
            sent = act(drawn, asked)
        deadline = time.monotonic() + SECONDS
        for piece in sent:
            if time.monotonic() > deadline:
                return
            if isinstance(piece, float):
                time.sleep(piece)
            elif piece == _RESET:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            else:
                client.sendall(piece)


def _request(client: socket.socket) -> tuple[str, str]:
    received = b""
    while b"\r\n\r\n" not in received:
        piece = client.recv(1 << 16)
        if not piece:
            return "", ""
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    length = _LENGTH.search(head)
    while length is not None and len(body) < int(length[1]):
        piece = client.recv(1 << 16)
        if not piece:
            break
        body += piece
    return head.decode("latin-1"), body.decode("utf-8", "replace")


_RESET = b"\x00reset"
_SSE = "text/event-stream"


def _head(
    status: int = 200, kind: str = "application/json", headers: str = "", length: int | None = None
) -> bytes:
    """Return the head of an answer. Without a length the answer ends with the connection."""
    size = "" if length is None else f"Content-Length: {length}\r\n"
    return (
        f"HTTP/1.1 {status} Said\r\nContent-Type: {kind}\r\n{size}{headers}Connection: close\r\n\r\n".encode()
    )


def _json(value: Any, status: int = 200, headers: str = "") -> Sent:
    body = json.dumps(value).encode()
    yield _head(status, headers=headers, length=len(body)) + body


def _honest(asked: Asked) -> Sent:
    if not asked.streamed:
        yield from _json(asked.protocol.whole(ANSWER))
        return
    yield _head(kind=_SSE)
    yield from asked.protocol.told(ANSWER)


def _silent(drawn: random.Random, asked: Asked) -> Sent:
    if drawn.random() < 0.5:
        yield _head(kind=_SSE if asked.streamed else "application/json")
    yield SECONDS


def _dripping(drawn: random.Random, asked: Asked) -> Sent:
    data = b"".join(piece for piece in _honest(asked) if isinstance(piece, bytes))
    pause = drawn.choice((0.001, 0.05, 0.5))
    for byte in data:
        yield bytes([byte])
        yield pause


def _comments(drawn: random.Random, asked: Asked) -> Sent:
    yield _head(kind=_SSE)
    pause = drawn.choice((0.0, 0.05, 0.5))
    while True:
        yield b": still thinking\n\n" * (100 if pause == 0 else 1)
        yield pause


def _wordless(drawn: random.Random, asked: Asked) -> Sent:
    yield _head(kind=_SSE)
    wordless = drawn.choice(asked.protocol.wordless)
    pause = drawn.choice((0.0, 0.02, 0.3))
    while True:
        yield wordless * (50 if pause == 0 else 1)
        yield pause


def _endless(drawn: random.Random, asked: Asked) -> Sent:
    if not asked.streamed:
        yield _head() + asked.protocol.beginning
        while True:
            yield b"moon " * 1000
            yield 0.0
    yield _head(kind=_SSE)
    pause = drawn.choice((0.0, 0.01, 0.1))
    text = drawn.choice(("moon ", "moon. ", "[1] ", "x" * 5000, "\n", "\U0001f315"))
    while True:
        yield asked.protocol.text(text)
        yield pause


def _unfinished(drawn: random.Random, asked: Asked) -> Sent:
    data = b"".join(piece for piece in _honest(asked) if isinstance(piece, bytes))
    stop, done = asked.protocol.stop, asked.protocol.done
    ends = (data.replace(done, b""), data.replace(stop + done, b""), data[: drawn.randrange(len(data))])
    yield drawn.choice(ends)
    if drawn.random() < 0.5:
        yield _RESET


def _broken_events(drawn: random.Random, asked: Asked) -> Sent:
    yield _head(kind=_SSE)
    for _ in range(drawn.randrange(1, 30)):
        yield drawn.choice((*asked.protocol.broken, asked.protocol.text("moon ")))
    if drawn.random() < 0.5:
        yield asked.protocol.stop + asked.protocol.done


def _odd_answers(drawn: random.Random, asked: Asked) -> Sent:
    content = drawn.choice(
        (
            None,
            "",
            7,
            [],
            {"text": "x"},
            "\ud800",
            "\x00",
            "x" * 3_000_000,
            "[1]" * 200_000,
            "a. " * 300_000,
            "\u202e[999999999999]",
        )
    )
    values = asked.protocol.odd(content)
    yield from _json(drawn.choice((values[0], *values)))


def _wrong_kind(drawn: random.Random, asked: Asked) -> Sent:
    kind = drawn.choice(
        ("text/html", "application/octet-stream", "image/png", "", "application/json; charset=utf-16", _SSE)
    )
    body = drawn.choice(
        (
            b"<html>502</html>",
            b"",
            b"\xff" * 100,
            json.dumps(asked.protocol.whole(ANSWER)).encode(),
            asked.protocol.text("x") + asked.protocol.done,
        )
    )
    yield _head(kind=kind, length=len(body)) + body


def _elsewhere(drawn: random.Random, asked: Asked) -> Sent:
    to = drawn.choice(
        (asked.protocol.path, "http://169.254.169.254/latest", "file:///etc/passwd", "http://[", "//", "")
    )
    yield from _json({}, drawn.choice((301, 302, 307, 308, 300)), f"Location: {to}\r\n")


def _refusing(drawn: random.Random, asked: Asked) -> Sent:
    after = drawn.choice(
        ("7200", "99999999999", "-1", "x", "Wed, 21 Oct 2099 07:28:00 GMT", "0.001", "nan", "")
    )
    status = drawn.choice((429, 429, 500, 502, 503, 529, 408, 400, 401, 403, 404, 418))
    body = drawn.choice(
        (asked.protocol.fault("busy"), {"error": "busy"}, {"error": None}, {}, [], "busy" * 50_000)
    )
    yield drawn.choice((0.0, 0.2))
    yield from _json(body, status, f"Retry-After: {after}\r\n" if drawn.random() < 0.7 else "")


def _wrong_lengths(drawn: random.Random, asked: Asked) -> Sent:
    whole = json.dumps(asked.protocol.whole(ANSWER)).encode()
    body = b"".join(asked.protocol.told(ANSWER)) if asked.streamed else whole
    kind = _SSE if asked.streamed else "application/json"
    chunked = "Transfer-Encoding: chunked\r\n"
    match drawn.randrange(6):
        case 0:
            yield _head(kind=kind, length=len(body) + drawn.choice((1, 10_000_000))) + body
        case 1:
            yield _head(kind=kind, length=len(body) // 2) + body
        case 2:
            yield _head(kind=kind, headers=chunked) + b"ffffff\r\n" + body
        case 3:
            yield _head(kind=kind, headers=chunked) + b"zz\r\n" + body
        case 4:
            yield _head(kind=kind, headers=chunked) + b"%x\r\n%s\r\n" % (len(body), body)  # no last chunk
        case _:
            yield _head(kind=kind, headers="Content-Length: -1\r\n") + body
    yield drawn.choice((0.0, SECONDS))


def _bomb(drawn: random.Random, asked: Asked) -> Sent:
    filler = b" " if drawn.random() < 0.5 else b": x\n\n"
    packed = gzip.compress(filler * ((64 << 20) // len(filler)), 9)
    yield _head(kind=_SSE if asked.streamed else "application/json", headers="Content-Encoding: gzip\r\n")
    for _ in range(drawn.choice((1, 30))):  # members one after the other: up to two gigabytes
        yield packed


def _long_lines(drawn: random.Random, asked: Asked) -> Sent:
    yield _head(kind=_SSE)
    yield drawn.choice((b"data: ", b"data: {", b": ", asked.protocol.text_beginning, b""))
    for _ in range(60):
        yield b"x" * (1 << 20)
    yield b"\n\n"


def _telling(drawn: random.Random, asked: Asked) -> Sent:
    """Repeat what was sent, the key included."""
    status = drawn.choice((400, 401, 429, 500))
    head, fault = asked.head, asked.protocol.fault
    told = drawn.choice(
        (
            fault(head),
            {"error": {"message": "no", "code": head, "param": head, "type": head, "status": head}},
            {"error": head},
            head,
        )
    )
    if asked.streamed and drawn.random() < 0.5:
        yield _head(kind=_SSE) + event(fault(head), asked.protocol.fault_name)
    else:
        yield from _json(told, status)


def _no_http(drawn: random.Random, asked: Asked) -> Sent:
    match drawn.randrange(6):
        case 0:
            yield _RESET
        case 1:
            yield drawn.randbytes(200)
        case 2:
            while True:
                yield b"HTTP/1.1 100 Continue\r\n\r\n"
                yield 0.01
        case 3:
            yield b"HTTP/1.1 200 OK\r\n"
            while True:
                yield b"X-More: " + b"y" * 1000 + b"\r\n"
                yield 0.001
        case 4:
            yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX: \xff\x00\r\n\r\n{}"
        case _:
            yield (
                b"HTTP/1.1 "
                + drawn.choice((b"999 x", b"0 x", b"-1", b"204 No Content", b"101 Switch"))
                + b"\r\n\r\n"
            )


_MISBEHAVIOURS: dict[str, Misbehaviour] = {
    "silent": _silent,
    "dripping": _dripping,
    "comments": _comments,
    "wordless": _wordless,
    "endless": _endless,
    "unfinished": _unfinished,
    "broken events": _broken_events,
    "odd answers": _odd_answers,
    "wrong kind": _wrong_kind,
    "elsewhere": _elsewhere,
    "refusing": _refusing,
    "wrong lengths": _wrong_lengths,
    "bomb": _bomb,
    "long lines": _long_lines,
    "telling": _telling,
    "no http": _no_http,
}
