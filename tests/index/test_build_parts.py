"""A build by parts makes the store of an ordinary build, and makes no part twice. Ray runs in this process here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ray_cluster import differences
from tests.fakes.ray_here import RayHere
from tests.index.mixed_sources import write_sources
from trivium.engine import Engine
from trivium.errors import ConfigurationError, InputError, MissingExtraError
from trivium.index import build_parts, ray_build
from trivium.index.build_parts import Part, Work, divide
from trivium.index.load_report import IngestReport
from trivium.index.ray_build import check_ray, embed_on_node, parse_on_node
from trivium.parser.sources.discover import discover
from trivium.parser.sources.source_items import Item
from trivium.settings.limits import DEFAULT_LIMITS
from trivium.testing.toys import HashEmbedder


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sources(tmp_path_factory.mktemp("sources"), pages=12)


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> RayHere:
    here = RayHere()
    monkeypatch.setattr(ray_build, "check_ray", lambda _: here)
    monkeypatch.setattr(build_parts, "DOCUMENTS", 5)
    return here


def build(store: Path, sources: Path, **options: Any) -> IngestReport:
    with Engine.create(store, HashEmbedder()) as engine:
        return engine.build([sources], **options)


def differing(one: Path, other: Path) -> list[str]:
    with Engine.open(one, HashEmbedder()) as a, Engine.open(other, HashEmbedder()) as b:
        return differences(a.store, b.store)


def files(store: Path) -> dict[Path, int]:
    """The files of parts, and when each was written."""
    return {path: path.stat().st_mtime_ns for path in Path(f"{store}.parts").glob("*/*")}


def test_the_store_is_that_of_an_ordinary_build(
    sources: Path, tmp_path: Path, ray: RayHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the documents, and however texts are spread: also those that are embedded when all names are known. What
    could not be read is reported alike. A second build makes only the part with a problem, whose cause may be gone, and
    changes nothing."""
    for name, few in (("_FEW", 10), ("_TEXTS", 50), ("_PASSAGES", 7)):
        monkeypatch.setattr(ray_build, name, few)
    ordinary = build(tmp_path / "ordinary", sources)
    store = tmp_path / "store"
    report = build(store, sources, ray="auto")
    assert differing(tmp_path / "ordinary", store) == []
    assert (report.added, report.languages, report.problems) == (
        ordinary.added,
        ordinary.languages,
        ordinary.problems,
    )
    assert [problem.location.rpartition("/")[2] for problem in report.problems] == ["broken.pdf"]
    assert [(d.page, d.kept) for d in report.duplicates] == [(d.page, d.kept) for d in ordinary.duplicates]
    assert report.duplicates and ray.tasks["embed_texts_on_node"] > 3
    before = files(store)
    ray.tasks.clear()
    with Engine.open(store, HashEmbedder()) as engine:
        state = engine.store.state
        again = engine.build([sources], ray="auto")
        assert (again.added, again.replaced, engine.store.state) == (0, 0, state)
    after = files(store)
    assert ray.tasks == {"parse_on_node": 1, "embed_on_node": 1} and before.keys() == after.keys()
    assert [path.suffix for path in after if after[path] != before[path]] == [".faulty"]


def test_two_different_stores_are_told_apart(sources: Path, tmp_path: Path) -> None:
    """The comparison that these tests rest on."""
    build(tmp_path / "one", sources)
    build(tmp_path / "without", sources, sentences=False)
    assert differing(tmp_path / "one", tmp_path / "without") == ["vectors of sentences"]
    with Engine.open(tmp_path / "without", HashEmbedder()) as engine:
        engine.remove(["Earth"])
    assert differing(tmp_path / "one", tmp_path / "without")


