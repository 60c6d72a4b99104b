"""Measures whether the threads of a BLAS slow a search down: the default search with no environment variable set,
compared with one BLAS thread.

    python benchmarks/blas_threads.py STORE QUESTIONS.jsonl [--questions 100] [--rounds 5]

Each measurement runs in its own process, which opens the store, warms up with a few searches and prints the median
milliseconds per search in wall-clock and processor time. Both configurations alternate, so that other load on the
machine affects both alike; a ratio is the median of the ratios of the rounds. Threads that spin while waiting for each
other show in the processor time even on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

from experiments import command

VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
WARMING = 10


Times = tuple[float, float]
"""Milliseconds of wall-clock time and of processor time."""


def search(store: str, texts: list[str], fusion: str) -> Times:
    """Return the median times of a search for ten hits."""
    from trivium import Engine

    clock, processor = [], []
    with Engine.open(store, remembered_questions=0) as engine:
        for text in [*texts[:WARMING], *texts]:
            begun, used = time.perf_counter(), time.process_time()
            engine.search(text, fusion=fusion)
            clock.append(1000 * (time.perf_counter() - begun))
            processor.append(1000 * (time.process_time() - used))
    return statistics.median(clock[WARMING:]), statistics.median(processor[WARMING:])


def measure(arguments: argparse.Namespace, threads: str | None) -> Times:
    """Run the measurement in a new process with that many BLAS threads (None: the default)."""
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    if threads is not None:
        environment |= dict.fromkeys(VARIABLES, threads)
    command = [sys.executable, __file__, arguments.store, str(arguments.file), "--alone"]
    command += ["--questions", str(arguments.questions), "--fusion", arguments.fusion]
    told = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    clock, processor = told.split()
    return float(clock), float(processor)


def line(name: str, own: float, one: float, ratio: float) -> str:
    return f"{name:16} {own:7.1f} ms as it is, {one:7.1f} ms with one thread, ratio {ratio:.2f}"


def main() -> None:
    parser = command.Parser(__doc__, takes="a minute")
    parser.add_argument("store", type=command.store)
    parser.add_argument("file", type=command.existing, metavar="QUESTIONS.jsonl")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--fusion", default="default")
    parser.add_argument(
        "--alone", action="store_true", help="measure in this process, without changing its environment"
    )
    arguments = parser.parse_args()
    if arguments.alone:
        lines = arguments.file.read_text("utf-8").splitlines()[: arguments.questions]
        texts = [json.loads(row)["question"] for row in lines]
        print(*search(arguments.store, texts, arguments.fusion))
        return
    rounds: list[tuple[Times, Times]] = []
    for number in range(1, arguments.rounds + 1):
        own, one = measure(arguments, None), measure(arguments, "1")
        rounds.append((own, one))
        print(line(f"round {number}", own[0], one[0], own[0] / one[0]), flush=True)
    for place, name in enumerate(("clock", "processor time")):
        pairs = [(own[place], one[place]) for own, one in rounds]
        own, one = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(line(name, own, one, statistics.median(a / b for a, b in pairs)))


if __name__ == "__main__":
    command.run(main)
