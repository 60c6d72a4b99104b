"""The files of several stores that are searched as one are those of one database."""

from __future__ import annotations

import errno
import os
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.graphs import IDENTITY, codes, embed_pending, graph, pages, unit
from tests.fakes.memory_store import MemoryStore
from tests.graph.bulk.files import files_of, read_export
from tests.graph.bulk.shared_out import joined, shared_out
from tests.graph.neo4j.database import expected
from trivium.errors import ConfigurationError, StoreError
from trivium.graph.bulk import export
from trivium.graph.bulk.shard_parts import PAGES, ShardFiles
from trivium.graph.chunker import BLOCKS
from trivium.graph.embedded import EmbeddedStore
from trivium.graph.factory import open_store
from trivium.graph.model import QuestionNode, RelationEdge
from trivium.graph.sharded.store import ShardedStore
from trivium.graph.shards import create_shards
from trivium.index.sharding.export import ExportPart, export_store
from trivium.index.sharding.work import Work
from trivium.limits import DEFAULT_LIMITS
from trivium.types import EmbedderIdentity

_titles = st.sampled_from(("A", "B", "C", "a", "b", "A (x)"))
_relations = st.builds(RelationEdge, _titles, st.sampled_from(("r", "B")), _titles)


@settings(max_examples=30, deadline=None)
@given(
    drawn=st.lists(pages, min_size=1, max_size=5, unique_by=lambda page: page.uri),
    homes=st.lists(st.integers(0, 2), min_size=5, max_size=5),
    aliases=st.dictionaries(_titles, st.lists(_titles, max_size=2), max_size=2),
    relations=st.dictionaries(_titles, st.lists(_relations, max_size=2), max_size=3),
    types=st.dictionaries(_titles, st.sampled_from(("x", "y")), max_size=3),
    step=st.integers(1, 3),
)
def test_the_files_of_any_shards_hold_the_nodes_and_relationships_of_one_store(
    drawn, homes, aliases, relations, types, step
) -> None:
    """Pages that cite, alias and relate one another across three shards, some of which may be empty, and answer one
    question, half of the texts embedded: reading the files back gives what the obvious store works out from all pages."""
    plain = MemoryStore()
    plain.write(drawn)
    question = QuestionNode(
        "q", "which?", ("that",), tuple(page.chunks[0].uri for page in drawn if page.chunks)
    )
    plain.put_questions({page.uri: [question] for page in drawn if page.chunks})
    plain.add_aliases(aliases)
    plain.add_relations(relations)
    plain.set_types(types)
    plain.set_embedder(IDENTITY)
    texts = list(plain.pending_texts())[::step]
    plain.put_vectors(texts, np.stack([unit(text) for text in texts]))
    passages = list(plain.pending_sentences())[::step]
    plain.put_sentences(passages, [codes(passage.text) for passage in passages])
    whole = shared_out(plain, homes, 3)
    with tempfile.TemporaryDirectory() as folder:
        report = export(whole, folder)
        nodes, edges = read_export(Path(folder))
    wanted_nodes, wanted_edges = expected(plain)
    assert nodes == wanted_nodes
    assert edges == wanted_edges
    assert report.nodes.items() >= plain.info().nodes.items()
    assert report.relationships.items() >= plain.info().relationships.items()


def test_what_several_shards_have_is_written_once(tmp_path: Path) -> None:
    """By hand: an entity, a relation, a term and a question of two shards; an alias that leads from one to the other."""
    shards = [MemoryStore(), MemoryStore()]
    asked = QuestionNode("q", "who?", (), ("Mars#chunk-1", "Luna#chunk-1"))
    mars = graph("Mars", [("red moon", ["Moon", "Earth"])], relations=[("near", "Earth")])
    luna = graph("Luna", [("grey moon", ["Earth"])], aliases=["Moon"])
    luna = replace(luna, relations=(RelationEdge("Mars", "near", "Earth"),))
    for store, page in zip(shards, (mars, luna), strict=True):
        store.write([page])
        store.put_questions({page.uri: [asked]})
    report = export(joined(*shards), tmp_path)

    def lines(name: str) -> list[str]:
        path = tmp_path / f"{name}.csv"
        return path.read_text("utf-8").splitlines() if path.exists() else []

    one, other, both = 0, 10**10, 2 * 10**10
    assert lines("shard-1/entities-00000/entities")[0].startswith('4,"Earth"') and report.nodes["Entity"] == 3
    assert not lines("shard-2/entities-00000/entities")
    assert lines("shard-1/cites/cites") == [f"{one + 2},{other + 1},0", f"{one + 2},{one + 4},1"]
    assert lines("shard-2/cites/cites") == [f"{other + 2},{one + 4},0"]
    assert lines("shard-1/semantic_rel/semantic_rel") == lines("shard-2/semantic_rel/semantic_rel") == []
    assert lines("shared/semantic_rel") == ['1,4,"near",true,"Mars\x1fLuna",', '4,1,"is_near_of",false,,']
    assert f'{both + 1},"Moon","moon",,"Luna"' in lines("internal/aliases")
    assert lines("internal/alias_of") == [f"{both + 1},{other + 1}"]
    assert [line.split(",", 1)[1] for line in lines("internal/terms") if '"moon"' in line] == ['"moon",2']
    assert [line.split(",")[0] for line in lines("questions/is_answer_of")] == ["2", str(other + 2)]
    assert len(lines("questions/questions")) == 1


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    """A folder that stands for two, whose four pages cite one another and the same entities, all with vectors."""
    for number in range(2):
        with EmbeddedStore.create(tmp_path / f"store-{number}") as store:
            store.write(
                [
                    graph(
                        f"P{n}",
                        [(f"t{n}", [f"P{n + 1}", f"a{n + 1}", "E"])],
                        aliases=[f"a{n}"],
                        relations=[("r", "E")],
                    )
                    for n in range(number, 4, 2)
                ]
            )
            embed_pending(store)
    create_shards(tmp_path / "shards", [tmp_path / "store-0", tmp_path / "store-1"])
    return tmp_path / "shards"


