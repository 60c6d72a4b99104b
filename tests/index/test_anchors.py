"""Links with an anchor between files: a passage leads to the page, and to the section that is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.memory_store import MemoryStore
from trivium.index.load import load


def sections(tmp_path: Path, files: dict[str, str], *, rounds: int = 1) -> list[str]:
    """The sections that the passages of ``a.*`` lead to, when all files are loaded."""
    for name, text in files.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    store = MemoryStore()
    for _ in range(rounds):
        load([str(tmp_path / "docs")], store)
    uri = next(page.uri for page in store.pages() if Path(page.path).stem == "a")
    chunks = [chunk.uri for chunk in next(store.page_graphs([uri])).chunks]
    return [section for found in store.cited_sections(chunks).values() for section in found]


TARGET = "# Target\n\nText.\n\n## On `Linux` systems\n\nText.\n\n### Notes\n\nText.\n\n## Notes {#more .wide}\n\nText.\n"


@pytest.mark.parametrize(
    ("link", "section"),
    [
        ("[x](b/target.md#on-linux-systems)", "Target#On Linux systems"),
        ("[x](b/target#notes)", "Target#On Linux systems#Notes"),
        ("[x](/b/target/#more)", "Target#Notes"),
        ("[x](b/target.md?plain=1#notes-1)", "Target#Notes"),
        ("[[target#On Linux systems]]", "Target#On Linux systems"),
        ("[[Target#On Linux systems#Notes|there]]", "Target#On Linux systems#Notes"),
        ('[x]({{< ref "b/target.md#more" >}})', "Target#Notes"),
        ("[x](b/target.md#target)", None),
        ("[x](b/target.md#nowhere)", None),
        ("[x](b/target.md)", None),
        ("[x](#here)", None),
    ],
)
def test_links_of_markdown_find_sections_of_files_that_come_later(
    tmp_path: Path, link: str, section: str | None
) -> None:
    files = {"a.md": f"# A\n\nSee {link} for it.\n\n## Here\n\nText.\n", "b/target.md": TARGET}
    assert sections(tmp_path, files) == ([] if section is None else [section])


def test_ids_of_headings_in_html_are_anchors(tmp_path: Path) -> None:
    """Those of the heading, of what is in it, and of the section that begins with it."""
    prose = "<p>This is a sentence of the text, as long as sentences in manuals are.</p>"
    target = (
        f"<title>T</title><main><h1>T</h1>{prose}<h2 id=one>First</h2>{prose}<h2>Second<a name=two></a></h2>{prose}"
        f"<section id=three>\n<h2>Third</h2>{prose}<div id=four>{prose}<h2>Fourth</h2>{prose}</div></section></main>"
    )
    links = " ".join(f"<a href='t.html#{name}'>x</a>" for name in ("three", "one", "two", "four", "second"))
    files = {"a.html": f"<title>A</title><p>Some text before. {links}</p>", "t.html": target}
    assert sections(tmp_path, files) == ["T#Third", "T#First", "T#Second"]


def test_files_that_come_again_are_unchanged(tmp_path: Path) -> None:
    files = {
        "a.md": "# A\n\n[x](b.md#two) and [y](b.md#one).\n",
        "b.md": "# B\n\n## One\n\nx\n\n## Two\n\nx\n",
    }
    assert sections(tmp_path, files, rounds=2) == ["B#Two", "B#One"]
    store = MemoryStore()
    load([str(tmp_path / "docs")], store)
    assert load([str(tmp_path / "docs")], store).unchanged == 2


def test_files_that_are_parsed_in_a_process_apart_keep_their_anchors(tmp_path: Path) -> None:
    from trivium.graph.build_page_graph import build
    from trivium.index.graph_messages import Joined, parts_of
    from trivium.types import Page, Section

    page = Page(
        "P", "x", sections=(Section("One", 1, None, anchors=("uno",)),), format="markdown", path="p.md"
    )
    graph, joined = build(page), Joined()
    assert [joined.add(kind, content) for kind, content in parts_of(graph)][-1] == graph
    assert graph.sections[0].anchors == ("uno", "one")
