"""Question files: JSON Lines, one question per line, or a table with one per row.

``question`` is required. ``id``, ``answers``, ``history`` and the gold (``document``, ``pages``, ``evidence``,
``gold_passages``, ``gold_titles``, ``page``, ``section``, ``paragraph``, ``gold_any``) are optional; null counts as
absent, and other keys are ignored. If ``document`` and ``pages`` are given, ``evidence`` is ignored, because in some
files it contains the text of these pages. :mod:`trivium.datasets.trace_gold` defines how the gold is found in a store.
Original Natural Questions rows can be read directly (:mod:`trivium.parser.sources.natural_question_files`), and so can a
folder of the benchmark BEIR (:mod:`trivium.datasets.beir`).

Tables are CSV and TSV, as spreadsheets write them. The first row has the keys of question files, in any case;
``answer``, ``quote`` and ``gold_title`` are for one value. A cell may have several answers, titles, pages, quotes or
earlier questions, one in each line. Answers may be separated by ``|``, and those in a column ``answers``, page numbers
and titles in ``gold_titles`` also by ``;``. Columns ``answer 1``, ``answer 2`` are read together. A cell may also be
JSON. With a ``quote`` a ``page`` is the passage that holds it; several pages are all needed (``gold_titles``).
"""

from __future__ import annotations

import json
import logging
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from trivium.common.progress import Progress
from trivium.datasets.beir import is_benchmark, read_benchmark
from trivium.errors import InputError, QuestionFileError, said
from trivium.parser.documents.delimited import table_rows
from trivium.parser.sources.natural_question_files import is_row_source, read_row_questions
from trivium.parser.sources.natural_question_rows import MAJORITY, check_annotators
from trivium.parser.sources.source_items import Problem, some_keys
from trivium.settings.limits import DEFAULT_LIMITS
from trivium.types import Evidence, GoldPassage, Question, Turn

T = TypeVar("T")

_SINGULAR = {"answer": "answers", "quote": "quotes", "gold_title": "gold_titles"}
_SEPARATORS = {
    "answer": r"[\n|]", "answers": r"[\n|;]", "page": r"\n", "pages": r"[\n|;,]", "quote": r"(?!)", "quotes": r"\n",
    "gold_title": r"\n", "gold_titles": r"[\n|;]", "history": r"\n",
}  # fmt: skip
_FLAGS = ("unanswerable", "gold_any")
_NO = ("false", "no", "n", "0", "-", "falsch", "nein", "faux", "non")


def is_table(path: Path) -> bool:
    """Whether a question file is a table, by its name."""
    return path.suffix.lower() in (".csv", ".tsv", ".tab")


def table_questions(data: bytes, name: str) -> list[tuple[int, Mapping[str, Any]]]:
    """Return the rows of a table with their numbers, as objects of a question file. Raises InputError without a column
    ``question``.
    """
    filled = [
        (number, [str(cell).strip() for cell in row])
        for number, row in enumerate(table_rows(data, name, DEFAULT_LIMITS), 1)
        if any(str(cell).strip() for cell in row)
    ]
    names = filled[0][1] if filled else []
    heads = [re.sub(r"\W+", "_", head.lower().rstrip("0123456789").rstrip(" _")) for head in names]
    if "question" not in heads:
        raise InputError(f'expected a column "question", got the columns {", ".join(names)[:200] or "none"}')
    return [(number, _row(heads, cells)) for number, cells in filled[1:]]


