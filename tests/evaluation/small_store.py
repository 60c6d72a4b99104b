"""A folder with a store of a few records and a file of questions about them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from trivium import Engine

MOONS = {
    "Phobos": "Phobos is the larger moon of Mars. Asaph Hall found it in 1877.",
    "Titan": "Titan is the largest moon of Saturn. Christiaan Huygens found it in 1655.",
    "Triton": "Triton is a moon of Neptune. William Lassell found it in 1846.",
}
QUESTIONS = {
    "Who found Phobos?": ("Asaph Hall", "Phobos"),
    "When was Titan found?": ("1655", "Titan"),
    "Who found Triton?": ("William Lassell", "Triton"),
}


def fill_folder(folder: Path, records: Mapping[str, str], questions: Mapping[str, tuple[str, str]]) -> None:
    """Make ``store`` of texts by title, and ``questions.jsonl`` of questions with their answer and page."""
    lines = [json.dumps({"title": title, "text": text}) + "\n" for title, text in records.items()]
    (folder / "records.jsonl").write_text("".join(lines))
    with Engine.create(folder / "store", "minilm") as engine:
        engine.build([folder / "records.jsonl"], workers=1)
    rows = [{"question": q, "answers": [a], "page": p} for q, (a, p) in questions.items()]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
