"""Times loading Neo4j in bulk, in batches, and one statement at a time; and loading a whole crawl both ways.

    python benchmarks/neo4j_loading.py --store subset-store
    python benchmarks/neo4j_loading.py --pages crawl/pages

With ``--store`` (a folder store with vectors), three loaders are timed in one run, each on its own server: bulk files
for neo4j-admin, the batches of Neo4jStore, and naive loaders with one statement per node or relationship
(:mod:`neo4j_naive`), which load as much of the graph as they can in ``--naive-seconds``. Prints nodes and relationships
per second, without index creation, and the speed-up over the naive loaders.

With ``--pages`` (documents), both ways to a graph without vectors are timed, starting from the documents. The counts of
both databases are compared with those of the folder store by label and type; the exit status is 1 if any differs.

All files are created in a temporary folder, or below ``--work``, where they are kept.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from neo4j_naive import WAYS, Naive, load_naively, read_sample
from neo4j_server import run_tool, server
from rich.console import Console
from rich.table import Table

from experiments import command
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.neo4j_import import export
from trivium.graph.protocols import GraphStore
from trivium.graph.records import StoreInfo, Vectors
from trivium.graph.schema import Label, embedding_text, entity_text, headings_of
from trivium.graph.sqlite import EmbeddedStore
from trivium.index.load import load

PAGES_A_WRITE = 100
TEXTS_A_WRITE = 2_000
INDEXING = ("constraints and indexes", "vector indexes", "start the server")
"""Stages after the load itself."""
Seconds = dict[str, float]
console = Console()


def main() -> int:
    """Run the benchmark, print the results and return the exit status."""
    parser = command.Parser(__doc__, takes="several minutes; with --pages as the crawl takes")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--store", type=command.existing, help="Folder store to load three ways.")
    what.add_argument("--pages", help="Documents to load both ways: a folder, file or pattern.")
    parser.add_argument("--version", default="5.26.30", help="Version of Neo4j (default 5.26.30).")
    parser.add_argument(
        "--heap", default="2g", help="Heap size of the servers and of neo4j-admin (default 2g)."
    )
    parser.add_argument(
        "--naive-seconds", type=float, default=60.0, help="Time limit of the naive loaders (default 60)."
    )
    parser.add_argument(
        "--naive-pages",
        type=int,
        default=100,
        help="Maximum number of pages for the naive loaders (default 100).",
    )
    parser.add_argument(
        "--work", type=Path, help="Folder for stores, files and servers (default: a temporary one)."
    )
    given = parser.parse_args()
    load_average = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    console.print(f"{os.cpu_count()} cores, load average {load_average} before the start")
    with tempfile.TemporaryDirectory() as scratch:
        work = given.work or Path(scratch)
        work.mkdir(parents=True, exist_ok=True)
        if given.store is not None:
            return compare_loaders(given, work)
        return load_crawl(given, work)


def compare_loaders(given: argparse.Namespace, work: Path) -> int:
    """Time three loaders on one store."""
    with EmbeddedStore.open(given.store) as store:
        wanted = store.info()
        bulk, found = load_bulk(store, work, given)
        gone = list(differences(wanted, found))
        with server(work / "batches", given.version, "--heap", given.heap) as address:
            batches, found = load_batches(store, address)
            gone += differences(wanted, found)
            sample = read_sample(address, given.naive_pages)
    naive = {}
    for way in WAYS:
        for constrained in (True, False):
            name = f"{way}, {'the same' if constrained else 'no'} constraints"
            with server(work / f"naive-{len(naive)}", given.version, "--heap", given.heap) as address:
                if constrained:
                    Neo4jStore.create(address).close()
                naive[name] = load_naively(address, way, sample, given.naive_seconds)
    print_rates(wanted, {"bulk": bulk, "batches": batches}, naive)
    return report_differences(gone)


def load_crawl(given: argparse.Namespace, work: Path) -> int:
    """Load documents into a database both ways."""
    seconds: Seconds = {}
    with EmbeddedStore.create(work / "store") as store:
        with timed(seconds, "parse and build the folder store"):
            load([given.pages], store)
        wanted = store.info()
        bulk, in_bulk = load_bulk(store, work, given)
    seconds |= bulk
    batches: Seconds = {}
    with (
        server(work / "batches", given.version, "--heap", given.heap) as address,
        Neo4jStore.create(address) as target,
    ):
        with timed(batches, "parse and write"):
            load([given.pages], target)
        with timed(batches, "indexes"):
            target.refresh()
        incremental = target.info()
    for title, stages in (("Bulk", seconds), ("Page by page", batches)):
        grid = Table("", "seconds", title=title)
        for name, value in (stages | {"in all": sum(stages.values())}).items():
            grid.add_row(name, f"{value:.1f}")
        console.print(grid)
    print_counts(wanted, in_bulk, incremental)
    return report_differences([*differences(wanted, in_bulk), *differences(wanted, incremental)])


def load_bulk(store: GraphStore, work: Path, given: argparse.Namespace) -> tuple[Seconds, StoreInfo]:
    """Load with neo4j-admin. Returns the seconds of each stage, and the counts of the database afterwards."""
    seconds: Seconds = {}
    home = work / "bulk"
    with timed(seconds, "export"):
        export(store, work / "files")
    with timed(seconds, "import"):
        run_tool("import", work / "files", "--home", home, "--version", given.version, "--heap", given.heap)
    with timed(seconds, "start the server"):
        started = server(home, given.version, "--heap", given.heap)
        address = started.__enter__()
    try:
        with timed(seconds, "constraints and indexes"):
            target = Neo4jStore.open(address)
        with timed(seconds, "vector indexes"):
            target.refresh()
        info = target.info()
        target.close()
    finally:
        started.__exit__(None, None, None)
    return seconds, info


def load_batches(store: GraphStore, address: str) -> tuple[Seconds, StoreInfo]:
    """Load with ``Neo4jStore.write`` and ``put_vectors``. Returns the same as :func:`load_bulk`."""
    seconds: Seconds = {}
    with Neo4jStore.create(address) as target:
        with timed(seconds, "pages"):
            batch = []
            for page in store.page_graphs():
                batch.append(page)
                if len(batch) == PAGES_A_WRITE:
                    target.write(batch)
                    batch.clear()
            target.write(batch)
            target.set_types(store.types())
        with timed(seconds, "vectors"):
            copy_vectors(store, target)
        with timed(seconds, "vector indexes"):
            target.refresh()
        return seconds, target.info()


def copy_vectors(store: GraphStore, target: GraphStore) -> None:
    """Copy all vectors of one store to another with the same texts."""
    identity = store.embedder
    if identity is None:
        return
    target.set_embedder(identity)
    types = store.types()
    places: dict[str, tuple[Label, str]] = {}
    for page in store.page_graphs():
        places.update((section.uri, (Label.SUBCHAPTER, section.uri)) for section in page.sections)
        for chunk in page.chunks:
            places[embedding_text(headings_of(chunk.parent), chunk.text)] = (Label.CHUNK, chunk.uri)
    for uri in store.adjacency().entities:
        places[entity_text(uri, types.get(uri, ""))] = (Label.ENTITY, uri)
    texts = list(target.pending_texts())
    for start in range(0, len(texts), TEXTS_A_WRITE):
        some = texts[start : start + TEXTS_A_WRITE]
        target.put_vectors(some, _vectors(store, places, some))


def _vectors(store: GraphStore, places: dict[str, tuple[Label, str]], texts: list[str]) -> Vectors:
    """Return the vectors (n x d) of texts: that of a node with the text if there is one, else of a relation type."""
    identity = store.embedder
    assert identity is not None
    rows = np.full((len(texts), identity.dimension), np.nan, dtype=np.float32)
    for label in (Label.CHUNK, Label.SUBCHAPTER, Label.ENTITY):
        mine = [row for row, text in enumerate(texts) if text in places and places[text][0] is label]
        rows[mine] = store.vectors(label, [places[texts[row]][1] for row in mine])
    rest = [row for row, text in enumerate(texts) if text not in places]
    rows[rest] = store.relation_vectors([texts[row] for row in rest])
    return rows


def print_rates(info: StoreInfo, ours: dict[str, Seconds], naive: dict[str, Naive]) -> None:
    """Print one row per loader."""
    nodes = info.nodes[Label.ENTITY] + info.nodes[Label.SUBCHAPTER] + info.nodes[Label.CHUNK]
    relationships = sum(info.relationships.values())
    grid = Table(title=f"{nodes:,} nodes, {relationships:,} relationships, {info.embedded:,} vectors")
    for column in ("", "load, s", "indexes, s", "a second", *(f"times, {name}" for name in ours)):
        grid.add_column(column, justify="right" if column else "left")
    loading = {}
    for name, seconds in ours.items():
        after = sum(value for stage, value in seconds.items() if stage in INDEXING)
        loading[name] = sum(seconds.values()) - after
        rate = (nodes + relationships) / loading[name]
        grid.add_row(name, f"{loading[name]:.1f}", f"{after:.1f}", f"{rate:,.0f}")
    for name, measured in naive.items():
        alone = measured.seconds_for(nodes, relationships)
        rate = (nodes + relationships) / alone
        slower = [f"{alone / seconds:.1f}" for seconds in loading.values()]
        grid.add_row(name, f"{alone:,.0f}", "", f"{rate:,.0f}", *slower)
    console.print(grid)
    for name, seconds in ours.items():
        stages = ", ".join(f"{stage} {value:.1f}" for stage, value in seconds.items())
        console.print(f"{name}, seconds: {stages}")
    for name, measured in naive.items():
        console.print(
            f"{name}: measured on {measured.nodes:,} nodes and {measured.relationships:,} relationships"
        )


def print_counts(folder: StoreInfo, bulk: StoreInfo, batches: StoreInfo) -> None:
    """Print one row per label or type."""
    grid = Table("", "folder store", "bulk", "page by page", title="Counts")
    for kind in ("nodes", "relationships"):
        for name in getattr(folder, kind):
            grid.add_row(name, *(f"{getattr(info, kind)[name]:,}" for info in (folder, bulk, batches)))
    grid.add_row("aliases", *(f"{info.aliases:,}" for info in (folder, bulk, batches)))
    console.print(grid)


def differences(wanted: StoreInfo, found: StoreInfo) -> Iterator[str]:
    """Yield descriptions of the counts in which a database differs from the folder store."""
    for kind in ("nodes", "relationships"):
        for name, count in getattr(wanted, kind).items():
            if getattr(found, kind)[name] != count:
                yield f"{name}: {count:,} in the folder store, {getattr(found, kind)[name]:,} in {found.location}"
    for kind in ("aliases", "embedded", "to_embed"):
        if getattr(wanted, kind) != getattr(found, kind):
            yield f"{kind}: {getattr(wanted, kind):,} in the folder store, {getattr(found, kind):,} in the database"


def report_differences(found: list[str]) -> int:
    """Print the differences and return the exit status."""
    for line in found:
        console.print(f"[red]different:[/red] {line}")
    if not found:
        console.print("every count equals the folder store's")
    return 1 if found else 0


@contextmanager
def timed(seconds: Seconds, stage: str) -> Iterator[None]:
    """Record the duration of a block."""
    began = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - began


if __name__ == "__main__":
    command.run(main)
