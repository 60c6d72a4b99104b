"""Names recognised in documents are entities where a second passage has them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from unittest.mock import Mock

import pytest

from trivium.errors import ConfigurationError
from trivium.graph.sqlite import EmbeddedStore
from trivium.index.load import delete_linked, load
from trivium.index.parser_process import ParserProcess

TEXTS = {
    "letters.md": "# Letters\n\nIn spring Dr Mary Somerville wrote to William Herschel. Herschel answered from Slough.",
    "visit.txt": "On that day we met William Herschel near the river, and later Mary Somerville in London.",
    "tea.html": "<title>Tea</title><h1>Tea</h1><p>At noon the cook saw William Herschel, who asked for Mr Babbage.</p>",
    "plan.md": "# Plan\n\nSee [Slough](Slough.md) and [Tea](tea.html). Caroline Herschel and Mary Somerville meet.",
    "Slough.md": "# Slough\n\nIt is a town. Everybody there knows Charles Babbage.",
}
HERSCHEL = "William Herschel"


def cites(store: EmbeddedStore) -> dict[str, list[str]]:
    chunks = {page.uri: [chunk.uri for chunk in page.chunks] for page in store.page_graphs()}
    return {
        page: [uri for cited in store.cited(listed).values() for uri in cited]
        for page, listed in chunks.items()
    }


def everything(store: EmbeddedStore) -> object:
    graph = store.adjacency()
    relations = store.relations(list(graph.entities))
    return list(store.page_graphs()), store.types(), relations, list(graph.entities), graph.indices.tolist()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "texts").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "texts" / name).write_text(text)
    return tmp_path / "texts"


def test_a_name_of_two_documents_is_an_entity_with_its_kind(folder: Path, store: EmbeddedStore) -> None:
    """The forms of a document are one, a title stays the title, and what one passage alone says is no entity."""
    load([str(folder)], store, entities="rules")
    found = cites(store)
    assert all(HERSCHEL in found[page] for page in ("Letters", "visit", "Tea"))
    assert [page for page, uris in found.items() if "Mary Somerville" in uris] == ["Letters", "Plan", "visit"]
    assert "Slough" in found["Letters"]
    assert found["Plan"] == ["Slough", "Tea", "Mary Somerville"]  # with links of its own
    assert store.resolve(["Herschel", "London", "Charles Babbage"]) == {}
    assert store.types()["Mary Somerville"] == "person"


def test_what_a_document_says_of_its_names_is_a_relation(tmp_path: Path, store: EmbeddedStore) -> None:
    """With the sentence that says it, and kinds that it tells; the document still cites titles; both go with it."""
    (tmp_path / "Datchet.md").write_text(
        "# Datchet\n\nIn Berkshire. Datchet was a home of Caroline Herschel.\n"
    )
    (tmp_path / "Berkshire.md").write_text("# Berkshire\n\nThey say that Datchet is a village.\n")
    load([str(tmp_path)], store, entities="rules")
    (edge,) = store.relations(["Caroline Herschel"])
    assert edge.triple == ("Datchet", "home of", "Caroline Herschel")
    assert store.relations(["Datchet"]) == [edge]
    (chunk,) = next(store.page_graphs(["Datchet"])).chunks
    assert chunk.uri == edge.chunk
    assert chunk.body[edge.start : edge.end] == "Datchet was a home of Caroline Herschel."
    assert cites(store) == {"Berkshire": ["Datchet"], "Datchet": ["Berkshire"]}
    load([str(tmp_path / "Datchet.md")], store)
    assert store.relations(["Datchet"]) == [edge]
    delete_linked(store, ["Datchet"], [])
    assert store.resolve(["Caroline Herschel"]) == {}


def test_without_recogniser_documents_cite_titles_alone(folder: Path, store: EmbeddedStore) -> None:
    """A later load keeps it so; a store made before names were recognised by default looks the same."""
    load([str(folder)], store, entities="none")
    load([str(folder / "tea.html")], store)
    assert cites(store) == {
        "Letters": ["Slough"],
        "Plan": ["Slough", "Tea"],
        "Slough": [],
        "Tea": [],
        "visit": [],
    }
    assert store.entities is None
    with pytest.raises(ConfigurationError, match="by none, not by rules"):
        load([str(folder)], store, entities="rules")


def test_a_store_keeps_its_recogniser(folder: Path, store: EmbeddedStore) -> None:
    load([str(folder / "letters.md")], store, entities="rules")
    load([str(folder / "visit.txt")], store)
    assert HERSCHEL in cites(store)["visit"]
    for other in ("none", "spacy:en_core_web_sm"):
        with pytest.raises(ConfigurationError, match="were recognised by rules"):
            load([str(folder / "tea.html")], store, entities=other)


def test_names_are_recognised_by_default_but_in_encyclopaedias(folder: Path, store: EmbeddedStore) -> None:
    """A store of their pages alone has no names, so that what they link to is not taken for one, and can still choose."""
    (folder.parent / "wiki").mkdir()
    for title in ("Slough", "Windsor"):
        (folder.parent / "wiki" / f"{title}.html").write_text(
            f"<html><head><title>{title}</title><meta name='generator' content='MediaWiki 1.4'></head><body>"
            f"<h1>{title}</h1><div class='mw-parser-output'><p>A town that William Herschel knew, near"
            " <a href='/wiki/London'>London</a>.</p></div></body></html>"
        )
    load([str(folder.parent / "wiki")], store)
    assert cites(store) == {"Slough": ["London"], "Windsor": ["London"]}
    assert {page.format for page in store.pages()} == {"wiki"}
    assert store.entities is None
    assert not store.adjacency().names
    load([str(folder / "letters.md"), str(folder / "visit.txt")], store)
    assert store.entities == "rules"
    assert store.adjacency().names
    assert HERSCHEL in cites(store)["visit"]
    assert cites(store)["Windsor"] == ["London"]


def test_an_empty_store_chooses_anew(folder: Path, store: EmbeddedStore) -> None:
    load([str(folder / "letters.md")], store)
    delete_linked(store, ["Letters"], [])
    load([str(folder)], store, entities="none")
    assert store.entities is None


def test_any_history_ends_like_a_build_of_what_is_left(folder: Path, tmp_path: Path) -> None:
    """Links and kinds: added in any order, replaced and removed."""
    drawn = random.Random(7)
    (folder / "more.jsonl").write_text(
        "".join(
            json.dumps({"title": title, "text": text}) + "\n"
            for title, text in (
                ("Comets", "That year Caroline Herschel found one, as Mary Somerville writes."),
                ("Datchet", "That spring Datchet was the home of Caroline Herschel, near Slough."),
                ("Novels", "In one of them a Caroline Herschel and a Charles Babbage marry."),
            )
        )
    )
    files = sorted(folder.iterdir())
    pages = {
        "letters.md": "Letters",
        "visit.txt": "visit",
        "tea.html": "Tea",
        "Slough.md": "Slough",
        "plan.md": "Plan",
    }
    for number in range(6):
        left = set(files)
        with EmbeddedStore.create(tmp_path / f"history{number}") as store:
            for file in drawn.sample(files, len(files)):
                load([str(file)], store, entities="rules")
            for file in drawn.sample(files, 2):
                if file.name in pages:
                    delete_linked(store, [pages[file.name]], [])
                    left.discard(file)
            again = drawn.choice(files)
            load([str(again)], store)
            left.add(again)
            with EmbeddedStore.create(tmp_path / f"fresh{number}") as fresh:
                load([str(file) for file in sorted(left)], fresh, entities="rules")
                assert everything(store) == everything(fresh)


def test_an_interrupted_removal_is_completed_by_the_next(folder: Path, store: EmbeddedStore) -> None:
    """Of something else, or of nothing: what the first one removed is no longer known."""
    load([str(folder)], store, entities="rules")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("trivium.index.load.link_mentions", Mock(side_effect=KeyboardInterrupt))
        delete_linked(store, ["Letters", "visit"], [])
    assert "William Herschel" in cites(store)["Tea"] and store.links_pending
    delete_linked(store, [], [])
    assert cites(store)["Tea"] == [] and not store.links_pending


def test_records_have_names_and_titles(tmp_path: Path, store: EmbeddedStore) -> None:
    records = [
        {"title": "Uranus", "text": "It was found by William Herschel in the garden."},
        {"title": "Bath", "text": "There William Herschel saw Uranus, and played music."},
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    load([str(tmp_path / "a.jsonl")], store, entities="rules")
    assert cites(store) == {"Bath": [HERSCHEL, "Uranus"], "Uranus": [HERSCHEL]}
    (tmp_path / "b.jsonl").write_text('{"title": "William Herschel", "text": "He was born in Hanover."}\n')
    load([str(tmp_path / "b.jsonl")], store)
    assert {page.uri for page in store.pages()} == {"Bath", "Uranus", HERSCHEL}
    assert cites(store)["Bath"] == [HERSCHEL, "Uranus"]


def test_a_process_apart_finds_the_same(folder: Path, store: EmbeddedStore, tmp_path: Path) -> None:
    files = [str(path) for path in sorted(folder.iterdir())]
    load(files, store, entities="rules")
    parser = ParserProcess()
    try:
        with EmbeddedStore.create(tmp_path / "other") as other:
            load(files, other, entities="rules", isolated=parser)
            assert cites(other) == cites(store)
    finally:
        parser.close()


def test_the_longer_of_a_title_and_a_name_is_linked(tmp_path: Path, store: EmbeddedStore) -> None:
    (tmp_path / "Mars.txt").write_text("A planet. It was seen by the Mars Climate Orbiter, as we know.")
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"In {name[0]} we read of the Mars Climate Orbiter. It went to Mars.")
    load([str(tmp_path / name) for name in ("Mars.txt", "a.txt", "b.txt")], store, entities="rules")
    assert cites(store)["a"] == ["Mars Climate Orbiter", "Mars"]


def test_a_term_that_is_recognised_as_a_name_is_one_entity(tmp_path: Path, store: EmbeddedStore) -> None:
    """A term that is no name stays the document's own."""
    text = (
        '# Rules\n\nAcme (the "Company") asks the agency (the "FPA").\n\n## Sales\n\nThe Company met the FPA.'
    )
    (tmp_path / "rules.md").write_text(text)
    (tmp_path / "law.txt").write_text("Everybody has to ask the FPA.")
    load([str(tmp_path)], store, entities="rules")
    assert cites(store) == {"Rules": ["FPA", "Company (Rules)", "FPA", "Company (Rules)"], "law": ["FPA"]}


def test_types_of_other_origin_stay(folder: Path, store: EmbeddedStore) -> None:
    """Also where no mention says a kind any more."""
    load([str(folder)], store, entities="rules")
    store.set_types({"Mary Somerville": "mathematician", "William Herschel": "place"})
    (folder / "visit.txt").write_text("Yesterday Mary Somerville met William Herschel.")
    load([str(folder)], store)
    assert store.types()["Mary Somerville"] == "mathematician"
    assert store.types()["William Herschel"] == "place"
