"""Wikipedia in one file: ZIM files, and the HTML dumps of Wikimedia as JSON Lines and as tar archives of them."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ray_cluster import differences
from tests.fakes.ray_here import RayHere
from trivium.engine import Engine
from trivium.errors import InputError, MissingExtraError
from trivium.index import build_parts, ray_build
from trivium.parser.sources.discover import discover, file_items, read
from trivium.parser.sources.source_items import Item, Problem
from trivium.parser.sources.wikimedia_dumps import to_page
from trivium.settings.limits import InputLimits
from trivium.testing.toys import HashEmbedder
from trivium.types import Page

MARS = """<html><head><title>Mars</title></head><body class="mw-parser-output">
<p>Mars has two moons, <a href="{up}Phobos_(moon)">Phobos</a> and <a href="{up}Deimos">Deimos</a>,
see <a href="https://en.wikipedia.org/wiki/Earth">Earth</a> and <a href="https://de.wikipedia.org/wiki/Erde">de</a>.</p>
<section><h2>Songs</h2><p><a href="{up}AC/DC">A band</a> sang of it.</p></section></body></html>"""
BAND = """<html><head><title>AC/DC</title></head><body class="mw-parser-output">
<p>A band that never played on <a href="{up}Mars#Songs">Mars</a>.</p></body></html>"""


def _page(html: str, path: str, *, parsoid: bool) -> str:
    up = "./" if parsoid else "../" * path.count("/")
    return html.replace("{up}", up)


def _rows() -> list[dict[str, Any]]:
    return [
        {
            "name": "Mars",
            "url": "https://en.wikipedia.org/wiki/Mars",
            "date_modified": "2023-08-20T01:02:03Z",
            "version": {"identifier": 17},
            "redirects": [{"name": "Red planet", "url": "https://en.wikipedia.org/wiki/Red_planet"}],
            "article_body": {"html": _page(MARS, "Mars", parsoid=True)},
        },
        {"name": "AC/DC", "article_body": {"html": _page(BAND, "AC/DC", parsoid=True)}},
    ]


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _tar(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def _write_zim(path: Path, pages: Mapping[str, str], redirects: Mapping[str, str], scraper: str) -> None:
    writer: Any = pytest.importorskip("libzim.writer")

    class Entry(writer.Item):  # type: ignore[misc]
        def __init__(self, path: str, html: str) -> None:
            super().__init__()
            self.path, self.html = path, html

        def get_path(self) -> str:
            return self.path

        def get_title(self) -> str:
            return self.path.replace("_", " ")

        def get_mimetype(self) -> str:
            return "text/css" if self.path.endswith(".css") else "text/html"

        def get_contentprovider(self) -> Any:
            return writer.StringProvider(self.html)

        def get_hints(self) -> dict[Any, Any]:
            return {}

    with writer.Creator(path).config_indexing(False, "eng") as archive:
        archive.set_mainpath(next(iter(pages)))
        for name, html in pages.items():
            archive.add_item(Entry(name, html))
        for origin, target in redirects.items():
            archive.add_redirection(origin, origin.replace("_", " "), target, {})
        archive.add_metadata("Scraper", scraper)
        archive.add_metadata("Source", "en.wikipedia.org")


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    """The same two pages in three files."""
    rows = _rows()
    (tmp_path / "wiki.ndjson").write_bytes(_lines(rows))
    (tmp_path / "wiki.tar.gz").write_bytes(
        _tar(
            {"README.txt": b"about", "enwiki_0.ndjson": _lines(rows[:1]), "enwiki_1.ndjson": _lines(rows[1:])}
        )
    )
    pages = {name: _page(html, name, parsoid=False) for name, html in (("Mars", MARS), ("AC/DC", BAND))}
    pages["style.css"] = "a {}"
    _write_zim(tmp_path / "wiki.zim", pages, {"Red_planet": "Mars"}, "mwoffliner 1.14")
    return tmp_path


def _read(path: Path) -> Iterator[Page]:
    for item in discover([str(path)]):
        assert isinstance(item, Item), item
        yield from read(item)


@pytest.mark.parametrize("name", ["wiki.ndjson", "wiki.tar.gz", "wiki.zim"])
def test_pages_have_their_titles_links_and_redirects(dumps: Path, name: str) -> None:
    """Whatever they came in, with links to other languages left out."""
    pages = {page.title: page for page in _read(dumps / name)}
    mars, band = pages["Mars"], pages["AC/DC"]
    assert pages.keys() == {"Mars", "AC/DC"}
    assert mars.aliases == ("Red planet",) and band.aliases == ()
    links = {link.target for page in (mars,) for _, chunk in page.all_chunks() for link in chunk.links}
    assert links - {"Erde"} == {"Phobos (moon)", "Deimos", "Earth", "AC/DC"}
    assert name != "wiki.zim" or "Erde" not in links  # a page of a dump does not say what wiki it is of
    assert [link.target for _, chunk in band.all_chunks() for link in chunk.links] == ["Mars"]
    assert {page.path for page in pages.values()} == {""} and {page.format for page in pages.values()} == {
        "zim" if name == "wiki.zim" else "wikimedia"
    }


def test_what_a_dump_says_of_a_page_is_kept(dumps: Path) -> None:
    """Its revision, time and address."""
    mars, band = _read(dumps / "wiki.ndjson")
    assert (mars.revision, mars.modified) == (17, "2023-08-20T01:02:03Z")
    assert mars.metadata == {"url": "https://en.wikipedia.org/wiki/Mars"}
    assert (band.revision, band.modified, band.metadata) == (None, None, {})


def test_a_store_is_the_same_from_each_of_them(dumps: Path, tmp_path: Path) -> None:
    """Texts, sections, links and redirects, through the door that people use."""
    graphs = []
    for name in ("wiki.ndjson", "wiki.tar.gz", "wiki.zim"):
        with Engine.create(tmp_path / f"of {name}") as engine:
            engine.build([dumps / name], embed=False, workers=1)
            again = engine.build([dumps / name], embed=False, workers=1)
            assert (again.added, again.replaced, again.unchanged) == (0, 0, 2)
            uris = sorted(page.uri for page in engine.store.pages())
            graphs.append(
                [
                    (page.uri, page.text, page.sections, page.aliases, [chunk.text for chunk in page.chunks])
                    for page in engine.store.page_graphs(uris)
                ]
            )
    assert graphs[0] == graphs[1] == graphs[2]


@pytest.mark.parametrize("name", ["wiki.tar.gz", "wiki.zim"])
def test_a_build_by_parts_makes_the_same_store(
    dumps: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part for each page here; a second build makes none anew."""
    ray = RayHere()
    monkeypatch.setattr(ray_build, "check_ray", lambda _: ray)
    monkeypatch.setattr(build_parts, "DOCUMENTS", 1)
    with Engine.create(tmp_path / "ordinary", HashEmbedder()) as ordinary:
        ordinary.build([dumps / name])
        with Engine.create(tmp_path / "store", HashEmbedder()) as store:
            assert store.build([dumps / name], ray="auto").added == 2
            assert store.build([dumps / name], ray="auto").unchanged == 2
            assert ray.tasks["parse_on_node"] == 2
            assert differences(ordinary.store, store.store) == []


