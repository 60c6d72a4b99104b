"""Compares a store with the same documents in several shards: what is found, and how long a search takes.

    python benchmarks/shards.py squad_questions.jsonl qed_questions.jsonl --store joint-store --into 2 4 --limit 200

The store is split into a temporary folder (``--folder`` keeps the shards there). Each question is asked of all in turns,
after its vector is remembered, so that the times are those of searching. ``apart`` searches every shard by itself and
merges the hits by their scores, which is what programs do that know nothing of one another. Changes are measured with
``benchmarks/changes.py``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import trivium
from trivium.datasets.questions import read_questions
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.run import evaluate
from trivium.graph.sharded.manifest import read_manifest
from trivium.search.ranking import Ranking
from trivium.types import Question

SHOWN = ("hit@1", "hit@5", "mrr")
K = 20
Ask = Callable[[str], Ranking]


def main() -> None:
    """Run the comparison and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", nargs="+", type=Path, help="Question files.")
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--into", type=int, nargs="+", default=[2, 4], help="Numbers of shards.")
    parser.add_argument("--limit", type=int, default=200, help="Questions of each file.")
    parser.add_argument("--folder", type=Path, help="Where the shards are, or are made and stay.")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = given.folder or Path(stack.enter_context(TemporaryDirectory(prefix="trivium-")))
        systems = dict(stack.enter_context(opened(given.store, folder, given.into)))
        first = next(iter(systems.values()))[0]
        for path in given.questions:
            trace = Evaluator(first.searcher).trace
            traced = trace(trace(read_questions(path)[: given.limit]).questions)  # those that have gold
            report = compare({name: system[1] for name, system in systems.items()}, traced.questions)
            measured = evaluate(traced.questions, traced, report.pop("rankings"))
            for name, row in report.items():
                row.update({measure: measured.rows[name].means[measure] for measure in SHOWN})
            show(path, len(traced.questions), report, as_json=given.json)


@contextmanager
def opened(
    store: Path, folder: Path, into: Sequence[int]
) -> Iterator[list[tuple[str, tuple[trivium.Engine, Ask]]]]:
    """Yield what is compared by name, each with an engine: the store, it in shards, and its shards apart."""
    with ExitStack() as stack:

        def engine(path: Path) -> trivium.Engine:
            return stack.enter_context(trivium.Engine.open(path))

        whole = engine(store)
        systems = [("one store", (whole, asks(whole)))]
        for count in into:
            parts = folder / f"{count}-shards"
            if not parts.exists():
                begin = time.perf_counter()
                trivium.Engine.split(store, parts, count)
                print(f"split into {count} shards in {time.perf_counter() - begin:.1f} s")
            joined = engine(parts)
            each = [engine(path) for path in read_manifest(parts).paths]
            systems.append((f"{count} shards", (joined, asks(joined))))
            systems.append((f"{count} apart", (each[0], asks_apart(each))))
        yield systems


def asks(engine: trivium.Engine) -> Ask:
    """Ask a store."""
    return lambda question: [(hit.uri, hit.score) for hit in engine.search(question, K)]


def asks_apart(engines: Sequence[trivium.Engine]) -> Ask:
    """Ask each store and merge the hits."""

    def ask(question: str) -> Ranking:
        hits = [(hit.uri, hit.score) for engine in engines for hit in engine.search(question, K)]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:K]

    return ask


def compare(systems: dict[str, Ask], questions: Sequence[Question]) -> dict[str, Any]:
    """Return for each system its time, how many rankings are those of the first, and all rankings."""
    rankings: dict[str, list[Ranking]] = {name: [] for name in systems}
    times: dict[str, list[float]] = {name: [] for name in systems}
    for ask in (
        systems.values()
    ):  # what is compiled, opened and joined at first; each engine then knows these vectors
        for question in questions[:5]:
            ask(question.text)
    for number, question in enumerate(questions):
        names = list(systems) if number % 2 else list(systems)[::-1]
        for ask in systems.values():
            ask(question.text)  # embeds it
        for name in names:
            begin = time.perf_counter()
            found = systems[name](question.text)
            times[name].append(time.perf_counter() - begin)
            rankings[name].append(found)
    base = rankings[next(iter(systems))]
    report: dict[str, Any] = {}
    for name, found in rankings.items():
        pairs = list(zip(found, base, strict=True))
        report[name] = {
            "ms": 1000 * median(times[name]),
            "same first": sum(one[:1] and one[0][0] == other[0][0] for one, other in pairs) / len(pairs),
            "same five": sum(uris(one[:5]) == uris(other[:5]) for one, other in pairs) / len(pairs),
            "same scores": sum(one[:5] == other[:5] for one, other in pairs) / len(pairs),
        }
    report["rankings"] = rankings
    return report


def uris(ranking: Ranking) -> list[str]:
    """The passages of a ranking, in order."""
    return [uri for uri, _ in ranking]


def show(path: Path, count: int, report: dict[str, dict[str, float]], *, as_json: bool) -> None:
    """Print the rows of one set."""
    if as_json:
        print(json.dumps({"set": path.name, "questions": count, "systems": report}))
        return
    print(f"\n{path.name}: {count} questions")
    base = next(iter(report.values()))["ms"]
    for name, row in report.items():
        measures = "  ".join(f"{measure} {row[measure]:.3f}" for measure in SHOWN)
        same = "  ".join(
            f"{what} {100 * row[what]:3.0f} %" for what in ("same first", "same five", "same scores")
        )
        print(f"{name:10} {measures}  {same}  {row['ms']:6.1f} ms ({row['ms'] / base:.2f})")


if __name__ == "__main__":
    main()
