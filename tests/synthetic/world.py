"""A few pages with one entity that two of them cite, and what models may say of it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.fakes.memory_store import MemoryStore
from tests.retrievers.world import page, store_of
from trivium.synthetic.records import Bridge
from trivium.synthetic.sample_bridges import Sampling, draw
from trivium.types import Page

MOONS = (
    "Mars has two moons. Asaph Hall discovered both of them from Washington in August 1877, after his wife had told him"
    " to go on looking for another night."
)
STICKNEY = (
    "Angelina Stickney taught mathematics at a school in Shalersville before she married the astronomer Asaph Hall, who"
    " had been one of her pupils there."
)
HALL = (
    "Asaph Hall was an American astronomer. He was born in Goshen in 1829, was a carpenter at first, and studied the"
    " satellites of other planets for a living later on."
)
PAGES = [
    page("Mars", sections={"Moons": [(MOONS, ["Asaph Hall", "Moon"]), ("See Asaph Hall.", ["Asaph Hall"])]}),
    page("Angelina Stickney", lead=[(STICKNEY, ["Asaph Hall", "Shalersville"])]),
    page("Asaph Hall", lead=[(HALL, ["Asaph Hall", "Goshen"])], aliases=["A. Hall", "It"]),
]
MOONS_CHUNK, STICKNEY_CHUNK = "Mars#Moons#chunk-1", "Angelina Stickney#chunk-1"
QUESTION = "Where did the woman teach who married the discoverer of the moons of Mars?"
ANSWER = "Shalersville"
GOOD = {"multi_hop": 9, "clear": 8, "unambiguous": 8, "one_answer": 10}


def world(pages: Sequence[Page] = PAGES) -> MemoryStore:
    """The pages in a store."""
    return store_of(pages, {})


def hall() -> Bridge:
    """The one bridge there is."""
    (bridge,) = draw(world(), Sampling(entities=9))
    return bridge


def many(count: int) -> MemoryStore:
    """A store with bridges Thing 0, Thing 1 ..., each cited by two pages of its own."""
    long = " and that is told here in a few more words than a chunk needs to be long enough"
    return world(
        [
            page(f"{place} {n}", lead=[(f"{place} {n} is where Thing {n} {does}{n},{long}.", [f"Thing {n}"])])
            for n in range(count)
            for place, does in (("Mill", "was ground by miller"), ("Forge", "was beaten by smith"))
        ]
    )


def question_of(bridge: Bridge) -> str:
    """A reply with a question about a bridge of :func:`many` that passes the checks."""
    number = bridge.title.split()[-1]
    row = [source.page.startswith("Mill") for source in bridge.sources].index(True)
    return draft(
        f"Who beat what was ground at Mill {number} in the mill{number}?",
        f"smith{number}",
        [1 + row, 2 - row],
    )


def draft(question: str = QUESTION, answer: object = ANSWER, passages: object = (1, 2)) -> str:
    """A reply of a writer."""
    return json.dumps({"question": question, "answer": answer, "passages": passages})
