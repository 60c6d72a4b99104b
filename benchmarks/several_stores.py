"""Compares building several stores, each by a process of its own, with a build by shards that one process writes: time,
processor time and memory of the largest process, and equality.

    python benchmarks/several_stores.py PAGES --into 2 4

Documents are parsed and embedded first, so that what is compared is what comes after that: deciding about names, copies
and links, writing, and indexing. Every build runs in a program of its own. The result is compared with the plain store,
split (`trivium shards split`): what differs, of which there should be nothing. Then the files for Neo4j are written
(`trivium export`), by one process and by one for each store.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.ray_cluster import chosen_embedder, differences
from trivium.engine import Engine
from trivium.graph.factory import open_store
from trivium.graph.shards import split_store
from trivium.index.sharding.build import ShardPlan
from trivium.index.sharding.export import export_store


def main() -> None:
    """Build, compare and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", nargs="+", help="files and folders")
    parser.add_argument(
        "--into", type=int, nargs="+", default=[2, 4], metavar="N", help="numbers of stores (2 4)"
    )
    parser.add_argument("--shard-size", type=int, default=50, help="documents per shard (50)")
    parser.add_argument("--workers", type=int, help="processes at a time (as many as there are cores)")
    parser.add_argument("--embedder", default="hash", help="hash (the embedder of the tests), or a name")
    parser.add_argument("--one", type=json.loads, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one is not None:
        figures = write_files if "files" in arguments.one else build
        print(json.dumps(figures(arguments, **arguments.one)))
        return
    failed = False
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        shards = str(folder / "shards")
        print(
            "parsed and embedded:",
            json.dumps(apart(store=str(folder / "first"), shards=shards, into=0)),
            flush=True,
        )
        for into in (0, *arguments.into):
            store = folder / f"into-{into}"
            print(
                f"into {into or 'one store'}:",
                json.dumps(apart(store=str(store), shards=shards, into=into)),
                flush=True,
            )
            if into:
                split_store(folder / "into-0", folder / f"split-{into}", into)
                with open_store(folder / f"split-{into}") as one, open_store(store) as other:
                    found = [line for line in differences(one, other) if not line.startswith("embedded")]
                failed = failed or bool(found)
                print("  differences:", found, flush=True)
            for workers in dict.fromkeys((1, into or 1)):
                figures = apart(
                    store=str(store), files=str(folder / f"files-{into}-{workers}"), workers=workers
                )
                print(f"  files for Neo4j, {workers} at a time:", json.dumps(figures), flush=True)
    sys.exit(1 if failed else 0)


def apart(**one: object) -> dict[str, Any]:
    """Return the figures of a build in a program of its own."""
    command = [sys.executable, "-m", "benchmarks.several_stores", *sys.argv[1:], "--one", json.dumps(one)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def build(arguments: argparse.Namespace, store: str, shards: str, into: int) -> dict[str, Any]:
    """Build one or several stores, and return the figures: of this process, and of those that it has started."""
    embedder = chosen_embedder(arguments.embedder)
    plan = ShardPlan(shards, documents=arguments.shard_size)
    with measured() as figures:
        if into:
            Engine.build_shards(
                store, arguments.sources, into, embedder, shards=plan, workers=arguments.workers
            )
        else:
            with Engine.create(store, embedder) as engine:
                engine.build(arguments.sources, shards=plan, workers=arguments.workers)
    return figures


def write_files(_: argparse.Namespace, store: str, files: str, workers: int) -> dict[str, Any]:
    """Write the files for Neo4j, and return the figures."""
    with open_store(store) as opened, measured() as figures:
        export_store(opened, files, workers=workers)
    return figures


@contextmanager
def measured() -> Iterator[dict[str, Any]]:
    """Yield what is the figures of the block when it has ended: of this process, and of those that it has started."""
    figures: dict[str, Any] = {}
    started = time.perf_counter()
    yield figures
    seconds = time.perf_counter() - started
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    figures |= {
        "seconds": round(seconds, 1),
        "processor_seconds": round(own.ru_utime + own.ru_stime, 1),
        "processor_seconds_of_others": round(others.ru_utime + others.ru_stime, 1),
        "megabytes": most_memory() >> 10,
        "megabytes_of_largest_other": others.ru_maxrss >> 10,
    }


def most_memory() -> int:
    """Return the most memory of this process so far, in KB. ``ru_maxrss`` would include that of the program before."""
    status = Path("/proc/self/status").read_text("ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))


if __name__ == "__main__":
    main()
