"""Damages documents at random: their bytes, and their structure."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

LARGEST = 400_000
"""Bytes of a mutated document at most."""
ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1 << 63,
    -(1 << 63) - 1,
    10**400,
    1e308,
    5e-324,
    float("nan"),
    float("-inf"),
    "",
    " ",
    "\x00",
    "\ud800",
    "\udfff\ud800",
    "\u202e",
    "a\u0301" * 300,
    "'); DROP TABLE page;--",
    "../../etc/passwd",
    "x" * 70_000,
    "#chunk-1",
    [],
    {},
    [[]],
    [None],
    {"": ""},
    {"title": 1},
)
"""Values of JSON that a program may not expect."""
_WORDS = (
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\r",
    b"\n\n\n",
    b"\x1b[2J",
    b"&#x110000;",
    b"&#xD800;",
    b"&nbsp;" * 50,
    b"<!--",
    b"-->",
    b"<![CDATA[",
    b"<?php",
    b"<svg><title>",
    b"<math><mi>",
    b"<template>",
    b"<plaintext>",
    b"<table><tr><td>",
    b"</table>",
    b"<select><option>",
    b"<h1></h1>",
    b"<h6>x</h6><h2>x</h2>",
    b'<td colspan="1000000000" rowspan="-1">',
    b'<td rowspan="65535" colspan="1000">x',
    b'<ol start="99999999999999999999"><li value="-1">',
    b'<a href="//[">x</a>',
    b'<a href="/wiki/%FF%00#">x</a>',
    b'<a href="javascript:alert(1)">x</a>',
    b'<base href="http://[::">',
    b'<meta charset="utf-7">',
    b'<meta charset="utf-16">',
    b'<link rel="canonical" href="/wiki/' + b"A" * 3000 + b'">',
    b"<p>" + "\u202e\u0301".encode() * 40,
    b'"wgPageName":"\\ud800"',
    b'"wgRevisionId":999999999999999999',
    b"{",
    b"}",
    b"[" * 3000,
    b'{"a":' * 1500,
    b"\\u0000",
    b"\\ud800",
    b'"',
    b"\\",
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"0" * 5000,
    b"<http://example.org/\xff> ",
    b'"""',
    b"@prefix : <> .",
    b"@base <:> .",
    b"_:b0 ",
    b"\t",
)
"""Pieces that mean something in one of the formats."""
_TAG = re.compile(rb"<[^<>]{1,200}>")

Mutation = Callable[[bytes, Sequence[bytes], random.Random], bytes]


def mutated(document: bytes, others: Sequence[bytes], drawn: random.Random) -> bytes:
    """Return a document after one to eight mutations. Pieces may be taken from ``others``."""
    for _ in range(min(1 + int(drawn.expovariate(0.5)), 8)):
        document = drawn.choice(_MUTATIONS)(document, others, drawn)[:LARGEST]
    return document


def _flip(document: bytes, _: Sequence[bytes], drawn: random.Random) -> bytes:
    changed = bytearray(document or b"\x00")
    for _ in range(1 << drawn.randrange(6)):
        changed[drawn.randrange(len(changed))] ^= 1 << drawn.randrange(8)
    return bytes(changed)


def _insert(document: bytes, _: Sequence[bytes], drawn: random.Random) -> bytes:
    at = drawn.randint(0, len(document))
    return document[:at] + drawn.choice(_WORDS) * (1 << drawn.randrange(4)) + document[at:]


def _insert_noise(document: bytes, _: Sequence[bytes], drawn: random.Random) -> bytes:
    at = drawn.randint(0, len(document))
    return document[:at] + drawn.randbytes(drawn.randrange(1, 64)) + document[at:]


def _range(document: bytes, drawn: random.Random) -> tuple[int, int]:
    start = drawn.randint(0, len(document))
    return start, min(len(document), start + int(drawn.paretovariate(0.4)))


def _delete(document: bytes, _: Sequence[bytes], drawn: random.Random) -> bytes:
    start, end = _range(document, drawn)
    return document[:start] + document[end:]


