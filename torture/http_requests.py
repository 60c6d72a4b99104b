"""Random hostile requests."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from torture.http_bodies import body, multipart
from torture.http_exchange import JSON, QUESTION, TEXTS, Api, Exchange, Piece, request, search
from torture.mutations import ODD_VALUES


def exchange(drawn: random.Random, api: Api, host: str) -> Exchange:
    """Return a random exchange. ``host`` is the name and port of the server."""
    maker = drawn.choice(_MAKERS)
    return maker(drawn, api, host)


def _noise(drawn: random.Random, api: Api, host: str) -> Exchange:
    """Bytes that are not HTTP, or a request with a damaged head."""
    whole = bytearray(search(host))
    match drawn.randrange(8):
        case 0:
            data = drawn.randbytes(drawn.randrange(1, 4000))
        case 1:
            data = bytes(whole[: drawn.randrange(len(whole))])
        case 2:
            for _ in range(drawn.randrange(1, 6)):
                whole[drawn.randrange(len(whole))] ^= 1 << drawn.randrange(8)
            data = bytes(whole)
        case 3:
            data = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + drawn.randbytes(500)  # TLS
        case 4:
            data = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + drawn.randbytes(60)
        case 5:
            version = drawn.choice(
                ("HTTP/0.9", "HTTP/1.0", "HTTP/2.0", "HTTP/1.2", "HTTP/9.9", "http/1.1", "")
            )
            data = f"GET /health {version}\r\nHost: {host}\r\n\r\n".encode()
        case 6:
            target = drawn.choice(
                ("*", f"http://{host}/health", f"{host}:443", "health", "/health /x", "/\xa0", "")
            )
            method = drawn.choice(("GET", "OPTIONS", "CONNECT", "TRACE", "g e t", "", "G\x00T"))
            data = f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        case _:
            data = b"\r\n" * drawn.randrange(1, 3000) + bytes(whole)
    return Exchange("noise", (data,))


def _framing(drawn: random.Random, api: Api, host: str) -> Exchange:
    """Requests whose lengths are wrong or contradict each other."""
    content = json.dumps({"question": QUESTION}).encode()
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(content), content)
    hidden = search(host)
    odd = drawn.choice(
        ("-1", "+5", "1e3", "0x10", "1 2", "", "٣", "9" * 30, "99999999999", "3, 3", "3,4", str(len(content)))
    )
    te = drawn.choice(
        ("chunked", "Chunked", "gzip, chunked", "identity", "chunked, chunked", "xchunked", "\tchunked")
    )
    size = drawn.choice(
        ("ffffffffffffffff", "-1", "fffffffffffffffffff", "5;ext=" + "x" * 9000, "zz", "", "0x5", "5 ")
    )
    match drawn.randrange(8):
        case 0:
            data = request("POST", "/search", host, content, JSON, odd)
        case 1:
            data = request(
                "POST", "/search", host, chunked + hidden, f"{JSON}Transfer-Encoding: {te}\r\n", len(content)
            )
        case 2:
            data = request("POST", "/search", host, b"", f"{JSON}Transfer-Encoding: {te}\r\n") + chunked
        case 3:
            chunks = f"{size}\r\n".encode() + content + b"\r\n0\r\n\r\n"
            data = request("POST", "/search", host, b"", f"{JSON}Transfer-Encoding: chunked\r\n") + chunks
        case 4:
            two = (
                f"Content-Length: {len(content)}\r\nContent-Length: {drawn.choice((len(content), 3, 0))}\r\n"
            )
            data = request("POST", "/search", host, b"", JSON + two) + content
        case 5:
            data = request("POST", "/search", host, content, JSON, len(content) + drawn.randrange(1, 2000))
        case 6:
            data = request(
                "POST", "/search", host, content, JSON, max(0, len(content) - drawn.randrange(1, 20))
            )
        case _:
            small = (
                b"".join(b"1\r\n%c\r\n" % byte for byte in content)
                + b"0\r\nX-Trailer: "
                + b"y" * 500
                + b"\r\n\r\n"
            )
            data = request("POST", "/search", host, b"", f"{JSON}Transfer-Encoding: chunked\r\n") + small
    return Exchange("framing", (data,))


def _headers(drawn: random.Random, api: Api, host: str) -> Exchange:
    """Requests with odd host names, origins or keys, or with too many or too long headers."""
    value = drawn.choice((*TEXTS[:8], "\xff", "a" * 70_000)).replace("\r", "").replace("\n", "")
    match drawn.randrange(10):
        case 0:
            name = drawn.choice(
                (
                    "evil.example",
                    "",
                    "localhost.evil.example",
                    "[::1",
                    "[",
                    "127.0.0.1@evil",
                    "LOCALHOST",
                    "::",
                )
            )
            data = request("GET", "/stats", name)
        case 1:
            first = drawn.choice(("", f"Host: {host}\r\n"))
            data = f"GET /stats HTTP/1.1\r\n{first}Host: evil\r\n\r\n".encode()
        case 2:
            origin = drawn.choice(
                (
                    "null",
                    "http://[",
                    "http://evil.example",
                    "http://",
                    "x",
                    f"http://{host}.evil",
                    "http://\udcff",
                )
            )
            data = search(host, f"Origin: {origin}\r\n")
        case 3:
            names = "".join(f"X-{n}: {n}\r\n" for n in range(drawn.choice((50, 500, 5000))))
            data = search(host, names)
        case 4:
            data = search(host, f"X-Long: {'x' * drawn.choice((5_000, 60_000, 70_000, 2_000_000))}\r\n")
        case 5:
            data = search(
                host, f"X-Request-ID: {value}\r\nX-Api-Key: {value}\r\nAuthorization: Bearer {value}\r\n"
            )
        case 6:
            data = search(
                host,
                drawn.choice(
                    (
                        " folded\r\n",
                        "no colon\r\n",
                        ": empty\r\n",
                        "X\x00Y: 1\r\n",
                        "X: \x01\r\n",
                        "X : 1\r\n",
                    )
                ),
            )
        case 7:
            forwarded = drawn.choice(("for=evil", "1.2.3.4, " * 500, "\xff", "[::", "127.0.0.1"))
            data = search(
                host,
                f"X-Forwarded-For: {forwarded}\r\nForwarded: {forwarded}\r\nX-Forwarded-Proto: {value[:99]}\r\n",
            )
        case 8:
            kind = drawn.choice(
                (
                    "text/plain",
                    "application/json; charset=utf-16",
                    "multipart/form-data",
                    "",
                    "a/b/c",
                    "application/*",
                )
            )
            content = json.dumps({"question": QUESTION}).encode()
            path = drawn.choice(("/search", "/documents", "/ask"))
            data = request("POST", path, host, content, f"Content-Type: {kind}\r\n")
        case _:
            encodings = drawn.choice(("gzip", "br", "gzip, gzip", "x" * 900))
            data = search(
                host,
                f"Content-Encoding: {encodings}\r\nAccept: \x80\r\nRange: bytes=0-{'9' * 40}\r\nExpect: {value[:50]}\r\n",
            )
    return Exchange("headers", (data,))


def _path(drawn: random.Random, api: Api, host: str) -> Exchange:
    """Odd paths, and methods that a path does not have."""
    paths = list(api["paths"])
    path = drawn.choice([*paths, "/page/{page}", "/page/app.js", "/openapi.json", "/{page}"])
    odd = drawn.choice(TEXTS)
    filled = path
    for name in ("page", "uri", "identifier"):
        coded = quote(odd, safe="/" if drawn.random() < 0.5 else "")
        raw = odd if drawn.random() < 0.3 and "\r" not in odd and " " not in odd else coded
        filled = filled.replace(f"{{{name}}}", raw)
    if drawn.random() < 0.3:
        filled = drawn.choice(
            (
                "/..%2f..%2fetc/passwd",
                "/page/../../app.py",
                "/page/%2e%2e/app.py",
                "//health",
                "/%00",
                "/%ff%fe",
                "/;x",
            )
        )
    if drawn.random() < 0.5:
        value = quote(str(drawn.choice((*TEXTS, *ODD_VALUES))).encode("utf-8", "replace")[:8000])
        name = drawn.choice(("limit", "after", "x"))
        filled += f"?{name}={value}" + drawn.choice(("", f"&{name}=2", "&", "=", "&%ff=%"))
    method = drawn.choice(
        (
            "GET",
            "GET",
            "GET",
            "HEAD",
            "OPTIONS",
            "DELETE",
            "PUT",
            "POST",
            "PATCH",
            "TRACE",
            "PROPFIND",
            "X" * 300,
        )
    )
    content = b"{}" if method in ("PUT", "POST", "PATCH") else b""
    return Exchange(
        "path", (request(method, filled, host, content, JSON if content else ""),), heads=method == "HEAD"
    )


def _abort(drawn: random.Random, api: Api, host: str) -> Exchange:
    """A client that leaves in the middle."""
    path = drawn.choice(("/search", "/ask", "/explain", "/documents"))
    given: dict[str, Any] = {"question": QUESTION, "k": 5}
    given |= {"/ask": {"stream": drawn.random() < 0.5}, "/explain": {"uri": "Mars#chunk-1"}}.get(path, {})
    if path == "/documents":
        given = {"records": [{"title": "Vulcan", "text": "A planet. " * drawn.randrange(1, 500)}]}
    data = request("POST", path, host, json.dumps(given).encode(), JSON)
    if drawn.random() < 0.4:
        data = data[: drawn.randrange(len(data))]
    pause = drawn.choice((0.0, 0.0, 0.001, 0.01, 0.05))
    return Exchange("abort", (data, pause), drawn.choice(("leave", "reset", "peek")))


def _slow(drawn: random.Random, api: Api, host: str) -> Exchange:
    """A request that is sent a few bytes at a time, complete or not."""
    data = search(host)
    cut = sorted(drawn.sample(range(1, len(data)), drawn.randrange(1, 12)))
    pieces: list[Piece] = []
    for start, end in zip([0, *cut], [*cut, len(data)], strict=True):
        pieces += [data[start:end], drawn.choice((0.0, 0.01, 0.05))]
    if drawn.random() < 0.3:
        return Exchange("slow", tuple(pieces[: drawn.randrange(1, len(pieces))]), "leave")
    return Exchange("slow", tuple(pieces), "read")


def _pipeline(drawn: random.Random, api: Api, host: str) -> Exchange:
    """Several requests at once, good ones and bad ones."""
    requests = (
        search(host),
        request("GET", "/health", host),
        request("GET", "/nowhere", host),
        request("POST", "/search", host, b"{", JSON),
    )
    parts = [drawn.choice(requests) for _ in range(drawn.randrange(2, 30))]
    if drawn.random() < 0.3:
        parts.append(drawn.randbytes(40))
    return Exchange("pipeline", (b"".join(parts),), drawn.choice(("read", "read", "read", "reset", "peek")))


_MAKERS: tuple[Callable[[random.Random, Api, str], Exchange], ...] = (
    _noise,
    _framing,
    _headers,
    _path,
    _path,
    body,
    body,
    body,
    multipart,
    _abort,
    _slow,
    _pipeline,
)
