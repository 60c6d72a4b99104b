"""Step 5: write questions to a question file (JSON Lines) or a table (CSV), along with TREC qrels."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trivium.common.files import write_file
from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.trec import write_qrels
from trivium.graph.schema import unescape
from trivium.synthetic.records import Decision
from trivium.synthetic.run import Candidate, Run

_COLUMNS = ("id", "question", "answer", "quote", "page", "chunk", "clean")


@dataclass(frozen=True, slots=True)
class Exported:
    """The number of questions exported and the files written."""

    questions: int
    file: Path
    qrels: Path


def export(
    run: Run,
    file: str | Path,
    *,
    threshold: int | None = None,
    typos: float = 0.0,
    seed: int = 0,
) -> Exported:
    """Write questions to ``file``, as JSON Lines or, if its name ends in ``.csv``, as a table; and their gold chunks to
    a qrels file named after it: ``questions.jsonl`` gives ``questions.qrels.txt``.

    Accepted questions are written. With a ``threshold`` also undecided ones whose scores are all at least that (0:
    scored or not). With ``typos`` (0 to 1) that share of the words of questions is misspelt, drawn with ``seed``, and
    the original is added as ``clean``.

    The question file contains the gold as passage texts, so it also works with a rebuilt store; the qrels name chunks
    of this store. Raises InputError when there is no question to write.
    """
    run.require_started()
    if threshold is None:
        chosen = [one for one in run.candidates() if one.decision is Decision.ACCEPT]
    else:
        chosen = [one for one in run.candidates(threshold) if one.decision is not Decision.REJECT]
    if not chosen:
        raise InputError(
            f"{run.folder}: no question is accepted yet: run  trivium synthesize review"
            if threshold is None
            else f"{run.folder}: no question has scores of {threshold} or more: lower the threshold"
        )
    file = Path(file)
    rows = [_row(one, typos, seed) for one in chosen]
    table = file.suffix.lower() == ".csv"
    write_file(file, _table(rows) if table else "".join(map(_line, rows)))
    qrels = file.with_name(f"{file.name.removesuffix(file.suffix if table else '.jsonl')}.qrels.txt")
    write_qrels(qrels, {one.bridge.id: Gold.of([source.uri] for source in one.sources) for one in chosen})
    return Exported(len(chosen), file, qrels)


def _row(candidate: Candidate, typos: float, seed: int) -> dict[str, Any]:
    bridge = candidate.bridge
    row: dict[str, Any] = {
        "id": bridge.id,
        "question": candidate.question,
        "answers": [candidate.answer],
        "gold_passages": [
            {"title": unescape(source.page), "text": source.text} for source in candidate.sources
        ],
        "hops": len(candidate.sources),
    }
    if bridge.plain:
        row["quote"] = candidate.quote
    else:
        row["bridge"] = bridge.title
    row |= {"chunks": [source.uri for source in candidate.sources], "scores": dict(candidate.judged.scores)}
    if typos:
        row |= {
            "question": with_typos(candidate.question, typos, seed, bridge.id),
            "clean": candidate.question,
        }
    return row


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def _table(rows: Iterable[dict[str, Any]]) -> str:
    """Format one question per row. Several pages or chunks share one cell, one per line."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {
                "id": row["id"],
                "question": row["question"],
                "answer": row["answers"][0],
                "quote": row.get("quote", ""),
                "page": "\n".join(passage["title"] for passage in row["gold_passages"]),
                "chunk": "\n".join(row["chunks"]),
                "clean": row.get("clean", row["question"]),
            }
        )
    return text.getvalue()


SHORTEST = 4
"""Shorter words are left unchanged."""

_WORD = re.compile(r"[^\W\d_]+")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_KEYS = {
    letter: row[max(place - 1, 0) : place] + row[place + 1 : place + 2]
    for row in _ROWS
    for place, letter in enumerate(row)
}
"""For each letter the adjacent ones on a keyboard."""


def with_typos(text: str, rate: float, seed: int = 0, name: str = "") -> str:
    """Misspell each word of four letters or more with probability ``rate`` (0 to 1): two letters swapped, one omitted,
    one doubled, or an adjacent key. First letters and numbers are unchanged. ``name`` identifies the text: the same
    name, seed and text give the same errors. Raises InputError for a rate out of range.

    >>> with_typos("Who found the moons of Mars in 1877?", 1.0)
    'Who foudn the moosn of Masr in 1877?'
    """
    if not 0 <= rate <= 1:
        raise InputError(f"expected a share of words from 0 to 1, got {rate:g}")
    drawn = np.random.default_rng([seed, int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])])

    def mistaken(match: re.Match[str]) -> str:
        word = match[0]
        if len(word) < SHORTEST or drawn.random() >= rate:
            return word
        place = int(drawn.integers(1, len(word) - 1))
        for way in drawn.permutation(len(_WAYS)).tolist():
            changed = _WAYS[way](word, place)
            if changed != word:  # swapping two equal letters is not an error
                break
        return changed

    return _WORD.sub(mistaken, text)


def _swapped(word: str, place: int) -> str:
    return word[:place] + word[place + 1] + word[place] + word[place + 2 :]


def _without(word: str, place: int) -> str:
    return word[:place] + word[place + 1 :]


def _doubled(word: str, place: int) -> str:
    return word[: place + 1] + word[place:]


def _beside(word: str, place: int) -> str:
    keys = _KEYS.get(word[place], word[place])
    return word[:place] + keys[-1] + word[place + 1 :]


_WAYS = (_swapped, _without, _doubled, _beside)
