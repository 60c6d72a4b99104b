"""Records golden tables, and compares stores with them.

    python -m tests.golden                                       record those of the repository again
    python -m tests.golden --store S --questions Q --out F       record those of a store
    python -m tests.golden --store S --questions Q --compare F   name what is different now

A questions file has a question in the field ``question`` of each line, and a condition in ``where`` if there is one.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.golden.stores import FOLDER, TABLES, Asked
from tests.golden.tables import differences, read, recorded, write
from trivium.engine import Engine

_NAMED = 40


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--store", help="Folder or address of a store; without it those of the repository are recorded."
    )
    parser.add_argument("--questions", type=Path)
    parser.add_argument(
        "--limit", type=int, default=200, help="Questions asked at most, spread over the file."
    )
    parser.add_argument("--no-answers", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--compare", type=Path)
    given = parser.parse_args()
    if given.store is None:
        for name, (asked, stores) in TABLES.items():
            with tempfile.TemporaryDirectory() as folder, stores[0](Path(folder) / "store") as engine:
                write(FOLDER / f"{name}.jsonl.gz", recorded(engine, asked))
        return
    if given.questions is None or (given.out is None) == (given.compare is None):
        parser.error("expected --questions with --out or --compare")
    with Engine.open(given.store) as engine:
        found = list(recorded(engine, _asked(given.questions, given.limit), answers=not given.no_answers))
    if given.out is not None:
        write(given.out, found)
        return
    told = list(differences(read(given.compare), found))
    print("\n".join(told[:_NAMED]))
    print(f"{len(told):,} differences in {len(found):,} questions")
    sys.exit(bool(told))


def _asked(file: Path, limit: int) -> Asked:
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    step = max(1, len(lines) // limit)
    return [(line["question"], line.get("where")) for line in lines[::step][:limit]]


if __name__ == "__main__":
    main()
