"""What people put in front of the command: folders of anything, titles written from memory."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.e2e.conftest import Run
from trivium import Engine, NothingReadError
from trivium.errors import InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "birds/Bustard.txt": "The great bustard is a heavy bird of the steppe.",
        "birds/Heron.html": "<!doctype html><title>Heron</title><h1>Heron</h1><p>Herons wade.</p>",
        "birds/songs.zip": "PK",
        "birds/count.py": "print(2)",
        "birds/plot.py": "print(3)",
        "Makefile": "all:",
    }
    for name, content in files.items():
        (tmp_path / "things" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "things" / name).write_text(content)
    return tmp_path / "things"


def test_a_folder_is_taken_as_far_as_it_is_known(trivium: Run, folder: Path, tmp_path: Path) -> None:
    """What is left is said by kind, and the last line has a command that can be pasted."""
    store = tmp_path / "store"
    built = trivium("build", folder, "--store", store, "--embedder", "minilm")
    assert built.code == 0, built.err
    assert "left out 4 files: 2 .py, 1 .zip, Makefile" in built.err
    last = built.out.splitlines()[-1]
    assert last.startswith("2 documents, 2 passages; next: ")
    assert last.endswith(f" ask 'Tell me about Bustard.' --store {store}")
    assert "is_chunk_of" not in built.out
    again = trivium("build", folder, "--store", store)
    assert "2 unchanged" in again.out
    report = trivium("build", folder, "--store", store, "--json").json
    assert report["left_out_kinds"] == {".py": 2, ".zip": 1, "Makefile": 1}
    assert [Path(name).name for name in report["left_out"]] == [
        "Makefile",
        "count.py",
        "plot.py",
        "songs.zip",
    ]
    answer = trivium("ask", "Tell me about Bustard.", "--store", store)
    assert answer.code == 0 and "steppe" in answer.out


def test_who_is_named_and_a_title_of_words_come_first(trivium: Run, tmp_path: Path) -> None:
    """A scan's number is no question to begin with."""
    folder = tmp_path / "post"
    folder.mkdir()
    for name in ("2024-07-01 scan", "Letter"):
        (folder / f"{name}.txt").write_text("Dear Ms Ada Vesk,\n\nMs Ada Vesk leads the mill in Norway.\n")
    built = trivium("build", folder, "--store", tmp_path / "store", "--embedder", "minilm")
    *_, names, last = built.out.splitlines()
    assert names.startswith("Names: people, places") and names.endswith(f"entities {tmp_path / 'store'}")
    assert "'Tell me about Letter.'" in last
    assert "Ada Vesk (person)" in trivium("entities", tmp_path / "store").out


def test_the_demo_says_what_its_numbers_are_and_shows_the_graph(trivium: Run, own_store: Path) -> None:
    shown = trivium("demo", "--store", own_store)
    assert shown.code == 0 and "embedder: minilm" in shown.err, shown.err
    said = " ".join(shown.out.split())
    legend = said.index('"how sure" is judged')
    assert said.index("how sure: ") < legend < said.index(" 1 ", legend)
    assert "Asaph Hall — discoveries — Phobos (moon)" in shown.out
    assert f"entities {own_store}" in shown.out


def test_without_vectors_they_come_next(trivium: Run, folder: Path, tmp_path: Path) -> None:
    built = trivium("build", folder, "--store", tmp_path / "store", "--no-embed")
    assert f" embed --store {tmp_path / 'store'}" in built.out.splitlines()[-1]


def test_nothing_to_read_leaves_no_store(trivium: Run, folder: Path, tmp_path: Path) -> None:
    """Also where a folder for it is there already; a store that was there keeps what it has."""
    store, empty = tmp_path / "store", tmp_path / "empty"
    empty.mkdir()
    (folder / "cut.html").write_text("")
    for place, kept in ((store, False), (empty, True)):
        refused = trivium("build", folder / "Makefile", folder / "cut.html", "--store", place, "--no-embed")
        assert refused.code == 1
        assert "nothing could be read" in refused.err and "cut.html: the file is empty" in refused.err
        assert place.exists() == kept and not list(place.glob("*"))
    report = trivium("build", folder / "Makefile", "--store", store, "--no-embed", "--json")
    assert report.code == 1 and len(report.json["problems"]) == 1 and not store.exists()
    trivium("build", folder / "birds", "--store", store, "--no-embed")
    for unread in ("cut.html", "Makefile"):
        for command in ("build", "add"):
            later = trivium(command, folder / unread, "--store", store, "--no-embed")
            assert later.code == 1 and "nothing could be read" in later.err and later.out == ""
    later = trivium("build", folder / "cut.html", "--store", store, "--no-embed", "--json")
    assert later.code == 1 and len(later.json["problems"]) == 1
    assert trivium("build", folder / "birds", "--store", store, "--no-embed").code == 0  # nothing is new
    assert trivium("list", "--store", store, "--json").json["count"] == 2


def test_an_engine_says_when_nothing_could_be_read(folder: Path, tmp_path: Path) -> None:
    with Engine.create(tmp_path / "store") as engine:
        with pytest.raises(
            NothingReadError, match=r"expected documents .* got 2 files: 2 \.py, of no format"
        ) as error:
            engine.build([folder / "birds" / "*.py"], embed=False)
        assert error.value.report.left_out_kinds == {".py": 2}
        with pytest.raises(InputError, match="expected at least one source"):
            engine.build([], embed=False)
        engine.build([folder], embed=False)
        assert engine.build([folder / "birds" / "*.py"], embed=False).read == 0


