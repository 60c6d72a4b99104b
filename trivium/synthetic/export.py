"""The last step: the accepted questions as a question file, with judgements in TREC format beside it."""

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
    """What was written where."""

    questions: int
    file: Path
    qrels: Path


def export(run: Run, file: str | Path) -> Exported:
    """Write every accepted question to ``file`` (JSON Lines), and which chunks are its gold to ``<file>.qrels.txt``
    (without its ending). The gold is given by the passages' own texts, so that the file also fits a store that was built
    anew; the qrels name the chunks of this one. Raises InputError where no question was accepted."""
    run.begun()
    accepted = [one for one in run.candidates() if one.decision is Decision.ACCEPT]
    if not accepted:
        raise InputError(f"{run.folder}: no question is accepted yet: run  trivium synthesize review")
    file = Path(file)
    write_file(file, "".join(_line(one) for one in accepted))
    qrels = file.with_name(f"{file.name.removesuffix('.jsonl')}.qrels.txt")
    write_qrels(qrels, {one.bridge.id: Gold.of([source.uri] for source in one.sources) for one in accepted})
    return Exported(len(accepted), file, qrels)


def _line(one: Candidate) -> str:
    row = {
        "id": one.bridge.id,
        "question": one.question,
        "answers": [one.answer],
        "gold_passages": [{"title": unescape(source.page), "text": source.text} for source in one.sources],
        "hops": len(one.sources),
        "bridge": one.bridge.title,
        "chunks": [source.uri for source in one.sources],
        "scores": dict(one.judged.scores),
    }
    return json.dumps(row, ensure_ascii=False) + "\n"
