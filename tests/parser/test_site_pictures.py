"""Pictures on pages of sites: those that say something are chunks; icons and labels of what is missing are not."""

from pathlib import Path

import pytest

from tests.pictures import drawn
from trivium.chunking.joining import joined
from trivium.parser.documents.base import DocumentFile
from trivium.parser.html import parse_html
from trivium.parser.ocr import Ocr
from trivium.parser.sources.base import Item
from trivium.parser.sources.discover import discover, read
from trivium.types import ChunkKind, Page

PROSE = "This is a sentence of the text, as long as such sentences are in manuals that people read. " * 2
PICTURE = drawn()


@pytest.fixture(autouse=True)
def without_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the extra is or is not installed: here no picture has a text."""
    monkeypatch.setattr(Ocr, "read", lambda *_: "")


def chunks(body: str, files: dict[str, bytes] | None = None) -> list[tuple[ChunkKind, str]]:
    html = f"<title>Pumps</title><main><p>{PROSE}</p>{body}</main>".encode()
    file = DocumentFile(html, "x", "site/docs/page.html", beside=(files or {}).get)
    return [(chunk.kind, chunk.text) for _, chunk in parse_html(html, file=file).all_chunks()][1:]


def test_a_picture_beside_the_page_is_a_chunk_with_its_description_and_caption() -> None:
    found = chunks(
        "<h2>Parts</h2><figure><img src='/img/a.png' alt='Impeller'><figcaption>The impeller, from <b>below</b>"
        "</figcaption></figure><p>After.</p>",
        {"../img/a.png": PICTURE},
    )
    assert found == [(ChunkKind.IMAGE, "Impeller\nThe impeller, from below"), (ChunkKind.PARAGRAPH, "After.")]


def test_a_picture_that_is_not_there_says_so_with_several_words() -> None:
    said = "<img src='a.png' alt='A pump with its cover taken off'><img src='https://x.example/b.png' alt='Our logo'>"
    assert chunks(said) == [(ChunkKind.IMAGE, "A pump with its cover taken off")]
    assert chunks("<img src='a.png' alt='取り外したポンプの蓋'>") == [
        (ChunkKind.IMAGE, "取り外したポンプの蓋")
    ]
    assert chunks("<img src='a.png' alt='Impeller'>") == []


@pytest.mark.parametrize(
    "picture",
    [
        "<img src=a.png width=16 height=16 alt='See the help for this'>",
        "<img src=a.png height='20px' alt='Build of the main branch passing'>",
        "<img src=a.png style='margin: 0; width:24px' alt='See the help for this'>",
        "<img src=a.png width=1 height=1>",
        "<img src=a.png>",
        "<img src=a.png alt=''>",
        "<img alt='No address, whatever it says'>",
    ],
)
def test_icons_and_pictures_of_which_nothing_is_said_are_no_chunks(picture: str) -> None:
    assert chunks(picture, {"a.png": PICTURE}) == []


def test_sizes_that_are_none_do_not_matter() -> None:
    for size in ("width='100%'", "width=auto height=auto", "width=640 height=120", "style='max-width:20px'"):
        assert chunks(f"<img src=a.png alt=Impeller {size}>", {"a.png": PICTURE}) == [
            (ChunkKind.IMAGE, "Impeller")
        ]


def test_a_caption_is_never_lost() -> None:
    """One with links stays a paragraph, for their sake; so does a short one, and that of several pictures."""
    linked = (
        "<figure><img src=a.png><figcaption>See <a href='b.html'>the other page</a></figcaption></figure>"
    )
    assert (ChunkKind.PARAGRAPH, "See the other page") in chunks(linked)
    assert chunks("<figure><img src=a.png><figcaption>Impeller</figcaption></figure>") == [
        (ChunkKind.PARAGRAPH, "Impeller")
    ]
    two = "<figure><img src=a.png><img src=b.png><figcaption>Two of the impellers</figcaption></figure>"
    assert chunks(two) == [(ChunkKind.PARAGRAPH, "Two of the impellers")]


def test_a_picture_that_a_script_loads_is_found() -> None:
    lazy = "<img src='data:image/gif;base64,R0lGODlhAQAB' data-src='a.png' alt=Impeller>"
    assert chunks(lazy, {"a.png": PICTURE}) == [(ChunkKind.IMAGE, "Impeller")]


def test_files_that_a_page_shows_are_no_documents_but_those_of_an_encyclopaedia_are(tmp_path: Path) -> None:
    for name in ("a.png", "b.png", "c.png"):
        (tmp_path / name).write_bytes(PICTURE)
    (tmp_path / "page.html").write_text(f"<title>Pumps</title><p>{PROSE}</p><img src=a.png alt=Impeller>")
    wiki = "<link rel='canonical' href='https://en.wikipedia.org/wiki/Mars'><h1>Mars</h1><p>A planet.</p><img src=b.png>"
    (tmp_path / "wiki.html").write_text(wiki)
    items = [item for item in discover([str(tmp_path)]) if isinstance(item, Item)]
    assert [Path(item.path).name for item in items] == ["b.png", "c.png", "page.html", "wiki.html"]
    assert [chunk.text for chunk in read(items[2])[0].chunks][1:] == ["Impeller"]


def test_short_blocks_of_a_site_are_joined_and_those_of_an_encyclopaedia_stay(tmp_path: Path) -> None:
    body = "<h1>Mars</h1><p>A planet.</p><p>It is red.</p>"
    wiki = "<link rel='canonical' href='https://en.wikipedia.org/wiki/Mars'>"
    assert [chunk.text for chunk in joined(saved(tmp_path, body)).chunks] == ["A planet.\n\nIt is red."]
    page = saved(tmp_path, wiki + body)
    assert page.format == "html" and joined(page) is page


def saved(folder: Path, html: str) -> Page:
    (folder / "page.html").write_text(html)
    [page] = read(Item("html", str(folder / "page.html"), path="x/page.html"))
    return page
