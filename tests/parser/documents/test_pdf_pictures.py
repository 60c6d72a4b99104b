"""Pictures on pages of PDF files that have text: their captions, the text in them, and where they stand."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from tests.fakes.pdf_writer import PdfFile
from tests.parser.documents.test_pdf import FakeOcr, read
from trivium.errors import ParseError
from trivium.parser.documents.pdf import ocr_pages
from trivium.parser.documents.pdf.blocks import Block, Kind
from trivium.parser.documents.pdf.pdfium import opened
from trivium.parser.documents.pdf.placed_pictures import PlacedPicture

PROSE = "The pump moves the water of the lower basin into the upper one, as long as there is power for it."


def illustrated() -> tuple[PdfFile, int]:
    file = PdfFile()
    return file, file.image(200, 120, bytes(range(200)) * 120)


def chunks_of(file: PdfFile) -> list[tuple[str, str, tuple[int, int] | None]]:
    page = read(file.data(), "plant.pdf")
    return [(str(chunk.kind), chunk.text, chunk.pages) for _, chunk in page.all_chunks()]


@pytest.fixture
def without_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr_pages.PageReader, "available", False)


@pytest.mark.parametrize("height", [380, 555])
def test_a_caption_beneath_or_above_a_picture_makes_it_a_chunk(without_ocr: None, height: int) -> None:
    """With the page it stands on, in place of the paragraph that the caption would be."""
    file, image = illustrated()
    file.page().text(72, 700, PROSE)
    page = file.page()
    page.text(72, 700, PROSE)
    page.show(image, 72, 400, 300, 140)
    page.text(72, height, "Figure 3: Pumps of the plant")
    page.text(72, 300, PROSE)
    found = chunks_of(file)
    assert ("image", "Figure 3: Pumps of the plant", (2, 2)) in found
    assert [kind for kind, _, _ in found] == ["paragraph", "paragraph", "image", "paragraph"]


def test_a_picture_of_a_page_is_shown_small(without_ocr: None) -> None:
    """As the page shows it: the file's is dark on the left and light on the right."""
    file, image = illustrated()
    page = file.page()
    page.text(72, 700, PROSE)
    page.show(image, 72, 400, 300, 140)
    page.text(72, 380, "Figure 3: Pumps of the plant")
    found = read(file.data(), "plant.pdf")
    thumbnails = {str(chunk.kind): chunk.thumbnail for _, chunk in found.all_chunks()}
    assert thumbnails["paragraph"] == b""
    shown = Image.open(io.BytesIO(thumbnails["image"])).convert("L")
    pixels = np.asarray(shown)
    assert shown.width <= 320 and shown.height < shown.width
    assert pixels[:, : shown.width // 4].mean() < 60 and pixels[:, -shown.width // 4 :].mean() > 140


def test_pictures_of_groups_of_objects_stand_where_the_page_shows_them() -> None:
    """Two groups, one in the other: 0.5 (2 x + 40) + 30 for what stands at x = 72 with 150 to the right of it."""
    file, image = illustrated()
    inner, shown = file.form("2 0 0 2 40 20")
    shown.show(image, 72, 60, 150, 70)
    outer, group = file.form()
    group.group(inner, 0.5, 0, 0, 0.5, 30, 10)
    for matrix in ((1, 0, 0, 1, 0, 200), (0, 1, -1, 0, 500, 0)):
        page = file.page()
        page.text(72, 700, PROSE)
        page.group(outer, *matrix)
    with opened(file.data()) as pdf:
        (upright,), (on_its_side,) = (pdf.content(index, 10**6)[1] for index in range(2))
    sides = (upright.left, upright.bottom, upright.right, upright.top)
    assert sides == pytest.approx((122, 280, 272, 350), abs=0.01)
    turned_sides = (on_its_side.left, on_its_side.bottom, on_its_side.right, on_its_side.top)
    assert turned_sides == pytest.approx((500 - 150, 122, 500 - 80, 272), abs=0.01)
    assert upright.key == on_its_side.key


def test_a_group_that_holds_itself_ends() -> None:
    file, image = illustrated()
    number, shown = file.form()
    shown.show(image, 72, 400, 300, 140)
    shown.group(number, 0.9, 0, 0, 0.9, 0, 0)
    page = file.page()
    page.text(72, 700, PROSE)
    page.group(number, 1, 0, 0, 1, 0, 0)
    with opened(file.data()) as pdf:
        assert 1 <= len(pdf.content(0, 10**6)[1]) <= 50


@pytest.mark.parametrize(
    ("line", "is_caption"),
    [
        ("Рис. 3. Насосы станции", True),
        ("РИСУНОК 3 – Насосы станции", True),
        ("Рис.3 Насосы", True),
        ("Abb. 3: Pumpen", True),
        ("Figura 3. Bombas", True),
        ("Imagen 3: bombas", True),
        ("Figuur 3: pompen", True),
        ("Figur 3: pumper", True),
        ("Kuva 3. Pumput", True),
        ("Рисование 3 насосов", False),
        ("Рис дорожает: 3 рубля", False),
        ("Figurines: 3 of them", False),
    ],
)
def test_captions_begin_with_the_word_for_a_picture_in_many_languages(line: str, is_caption: bool) -> None:
    """Words that only begin alike are text."""
    place = PlacedPicture(72, 400, 372, 540, 300, 140, b"key")
    beneath = Block(Kind.TEXT, line, 1, 10, bold=False, base=388, last_base=388, x0=72, x1=300)
    found = ocr_pages.with_pictures([beneath], [ocr_pages.ReadPicture(place, "")], 1)
    assert [(block.kind, block.text) for block in found] == [
        (Kind.PICTURE if is_caption else Kind.TEXT, line)
    ]


def test_a_picture_without_caption_and_text_is_no_chunk(without_ocr: None) -> None:
    """Nor is a line that is far from it, beside it, or no caption."""
    file, image = illustrated()
    page = file.page()
    page.show(image, 72, 400, 200, 140)
    page.text(72, 380, "Figures are rounded to whole numbers")
    page.text(72, 200, "Figure 1: far below")
    page.text(320, 380, "Figure 2: in the other column")
    assert {kind for kind, _, _ in chunks_of(file)} == {"paragraph"}


def test_text_in_a_picture_is_read_once_and_stands_where_the_picture_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A logo that every page shows is read on the first; icons, rules, backgrounds and hostile sizes never are."""
    seen = []

    class Counting(FakeOcr):
        def read(self, picture: object) -> str:
            seen.append(getattr(picture, "shape", None))
            return super().read(picture)

    monkeypatch.setattr(ocr_pages, "Ocr", lambda limits: Counting())
    file, image = illustrated()
    icon, rule = file.image(60, 60, bytes(3_600)), file.image(4_000, 110, bytes(440_000))
    hostile = file.image(1_000_000, 1_000_000, b"x")
    for _ in range(3):
        page = file.page()
        page.text(72, 700, PROSE)
        page.show(image, 72, 400, 300, 140)
        page.text(72, 300, PROSE)
    for number in (icon, rule, hostile):
        page.show(number, 72, 100, 200, 100)
    page.show(file.image(300, 400, bytes(120_000)), 0, 0, 612, 792)
    found = chunks_of(file)
    assert seen == [(93, 200, 3)]
    assert [(kind, pages) for kind, _, pages in found][:3] == [
        ("paragraph", (1, 1)),
        ("image", (1, 1)),
        ("paragraph", (1, 1)),
    ]
    assert found[1][1] == "Words in\na picture" and len(found) == 7


def test_a_damaged_picture_with_a_caption_is_the_caption(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing(FakeOcr):
        def read(self, picture: object) -> str:
            raise ParseError("the picture is damaged")

    monkeypatch.setattr(ocr_pages, "Ocr", lambda limits: Refusing())
    file = PdfFile()
    page = file.page()
    page.text(72, 700, PROSE)
    page.show(file.image(300, 300, b"x"), 72, 400, 300, 140)
    page.text(72, 380, "Fig. 4. Pumps")
    assert ("image", "Fig. 4. Pumps", (1, 1)) in chunks_of(file)


def test_a_paragraph_goes_on_behind_a_picture(without_ocr: None) -> None:
    file, image = illustrated()
    page = file.page()
    page.text(72, 700, "A paragraph that the picture at the end of its page parts goes on after it and is")
    page.show(image, 72, 400, 300, 140)
    page.text(72, 380, "Figure 1: Parts")
    file.page().text(72, 700, "one paragraph still.")
    assert [text[-20:] for kind, text, _ in chunks_of(file)] == ["one paragraph still.", "Figure 1: Parts"]


def test_the_part_of_a_turned_page_is_what_it_shows() -> None:
    """The picture is dark on its left; turned to the right it is dark above."""
    file = PdfFile()
    image = file.image(200, 100, (bytes(100) + b"\xff" * 100) * 100)
    page = file.page()
    page.text(72, 700, PROSE)
    page.show(image, 100, 300, 200, 100)
    plain = file.data()
    turned = plain.replace(b"/MediaBox", b"/Rotate 90 /MediaBox")
    for data, shape, dark in ((plain, (100, 200), np.s_[:, :90]), (turned, (200, 100), np.s_[:90, :])):
        with opened(data) as pdf:
            (place,) = pdf.content(0, 10_000_000)[1]
            pixels = pdf.part(0, place)
        assert pixels is not None and np.allclose(pixels.shape[:2], shape, atol=2)
        assert pixels[dark].mean() < 10 and pixels.mean() > 100
