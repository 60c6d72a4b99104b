"""Step 5: write the accepted questions to a question file, with TREC qrels beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from trivium.common.files import write_file
from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.trec import write_qrels
from trivium.graph.schema import unescape
from trivium.synthetic.records import Decision
from trivium.synthetic.run import Candidate, Run


@dataclass(frozen=True, slots=True)
class Exported:
    """The number of questions exported and the files written."""

    questions: int
    file: Path
    qrels: Path


def export(run: Run, file: str | Path) -> Exported:
    """Write every accepted question to ``file`` (JSON Lines) and its gold chunks to a qrels file named after it:
    ``questions.jsonl`` gives ``questions.qrels.txt``.

    The question file gives the gold as passage texts, so it also works with a store that was rebuilt; the qrels name the
    chunks of this store. Raises InputError when no question was accepted."""
    run.require_started()
    accepted = [candidate for candidate in run.candidates() if candidate.decision is Decision.ACCEPT]
    if not accepted:
        raise InputError(f"{run.folder}: no question is accepted yet: run  trivium synthesize review")
    file = Path(file)
    write_file(file, "".join(map(_line, accepted)))
    qrels = file.with_name(f"{file.name.removesuffix('.jsonl')}.qrels.txt")
    gold = {
        candidate.bridge.id: Gold.of([source.uri] for source in candidate.sources) for candidate in accepted
    }
    write_qrels(qrels, gold)
    return Exported(len(accepted), file, qrels)


def _line(candidate: Candidate) -> str:
    row = {
        "id": candidate.bridge.id,
        "question": candidate.question,
        "answers": [candidate.answer],
        "gold_passages": [
            {"title": unescape(source.page), "text": source.text} for source in candidate.sources
        ],
        "hops": len(candidate.sources),
        "bridge": candidate.bridge.title,
        "chunks": [source.uri for source in candidate.sources],
        "scores": dict(candidate.judged.scores),
    }
    return json.dumps(row, ensure_ascii=False) + "\n"
