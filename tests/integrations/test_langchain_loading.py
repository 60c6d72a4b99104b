"""Documents of LangChain's loaders as a source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from trivium import Engine
from trivium.errors import InputError
from trivium.integrations.langchain import write_records
from trivium.testing import HashEmbedder


class Loader(BaseLoader):
    """Gives these documents, one by one, and then an error if there is one."""

    def __init__(self, *documents: Document, error: Exception | None = None) -> None:
        self._documents, self._error = documents, error

    def lazy_load(self) -> Iterator[Document]:
        yield from self._documents
        if self._error is not None:
            raise self._error


def _titles(file: Path) -> list[str]:
    return [json.loads(line)["title"] for line in file.read_text("utf-8").splitlines()]


def _of(source: str, **metadata: Any) -> Document:
    return Document("text", metadata={"source": source, **metadata})


def test_a_store_is_built_of_what_a_loader_loads(tmp_path: Path) -> None:
    """The parts of a document are one page in their order, mentions of titles are links, metadata can be searched by."""
    loader = Loader(
        Document(
            "Phobos is a moon of Mars.", metadata={"source": "moons/Phobos.pdf", "page": 1, "year": 1877}
        ),
        Document("Asaph Hall found it.", metadata={"source": "moons/Phobos.pdf", "page": 2, "year": 1877}),
        Document(
            "Mars has two moons.", metadata={"title": "Mars", "source": "elsewhere", "text": "not this"}
        ),
    )
    file = tmp_path / "records.jsonl"
    assert write_records(loader, file) == 3
    with Engine.create(tmp_path / "store", HashEmbedder()) as engine:
        report = engine.build([file], workers=1)
        assert engine.pages() == ["Mars", "Phobos"]
        assert report.differing == {"page": 1}, "the number of a page is not that of its document"
        hits = engine.search("moon of Mars", k=5, where="year = 1877")
        assert {hit.page for hit in hits} == {"Phobos"}
        (graph,) = engine.store.page_graphs(["Phobos"])
        assert [chunk.text for chunk in graph.chunks] == ["Phobos is a moon of Mars.", "Asaph Hall found it."]
        assert graph.chunks[0].cites == ("Mars",)
        write_records(loader, file)
        assert engine.build([file], workers=1).unchanged == 2


def test_sources_of_one_name_stay_apart(tmp_path: Path) -> None:
    """A title is the source's name; a second source of that name keeps its path, all of its parts do."""
    sources = [
        "a/readme.md",
        "b/readme.md",
        "a/readme.md",
        "b/readme.md",
        "https://example.org/x/caf%C3%A9.html?y=1",
    ]
    sources += ["C:\\notes\\plan.txt", "https://example.org/"]
    write_records(map(_of, sources), tmp_path / "records.jsonl")
    assert _titles(tmp_path / "records.jsonl") == [
        "readme",
        "b/readme.md",
        "readme",
        "b/readme.md",
        "café",
        "plan",
        "https://example.org/",
    ]


def test_titles_may_be_ones_own(tmp_path: Path) -> None:
    write_records(
        [_of("x", row=3)], tmp_path / "r.jsonl", title=lambda document: f"Row {document.metadata['row']}"
    )
    assert _titles(tmp_path / "r.jsonl") == ["Row 3"]


def test_any_metadata_can_be_written(tmp_path: Path) -> None:
    """What JSON cannot hold is written as text."""
    write_records([_of("x", when=date(2024, 5, 1), at=Path("y"), also={1: {2}})], tmp_path / "r.jsonl")
    row = json.loads((tmp_path / "r.jsonl").read_text("utf-8"))
    assert (row["when"], row["at"]) == ("2024-05-01", "y")


def test_a_loader_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    write_records([_of("x")], file)
    before = file.read_bytes()
    with pytest.raises(OSError, match="gone"):
        write_records(Loader(_of("y"), error=OSError("gone")), file)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("documents", "says"),
    [
        ([], "expected documents to write"),
        ([Document("a text about nothing")], r"neither title nor source \('a text about nothing'\)"),
        (["a text"], "expected LangChain's documents, got str"),
    ],
)
def test_what_cannot_be_a_source_is_refused(tmp_path: Path, documents: list[Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        write_records(documents, tmp_path / "records.jsonl")
    assert list(tmp_path.iterdir()) == []
