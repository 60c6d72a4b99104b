"""Several folder stores as one, from the command line and over HTTP."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import requests

from tests.built_stores import EMBEDDER
from tests.e2e.conftest import Run
from tests.e2e.served import ready, serve
from trivium.sample import question_files

QUESTION = "Who discovered the moons of Mars?"


@pytest.fixture(scope="module")
def split_sample(trivium: Run, sample_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample in three shards."""
    folder = tmp_path_factory.mktemp("split") / "shards"
    result = trivium("shards", "split", sample_store, folder, "--into", "3", "--json")
    assert result.code == 0, result.err
    assert [shard["pages"] for shard in result.json["shards"]] == [17, 17, 17]
    return folder


def test_every_reading_command_takes_the_folder(
    trivium: Run, sample_store: Path, split_sample: Path, tmp_path: Path
) -> None:
    """Search, ask, evaluate, stats, list and check say what they say of one store."""

    def both(*arguments: str | Path) -> list[dict[str, object]]:
        return [
            trivium(*arguments, "--store", store, "--json").json for store in (split_sample, sample_store)
        ]

    found, expected = both("search", QUESTION, "--k", "3")
    assert [hit["uri"] for hit in found["hits"]] == [hit["uri"] for hit in expected["hits"]]
    found, expected = both("ask", QUESTION, "--model", "none")
    assert found["answer"] == expected["answer"] and found["statements"] == expected["statements"]
    found, expected = both("stats")
    assert found["nodes"] == expected["nodes"] and found["relationships"] == expected["relationships"]
    found, expected = both("evaluate", question_files()[0], "--retriever", "vector", "--fusion", "default")
    for name, measures in expected["rows"].items():
        for measure in ("hit@1", "hit@5", "mrr"):
            assert found["rows"][name][measure] == pytest.approx(measures[measure], abs=0.01)
    found, expected = both("list")
    assert [page["title"] for page in found["documents"]] == [page["title"] for page in expected["documents"]]
    found, expected = (
        trivium("export", tmp_path / store.name, "--store", store, "--json").json
        for store in (split_sample, sample_store)
    )
    assert found["nodes"] == expected["nodes"] and found["relationships"] == expected["relationships"]
    assert trivium("check", split_sample).code == 0
    assert "shard-2" in trivium("shards", "list", split_sample).out


def test_documents_come_and_go_in_the_shard_that_has_them(trivium: Run, tmp_path: Path) -> None:
    """Two stores of different things become one; what is added goes to the smaller one."""
    for name, titles in (("manuals", ("Pump", "Valve")), ("wiki", ("Rain",))):
        (tmp_path / name).mkdir()
        for title in titles:
            (tmp_path / name / f"{title}.md").write_text(f"# {title}\n\nThe {title.lower()} moves water.\n")
        built = trivium(
            "build", tmp_path / name, "--store", tmp_path / f"{name}-store", "--embedder", EMBEDDER
        )
        assert built.code == 0, built.err
    both = tmp_path / "both"
    assert trivium("shards", "create", both, tmp_path / "manuals-store", tmp_path / "wiki-store").code == 0
    (tmp_path / "River.md").write_text("# River\n\nA river carries rain from a pump to the sea.\n")
    assert trivium("add", tmp_path / "River.md", "--store", both).code == 0
    hits = trivium("search", "Where does a river carry rain?", "--store", both, "--json").json["hits"]
    assert hits[0]["page"] == "River"
    listed = trivium("shards", "list", both, "--json").json["shards"]
    assert [(Path(shard["store"]).name, shard["pages"]) for shard in listed] == [
        ("manuals-store", 2),
        ("wiki-store", 2),
    ]
    assert (
        trivium("search", "river", "--store", tmp_path / "wiki-store", "--json").json["hits"][0]["page"]
        == "River"
    )
    assert trivium("remove", "River", "--store", both).code == 0
    listed = trivium("shards", "list", both, "--json").json["shards"]
    assert [shard["pages"] for shard in listed] == [2, 1]


@pytest.mark.parametrize("by_shards", [False, True])
def test_a_build_fills_new_shards(trivium: Run, tmp_path: Path, by_shards: bool) -> None:
    """Evenly, with the vectors of all; also a build that parses and embeds documents in portions."""
    for number in range(6):
        (tmp_path / f"{number}.md").write_text(f"# Page {number}\n\nText number {number} about rivers.\n")
    store = tmp_path / "store"
    portions = ("--shards", tmp_path / "portions") if by_shards else ()
    assert trivium("shards", "create", store, "--new", "3").code == 0
    pages = sorted(tmp_path.glob("*.md"))
    built = trivium("build", *pages, "--store", store, "--embedder", EMBEDDER, "--json", *portions)
    assert built.code == 0, built.err
    listed = trivium("shards", "list", store, "--json").json["shards"]
    assert [shard["pages"] for shard in listed] == [2, 2, 2]
    assert trivium("stats", "--store", store, "--json").json["to_embed"] == 0


def test_errors_say_what_to_do(trivium: Run, sample_store: Path, tmp_path: Path) -> None:
    """Overlapping documents, nothing to make shards of, and a folder that is a store."""
    other = tmp_path / "other"
    assert trivium("shards", "create", other, "--new", "1").code == 0
    twice = trivium("shards", "create", tmp_path / "x", sample_store, tmp_path / "missing")
    assert twice.code == 1 and "missing" in twice.err
    nothing = trivium("shards", "create", tmp_path / "x")
    assert nothing.code == 1 and "expected 1 to 256 shards" in nothing.err
    taken = trivium("shards", "split", sample_store, other, "--into", "2")
    assert taken.code == 1 and "new or empty folder" in taken.err
    backup = trivium("backup", other, tmp_path / "file")
    assert backup.code == 1 and "back up each of them" in backup.err


@pytest.mark.parametrize("options", [(), ("--processes", "1")])
def test_a_server_answers_from_shards_and_changes_them(
    trivium: Run, sample_store: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    """In its own process and in another one: search, a document with its links, a new document, and its removal."""
    store = tmp_path / "shards"
    assert trivium("shards", "split", sample_store, store, "--into", "2").code == 0
    with serve(store, *options) as (_, address), requests.Session() as client:
        ready(address)

        def search(question: str) -> list[str]:
            reply = client.post(f"{address}search", json={"question": question, "k": 5}, timeout=60)
            assert reply.status_code == 200, reply.text
            return [hit["page"] for hit in reply.json()["hits"]]

        expected = trivium("search", QUESTION, "--store", sample_store, "--k", "5", "--json").json["hits"]
        assert search(QUESTION) == [hit["page"] for hit in expected]
        page = client.get(f"{address}documents/Mars", timeout=60).json()
        assert json.dumps(page).count("Phobos") > 0
        text = "# Vulcan\n\nVulcan was a planet that Le Verrier looked for inside the orbit of Mercury.\n"
        job = client.post(f"{address}documents", files={"file": ("Vulcan.md", text)}, timeout=60).json()
        deadline = time.monotonic() + 60
        while job["state"] not in ("done", "failed"):
            assert time.monotonic() < deadline
            time.sleep(0.1)
            job = client.get(f"{address}jobs/{job['id']}", timeout=60).json()
        assert job["state"] == "done", job
        assert search("Which planet did Le Verrier look for?")[0] == "Vulcan"
        assert client.delete(f"{address}documents/Vulcan", timeout=60).status_code == 202
        while "Vulcan" in search("Which planet did Le Verrier look for?"):
            assert time.monotonic() < deadline
            time.sleep(0.1)
