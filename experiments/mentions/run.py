"""Measures the effect of links between plain documents: HotpotQA passages as text files, one per title, with and
without mentions.

    python experiments/mentions/run.py CORPUS.jsonl QUESTIONS.jsonl WORKING_FOLDER
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import trivium
from experiments import command

MEASURES = ("hit@1", "hit@5", "recall@5", "all@5")


def write_texts(corpus: Path, folder: Path) -> None:
    """Write one file per title."""
    folder.mkdir(parents=True, exist_ok=True)
    texts: dict[str, list[str]] = {}
    for line in corpus.read_text("utf-8").splitlines():
        record = json.loads(line)
        texts.setdefault(record["title"], []).append(record["text"])
    for title, parts in texts.items():
        (folder / f"{title.replace('/', ' ')}.txt").write_text("\n\n".join(parts), "utf-8")


def drop_links(store: Path) -> None:
    """Copy a store without its links."""
    with trivium.Engine.open(store) as engine:
        pages = [
            replace(
                page,
                chunks=tuple(replace(chunk, cites=()) for chunk in page.chunks),
                content_hash=f"{page.uri}.x",
            )
            for page in engine.store.page_graphs()
        ]
        engine.store.write(pages)
        engine.indexer.embed()
        engine.indexer.embed_sentences()
        engine.store.refresh()


def main() -> None:
    """Build what is not there yet, and print the measures of both stores."""
    parser = command.Parser(__doc__, takes="minutes, most of them to build the stores")
    parser.add_argument("corpus", type=command.existing)
    parser.add_argument("questions", type=command.existing)
    parser.add_argument("folder", type=Path, help="for texts and stores")
    given = parser.parse_args()
    folder = given.folder
    write_texts(given.corpus, folder / "texts")
    if not (folder / "mentions").exists():
        with trivium.Engine.create(folder / "mentions") as engine:
            print(engine.build([folder / "texts"], workers=1).added, "documents")
            print(engine.info().relationships["cites"], "links")
        shutil.copytree(folder / "mentions", folder / "without")
        drop_links(folder / "without")
    for name in ("without", "mentions"):
        with trivium.Engine.open(folder / name) as engine:
            report = engine.evaluate(given.questions, ["vector", "walk"], ["default"])
            for system, row in report.to_json()["rows"].items():
                print(name, system, {measure: round(row[measure], 3) for measure in MEASURES})


if __name__ == "__main__":
    command.run(main)
