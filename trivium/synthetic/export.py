"""Step 5: write questions to a question file (JSON Lines) or a table (CSV), along with TREC qrels."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.common.files import write_file
from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.trec import write_qrels
from trivium.graph.schema import unescape
from trivium.synthetic.records import Decision
from trivium.synthetic.run import Candidate, Run

_COLUMNS = ("id", "question", "answer", "quote", "page", "chunk")


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
) -> Exported:
    """Write questions to ``file``, as JSON Lines or, if its name ends in ``.csv``, as a table; and their gold chunks to
    a qrels file named after it: ``questions.jsonl`` gives ``questions.qrels.txt``.

    Accepted questions are written. With a ``threshold`` also undecided ones whose scores are all at least that (0:
    scored or not).

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
    rows = [_row(one) for one in chosen]
    table = file.suffix.lower() == ".csv"
    write_file(file, _table(rows) if table else "".join(map(_line, rows)))
    qrels = file.with_name(f"{file.name.removesuffix(file.suffix if table else '.jsonl')}.qrels.txt")
    write_qrels(qrels, {one.bridge.id: Gold.of([source.uri] for source in one.sources) for one in chosen})
    return Exported(len(chosen), file, qrels)


def _row(candidate: Candidate) -> dict[str, Any]:
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
    return row | {
        "chunks": [source.uri for source in candidate.sources],
        "scores": dict(candidate.judged.scores),
    }


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
            }
        )
    return text.getvalue()
