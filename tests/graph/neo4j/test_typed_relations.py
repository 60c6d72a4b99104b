"""Typed relationships beside the relations that pages state: as asked for, and kept by every later write."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.graphs import graph
from tests.graph.neo4j.stores import OLDER_SLOW, credentials
from tests.neo4j_servers import Server
from tests.neo4j_wipe import wipe
from trivium.errors import ConfigurationError
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.neo4j.address import parse_address
from trivium.graph.neo4j.typed_relations import relationship_type
from trivium.graph.page_graph import PageGraph, RelationEdge

TYPED = """
MATCH (a:TriviumEntity)-[r]->(b:TriviumEntity) WHERE r.semantic_rel IS NOT NULL
RETURN a.uri + ' ' + type(r) + ' ' + b.uri + ' ' + r.semantic_rel AS said ORDER BY said
"""


@pytest.fixture(params=OLDER_SLOW)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    found: Server = request.getfixturevalue(request.param)
    wipe(found)
    with credentials(found):
        yield found
    wipe(found)


def _said(store: Neo4jStore) -> list[str]:
    return [said for (said,) in store._connection.read(TYPED)]


def _moon(*relations: tuple[str, str], aliases: tuple[str, ...] = ()) -> PageGraph:
    return graph("Phobos", [("a moon", [])], relations=list(relations), aliases=list(aliases))


def test_relations_have_typed_ones_that_come_and_go_with_them(server: Server) -> None:
    """Of every page that states them, also through a title that comes to mean something else; the choice is kept by the
    store, and undone on request."""
    with Neo4jStore.create(f"{server.bolt}?relations=upper") as store:
        store.write([_moon(("discovered by", "Asaph Hall"), ("orbits", "Red Planet"))])
        store.refresh()
        assert _said(store) == [
            "Phobos DISCOVERED_BY Asaph Hall discovered by",
            "Phobos ORBITS Red Planet orbits",
        ]
        assert store.checker().check() == []
    with Neo4jStore.open(server.bolt) as store:
        store.write([graph("Mars", [("red", [])], aliases=["Red Planet"], relations=[("orbits", "Sun")])])
        store.add_relations({"Mars": [RelationEdge("Mars", "has", "Phobos")]})
        assert _said(store) == [
            "Mars ORBITS Sun orbits",
            "Phobos DISCOVERED_BY Asaph Hall discovered by",
            "Phobos ORBITS Mars orbits",
        ]
        store.refresh()
        assert "Mars HAS Phobos has" in _said(store)
        store.write([_moon(("discovered by", "Asaph Hall"))])
        assert _said(store) == [
            "Mars HAS Phobos has",
            "Mars ORBITS Sun orbits",
            "Phobos DISCOVERED_BY Asaph Hall discovered by",
        ]
        store.delete(["Mars"])
        assert _said(store) == ["Phobos DISCOVERED_BY Asaph Hall discovered by"]
        assert store.checker().check() == []
        assert store.info().nodes["Entity"] == 2
    with Neo4jStore.open(f"{server.bolt}?relations=lower") as store:
        store.refresh()
        assert _said(store) == ["Phobos discovered_by Asaph Hall discovered by"]
    with Neo4jStore.open(f"{server.bolt}?relations=none") as store:
        store.refresh()
        assert _said(store) == []
        assert store.info().relationships["semantic_rel"] == 2


def test_a_typed_relationship_that_is_lost_is_found_and_made_again(server: Server) -> None:
    """By a check with repair; what others relate under the same name is theirs."""
    with Neo4jStore.create(f"{server.bolt}?relations=upper") as store:
        store.write([_moon(("orbits", "Mars"))])
        store.refresh()

        async def hurt(transaction):  # type: ignore[no-untyped-def]
            await transaction.run("MATCH ()-[r:ORBITS]->() DELETE r")
            await transaction.run(
                "MATCH (a:Page), (b:Entity {uri: 'Mars'}) CREATE (a)-[:ORBITS {mine: 1}]->(b)"
            )

        store._connection.write(hurt)
        (finding,) = store.checker().check()
        assert finding.kind == "relations" and finding.where == ("orbits",)
        store.checker().repair([finding])
        assert store.checker().check() == [] and _said(store) == ["Phobos ORBITS Mars orbits"]
        store.delete(["Phobos"])
        assert store._connection.read("MATCH (:Entity)-[r]->(:Entity) RETURN r.mine") == [[1]]


@given(relation=st.text(min_size=1, max_size=150), style=st.sampled_from(("lower", "upper")))
def test_any_relation_has_a_plain_name(relation: str, style: str) -> None:
    """Letters, digits and underscores, a letter first; not a type of the graph's own."""
    name = relationship_type(relation, style)
    assert name[0].isalpha() and name.replace("_", "a").isalnum() and len(name) <= 100
    assert name not in ("cites", "semantic_rel", "alias_of")


@pytest.mark.parametrize("style", ["Upper", ""])
def test_another_style_is_refused(style: str) -> None:
    """It says which there are."""
    with pytest.raises(ConfigurationError, match="expected relations to be lower, upper or none, got '"):
        parse_address(f"bolt://localhost?relations={style}")
