"""Chunkers of a store: chosen with its first build, kept by later ones, and what late chunking adds."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import trivium.index.load as ingest
from trivium import Engine
from trivium.chunking.chunker_spec import DEFAULT
from trivium.embedding.embedder import Vectors
from trivium.embedding.late_chunking import WholeText
from trivium.errors import ChunkerMismatchError, ConfigurationError, EmbedderMismatchError, EmbeddingError
from trivium.graph.page_graph import ChunkNode
from trivium.graph.schema import Label
from trivium.graph.sqlite import EmbeddedStore
from trivium.testing import HashEmbedder
from trivium.types import EmbedderIdentity

FIRST = (
    "Mars is red. It has two moons. They are small and dark. Phobos is the larger one. Deimos is the other. "
    * 4
)


class TokenHash(HashEmbedder):
    """Gives vectors of spans, too: those of the text of the document and of the span."""

    def __init__(self) -> None:
        super().__init__()
        self.identity = EmbedderIdentity("hash", "1", 64)
        self.encoded: list[str] = []

    def embed_spans(
        self, documents: Sequence[WholeText], progress: Callable[[int], None] | None = None
    ) -> list[Vectors]:
        self.encoded += [document.title for document in documents]
        return [
            self.embed([f"{document.text} {document.text[start:end]}" for start, end in document.spans])
            for document in documents
        ]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with a text file and records."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "Mars.txt").write_text(FIRST + "\n\nOlympus Mons is high.")
    records = [
        {"title": "Phobos", "text": "Phobos is near Mars. " * 20},
        {"title": "Deimos", "text": "Far from Mars."},
    ]
    (folder / "records.jsonl").write_text("\n".join(map(json.dumps, records)))
    return folder


def chunks_of(engine: Engine) -> dict[str, list[ChunkNode]]:
    return {graph.uri: list(graph.chunks) for graph in engine.store.page_graphs()}


def test_a_store_keeps_its_chunker(tmp_path: Path, notes: Path) -> None:
    """Later builds use it without being told, and another one is refused before anything is read."""
    with Engine.create(tmp_path / "store", HashEmbedder()) as engine:
        engine.build([notes / "Mars.txt"], chunker="fixed:20/5")
        assert engine.store.chunker == engine.info().chunker == "fixed:20/5"
        (chunks,) = chunks_of(engine).values()
        assert len(chunks) == 7, "109 tokens: windows of 20 that begin 15 later each"
        assert chunks[1].start < chunks[0].end
        with pytest.raises(ChunkerMismatchError, match="fixed:20/5, not by sentence:200"):
            engine.build([tmp_path / "there-is-no-such-file"], chunker="sentence")
    with Engine.open(tmp_path / "store", HashEmbedder()) as engine:
        engine.build([notes])
        engine.build([notes], chunker="fixed:20/5")
        assert len(chunks_of(engine)["Phobos"]) == 7
        hit = engine.search("Olympus Mons", k=1, retrievers=["lexical"])[0]
        assert engine.store.page_text("Mars")[hit.start : hit.end] == hit.text
        assert engine.check(full=True).ok


@pytest.mark.parametrize(
    "spec", ["fixed:20/5", "sentence:20", "recursive:20", "semantic:20", "agentic", DEFAULT]
)
def test_every_chunker_makes_a_store_that_is_whole(tmp_path: Path, notes: Path, spec: str) -> None:
    """Linked, searched, checked, and the same when it is built again: nothing changes."""
    with Engine.create(tmp_path / "store", HashEmbedder()) as engine:
        report = engine.build([notes], chunker=spec)
        assert (report.added, report.problems) == (3, [])
        again = engine.build([notes])
        assert (again.unchanged, again.replaced, again.relinked) == (3, 0, 0)
        assert "Mars" in {title for chunk in chunks_of(engine)["Phobos"] for title in chunk.cites}
        assert engine.search("Which moon is dark?", k=3)
        assert engine.check(full=True).ok


def test_blocks_are_what_was_made_before_there_was_a_choice(tmp_path: Path, notes: Path) -> None:
    """Named or not: the same pages by hash, and nothing more is written."""
    states = []
    for number, chunker in enumerate([None, "blocks"]):
        with Engine.create(tmp_path / str(number), HashEmbedder()) as engine:
            engine.build([notes], chunker=chunker)
            assert isinstance(engine.store, EmbeddedStore)
            with engine.store._database.reading() as connection:
                keys = [key for (key,) in connection.execute("SELECT key FROM meta ORDER BY key")]
            states.append((engine.store.pages(), chunks_of(engine), keys))
    assert states[0] == states[1] and not any("chunker" in key for key in states[0][2])


def test_workers_and_the_process_apart_cut_alike(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process, in two of a pool, and in the one that parses uploads; what asks a model is refused there."""
    (notes / "Sun.txt").write_text(FIRST)
    made = []
    for number, (workers, apart) in enumerate([(1, False), (2, False), (1, True)]):
        monkeypatch.setattr(ingest, "WORTH_A_POOL", 100 if number == 0 else 1)
        with Engine.create(tmp_path / str(number), HashEmbedder()) as engine:
            engine.build([notes], workers=workers, isolated=apart, embed=False, chunker="recursive:20")
            made.append(chunks_of(engine))
    assert made[0] == made[1] == made[2]
    with (
        Engine.create(tmp_path / "semantic", HashEmbedder()) as engine,
        pytest.raises(ConfigurationError, match="asks a model"),
    ):
        engine.build([notes], isolated=True, chunker="semantic")


