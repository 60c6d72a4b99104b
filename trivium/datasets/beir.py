"""Questions of a folder of the benchmark BEIR: ``queries.jsonl`` (``_id``, ``text``) and judgements ``qrels/*.tsv``.

The lines of judgements are ``query-id``, ``corpus-id`` and ``score``, separated by tabs, below a line with these names.
Scores are grades; documents with 0 are not relevant. Every judged query is a question. Its documents are those of
``corpus.jsonl`` (:data:`trivium.parser.sources.title_text_records.DOCUMENT_ID`).
"""

from __future__ import annotations

import json
from pathlib import Path

from trivium.errors import InputError, QuestionFileError
from trivium.parser.sources.read_files import read_lines
from trivium.parser.sources.recognise_format import QRELS, QUERIES, is_of_benchmark
from trivium.parser.sources.title_text_records import DOCUMENT_ID
from trivium.types import Question

_SPLITS = ("test", "dev", "train")


def is_benchmark(path: Path) -> bool:
    """Whether a path is a folder of BEIR, or one of its files of judgements."""
    return is_of_benchmark(path / QUERIES if path.is_dir() else path)


def read_benchmark(path: Path) -> list[Question]:
    """Read the judged questions of a folder, or those of one file of its judgements. Of a folder that has several, the
    judgements for testing are read, else those for development. Raises QuestionFileError.
    """
    folder = path if path.is_dir() else path.parent.parent if path.parent.name == QRELS else path.parent
    judged: dict[str, dict[str, int]] = {}
    try:
        for number, data in _lines(path if path.suffix == ".tsv" else _judgements(folder)):
            query, document, grade = _judgement(data.decode(), number)
            if grade is not None:
                judged.setdefault(query, {})[document] = grade
        queries = next(folder.glob(f"{QUERIES}.jsonl*"))
        texts = {
            str(row[DOCUMENT_ID]): str(row["text"])
            for row in (json.loads(data) for _, data in _lines(queries))
        }
        if unknown := [query for query in judged if query not in texts] or (["none"] if not judged else []):
            raise InputError(f"expected judgements of the queries, got {unknown[0]}")
    except (InputError, ValueError, KeyError, TypeError) as error:
        raise QuestionFileError(f"{path}: expected a folder of the benchmark BEIR: {error}") from error
    return [Question(query, texts[query], judged=tuple(given.items())) for query, given in judged.items()]


def _judgements(folder: Path) -> Path:
    files = {
        path.stem: path for path in sorted([*folder.glob(f"{QRELS}*.tsv"), *folder.glob(f"{QRELS}/*.tsv")])
    }
    split = next((name for name in (*_SPLITS, *files) if name in files), None)
    if split is None:
        raise InputError(f"{folder / QRELS}: there are no judgements (*.tsv)")
    return files[split]


def _judgement(line: str, number: int) -> tuple[str, str, int | None]:
    """Read query, document and grade; the grade of the line with names is None. Also TREC's four columns are read."""
    fields = line.rstrip("\r").split("\t" if "\t" in line else None)
    try:
        query, document, grade = fields[0], fields[-2], fields[-1]
        return query, document, round(float(grade))
    except (ValueError, IndexError, OverflowError):
        if number == 1:
            return "", "", None
        raise InputError(f"line {number}: expected query, document and score, got {line[:80]!r}") from None


def _lines(path: Path) -> list[tuple[int, bytes]]:
    return [
        (line.number, line.data.removeprefix(b"\xef\xbb\xbf"))
        for line in read_lines(path)
        if line.data is not None and line.data.strip()
    ]
