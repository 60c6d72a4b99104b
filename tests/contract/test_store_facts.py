"""What pages know of themselves: format, path, times, metadata, and the pages of a paginated document."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.contract.graphs import graph
from tests.contract.state import state_of
from trivium.graph import page_facts as facts
from trivium.graph.page_facts import page_digest
from trivium.graph.page_graph import PageGraph
from trivium.graph.protocols import GraphStore
from trivium.index.load import load
from trivium.types import MetadataValue

PLAIN = graph("Mars", [("red planet", ["Sun"])])


def _paginated(title: str = "Report", content_hash: str = "1") -> PageGraph:
    page = graph(
        title, [("net sales rose", []), ("none of it", [])], {"Risks": [("many", [])]}, source="a.pdf"
    )
    chunks = tuple(
        replace(chunk, pages=pages)
        for chunk, pages in zip(page.chunks, [(1, 2), None, (12, 12)], strict=True)
    )
    return replace(
        page,
        content_hash=content_hash,
        chunks=chunks,
        format="pdf",
        path="reports/a.pdf",
        modified="2024-05-01T10:00:00Z",
        metadata={
            "year": 2024,
            "share": 0.5,
            "draft": False,
            'who "am" I': "Ada\n'; DROP TABLE page",
            "": "none",
        },
    )


def test_facts_come_back_as_they_were_written(store: GraphStore) -> None:
    """With every read that shows them, with types, beside a page that has none."""
    page = _paginated()
    store.write([page, PLAIN])
    assert list(store.page_graphs()) == [PLAIN, page]
    mars, report = store.pages()
    assert (report.format, report.path, report.modified) == (page.format, page.path, page.modified)
    assert report.metadata == page.metadata
    assert [type(value) for _, value in sorted(report.metadata.items())] == [str, bool, float, str, int]
    assert (mars.format, mars.path, mars.modified, mars.metadata) == ("", "", None, {})
    assert store.find_pages(["Report"]) == {"Report": report}
    assert [record.pages for record in store.fetch([c.uri for c in page.chunks])] == [(1, 2), None, (12, 12)]
    assert [record.pages for record in store.fetch([PLAIN.chunks[0].uri])] == [None]


def test_when_a_page_was_added_survives_its_replacement_but_not_its_removal(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other facts are replaced with it."""

    def at(moment: str) -> None:
        for module in (
            "sqlite.insert_rows.now",
            "neo4j.insert.now",
            "page_facts.now",
            "source_store.derived_graph.now",
        ):
            monkeypatch.setattr(f"trivium.graph.{module}", lambda: moment)

    at("2024-01-01T00:00:00Z")
    store.write([_paginated()])
    at("2025-01-01T00:00:00Z")
    newer = replace(_paginated(content_hash="2"), metadata={"year": 2025}, modified=None)
    store.write([newer, PLAIN])
    added = {page.uri: page.added for page in store.pages()}
    assert added == {"Report": "2024-01-01T00:00:00Z", "Mars": "2025-01-01T00:00:00Z"}
    assert list(store.page_graphs(["Report"])) == [newer]
    store.delete(["Report"])
    store.write([newer])
    assert store.find_pages(["Report"])["Report"].added == "2025-01-01T00:00:00Z"


def test_a_page_that_is_replaced_by_one_without_facts_has_none_left(store: GraphStore) -> None:
    """Also where it stays as a title that others cite."""
    before = state_of(store)
    store.write([_paginated("Mars")])
    store.write([PLAIN])
    assert list(store.page_graphs()) == [PLAIN]
    store.delete(["Mars"])
    assert state_of(store) == before
    store.write([PLAIN, graph("Sun", [("a star", [])])])
    assert store.find_pages(["Mars"])["Mars"].metadata == {}


def test_a_store_knows_which_metadata_the_user_gave(store: GraphStore) -> None:
    page = replace(_paginated(), given=("share", "year"))
    store.write([page, PLAIN])
    assert list(store.page_graphs(["Report"])) == [page]
    mars, report = store.pages()
    assert (mars.given, report.given, report.metadata) == ((), page.given, page.metadata)
    assert store.find_pages(["Report"])["Report"].given == page.given
    assert {record.uri: record.metadata for record in store.fetch([page.chunks[0].uri])} == {
        page.chunks[0].uri: page.metadata
    }
    assert page_digest(page) != page_digest(replace(page, given=("year",)))


def test_what_the_user_said_of_a_document_stays_until_something_else_is_said(
    store: GraphStore, tmp_path: Path
) -> None:
    """It wins over what the document says; taken back, that is seen again. What a document no longer says is gone."""
    file = tmp_path / "report.md"

    def loaded(text: str, metadata: dict[str, MetadataValue | None] | None = None) -> dict[str, object]:
        file.write_text(text, "utf-8")
        load([str(file)], store, metadata=metadata)
        return dict(store.pages()[0].metadata)

    own = "---\nyear: 2020\ndraft: true\n---\n# Report\n\nText.\n"
    assert loaded(own, {"year": 2024, "team": "finance"}) == {"draft": True, "team": "finance", "year": 2024}
    assert loaded(own) == {"draft": True, "team": "finance", "year": 2024}
    assert load([str(file)], store).unchanged == 1
    assert loaded("---\nyear: 2020\n---\n# Report\n\nMore.\n", {"team": "sales"}) == {
        "team": "sales",
        "year": 2024,
    }
    retitled = "---\nyear: 2020\n---\n# Annual report\n\nMore.\n"
    assert loaded(retitled) == {"team": "sales", "year": 2024}
    assert [page.uri for page in store.pages()] == ["Annual report"]
    assert loaded(retitled, {"year": None, "team": None, "none": None}) == {"year": 2020}
    assert loaded(retitled) == {"year": 2020}
    store.delete(["Annual report"])
    assert loaded(retitled) == {"year": 2020}


def test_what_was_said_of_a_record_stays_when_it_is_linked_anew(store: GraphStore, tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    first.write_text('{"title": "Mars", "text": "Mars has a moon, Phobos."}\n', "utf-8")
    second.write_text('{"title": "Phobos", "text": "A moon."}\n', "utf-8")
    load([str(first)], store, metadata={"year": 2024})
    load([str(second)], store)
    assert {page.uri: dict(page.metadata) for page in store.pages()} == {"Mars": {"year": 2024}, "Phobos": {}}
    load([str(first)], store, metadata={"year": None})
    assert store.find_pages(["Mars"])["Mars"].metadata == {}


def test_facts_are_part_of_the_digest_of_pages_that_have_some() -> None:
    """That of other pages is what it was before there were facts: worked out by hand once."""
    page = _paginated()
    others = [
        replace(page, format="html"),
        replace(page, path=""),
        replace(page, modified=None),
        replace(page, metadata={**page.metadata, "year": 2025}),
        replace(page, metadata={**page.metadata, "year": "2024"}),
        replace(page, chunks=tuple(replace(chunk, pages=(3, 3)) for chunk in page.chunks)),
    ]
    assert len({page_digest(each) for each in [page, *others]}) == 7
    assert page_digest(PLAIN) == "e51d6a043e37428078fbbaf67c4c78b1"


def test_times_are_in_utc_to_the_second() -> None:
    """So that they are in order as texts."""
    assert facts.now()[4::3] == facts.now()[4::3]
    assert len(facts.now()) == len("2026-11-23T16:45:00Z") and facts.now().endswith("Z")