def test_processes_write_the_same_files_whatever_becomes_of_them(shards: Path, tmp_path: Path) -> None:
    """One that is killed is replaced; after an interrupt none is left, and what was done is not written again."""
    killed: list[int] = []

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    def kill(done: int, total: int) -> None:
        if not killed:
            killed.extend(_filling())
            os.kill(killed[0], signal.SIGKILL)

    with open_store(shards) as store:
        export(store, tmp_path / "here")
        with pytest.raises(KeyboardInterrupt):
            export_store(store, tmp_path / "there", workers=2, progress=interrupt)
        assert _filling() == [] and not (tmp_path / "there/import.json").exists()
        told: list[tuple[int, int]] = []
        report = export_store(
            store,
            tmp_path / "there",
            workers=2,
            progress=lambda done, total: (kill(done, total), told.append((done, total))),
        )
        again = export_store(store, tmp_path / "there", progress=None)
    assert killed and _filling() == []
    assert files_of(tmp_path / "there") == files_of(tmp_path / "here")
    assert told[-1] == (7, 7)
    assert (again.written, again.kept) == (0, report.written + report.kept)


def _filling() -> list[int]:
    return [child.pid for child in active_children() if child.name == "fill parts" and child.pid is not None]


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """One page, or entity, a part."""
    monkeypatch.setattr("trivium.graph.bulk.shard_parts.PAGES_A_PART", 1)
    monkeypatch.setattr("trivium.graph.bulk.shard_parts.ENTITIES_A_PART", 1)


@pytest.mark.usefixtures("small_parts")
def test_a_change_of_a_shard_leaves_the_pages_of_the_others(shards: Path, tmp_path: Path) -> None:
    """Their numbers do not depend on it. The folder ends up as that of a fresh export."""
    with open_store(shards) as store:
        first = export(store, tmp_path / "old")
        assert isinstance(store, ShardedStore)
        store.shards[1].write([graph("P9", [("t9", ["New", "E"])])])
        again = export(store, tmp_path / "old")
        export(store, tmp_path / "new")
    assert files_of(tmp_path / "old") == files_of(tmp_path / "new")
    assert again.written < first.written and again.kept >= 4


def test_a_folder_takes_the_export_of_another_number_of_shards(shards: Path, tmp_path: Path) -> None:
    """Nothing is left of the one before it."""
    with open_store(shards) as store, EmbeddedStore.open(tmp_path / "store-0") as plain:
        export(store, tmp_path / "files")
        export(plain, tmp_path / "files")
        export(plain, tmp_path / "plain")
        assert files_of(tmp_path / "files") == files_of(tmp_path / "plain")
        export(store, tmp_path / "files")
        export(store, tmp_path / "new")
    assert files_of(tmp_path / "files") == files_of(tmp_path / "new")


def test_pictures_and_the_decision_on_fusion_go_along(tmp_path: Path) -> None:
    """Vectors of pictures, and their embedder, as the store in a database keeps them."""
    store = MemoryStore()
    page = graph("Mars", [("red", [])])
    store.write([replace(page, chunks=tuple(replace(chunk, thumbnail=b"RIFF") for chunk in page.chunks))])
    store.set_image_embedder(EmbedderIdentity("eyes", "1", 2))
    store.put_picture_vectors({"Mars#chunk-1": b"RIFF"}, np.array([[0.6, 0.8]], np.float32))
    store.set_fusion_decision("{}")
    export(joined(store, MemoryStore()), tmp_path)
    nodes, _ = read_export(tmp_path)
    assert nodes["Mars#chunk-1", "Chunk"]["picture_vector"] == "mpkZP83MTD8="
    own = nodes["1", "TriviumStore"]
    assert (own["image_embedder"], own["image_embedder_dimension"]) == ("eyes", 2)


def test_a_document_of_two_shards_is_refused(tmp_path: Path) -> None:
    stores = [MemoryStore(), MemoryStore()]
    for store in stores:
        store.write([graph("Mars", [("red", [])])])
    with pytest.raises(StoreError, match="in one shard only, got 'Mars'"):
        export(joined(*stores), tmp_path)


def test_a_process_without_room_says_what_to_do(
    shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that writes the files of all shards does."""

    def full(*_: object) -> Iterator[int]:
        yield 1
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("trivium.index.sharding.export.write_shard", full)
    work = Work(folder=tmp_path, cwd=str(tmp_path), limits=DEFAULT_LIMITS, chunker=BLOCKS)
    part = ExportPart(shards, ShardFiles(0, tmp_path / "files"))
    with pytest.raises(StoreError, match="make room and repeat the command"):
        list(part.fill(work, PAGES))


def test_it_takes_a_process_to_write_files(shards: Path, tmp_path: Path) -> None:
    with open_store(shards) as store, pytest.raises(ConfigurationError, match="at least 1, got 0"):
        export_store(store, tmp_path / "files", workers=0)


def test_one_store_is_not_shared_out(tmp_path: Path) -> None:
    """Nor is anything made."""
    with EmbeddedStore.create(tmp_path / "store") as store:
        store.write([graph("Mars", [("red", [])])])
        with pytest.raises(ConfigurationError, match="no shards that a cluster could share out"):
            export_store(store, tmp_path / "files", ray="local")
    assert not (tmp_path / "files").exists()
