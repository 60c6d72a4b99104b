"""Measures how many questions of a model pass the checks, for each way of writing, and prints the questions.

    python experiments/synthetic/yields.py --store demo-store --model local --out yields --entities 50

An interrupted run continues when the command is repeated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from experiments import command
from trivium.graph.open_store import open_store
from trivium.llm.chat_model import ChatModel
from trivium.llm.registry import open_chat_model
from trivium.synthetic.generate import generate
from trivium.synthetic.plain import PlainSampling, generate_plain
from trivium.synthetic.records import Outcome
from trivium.synthetic.run_folder import Run
from trivium.synthetic.sample_bridges import Sampling

WAYS = ("hops", "plain")


def main(
    arguments: Sequence[str] | None = None, open_model: Callable[[str], ChatModel] = open_chat_model
) -> None:
    """Print a table, then every question that passed."""
    parser = command.Parser(__doc__, takes="as the model takes")
    parser.add_argument("--store", type=command.store, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder for the runs")
    parser.add_argument("--entities", type=int, default=40)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    given = parser.parse_args(arguments)
    model = open_model(given.model)
    print("| way | asked | pass | declined | fail | malformed | tokens read | written | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    with open_store(given.store) as store:
        for way in given.ways:
            run, began = Run(given.out / way), time.perf_counter()
            if way == "plain":
                generate_plain(run, store, model, PlainSampling(chunks=given.entities // 2))
            else:
                generate(run, store, model, Sampling(entities=given.entities))
            seconds = time.perf_counter() - began
            status = run.status()["generate"]
            counts = [status[name] for name in ("asked", "written", "declined", "failed", "malformed")]
            used = status["usage"]
            print(
                "|", way, "|", " | ".join(map(str, counts)),
                f"| {used['prompt_tokens']:,} | {used['completion_tokens']:,} | {seconds:.0f} |",
            )  # fmt: skip
    for way in given.ways:
        print(f"\n{way}")
        for record in Run(given.out / way).written.records():
            if record.outcome is Outcome.WRITTEN:
                print(f"- {record.question} [{record.answer}]")


if __name__ == "__main__":
    command.run(main)
