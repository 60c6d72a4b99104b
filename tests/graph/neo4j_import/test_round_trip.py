"""The real importer: the database it makes of bulk files is the one the Neo4j store writes itself."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from tests.contract.graphs import IDENTITY, codes, graph, unit
from tests.fakes.memory_store import MemoryStore
from tests.neo4j_servers import V2026, Server, log_in, own_server, run_tool
from tests.neo4j_wipe import wipe
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.neo4j.address import Address
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j_import import export
from trivium.graph.page_graph import PageGraph, QuestionNode, RelationEdge
from trivium.graph.protocols import GraphStore
from trivium.graph.schema import page_uri
from trivium.text.normalise import normalise_title

pytestmark = pytest.mark.slow

# As one list each, which the driver reads many times as fast as rows.
NODES = "MATCH (n) RETURN collect([elementId(n), labels(n), properties(n)])"
EDGES = "MATCH (a)-[r]->(b) RETURN collect([elementId(a), type(r), properties(r), elementId(b)])"

NASTY = (
    *(
        '"',
        '""',
        '"""',
        "\\",
        '\\"',
        "\\\\",
        "'",
        "`",
        ",",
        ";",
        "\t",
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "\x00",
        "\x1b",
        "\x7f",
    ),
    *(
        "\x85",
        "\u2028",
        "\u2029",
        "\ufeff",
        "\u200b",
        "\u202e",
        "\ufffd",
        "\uffff",
        "\U0001f600",
        "e\u0301",
        "ﬁ",
        " ",
        "  ",
    ),
    *(
        "null",
        "NULL",
        "NaN",
        "true",
        "0",
        "-1",
        "1e9",
        ":ID",
        ":LABEL",
        ":START_ID",
        "a:b",
        "U+001F",
        "#",
        "%23",
        "#chunk-1",
    ),
    *(
        "'; MATCH (n) DETACH DELETE n //",
        "}) DETACH DELETE n //",
        "`) MATCH (n) DELETE n //",
        "$uri",
        "{uri: 1}",
        "//",
        "/*",
    ),
    *(
        "*",
        "?",
        "~",
        "AND",
        "OR NOT",
        "[a TO z]",
        "(",
        ")",
        "/x/",
        "<script>",
        "../../etc/passwd",
        "%s",
        "{0}",
        "\\u0000",
        "\\n",
    ),
)
"""What CSV, Cypher, Lucene, shells and people trip over."""


def _strings(count: int) -> list[str]:
    """Each of the nasty ones, and mixtures of them: the same ones every time."""
    draw = random.Random(4)
    mixed = ["".join(draw.choices((*NASTY, "moon", "a"), k=draw.randint(2, 6))) for _ in range(count)]
    return [*NASTY, *mixed]


def _pages() -> list[PageGraph]:
    """Every case of the data model, then pages made of nasty strings wherever a string can stand."""
    pages = [
        graph(
            "Mars",
            [("The red planet.", ["Phobos", "Moon", "Luna", "Mars"]), ("It has moons.", ["Moon"])],
            {"Moons": [("Two.", []), ("", ["Deimos"])], "Moons#Phobos": [("Near.", ["Phobos"])], "Empty": []},
            aliases=["Red Planet", "Luna"],
            relations=[("satellite", "Phobos"), ("satellite", "Moon"), ("neighbour", "Terra")],
            revision=7,
        ),
        graph(
            "Luna",
            [("Grey.", ["Red Planet"])],
            aliases=["Moon", "Terra (x)"],
            relations=[("orbits", "Terra (x)")],
        ),
        graph(
            "Earth",
            [("Blue.", ["Moon"])],
            aliases=["Terra", "Moon", "Earth"],
            relations=[("satellite", "Moon")],
        ),
        graph("Nothing"),
        replace(graph("Long", source=""), text='"long"\n' * 800_000),
    ]
    titles = dict.fromkeys(page_uri(normalise_title(f"{one}!")) for one in _strings(120))
    for number, (title, one) in enumerate(zip(titles, _strings(120), strict=False)):
        relation = one.replace("\x1f", "") or "none"
        other = [*titles][-number - 1]
        cites = [other, page_uri(normalise_title(f"x{one}")), "Moon"]
        pages.append(
            graph(
                title,
                [(one, cites), (f"{one}\n{one}", [])],
                {page_uri(normalise_title(one) or "heading"): [(f" {one} ", [title])]},
                aliases=[page_uri(normalise_title(f"alias {one}"))],
                relations=[(relation, other), (relation, "Mars")],
                source=one,
            )
        )
    return pages