def test_documents_are_listed(trivium: Run, folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    trivium("build", folder, "--store", store, "--no-embed")
    listed = trivium("list", "--store", store, "--json").json
    assert [(one["title"], one["passages"]) for one in listed["documents"]] == [("Bustard", 1), ("Heron", 1)]
    assert (listed["count"], listed["more"]) == (2, 0)
    assert listed["documents"][0]["source"] == str(folder / "birds" / "Bustard.txt")
    for pattern, titles in (("h*", ["Heron"]), ("*/bustard.TXT", ["Bustard"]), ("x", [])):
        found = trivium("list", pattern, "--store", store, "--json").json["documents"]
        assert [one["title"] for one in found] == titles
    nothing = trivium("list", "x", "--store", store)
    assert nothing.code == 0 and "nothing matches" in nothing.out
    first = trivium("list", "--limit", "1", "--store", store)
    assert "Bustard" in first.out and "Heron" not in first.out and "1 not shown" in first.out


def test_a_list_in_a_pipe_has_a_line_for_each_document(trivium: Run, folder: Path, tmp_path: Path) -> None:
    """Whole, whatever the width of the terminal, so that ``grep`` finds a path; the columns are aligned."""
    store, long = tmp_path / "store", folder / ("a folder with a long name " * 5).strip() / "火星 [x].txt"
    long.parent.mkdir()
    long.write_text("Mars is a planet.", encoding="utf-8")
    trivium("build", folder, "--store", store, "--no-embed")
    header, *rows, end = trivium("list", "--store", store, COLUMNS="40").out.splitlines()
    assert header.split() == ["title", "source", "format", "passages"] and end == "3 documents"
    sources = [folder / "birds" / "Bustard.txt", folder / "birds" / "Heron.html", long]
    assert [re.split(" {2,}", row)[1] for row in rows] == list(map(str, sources))
    assert {cell_len(row) for row in rows} == {len(header)}


def test_a_command_that_is_suggested_names_the_store(trivium: Run, folder: Path, tmp_path: Path) -> None:
    """As a shell takes it. Answers are given to programs with ``STORE``: they may hand them on to others."""
    store = tmp_path / "my store"
    trivium("build", folder / "birds" / "Heron.html", "--store", store, "--no-embed")
    command = f"run  trivium embed --store '{store}'"
    refused = trivium("search", "herons", "--store", store)
    assert refused.code == 1 and command in refused.err
    assert trivium("embed", "--store", store, "--embedder", "minilm").code == 0
    trivium("add", folder / "birds" / "Bustard.txt", "--store", store, "--no-embed")
    for asked in (["search", "herons"], ["ask", "What do herons do?"]):
        assert command in trivium(*asked, "--store", store).err
        assert trivium(*asked, "--store", store, "--json").json["warnings"][0].endswith("--store STORE")


def test_an_unknown_title_gets_the_nearest(trivium: Run, folder: Path, tmp_path: Path) -> None:
    """And a document goes by the name of its file, too."""
    store = tmp_path / "store"
    trivium("build", folder, "--store", store, "--no-embed")
    for written in ("bustard", "Bustart", "BUSTARD"):
        refused = trivium("remove", written, "--store", store)
        assert refused.code == 1 and "did you mean Bustard?" in refused.err
    assert "did you mean" not in trivium("remove", "Quark", "--store", store).err
    file = folder / "birds" / "Heron.html"
    file.unlink()
    assert trivium("remove", file, "--store", store, "--json").json["removed"] == ["Heron"]
    assert "no such page" in trivium("remove", file, "--store", store).err


def test_the_shell_completes_commands_and_titles(trivium_process: Run, folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    trivium_process("build", folder, "--store", store, "--no-embed")

    def completed(typed: str) -> str:
        return trivium_process(_TRIVIUM_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS=typed).out

    assert "build" in completed("trivium bu") and "remove" not in completed("trivium bu")
    assert "Bustard" in completed(f"trivium remove --store {store} Bu")
    assert "_TRIVIUM_COMPLETE" in trivium_process("--show-completion", SHELL="/bin/bash").out


def test_a_build_prunes_what_was_deleted(trivium: Run, folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    (folder / "heron.txt").write_text("The heron waits.", "utf-8")
    assert trivium("build", folder, "--store", store, "--no-embed").code == 0
    (folder / "heron.txt").unlink()
    told = "the store still has 1 document whose file is gone (--prune removes it)"
    assert told in trivium("build", folder, "--store", store, "--no-embed").err
    done = trivium("build", folder, "--store", store, "--no-embed", "--prune", "--json")
    assert done.code == 0 and json.loads(done.out)["removed"] == ["heron"]


def test_a_build_names_what_it_replaced_and_removed(trivium: Run, folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    (folder / "heron.txt").write_text("The heron waits.", "utf-8")
    (folder / "teal.txt").write_text("The teal swims.", "utf-8")
    assert "replaced:" not in trivium("build", folder, "--store", store, "--no-embed").out
    (folder / "heron.txt").unlink()
    (folder / "teal.txt").write_text("The teal dives.", "utf-8")
    done = trivium("build", folder, "--store", store, "--no-embed", "--prune")
    assert "  replaced: teal\n  removed: heron\n" in done.out
    assert trivium("build", folder, "--store", store, "--no-embed", "--json").json["replaced"] == []


def test_pruning_needs_a_folder(trivium: Run, folder: Path, tmp_path: Path) -> None:
    file = next(path for path in folder.rglob("*") if path.is_file())
    refused = trivium("build", file, "--store", tmp_path / "store", "--prune")
    assert refused.code == 2 and "a folder" in refused.err and not (tmp_path / "store").exists()
