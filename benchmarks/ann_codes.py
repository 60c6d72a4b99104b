"""Compares approximate vector indexes that store 16-bit floats, bytes or bits: recall, speed and size.

    python benchmarks/ann_codes.py --store joint-store --questions ../shared/data/wiki/squad_questions.jsonl
    python benchmarks/ann_codes.py --store joint-store --questions ... --drawn 200000

The vectors are those of the nodes of one label, or a number of vectors drawn around them
(``benchmarks/draw_vectors.py``); the questions are embedded by the store's embedder. Candidates of an index are
reordered by the exact vectors of the store, as in a search: ``@10`` is the share of the ten exact nearest neighbours
that are among the hundred candidates.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from draw_vectors import drawer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from usearch.index import Index

from trivium.common.dots import dots
from trivium.datasets.questions import read_questions
from trivium.engine import Engine
from trivium.graph.embedded.ann_index import EXPANSION_ADD, EXPANSION_SEARCH, MORE, quantise
from trivium.graph.records import Vectors
from trivium.graph.schema import Label

FOUND = 100
LARGEST = 127
HIGHEST = 0.52
"""The largest absolute component of a vector of bge-small."""
CUTOFFS = (10, 30, 50, 100)
Encode = Callable[[Vectors], NDArray[Any]]


@dataclass(frozen=True)
class Kind:
    """A vector index configuration, and the number of neighbours requested from it."""

    dtype: str
    metric: str
    encode: Encode
    asked: int = FOUND
    sight: int = 256


def _signs(vectors: Vectors) -> NDArray[np.uint8]:
    return np.packbits(vectors > 0, axis=-1)


def _in_one_scale(vectors: Vectors) -> NDArray[np.int8]:
    codes: NDArray[np.int8] = np.clip(
        np.rint(vectors * np.float32(LARGEST / HIGHEST)), -LARGEST, LARGEST
    ).astype(np.int8)
    return codes


KINDS = {
    "16 bits": Kind("f16", "ip", np.asarray),
    "bytes as USearch makes them": Kind("i8", "ip", np.asarray),
    "bytes, one scale for all": Kind("i8", "ip", _in_one_scale),
    "bytes, own scales": Kind("i8", "cos", quantise),
    "the same, as stores ask": Kind("i8", "cos", quantise, math.ceil(MORE * FOUND), EXPANSION_SEARCH),
    "bits, 400 asked": Kind("b1", "hamming", _signs, 400, 512),
    "bits, 1,000 asked": Kind("b1", "hamming", _signs, 1000, 1000),
}
_SHARED = {"the same, as stores ask": "bytes, own scales", "bits, 1,000 asked": "bits, 400 asked"}
"""Configurations that search the index of another one."""


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--questions", type=Path, nargs="+", required=True)
    parser.add_argument("--label", choices=[str(label) for label in Label], default=str(Label.ENTITY))
    parser.add_argument("--drawn", type=int, help="Draw that many vectors around those of the label.")
    parser.add_argument(
        "--limit", type=int, default=300, help="Number of questions, spread evenly over the files."
    )
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    given = parser.parse_args()
    with Engine.open(given.store) as engine:
        asked = [question.text for file in given.questions for question in read_questions(file)]
        asked = asked[:: max(1, len(asked) // given.limit)]
        questions = np.stack([engine.embedder.embed_query(text) for text in asked])
        label = Label(given.label)
        uris = engine.store.adjacency().entities if label is Label.ENTITY else engine.store.chunk_uris()
        vectors = engine.store.vectors(label, list(uris))
        vectors = vectors[~np.isnan(vectors[:, 0])]
    if given.drawn:
        draw = drawer(vectors)
        vectors = np.concatenate(
            [
                draw(
                    [f"{number // 40}: {number}" for number in range(begin, min(begin + 5_000, given.drawn))]
                )
                for begin in range(0, given.drawn, 5_000)
            ]
        ).astype(np.float32)
    with TemporaryDirectory(prefix="ann-codes-") as folder:
        compare(vectors, questions, given.kinds, Path(folder))


def compare(vectors: Vectors, questions: Vectors, kinds: Sequence[str], folder: Path) -> None:
    """Build an index for each configuration, query all of them with each question in turn, and print the results."""
    table = Table(f"{len(vectors):,} vectors, {len(questions)} questions")
    for name in (*(f"@{cutoff}" for cutoff in CUTOFFS), "search ms", "with order ms", "MB", "build s"):
        table.add_column(name, justify="right")
    rows = np.arange(len(vectors))
    nearest = [np.argsort(-dots(vectors, question, rows), kind="stable")[:FOUND] for question in questions]
    indexes: dict[str, Index] = {}
    built: dict[str, tuple[float, float]] = {}
    for name in kinds:
        if _SHARED.get(name) in indexes:
            indexes[name], built[name] = (
                view(KINDS[name], vectors, folder / _SHARED[name]),
                built[_SHARED[name]],
            )
        else:
            begin = time.process_time()
            build(KINDS[name], vectors, folder / name)
            built[name] = (time.process_time() - begin, (folder / name).stat().st_size)
            indexes[name] = view(KINDS[name], vectors, folder / name)
    shares = {name: np.zeros(len(CUTOFFS)) for name in kinds}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in kinds}
    random = np.random.default_rng(0)
    for question, best in zip(questions, nearest, strict=True):
        for name in random.permutation(kinds).tolist():
            kind = KINDS[name]
            encoded = kind.encode(question)
            begin = time.perf_counter()
            found = indexes[name].search(encoded, kind.asked, threads=1).keys.astype(np.int64).ravel()
            searched = time.perf_counter()
            dots(vectors, question, found)
            times[name].append((searched - begin, time.perf_counter() - begin))
            shares[name] += [np.isin(best[:cutoff], found).mean() for cutoff in CUTOFFS]
    for name in kinds:
        seconds, size = built[name]
        alone, ordered = np.median(times[name], axis=0) * 1e3
        table.add_row(
            name,
            *(f"{share / len(questions):.4f}" for share in shares[name]),
            f"{alone:.2f}",
            f"{ordered:.2f}",
            f"{size / 1e6:.0f}",
            f"{seconds:.0f}",
        )
    Console(width=140).print(table)


def new_index(kind: Kind, dimension: int) -> Index:
    """Create an empty index."""
    return Index(
        ndim=dimension,
        metric=kind.metric,
        dtype=kind.dtype,
        multi=False,
        expansion_add=EXPANSION_ADD,
        expansion_search=kind.sight,
    )


def build(kind: Kind, vectors: Vectors, path: Path) -> None:
    """Build an index and write it to disk, as a store does."""
    index = new_index(kind, vectors.shape[1])
    for begin in range(0, len(vectors), 2_000):
        some = vectors[begin : begin + 2_000]
        index.add(np.arange(begin, begin + len(some), dtype=np.uint64), kind.encode(some), threads=1)
    index.save(str(path))


def view(kind: Kind, vectors: Vectors, path: Path) -> Index:
    """Return the index, mapped into memory."""
    index = new_index(kind, vectors.shape[1])
    index.view(str(path))
    return index


if __name__ == "__main__":
    main()
