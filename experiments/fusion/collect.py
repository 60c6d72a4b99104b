"""Save the hit lists of questions on one store: what fusions are trained on.

    python experiments/fusion/collect.py --store joint-store --out squad.npz \\
        --questions ../shared/data/wiki/squad_questions.jsonl

One file a set of questions: all eight retrievers' scores and ranks, the signals, and which candidates are gold. Questions
that cannot be traced to chunks are counted and left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from rich.progress import track

import trivium
from trivium.datasets.gold import Gold
from trivium.datasets.questions import read_questions
from trivium.fusion.hits import HitList, save_hits
from trivium.fusion.table import Table


def main() -> None:
    """Ask and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    with trivium.Engine.open(given.store) as engine:
        questions = read_questions(given.questions)
        traced = engine.trace(questions)
        asked = [question for question in questions if question.id in traced.gold]
        tables = track(engine.tables(asked, signals=True), total=len(asked), description=given.questions.stem)
        hits = [
            HitList(question.id, question.text, table, groups_of(table, gold), len(gold.groups), gold.pages)
            for question, table in zip(asked, tables, strict=True)
            for gold in (traced.gold[question.id],)
        ]
        save_hits(given.out, hits, engine.embedder.identity.name)
    found = np.mean([len(set(hit.gold[hit.gold >= 0].tolist())) == hit.groups for hit in hits])
    print(
        f"{len(questions)} questions, {len(hits)} traced, all gold among the candidates of {found:.3f} of them"
    )


def groups_of(table: Table, gold: Gold) -> np.ndarray:
    """For each candidate the number of the gold group it belongs to, or -1."""
    group = {uri: number for number, uris in enumerate(gold.groups) for uri in uris}
    return np.array([group.get(uri, -1) for uri in table.chunks], dtype=np.int64)


if __name__ == "__main__":
    main()
