"""A store whose texts are not all embedded says so with every answer that rests on vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.graphs import graph
from tests.counted import Counter
from trivium.engine import Engine
from trivium.testing.toys import HashEmbedder

WARNING = "{} of {} texts are not embedded yet: unless a build is at work, run  trivium embed --store STORE"


def test_a_half_embedded_store_warns_until_it_is_embedded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In searches and answers, once each; not in searches by words alone. Without a callback the log says it."""
    with Engine.create(tmp_path / "s", HashEmbedder()) as engine:
        engine.store.write([graph("Mars", [("Mars has two moons.", ["Phobos"])])])
        engine.indexer.embed()
        warnings: list[str] = []
        engine.search("moons", on_warnings=warnings.extend)
        assert warnings == [] and engine.ask("moons").warnings == ()
        engine.store.write([graph("Venus", [("Venus has no moons.", ["Phobos"])])])
        info = engine.info()
        assert (info.embedded, info.to_embed) == (3, 2)  # chunk, page, Phobos; chunk, page
        told = WARNING.format(2, 5)
        engine.search("moons", on_warnings=warnings.extend)
        engine.search("moons", retrievers=["vector"], on_warnings=warnings.extend)
        engine.search("moons", where="title == 'Mars'", on_warnings=warnings.extend)
        assert warnings == [told] * 3
        assert engine.ask("Which moons has Mars?").warnings == (told,)
        engine.search("moons", retrievers=["lexical"], on_warnings=warnings.extend)
        assert len(warnings) == 3
        caplog.clear()
        engine.search("moons")
        assert caplog.messages == [told]
        engine.indexer.embed()
        engine.search("moons", on_warnings=warnings.extend)
        assert len(warnings) == 3


def test_the_numbers_are_read_once_a_state(tmp_path: Path) -> None:
    """And then no statement is spent on them."""
    counter = Counter()
    with counter.of_databases(), Engine.create(tmp_path / "s", HashEmbedder()) as engine:
        engine.store.write([graph(name, [(f"{name} has moons.", [])]) for name in ("Mars", "Saturn")])
        engine.indexer.embed()
        engine.store.write([graph("Venus", [("Venus has none.", [])])])
        spent = []
        for _ in range(3):
            with engine.store.pinned() as store:
                store.embedder  # noqa: B018  # the connection has read its state
                counter.begin()
                assert store.waiting_texts() == (2, 6)
                spent.append(counter.end().statements)
        assert spent[0] > 0 and spent[1:] == [0, 0]
