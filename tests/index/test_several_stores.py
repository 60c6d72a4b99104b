"""Several stores that are built in parallel are those that a plain build, split afterwards, gives."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Generator, Iterable, Iterator
from multiprocessing import active_children
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from typer import BadParameter

from benchmarks.ray_cluster import differences
from tests.contract.state import state_of
from tests.index.sharded_builds import write_sources
from trivium.cli.into import check_into
from trivium.engine import Engine
from trivium.errors import ConfigurationError, InputError, NothingReadError, StoreError
from trivium.graph.embedded import EmbeddedStore
from trivium.graph.factory import open_store
from trivium.graph.protocols import GraphStore
from trivium.graph.sharded.manifest import FILE
from trivium.graph.sharded.store import ShardedStore
from trivium.graph.shards import split_store
from trivium.index.parsing import Loaded, parse_item
from trivium.index.report import IngestReport
from trivium.index.sharding import local
from trivium.index.sharding.build import ShardPlan
from trivium.index.sharding.several import build_stores
from trivium.limits import DEFAULT_LIMITS
from trivium.parser.sources.base import Item
from trivium.testing.toys import HashEmbedder


class ParsesHere:
    """Parses in this process, to save the start of others."""

    def __init__(self, *_: object) -> None:
        pass

    def parse(self, items: Iterable[Item]) -> Generator[Loaded, None, None]:
        yield from (parse_item(item, DEFAULT_LIMITS) for item in items)

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True, scope="module")
def parses_here() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "ParserPool", ParsesHere)
        yield


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sources(tmp_path_factory.mktemp("sources"), pages=12)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Few documents, some of which lead to one another."""
    for number, title in enumerate("ABCDEF"):
        name, text = f"{title.lower()}.md", f"Of [[{title}2]] and [[alias {5 - number}]]."
        write(tmp_path / "notes", ("md", "", name, title, [f"alias {number}"], text))
    return tmp_path / "notes"


def build(folder: Path, sources: Path, **options: Any) -> IngestReport:
    """A plain build."""
    with Engine.create(folder, HashEmbedder(8)) as engine:
        return engine.build([sources], **options)


def build_several(
    folder: Path, sources: Path, into: int, shards: Path, documents: int = 5, **options: Any
) -> IngestReport:
    return build_stores(
        folder,
        [sources],
        into,
        HashEmbedder(8),
        **{"workers": 1, "shards": ShardPlan(shards, documents=documents), **options},
    )


def answers(store: GraphStore) -> dict[str, Any]:
    """All that a store answers, but for what hangs on which shard has which page: texts of several count in each."""
    found = state_of(store)
    del found["embedded"]
    found["relationships"].pop("semantic_rel", None)
    found["pending_sentences"].sort(key=repr)  # listed store by store
    return found


def stores_of(folder: Path) -> list[int]:
    """Number of documents of each store."""
    with open_store(folder) as store:
        assert isinstance(store, ShardedStore)
        return [shard.count_pages() for shard in store.shards]


def test_the_stores_answer_as_those_of_a_plain_build_that_is_split(sources: Path, tmp_path: Path) -> None:
    """Documents of all kinds, copies, files that link to one another, mentions, records; with the metadata, languages and
    problems of a plain build. No copy of a text waits to be embedded; hits and scores are the same."""
    options: dict[str, Any] = {"language": "auto", "any_embedder": True, "meta": {"year": 2024}}
    (sources / "mond.txt").write_text(
        "Der Mond ist rund, und er kreist um die Erde. Das ist nicht neu.\n" * 5
    )
    plain = build(tmp_path / "plain", sources, **options)
    split_store(tmp_path / "plain", tmp_path / "split", 3)
    report = build_several(tmp_path / "out", sources, 3, tmp_path / "shards", **options)
    for facts in ("added", "languages", "likely_language", "problems", "duplicates", "left_out"):
        assert getattr(report, facts) == getattr(plain, facts), facts
    assert len(report.languages) > 1 and report.duplicates and len(report.problems) == 1
    with open_store(tmp_path / "split") as one, open_store(tmp_path / "out") as other:
        assert answers(other) == answers(one)
        assert [d for d in differences(one, other) if not d.startswith("embedded")] == []
        assert other.languages == one.languages and other.info().to_embed == 0
    assert min(stores_of(tmp_path / "out")) > 0
    with (
        Engine.open(tmp_path / "split", HashEmbedder(8)) as one,
        Engine.open(tmp_path / "out", HashEmbedder(8)) as other,
    ):
        for question in ("Who discovered the moons of Mars?", "What is the plan?"):
            hits = [[(hit.uri, hit.score) for hit in engine.search(question)] for engine in (one, other)]
            assert hits[0] == hits[1] != []


