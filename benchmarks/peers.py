"""Compares Trivium with popular retrievers for Neo4j on the same server, vectors and questions.

    pip install neo4j-graphrag langchain-neo4j
    python benchmarks/peers.py squad_questions.jsonl qed_questions.jsonl --store bolt://localhost:7687

The store is a Neo4j store of Trivium with vectors. ``neo4j-graphrag`` and ``langchain-neo4j`` search its chunks through
their public interfaces, with its vector index and a full-text index over the text, which is created for them and
dropped at the end. Nothing else is written. Every question is sent to every system, in shuffled order, before the next
question; all embed it with the same model, and the time includes it. Prints one table per question file. ``--only``
limits it to some systems: each row of Trivium has a copy of the store in memory of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.metadata import version

from neo4j import GraphDatabase, NotificationMinimumSeverity
from peers_race import (
    System,
    add_folds,
    default_search,
    judge,
    race,
    ranking,
    sample,
    table,
    to_json,
    warm_up,
)
from rich.console import Console

import trivium
from experiments import command
from trivium.datasets.questions import read_questions
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.report import Ranking
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.neo4j.address import parse_address
from trivium.graph.neo4j.cypher.schema import VECTOR_INDEXES
from trivium.graph.schema import Label

K = 10
WARM_UP = 30
"""Number of questions asked before the first that counts."""
PACKAGES = ("neo4j-graphrag", "langchain-neo4j")
console = Console(soft_wrap=True, highlight=False)


def main() -> None:
    """Run the benchmark and print the results."""
    parser = command.Parser(__doc__, takes="minutes a file", packages=PACKAGES)
    parser.add_argument("questions", nargs="+", type=command.existing, help="Question files (JSON Lines).")
    parser.add_argument(
        "--store", type=command.store, required=True, help="Address of a Neo4j store: bolt://HOST:PORT."
    )
    parser.add_argument(
        "--limit", type=positive, default=300, help="Maximum number of questions per file (default 300)."
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="Seed of the sample and of the order (default 0)."
    )
    parser.add_argument(
        "--ratio",
        type=positive,
        default=1,
        help="effective_search_ratio of the peers: factor by which they oversample neighbours from the vector index"
        " (default 1, as in the peers).",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TEXT",
        help="Ask only systems whose name contains this; may be repeated.",
    )
    add_folds(parser)
    parser.add_argument("--json", type=command.output, help="Also write the figures to this file.")
    given = parser.parse_args()
    compare(given)


def positive(text: str) -> int:
    """Parse an integer of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number of 1 or more, got {text}")
    return number


def compare(given: argparse.Namespace) -> None:
    """Ask the questions of every file, print a table for each, and write its figures."""
    with (
        trivium.Engine.open(given.store, remembered_questions=0) as engine,
        open_systems(engine, given) as (systems, about),
    ):
        console.print(
            f"{engine.info().nodes['Chunk']:,} chunks, {engine.embedder.identity.name}, {about};"
            f" {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} before the start"
        )
        sets = []
        for file in given.questions:
            questions = read_questions(file)
            traced = Evaluator(engine.searcher).trace(questions)
            if not traced.questions:
                console.print(f"\n{file.stem}: none of {len(questions)} questions has its gold in this store")
                continue
            asked = sample(traced.questions, given.limit, given.seed)
            texts = [question.text for question in asked]
            warm_up(systems, texts[:WARM_UP])
            answers = race(systems, texts, given.seed)
            title = f"{file.stem}: {len(asked)} of {len(traced.questions)} traced questions"
            outcome = judge(title, systems, asked, traced, answers)
            console.print(f"\n{title}\n\n{table(outcome)}", markup=False)
            for name, found in answers.items():
                if found.refused:
                    console.print(
                        f"{name} refused {len(found.refused)}, first: {found.refused[0]}", markup=False
                    )
            sets.append(to_json(outcome))
            if given.json is not None:
                figures = {"about": about, "k": K, "ratio": given.ratio, "seed": given.seed, "sets": sets}
                given.json.write_text(json.dumps(figures, indent=2) + "\n")


@contextmanager
def open_systems(engine: trivium.Engine, given: argparse.Namespace) -> Iterator[tuple[list[System], str]]:
    """Yield all systems, Trivium first, and the versions of their packages."""
    from peers_graphrag import graphrag_systems, text_index
    from peers_langchain import langchain_systems

    address = parse_address(given.store)
    vectors = VECTOR_INDEXES[Label.CHUNK]
    embedder = engine.embedder
    with ExitStack() as stack:
        driver = stack.enter_context(
            GraphDatabase.driver(
                address.uri,
                auth=(address.user, address.password),
                notifications_min_severity=NotificationMinimumSeverity.OFF,
            )
        )
        words = stack.enter_context(text_index(driver, address.database))
        peers = [
            *graphrag_systems(driver, address.database, vectors, words, embedder, K, given.ratio),
            *stack.enter_context(langchain_systems(address, vectors, words, embedder, K, given.ratio)),
            System("(embedding the question)", lambda text: _embed(engine, text), judged=False),
        ]
        own, begun = _own_systems(stack, given), time.perf_counter()
        wanted = [system for system in (*own, *peers) if _is_wanted(system, given.only)]
        kept = [replicate(own[system]) for system in wanted if system in own]
        seconds = (time.perf_counter() - begun) / max(1, len(kept))
        console.print(f"read into memory by {sum(kept)} of {len(kept)} engines, {seconds:.1f} s each")
        (server,) = driver.execute_query(
            "CALL dbms.components() YIELD versions, edition RETURN versions[0] + ' ' + edition",
            database_=address.database,
        ).records
        yield wanted, ", ".join([f"Neo4j {server[0]}", *(f"{name} {version(name)}" for name in PACKAGES)])


def _own_systems(stack: ExitStack, given: argparse.Namespace) -> dict[System, trivium.Engine]:
    """Return the systems of Trivium. Each has an engine of its own: a store caches its latest answers, so that with one
    for all, systems asked later would profit from earlier ones.
    """
    first, second, third = (
        stack.enter_context(trivium.Engine.open(given.store, remembered_questions=0)) for _ in range(3)
    )
    return {
        System(*default_search(first, K, given.folds, given.questions)): first,
        System("Trivium, convex", lambda text: ranking(second.search(text, K, fusion="convex"))): second,
        System("Trivium, vector", lambda text: ranking(third.search(text, K, ["vector"]))): third,
    }


def _is_wanted(system: System, only: Sequence[str]) -> bool:
    return not only or any(text in system.name for text in only)


def replicate(engine: trivium.Engine) -> bool:
    """Read the store into memory now, which otherwise happens after some questions. Returns whether it fits."""
    store = engine.store
    assert isinstance(store, Neo4jStore)
    return store.replicate()


def _embed(engine: trivium.Engine, text: str) -> Ranking:
    engine.embedder.embed_query(text)
    return ()


if __name__ == "__main__":
    command.run(main)
