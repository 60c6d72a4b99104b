"""The published figures of a table, from ``published.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from experiments.papers.set_table import Figures

FILE = Path(__file__).parent / "published.toml"


@dataclass(frozen=True, slots=True)
class Published:
    """The ``columns`` of a table, what its paper reports (``figures``, by method), what published rows are called
    (``paper``), and what is said of them in a title (``note``).
    """

    columns: tuple[str, ...]
    figures: Figures
    paper: str
    note: str


def published(name: str) -> Published:
    """Return what is published in a table such as ``study-7.2``. Raises KeyError for an unknown one."""
    found = tomllib.loads(FILE.read_text("utf-8"))[name.replace(".", "_")]
    columns = found["columns"]
    figures = {
        (method, given): dict(zip(columns, values, strict=False)) for method, given, *values in found["rows"]
    }
    return Published(tuple(columns), figures, found["paper"], found["note"])
