"""Whatever is in a store is in its bulk files, node by node and relationship by relationship."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.graphs import IDENTITY, codes, embed_pending, graph, pages, unit
from tests.fakes.memory_store import MemoryStore
from tests.graph.neo4j.database import expected
from tests.graph.neo4j_import.files import files_of, read_export
from tests.graph.sqlite.histories import RELATIONS
from trivium.graph.neo4j_import import export
from trivium.graph.page_facts import page_digest
from trivium.graph.sqlite import EmbeddedStore

_titles = st.sampled_from(("A", "B", "C", "a", "b", "A (x)"))


@settings(max_examples=60, deadline=None)
@given(
    drawn=st.lists(pages, min_size=1, max_size=5),
    aliases=st.dictionaries(_titles, st.lists(_titles, max_size=2), max_size=2),
    relations=st.dictionaries(_titles, st.lists(RELATIONS, max_size=2), max_size=2),
    types=st.dictionaries(_titles, st.sampled_from(("x", "y")), max_size=3),
    step=st.integers(1, 3),
)
def test_the_files_of_any_store_hold_its_nodes_and_relationships(
    drawn, aliases, relations, types, step
) -> None:
    """Pages that cite, alias and rename one another as they like, half of the texts embedded: reading the files back
    gives what the obvious store works out from the pages."""
    store = MemoryStore()
    store.write(drawn)
    store.add_aliases(aliases)
    store.add_relations(relations)
    store.set_types(types)
    store.set_embedder(IDENTITY)
    texts = list(store.pending_texts())[::step]
    store.put_vectors(texts, np.stack([unit(text) for text in texts]))
    passages = list(store.pending_sentences())[::step]
    store.put_sentences(passages, [codes(passage.text) for passage in passages])
    with tempfile.TemporaryDirectory() as folder:
        report = export(store, folder)
        nodes, edges = read_export(Path(folder))
    wanted_nodes, wanted_edges = expected(store)
    assert nodes == wanted_nodes
    assert edges == wanted_edges
    assert report.nodes.items() >= store.info().nodes.items()
    assert report.relationships.items() >= store.info().relationships.items()


def test_a_folder_store_gives_the_files_of_the_obvious_store(tmp_path: Path) -> None:
    """The same pages, types and vectors in SQLite and in dictionaries: the same graph in the files."""
    written = [
        graph(
            "Mars",
            [("red", ["Phobos", "Moon"])],
            {"Moons": [("two", ["Moon"])]},
            relations=[("moon", "Phobos")],
        ),
        graph("Luna", [("grey", ["Mars"])], aliases=["Moon", "Mars"], relations=[("orbits", "Earth")]),
    ]
    with EmbeddedStore.create(tmp_path / "store") as embedded:
        read = []
        for number, store in enumerate((embedded, MemoryStore())):
            store.write(written)
            store.set_types({"Phobos": "moon", "Luna": "moon"})
            embed_pending(store)
            export(store, tmp_path / str(number))
            read.append(read_export(tmp_path / str(number)))
    assert read[0] == read[1]
    assert read[0][0][("Phobos", "Entity")]["type"] == "moon"


def test_a_store_without_vectors_is_exported_without(tmp_path: Path) -> None:
    """No embedder, no embeddings, and none are asked for."""

    class Blind(MemoryStore):
        def vectors(self, label, uris):  # type: ignore[no-untyped-def]
            raise AssertionError("there are none")

        def sentence_vectors(self, chunks):  # type: ignore[no-untyped-def]
            raise AssertionError("there are none")

    store = Blind()
    store.write([graph("Mars", [("red", ["Phobos"])])])
    export(store, tmp_path)
    nodes, _ = read_export(tmp_path)
    assert not any({"embedding", "sentences"} & row.keys() for row in nodes.values())
    assert ("Phobos", "Entity") in nodes


def test_lines_are_what_the_manual_of_the_importer_asks_for(tmp_path: Path) -> None:
    """By hand: numbers in the order of the pages, quotes doubled, no value for what is absent, mirrors under a header
    of their own."""
    store = MemoryStore()
    page = graph('The "X"', [("one\ntwo", ["Y", "Z"])], aliases=["Z"], relations=[("is", "Y")], source="")
    store.write([page])
    export(store, tmp_path)
    (record,) = store.pages()
    lines = {path.name: path.read_text("utf-8") for path in tmp_path.glob("*.csv")}
    assert not {"sections.csv", "next.csv", "questions.csv"} & set(lines)
    assert lines["pages.csv"].startswith('1,"The ""X""","the x",,"The ""X""","The ""X""","')
    assert lines["pages.csv"].endswith(
        f',,,"",,"{page.content_hash}","{page_digest(page)}","one\ntwo\n",,,,,"{record.added}","Z","The ""X"""'
        ',"is","Y",\n'
    )
    assert lines["chunks.csv"].startswith('2,"The ""X""#chunk-1","The ""X""","one\ntwo","')
    assert lines["chunks.csv"].endswith(',,"paragraph",0,0,7,2,,,"Y\x1fZ",,,\n')
    assert lines["chunk_data.csv"] == '3,"The ""X""#chunk-1","the x one two",2,,,\n'
    assert lines["has_chunk.csv"] == "1,2\n"
    assert lines["is_chunk_of.csv"] == "2,1\n"
    assert lines["cites.csv"] == "2,4,0\n2,1,1\n"
    assert lines["semantic_rel.csv"] == '1,4,"is",true,"The ""X""",,,,\n4,1,"is_is_of",false,,,,,\n'
    headers = {path.stem: path.read_text("utf-8").strip() for path in (tmp_path / "headers").iterdir()}
    assert headers["cites"] == ":START_ID,:END_ID,position:long"
    assert headers["cited_in"] == ":END_ID,:START_ID,position:IGNORE"
    assert headers["next"] == ":START_ID,:END_ID"
    assert headers["previous"] == ":END_ID,:START_ID"
    assert headers["terms"] == ":ID,term:string,df:long"


@pytest.mark.parametrize("size", [1, 2])
def test_the_files_do_not_depend_on_how_much_is_read_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Byte by byte."""
    store = MemoryStore()
    store.write([graph(f"P{n}", [("t", [f"P{n + 1}", f"E{n}"])], aliases=[f"a{n}"]) for n in range(5)])
    export(store, tmp_path / "one")
    monkeypatch.setattr("trivium.graph.neo4j_import.store_lines.PAGES_A_READ", size)
    monkeypatch.setattr("trivium.graph.neo4j_import.store_lines.ENTITIES_A_READ", size)
    monkeypatch.setattr("trivium.graph.neo4j_import.files.LINES_A_WRITE", size)
    export(store, tmp_path / "many")
    assert files_of(tmp_path / "many") == files_of(tmp_path / "one")
