"""Measures what sentence vectors add to chunk vectors: hit@1/3/5 among the nearest 50 chunks.

    python experiments/sentences/compare.py --store joint-store --questions \\
        ../shared/data/wiki/squad_questions.jsonl ../shared/data/nq/earth_questions.jsonl \\
        ../shared/data/nq/qed_questions.jsonl

The store must have sentence vectors, as ``trivium build`` makes by default. For a chunk without sentence vectors, its
own cosine is used instead.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table as Grid

import trivium
from experiments import command
from trivium.datasets.questions import read_questions
from trivium.evaluation.evaluator import Evaluator
from trivium.graph.schema import Label
from trivium.retrievers.chunk_cache import best_sentence

NEAREST = 50
CUTOFFS = (1, 3, 5)
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Weights of the best sentence's cosine in the mean of both."""


def main() -> None:
    """Run the experiment and print the results."""
    parser = command.Parser(__doc__, takes="a minute")
    parser.add_argument("--store", type=command.store, required=True)
    parser.add_argument("--questions", nargs="+", type=command.existing, required=True)
    given = parser.parse_args()
    grid = Grid("sentence's share")
    columns = []
    with trivium.Engine.open(given.store) as engine:
        for path in given.questions:
            found = np.array(ranks(engine, path))
            grid.add_column(f"{path.stem} ({len(found)})")
            columns.append(
                ["/".join(f"{(own < cutoff).mean():.3f}" for cutoff in CUTOFFS) for own in found.T]
            )
    for share, *cells in zip(SHARES, *columns, strict=True):
        grid.add_row(f"{share:g}", *cells)
    Console(width=160).print(grid)


def ranks(engine: trivium.Engine, path: Path) -> list[list[int]]:
    """Return for each traceable question and each share the rank (from 0) of the first gold chunk."""
    questions = read_questions(path)
    traced = Evaluator(engine.searcher).trace(questions)
    asked = [question for question in questions if question.id in traced.gold]
    found = []
    for question in track(asked, description=path.stem):
        vector = engine.embedder.embed_query(question.text)
        near = engine.store.nearest([Label.CHUNK], vector, NEAREST)
        uris = [one.uri for one in near]
        chunk = np.array([one.score for one in near])
        sentence = best_sentence(engine.store.sentence_vectors(uris), vector)
        sentence = np.where(np.isnan(sentence), chunk, sentence)
        gold = np.isin(uris, [uri for group in traced.gold[question.id].groups for uri in group])
        found.append([first_gold((1 - share) * chunk + share * sentence, gold) for share in SHARES])
    return found


def first_gold(scores: NDArray[np.float64], gold: NDArray[np.bool_]) -> int:
    """Return the rank (from 0) of the first gold chunk by score; beyond all cutoffs if there is none."""
    places = np.flatnonzero(gold[np.argsort(-scores, kind="stable")])
    return int(places[0]) if len(places) else NEAREST


if __name__ == "__main__":
    command.run(main)