def _row(heads: list[str], cells: list[str]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for head, cell in zip(heads, cells, strict=False):
        value = _json(cell) if cell[:1] in ("[", "{") else cell
        if cell and head in _SEPARATORS:
            parts = value if isinstance(value, list) else re.split(_SEPARATORS[head], cell)
            given = [part.strip() if isinstance(part, str) else part for part in parts]
            row.setdefault(_SINGULAR.get(head, head), []).extend(part for part in given if part != "")
        elif cell:
            row[head] = cell.casefold() not in _NO if head in _FLAGS else value
    pages, quotes = row.pop("page", []), row.pop("quotes", [])
    if "pages" in row:
        row["pages"] = [int(number) if str(number).isdecimal() else number for number in row["pages"]]
    if quotes and "document" in row:
        row.setdefault("evidence", [{"document": row["document"], "quotes": quotes}])
    elif quotes and len(pages) == 1:
        row.setdefault("gold_passages", [{"title": pages[0], "text": quote} for quote in quotes])
    elif len(pages) > 1:
        row.setdefault("gold_titles", pages)
    return row | ({"page": pages[0]} if pages else {})


def _json(cell: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


EXAMPLE = '{"question": "Who discovered Phobos?", "page": "Phobos (moon)", "answers": ["Asaph Hall"]}'
"""A line of a question file, for messages."""
_SHOWN = 60
_OTHER_GOLD = ("evidence", "gold_passages", "gold_titles", "page")
"""If one of these keys is present, a ``document`` or ``pages`` alone is not gold but other information."""

_log = logging.getLogger(__name__)


def draw(questions: Sequence[T], size: int | None, seed: int) -> list[T]:
    """Draw at most ``size`` items without replacement, keeping their order; None for all of them.

    >>> draw("abcdef", 3, seed=0)
    ['a', 'd', 'f']
    """
    if size is None or size >= len(questions):
        return list(questions)
    drawn = random.Random(seed).sample(range(len(questions)), size)  # noqa: S311 - not a secret
    return [questions[place] for place in sorted(drawn)]


def log_problem(problem: Problem) -> None:
    """Log a row that could not be read."""
    _log.warning("%s: %s", problem.location, problem.reason)


def read_questions(
    path: str | Path,
    *,
    annotators: str = MAJORITY,
    on_problem: Callable[[Problem], None] = log_problem,
    progress: Progress | None = None,
) -> list[Question]:
    """Read the questions of a file, in order. Blank lines are skipped.

    ``path`` may also be a file (plain or gzipped) or folder of original Natural Questions rows, or ``hf:NAME[:SPLIT]``.
    ``annotators`` then selects whose answers count (:func:`trivium.parser.sources.natural_question_rows.counted`),
    ``on_problem`` is called for unreadable rows, which are skipped (by default they are logged), and ``progress``
    counts bytes.

    A question without ``id`` gets the id ``line-<n>``, n counted from 1. If the id is already taken, as may happen in
    concatenated files, the later question gets the id ``<id> (line <n>)``. Raises QuestionFileError, naming the line,
    for malformed input, for a question repeated with the same id, and for a file without questions.
    """
    check_annotators(annotators)
    if is_benchmark(Path(path)):
        return read_benchmark(Path(path))
    if is_row_source(str(path)):
        return _of_rows(str(path), annotators, on_problem, progress)
    path = Path(path)
    try:
        data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
        rows: Iterable[tuple[int, bytes | Mapping[str, Any]]]
        rows = table_questions(data, path.name) if is_table(path) else _json_lines(data)
    except OSError as error:
        raise QuestionFileError(f"{path}: expected a readable question file, got {error.strerror}") from error
    except InputError as error:
        raise QuestionFileError(f"{path}: {error}") from error
    questions: list[Question] = []
    known: dict[str, tuple[int, str]] = {}
    for number, row in rows:
        try:
            question = _question(_decode(row) if isinstance(row, bytes) else row, f"line-{number}")
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


def _json_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    return ((number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip())


def _of_rows(
    source: str, annotators: str, on_problem: Callable[[Problem], None], progress: Progress | None
) -> list[Question]:
    questions: list[Question] = []
    try:
        for found in read_row_questions([source], annotators, progress=progress):
            if isinstance(found, Problem):
                on_problem(found)
            else:
                questions.append(found.question)
    except InputError as error:
        raise QuestionFileError(f"{source}: {error}") from error
    if not questions:
        raise QuestionFileError(
            f"{source}: expected at least one row with a question, got none that can be read"
        )
    return questions


def _decode(line: bytes) -> Mapping[str, Any]:
    """Parse the JSON object of a line. Raises ValueError."""
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"expected UTF-8, got byte 0x{line[error.start]:02x} at {error.start}") from error
    except RecursionError as error:
        raise ValueError("expected a flat JSON object, got one nested too deeply to read") from error
    except ValueError as error:
        start = " ".join(line[: 4 * _SHOWN].decode("utf-8", "replace").split())[:_SHOWN]
        raise ValueError(
            f"expected a JSON object such as {EXAMPLE}, got {start!r} ({said(error)[:_SHOWN]})"
        ) from error
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object such as {EXAMPLE}, got {_kind(value)}")
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
        evidence=_evidence(row),
        gold_any=_flag(row, "gold_any"),
        unanswerable=_flag(row, "unanswerable"),
        history=tuple(_turn(value, f"history[{i}]") for i, value in enumerate(_list(row, "history"))),
    )


def _evidence(row: Mapping[str, Any]) -> tuple[Evidence, ...]:
    document, pages = row.get("document"), row.get("pages")
    if document is not None and pages is not None:
        return (Evidence(_string(document, "document"), pages=_page_numbers(pages)),)
    if (document is None) != (pages is None) and all(row.get(key) is None for key in _OTHER_GOLD):
        if document is None:
            raise ValueError(f'expected the key "document" beside "pages", got the keys {some_keys(row)}')
        named = _filled(row, "document", "document") if isinstance(document, list) else [document]
        return tuple(Evidence(_string(name, "document")) for name in named)
    if row.get("evidence") is None:
        return ()
    values = _filled(row, "evidence", "evidence")
    return tuple(_quoted(value, f"evidence[{i}]") for i, value in enumerate(values))


def _quoted(value: object, key: str) -> Evidence:
    if not isinstance(value, dict) or not {"document", "quotes"} <= value.keys():
        raise ValueError(f'expected a {{"document", "quotes"}} object as "{key}", got {_kind(value)}')
    quotes = _filled(value, "quotes", f"{key}.quotes")
    return Evidence(
        _string(value["document"], f"{key}.document"),
        tuple(_string(quote, f"{key}.quotes[{i}]") for i, quote in enumerate(quotes)),
    )


def _page_numbers(value: object) -> tuple[int, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError(f'expected a list of page numbers as "pages", got {_kind(value)}')
    for i, number in enumerate(value):
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise ValueError(f'expected a whole number from 1 as "pages[{i}]", got {_kind(number)}')
    return tuple(value)


def _turn(value: object, key: str) -> str | Turn:
    """Parse an earlier question, with its answer if given."""
    if not isinstance(value, dict):
        return _string(value, key)
    if value.get("question") is None:
        raise ValueError(
            f'expected a question or a {{"question", "answer"}} object as "{key}", got {_kind(value)}'
        )
    answer = value.get("answer")
    return Turn(
        _string(value["question"], f"{key}.question"),
        "" if answer is None else _string(answer, f"{key}.answer"),
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


def _filled(row: Mapping[str, Any], key: str, name: str) -> list[Any]:
    """Return a non-empty list."""
    value = row[key]
    if not isinstance(value, list) or not value:
        raise ValueError(f'expected a list that is not empty as "{name}", got {_kind(value)}')
    return value


def _flag(row: Mapping[str, Any], key: str) -> bool:
    value = row.get(key)
    if value is not None and not isinstance(value, bool):
        raise ValueError(f'expected true or false as "{key}", got {_kind(value)}')
    return value is True


def _string(value: object, key: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f'expected a non-empty string as "{key}", got {_kind(value)}')
    try:
        value.encode()
    except UnicodeEncodeError as error:  # a lone surrogate: valid in JSON, but cannot be stored
        raise ValueError(f'expected Unicode text as "{key}", got half a surrogate pair') from error
    return value


def _kind(value: object) -> str:
    """Describe a JSON value briefly, for messages."""
    if isinstance(value, dict):
        return f"an object with the keys {some_keys(value)}"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    shown = json.dumps(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
