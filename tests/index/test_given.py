"""Documents that exist only in memory are loaded like files of these names."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trivium.engine import Engine
from trivium.errors import InputError, NothingReadError
from trivium.testing.toys import HashEmbedder


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.create(tmp_path / "store", HashEmbedder()) as engine:
        yield engine


_CIRCLE: dict[str, Any] = {"title": "a", "text": "b"}
_CIRCLE["self"] = _CIRCLE
_FILES: dict[str, str | bytes] = {
    "policies/leave.md": "# Leave\n\nSixteen weeks. See [travel](travel.md).\n\n## Sick\n\nCall your lead.",
    "policies/travel.md": "Trains before planes.",
    "README": "Read this first.",
    "page.html": "<html><title>Zürich</title><body><h1>Zürich</h1><p>Zürich has a lake.</p></body></html>".encode(),
}


def test_contents_by_name_become_what_the_files_would(tmp_path: Path, engine: Engine) -> None:
    """Titles, sections, links between them and formats are those of a build of such files."""
    folder = tmp_path / "files"
    for name, content in _FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert engine.add_files(_FILES, workers=1).added == len(_FILES)
    with Engine.create(tmp_path / "plain", HashEmbedder()) as plain:
        plain.build([folder], workers=1)
        expected, found = (
            [(page.uri, page.path, page.format, one.store.page_text(page.uri)) for page in one.store.pages()]
            for one in (plain, engine)
        )
        assert found == expected
        chunks = list(plain.store.adjacency().chunks)
        assert engine.store.cited(chunks) == plain.store.cited(chunks)
        assert engine.store.cited(["Leave#chunk-1"]) == {"Leave#chunk-1": ["travel"]}


def test_a_name_that_is_added_again_is_replaced(engine: Engine) -> None:
    engine.add_files(_FILES, workers=1)
    report = engine.add_files({**_FILES, "policies/travel.md": "Planes before trains."}, workers=1)
    assert (report.added, report.replaced, report.unchanged) == (0, 1, len(_FILES) - 1)
    assert engine.store.page_text("travel") == "Planes before trains."
    assert engine.remove(["policies/leave.md"]) == ["Leave"]


def test_a_name_that_is_added_again_under_another_title_is_replaced(engine: Engine) -> None:
    engine.add_files(
        {"a/policy.md": "# Policy 2024\n\n100 euros.", "b/policy.md": "# Other\n\nX."}, workers=1
    )
    report = engine.add_files({"a/policy.md": "# Policy 2025\n\n200 euros."}, workers=1)
    assert report.retitled == ["Policy 2024"]
    assert [(page.uri, page.path) for page in engine.store.pages()] == [
        ("Other", "b/policy.md"),
        ("Policy 2025", "a/policy.md"),
    ]


def test_a_record_does_not_replace_a_document_of_another_kind(engine: Engine) -> None:
    """Whether that was there before, or comes in the same build."""
    engine.add_files({"parking.md": "# Parking\n\nIt costs 10 euros."}, workers=1)
    record = {"title": "Parking", "text": "I love parking in the sun."}
    for expected in ((1, 0), (0, 1)):
        report = engine.add_records([record], source="chat.jsonl", workers=1)
        assert (report.added, report.unchanged) == expected
    assert engine.pages() == ["Parking", "Parking (chat)"]
    assert engine.store.page_text("Parking") == "Parking\n\nIt costs 10 euros."


def test_names_that_records_get_are_theirs_alone(engine: Engine) -> None:
    """Whatever else is called so, and in whatever order they come."""
    engine.add_files({"parking.md": "# Parking\n\nIt costs 10 euros."}, workers=1)
    both = [{"title": "Parking (chat)", "text": "Elsewhere."}, {"title": "Parking", "text": "The sun."}]
    for records in (both, both[::-1]):
        engine.add_records(records, source="chat.jsonl", workers=1)
        engine.add_records([{"title": "Parking", "text": "Rain."}], source="b/chat.jsonl", workers=1)
        texts = sorted(engine.store.page_text(uri) for uri in engine.pages())
        assert texts == ["Elsewhere.", "Parking\n\nIt costs 10 euros.", "Rain.", "The sun."]
        engine.remove([uri for uri in engine.pages() if uri != "Parking"])


def test_a_record_keeps_its_name_when_the_other_document_has_gone(engine: Engine) -> None:
    engine.add_files({"parking.md": "# Parking\n\nIt costs 10 euros."}, workers=1)
    records = [{"title": "Parking", "text": "The sun."}]
    engine.add_records(records, source="chat.jsonl", workers=1)
    engine.remove(["Parking"])
    assert engine.add_records(records, source="chat.jsonl", workers=1).unchanged == 1
    assert engine.pages() == ["Parking (chat)"]


def test_files_of_a_folder_do_not_replace_documents_in_memory(tmp_path: Path, engine: Engine) -> None:
    """Nor the other way round, also when the folder is gone."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "README.md").write_text("# Disk\n\nOn disk.", "utf-8")
    engine.add_files({"docs/README.md": "# Memory\n\nIn memory."}, workers=1)
    engine.build([folder], workers=1)
    assert engine.pages() == ["Disk", "Memory"]
    shutil.rmtree(folder)
    engine.add_files({"docs/README.md": "# Memory 2\n\nIn memory."}, workers=1)
    assert {"Disk", "Memory 2"} <= set(engine.pages())


