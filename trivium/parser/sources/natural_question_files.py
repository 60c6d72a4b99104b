"""Reads Natural Questions rows from files, folders and Hugging Face data sets, one at a time.

The training files have 40 GB, so only the current row is in memory. An unusable row yields a Problem, and reading
continues.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from trivium.common.progress import Progress
from trivium.errors import InputError
from trivium.parser.sources.discover import FoundFile, expand
from trivium.parser.sources.natural_question_rows import MAJORITY, Row, as_row, check_annotators
from trivium.parser.sources.natural_questions import questions
from trivium.parser.sources.read_files import bytes_read, lines_of, opened, parse_json, read_lines, too_long
from trivium.parser.sources.recognise_format import OtherContentError, classify, recognise
from trivium.parser.sources.source_items import HUGGING_FACE, Problem, printable_path
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits
from trivium.types import Question

FORMAT = "nq"
_LINES_TRIED = 20
_EVERY = 1 << 20
"""Bytes between two progress calls."""


@dataclass(frozen=True, slots=True)
class RowFound:
    """A row and its location: a file and a line, or a data set and a row."""

    name: str
    row: Row


@dataclass(frozen=True, slots=True)
class RowQuestion:
    """The question of a row, its location, and the row."""

    name: str
    question: Question
    row: Row


def is_row_source(source: str) -> bool:
    """Whether a source contains Natural Questions rows rather than questions: a Hugging Face data set, a folder, or a
    file of such rows, judging by the first ones. False for unreadable sources.
    """
    if source.startswith(HUGGING_FACE):
        return True
    path = Path(source)
    if path.is_dir():
        return True
    try:
        for line in islice(read_lines(path), _LINES_TRIED):
            try:
                row = None if line.data is None else parse_json(line.data)
            except InputError:
                continue
            if isinstance(row, dict):
                return classify(row) == FORMAT
    except (InputError, OtherContentError):
        pass
    return False


def read_rows(
    sources: Sequence[str],
    limits: InputLimits = DEFAULT_LIMITS,
    *,
    format: str = "auto",
    others: bool = False,
    progress: Progress | None = None,
) -> Iterator[RowFound | Problem]:
    """Yield the rows of sources, in order: files (plain or gzipped), folders, globs, ``hf:NAME[:SPLIT]``.

    Anything else yields a Problem. With ``others`` it is skipped instead: other files and addresses among the documents
    of a build, which reports unreadable ones itself. ``format`` is ``nq``, or ``auto`` to detect the format of each
    file. ``progress`` counts bytes of files.

    Raises InputError immediately when a source matches nothing, and MissingExtraError when a package is missing.
    """
    expanded: list[str | list[FoundFile | Problem]] = []
    for source in sources:
        if source.startswith(HUGGING_FACE):
            from trivium.parser.sources import huggingface

            huggingface.check(source)
            expanded.append(source)
        elif os.path.lexists(source) or not _is_address(source):
            expanded.append(expand(source))
        elif not others:
            raise InputError(
                f"expected files, folders or hf:NAME with rows of Natural Questions, got {source!r}"
            )
    return _read(expanded, limits, format, others, progress)


def _is_address(source: str) -> bool:
    return source.partition(":")[0] in ("http", "https", "wiki", "arxiv")


def _read(
    expanded: Sequence[str | list[FoundFile | Problem]],
    limits: InputLimits,
    format: str,
    others: bool,
    progress: Progress | None,
) -> Iterator[RowFound | Problem]:
    files = [file for found in expanded if isinstance(found, list) for file in found]
    sizes = {file.path: _size(file.path) for file in files if isinstance(file, FoundFile)}
    total, before = sum(sizes.values()), 0
    seen: set[str] = set()
    for source in expanded:
        if isinstance(source, str):
            yield from (
                found for found in _of_data_set(source) if not (others and isinstance(found, Problem))
            )
            continue
        for file in source:
            if isinstance(file, Problem):
                if not others:
                    yield file
                continue
            real = os.path.realpath(file.path)
            if real not in seen:
                seen.add(real)
                for found, at in _of_file(file, limits, format, others):
                    if progress is not None and at:
                        progress(min(before + at, total), total)
                    if not (others and isinstance(found, Problem)):
                        yield found
            before += sizes[file.path]
            if progress is not None:
                progress(before, total)


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _of_file(
    file: FoundFile, limits: InputLimits, format: str, others: bool
) -> Iterator[tuple[RowFound | Problem, int]]:
    """Yield the rows of a file, occasionally with the number of bytes read so far, otherwise with 0."""
    path, name = Path(file.path), printable_path(file.path)
    try:
        kind = recognise(path, limits) if format == "auto" else format
        if kind != FORMAT:
            if file.named and not others:
                raise InputError(f"expected rows of Natural Questions, got a file of the format {kind}")
            return
    except InputError as error:
        if file.named and not others:
            yield Problem(name, str(error)), 0
        return
    reported = 0
    try:
        with opened(path, limits) as opened_file:
            for line in lines_of(opened_file, limits):
                at = bytes_read(opened_file)
                at, reported = (at, at) if at >= reported + _EVERY else (0, reported)
                place = f"{name}, line {line.number}"
                if line.data is None:
                    yield Problem(place, too_long("row", line.length, limits)), at
                    continue
                try:
                    yield RowFound(place, as_row(parse_json(line.data, limits))), at
                except InputError as error:
                    yield Problem(place, str(error)), at
    except InputError as error:
        yield Problem(name, str(error)), 0


def _of_data_set(source: str) -> Iterator[RowFound | Problem]:
    from trivium.parser.sources import huggingface

    number = 0
    try:
        for number, row in enumerate(huggingface.rows(source), 1):
            place = f"{source}, row {number}"
            try:
                yield RowFound(place, as_row(row))
            except InputError as error:
                yield Problem(place, str(error))
    except InputError as error:
        yield Problem(f"{source}, after row {number}", str(error))


def read_row_questions(
    sources: Sequence[str],
    annotators: str = MAJORITY,
    limits: InputLimits = DEFAULT_LIMITS,
    *,
    format: str = "auto",
    others: bool = False,
    progress: Progress | None = None,
) -> Iterator[RowQuestion | Problem]:
    """Yield the questions of rows (:func:`trivium.parser.sources.natural_questions.questions`). A row with the id of an
    earlier one yields a Problem, and so does one whose question, tokens or annotations are malformed. Arguments and
    errors are those of :func:`read_rows`; also raises InputError for an unknown rule of annotators.
    """
    check_annotators(annotators)
    rows = read_rows(sources, limits, format=format, others=others, progress=progress)
    return _questions(rows, annotators)


def _questions(rows: Iterator[RowFound | Problem], annotators: str) -> Iterator[RowQuestion | Problem]:
    known: dict[str, str] = {}
    for found in rows:
        if isinstance(found, Problem):
            yield found
            continue
        try:
            (question,) = questions(found.row, annotators)
        except InputError as error:
            yield Problem(found.name, str(error))
            continue
        first = known.setdefault(question.id, found.name)
        if first != found.name:
            yield Problem(found.name, f"the question {question.id} was there already: {first}")
            continue
        yield RowQuestion(found.name, question, found.row)
