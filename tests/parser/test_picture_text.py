"""Pictures on pages, and files of pictures: chunks of what is said of them and what stands in them."""

from __future__ import annotations

import base64
import io
import os
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.pictures import drawn
from trivium.errors import MissingExtraError, ParseError
from trivium.parser import ocr
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.documents.formats import format_of_content, reader_of
from trivium.parser.html import parse_html
from trivium.parser.ocr import Ocr, Pixels, TextBox
from trivium.parser.picture_text import Pictures
from trivium.parser.sources.discover import discover
from trivium.parser.sources.source_items import Item
from trivium.settings.limits import DEFAULT_LIMITS
from trivium.types import ChunkKind

if not ocr.ocr_available() and not os.environ.get("CI"):
    pytest.skip("the extra ocr is not installed", allow_module_level=True)

from PIL import Image


def says(text: str) -> Callable[[Pixels], list[TextBox]]:
    return lambda _pixels: [TextBox(text, 0, 0, 10, 10)]


def pictures(text: str = "", file: DocumentFile | None = None) -> Pictures:
    return Pictures(DEFAULT_LIMITS, file, Ocr(reader=says(text)))


def text_of(**picture: object) -> str | None:
    run = pictures("Approved supplies").run(**picture)  # type: ignore[arg-type]
    return None if run is None else run.text


def test_a_chunk_has_description_caption_and_text() -> None:
    found = text_of(alt=" A  list ", caption="Table 1", picture=drawn())
    assert found == "A list\nTable 1\nApproved supplies"
    assert text_of(alt="Same", caption="Same") == "Same"


def test_what_programs_write_is_no_description() -> None:
    """Nor does a picture without words, or one that cannot be read, make a chunk."""
    assert [text_of(alt=alt) for alt in ("", "Picture 3", "image.png", "image1", "logo")] == [None] * 5
    assert text_of(alt="image.png", picture=drawn()) == "Approved supplies"
    assert text_of(alt="Logo of the firm", picture=b"no picture") == "Logo of the firm"
    assert text_of(picture=lambda: None) is None


def test_pictures_are_files_beside_the_page() -> None:
    """Addresses as pages write them: encoded, with a query, or from the root of their site."""
    asked = []
    files = {"a b.png": b"1", "../../images/c.png": b"2", "../static/d.png": b"3", "e%20f.png": b"4"}

    def beside(address: str) -> bytes | None:
        asked.append(address)
        return files.get(address)

    page = pictures(file=DocumentFile(b"", "x", "site/content/docs/page.md", beside=beside))
    addresses = ("a%20b.png?raw=true#x", "/images/c.png", "/d.png", "e%20f.png", "missing.png", "")
    assert [page.at(address) for address in addresses] == [b"1", b"2", b"3", b"4", None, None]
    del asked[:]
    remote = ("https://example.org/a.png", "//example.org/a.png", "file:///etc/passwd", "x" * 5_000)
    assert [page.at(address) for address in remote] == [None] * 4 and asked == []


def test_an_address_may_be_the_picture_itself() -> None:
    data = drawn("x")
    encoded = base64.b64encode(data).decode()
    assert pictures().at(f"data:image/png;base64,{encoded}") == data
    assert pictures().at(f"data:image/svg+xml,{quote('<svg/>')}") == b"<svg/>"
    assert pictures().at("data:image/png;base64,x") is None
    assert pictures().at("data:text/html;base64,AAAA") is None


def page_of(data: bytes, name: str = "pictures/office_chair.png"):  # type: ignore[no-untyped-def]
    return reader_of("image")(DocumentFile(data, name, name), DEFAULT_LIMITS)


