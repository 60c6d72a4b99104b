"""The store of docs/extending.md, filled with the sample, answers as a folder does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.code_blocks import blocks
from trivium import Answer, Engine, Hit, SourceStore
from trivium.sample import folder, pages_folder
from trivium.testing import HashEmbedder

PAGES = ("Phobos_(moon).html", "Deimos_(moon).html", "Asaph_Hall.html", "Venera_7.html")
CONDITIONS = (None, "source = '*Phobos*' or source = '*Hall*'", "format = 'pdf'")
LONGEST = 200


def questions() -> list[str]:
    lines = (folder() / "questions_single_hop.jsonl").read_text("utf-8").splitlines()[:6]
    return [json.loads(line)["question"] for line in lines] + ["Who discovered the moons of Mars?"]


def json_file() -> Any:
    """The class as it stands on the page."""
    (code,) = (block.text for block in blocks("docs/extending.md") if "class JsonFile" in block.text)
    assert len(code.splitlines()) < LONGEST
    names: dict[str, Any] = {"__name__": "own_store"}
    exec(compile(code, "own_store.py", "exec"), names)
    return names["JsonFile"]


def hits(engine: Engine, question: str, condition: str | None) -> list[tuple[object, ...]]:
    def told(hit: Hit) -> tuple[object, ...]:
        return hit.rank, hit.uri, hit.score, hit.text, hit.page, hit.contributions

    return [told(hit) for hit in engine.search(question, k=10, where=condition, explain=True)]


def answer(engine: Engine, question: str) -> tuple[object, ...]:
    found: Answer = engine.ask(question)
    return found.text, found.citations


@pytest.fixture(scope="module")
def sources() -> list[Path]:
    return [pages_folder() / name for name in PAGES]


def test_it_finds_and_answers_what_a_folder_does(tmp_path: Path, sources: list[Path]) -> None:
    """After a build, from its file alone, and after a document went: hits, scores and explanations are equal."""
    make = json_file()
    own = Engine(SourceStore(make(tmp_path / "graph.json")), HashEmbedder())
    with own, Engine.create(tmp_path / "folder", HashEmbedder()) as usual:
        reports = [engine.build(sources) for engine in (own, usual)]
        assert reports[0].added == reports[1].added == len(PAGES)
        found = {}
        for question in questions():
            for condition in CONDITIONS:
                found[question, condition] = hits(usual, question, condition)
                assert hits(own, question, condition) == found[question, condition]
            assert answer(own, question) == answer(usual, question)
        assert sum(map(len, found.values())) == 2 * 10 * len(questions())
        assert (own.info().nodes, own.info().relationships) == (
            usual.info().nodes,
            usual.info().relationships,
        )
        assert own.check().ok
        with Engine(SourceStore(make(tmp_path / "graph.json")), HashEmbedder()) as again:
            assert hits(again, questions()[0], None) == found[questions()[0], None]
        for engine in (own, usual):
            engine.remove(["Phobos (moon)", "Asaph Hall"])
        assert [page.uri for page in own.store.pages()] == [page.uri for page in usual.store.pages()]
        assert own.store.count_pages() < len(PAGES)
        for question in questions():
            assert hits(own, question, None) == hits(usual, question, None) != found[question, None]


def test_a_change_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, sources: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = json_file()(tmp_path / "graph.json")
    with Engine(SourceStore(source), HashEmbedder()) as engine:
        engine.build(sources[:1])
        before, pages = (tmp_path / "graph.json").read_bytes(), list(engine.store.page_graphs())
        monkeypatch.setattr(source, "delete_vectors", lambda kind, keys: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            engine.store.delete([page.uri for page in pages])
        assert (tmp_path / "graph.json").read_bytes() == before
        assert list(engine.store.page_graphs()) == pages
