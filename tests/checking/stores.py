"""Small stores of two pages of the sample, which have everything a page can have."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

from trivium.embedding.embedder import Vectors
from trivium.engine import Engine
from trivium.testing.toys import HashEmbedder

SOURCES = [
    Path(str(files("trivium.sample") / "pages" / name)) for name in ("Asaph_Hall.html", "Venera_7.html")
]


class Embedder(HashEmbedder):
    """Remembers what it embedded: the tests embed the same texts again and again."""

    _known: ClassVar[dict[str, Vectors]] = {}

    def __init__(self) -> None:
        super().__init__(8)

    def embed_query(self, text: str) -> Vectors:
        if text not in self._known:
            self._known[text] = super().embed_query(text)
        return self._known[text]


def make_store(folder: Path) -> None:
    """A store with pages, sections, links, relations, aliases, types and sentences, and its indexes."""
    with Engine.create(folder, embedder=Embedder()) as engine:
        engine.build(SOURCES, workers=1)
        engine.store.set_types({"Deimos (moon)": "moon"})
        engine.store.add_aliases({engine.pages()[0]: ["Hall (astronomer)"]})
        engine.indexer.embed()
        engine.store.refresh()


def open_store(folder: Path) -> Engine:
    """The store with its embedder."""
    return Engine.open(folder, embedder=Embedder())


def execute(folder: Path, *statements: str, **functions: Callable[..., Any]) -> int:
    """Change the database behind the store's back; how many rows the last statement changed."""
    with closing(sqlite3.connect(folder / "graph.db", isolation_level=None)) as database:
        for name, function in functions.items():
            database.create_function(name, -1, function)
        return [database.execute(statement).rowcount for statement in statements][-1]
