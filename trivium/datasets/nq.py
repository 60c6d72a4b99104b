"""Converts Natural Questions rows to question files, with the gold as passages, which can be found in any store.

The gold is traced in a store or, without one, on the pages of the rows themselves, split into passages as a build does
by default. Rows are read one at a time; only a few bytes per question are kept in memory.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trivium.common.files import replacing
from trivium.common.iteration import batched
from trivium.common.progress import Progress
from trivium.datasets.gold import Cause, Traced, Untraceable
from trivium.datasets.splits import split
from trivium.datasets.trace import PassageSource, trace
from trivium.errors import InputError, TriviumError
from trivium.graph.build import build
from trivium.graph.model import PageGraph
from trivium.graph.records import ChunkRecord
from trivium.graph.schema import Hop, page_of, page_uri, unescape
from trivium.parser.sources.annotators import MAJORITY, counted
from trivium.parser.sources.nq import to_page
from trivium.parser.sources.nq_files import RowQuestion, read_row_questions
from trivium.parser.sources.nq_rows import Row, annotated, tokens
from trivium.parser.sources.source import Problem
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits
from trivium.text.normalise import normalise_title
from trivium.types import Question

_AT_ONCE = 32
"""Number of questions traced together, with their pages."""
TRAIN, TEST = "train", "test"
"""Suffixes of the two parts of a split question file."""
UNTRACED = "untraced"


@dataclass(frozen=True, slots=True)
class Left:
    """A question that is in no question file: its id, text and location, the cause, and the reason."""

    id: str
    question: str
    location: str
    cause: Cause
    reason: str


@dataclass(slots=True)
class Conversion:
    """The result of a conversion.

    - ``files``: the files written, by content (``all``, and ``train`` and ``test`` if split), each with its numbers of
      questions and documents.
    - ``causes``: counts of the untraceable questions, which are written to the file ``untraced``; ``left`` contains the
      first of them.
    - ``partly``: number of traced questions for which the long answer of some annotator was not found.
    - ``problems``: rows that could not be read.
    """

    asked: int = 0
    traced: int = 0
    passages: int = 0
    files: dict[str, tuple[Path, int, int]] = field(default_factory=dict)
    untraced: Path | None = None
    causes: Counter[Cause] = field(default_factory=Counter)
    left: list[Left] = field(default_factory=list)
    partly: int = 0
    problems: list[Problem] = field(default_factory=list)


def convert(
    sources: Sequence[str],
    out: str | Path,
    store: PassageSource | None = None,
    *,
    annotators: str = MAJORITY,
    share: float | None = None,
    seed: int = 0,
    limits: InputLimits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> Conversion:
    """Write the questions of rows to ``out``, one per line, in the order of the rows.

    A line contains ``id``, ``question``, ``answers``, ``page``, ``gold_passages`` (every chunk that holds part of a
    long answer) and, for information, ``annotators``: the answer of each, and whether it counts
    (:func:`trivium.parser.sources.annotators.counted`).

    Untraceable questions are written to ``NAME.untraced.jsonl``, with their location and the reason. With a ``share``
    the questions are also split by document, drawn with ``seed`` (:func:`trivium.datasets.splits.split`), into
    ``NAME.train.jsonl`` with about that share of them and ``NAME.test.jsonl``. Files are written atomically.

    The gold is searched for in ``store``, or on the pages of the rows if it is None. Sources are those of
    :func:`~trivium.parser.sources.nq_files.read_rows`. Raises InputError for invalid sources, an unknown rule, rows
    without any readable question, and a share with fewer than two documents.
    """
    path = Path(out)
    if share is not None and not 0 < share < 1:
        raise InputError(f"expected a share between 0 and 1, got {share:g}")
    found = read_row_questions(sources, annotators, limits, progress=progress)
    done = Conversion()
    documents: list[str] = []
    with ExitStack() as files:
        questions = _Lines(files, path)
        untraced = _Lines(files, _beside(path, UNTRACED))
        light = (
            one if isinstance(one, Problem) else _Asked.of(one, annotators, limits, parse=store is None)
            for one in found
        )
        for some in batched(light, _AT_ONCE):
            done.problems += [one for one in some if isinstance(one, Problem)]
            rows = [one for one in some if isinstance(one, _Asked)]
            if rows:
                documents += _convert(rows, store, limits, done, questions, untraced)
        if not done.asked:
            first = f": {done.problems[0].location}: {done.problems[0].reason}" if done.problems else ""
            raise InputError(f"expected rows with questions, got none that can be read{first}")
        second = None if share is None else split([[document] for document in documents], share, seed)
    done.files["all"] = (path, done.traced, len(set(documents)))
    done.untraced = untraced.path
    if second is not None:
        for name, chosen in ((TRAIN, ~second), (TEST, second)):
            part = _beside(path, name)
            _copy(path, part, chosen.tolist())
            kept = {document for document, here in zip(documents, chosen.tolist(), strict=True) if here}
            done.files[name] = (part, int(chosen.sum()), len(kept))
    return done


def _beside(path: Path, name: str) -> Path:
    """Return ``questions.train.jsonl`` for ``questions.jsonl``."""
    return path.with_name(f"{path.name.removesuffix('.jsonl')}.{name}.jsonl")


class _Lines:
    """A JSON Lines file that replaces another one once it is complete."""

    def __init__(self, files: ExitStack, path: Path) -> None:
        self.path = path
        self._file = files.enter_context(replacing(path))

    def write(self, value: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(value, ensure_ascii=False).encode() + b"\n")


def _copy(source: Path, target: Path, chosen: Sequence[bool]) -> None:
    with source.open("rb") as lines, replacing(target) as file:
        file.writelines(line for line, here in zip(lines, chosen, strict=True) if here)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The parts of a row that are kept, because its tokens take most of the space: location, question, annotations, and
    the page, or why it cannot be parsed, if requested.
    """

    name: str
    question: Question
    said: list[dict[str, Any]]
    page: PageGraph | None = None
    unreadable: str | None = None

    @classmethod
    def of(cls, row: RowQuestion, annotators: str, limits: InputLimits, *, parse: bool) -> _Asked:
        """Create it from a row. The page is not parsed for a question without a counted answer."""
        page, reason = None, None
        if parse and row.question.no_answer is None:
            try:
                page = build(to_page(row.row, source=row.name, limits=limits), limits)
            except TriviumError as error:
                reason = str(error)
        return cls(row.name, row.question, _said(row.row, annotators), page, reason)


