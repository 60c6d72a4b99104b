"""What joins a sentence to a passage is the same in every store."""

from __future__ import annotations

from tests.contract.graphs import graph
from trivium.answering.explain_citations import with_attribution
from trivium.answering.passages import passages
from trivium.graph.protocols import GraphStore
from trivium.types import Attribution, Hit, Statement


def test_the_entities_that_join_a_sentence_to_a_passage(store: GraphStore) -> None:
    """Links by title, by alias of a page that comes later, to what is no page; and the page itself, by an alias."""
    store.write(
        [
            graph("Mars", [("one", ["Fear", "Asaph Hall", "Sun"]), ("two", [])], aliases=["Red Planet"]),
            graph("Phobos", [("three", ["Mars"])], aliases=["Fear"]),
        ]
    )
    found = [
        Hit(
            record.uri,
            record.text,
            1.0,
            rank,
            record.page,
            record.section,
            record.kind,
            record.start,
            record.end,
        )
        for rank, record in enumerate(
            store.fetch(["Mars#chunk-1", "Mars#chunk-2", "Phobos#chunk-1"]), start=1
        )
    ]
    text = "Phobos of the red planet was seen by Asaph Hall [1][2][3]."
    statement = Statement(0, len(text), (1, 2, 3), 1.0, True)
    (joined,) = with_attribution(text, [statement], passages(found), store, written=True)
    through = [(way.number, way.entity) for way in joined.attribution if way.how == "graph"]
    assert through == [
        (1, "Phobos"),
        (1, "Mars"),
        (1, "Asaph Hall"),
        (2, "Mars"),
        (3, "Phobos"),
        (3, "Mars"),
    ]
    assert joined.attribution[:3] == tuple(Attribution(number, "prompted") for number in (1, 2, 3))