@pytest.mark.parametrize("format", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
def test_every_picture_is_known_by_its_content(format: str) -> None:
    """But for bitmaps: text may begin as they do."""
    data = drawn("x", format=format)
    found = format_of_content(data[:64], "noname")
    assert (found is not None and found.name == "image") == (format != "BMP")


def test_a_file_is_a_page_of_its_text() -> None:
    page = page_of(drawn("Delivery note", "No 4711"))
    assert (page.title, page.text, page.format) == ("office chair", "Delivery note\nNo 4711", "image")
    assert page.metadata == {"width": 640, "height": 120}
    assert [(chunk.kind, chunk.pages) for chunk in page.chunks] == [(ChunkKind.IMAGE, None)]


def test_pictures_of_a_tiff_are_its_pages() -> None:
    pages = [Image.open(io.BytesIO(drawn(text))) for text in ("First sheet", "Second sheet")]
    file = io.BytesIO()
    pages[0].save(file, "TIFF", save_all=True, append_images=pages[1:])
    page = page_of(file.getvalue(), "fax.tif")
    assert [(chunk.text, chunk.pages) for chunk in page.chunks] == [
        ("First sheet", (1, 1)),
        ("Second sheet", (2, 2)),
    ]


def described(text: str) -> bytes:
    image = Image.new("RGB", (40, 40), "red")
    tags = Image.Exif()
    tags[0x010E], tags[0x013B] = text, "A. Painter"
    tags.get_ifd(0x8769)[0x9003] = "2024:05:01 10:20:30"
    file = io.BytesIO()
    image.save(file, "JPEG", exif=tags)
    return file.getvalue()


def test_a_picture_says_who_took_it_and_when(monkeypatch: pytest.MonkeyPatch) -> None:
    """A description suffices, also where the extra is missing, and a name that says something; without both the error
    names it."""
    monkeypatch.setattr(ocr, "ocr_available", lambda: False)
    page = page_of(described("The red square"))
    assert page.text == "The red square"
    assert page.metadata == {
        "width": 40,
        "height": 40,
        "author": "A. Painter",
        "taken": "2024-05-01T10:20:30",
    }
    with pytest.raises(MissingExtraError, match=r"trivium\[ocr\]"):
        page_of(drawn("Delivery note"), "pictures/IMG_0001.png")


@pytest.mark.parametrize("data", [b"", b"text", drawn("x")[:300], described("")])
def test_a_file_that_says_nothing_is_refused(data: bytes) -> None:
    with pytest.raises(ParseError, match=r"no text that can be read|expected a picture|damaged"):
        page_of(data)


def test_a_picture_of_a_markdown_page_is_a_chunk_of_its_section() -> None:
    """After the block it stands in; the file is no document of its own."""
    text = "# Chairs\n\nBefore ![A chair](/img/chair.png) after.\n\n- one ![](b%20c.png)\n- two\n\n## Desks\n\nEnd.\n"
    files = {"../img/chair.png": drawn("Office supplies"), "b c.png": drawn("Paper clips")}
    file = DocumentFile(text.encode(), "x", "site/docs/page.md", beside=files.get)
    page = reader_of("markdown")(file, DEFAULT_LIMITS)
    assert [(chunk.kind, chunk.text) for _, chunk in page.all_chunks()] == [
        (ChunkKind.PARAGRAPH, "Before after."),
        (ChunkKind.IMAGE, "A chair\nOffice supplies"),
        (ChunkKind.LIST, "one\ntwo"),
        (ChunkKind.IMAGE, "Paper clips"),
        (ChunkKind.PARAGRAPH, "End."),
    ]


SITE = """<title>Pumps</title><main><h1>Pumps</h1><p>{text}</p>
<figure><a href="big.png"><img src="../img/pump.png" alt=""></a><figcaption>Figure 1. A <b>pump</b></figcaption></figure>
<h2>Valves</h2><p>Before <img src="{data}"> after.</p>
<img src="gone.png" alt="A valve, opened"><img src="spinner.gif" data-src="gone2.png" alt="A seal">
<img src="dot.gif" width="1" height="1" alt="Counting visits"><img src="icon.png" width="16px" alt="Warning sign">
<img src="line.png" alt=""><img src="../img/pump.png" alt="" role="presentation"><img src="photo.png" alt="image1">
<figure><img src="gone.png" alt="A ring"><figcaption>See <a href="b.html">rings</a></figcaption></figure></main>"""


def test_a_picture_of_a_page_of_any_site_is_a_chunk_of_its_section() -> None:
    """With its caption, which is not written twice; one with links stays a paragraph. Icons, dots that count visits and
    what a page shows only for its looks are left out."""
    data = "data:image/png;base64," + base64.b64encode(drawn("Valve plate")).decode()
    html = SITE.format(text="Pumps move water. " * 20, data=data)
    files = {"../img/pump.png": drawn("Inlet and outlet")}
    file = DocumentFile(html.encode(), "x", "site/docs/page.html", beside=files.get)
    page = parse_html(html, source="x", file=file)
    assert [
        (place and place.heading, chunk.text) for place, chunk in page.all_chunks() if chunk.kind == "image"
    ] == [
        (None, "Figure 1. A pump\nInlet and outlet"),
        ("Valves", "Valve plate"),
        ("Valves", "A valve, opened"),
        ("Valves", "A seal"),
        ("Valves", "A ring"),
    ]
    assert page.text.count("Figure 1") == 1
    assert [chunk.text for _, chunk in page.all_chunks() if chunk.references] == ["See rings"]


def test_pictures_of_a_wiki_page_are_left_out() -> None:
    html = "<title>Pump</title><div id=mw-content-text><p>Text.</p><figure><img src=a.png alt='A pump'></figure></div>"
    page = parse_html(html, source="x", file=DocumentFile(html.encode(), "x", "a.html"))
    assert [chunk.text for _, chunk in page.all_chunks()] == ["Text."]


def test_figures_of_many_elements_cost_no_more_than_others() -> None:
    """As many nested figures as a page may have, and one of many pictures."""
    html = "<figure>" * 100 + "<img src=a.png alt='A pump'>" * 20_000 + "<figcaption>All pumps</figcaption>"
    started = time.process_time()
    page = parse_html(html, source="x", file=DocumentFile(html.encode(), "x", "a.html"))
    assert time.process_time() - started < 2
    assert page.text.endswith("All pumps")


def test_a_picture_that_a_page_shows_is_no_document_of_its_own(tmp_path: Path) -> None:
    """One that is only mentioned, or lies elsewhere, is."""
    for name in ("docs/a.png", "docs/b c.png", "img/d.png", "docs/e.png", "img/a.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(drawn("x"))
    (tmp_path / "docs/page.md").write_text("![](a.png) <img src='b%20c.png'> ![](/img/d.png) and `e.png`")
    items = [item.path.partition("/")[2] for item in discover([str(tmp_path)]) if isinstance(item, Item)]
    assert items == ["docs/e.png", "docs/page.md", "img/a.png"]
    (tmp_path / "docs/site.html").write_text("<p>Text</p><img src='e.png'>")
    (tmp_path / "docs/wiki.html").write_text("<div id=mw-content-text><img src='../img/a.png'></div>")
    items = [item.path.partition("/")[2] for item in discover([str(tmp_path)]) if isinstance(item, Item)]
    assert [name for name in items if name.endswith(".png")] == [
        "img/a.png"
    ]  # pictures of a wiki are not read
    alone = [item for item in discover([str(tmp_path / "docs/a.png")]) if isinstance(item, Item)]
    assert len(alone) == 1


def test_a_picture_that_is_shown_again_says_its_text_once() -> None:
    """Such as a logo on every slide."""
    page = pictures("Acme Corporation")
    runs = [page.run(alt=alt, picture=drawn()) for alt in ("First", "Second", "")]
    assert [run and run.text for run in runs] == ["First\nAcme Corporation", "Second", None]


def test_pictures_in_word_files_and_slides_are_read() -> None:
    docx, pptx = pytest.importorskip("docx"), pytest.importorskip("pptx")
    word, show = docx.Document(), pptx.Presentation()
    word.add_picture(io.BytesIO(drawn("Boiler inspection")))
    show.slides.add_slide(show.slide_layouts[6]).shapes.add_picture(
        io.BytesIO(drawn("Boiler inspection")), 0, 0
    )
    for name, made in (("docx", word), ("pptx", show)):
        file = io.BytesIO()
        made.save(file)
        page = reader_of(name)(DocumentFile(file.getvalue(), "x", f"x.{name}"), DEFAULT_LIMITS)
        found = [(chunk.kind, chunk.text) for _, chunk in page.all_chunks()]
        assert found == [(ChunkKind.IMAGE, "Boiler inspection")]