def test_a_record_beside_a_file_of_its_title_in_one_folder(tmp_path: Path, engine: Engine) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "parking.md").write_text("# Parking\n\nIt costs 10 euros.", "utf-8")
    (folder / "chat.jsonl").write_text('{"title": "Parking", "text": "The sun."}\n', "utf-8")
    report = engine.build([folder], workers=1)
    assert (engine.pages(), report.duplicates) == (["Parking", "Parking (chat)"], [])


def test_records_of_one_title_have_only_the_metadata_that_they_share(engine: Engine) -> None:
    """A condition must not find what belongs to somebody else."""
    records = [
        {"title": "Salaries", "text": "Acme pays 100 coins.", "tenant": "acme", "year": 2024},
        {"title": "Salaries", "text": "Globex pays 900 coins.", "tenant": "globex", "year": 2024},
        {"title": "Holidays", "text": "Acme has 30 days.", "tenant": "acme"},
    ]
    records += [
        {"title": "Offices", "text": "Acme is in Rome.", "tenant": "acme"},
        {"title": "Offices", "text": "Globex is in Oslo."},
        {"title": "Rules", "text": "Be kind.", "tenant": "acme"},
        {"title": "Rules", "text": "Be kind.", "tenant": "globex"},
    ]
    report = engine.add_records(records, workers=1)
    assert report.differing == {"tenant": 3}
    assert [hint for hint in report.hints if "tenant (3)" in hint]
    assert {hit.page for hit in engine.search("coins", where="tenant = acme")} == {"Holidays"}
    assert {hit.page for hit in engine.search("coins", where="year = 2024")} == {"Salaries"}