def _repeat(document: bytes, _: Sequence[bytes], drawn: random.Random) -> bytes:
    start, end = _range(document, drawn)
    times = int(drawn.paretovariate(0.5))
    room = max(1, (LARGEST - len(document)) // max(1, end - start))
    return document[:end] + document[start:end] * min(times, room) + document[end:]


def _truncate(document: bytes, _: Sequence[bytes], drawn: random.Random) -> bytes:
    at = drawn.randint(0, len(document))
    return document[:at] if drawn.random() < 0.8 else document[at:]


def _splice(document: bytes, others: Sequence[bytes], drawn: random.Random) -> bytes:
    other = drawn.choice(others)
    return document[: drawn.randint(0, len(document))] + other[drawn.randint(0, len(other)) :]


def _move(document: bytes, _: Sequence[bytes], drawn: random.Random) -> bytes:
    start, end = _range(document, drawn)
    rest = document[:start] + document[end:]
    at = drawn.randint(0, len(rest))
    return rest[:at] + document[start:end] + rest[at:]


def _tags(document: bytes, _: Sequence[bytes], drawn: random.Random) -> bytes:
    """Repeat, drop or move a tag."""
    tags = list(_TAG.finditer(document))
    if not tags:
        return document
    one, other = drawn.choice(tags), drawn.choice(tags)
    match drawn.randrange(4):
        case 0:
            times = 1 << drawn.randrange(14)
            return document[: one.start()] + one.group() * times + document[one.end() :]
        case 1:
            return document[: one.start()] + document[one.end() :]
        case 2:
            return document[: one.start()] + other.group() + document[one.end() :]
        case _:
            first, last = sorted((one, other), key=lambda tag: tag.start())
            piece = document[first.start() : last.end()]
            return document[: last.end()] + piece * drawn.randrange(1, 5) + document[last.end() :]


def _json(document: bytes, _: Sequence[bytes], drawn: random.Random) -> bytes:
    """Replace a value of a JSON document, or of each of its lines."""
    try:
        if document.lstrip()[:1] == b"{" and b"\n{" in document:
            lines = [json.loads(line) for line in document.splitlines() if line.strip()]
            changed = [_changed(line, drawn) if drawn.random() < 0.3 else line for line in lines]
            return b"\n".join(json.dumps(line).encode() for line in changed)
        return json.dumps(_changed(json.loads(document), drawn), ensure_ascii=drawn.random() < 0.8).encode(
            "utf-8", "surrogatepass"
        )
    except (ValueError, RecursionError):
        return _insert(document, (), drawn)


def _changed(value: Any, drawn: random.Random) -> Any:
    if isinstance(value, dict) and value and drawn.random() < 0.85:
        key = drawn.choice(list(value))
        rest = {name: part for name, part in value.items() if name != key}
        match drawn.randrange(6):
            case 0:
                return rest
            case 1:
                return {**rest, drawn.choice(("", "\ud800", key.upper(), "html", "title")): value[key]}
            case _:
                return {**value, key: _changed(value[key], drawn)}
    if isinstance(value, list) and value and drawn.random() < 0.85:
        at = drawn.randrange(len(value))
        match drawn.randrange(5):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return value[:at] + [value[at]] * drawn.choice((2, 50, 3000)) + value[at + 1 :]
            case _:
                return [*value[:at], _changed(value[at], drawn), *value[at + 1 :]]
    return odd_value(drawn)


def odd_value(drawn: random.Random) -> Any:
    """A value of JSON that a program may not expect; some are deep."""
    if drawn.random() < 0.1:
        value: Any = drawn.choice(ODD_VALUES)
        for _ in range(drawn.choice((3, 30, 400))):
            value = [value] if drawn.random() < 0.5 else {"a": value}
        return value
    return drawn.choice(ODD_VALUES)


_MUTATIONS: tuple[Mutation, ...] = (
    _flip,
    _insert,
    _insert,
    _insert_noise,
    _delete,
    _repeat,
    _truncate,
    _splice,
    _move,
    _tags,
    _tags,
    _json,
    _json,
)
