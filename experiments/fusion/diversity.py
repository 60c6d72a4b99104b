"""Measures maximal marginal relevance: does a ranking gain when a passage like those above it counts for less?

    python experiments/fusion/diversity.py hits/musique.npz=musique hits/tatqa.npz=tatqa

Each argument is a file of hit lists and the store that it was computed on. The first 20 passages of the network that
ships for stores with names are put in a new order: again and again the one with the highest score (log-odds) minus
``penalty`` times its similarity, the cosine of the vectors, to the nearest of those already chosen. Carbonell and
Goldstein, *The use of MMR* (SIGIR 1998). Prints hit@5 and recall@5 by penalty; the first passage never changes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import trivium
from experiments import command
from trivium.common.arrays import Floats
from trivium.evaluation.tables import grid, share
from trivium.fusion.hit_lists import HitList, load_hits
from trivium.fusion.registry import make_fusion
from trivium.graph.schema import Label

PENALTIES = (0.0, 1.0, 2.0, 4.0, 8.0)
DEPTH = 20
CUT = 5


def main() -> None:
    """Print a table, a row per set."""
    parser = command.Parser(__doc__, takes="a minute a set")
    parser.add_argument("sets", nargs="+", type=command.hits_and_store, metavar="HITS=STORE")
    rows = []
    for path, store in parser.parse_args().sets:
        rows.append([path.stem, *measured(path, store)])
        print(" ".join(rows[-1]), flush=True)
    print(grid(["set", "several", *(f"penalty {penalty:g}" for penalty in PENALTIES)], rows))


def measured(path: Path, store: str) -> list[str]:
    """How many questions need several passages, and hit@5/recall@5 by penalty."""
    file = load_hits(path)
    fusion = make_fusion("network", file.embedder, names=True)
    found = np.zeros((len(file.hits), len(PENALTIES), 2))
    with trivium.Engine.open(store) as engine:
        for question, hit in enumerate(file.hits):
            if not hit.table.chunks:
                continue
            scores = fusion.fuse(hit.table).scores
            best = np.argsort(-scores, kind="stable")[:DEPTH]
            vectors = engine.store.vectors(Label.CHUNK, [hit.table.chunks[row] for row in best])
            cosines = vectors.astype(np.float64) @ vectors.T
            for place, penalty in enumerate(PENALTIES):
                found[question, place] = _found(hit, best[diverse(scores[best], cosines, penalty)])
    several = sum(hit.groups > 1 for hit in file.hits)
    return [
        f"{several} of {len(file.hits)}",
        *("/".join(map(share, pair)) for pair in found.mean(axis=0).tolist()),
    ]


def diverse(scores: Floats, cosines: Floats, penalty: float) -> list[int]:
    """The rows of the first :data:`CUT` passages."""
    chosen: list[int] = []
    nearest = np.zeros(len(scores))
    for _ in range(min(CUT, len(scores))):
        values = scores - penalty * nearest
        values[chosen] = -np.inf
        chosen.append(int(np.argmax(values)))
        nearest = np.maximum(nearest, cosines[chosen[-1]])
    return chosen


def _found(hit: HitList, rows: np.ndarray) -> tuple[float, float]:
    parts = {group for group in hit.gold[rows].tolist() if group >= 0}
    return float(bool(parts)), len(parts) / max(1, hit.groups)


if __name__ == "__main__":
    command.run(main)
