"""Small pictures of pictures: their size, their ground, and what gives none."""

from __future__ import annotations

import io

import pytest

from tests.pictures import drawn

pytest.importorskip("PIL")
from PIL import Image

from trivium.parser import ocr, thumbnails
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.documents.formats import reader_of
from trivium.parser.ocr import Ocr
from trivium.parser.picture_text import Pictures
from trivium.parser.thumbnails import Thumbnails
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits
from trivium.types import Page


def shown(data: bytes) -> Image.Image:
    picture = Image.open(io.BytesIO(data))
    assert picture.format == "WEBP"
    return picture.convert("RGB")


def file_of(image: Image.Image, format: str = "PNG", **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, format, **options)  # type: ignore[arg-type]
    return file.getvalue()


@pytest.mark.parametrize(
    "size, small",
    [((1_280, 640), (320, 160)), ((500, 2_000), (80, 320)), ((9, 4_000), (1, 320)), ((60, 40), (60, 40))],
)
def test_the_longer_side_has_320_pixels_at_most(size: tuple[int, int], small: tuple[int, int]) -> None:
    assert shown(Thumbnails().of(drawn(size=size))).size == small


@pytest.mark.parametrize("format", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
def test_a_picture_of_any_format_has_one_and_always_the_same(format: str) -> None:
    """A few kilobytes, upright, with its colours."""
    image = Image.new("RGB", (800, 400), "white")
    image.paste((200, 30, 30), (0, 0, 400, 400))
    data = file_of(image, format)
    small = Thumbnails().of(data)
    assert small == Thumbnails().of(data) and len(small) < 10_000
    red, white = shown(small).getpixel((40, 80)), shown(small).getpixel((280, 80))
    assert max(abs(a - b) for a, b in zip((*red, *white), (200, 30, 30, 255, 255, 255), strict=True)) < 12  # type: ignore[misc]


def test_a_picture_lies_on_white_and_a_pale_one_on_black() -> None:
    """Which would not be seen on white."""
    for colour, ground in (((0, 0, 90, 255), 255), ((250, 250, 250, 255), 0)):
        image = Image.new("RGBA", (300, 300), (0, 0, 0, 0))
        image.paste(colour, (100, 100, 200, 200))
        corner = shown(Thumbnails().of(file_of(image))).getpixel((10, 10))
        assert max(abs(value - ground) for value in corner) < 6  # type: ignore[union-attr]


def test_a_picture_that_was_taken_sideways_stands_upright() -> None:
    tags = Image.Exif()
    tags[0x0112] = 6
    data = file_of(Image.new("RGB", (400, 200), "red"), "JPEG", exif=tags)
    assert shown(Thumbnails().of(data)).size == (160, 320)


@pytest.mark.parametrize(
    "data", [b"", b"text", b"<svg xmlns='http://www.w3.org/2000/svg'/>", drawn("x")[:300], drawn("x")]
)
def test_what_is_no_picture_or_damaged_has_none(data: bytes) -> None:
    limits = InputLimits(picture_pixels=640 * 120 - 1)
    assert Thumbnails(limits).of(data) == b""


def test_a_document_has_so_many_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the pixels that are decoded, where a picture that comes again costs nothing, and by their bytes."""
    one, other = drawn("one"), drawn("other")
    monkeypatch.setattr(thumbnails, "_PICTURES", 1)
    few = Thumbnails(InputLimits(picture_pixels=640 * 120))
    assert few.of(one) and few.of(one) and few.of(other) == b""
    size = len(Thumbnails().of(one))
    monkeypatch.setattr(thumbnails, "_TOTAL_BYTES", 2 * size)
    small = Thumbnails()
    assert [len(small.of(one)) for _ in range(3)] == [size, size, 0]


def test_a_picture_that_leaves_no_memory_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> Image.Image:
        raise MemoryError

    monkeypatch.setattr(thumbnails, "decoded", full)
    assert Thumbnails().of(drawn("x")) == b""


def test_a_picture_that_says_nothing_is_neither_chunk_nor_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(ocr, "ocr_available", lambda: False)
    pictures = Pictures(DEFAULT_LIMITS, ocr=Ocr())
    assert pictures.run(alt="image.png", picture=lambda: asked.append(1)) is None and not asked
    run = pictures.run(alt="A chair", picture=drawn())
    assert run is not None and run.text == "A chair" and shown(run.thumbnail).size == (320, 60)
    run = pictures.run(alt="A chair", picture=b"no picture")
    assert run is not None and run.thumbnail == b""


def pages_of(monkeypatch: pytest.MonkeyPatch, data: bytes, name: str) -> Page:
    monkeypatch.setattr(ocr, "ocr_available", lambda: False)
    files = {"chair.png": drawn()}
    reader = {"md": "markdown", "png": "image", "tif": "image"}.get(name.split(".")[1], name.split(".")[1])
    return reader_of(reader)(DocumentFile(data, name, name, beside=files.get), DEFAULT_LIMITS)


def of_markdown() -> bytes:
    return b"# Chairs\n\n![A chair](chair.png)\n\nText.\n"


def of_word() -> bytes:
    document = pytest.importorskip("docx").Document()
    document.add_picture(io.BytesIO(drawn()))
    document.inline_shapes[0]._inline.docPr.set("descr", "A chair")
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def of_slides() -> bytes:
    show = pytest.importorskip("pptx").Presentation()
    picture = show.slides.add_slide(show.slide_layouts[6]).shapes.add_picture(io.BytesIO(drawn()), 0, 0)
    picture._element.nvPicPr.cNvPr.set("descr", "A chair")
    file = io.BytesIO()
    show.save(file)
    return file.getvalue()


def of_frames() -> bytes:
    image = Image.new("RGB", (640, 120), "white")
    return file_of(image, "TIFF", save_all=True, append_images=[image])


@pytest.mark.parametrize(
    "name, data, text",
    [
        ("chairs.md", of_markdown, "A chair"),
        ("a.docx", of_word, "A chair"),
        ("a.pptx", of_slides, "A chair"),
        ("office_chair.png", drawn, "office chair"),
        ("office_chair.tif", of_frames, "office chair"),
    ],
)
def test_pictures_have_thumbnails_without_the_extra(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    data,
    text: str,  # type: ignore[no-untyped-def]
) -> None:
    """Wherever they stand; a file of its own, of which nothing else is known, says its name."""
    page = pages_of(monkeypatch, data(), name)
    found = [(chunk.text, shown(chunk.thumbnail).size) for _, chunk in page.all_chunks() if chunk.thumbnail]
    assert found == [(text, (320, 60))]


def test_every_piece_of_a_long_picture_has_its_thumbnail() -> None:
    run = Pictures(DEFAULT_LIMITS).run(alt="A word and another. " * 400, picture=drawn())
    assert run is not None
    from trivium.parser.document import Document
    from trivium.types import ChunkKind

    document = Document(10)
    document.block(ChunkKind.IMAGE, run)
    assert len(document.lead) > 1 and {chunk.thumbnail for chunk in document.lead} == {run.thumbnail}
