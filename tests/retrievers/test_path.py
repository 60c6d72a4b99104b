"""path offers sections and relations, and turns what was chosen into chunks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.fakes.memory_store import MemoryStore
from tests.fakes.openai_server import OpenAIServer, chat, error
from tests.retrievers.world import QUESTION, SOLAR, Block, ask, page, store_of, unit
from trivium.endpoints.endpoint import Endpoint
from trivium.errors import ConfigurationError
from trivium.graph.records import Neighbour
from trivium.graph.schema import mirror_type
from trivium.llm.openai import OpenAIChatModel
from trivium.retrievers.llm_path_selectors import LlmSelector
from trivium.retrievers.path import Option, OptionKind, PathRetriever, PathSettings, path_chunks
from trivium.retrievers.relation_subgraph import SubGraph, grow
from trivium.types import GraphPath


class Choose:
    """A selector that takes the options with the given identifiers, and keeps what it was offered."""

    def __init__(self, *identifiers: str) -> None:
        self.identifiers = identifiers
        self.offered: list[Option] = []
        self.calls = 0

    def select(self, question: str, options: Sequence[Option]) -> list[Option]:
        self.calls += 1
        self.offered = list(options)
        by_name = {option.identifier: option for option in options}
        return [by_name[name] for name in self.identifiers]


def grown(store: MemoryStore, seed: str, size: int = 5, fan_out: int = 200) -> SubGraph:
    (graph,) = grow(store, QUESTION, [Neighbour(seed, 0.5)], size, fan_out)
    return graph


def members(graph: SubGraph) -> list[str]:
    return [node.uri for node in graph.nodes]


# -- growing ----------------------------------------------------------------------------------------------


def test_the_comparison_vector_is_the_mean_of_neighbour_and_relations() -> None:
    """Neighbour (0.6, 0.8, 0), relation (0.6, 0, 0.8): mean (0.6, 0.4, 0.4), cosine 0.6 / sqrt(0.68)."""
    store = store_of([page("A", relations=[("r", "B")])], {"B": unit(0.6, 1), "r": unit(0.6, 2)})
    graph = grown(store, "A")
    assert members(graph) == ["A", "B"]
    assert graph.nodes[1].score == pytest.approx(0.6 / np.sqrt(0.68), abs=1e-6)
    assert graph.score == pytest.approx((0.5 + 0.6 / np.sqrt(0.68)) / 2, abs=1e-6)


def test_all_relations_from_the_seed_count_not_the_nodes_between() -> None:
    """A -r-> B -s-> C -t-> D with C and D the question itself and r, s, t at right angles to it and to each
    other: C with r and s has cosine 1 / sqrt(3), D with r, s and t has 1 / sqrt(4)."""
    store = store_of(
        [
            page("A", relations=[("r", "B")]),
            page("B", relations=[("s", "C")]),
            page("C", relations=[("t", "D")]),
        ],
        {"B": unit(0.9, 1), "C": 1.0, "D": 1.0, "r": unit(0, 1), "s": unit(0, 2), "t": unit(0, 3)},
    )
    graph = grown(store, "A")
    assert members(graph) == ["A", "B", "C", "D"]
    assert graph.nodes[2].score == pytest.approx(1 / np.sqrt(3), abs=1e-6)
    assert graph.nodes[3].score == pytest.approx(1 / 2, abs=1e-6)


def test_the_best_neighbour_of_the_whole_tree_is_added_next() -> None:
    """From A to B and X; B's neighbour C beats X; the size ends it before X."""
    store = store_of(
        [page("A", relations=[("r", "B"), ("r", "X")]), page("B", relations=[("r", "C")])],
        {"B": 0.9, "C": 0.8, "X": 0.1, "r": 0.5},
    )
    graph = grown(store, "A", size=3)
    assert [(n.uri, n.parent) for n in graph.nodes] == [("A", None), ("B", 0), ("C", 1)]
    assert members(grown(store, "A", size=1)) == ["A"]


def test_relations_are_walked_backwards_under_their_mirrored_name() -> None:
    store = store_of([page("A", relations=[("founder", "B")])], {"A": 0.5})
    assert [n.relation for n in grown(store, "B").nodes] == [None, mirror_type("founder")]