def test_an_interrupted_build_goes_on_with_the_parts_that_are_missing(
    tmp_path: Path, ray: RayHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And where a document has changed, only its part is made again."""
    monkeypatch.setattr(build_parts, "DOCUMENTS", 2)
    folder, store = tmp_path / "notes", tmp_path / "store"
    folder.mkdir()
    for n in range(8):
        (folder / f"{n}.md").write_text(f"# Note {n}\n\nText {n}. More of it.\n")

    def interrupt(stage: str, done: int, _: int) -> None:
        if (stage, done) == ("parts", 3):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(store, folder, ray="auto", progress=interrupt)
    assert len(files(store)) == 3
    assert build(store, folder, ray="auto").read == 8 and ray.tasks["parse_on_node"] == 4
    (folder / "3.md").write_text("# Note 3\n\nAnother text. More of it.\n")
    assert build(store, folder, ray="auto").replaced == 1 and ray.tasks["parse_on_node"] == 5
    build(tmp_path / "ordinary", folder)
    assert differing(tmp_path / "ordinary", store) == []


def test_a_damaged_part_is_named(tmp_path: Path, ray: RayHere) -> None:
    (tmp_path / "note.md").write_text("# Note\n\nText.\n")
    build(tmp_path / "store", tmp_path / "note.md", ray="auto")
    (victim,) = files(tmp_path / "store")
    victim.write_bytes(victim.read_bytes()[:-20])
    with pytest.raises(InputError, match=f"{victim.name} cannot be read .*: delete it and build again"):
        build(tmp_path / "store", tmp_path / "note.md", ray="auto")


def test_parts_in_a_folder_of_sources_are_no_documents(tmp_path: Path, ray: RayHere) -> None:
    (tmp_path / "note.md").write_text("# Note\n\nText.\n")
    build(tmp_path / "store", tmp_path, ray="auto", parts=tmp_path / "made")
    found = list(discover([str(tmp_path)], "auto", DEFAULT_LIMITS))
    assert [Path(item.location).name for item in found if isinstance(item, Item)] == ["note.md"]


def test_nothing_is_embedded_where_that_is_not_wanted(tmp_path: Path, ray: RayHere) -> None:
    (tmp_path / "note.md").write_text("# Note\n\nText.\n")
    build(tmp_path / "store", tmp_path / "note.md", ray="auto", embed=False)
    assert ray.tasks == {"parse_on_node": 1}
    build(tmp_path / "store", tmp_path / "note.md", ray="auto")
    build(tmp_path / "ordinary", tmp_path / "note.md")
    assert differing(tmp_path / "ordinary", tmp_path / "store") == []


class OnCard(HashEmbedder):
    gpus = 1.0


def test_where_nodes_have_cards_this_machine_embeds_nothing(tmp_path: Path, ray: RayHere) -> None:
    """It may have none: the last few texts, which it embeds otherwise, are a task, too."""
    page = tmp_path / "note.html"
    page.write_text("<title>Note</title><h1>Note</h1><p>It cites <a href='/wiki/Mars'>Mars</a>.")
    for embedder, tasks in ((HashEmbedder(), 0), (OnCard(), 1)):
        ray.tasks.clear()
        with Engine.create(tmp_path / type(embedder).__name__, embedder) as engine:
            engine.build([page], ray="auto")
        assert ray.tasks.get("embed_texts_on_node", 0) == tasks


def test_parts_are_filled_to_their_size_in_documents_and_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = []
    for n in range(5):
        file = tmp_path / f"{n}.txt"
        file.write_text("x" * (10 if n < 3 else 100))
        items.append(Item("text", str(file)))
    monkeypatch.setattr(build_parts, "_MAX_BYTES", 100)
    monkeypatch.setattr(build_parts, "DOCUMENTS", 2)
    found = list(divide(items, "all"))
    assert [len(part.items) for part in found] == [2, 2, 1]
    assert [part.key for part in found] != [part.key for part in divide(items, "others")]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"late": True}, "chunked late"),
        ({"chunker": "semantic"}, "chunker semantic"),
        ({"headings": False}, "without headings"),
    ],
)
def test_what_hangs_on_more_than_a_part_is_refused(
    options: dict[str, Any], named: str, tmp_path: Path, ray: RayHere
) -> None:
    (tmp_path / "note.md").write_text("# Note\n\nText.\n")
    with pytest.raises(ConfigurationError, match=named):
        build(tmp_path / "store", tmp_path / "note.md", ray="auto", **options)
    assert not ray.tasks


# -- what a node says ----------------------------------------------------------------------------------------


def test_a_node_that_lacks_something_says_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    part = Part("00", (Item("text", "gone/a.txt"), Item("text", "gone/b.txt")))
    for cwd, version, reason in (
        ("/nowhere", None, "does not see the folder /nowhere"),
        (str(tmp_path), None, f"does not see the sources \\({tmp_path}/gone/a.txt\\)"),
        (str(tmp_path), "0", "expected Trivium 0"),
    ):
        work = Work(cwd, DEFAULT_LIMITS, "blocks", **({} if version is None else {"version": version}))
        with pytest.raises(ConfigurationError, match=f"the node .*{reason}"):
            parse_on_node(work, part)


def test_a_node_with_another_version_of_the_embedder_says_so(tmp_path: Path) -> None:
    work = Work(str(tmp_path), DEFAULT_LIMITS, "blocks", HashEmbedder(16), HashEmbedder(8).identity)
    with pytest.raises(ConfigurationError, match=r"the node .*dimension=8.*dimension=16"):
        embed_on_node(work, {})


@pytest.mark.parametrize("address", ["here", "host:", ":1", "ray://host:10001", "host:port"])
def test_what_is_no_address_of_a_cluster_is_refused(address: str) -> None:
    with pytest.raises(ConfigurationError, match="expected auto, local or HOST:PORT"):
        check_ray(address)


def test_without_ray_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'trivium\[ray\]'"):
        check_ray("auto")
