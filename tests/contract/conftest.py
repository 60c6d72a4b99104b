"""One suite for every GraphStore: a new one joins with one line in STORES.

A server of Neo4j has one database, which is emptied for each test; tests that need two stores at once are marked
``two_stores`` and run on the other stores only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from tests.fakes.memory_store import MemoryStore
from tests.neo4j_servers import Server, log_in
from tests.neo4j_wipe import wipe
from trivium.graph.embedded import EmbeddedStore
from trivium.graph.factory import open_store
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.protocols import GraphStore
from trivium.graph.shards import create_shards

SHARDS = "three shards"
MakeStore = Callable[[], GraphStore]


def _create_shards(path: Path, count: int) -> GraphStore:
    """Make a store of empty shards."""
    create_shards(path, new=count)
    return open_store(path)


STORES: dict[str, Callable[[Path], GraphStore]] = {
    "memory": lambda _: MemoryStore(),
    "embedded": EmbeddedStore.create,
    "one shard": partial(_create_shards, count=1),
    SHARDS: partial(_create_shards, count=3),
}
ALIASES = (
    "links by the alias of a page elsewhere are resolved when they are written, if the alias is known by then"
)
WAITING = "texts wait shard by shard, and one that two shards have is counted in both"
QUESTIONS = "a question about pages of two shards is in both"
COMMITS = "each shard commits by itself"
OF_SHARDS = {
    "test_links_lead_to_sections_in_the_order_they_stand_in_each_once": ALIASES,
    "test_the_entities_that_join_a_sentence_to_a_passage": ALIASES,
    "test_the_digest_of_a_page_is_that_of_what_was_written": ALIASES,
    "test_a_page_that_is_given_up_is_replaced_by_the_next_load_of_it": ALIASES,
    "test_pages_come_back_as_they_were_written": ALIASES,
    "test_a_copy_answers_like_the_original": ALIASES,
    "test_added_relations_are_counted_once_and_found_from_both_ends": ALIASES,
    "test_the_ends_of_added_relations_follow_redirects": ALIASES,
    "test_of_several_uris_of_one_entity_the_last_holds": ALIASES,
    "test_a_type_is_part_of_the_text_that_is_embedded": WAITING,
    "test_a_title_that_becomes_an_alias_is_no_entity_and_has_no_type": ALIASES,
    "test_a_question_stays_while_a_chunk_of_some_page_answers_it": QUESTIONS,
    "test_any_order_of_writes_ends_as_in_the_store_that_is_obviously_right": QUESTIONS,
    "test_passages_are_pending_until_their_sentences_were_put": WAITING,
    "test_counts_by_hand": ALIASES,
    "test_redirects_resolve_whether_the_page_came_before_or_after": ALIASES,
    "test_a_title_beats_an_alias_and_the_lowest_page_holds_a_shared_one": ALIASES,
    "test_relations_are_resolved_distinct_and_without_mirrors": ALIASES,
    "test_pending_texts_are_distinct_and_in_a_fixed_order": WAITING,
    "test_vectors_may_be_written_while_the_missing_texts_are_read": WAITING,
    "test_only_missing_texts_are_pending": WAITING,
    "test_a_vector_lives_as_long_as_a_node_has_its_text": WAITING,
    "test_vectors_of_texts_no_node_has_are_not_kept": WAITING,
    "test_a_page_that_contradicts_itself_changes_nothing": COMMITS,
}
"""In what several shards differ from one store, by test. One shard differs in nothing."""
SERVERS = {"neo4j-5.26": "neo4j_5", "neo4j-2026.08": "neo4j_2026"}
"""Stores in a server's database, by the fixture of the server."""
OLDER = "neo4j-5.26"
DIFFERS = ("filters", "index_parameters", "words")
"""Files of tests about what the two versions do in different ways: of the older version only these are not slow. What it
writes and finds is asked in tests/graph/neo4j, too."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test once for every store it can run on."""
    if "make_store" in metafunc.fixturenames:
        two = metafunc.definition.get_closest_marker("two_stores") is not None
        slow = () if _differs(metafunc.module.__name__) else (pytest.mark.slow,)
        older = pytest.param(OLDER, marks=slow)
        stores = [
            name for name in STORES if name != SHARDS or metafunc.definition.originalname not in OF_SHARDS
        ]
        servers = [older if name == OLDER else name for name in SERVERS]
        metafunc.parametrize("make_store", stores if two else [*stores, *servers], indirect=True)


def _differs(module: str) -> bool:
    return module.rpartition(".test_store_")[2] in DIFFERS


@pytest.fixture
def make_store(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[MakeStore]:
    """Makes empty stores of one kind; they are closed when the test ends."""
    make, numbers = STORES.get(request.param), count()
    root = tmp_path_factory.mktemp("stores")
    monkeypatch.setenv("TRIVIUM_HOME", str(root / "home"))
    with ExitStack() as stack:
        if make is None:
            server: Server = request.getfixturevalue(SERVERS[request.param])
            log_in(monkeypatch, server)
            wipe(server)
            yield lambda: stack.enter_context(Neo4jStore.create(server.bolt))
        else:
            yield lambda: stack.enter_context(make(root / str(next(numbers))))


@pytest.fixture
def store(make_store: MakeStore) -> GraphStore:
    """One empty store."""
    return make_store()
