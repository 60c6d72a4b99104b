"""Question files: JSON Lines, one question per line.

``question`` is required. ``id``, ``answers`` and the gold (``page``, ``section``, ``paragraph``,
``gold_titles``, ``gold_passages``) are optional, null counts as absent, and other keys are ignored.
:mod:`trivium.datasets.trace` defines how the gold is found in a store.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from trivium.errors import QuestionFileError
from trivium.parser.sources.base import some_keys
from trivium.types import GoldPassage, Question


def read_questions(path: str | Path) -> list[Question]:
    """The questions of a file, in file order. Blank lines are skipped.

    A question without ``id`` gets the id ``line-<n>``, n counted from 1. Where another question has the id already, the
    later one is called ``<id> (line <n>)``: files put together from several ones have such. Raises QuestionFileError,
    naming the line, for anything malformed, for a question that occurs twice with its id, and for a file without
    questions.
    """
    path = Path(path)
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise QuestionFileError(f"{path}: expected a readable question file, got {error.strerror}") from error
    questions: list[Question] = []
    known: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            question = _question(_decode(line), f"line-{number}")
        except ValueError as error:
            raise QuestionFileError(f"{path}, line {number}: {error}") from error
        if question.id in known:
            first, text = known[question.id]
            own = f"{question.id} (line {number})"
            if text == question.text or own in known:
                raise QuestionFileError(
                    f"{path}, line {number}: expected every question once, got {question.id[:60]!r} again "
                    f"(first on line {first})"
                )
            question = replace(question, id=own)
        known[question.id] = number, question.text
        questions.append(question)
    if not questions:
        raise QuestionFileError(f"{path}: expected at least one line with a question, got an empty file")
    return questions


def _decode(line: bytes) -> Mapping[str, Any]:
    """The JSON object of a line. Raises ValueError."""
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"expected UTF-8, got byte 0x{line[error.start]:02x} at {error.start}") from error
    except RecursionError as error:
        raise ValueError("expected a flat JSON object, got one nested too deeply to read") from error
    except ValueError as error:
        raise ValueError(f'expected a JSON object such as {{"question": "..."}}, got {error}') from error
    if not isinstance(value, dict):
        raise ValueError(f'expected a JSON object such as {{"question": "..."}}, got {_kind(value)}')
    return value


def _question(row: Mapping[str, Any], default_id: str) -> Question:
    if row.get("question") is None:
        raise ValueError(f'expected the key "question", got the keys {some_keys(row)}')
    identifier = row.get("id")
    if isinstance(identifier, int) and not isinstance(identifier, bool):
        identifier = str(identifier)
    return Question(
        id=default_id if identifier is None else _string(identifier, "id"),
        text=_string(row["question"], "question"),
        answers=_strings(row, "answers"),
        page=_optional(row, "page"),
        section=_optional(row, "section"),
        paragraph=_optional(row, "paragraph"),
        gold_titles=_strings(row, "gold_titles"),
        gold_passages=tuple(_passage(value) for value in _list(row, "gold_passages")),
    )


def _passage(value: object) -> GoldPassage:
    if not isinstance(value, dict) or not {"title", "text"} <= value.keys():
        raise ValueError(f'expected "gold_passages" of {{"title", "text"}} objects, got {_kind(value)}')
    return GoldPassage(_string(value["title"], "title"), _string(value["text"], "text"))


def _optional(row: Mapping[str, Any], key: str) -> str | None:
    return None if row.get(key) is None else _string(row[key], key)


def _strings(row: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(_string(value, f"{key}[{i}]") for i, value in enumerate(_list(row, key)))


def _list(row: Mapping[str, Any], key: str) -> list[Any]:
    value = row.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f'expected a list as "{key}", got {_kind(value)}')
    return value


def _string(value: object, key: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f'expected a non-empty string as "{key}", got {_kind(value)}')
    try:
        value.encode()
    except UnicodeEncodeError as error:  # a lone surrogate: valid in JSON, but cannot be stored
        raise ValueError(f'expected Unicode text as "{key}", got half a surrogate pair') from error
    return value


def _kind(value: object) -> str:
    """A short description of a JSON value, for messages."""
    if isinstance(value, dict):
        return f"an object with the keys {some_keys(value)}"
    if isinstance(value, list):
        return "a list"
    shown = json.dumps(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