def _fill(store: GraphStore, pages: Sequence[PageGraph]) -> None:
    """The pages, questions that chunks of several pages answer, types and vectors of every second text, and of the
    sentences of every second passage."""
    store.write(pages)
    both = QuestionNode(
        "nq-1", 'what is "red"?\n', ("a\tb", '"', "c"), ("Mars#chunk-1", "Mars#Moons#chunk-2")
    )
    nothing = QuestionNode("nq-2", "", (), ("Luna#chunk-1",))
    store.put_questions({"Mars": [both], "Luna": [nothing, replace(both, chunks=("Luna#chunk-1",))]})
    store.set_types({"Phobos": "moon", "Moon": "place", "Mars": 'red "planet"\n', "Deimos": ""})
    store.set_embedder(IDENTITY)
    _embed(store, 2)


def _change(store: GraphStore) -> None:
    """What comes after a first load: a page replaced, one gone, one new, an alias, a relation, a type, vectors."""
    store.write(
        [graph("Mars", [("Rusty.", ["Moon", "Deimos"])], revision=8), graph("Phobos", [("Lump.", ["Mars"])])]
    )
    store.delete(["Luna", "Nothing"])
    store.add_aliases({"Earth": ["Blue Planet", "Deimos"]})
    store.add_relations({"Phobos": [RelationEdge("Phobos", "orbits", "Mars")]})
    store.set_types({"Earth": "planet"})
    _embed(store, 3)