def test_a_node_is_added_once_and_a_loop_never() -> None:
    store = store_of(
        [page("A", relations=[("r", "B"), ("s", "B")]), page("B", relations=[("r", "A")])],
        {"B": 0.9, "s": 0.9},
    )
    graph = grown(store, "A")
    assert members(graph) == ["A", "B"]
    assert graph.nodes[1].relation == "s"  # the better of the relations between the two


def test_of_a_hub_only_the_first_neighbours_are_considered() -> None:
    store = store_of([page("A", relations=[("r", f"N{i}") for i in range(9)])], {"N8": 0.9, "N1": 0.5})
    assert members(grown(store, "A", size=2)) == ["A", "N8"]
    assert members(grown(store, "A", size=2, fan_out=5)) == ["A", "N1"]


def test_growth_asks_three_times_a_step_for_all_seeds_together(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [page(f"{x}{i}", relations=[("r", f"{x}{i + 1}")]) for x in "ABC" for i in range(4)]
    store = store_of(pages, {})
    calls: list[str] = []
    for name in ("relations", "vectors", "relation_vectors"):
        original = getattr(store, name)
        monkeypatch.setattr(
            store, name, lambda *a, name=name, original=original: calls.append(name) or original(*a)
        )
    graphs = grow(store, QUESTION, [Neighbour(f"{x}0", 0.5) for x in "ABC"], 5, 200)
    assert [len(graph.nodes) for graph in graphs] == [5, 5, 5]
    assert calls.count("relations") == calls.count("vectors") == 4
    assert calls.count("relation_vectors") <= 4


# -- chunks of a path -------------------------------------------------------------------------------------


def citing(title: str, *blocks: Sequence[str]) -> tuple[str, list[Block]]:
    return title, [(f"text {i}", list(targets)) for i, targets in enumerate(blocks)]


def path_world(*pages: tuple[str, list[Block]]) -> MemoryStore:
    return store_of([page(title, lead=lead) for title, lead in pages], {})


def test_chunks_citing_every_node_come_first() -> None:
    store = path_world(citing("P", ["A", "B", "C"], ["A", "B"]), citing("A", ["B", "C"]))
    assert path_chunks(store, ["A", "B", "C"]) == ["P#chunk-1"]


def test_else_chunks_of_a_nodes_page_that_cite_the_others() -> None:
    store = path_world(citing("P", ["A", "B"]), citing("A", ["B", "C"], ["C"]))
    assert path_chunks(store, ["A", "B", "C"]) == ["A#chunk-1"]


def test_else_chunks_citing_two_of_more_than_two() -> None:
    store = path_world(citing("P", ["A", "B"], ["C"]))
    assert path_chunks(store, ["A", "B", "C"]) == ["P#chunk-1"]


def test_else_chunks_citing_any() -> None:
    store = path_world(citing("P", ["A"], ["B"], []))
    assert path_chunks(store, ["A", "B"]) == ["P#chunk-1", "P#chunk-2"]
    assert path_chunks(store, ["Nowhere", "Else"]) == []


# -- the retriever ----------------------------------------------------------------------------------------


def test_sections_of_the_best_pages_are_offered_in_document_order() -> None:
    selector = Choose()
    store = store_of(SOLAR, {"Mars": 0.9, "Earth": 0.8, "Mars#Moons": 0.7})
    PathRetriever(PathSettings(pages=2, entities=1, nodes=1), selector).retrieve(ask(store))
    offered = [(option.identifier, round(option.cosine, 5)) for option in selector.offered]
    assert offered == [
        ("Mars", 0.9),
        ("Mars#Moons", 0.7),
        ("Mars#Missions", 0.0),
        ("Earth", 0.8),
        ("Earth#Life", 0.0),
    ]
    assert selector.offered[1].text == "Mars > Moons"


def test_paths_of_the_best_sub_graph_are_offered_written_out() -> None:
    """Grown from Phobos (0.6) and from Earth (0.9, no relations): only the first has paths."""
    selector = Choose()
    store = store_of(SOLAR, {"Earth": 0.9, "Phobos": 0.6, "Asaph Hall": 0.5})
    PathRetriever(PathSettings(entities=2, nodes=3), selector).retrieve(ask(store))
    paths = [option for option in selector.offered if option.kind is OptionKind.PATH]
    assert [option.identifier for option in paths] == [
        "Phobos -[discoverer]-> Asaph Hall",
        "Phobos -[is_moon_of]-> Mars",
    ]
    assert paths[0].nodes == ("Phobos", "Asaph Hall")


def test_a_chosen_section_gives_its_direct_chunks_by_own_cosine() -> None:
    store = store_of(SOLAR, {"Mars": 0.9, "Mars#Moons#chunk-2": 0.8, "Mars#Moons#chunk-1": 0.3})
    found = PathRetriever(selector=Choose("Mars#Moons")).retrieve(ask(store))
    assert [(c.uri, c.score, c.source_node) for c in found] == [
        ("Mars#Moons#chunk-2", 1.0, "Mars#Moons"),
        ("Mars#Moons#chunk-1", 1.0, "Mars#Moons"),
    ]


def test_a_chosen_page_gives_its_lead() -> None:
    store = store_of(SOLAR, {"Mars": 0.9})
    found = PathRetriever(selector=Choose("Mars")).retrieve(ask(store))
    assert [c.uri for c in found] == ["Mars#chunk-1"]


def test_a_chosen_path_gives_chunks_that_speak_of_it() -> None:
    """No chunk cites both Phobos and Hall; the one on Phobos's page cites Hall."""
    store = store_of(SOLAR, {"Phobos": 0.9, "Asaph Hall": 0.5})
    path = "Phobos -[discoverer]-> Asaph Hall"
    found = PathRetriever(PathSettings(entities=1), Choose(path)).retrieve(ask(store))
    assert [(c.uri, c.source_node) for c in found] == [
        ("Phobos#chunk-1", GraphPath(("Phobos", "Asaph Hall"), ("discoverer",)))
    ]
    assert str(found[0].source_node) == path


def test_a_language_model_behind_an_endpoint_chooses_among_what_was_offered() -> None:
    """The server is sent the sections of Mars; of what it answers only offered numbers count; on refusal
    the question has no path candidates and the search goes on."""
    store = store_of(SOLAR, {"Mars": 0.9})
    settings = PathSettings(pages=1, entities=1, nodes=1)
    with OpenAIServer() as server:
        retriever = PathRetriever(settings, LlmSelector(OpenAIChatModel("tiny", Endpoint(server.base_url))))
        server.script += [chat("2, 99"), error(400, "no such model")]
        found = retriever.retrieve(ask(store, "Who found the moons?"))
        assert [(c.uri, c.source_node) for c in found] == [
            ("Mars#Moons#chunk-1", "Mars#Moons"),
            ("Mars#Moons#chunk-2", "Mars#Moons"),
        ]
        sent = server.requests[0].body["messages"][-1]["content"]
        assert "Who found the moons?" in sent
        assert "1. Mars\n2. Mars > Moons\n3. Mars > Missions" in sent
        assert retriever.retrieve(ask(store, "Who found the moons?")) == []


def test_several_choices_are_united_and_cut_to_the_depth() -> None:
    store = store_of(SOLAR, {"Mars": 0.9, "Mars#Missions#chunk-1": 0.7})
    retriever = PathRetriever(selector=Choose("Mars#Moons", "Mars#Missions"))
    found = retriever.retrieve(ask(store))
    assert [c.source_node for c in found] == ["Mars#Missions", "Mars#Moons", "Mars#Moons"]
    assert retriever.retrieve(ask(store), 1) == found[:1]


def test_scores_are_one_for_what_was_found_and_zero_for_the_rest_asking_once() -> None:
    store = store_of(SOLAR, {"Mars": 0.9})
    query, selector = ask(store), Choose("Mars#Missions")
    retriever = PathRetriever(selector=selector)
    assert retriever.score(query, ["Mars#Missions#chunk-1", "Earth#chunk-1"]).tolist() == [1.0, 0.0]
    retriever.retrieve(query)
    assert selector.calls == 1


def test_choosing_nothing_finds_nothing() -> None:
    query = ask(store_of(SOLAR, {"Mars": 0.9}))
    retriever = PathRetriever(selector=Choose())
    assert retriever.retrieve(query) == []
    assert retriever.score(query, ["Mars#chunk-1"]).tolist() == [0.0]


def test_an_empty_store_offers_nothing() -> None:
    assert PathRetriever().retrieve(ask(MemoryStore())) == []


@pytest.mark.parametrize("name", ["pages", "entities", "nodes", "fan_out"])
def test_counts_below_one_are_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"path.{name}"):
        PathSettings(**{name: 0})
