"""Addresses in files mean other files; files of one title are pages of their own, and stay what they are."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.memory_store import MemoryStore
from trivium.graph.schema import Hop
from trivium.index.file_links import FilePaths
from trivium.index.load import load
from trivium.index.load_report import IngestReport
from trivium.index.parser_process import ParserProcess

SITE = FilePaths(
    [
        "site/README.md",
        "site/content/en/docs/_index.md",
        "site/content/en/docs/setup.md",
        "site/content/en/docs/tasks/run.md",
        "site/content/de/docs/setup.md",
        "site/notes/My note.md",
        "site/notes/Größe.md",
        "site/pictures/plan.png",
        "site/page.html",
    ]
)
RUN = "site/content/en/docs/tasks/run.md"


@pytest.mark.parametrize(
    ("address", "path", "means"),
    [
        ("../setup.md", RUN, "site/content/en/docs/setup.md"),
        ("../setup.md#linux", RUN, "site/content/en/docs/setup.md"),
        ("../setup", RUN, "site/content/en/docs/setup.md"),
        ("../Setup.html?x=1", RUN, "site/content/en/docs/setup.md"),
        ("..", RUN, "site/content/en/docs/_index.md"),
        ("../", RUN, "site/content/en/docs/_index.md"),
        ("../../setup/", RUN, "site/content/en/docs/setup.md"),
        ("/docs/setup/", RUN, "site/content/en/docs/setup.md"),
        ("/docs/setup/", "site/content/de/docs/x.md", "site/content/de/docs/setup.md"),
        ("/docs/", RUN, "site/content/en/docs/_index.md"),
        ("/page.html", RUN, "site/page.html"),
        ("/etup/", RUN, None),
        ("/docs/gone/", RUN, None),
        ("gone.md", RUN, None),
        ("./setup.md", RUN, None),
        ("setup", RUN, "site/content/en/docs/setup.md"),
        ("../../../../notes/Gr%C3%B6%C3%9Fe.md", RUN, "site/notes/Größe.md"),
        ("[[my note]]", RUN, "site/notes/My note.md"),
        ("[[notes/My note#Part]]", RUN, "site/notes/My note.md"),
        ("[[Gone]]", RUN, None),
        ("/pictures/plan.png", RUN, "site/pictures/plan.png"),
        ("/pictures/plan.jpg", RUN, None),
        ("/pictures/plan", RUN, None),
        ("../../../../../../../page.html", RUN, None),
        ("", RUN, None),
        ("#top", RUN, None),
        ("/", RUN, None),
    ],
)
def test_an_address_means_the_file_that_a_site_shows_there(
    address: str, path: str, means: str | None
) -> None:
    assert SITE.find(address, path) == means


def test_of_several_files_the_nearest_is_meant_then_the_shortest_path() -> None:
    files = FilePaths(["a/x/note.md", "a/y/note.md", "note.md"])
    assert files.find("[[note]]", "a/y/other.md") == "a/y/note.md"
    assert files.find("[[note]]", "b/other.md") == "note.md"


@given(st.text(alphabet="ab/.#?[]%2 \\", max_size=20), st.sampled_from(["a.md", "a/b.md", "a/index.md", ""]))
def test_whatever_an_address_is_it_means_a_file_that_is_there_or_none(address: str, path: str) -> None:
    files = FilePaths(["a.md", "a/b.md", "a/index.md", "b/a/b.html"])
    assert files.find(address, path) in {None, "a.md", "a/b.md", "a/index.md", "b/a/b.html"}


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def loaded(store: MemoryStore, *sources: Path, isolated: ParserProcess | None = None) -> IngestReport:
    report = load([str(source) for source in sources], store, workers=1, isolated=isolated)
    assert report.problems == []
    return report


def citations(store: MemoryStore) -> dict[str, set[str]]:
    pages = store.expand([page.uri for page in store.pages()], Hop.BELOW)
    cited = store.cited([chunk for chunks in pages.values() for chunk in chunks])
    return {page: {uri for chunk in chunks for uri in cited[chunk]} for page, chunks in pages.items()}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write(
        tmp_path / "docs",
        index="# Home\n\nSee [setup](guide/setup.md#linux) and [nowhere](/gone/).",
        guide__setup="# Setup\n\nBack [home](../index.md), or [[Overview]].",
        guide__overview="# Overview\n\nOf the guide: [setup](setup).",
        api__overview="# Overview\n\nOf the API: [the guide](/guide/overview/).",
    )


EXPECTED = {
    "Home": {"Setup"},
    "Setup": {"Home", "Overview (guide)"},
    "Overview": {"Overview (guide)"},
    "Overview (guide)": {"Setup"},
}


def test_links_between_files_are_citations_of_their_pages(docs: Path) -> None:
    store = MemoryStore()
    loaded(store, docs)
    assert citations(store) == EXPECTED


def test_the_same_files_parsed_apart_give_the_same_pages(docs: Path) -> None:
    store = MemoryStore()
    parser = ParserProcess()
    try:
        loaded(store, docs, isolated=parser)
    finally:
        parser.close()
    assert citations(store) == EXPECTED


def test_loading_again_changes_nothing(docs: Path) -> None:
    store = MemoryStore()
    loaded(store, docs)
    again = loaded(store, docs)
    assert (again.added, again.replaced, again.unchanged) == (0, 0, 4)


@pytest.mark.parametrize("name", ["api/overview.md", "guide/overview.md"])
def test_a_file_of_a_title_that_another_has_keeps_its_page_when_it_comes_again(docs: Path, name: str) -> None:
    store = MemoryStore()
    loaded(store, docs)
    (docs / name).write_text("# Overview\n\nWritten anew.")
    report = loaded(store, docs)
    assert (report.added, report.replaced, report.unchanged) == (0, 1, 3)
    assert {page.uri for page in store.pages()} == set(EXPECTED)
    uri = next(page.uri for page in store.pages() if page.path == name)
    assert store.page_text(uri) == "Overview\n\nWritten anew."


def test_the_path_of_a_file_leads_to_its_page(docs: Path) -> None:
    store = MemoryStore()
    loaded(store, docs)
    assert store.resolve(["docs/guide/overview.md", "docs/index.md"]) == {
        "docs/guide/overview.md": "Overview (guide)",
        "docs/index.md": "Home",
    }


def test_a_link_to_a_file_that_comes_later_leads_to_it_then(tmp_path: Path) -> None:
    store = MemoryStore()
    first = write(tmp_path / "docs", a="# A\n\nSee [b](b.md).")
    loaded(store, first)
    assert citations(store) == {"A": {"docs/b.md"}}
    write(tmp_path / "docs", b="# B\n\nText.")
    loaded(store, tmp_path / "docs" / "b.md")
    assert citations(store) == {"A": {"B"}, "B": set()}


def test_a_file_that_comes_later_may_link_to_those_that_are_stored(tmp_path: Path) -> None:
    store = MemoryStore()
    loaded(store, write(tmp_path / "site", docs__a="# A\n\nText."))
    loaded(store, write(tmp_path / "notes", b="# B\n\nSee [a](/docs/a/)."))
    assert citations(store)["B"] == {"A"}


def test_a_file_with_another_title_than_before_has_one_page(tmp_path: Path) -> None:
    store = MemoryStore()
    folder = write(tmp_path / "docs", a="# Old\n\nText.")
    loaded(store, folder)
    loaded(store, write(folder, a="# New\n\nText."))
    assert [page.uri for page in store.pages()] == ["New"]
    assert store.resolve(["docs/a.md"]) == {"docs/a.md": "New"}


def test_a_file_that_was_moved_keeps_its_page(tmp_path: Path) -> None:
    store = MemoryStore()
    loaded(store, write(tmp_path / "docs", a="# A\n\nText."))
    (tmp_path / "docs" / "a.md").rename(tmp_path / "docs" / "b.md")
    loaded(store, tmp_path / "docs")
    assert [page.uri for page in store.pages()] == ["A"]
    assert store.resolve(["docs/b.md"]) == {"docs/b.md": "A"}


def test_copies_of_a_file_are_one_page_and_reported(tmp_path: Path) -> None:
    store = MemoryStore()
    report = loaded(store, write(tmp_path / "docs", a="# A\n\nText.", c="# A\n\nText."))
    assert [page.uri for page in store.pages()] == ["A"]
    assert [duplicate.page for duplicate in report.duplicates] == ["A"]


def test_folders_of_one_name_do_not_replace_one_another(tmp_path: Path) -> None:
    store = MemoryStore()
    one = write(tmp_path / "one" / "docs", index="# Home\n\nOne.")
    two = write(tmp_path / "two" / "docs", index="# Home\n\nTwo.")
    for _ in range(2):
        loaded(store, one, two)
        assert {page.uri: store.page_text(page.uri) for page in store.pages()} == {
            "Home": "Home\n\nOne.",
            "Home (docs)": "Home\n\nTwo.",
        }


@pytest.mark.parametrize("content", ["---\ntitle: Overview\n---\n", "# Overview\n"])
def test_files_without_text_are_pages_of_their_own_that_links_lead_to(tmp_path: Path, content: str) -> None:
    """Also where their titles are the same: files without text are not copies of one another."""
    store = MemoryStore()
    for name in ("guides", "tasks"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "_index.md").write_text(content, "utf-8")
    (tmp_path / "start.md").write_text("# Start\n\nSee [tasks](tasks/).\n", "utf-8")
    report = load([str(tmp_path)], store)
    assert (report.added, report.problems, report.duplicates) == (3, [], [])
    assert [page.uri for page in store.pages()] == ["Overview", "Overview (tasks)", "Start"]
    assert store.expand(["Overview", "Overview (tasks)"], Hop.CITED_IN) == {
        "Overview": [],
        "Overview (tasks)": ["Start#chunk-1"],
    }
