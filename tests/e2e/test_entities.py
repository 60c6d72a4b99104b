"""People named in ordinary files of several formats: one entity, listed with its passages, and found through it."""

from __future__ import annotations

import shutil
from io import BytesIO
from pathlib import Path

import docx
import pytest

from tests.e2e.conftest import Run

MINUTES = """# Minutes of May

## Attendance

Present were Dr Zora Somerville and three members of the board.

## Budget

After lunch Mrs Somerville asked for two more telescopes.
"""
PRESS = "<!doctype html><title>Press release</title><h1>Press release</h1><p>Yesterday Zora Somerville won a prize.</p>"
LETTER = "Dear all, on Monday Zora Somerville explains the telescope; ask her for a signed copy."
NAME = "Zora Somerville"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.e2e.conftest import run_here

    folder = tmp_path_factory.mktemp("named")
    (folder / "files").mkdir()
    (folder / "files" / "minutes.md").write_text(MINUTES)
    (folder / "files" / "press.html").write_text(PRESS)
    letter, content = docx.Document(), BytesIO()
    letter.add_paragraph(LETTER)
    letter.save(content)
    (folder / "files" / "Letter.docx").write_bytes(content.getvalue())
    built = run_here(
        "build", folder / "files", "--store", folder / "store", "--entities", "rules", "--embedder", "minilm"
    )
    assert built.code == 0, built.err
    return folder / "store"


def test_a_person_of_three_files_is_one_entity_with_what_is_said(trivium: Run, store: Path) -> None:
    listed = trivium("entities", store, "--kind", "person", "--json").json
    assert listed["entities"] == [
        {"uri": NAME, "name": NAME, "kind": "person", "page": False, "passages": 4, "documents": 3}
    ]
    card = trivium("entities", "zora somerville", "--store", store, "--json").json
    assert {"Dr Zora Somerville", "Mrs Somerville", "Z. Somerville"} & set(card["forms"])
    assert {said["document"] for said in card["sayings"]} == {"minutes.md", "press.html", "Letter.docx"}
    assert "After lunch Mrs Somerville asked for two more telescopes." in [
        said["sentence"] for said in card["sayings"]
    ]
    shown = trivium("entities", store, NAME).out
    assert "Zora Somerville (person): 4 passages of 3 documents" in shown
    assert "Minutes of May › Budget" in shown


def test_the_documents_are_found_through_the_entity(trivium: Run, store: Path) -> None:
    question = "Which telescopes did Zora Somerville want?"
    found = trivium("search", question, "--store", store, "--retriever", "entity", "--explain").out
    assert "speaks of Zora Somerville" in found
    hits = trivium("search", question, "--store", store, "--retriever", "entity", "--json").json["hits"]
    assert {hit["section"].partition("#")[0] for hit in hits} == {"Minutes of May", "Press release", "Letter"}


def test_what_is_no_entity_is_answered_with_the_nearest(trivium: Run, store: Path) -> None:
    failed = trivium("entities", store, "Zora Somervill")
    assert failed.code == 1
    assert "no entity is called Zora Somervill; did you mean Zora Somerville?" in failed.err


def test_a_surname_of_two_people_may_mean_both(trivium: Run, tmp_path: Path) -> None:
    """One that a document leaves open stays apart and says so; one that no passage has by itself names both."""
    told = "He met William Herschel and Caroline Herschel. "
    (tmp_path / "a.txt").write_text(told + "Later Herschel wrote to Mary Lovell and John Lovell.")
    (tmp_path / "b.txt").write_text(told + "Soon Herschel wrote to Mary Lovell and John Lovell.")
    built = trivium("build", tmp_path, "--store", tmp_path / "s", "--entities", "rules", "--no-embed")
    assert built.code == 0, built.err
    card = trivium("entities", tmp_path / "s", "Herschel").out
    assert "Herschel: 2 passages" in card and "may be: Caroline Herschel, William Herschel" in card
    failed = trivium("entities", tmp_path / "s", "lovell")
    assert "is called lovell; did you mean John Lovell or Mary Lovell?" in failed.err


def test_a_relation_is_shown_with_the_sentence_that_says_it(trivium: Run, tmp_path: Path) -> None:
    (tmp_path / "Datchet.md").write_text(
        "# Datchet\n\n## Home\n\nDatchet was the home of Caroline Herschel.\n"
    )
    built = trivium("build", tmp_path, "--store", tmp_path / "s", "--entities", "rules", "--no-embed")
    assert built.code == 0, built.err
    shown = trivium("entities", tmp_path / "s", "Caroline Herschel").out
    sentence = "Datchet was the home of Caroline Herschel."
    assert f"Datchet — home of — Caroline Herschel\nDatchet › Home\n{sentence}\n" in shown
    (relation,) = trivium("entities", tmp_path / "s", "Datchet", "--json").json["relations"]
    assert relation["said"]["sentence"] == sentence
    assert relation["said"]["uri"] == "Datchet#Home#chunk-1"


def test_another_recogniser_is_refused(trivium: Run, store: Path) -> None:
    failed = trivium("build", store.parent / "files", "--store", store, "--entities", "none")
    assert failed.code == 1
    assert "recognised by rules, not by none" in failed.err
    unknown = trivium("build", store.parent / "files", "--store", store.parent / "new", "--entities", "magic")
    assert unknown.code == 2 and not (store.parent / "new").exists()


def test_a_removal_takes_along_what_only_its_document_said(trivium: Run, store: Path, tmp_path: Path) -> None:
    """Only the minutes say that she is a person. The new text of the entity is embedded at once."""
    left = Path(shutil.copytree(store, tmp_path / "store"))
    assert trivium("remove", "Minutes of May", "--store", left).code == 0
    listed = trivium("entities", left, "--json").json
    assert listed["entities"] == [
        {"uri": NAME, "name": NAME, "kind": "", "page": False, "passages": 2, "documents": 2}
    ]
    assert trivium("stats", "--store", left, "--json").json["to_embed"] == 0
    assert trivium("remove", "Letter", "--store", left).code == 0
    assert trivium("entities", left, "--json").json["count"] == 0