def test_nothing_stays_on_disk(tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    engine.add_files(_FILES, workers=1)
    engine.add_records([{"title": "Mars", "text": "Mars is red."}], workers=1)
    assert list(scratch.iterdir()) == []


def test_records_have_links_metadata_and_a_source(engine: Engine) -> None:
    def records() -> Iterator[dict[str, Any]]:
        yield {"title": "Mars", "text": "Mars has two moons.", "when": date(2024, 5, 1), "moons": np.int64(2)}
        yield {"title": "Phobos", "text": "Phobos is a moon of Mars.", "moons": 0}
        yield {"title": "Mars", "text": "It is red.", "when": "2024-05-01", "moons": 2}

    assert engine.add_records(records(), source="planets.jsonl", workers=1).added == 2
    assert {hit.page for hit in engine.search("a moon", where="moons = 2")} == {"Mars"}
    (mars, phobos) = engine.store.page_graphs(["Mars", "Phobos"])
    assert [chunk.text for chunk in mars.chunks] == ["Mars has two moons.", "It is red."]
    assert phobos.chunks[0].cites == ("Mars",)
    assert engine.store.find_pages(["Mars"])["Mars"].metadata == {"when": "2024-05-01", "moons": 2}
    again = engine.add_records(records(), source="planets.jsonl", workers=1)
    assert (again.added, again.unchanged) == (0, 2)
    assert sorted(engine.remove(["planets.jsonl"])) == ["Mars", "Phobos"]


def test_a_generator_that_fails_adds_nothing(engine: Engine) -> None:
    def records() -> Iterator[dict[str, str]]:
        yield {"title": "Mars", "text": "Mars is red."}
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        engine.add_records(records(), workers=1)
    assert engine.pages() == []


def test_a_record_without_text_is_a_problem_and_the_others_are_loaded(engine: Engine) -> None:
    report = engine.add_records([{"title": "Mars"}, {"title": "Venus", "text": "Venus is hot."}], workers=1)
    assert [problem.reason for problem in report.problems] == [
        "expected title and text as strings, got title"
    ]
    assert engine.pages() == ["Venus"]
    assert report.problems[0].location == "records.jsonl, line 1"


def test_what_json_cannot_hold_costs_no_record(engine: Engine) -> None:
    records = [{"title": "Mars", "text": "Red\ud800 planet.", "n": 2**70, "year": 2024}]
    assert engine.add_records(records, workers=1).problems == []
    assert engine.store.find_pages(["Mars"])["Mars"].metadata == {"year": 2024}
    assert "planet." in engine.store.page_text("Mars")


def test_hits_can_be_put_into_a_set(engine: Engine) -> None:
    engine.add_records([{"title": "Mars", "text": "Mars is red.", "year": 2024}], workers=1)
    assert len({*engine.search("red"), *engine.search("red")}) == 1


def test_if_nothing_can_be_read_an_empty_store_says_so(engine: Engine) -> None:
    with pytest.raises(NothingReadError):
        engine.add_records([{"title": "Mars"}], workers=1)


@pytest.mark.parametrize("name", ["", "..", "a/../../b.md", "/", "a\0b", "a\ud800.md", "x" * 300, 3])
def test_a_name_that_no_file_can_have_is_refused(engine: Engine, name: Any) -> None:
    with pytest.raises(InputError, match="expected the name of a file"):
        engine.add_files({name: "text"})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["text"], "expected contents by name, .* got list"),
        ({"a.md": 3}, "a.md: expected text or bytes, got int"),
        ({}, "expected at least one source"),
        ({"Z\u00fc.md": "a", "Zu\u0308.md": "b"}, "expected names that differ"),
    ],
)
def test_what_is_not_contents_by_name_is_refused(engine: Engine, given: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        engine.add_files(given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"title": "a", "text": "b"}, "expected a list of records, .* got a single record"),
        ("text", "expected a list of records, .* got a single str"),
        (["text"], "record 1: expected a mapping with title and text, got str"),
        ([_CIRCLE], "record 1: Circular reference"),
    ],
)
def test_what_is_no_list_of_records_is_refused(engine: Engine, given: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        engine.add_records(given)


@pytest.mark.parametrize("option", ["names", "by_name", "prune", "ray"])
def test_options_about_files_on_disk_are_refused(engine: Engine, option: str) -> None:
    options: dict[str, Any] = {option: None}
    for add in (
        lambda: engine.add_files(_FILES, **options),
        lambda: engine.add_records([{"title": "a", "text": "b"}], **options),
    ):
        with pytest.raises(InputError, match=f"{option} cannot be chosen"):
            add()


@pytest.mark.parametrize("value", [object(), b"text", [1, object()], {"deep": len}, iter("ab")])
def test_an_object_without_a_text_of_its_own_is_refused(engine: Engine, value: object) -> None:
    """Its type and address would be stored; the error names both record and key."""
    with pytest.raises(InputError, match=r"record 2: expected a text, .*, in 'origin'"):
        engine.add_records([{"title": "A", "text": "a"}, {"title": "B", "text": "b", "origin": value}])
    assert engine.pages() == []