_titles = st.sampled_from(("A", "B", "Notes", "C x"))
_sentences = st.lists(
    st.sampled_from(
        (
            "Of A and B.",
            "The C x is D.",
            "See [that](../a/notes.md#aims).",
            "See [this](x.md).",
            "It is [[D]], [[B]] or [[notes]].",
            "A term (TRM) is a TRM.",
        )
    ),
    min_size=1,
    max_size=3,
).map(" ".join)
_markdown = st.tuples(
    st.just("md"),
    st.sampled_from(("", "a/", "b/")),
    st.sampled_from(("x.md", "y.md", "notes.md")),
    _titles,
    st.lists(st.sampled_from(("A", "D", "E")), max_size=2),
    _sentences,
)
_wiki = st.tuples(
    st.just("html"),
    st.just("w/"),
    st.sampled_from(("1.html", "2.html", "3.html")),
    _titles,
    st.lists(st.sampled_from(("A", "D", "E", "B")), max_size=1),
    st.integers(1, 3).map(lambda n: f"{n}"),
)
_records = st.tuples(
    st.just("jsonl"), st.just(""), st.sampled_from(("r.jsonl", "s.jsonl")), _titles, st.just([]), _sentences
)
_documents = st.lists(st.one_of(_markdown, _wiki, _records), min_size=1, max_size=7)


def write(folder: Path, document: tuple[str, str, str, str, list[str], str]) -> None:
    kind, place, name, title, aliases, text = document
    file = folder / place / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if kind == "md":
        file.write_text(
            f"---\ntitle: {title}\naliases: {json.dumps(aliases)}\n---\n\n{text}\n\n## Aims\n\nRest.\n"
        )
    elif kind == "html":
        known: dict[str, Any] = {"wgPageName": title.replace(" ", "_"), "wgRevisionId": int(text)}
        if aliases:
            known["wgRedirectedFrom"] = aliases[0]
        links = "".join(f"<a href='/wiki/{name}'>{name}</a>, " for name in ("A", "D", "E"))
        file.write_text(
            f"<head><script>RLCONF={json.dumps(known)};</script></head><body><h1 id='firstHeading'>{title}</h1>"
            f"<div id='mw-content-text'><p>Revision {text} of {title} with {links}.</p></div></body>"
        )
    else:
        with file.open("a") as lines:
            lines.write(json.dumps({"title": title, "text": text}) + "\n")


