"""Measures speed as ratios within one run, and compares them with the committed ratios.

    python benchmarks/ratios.py --store demo-store --questions trivium/sample/questions_single_hop.jsonl
    python benchmarks/ratios.py --store demo-store --questions ... --save

Searches are measured relative to embedding a question on the same processor in the same run, changes relative to a
search, and commands relative to the processor time of a process that imports NumPy. Such ratios carry over to other
machines and to busy ones far better than milliseconds. Indexes are made anew on a copy, a server with two processes is
asked by many clients, and memory is that of a process of its own, without mapped files (Linux). Prints each next to the
committed ratio (``ratios.json``, by number of chunks) and exits with status 1 if one exceeds it by more than half; less
is noise. It says so if no ratios are committed for a store of this size. ``--save`` commits the ratios of this run. What
is counted rather than timed is in the tests (``tests/index/test_counted_work.py``, ``tests/test_startup.py``).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from changes import measure
from rich.console import Console
from rich.table import Table
from search_latency import BATCH, WARM_UP, interleaved
from server_load import load, server

import trivium
from experiments import command
from trivium.datasets.questions import read_questions
from trivium.retrievers.registry import RETRIEVERS

COMMITTED = Path(__file__).with_name("ratios.json")
TOLERANCE = 1.5
"""Factor over the committed ratio that is still considered noise."""
SAMPLE, ROUNDS, OPENINGS, STARTS, CLIENTS, ANSWERS = 150, 8, 5, 5, 20, 600


def main() -> None:
    """Run the benchmark, print and compare the results."""
    parser = command.Parser(__doc__, takes="a minute or two")
    parser.add_argument("--store", type=command.existing, required=True)
    parser.add_argument("--questions", type=command.existing, required=True)
    parser.add_argument(
        "--save", action="store_true", help="Replace the committed ratios with those of this run."
    )
    given = parser.parse_args()
    questions = read_questions(given.questions)
    step = max(1, len(questions) // SAMPLE)
    texts = list(dict.fromkeys(question.text for question in questions[::step]))[:SAMPLE]
    chunks, ratios = ratios_of(given.store, texts)
    committed = json.loads(COMMITTED.read_text()) if COMMITTED.exists() else {}
    alike = of_size(chunks, committed)
    worse = show(chunks, ratios, committed.get(alike, {}))
    if given.save:
        committed.pop(alike, None)
        committed[str(chunks)] = {name: round(ratio, 3) for name, ratio in ratios.items()}
        COMMITTED.write_text(
            json.dumps(dict(sorted(committed.items(), key=lambda one: int(one[0]))), indent=1) + "\n"
        )
    elif alike not in committed:
        print(
            f"nothing is compared: {COMMITTED.name} has no ratios of {chunks:,} chunks, save some with --save"
        )
    elif worse:
        sys.exit(
            f"error: more than {TOLERANCE:g} times what was committed: {', '.join(worse)}. Run it again on a quiet"
            " machine; where it stays, something has become slower"
        )


def of_size(chunks: int, committed: Collection[str]) -> str:
    """Return the number of chunks in ``committed`` that is nearest, if it differs by a percent at most: a parser that
    takes one table differently should not end the comparison. Otherwise the number itself.
    """
    nearest = min(committed, key=lambda known: abs(int(known) - chunks), default=str(chunks))
    return nearest if abs(int(nearest) - chunks) <= chunks / 100 else str(chunks)


def ratios_of(store: Path, texts: Sequence[str]) -> tuple[int, dict[str, float]]:
    """Return the number of chunks, and the ratios by name."""
    with trivium.Engine.open(store, remembered_questions=0) as engine:
        chunks = engine.info().nodes["Chunk"]
        embedding, searching = (times[:, 0] for times in interleaved(engine, texts))
        base, search = float(np.median(embedding)), float(np.median(searching))
        ratios = {
            "search / embedding": search / base,
            "p95 / median of a search": float(np.quantile(searching, 0.95)) / search,
            "search, convex / embedding": _median(engine, texts, fusion="convex") / base,
            **{
                f"{name} / embedding": _median(engine, texts, retrievers=[name]) / base for name in RETRIEVERS
            },
            "in a batch / one by one": _in_batches(engine, texts) / search,
        }
    opening = []
    for _ in range(OPENINGS):
        begun = time.perf_counter()
        with trivium.Engine.open(store) as engine:
            engine.search(texts[0], retrievers=["lexical"])
        opening.append(time.perf_counter() - begun)
    ratios["opening / search"] = median(opening) / search
    ratios |= _starts(store, texts[0])
    ratios["memory of its own after searches, MB"] = _memory(store, texts)
    with TemporaryDirectory(prefix="trivium-") as folder:
        copy = Path(folder, "store")
        shutil.copytree(store, copy)
        ratios |= {f"{name} / embedding": seconds / base for name, seconds in _served(copy, texts).items()}
        times = measure(copy, Path(folder), ROUNDS)
        ratios["making the indexes, a chunk / embedding"] = _making_indexes(copy) / chunks / base
    ratios |= {
        f"{name} until found / search": median(own) / search
        for name, own in times.items()
        if name != "search"
    }
    return chunks, ratios


def _starts(store: Path, text: str) -> dict[str, float]:
    """Return the processor times of commands, run in turns. The minimum of each counts, since other load only adds to
    it.
    """
    search = ["search", text, "--store", str(store), "--retriever", "lexical"]
    lines = {
        "NumPy": ["-c", "import numpy"],
        "trivium --version": ["-m", "trivium", "--version"],
        "trivium stats": ["-m", "trivium", "stats", "--store", str(store)],
        "trivium search": ["-m", "trivium", *search],
    }
    base, *times = (min(taken) for taken in zip(*_turns(list(lines.values())), strict=True))
    return {f"{name} / importing NumPy": own / base for name, own in zip(list(lines)[1:], times, strict=True)}


def _memory(store: Path, texts: Sequence[str]) -> float:
    """Return the private memory of a process that has searched for all texts, in MB."""
    program = (
        "import json, sys, trivium\n"
        "from build_memory import private\n"
        "with trivium.Engine.open(sys.argv[1]) as engine:\n"
        "    engine.search_many(json.load(sys.stdin))\n"
        "    print(private('self'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(store.resolve())],
        input=json.dumps(texts),
        cwd=COMMITTED.parent,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return int(done.stdout) / 1e6


def _served(store: Path, texts: Sequence[str]) -> dict[str, float]:
    """Return the seconds from one answer of a busy server to the next, and the processor time of an answer."""
    given = argparse.Namespace(ask=False, changing=False, clients=CLIENTS, requests=ANSWERS)
    # Each is embedded and searched for: no question comes twice.
    bodies = [
        json.dumps({"question": f"{text} ({number})", "k": 10}).encode()
        for number in range(1 + ANSWERS // len(texts))
        for text in texts
    ]
    with server(store, ["--processes", "2", "--cache", "0"]) as (process, host, port):
        outcome, seconds = asyncio.run(load(process, host, port, given, bodies))
    answers = outcome.statuses["200"]
    if answers != len(outcome.seconds):
        sys.exit(f"error: the server refused or failed: {dict(outcome.statuses)}")
    spent = outcome.server_seconds + outcome.children_seconds
    return {"server, time an answer": seconds / answers, "server, processor an answer": spent / answers}


def _making_indexes(store: Path) -> float:
    """Return the processor seconds to make the indexes of a store anew."""
    shutil.rmtree(store / "index")
    with trivium.Engine.open(store) as engine:
        begun = time.process_time()
        engine.store.refresh()
        return time.process_time() - begun


def _turns(lines: Sequence[Sequence[str]]) -> list[list[float]]:
    """Return the processor seconds of new interpreters with these arguments, one row per round. The first round is
    warm-up.
    """

    def taken(arguments: Sequence[str]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return [[taken(line) for line in lines] for _ in range(STARTS + 1)][1:]


def _median(engine: trivium.Engine, texts: Sequence[str], **options: object) -> float:
    seconds = []
    for text in texts:
        begun = time.perf_counter()
        engine.search(text, **options)  # type: ignore[arg-type]
        seconds.append(time.perf_counter() - begun)
    return median(seconds[min(WARM_UP, len(texts) // 2) :])


def _in_batches(engine: trivium.Engine, texts: Sequence[str]) -> float:
    """Return the seconds per question."""
    seconds = []
    for begin in range(0, len(texts), BATCH):
        batch = texts[begin : begin + BATCH]
        begun = time.perf_counter()
        engine.search_many(batch)
        seconds.append((time.perf_counter() - begun) / len(batch))
    return median(seconds)


def show(chunks: int, ratios: dict[str, float], committed: dict[str, float]) -> list[str]:
    """Print the table and return the names of the ratios that exceed the tolerance."""
    grid = Table(title=f"{chunks:,} chunks")
    for column in ("", "now", "committed", ""):
        grid.add_column(column, justify="left" if column == "" else "right")
    worse = []
    for name, ratio in ratios.items():
        before = committed.get(name)
        is_worse = before is not None and ratio > TOLERANCE * before
        if is_worse:
            worse.append(name)
        grid.add_row(
            name, f"{ratio:.2f}", "" if before is None else f"{before:.2f}", "slower" if is_worse else ""
        )
    Console().print(grid)
    return worse


if __name__ == "__main__":
    command.run(main)