def _convert(
    rows: Sequence[_Asked],
    store: PassageSource | None,
    limits: InputLimits,
    done: Conversion,
    questions: _Lines,
    untraced: _Lines,
) -> Iterator[str]:
    """Write some questions, and yield the document of each traced one."""
    source = _RowPages(rows) if store is None else store
    traced = trace([row.question for row in rows], source)
    records = _records(traced, source)
    missing = {u.id: u for u in traced.untraceable}
    done.asked += len(rows)
    done.partly += len(traced.partly)
    for row in rows:
        question = row.question
        if question.id in missing:
            why = missing[question.id]
            if row.unreadable is not None:
                reason = f"the page of the row cannot be read: {row.unreadable}"
                why = Untraceable(question.id, Cause.NO_PAGE, reason)
            left = Left(question.id, question.text, row.name, why.cause, why.reason)
            done.causes[left.cause] += 1
            if len(done.left) < limits.problems:
                done.left.append(left)
            untraced.write(
                {
                    "id": left.id,
                    "question": left.question,
                    "page": question.page,
                    "location": left.location,
                    "cause": left.cause.value,
                    "reason": left.reason,
                    "annotators": row.said,
                }
            )
            continue
        chunks = [chunk for group in traced.gold[question.id].groups for chunk in group]
        chunks.sort(key=lambda chunk: records[chunk].position)
        (document,) = {page_of(chunk) for chunk in chunks}
        done.traced += 1
        done.passages += len(chunks)
        title = unescape(document)
        questions.write(
            {
                "id": question.id,
                "question": question.text,
                "answers": list(question.answers),
                "page": title,
                "gold_passages": [{"title": title, "text": records[chunk].body} for chunk in chunks],
                "annotators": row.said,
            }
        )
        yield document


def _records(traced: Traced, source: PassageSource) -> dict[str, ChunkRecord]:
    chunks = [chunk for gold in traced.gold.values() for group in gold.groups for chunk in group]
    asked = list(dict.fromkeys(chunks))
    return {record.uri: record for record in source.fetch(asked)} if asked else {}


def _said(row: Row, rule: str) -> list[dict[str, Any]]:
    """Return the annotations in readable form."""
    document = tokens(row)
    annotations = annotated(row)
    chosen = counted(annotations, rule)
    counting = set(chosen) if isinstance(chosen, list) else set()
    return [
        {
            "long_answer": None if one.long is None else document.text(one.long),
            "short_answers": [document.text(span) for span in one.short],
            "yes_no": one.yes_no,
            "counts": index in counting,
        }
        for index, one in enumerate(annotations)
    ]


class _RowPages:
    """The pages of rows as a :class:`~trivium.datasets.trace.PassageSource`. Of several with the same title the first
    is used.
    """

    def __init__(self, rows: Sequence[_Asked]) -> None:
        self._names: dict[str, str] = {}
        self._pages: dict[str, PageGraph] = {}
        for row in rows:
            if row.page is not None and row.question.page is not None:
                name = page_uri(normalise_title(row.question.page))
                uri = self._names.setdefault(name, row.page.uri)
                self._pages.setdefault(uri, row.page)
        self._chunks = {chunk.uri: chunk for page in self._pages.values() for chunk in page.chunks}

    def resolve(self, titles: Sequence[str]) -> dict[str, str]:
        return {title: self._names[title] for title in titles if title in self._names}

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        if hop is not Hop.BELOW:
            raise ValueError(f"expected to be asked for the chunks of pages, got {hop}")
        return {
            uri: [chunk.uri for chunk in self._pages[uri].chunks] if uri in self._pages else []
            for uri in uris
        }

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        return [
            ChunkRecord(
                uri=chunk.uri,
                page=page_of(chunk.uri),
                section=chunk.parent,
                text=chunk.text,
                kind=chunk.kind,
                position=chunk.position,
                start=chunk.start,
                end=chunk.end,
                token_count=chunk.token_count,
            )
            for chunk in (self._chunks[uri] for uri in chunks)
        ]

    def page_text(self, page: str) -> str:
        return self._pages[page].text
