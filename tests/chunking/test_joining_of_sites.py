"""Which pages of HTML have their short blocks joined."""

from pathlib import Path

from trivium.chunking.merge_short_blocks import joined
from trivium.parser.sources.discover import read
from trivium.parser.sources.source_items import Item
from trivium.types import Page

BODY = "<h1>Mars</h1><p>A planet.</p><p>It is red.</p>"


def saved(folder: Path, html: str) -> Page:
    (folder / "page.html").write_text(html)
    [page] = read(Item("html", str(folder / "page.html"), path="x/page.html"))
    return page


def test_short_blocks_of_a_site_are_joined_and_those_of_an_encyclopaedia_stay(tmp_path: Path) -> None:
    assert [chunk.text for chunk in joined(saved(tmp_path, BODY)).chunks] == ["A planet.\n\nIt is red."]
    page = saved(tmp_path, "<link rel='canonical' href='https://en.wikipedia.org/wiki/Mars'>" + BODY)
    assert page.format == "wiki" and joined(page) is page
