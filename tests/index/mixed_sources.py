"""Sources of every kind, for builds whose documents come in other ways."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from trivium.sample import documents_folder, pages_folder


def write_sources(folder: Path, pages: int) -> Path:
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
