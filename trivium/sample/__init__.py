"""A small original encyclopaedia of the Solar System with questions, so that everything runs out of the box."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

DEMO_QUESTIONS = (
    "Who discovered the two moons of Mars?",
    "Which moon sprays water into space?",
    "Why is Mars red?",
)

DEMO_ENTITY = "Asaph Hall"

DOCUMENT_QUESTIONS = (
    "How many Perseids were counted from Marlow Hill?",
    "Which eyepiece shows the rings of Saturn?",
)
"""Questions answered by the PDF and by the Markdown file."""


def folder() -> Path:
    """Return the folder of the sample. The package is always installed as files, never as a zip."""
    with as_file(files("trivium.sample")) as path:
        return path


def pages_folder() -> Path:
    """Return the folder of the sample's HTML pages."""
    return folder() / "pages"


def documents_folder() -> Path:
    """Return the folder of the sample's documents in other formats: a PDF and a Markdown file."""
    return folder() / "documents"


def question_files() -> list[Path]:
    """Return the sample's question files: single-hop and two-hop questions with gold passages."""
    return sorted(folder().glob("questions_*.jsonl"))
