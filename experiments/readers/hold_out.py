"""Holds out half of the pages, so that a fusion can be trained without their questions.

    python experiments/readers/hold_out.py --hits hits --questions squad_questions.jsonl --out held-out

The command writes ``held-out/questions.jsonl`` (the questions of the held-out pages) and ``held-out/hits/*.npz`` (the
hit lists of all other pages, of every set), which ``trivium train`` reads. The bundled network was trained on these
questions, so that readers given its passages would be evaluated too favourably.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from experiments import command
from trivium.datasets.cross_validation import folds
from trivium.datasets.questions import read_questions
from trivium.fusion.hit_lists import load_hits, save_hits

FOLDS, SEED = 2, 0


def main() -> None:
    parser = command.Parser(__doc__, takes="seconds")
    parser.add_argument(
        "--hits", type=command.existing, required=True, help="folder of hit lists, including squad.npz"
    )
    parser.add_argument(
        "--questions",
        type=command.existing,
        required=True,
        help="the question file that squad.npz was made from",
    )
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    squad = load_hits(arguments.hits / "squad.npz").hits
    fold = folds([one.pages for one in squad], FOLDS, SEED)
    kept_back = {one.question_id for one, number in zip(squad, fold, strict=True) if number == 0}
    pages = {page for one in squad if one.question_id in kept_back for page in one.pages}

    (arguments.out / "hits").mkdir(parents=True, exist_ok=True)
    for file in sorted(arguments.hits.glob("*.npz")):
        hits = load_hits(file)
        lists = tuple(one for one in hits.hits if pages.isdisjoint(one.pages))
        save_hits(arguments.out / "hits" / file.name, replace(hits, hits=lists))
        print(f"{file.stem}: {len(lists)} of {len(hits.hits)} questions left to train on")
    # Ids may be line numbers, so they are written out before lines are removed.
    ids = [question.id for question in read_questions(arguments.questions)]
    rows = [json.loads(line) for line in arguments.questions.read_text("utf-8").splitlines() if line.strip()]
    with (arguments.out / "questions.jsonl").open("w", encoding="utf-8") as lines:
        for identifier, row in zip(ids, rows, strict=True):
            if identifier in kept_back:
                lines.write(json.dumps({**row, "id": identifier}, ensure_ascii=False) + "\n")
    print(f"{len(kept_back)} questions on {len(pages)} pages kept back: {', '.join(sorted(pages))}")


if __name__ == "__main__":
    command.run(main)