def _embed(store: GraphStore, step: int) -> None:
    texts = list(store.pending_texts())[::step]
    store.put_vectors(texts, np.stack([unit(text) for text in texts]))
    passages = list(store.pending_sentences())[::step]
    store.put_sentences(passages, [codes(passage.text) for passage in passages])
    store.refresh()  # gives relations the vectors of their types


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All there is in a database. Nodes by labels and key; relationships with the keys of their ends, counted."""

    nodes: dict[tuple[str, ...], dict[str, Any]]
    edges: Counter[tuple[Any, ...]]


def _snapshot(server: Server) -> Snapshot:
    """Everything, read by Cypher."""
    connection = Connection(Address(server.bolt, None, server.user, server.password), timeout=60)
    try:
        keys: dict[str, tuple[str, ...]] = {}
        nodes: dict[tuple[str, ...], dict[str, Any]] = {}
        ((found,),) = connection.read(NODES)
        for number, labels, properties in found:
            name = next(str(properties[each]) for each in ("uri", "term", "type", "id") if each in properties)
            key = keys[number] = (name, *sorted(labels))
            assert key not in nodes
            nodes[key] = _told(properties)
        ((found,),) = connection.read(EDGES)
        edges = Counter(
            (keys[start], kind, tuple(sorted(_told(properties).items())), keys[end])
            for start, kind, properties, end in found
        )
    finally:
        connection.close()
    own_node = nodes[("1", "TriviumStore")]
    for counts_writes_and_tells_databases_apart in ("generation", "uuid", "changes"):
        own_node.pop(counts_writes_and_tells_databases_apart, None)
    return Snapshot(nodes, edges)


def _told(properties: dict[str, Any]) -> dict[str, Any]:
    """Properties to compare to the last bit. The importer cannot make an empty list; to every reader of the store none
    is the same. Aliases, and the pages that state a relation, are sets. When a page was first loaded is a time, which the
    import has from the store that was exported."""
    told = {name: tuple(value) if isinstance(value, list) else value for name, value in properties.items()}
    for name in ("aliases", "pages"):
        if name in told:
            told[name] = tuple(sorted(told[name]))
    if "added" in told:
        told["added"] = "a time"
    return {name: value for name, value in told.items() if value != ()}


@dataclass(frozen=True, slots=True)
class Loads:
    """A database after its first load and after changes, once imported and once written."""

    imported: Snapshot
    imported_then_changed: Snapshot
    written: Snapshot
    written_then_changed: Snapshot
    counts: dict[str, Any]
    wanted: MemoryStore
    pages: list[PageGraph]
    info: Any


@pytest.fixture(scope="module", params=[V2026])  # the other version imports in tests/e2e/test_neo4j_server.py
def loads(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loads]:
    """Both ways of loading, on one server after the other."""
    root = tmp_path_factory.mktemp("bulk")
    wanted = MemoryStore()
    _fill(wanted, _pages())
    export(wanted, root / "files")
    home = root / "home"
    done = run_tool(
        "import", root / "files", "--home", home, "--version", request.param, "--heap", "1g", "--json"
    )
    with own_server(home, request.param) as server, pytest.MonkeyPatch.context() as patched:
        assert done.returncode == 0, done.stderr[-4000:]
        log_in(patched, server)
        patched.setenv("TRIVIUM_HOME", str(root / "trivium"))
        with Neo4jStore.open(server.bolt) as store:
            pages, info = list(store.page_graphs()), store.info()
            imported = _snapshot(server)
            _change(store)
            imported_then_changed = _snapshot(server)
        wipe(server)
        with Neo4jStore.create(server.bolt) as store:
            _fill(store, list(wanted.page_graphs()))
            written = _snapshot(server)
            _change(store)
            written_then_changed = _snapshot(server)
        yield Loads(
            imported,
            imported_then_changed,
            written,
            written_then_changed,
            counts=json.loads(done.stdout),
            wanted=wanted,
            pages=pages,
            info=info,
        )


def test_the_imported_database_is_the_written_one(loads: Loads) -> None:
    """Node by node, property by property, relationship by relationship, whatever characters are in them."""
    assert loads.imported.nodes.keys() == loads.written.nodes.keys()
    for key, properties in loads.imported.nodes.items():
        assert properties == loads.written.nodes[key], key
    assert loads.imported.edges == loads.written.edges


def test_sentences_are_known_to_be_none_after_either_load(loads: Loads) -> None:
    """The importer takes the empty string for what it is: chunks without the property are still to be embedded."""
    chunks = [
        row for key, row in loads.imported.nodes.items() if key[1:] == ("ChunkData", "TriviumChunkData")
    ]
    assert {type(row.get("sentences")) for row in chunks} == {str, type(None)}
    assert {bool(row["sentences"]) for row in chunks if "sentences" in row} == {True, False}


def test_the_importer_counts_what_the_database_holds(loads: Loads) -> None:
    """Nothing was skipped on the way."""
    assert loads.counts["nodes"] == len(loads.imported.nodes)
    assert loads.counts["relationships"] == sum(loads.imported.edges.values())


def test_an_imported_database_opens_as_the_store_it_came_from(loads: Loads) -> None:
    """Its pages can be written to another store, and its counts are those of the exported one."""
    assert loads.pages == list(loads.wanted.page_graphs())
    wanted = loads.wanted.info()
    assert loads.info.nodes == wanted.nodes
    assert loads.info.relationships == wanted.relationships
    assert (loads.info.aliases, loads.info.embedder) == (wanted.aliases, wanted.embedder)
    assert (loads.info.embedded, loads.info.to_embed) == (wanted.embedded, wanted.to_embed)


def test_an_imported_database_takes_changes_like_a_written_one(loads: Loads) -> None:
    """Replacing, removing and enriching pages after either load ends in the same graph."""
    assert loads.imported_then_changed != loads.imported
    assert loads.imported_then_changed.nodes == loads.written_then_changed.nodes
    assert loads.imported_then_changed.edges == loads.written_then_changed.edges
