"""Compares a build on a Ray cluster whose nodes are killed meanwhile with a plain build: equality of the stores, and
duration.

    python benchmarks/ray_cluster.py PAGES --nodes 3 --kills 3

Every node is a set of processes on this machine with its own ports. A killed node (SIGKILL to its Ray process, which
takes its workers with it) is replaced by a new one. The first node runs the control service of the cluster and the
build itself, and is never killed. Prints the differences between the two stores, of which there should be none, and the
seconds.

With ``--device cuda`` every node but the first is told to have a GPU; they share the one of this machine. Vectors then
may differ in their last bits, and 8-bit models amplify that: the lowest cosine of the two vectors of a text is printed,
and a cosine that ``trivium check`` would report counts as a difference.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import command
from trivium.checking.compare_vectors import LEAST_COSINE
from trivium.embedding.embedder import Embedder
from trivium.engine import Engine
from trivium.graph.open_store import open_store
from trivium.graph.page_graph import PageGraph
from trivium.graph.protocols import GraphStore
from trivium.graph.schema import Label
from trivium.index import build_parts
from trivium.index.ray_build import check_ray
from trivium.testing.toys import HashEmbedder

_STORE_BYTES = 100 << 20
"""Size of the object store of Ray on each node."""
_SHOWN = 5
_EQUAL = 1.0


def differences(
    one: GraphStore, other: GraphStore, least: float = _EQUAL, cosines: list[float] | None = None
) -> list[str]:
    """Return descriptions of the differences between two stores, except what depends on the time of the build. Vectors
    have to be the same bits, or with ``least`` below 1 to have at least that cosine; the lowest of each kind is added
    to ``cosines``.
    """
    found = [
        f"{what}: {a} and {b}"
        for what, a, b in (
            *((name, getattr(one.info(), name), getattr(other.info(), name)) for name in _COUNTS),
            ("languages", one.languages, other.languages),
            ("types", one.types(), other.types()),
        )
        if a != b
    ]
    if sorted(one.names()) != sorted(other.names()):
        found.append("names")
    pages = [list(_in_order(store)) for store in (one, other)]
    uris = [[page.uri for page in graphs] for graphs in pages]
    if uris[0] != uris[1]:
        return [*found, f"uris of pages: {sorted(set(uris[0]) ^ set(uris[1]))[:_SHOWN]}"]
    found += [f"page {a.uri}" for a, b in zip(*pages, strict=True) if a != b]
    for label, nodes in _nodes(pages[0]).items():
        if not _alike(one.vectors(label, nodes), other.vectors(label, nodes), least, cosines):
            found.append(f"vectors of {label}")
    chunks = _nodes(pages[0])[Label.CHUNK]
    codes = [store.sentence_vectors(chunks) for store in (one, other)]
    if not (
        np.array_equal(codes[0].starts, codes[1].starts)
        and _alike(codes[0].codes, codes[1].codes, least, cosines)
    ):
        found.append("vectors of sentences")
    return found


def _alike(one: NDArray[Any], other: NDArray[Any], least: float, cosines: list[float] | None) -> bool:
    """Whether two matrices have the same bits or, with ``least`` below 1, rows with at least that cosine. Vectors that
    are missing (NaN) have to be missing in both.
    """
    missing = [np.isnan(matrix).any(axis=1) for matrix in (one, other)]
    if least >= _EQUAL or not np.array_equal(*missing):
        return np.array_equal(one, other, equal_nan=True)
    one, other = (matrix[~missing[0]].astype(np.float32) for matrix in (one, other))
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    lowest = float((np.einsum("ij,ij->i", one, other) / norms).min(initial=1.0))
    if cosines is not None:
        cosines.append(lowest)
    return lowest >= least


_COUNTS = ("nodes", "relationships", "aliases", "embedded", "to_embed", "embedder", "chunker")


def _in_order(store: GraphStore) -> Iterator[PageGraph]:
    return store.page_graphs([page.uri for page in store.pages()])


def _nodes(pages: list[PageGraph]) -> dict[Label, list[str]]:
    """Return the uris of all embedded nodes, by label."""
    entities = {
        name
        for page in pages
        for name in (
            *(cited for chunk in page.chunks for cited in chunk.cites),
            *(end for edge in page.relations for end in (edge.source, edge.target)),
        )
    }
    return {
        Label.PAGE: [page.uri for page in pages],
        Label.SUBCHAPTER: [section.uri for page in pages for section in page.sections],
        Label.CHUNK: [chunk.uri for page in pages for chunk in page.chunks],
        Label.ENTITY: sorted(entities),
    }


class Nodes:
    """A Ray cluster on this machine, one core per node, accessible only to this process and its children, by a token.
    Must be created before Ray is imported, which then reads its environment. Processes are ended one by one, by process
    id.
    """

    def __init__(self, number: int, gpus: int = 0) -> None:
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        check_ray("auto")
        from ray.cluster_utils import Cluster

        self._usual = {"num_cpus": 1, "object_store_memory": _STORE_BYTES, "include_dashboard": False}
        # Nodes that are gone are detected after two seconds instead of half a minute.
        quick = {
            "health_check_initial_delay_ms": 0,
            "health_check_period_ms": 500,
            "health_check_failure_threshold": 4,
        }
        self._cluster: Any = Cluster(
            initialize_head=True, head_node_args={**self._usual, "_system_config": quick}
        )
        self._usual["num_gpus"] = gpus
        self._others = [self._cluster.add_node(**self._usual) for _ in range(number - 1)]

    @property
    def address(self) -> str:
        """Address of the cluster."""
        return str(self._cluster.address)

    def kill(self) -> None:
        """Kill the oldest node except the first with SIGKILL, which simulates the loss of a machine."""
        node = self._others.pop(0)
        os.kill(node.all_processes["raylet"][0].process.pid, signal.SIGKILL)

    def replace(self) -> None:
        """Add a node."""
        self._others.append(self._cluster.add_node(wait=False, **self._usual))

    def close(self) -> None:
        """End all processes."""
        self._cluster.shutdown()


def main() -> None:
    """Build twice and compare."""
    parser = command.Parser(__doc__, takes="minutes", packages=("trivium[ray]",))
    parser.add_argument("sources", nargs="+", type=command.existing, help="files and folders")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--part-size", type=int, default=20, help="documents per part (20)")
    parser.add_argument(
        "--embedder", default="hash", help="hash (the embedder of the tests), or a name as in trivium build"
    )
    parser.add_argument(
        "--seconds-between", type=float, default=5.0, help="minimum time between two kills (5)"
    )
    parser.add_argument("--device", default="cpu", help="cpu (the default), cuda or cuda:N")
    parser.add_argument("--folder", type=Path, help="folder to keep the stores in")
    parser.add_argument("--json", type=command.output, help="also write the figures to this file")
    arguments = parser.parse_args()
    with TemporaryDirectory() as scratch:
        figures = run(arguments, arguments.folder or Path(scratch))
    print(json.dumps(figures, indent=2))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    sys.exit(1 if figures["differences"] or figures["kills"] < arguments.kills else 0)


def run(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Return the figures of one run."""
    folder.mkdir(parents=True, exist_ok=True)
    figures: dict[str, Any] = {"nodes": arguments.nodes, "kills": 0, "killed_after": []}
    started = time.perf_counter()
    embedder = chosen_embedder(arguments.embedder)
    on = {} if arguments.device == "cpu" else {"device": arguments.device}
    with Engine.create(folder / "plain", embedder, **on) as plain:
        report = plain.build(arguments.sources)
        figures["documents"], figures["problems"] = report.read, len(report.problems)
        figures["plain_seconds"] = round(time.perf_counter() - started, 1)
        started = time.perf_counter()
        nodes = Nodes(arguments.nodes, gpus=len(on))
        figures["cluster_start_seconds"] = round(time.perf_counter() - started, 1)
        last = started = time.perf_counter()

        def progress(stage: str, done: int, _: int) -> None:
            """Kill a node when a part completes, unless the last kill was only seconds ago."""
            nonlocal last
            due = done > figures["kills"] and time.perf_counter() - last > arguments.seconds_between
            if stage == "parts" and due and figures["kills"] < arguments.kills:
                nodes.kill()
                nodes.replace()
                figures["kills"] += 1
                figures["killed_after"].append(f"{done} {stage}")
                last = time.perf_counter()

        build_parts.DOCUMENTS = arguments.part_size
        try:
            with Engine.create(folder / "parts", embedder, **on) as engine:
                engine.build(arguments.sources, ray=nodes.address, progress=progress)
        finally:
            figures["cluster_seconds"] = round(time.perf_counter() - started, 1)
            nodes.close()
        figures["counts"], figures["embedded"] = plain.info().nodes, plain.info().embedded
    cosines: list[float] = []
    least = LEAST_COSINE if on else _EQUAL
    with open_store(folder / "plain") as one, open_store(folder / "parts") as other:
        figures["differences"] = differences(one, other, least, cosines)
    if cosines:
        figures["lowest_cosine"] = round(min(cosines), 4)
    return figures


def chosen_embedder(name: str) -> str | Embedder:
    """Return the embedder of the tests for ``hash``, else the name."""
    return HashEmbedder() if name == "hash" else name


if __name__ == "__main__":
    command.run(main)