def test_a_zim_file_of_another_site_is_read_as_a_site(tmp_path: Path) -> None:
    """Its pages are known by their paths, and links between them are links between files."""
    pages = {
        "docs/start.html": "<html><head><title>Start</title></head><body><main><h1>Start</h1><p>First read"
        ' <a href="more.html">more</a>.</p></main></body></html>',
        "docs/more.html": "<html><head><title>More</title></head><body><main><h1>More</h1><p>All there is."
        "</p></main></body></html>",
    }
    _write_zim(tmp_path / "site.zim", pages, {}, "zimit 2.0")
    with Engine.create(tmp_path / "store") as engine:
        engine.build([tmp_path / "site.zim"], embed=False, workers=1)
        found = {page.uri: page for page in engine.store.page_graphs(["Start", "More"])}
        (cited,) = found["Start"].chunks[0].cites
        assert list(engine.store.resolve([cited]).values()) == ["More"]
        assert found["Start"].source.endswith("site.zim, docs/start.html")


def test_a_bad_page_of_a_dump_costs_only_itself(tmp_path: Path) -> None:
    """It is named with its line, and one that is too long is not read."""
    rows = [
        *_rows(),
        {"name": "Empty", "article_body": {}},
        {"name": "Long", "article_body": {"html": "x" * 9000}},
    ]
    (tmp_path / "wiki.tar.gz").write_bytes(_tar({"enwiki_0.ndjson": _lines(rows)}))
    limits = InputLimits(document_bytes=5000)
    first, second, empty, long = file_items(str(tmp_path / "wiki.tar.gz"), limits=limits)
    assert isinstance(first, Item) and isinstance(second, Item) and isinstance(empty, Item)
    assert empty.name.endswith("wiki.tar.gz, enwiki_0.ndjson, line 3")
    with pytest.raises(InputError, match=r"article_body\.html, got the keys article_body, name"):
        read(empty)
    assert isinstance(long, Problem) and "line 4" in long.location and "limit" in long.reason
    with pytest.raises(InputError, match="got a JSON list"):
        to_page([])


def test_other_tar_archives_are_refused_as_before(tmp_path: Path) -> None:
    """Whatever they hold."""
    for files in ({"a.txt": b"text"}, {"a.json": b'{"a": 1}'}, {"a.json": b"{"}):
        (tmp_path / "a.tar").write_bytes(_tar(files))
        (problem,) = file_items(str(tmp_path / "a.tar"))
        assert isinstance(problem, Problem) and "tar archive; unpack it first" in problem.reason


def test_a_damaged_zim_file_is_a_problem(dumps: Path) -> None:
    """Cut short, or with nothing behind its head."""
    whole = (dumps / "wiki.zim").read_bytes()
    for cut in (5, 100, len(whole) // 2):
        (dumps / "cut.zim").write_bytes(whole[:cut])
        (problem,) = file_items(str(dumps / "cut.zim"))
        assert isinstance(problem, Problem) and "damaged or cut short" in problem.reason


def test_without_the_package_its_extra_is_named(dumps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    monkeypatch.setitem(__import__("sys").modules, "libzim.reader", None)
    (dumps / "other.zim").write_bytes((dumps / "wiki.zim").read_bytes())
    with pytest.raises(MissingExtraError, match=r"trivium\[zim\]"):
        list(file_items(str(dumps / "other.zim")))
