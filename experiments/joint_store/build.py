"""Builds the joint store of the evaluation data: 400 Wikipedia pages, 19 pages about the Earth, and the QED passages.

    python experiments/joint_store/build.py --data ../shared/data --pages UNPACKED/pages --store joint-store

``--pages`` is the folder into which ``wiki/pages.tar.xz`` was unpacked. The command can be interrupted and repeated.
"""

from __future__ import annotations

import time
from pathlib import Path

import trivium
from experiments import command
from trivium.cli.print_load import print_load
from trivium.cli.terminal import progress


def main() -> None:
    """Build, embed, print the counts."""
    parser = command.Parser(__doc__, takes="20 to 30 minutes")
    parser.add_argument("--data", type=command.existing, required=True)
    parser.add_argument("--pages", type=command.existing, required=True)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--embedder", default="bge-small")
    parser.add_argument(
        "--no-sentences",
        action="store_true",
        help="Embed no sentences, as for the tables from before sentences were added.",
    )
    given = parser.parse_args()
    names = (given.data / "wiki" / "subset_400_files.txt").read_text("utf-8").split("\n")
    sources = [
        *(str(given.pages / name) for name in names if name),
        str(given.data / "nq" / "html"),
        str(given.data / "nq" / "qed_corpus.jsonl"),
    ]
    begun = time.monotonic()
    with trivium.Engine.create(given.store, given.embedder) as engine, progress() as bars:
        report = engine.build(sources, sentences=not given.no_sentences, progress=bars)
        print_load(engine, str(given.store), report, time.monotonic() - begun, suggest=False)


if __name__ == "__main__":
    command.run(main)
