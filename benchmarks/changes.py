"""Measures how long adding, replacing and removing one document takes in one process, until a search reflects it.

    python benchmarks/changes.py --store joint-store

The store is copied first, and the copy is changed; ``--in-place`` changes the store itself, for stores that are too
large to copy, and so is one in Neo4j, whose copy in memory is timed, too. Prints the median and the maximum over
several rounds, and the time of one search, so that runs on different machines can be compared.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import trivium
from experiments import command
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.open_store import is_address

_LINKED = """# Watching bustards {n}

The bustard {n} nests on the steppe and eats beetles. See [[Physics]] and [[Mars]].

## Seasons

In spring the {n}th male displays.
"""
_PLAIN = """# Notes on bustards {n}

The bustard {n} nests on the steppe. Physics has no part in it, nor has the planet Mars.
"""


def main() -> None:
    """Run the benchmark and print the results."""
    parser = command.Parser(__doc__, takes="a minute")
    parser.add_argument("--store", type=command.store, required=True)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument(
        "--in-place", action="store_true", help="Change the store itself; added documents are removed again."
    )
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with TemporaryDirectory(prefix="trivium-") as folder:
        store = given.store
        if not given.in_place and not is_address(store):
            store = str(shutil.copytree(given.store, Path(folder, "store")))
        times = measure(store, Path(folder), given.rounds)
    rows = {name: {"median": median(own), "slowest": max(own)} for name, own in times.items()}
    if given.json:
        print(json.dumps(rows))
        return
    for name, row in rows.items():
        print(f"{name:18} {row['median'] * 1000:7.0f} ms   slowest {row['slowest'] * 1000:7.0f} ms")


def measure(store: str, folder: Path, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each kind of change, one per round."""
    times: dict[str, list[float]] = {}
    with trivium.Engine.open(store) as engine:

        def timed(name: str, change: Callable[[], object], number: int, *, there: bool = True) -> None:
            question = f"where does bustard {number} nest"
            begin = time.perf_counter()
            change()
            hits = engine.search(question, k=5)
            times.setdefault(name, []).append(time.perf_counter() - begin)
            if isinstance(engine.store, Neo4jStore):
                # Otherwise it would be read while the next change is timed.
                begin = time.perf_counter()
                if engine.store.replicate():
                    times.setdefault("copy in memory", []).append(time.perf_counter() - begin)
            if there != any("bustards" in hit.page for hit in hits):
                raise SystemExit(f"{name}: expected the page {'to be' if there else 'not to be'} found")

        engine.search("where do birds nest", k=5)  # loads models and indexes
        if isinstance(engine.store, Neo4jStore):
            engine.store.replicate()
        timed("search", lambda: None, -1, there=False)
        times.pop("copy in memory", None)
        for number in range(rounds):
            linked, plain = folder / f"linked{number}.md", folder / f"plain{number}.md"
            linked.write_text(_LINKED.format(n=number), "utf-8")
            timed("add", lambda: engine.build([linked]), number)  # noqa: B023 - called at once
            linked.write_text(_LINKED.format(n=number) + "\nIt has changed.\n", "utf-8")
            timed("replace", lambda: engine.build([linked]), number)  # noqa: B023
            timed("remove", lambda: engine.remove([str(linked)]), number, there=False)  # noqa: B023
            plain.write_text(_PLAIN.format(n=number), "utf-8")
            timed("add without links", lambda: engine.build([plain]), number)  # noqa: B023
            engine.remove([str(plain)])
    return times


if __name__ == "__main__":
    command.run(main)
