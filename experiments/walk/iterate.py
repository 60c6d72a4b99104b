"""Measures iterative retrieval: the question is embedded again with the first sentence of each of the best passages.

    python experiments/walk/iterate.py --data ../shared/data --joint joint-store --multihop stores --hits hits

Prints the recall among the candidates, and that of two rankings by the new cosines among the first five, compared with
the same number of candidates without a second round. Not part of the package.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from asked import DEPTH, Asked, Set, chunk_rows, read_set
from grid import others_find
from runs import Setting, answer, cell, judge

import trivium
from experiments import command
from trivium.evaluation.significance import mean_interval
from trivium.fusion.hit_lists import HitList, load_hits
from trivium.graph.records import Neighbour, rank_key
from trivium.graph.schema import Label

PASSAGES = 5
WIDE = 80
"""Depth of the vector retriever that yields as many candidates without a second round."""
SAMPLE = 100
MOST_WORDS = 40
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(])")


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """Neighbours of a question, and of the question with each of the best passages (by uri)."""

    first: list[Neighbour]
    again: dict[str, list[Neighbour]]
    seconds: float
    """Processor time of the second round."""


def main() -> None:
    """Run the experiment and print the results."""
    parser = command.Parser(__doc__, takes="four minutes", packages=("scipy",))
    parser.add_argument("--data", type=command.existing, required=True)
    parser.add_argument("--joint", type=command.existing, required=True)
    parser.add_argument("--multihop", type=command.existing, required=True)
    parser.add_argument("--hits", type=command.existing, required=True)
    given = parser.parse_args()
    files = {
        name: (given.multihop / name, given.data / "multihop" / f"{name}_questions.jsonl")
        for name in ("hotpotqa", "2wiki", "musique")
    }
    files["earth"] = (given.joint, given.data / "nq" / "earth_questions.jsonl")
    files["squad"] = (given.joint, given.data / "wiki" / "squad_questions.jsonl")
    for name, needed in files.items():
        for path in (*needed, given.hits / f"{name}.npz"):
            command.existing(path)
    for name, (store, questions) in files.items():
        with trivium.Engine.open(store) as engine:
            one = read_set(engine, questions, SAMPLE if name == "squad" else None)
            rounds = [ask_again(engine, asked) for asked in one.asked]
            hits = {hit.question_id: hit for hit in load_hits(given.hits / f"{name}.npz").hits}
            compare(engine, one, rounds, hits)


def ask_again(engine: trivium.Engine, asked: Asked) -> Round:
    """Run the second round of a question, from the best passages of the package's walk."""
    store = engine.store
    first = store.nearest([Label.CHUNK], engine.embedder.embed_query(asked.text), WIDE)
    start = time.process_time()
    again = {}
    for record in store.fetch(list(asked.shipped[:PASSAGES])):
        vector = engine.embedder.embed_query(f"{asked.text} {first_sentence(record.text)}")
        again[record.uri] = store.nearest([Label.CHUNK], vector, DEPTH)
    return Round(first, again, time.process_time() - start)


def first_sentence(text: str) -> str:
    """Return the text up to the first full stop before a capital letter, at most ``MOST_WORDS`` words."""
    return " ".join(_END.split(text, maxsplit=1)[0].split()[:MOST_WORDS])


def compare(engine: trivium.Engine, one: Set, rounds: Sequence[Round], hits: dict[str, HitList]) -> None:
    """Print the recall without and with the second round."""
    print(
        f"\n{one.name}: {len(one.asked)} questions, {1e3 * np.mean([r.seconds for r in rounds]):.1f} ms each"
    )
    pools = {
        "vector 30 + walk 30": [_top(r.first, 30) for r in rounds],
        f"vector {WIDE} + walk 30": [_top(r.first, WIDE) for r in rounds],
        **{
            f"vector 30 + walk 30 + {k} of each again": [
                _top(r.first, 30) | {uri for near in r.again.values() for uri in _top(near, k)}
                for r in rounds
            ]
            for k in (5, 10, 30)
        },
    }
    for name, found in pools.items():
        full = [own | set(asked.shipped) for own, asked in zip(found, one.asked, strict=True)]
        _say(name, one, full)
    every = [others_find(hits[asked.id]) | set(asked.shipped) for asked in one.asked]
    _say("all eight views", one, every)
    again = [
        own | {uri for near in r.again.values() for uri in _top(near, 10)}
        for own, r in zip(every, rounds, strict=True)
    ]
    _say("all eight views + 10 of each again", one, again)
    graph = engine.store.adjacency()
    shipped = judge(one, [list(asked.shipped) for asked in one.asked])
    rankings = {
        "vector": [_ranked({n.uri: n.score for n in r.first}) for r in rounds],
        "vector, best of both rounds": [_ranked(best(r)) for r in rounds],
        "vector, best pair": [_ranked(pairs(r)) for r in rounds],
        "walk": [list(asked.shipped) for asked in one.asked],
    }
    for name, scored in (("best of both rounds", best), ("best pair", pairs)):
        seeded = [
            replace(asked, chunks=chunk_rows(graph, [Neighbour(u, s) for u, s in _sorted(scored(r))]))
            for asked, r in zip(one.asked, rounds, strict=True)
        ]
        rankings[f"walk from {name}"] = answer(replace(one, asked=tuple(seeded)), Setting())
    for name, ranking in rankings.items():
        values = judge(one, ranking)
        gain = mean_interval(values[:, 3] - shipped[:, 3])
        print(f"  {name}: {cell(one, values)}; recall@5 {gain.mean:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}]")


def best(asked_twice: Round) -> dict[str, float]:
    """Return for each chunk the highest cosine with the question or with the question and a passage."""
    scores = {near.uri: near.score for near in asked_twice.first}
    for found in asked_twice.again.values():
        for near in found:
            scores[near.uri] = max(scores.get(near.uri, -1.0), near.score)
    return scores


def pairs(asked_twice: Round) -> dict[str, float]:
    """Return for each chunk the score of its best pair: the mean of the first passage's cosine with the question and
    the second one's with both.
    """
    first = {near.uri: near.score for near in asked_twice.first}
    worst = min(first.values())
    scores: dict[str, float] = {}
    for passage, found in asked_twice.again.items():
        for near in found:
            if near.uri == passage:
                continue
            score = (first.get(passage, worst) + near.score) / 2
            for uri in (passage, near.uri):
                scores[uri] = max(scores.get(uri, -1.0), score)
    return scores


def _top(near: Sequence[Neighbour], k: int) -> set[str]:
    return {one.uri for one in near[:k]}


def _sorted(scores: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda item: rank_key(item[1], item[0]))


def _ranked(scores: dict[str, float]) -> list[str]:
    return [uri for uri, _ in _sorted(scores)][:DEPTH]


def _say(name: str, one: Set, found: Sequence[set[str]]) -> None:
    recall = [
        np.mean([bool(own & set(group)) for group in asked.gold.groups])
        for own, asked in zip(found, one.asked, strict=True)
    ]
    print(f"  {name}: {np.mean(recall):.4f} of the gold among {np.mean([len(own) for own in found]):.0f}")


if __name__ == "__main__":
    command.run(main)
