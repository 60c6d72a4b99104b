"""Step 5: write questions to a question file (JSON Lines), along with TREC qrels."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.common.safe_files import write_file
from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.trec_files import write_qrels
from trivium.graph.schema import unescape
from trivium.synthetic.records import Decision
from trivium.synthetic.run_folder import Candidate, Run


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
    """Write questions to ``file``, as JSON Lines, and their gold chunks to a qrels file named after it:
    ``questions.jsonl`` gives ``questions.qrels.txt``.

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
    write_file(file, "".join(json.dumps(_row(one), ensure_ascii=False) + "\n" for one in chosen))
    qrels = file.with_name(f"{file.name.removesuffix('.jsonl')}.qrels.txt")
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