def test_late_chunks_have_vectors_of_their_page(tmp_path: Path, notes: Path) -> None:
    """The store keeps to it: what is added is late, too, and its vectors are those that a check expects."""
    with Engine.create(tmp_path / "store", TokenHash()) as engine:
        engine.build([notes / "Mars.txt"], late=True)
        assert engine.embedder.identity == engine.store.embedder == EmbedderIdentity("hash", "1+late", 64)
        (chunk,) = [c for c in chunks_of(engine)["Mars"] if "Olympus" in c.text]
        wanted = HashEmbedder().embed_query(f"{engine.store.page_text('Mars')} {chunk.text}")
        assert np.array_equal(engine.store.vectors(Label.CHUNK, [chunk.uri])[0], wanted)
    with Engine.open(tmp_path / "store", TokenHash()) as engine:
        engine.build([notes])
        assert engine.info().to_embed == 0
        assert engine.search("Olympus Mons", k=1, retrievers=["vector"])[0].page == "Mars"
        assert engine.check(full=True).ok


def test_a_changed_page_loses_the_vectors_of_its_old_context(tmp_path: Path, notes: Path) -> None:
    """Its first chunk says the same, but stands in another text; the other pages are not encoded again."""
    embedder = TokenHash()
    with Engine.create(tmp_path / "store", embedder) as engine:
        (notes / "Mars.txt").write_text(
            FIRST + "\n\n" + "Its nights are cold. " * 60
        )  # too long to be joined
        engine.build([notes], late=True)
        first = chunks_of(engine)["Mars"][0]
        before = engine.store.vectors(Label.CHUNK, [first.uri])
        (notes / "Mars.txt").write_text(FIRST + "\n\n" + "Its days are long. " * 60)
        embedder.encoded.clear()
        engine.build([notes])
        assert chunks_of(engine)["Mars"][0].text == first.text
        assert not np.array_equal(engine.store.vectors(Label.CHUNK, [first.uri]), before)
        assert embedder.encoded == ["Mars"] and engine.check(full=True).ok


def test_late_and_other_vectors_do_not_mix(tmp_path: Path, notes: Path) -> None:
    """In neither order; and an embedder without tokens is refused before anything is read."""
    with Engine.create(tmp_path / "plain", TokenHash()) as engine:
        engine.build([notes])
        with pytest.raises(EmbedderMismatchError, match="without late chunking"):
            engine.build([notes], late=True)
    with Engine.create(tmp_path / "none", HashEmbedder()) as engine:
        with pytest.raises(EmbeddingError, match="late chunking needs"):
            engine.build([notes], late=True)
        assert engine.store.count_pages() == 0
    with Engine.create(tmp_path / "late", TokenHash()) as engine:
        engine.build([notes], late=True, embed=False)
        assert engine.store.embedder == EmbedderIdentity("hash", "1+late", 64)
        assert engine.indexer.embed() > 0
    with (
        pytest.raises(EmbeddingError, match="late chunking needs"),
        Engine.open(tmp_path / "late", HashEmbedder()) as engine,
    ):
        engine.search("Mars")


def test_chunks_without_headings_have_the_vector_of_their_text_alone(tmp_path: Path, notes: Path) -> None:
    """Everything else is embedded as always, sentences without headings too; the store keeps to it when pages are added,
    and a check expects it."""
    with Engine.create(tmp_path / "store", HashEmbedder()) as engine:
        engine.build([notes / "Mars.txt"], headings=False)
        store = engine.store
        plain = EmbedderIdentity("hash", "1+no-headings", 64)
        assert engine.embedder.identity == store.embedder == plain
        chunks = chunks_of(engine)["Mars"]
        wanted = HashEmbedder().embed([chunk.text for chunk in chunks])
        assert np.array_equal(store.vectors(Label.CHUNK, [chunk.uri for chunk in chunks]), wanted)
        assert np.array_equal(store.vectors(Label.ENTITY, ["Mars"])[0], HashEmbedder().embed(["Mars"])[0])
    with Engine.open(tmp_path / "store", HashEmbedder()) as engine:
        engine.build([notes])
        assert engine.info().to_embed == 0
        every = [chunk for own in chunks_of(engine).values() for chunk in own]
        assert len(every) > len(chunks)
        wanted = HashEmbedder().embed([chunk.text for chunk in every])
        assert np.array_equal(engine.store.vectors(Label.CHUNK, [chunk.uri for chunk in every]), wanted)
        assert engine.check(full=True).ok


def test_vectors_with_and_without_headings_do_not_mix(tmp_path: Path, notes: Path) -> None:
    """In neither order, nor with late chunking or on a cluster; what was loaded first can be embedded so later."""
    with Engine.create(tmp_path / "usual", HashEmbedder()) as engine:
        engine.build([notes])
        with pytest.raises(EmbedderMismatchError, match="with headings"):
            engine.build([notes], headings=False)
        with pytest.raises(EmbedderMismatchError, match="with headings"):
            engine.indexer.embed(headings=False)
    with Engine.create(tmp_path / "later", TokenHash()) as engine:
        with pytest.raises(ConfigurationError, match="leave out one of them"):
            engine.build([notes], late=True, headings=False)
        with pytest.raises(ConfigurationError, match="embedded without headings"):
            engine.build([notes], headings=False, ray="auto")
        engine.build([notes], embed=False, headings=False)
        assert engine.store.embedder == EmbedderIdentity("hash", "1+no-headings", 64)
        with pytest.raises(EmbedderMismatchError, match="without late chunking"):
            engine.build([notes], late=True)
        assert engine.indexer.embed() > 0
        chunk = chunks_of(engine)["Mars"][0]
        wanted = HashEmbedder().embed([chunk.text])
        assert np.array_equal(engine.store.vectors(Label.CHUNK, [chunk.uri]), wanted)
