"""Documents and stores to torture, and everything that a store answers, so that two can be compared."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from trivium.engine import Engine
from trivium.errors import TriviumError
from trivium.settings.settings import Settings
from trivium.testing import HashEmbedder
from trivium.types import EmbedderIdentity

WORDS = ("basalt", "crater", "moon", "orbit", "dust", "ice", "ring", "storm", "lava", "comet", "tide", "core")
PEOPLE = (
    "Ada Byron",
    "Mary Somerville",
    "Mr Somerville",
    "William Herschel",
    "Caroline Herschel",
    "Herschel",
)
"""Who is named in texts, some in forms that a document's other names decide."""
QUESTIONS = ("Which moon has a crater of ice?", "storm and dust", "Object 0007 ring orbit")
PAGES = 220
"""Three transactions of a load, and enough for a pool of parsers."""

EMBEDDER = "torture"
"""One that needs no model, by the name that :mod:`torture.preloading` declares."""

State = dict[str, Any]


def open_embedder(name: str, _: Settings) -> HashEmbedder:
    """Return the embedder of the entry point :data:`EMBEDDER`."""
    embedder = HashEmbedder(16)
    embedder.identity = EmbedderIdentity(name, "1", 16)
    return embedder


def title(number: int) -> str:
    """Return the title of a page."""
    return f"Object {number:04}"


def write_records(path: Path, numbers: Iterable[int], edition: int = 1) -> Path:
    """Write records that mention each other, one a line; another edition has other texts."""
    lines = [
        json.dumps(
            {"title": title(number), "text": f"{_said(number, edition)}. See {title(number * 7 % PAGES)}."}
        )
        for number in numbers
    ]
    path.write_text("\n".join(lines), "utf-8")
    return path


def write_pages(folder: Path, numbers: Iterable[int], edition: int = 1) -> Path:
    """Write HTML files that link to each other, one a page; another edition has other texts."""
    folder.mkdir()
    for number in numbers:
        link = f'<a href="/wiki/{title(number * 7 % PAGES).replace(" ", "_")}">see</a>'
        text = f"<p>{_said(number, edition)} {link}.</p><h2>Surface</h2><p>{_said(number + 1, edition)}.</p>"
        name = title(number)
        (folder / f"{name}.html").write_text(f"<title>{name}</title><h1>{name}</h1>{text}", "utf-8")
    return folder


def _said(number: int, edition: int) -> str:
    drawn = random.Random(f"{number} {edition}")
    words = " ".join(drawn.choices(WORDS, k=12)).capitalize()
    return f"{words} seen by {' and '.join(drawn.sample(PEOPLE, 2))} from Paris"


def create(folder: Path) -> Engine:
    """Create a store with an embedder that needs no model, or open the existing one."""
    return Engine.create(folder, EMBEDDER)


def build(folder: Path, sources: Sequence[Path], workers: int = 1, *, embed: bool = True) -> None:
    """Load documents into a new or existing store."""
    with create(folder) as engine:
        report = engine.build(sources, workers=workers, embed=embed, entities="rules")
        assert not report.problems, report.problems[:3]


def state(folder: Path) -> State:
    """What is in a store: of every page what it contributes to the graph, what is still to embed, what is found."""
    with Engine.open(folder) as engine:
        return state_of(engine)


def state_of(engine: Engine) -> State:
    """Return what :func:`state` returns, of an open store."""
    info = engine.info()
    return {
        "pages": {page.uri: _digest(page) for page in engine.store.page_graphs()},
        "nodes": {str(label): count for label, count in info.nodes.items()},
        "relationships": dict(info.relationships),
        "types": engine.store.types(),
        "to_embed": info.to_embed,
        "waiting": engine.store.unlinked_pages(),
        "sentences": len(engine.store.pending_sentences()),
        "found": [_found(engine, question) for question in QUESTIONS],
    }


def _found(engine: Engine, question: str) -> list[list[str]] | str:
    try:
        return [[hit.uri, f"{hit.score:.5g}"] for hit in engine.search(question, 8)]
    except TriviumError as error:
        return type(error).__name__  # its words name the folder


def _digest(value: object) -> str:
    return hashlib.blake2b(repr(value).encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


def difference(got: State, expected: State) -> str:
    """Describe how two states differ, in a few words; empty if they do not."""
    for key in expected:
        if got[key] != expected[key]:
            if key == "pages":
                a, b = got[key], expected[key]
                changed = sorted(uri for uri in a.keys() & b.keys() if a[uri] != b[uri])
                return (
                    f"pages: {sorted(b.keys() - a.keys())[:3]} missing, {sorted(a.keys() - b.keys())[:3]} too many, "
                    f"{changed[:3]} differ"
                )
            return f"{key}: {str(got[key])[:300]} instead of {str(expected[key])[:300]}"
    return ""