@given(_documents, st.integers(1, 3), st.integers(1, 3))
@example([("md", "", "x.md", "A", [], "[[D]] is here."), ("md", "b/", "y.md", "B", ["D"], "Text.")], 2, 1)
@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
def test_whatever_the_documents_say_of_one_another(documents: list[Any], into: int, size: int) -> None:
    """Titles and redirects of others in any store, copies of several revisions, files of one title, links to files, names
    that records and texts without links mention."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for document in documents:
            write(folder / "sources", document)
        build(folder / "plain", folder / "sources")
        split_store(folder / "plain", folder / "split", into)
        build_several(folder / "out", folder / "sources", into, folder / "shards", size)
        with open_store(folder / "split") as one, open_store(folder / "out") as other:
            assert answers(other) == answers(one)


def test_a_link_by_a_redirect_of_a_document_in_another_store_is_resolved(tmp_path: Path) -> None:
    """Also if that document comes later: in a build into shards it is not."""
    write(tmp_path / "sources", ("md", "", "a.md", "War", [], "The god [[Ares]]."))
    write(tmp_path / "sources", ("md", "", "b.md", "Mars", ["Ares"], "He is red."))
    build_several(tmp_path / "out", tmp_path / "sources", 2, tmp_path / "shards", 1)
    assert stores_of(tmp_path / "out") == [1, 1]
    with EmbeddedStore.open(tmp_path / "out" / "shard-1") as store:
        assert [page.uri for page in store.pages()] == ["War"]
        assert store.cited(["War#chunk-1"]) == {"War#chunk-1": ["Mars"]}


def test_a_worker_that_is_killed_costs_its_store_only(notes: Path, tmp_path: Path) -> None:
    """By SIGKILL, when one of three stores is written: that one is not written again."""
    folder, shards = tmp_path / "out", tmp_path / "shards"
    kept: dict[str, str] = {}
    killed: list[int] = []

    def kill(stage: str, *_: int) -> None:
        if stage == "stores" and not killed:
            kept.update(made(shards, "write"))
            for worker in filling():
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)

    build_several(folder, notes, 3, shards, 2, workers=2, progress=kill)
    assert killed and 1 <= len(kept) < 3 and not filling()
    finished = made(shards, "finish")
    assert len(finished) == 3 and kept.items() <= finished.items()
    assert attempts(folder) == set(), "nothing is left of what was killed"
    build(tmp_path / "plain", notes)
    split_store(tmp_path / "plain", tmp_path / "split", 3)
    with open_store(tmp_path / "split") as one, open_store(folder) as other:
        assert answers(other) == answers(one)


def filling() -> list[int]:
    """The processes that fill stores."""
    return [child.pid for child in active_children() if child.name == "fill parts" and child.pid is not None]


def made(shards: Path, step: str) -> dict[str, str]:
    """In which folder a step of each store was done, by number."""
    return {path.stem: json.loads(path.read_text())[1] for path in shards.glob(f"stores/*/*.{step}")}


def attempts(folder: Path) -> set[str]:
    """Names of the folders in which stores are made."""
    return {path.name for path in folder.glob(".shard-*.part")}


class StopError(Exception):
    """A build that is ended."""


@pytest.mark.parametrize("last", [1, 3])
def test_what_is_finished_is_not_made_again(notes: Path, tmp_path: Path, last: int) -> None:
    """Whether it was ended while the two stores were written, or while they were completed. Until all are there,
    the folder stands for nothing. Then nothing is done, and nothing is written."""

    def stop(stage: str, done: int, _: int) -> None:
        if (stage, done) == ("stores", last):
            raise StopError

    out, shards = tmp_path / "out", tmp_path / "shards"
    with pytest.raises(StopError):
        build_several(out, notes, 2, shards, progress=stop)
    assert not (out / FILE).exists()
    made = {path.name: (path / "graph.db").stat().st_ino for path in out.iterdir()}
    assert len(made) == min(last, 2)
    report = build_several(out, notes, 2, shards)
    again = {(path / "graph.db").stat().st_ino for path in out.iterdir() if path.is_dir()}
    assert again >= set(made.values()) and len(again) == 2 and report.added > 0
    times = written(out)
    report = build_several(out, notes, 2, shards)
    assert report.added == 0 and report.unchanged > 0
    assert written(out) == times


def written(folder: Path) -> dict[Path, int]:
    """When each file was written, but for what SQLite shares between those that read."""
    return {
        path: path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith("-shm")
    }


def test_stores_of_other_documents_are_made_anew_until_all_are_there(tmp_path: Path) -> None:
    """Those that an interrupted build has left; finished ones are never written over."""

    def stop(stage: str, done: int, _: int) -> None:
        if (stage, done) == ("stores", 3):
            raise StopError

    folder, out, shards = tmp_path / "notes", tmp_path / "out", tmp_path / "shards"
    for name in "abc":
        write(folder, ("md", "", f"{name}.md", name.upper(), [], "Text."))
    with pytest.raises(StopError):
        build_several(out, folder, 2, shards, progress=stop)
    write(folder, ("md", "", "d.md", "D", [], "Another."))
    build_several(out, folder, 2, shards)
    assert stores_of(out) == [2, 2]
    write(folder, ("md", "", "e.md", "E", [], "One more."))
    for into in (2, 3):
        with pytest.raises(StoreError, match="stands for stores already, which are of other documents"):
            build_several(out, folder, into, shards)
    build(out, folder)  # adds to them
    assert sum(stores_of(out)) == 5
    with pytest.raises(StoreError, match="or were changed since they were built"):
        build_several(out, folder, 2, shards)


def test_what_is_in_the_folder_is_never_removed(tmp_path: Path) -> None:
    """A file, a store, a store that is called like one of ours; nor is anything made of nothing."""
    folder, out, shards = tmp_path / "notes", tmp_path / "out", tmp_path / "shards"
    write(folder, ("md", "", "a.md", "A", [], "Text."))
    out.mkdir()
    (out / "mine").write_text("")
    with pytest.raises(StoreError, match=r"expected a new or empty folder for the stores, got .*mine"):
        build_several(out, folder, 2, shards)
    (out / "mine").unlink()
    build(out / "shard-1", folder)
    with pytest.raises(StoreError, match=r"expected a new or empty folder for the stores, got .*shard-1"):
        build_several(out, folder, 2, shards)
    with pytest.raises(StoreError, match="is a store already"):
        build_several(out / "shard-1", folder, 2, shards)
    with pytest.raises(InputError, match="expected 1 to 256 stores, got 0"):
        build_several(tmp_path / "new", folder, 0, shards)
    with pytest.raises(InputError, match="expected a folder for the stores, got bolt://localhost"):
        build_stores("bolt://localhost", [folder], 2, HashEmbedder(8))
    with pytest.raises(ConfigurationError, match="by the chunker semantic:300, which asks a model"):
        build_several(tmp_path / "new", folder, 2, shards, chunker="semantic")
    (folder / "a.md").unlink()
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    with pytest.raises(NothingReadError):
        build_several(tmp_path / "new", folder, 2, shards)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("store", "given", "reason"),
    [
        ("bolt://localhost:7687", {}, "several stores are folders"),
        ("new", {"questions": True}, "not together with --questions: load them afterwards"),
        ("new", {"images": True}, "not together with --images: embed pictures afterwards"),
        ("new", {"late": True}, "not together with --late: a build by shards"),
        ("new", {"no_headings": True}, "not together with --no-headings"),
    ],
)
def test_options_that_need_all_documents_in_one_process_are_refused(
    store: str, given: dict[str, bool], reason: str
) -> None:
    usual = {"questions": False, "images": False, "late": False, "no_headings": False}
    with pytest.raises(BadParameter, match=reason):
        check_into(store, **{**usual, **given})


def test_without_vectors_and_with_more_stores_than_documents(tmp_path: Path) -> None:
    """Stores that get no document are empty, and searched with the others."""
    folder, out = tmp_path / "notes", tmp_path / "out"
    write(folder, ("md", "", "a.md", "A", [], "Text of [[B]]."))
    build_several(out, folder, 3, tmp_path / "shards", embed=False)
    assert sorted(stores_of(out)) == [0, 0, 1]
    with open_store(out) as store:
        assert sorted(store.pending_texts()) == ["A", "A > Aims: Rest.", "A#Aims", "A: Text of B.", "B"]
        assert store.keyword_search(["text"], 5) == ["A#chunk-1"]
