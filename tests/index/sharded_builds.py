"""Sources of every kind for builds by shards, and a build that is killed."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from trivium.engine import Engine
from trivium.index.indexer import BuildOptions
from trivium.index.report import IngestReport
from trivium.index.sharding.build import ShardPlan
from trivium.sample import documents_folder, pages_folder
from trivium.testing.toys import HashEmbedder

PAGES = 24


def write_sources(folder: Path, pages: int = PAGES) -> Path:
    """Pages with redirects and links, two copies of one, files that link to one another, files of one title, documents
    without links, rows, records, and one that cannot be read."""
    for page in sorted(pages_folder().iterdir())[:pages]:
        shutil.copy2(page, folder / page.name)
    shutil.copy2(folder / "Earth.html", folder / "Zzz_copy_of_Earth.html")
    shutil.copytree(documents_folder(), folder / "documents")
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "notes.md").write_text(
            f"# Notes\n\nOf {name}: see [the plan](plan.md#aims) and the Moon. It has craters.\n"
        )
        (folder / name / "plan.md").write_text(
            f"# Plan {name}\n\n## Aims\n\nRead the [notes](notes.md). Rest.\n"
        )
    (folder / "plain.txt").write_text(
        "The Moon circles the Earth. Galileo Galilei drew it. He had a telescope.\n"
    )
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    rows = [
        {
            "document_html": f"<h1>Row {n}</h1><p>It mentions <a href='/wiki/Earth'>Earth</a>. And {n} more.</p>",
            "document_title": f"Row {n}",
            "document_url": f"https://en.wikipedia.org/wiki/Row_{n}",
            "question_text": "what is it",
        }
        for n in range(12)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    records = [
        {"title": f"Record {n}", "text": f"Record {n} is of the Moon. It is short."} for n in range(30)
    ]
    (folder / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


def build(
    store: Path, sources: Path, plan: ShardPlan | None = None, options: BuildOptions | None = None
) -> IngestReport:
    """Build a store, by shards or plainly."""
    with Engine.create(store, HashEmbedder()) as engine:
        return engine.build([sources], **{**(options or {}), "shards": plan})


if __name__ == "__main__":  # a build that says when a shard is done, and is killed then
    made, given, shards = map(Path, sys.argv[1:])
    build(
        made,
        given,
        ShardPlan(shards, documents=5),
        {"progress": lambda stage, done, _: print(stage, done, flush=True), "workers": 1},
    )
