"""Measures search with filters that 50, 5 and 0.5 % of the chunks satisfy: recall against an exact search, and latency.

    python benchmarks/filters.py --chunks 40000
    python benchmarks/filters.py --chunks 10000 --neo4j bolt://localhost:7687

A store of synthetic pages is created in a temporary folder, or in the empty database at the address. Each page has a
metadata number ``bucket`` from 0 to 999; each chunk consists of words of a small vocabulary and has a vector near one
of 200 centres. Prints for each filter, and without one, the recall of ``nearest`` (100 neighbours) and of
``keyword_search`` (64 hits) against an exhaustive comparison, and the median milliseconds of both and of a fused search
with all eight retrievers. The first search with a filter, which evaluates it, is listed separately. In a folder store
the times are processor time, so that other load on the machine does not count; with Neo4j they are wall-clock time.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import trivium
from experiments import command
from trivium.common.iteration import batched
from trivium.graph.build_page_graph import build
from trivium.graph.filter_language import parse
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.protocols import GraphStore, SearchStore
from trivium.graph.records import Vectors
from trivium.graph.schema import Label
from trivium.graph.sqlite import EmbeddedStore
from trivium.types import Chunk, ChunkKind, EmbedderIdentity, Link, Page, Section

DIMENSION = 384
A_PAGE = 20
CONDITIONS = {"none": None, "50 %": "bucket < 500", "5 %": "bucket < 50", ".5 %": "bucket < 5"}


_clock = time.process_time


class Vectoriser:
    """An embedder of synthetic vectors. The text determines the centre that its vector is near."""

    identity = EmbedderIdentity("made-up", "1", DIMENSION)

    def __init__(self) -> None:
        self._centres = np.random.default_rng(1).normal(size=(200, DIMENSION))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the unit vectors of texts."""
        found = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            draw = np.random.default_rng(list(text.encode()))
            vector = self._centres[draw.integers(len(self._centres))] + 1.2 * draw.normal(size=DIMENSION)
            found[row] = vector / np.linalg.norm(vector)
        return found

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a question."""
        vector: Vectors = self.embed([text])[0]
        return vector

    def close(self) -> None:
        """Do nothing: there are no resources to release."""


def page(number: int, draw: np.random.Generator) -> Page:
    """Return a page of :data:`A_PAGE` chunks in sections of five, with a link in each."""
    text, chunks = "", []
    for _ in range(A_PAGE):
        words = " ".join(f"w{word}" for word in draw.zipf(1.3, size=40) % 5_000)
        link = Link(f"Page {draw.integers(max(number, 1))}", len(text), len(text) + 2)
        chunks.append(Chunk(ChunkKind.PARAGRAPH, words, len(text), len(text) + len(words), (link,)))
        text += words + "\n"
    sections = tuple(
        Section(f"Part {place}", 1, None, tuple(chunks[place : place + 5])) for place in range(0, A_PAGE, 5)
    )
    bucket = int(draw.integers(1000))
    return Page(f"Page {number}", text, sections=sections, source=f"{number}", metadata={"bucket": bucket})


def fill(store: GraphStore, chunks: int, embedder: Vectoriser) -> None:
    """Write pages and vectors."""
    draw = np.random.default_rng(0)
    for numbers in batched(range(chunks // A_PAGE), 200):
        store.write([build(page(number, draw)) for number in numbers])
    store.set_embedder(embedder.identity)
    for texts in batched(list(store.pending_texts()), 2_000):
        store.put_vectors(texts, embedder.embed(texts))
    store.refresh()


def main() -> None:
    """Run the benchmark and print the results."""
    parser = command.Parser(__doc__, takes="a minute or two")
    parser.add_argument("--chunks", type=int, default=40_000)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--neo4j", help="Address of an empty database.")
    given = parser.parse_args()
    if given.neo4j:
        global _clock
        _clock = time.perf_counter
    embedder = Vectoriser()
    with tempfile.TemporaryDirectory() as folder:
        make = Neo4jStore.create(given.neo4j) if given.neo4j else EmbeddedStore.create(Path(folder) / "store")
        with make as store:
            fill(store, given.chunks, embedder)
            draw = np.random.default_rng(7)
            questions = [
                " ".join(f"w{word}" for word in draw.zipf(1.3, size=8) % 5_000)
                for _ in range(given.questions)
            ]
            Console().print(measure(store, embedder, questions))


def measure(store: GraphStore, embedder: Vectoriser, questions: Sequence[str]) -> Table:
    """Return a table with one row per filter."""
    grid = Table(title=f"{store.info().nodes['Chunk']:,} chunks, {len(questions)} questions")
    for column in (
        "condition",
        "recall of 100",
        "of words",
        "first, ms",
        "nearest, ms",
        "words, ms",
        "search, ms",
    ):
        grid.add_column(column, justify="left" if column == "condition" else "right")
    engine = trivium.Engine(store, embedder, remembered_questions=0)
    vectors = [embedder.embed_query(question) for question in questions]
    # Warm up: load or compile everything that is used for the first time.
    engine.search(questions[0])
    for name, text in CONDITIONS.items():
        view: SearchStore = store if text is None else store.within(parse(text))
        begun = _clock()
        view.nearest([Label.CHUNK], vectors[0], 100)
        first = _clock() - begun
        recalls = []
        for vector in vectors:
            found = {node.uri for node in view.nearest([Label.CHUNK], vector, 100)}
            wanted = {node.uri for node in view.nearest([Label.CHUNK], vector, 100, exact=True)}
            recalls.append(len(found & wanted) / max(1, len(wanted)))
        words = []
        for question in questions:
            terms = question.split()
            every = view.keyword_search(terms, 10_000_000)
            few = view.keyword_search(terms, 64)
            words.append(len(set(few) & set(every[:64])) / max(1, min(64, len(every))))
        near = _median(lambda vector, view=view: view.nearest([Label.CHUNK], vector, 50), vectors)
        terms = _median(lambda question, view=view: view.keyword_search(question.split(), 64), questions)
        fresh = [f"{question} again" for question in questions]
        search = _median(lambda question, text=text: engine.search(question, 10, where=text), fresh)
        grid.add_row(
            name,
            f"{np.mean(recalls):.3f}",
            f"{np.mean(words):.3f}",
            f"{1000 * first:.1f}",
            f"{near:.2f}",
            f"{terms:.2f}",
            f"{search:.1f}",
        )
    return grid


def _median(ask: Callable[..., object], given: Sequence[object]) -> float:
    """Return the median milliseconds of a call."""
    times = []
    for each in given:
        begun = _clock()
        ask(each)
        times.append(_clock() - begun)
    return 1000 * float(np.median(times))


if __name__ == "__main__":
    command.run(main)
