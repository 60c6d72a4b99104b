"""The stores whose tables are recorded, and what they are asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.contract.graphs import graph
from trivium.engine import Engine
from trivium.graph.page_graph import PageGraph
from trivium.sample import documents_folder, pages_folder, question_files
from trivium.testing.toys import HashEmbedder

Asked = list[tuple[str, str | None]]
FOLDER = Path(__file__).parent
CONDITIONS = (
    "title = 'M*' or section = 'History*'",
    "kind != table and not title like '*moon*'",
    "format = html",
)
EVERY, CONDITIONAL = 2, 8
"""Of the sample's questions every second is asked, of those every eighth under the conditions, too."""
PAGES = 240


def sample(folder: Path) -> Engine:
    """The sample, loaded at once."""
    engine = Engine.create(folder, HashEmbedder())
    engine.build([pages_folder(), documents_folder()])
    return engine


def sample_after_changes(folder: Path) -> Engine:
    """The same after pages came in pieces, were replaced, removed and came back, and others came and went."""
    engine = Engine.create(folder, HashEmbedder())
    pages = sorted(pages_folder().glob("*.html"))
    engine.build(pages[::2])
    engine.search("moons")  # the indexes are there, and take in what follows as changes
    engine.add_records([{"title": f"Guest {n}", "text": f"The moon of guest {n} is Mars."} for n in range(9)])
    engine.build([documents_folder()])
    engine.store.write(
        [graph("Mars", [("Mars is a god of war.", ["Venus"])]), graph("Moon", [("A satellite.", [])])]
    )
    engine.indexer.embed()
    engine.search("god of war")
    engine.build([pages_folder()])
    engine.remove(["Venus", "Mars", "Guest 3"])
    engine.build([pages_folder(), documents_folder()])
    engine.remove([f"Guest {n}" for n in range(9) if n != 3])
    return engine


def made(folder: Path) -> Engine:
    """Pages that cite each other, with sections, relations and aliases, by no parser."""
    engine = Engine.create(folder, HashEmbedder())
    engine.store.write([_page(number) for number in range(PAGES)])
    engine.indexer.embed()
    return engine


def _page(number: int) -> PageGraph:
    others = (*(f"P{(number * step + 1) % PAGES}" for step in (2, 3, 5)), "Earth")
    return graph(
        f"P{number}",
        lead=[(f"Page {number} is about {_word(number)} rivers. It is one of many.", others)],
        sections={
            "Course": [(f"The river {number} flows past {_word(number + 3)}. It is long.", others[:2])],
            "Course#Mouth": [(f"It ends near {_word(number + 5)} in the sea.", ())],
            "History": [(f"It was found in {1500 + number} by {_word(number // 7)}.", others[2:])],
        },
        aliases=(f"River {number}",),
        relations=[("near", f"P{(number + 1) % PAGES}")],
        source=f"f{number}.html",
    )


def _word(number: int) -> str:
    words = (
        "amber",
        "birch",
        "cedar",
        "delta",
        "ember",
        "fjord",
        "grove",
        "heath",
        "inlet",
        "jetty",
        "knoll",
    )
    return words[number % len(words)]


def sample_questions() -> Asked:
    """Questions of the sample."""
    lines = [line for file in question_files() for line in file.read_text(encoding="utf-8").splitlines()]
    questions = [str(json.loads(line)["question"]) for line in lines][::EVERY]
    return [(question, None) for question in questions] + [
        (question, where) for question in questions[::CONDITIONAL] for where in CONDITIONS
    ]


def made_questions() -> Asked:
    """Questions of the made pages."""
    return list(_of_made())


def _of_made() -> Iterator[tuple[str, str | None]]:
    for number in range(0, PAGES, 16):
        yield f"Where does the river {number} flow?", None
        yield f"What is near P{number} and {_word(number)}?", "section = History or title = 'P1*'"
        yield f"history of {_word(number)} in {1500 + number}", None


TABLES: dict[str, tuple[Asked, tuple[Callable[[Path], Engine], ...]]] = {
    "sample": (sample_questions(), (sample, sample_after_changes)),
    "made": (made_questions(), (made,)),
}
"""By name of the recording: what is asked, and the stores that have to answer so."""
