"""Documents without links get them: to the documents they mention and the terms they define."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from trivium.graph.sqlite import EmbeddedStore
from trivium.index.load import load
from trivium.index.parser_process import ParserProcess

# Short paragraphs under one heading become one chunk, so what is asked of each stands under its own.
TEXTS = {
    "Great bustard.md": "## Steppes\n\nIt does not live as the Heron does.\n\n## Others\n\nA heron is another bird.",
    "Heron.txt": "Herons wade. They are no relatives of the GREAT BUSTARD.",
    "Contract.md": (
        '## Parties\n\nAcme (the "Company") sells anvils.\n\n'
        "## Payment\n\nThe Company pays.\n\n## Readers\n\nAny company may read this."
    ),
    "Lease.md": '## Parties\n\nBeta (the "Company") rents.\n\n## Payment\n\nThe Company pays, too.',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "texts").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "texts" / name).write_text(text)
    return tmp_path / "texts"


def cites(store: EmbeddedStore, page: str) -> list[tuple[str, ...]]:
    (graph,) = store.page_graphs([page])
    return [chunk.cites for chunk in graph.chunks]


def test_plain_documents_link_to_what_they_mention(folder: Path, store: EmbeddedStore) -> None:
    """A name of one word has to be written as a name, and nothing links to itself."""
    report = load([str(folder)], store)
    assert (report.added, report.replaced, report.relinked) == (4, 0, 0)
    assert cites(store, "Great bustard") == [("Heron",), ()]
    assert cites(store, "Heron") == [("Great bustard",)]


def test_a_term_belongs_to_its_document(folder: Path, store: EmbeddedStore) -> None:
    load([str(folder)], store)
    assert cites(store, "Contract") == [("Company (Contract)",), ("Company (Contract)",), ()]
    assert cites(store, "Lease") == [("Company (Lease)",), ("Company (Lease)",)]


def test_loaded_again_nothing_changes(folder: Path, store: EmbeddedStore) -> None:
    load([str(folder)], store)
    before = list(store.page_graphs())
    report = load([str(folder)], store)
    assert (report.unchanged, report.relinked) == (4, 0)
    assert list(store.page_graphs()) == before
    (folder / "Heron.txt").write_text("Herons fly.")
    assert load([str(folder)], store).replaced == 1
    assert cites(store, "Heron") == [()]


def test_documents_that_came_before_link_to_new_ones(folder: Path, store: EmbeddedStore) -> None:
    """The order in which they come does not matter, nor whether they are parsed in a process apart."""
    late = folder / "Heron.txt"
    shutil.move(late, folder.parent)
    load([str(folder)], store)
    assert cites(store, "Great bustard") == [(), ()]
    shutil.move(folder.parent / "Heron.txt", late)
    assert load([str(late)], store).relinked == 1
    parser = ParserProcess()
    try:
        with EmbeddedStore.create(folder.parent / "other") as other:
            report = load([str(path) for path in sorted(folder.iterdir())], other, isolated=parser)
            assert (report.added, report.replaced) == (4, 0)
            assert [(page.uri, page.content_hash) for page in other.pages()] == [
                (page.uri, page.content_hash) for page in store.pages()
            ]
            for page in ("Great bustard", "Heron", "Contract"):
                assert cites(other, page) == cites(store, page)
    finally:
        parser.close()


def test_an_interrupted_load_is_linked_by_the_next(
    folder: Path, store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("trivium.index.load.link_mentions", interrupted)
        with pytest.raises(KeyboardInterrupt):
            load([str(folder)], store)
    assert cites(store, "Heron") == [()]
    assert load([str(folder)], store).unchanged == 4
    assert cites(store, "Heron") == [("Great bustard",)]


def test_pages_with_links_of_their_own_keep_just_these(folder: Path, store: EmbeddedStore) -> None:
    html = "<!doctype html><title>{0}</title><h1>{0}</h1><p>Like the Heron, it is {1}.</p>"
    (folder / "linked.html").write_text(html.format("Stork", '<a href="/wiki/White">white</a>'))
    (folder / "bare.html").write_text(html.format("Crane", "grey"))
    load([str(folder)], store, entities="none")
    assert cites(store, "Stork") == [("White",)]
    assert cites(store, "Crane") == [("Heron",)]
