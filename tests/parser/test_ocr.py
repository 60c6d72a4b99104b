"""The text of pictures: read within limits, in the order of people, and kept so that it is not read twice."""

from __future__ import annotations

import io
import os
import struct
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.pictures import drawn
from trivium.errors import ParseError
from trivium.parser import ocr_cache
from trivium.parser.ocr import Ocr, Pixels, TextBox, lines_of, ocr_available
from trivium.settings.limits import InputLimits

if not ocr_available() and not os.environ.get("CI"):
    pytest.skip("the extra ocr is not installed", allow_module_level=True)

from PIL import Image, ImageFilter


class Counted:
    """A reader that says how large the picture was, and how often it was asked."""

    def __init__(self, says: str = "") -> None:
        self.sizes: list[tuple[int, ...]] = []
        self._says = says

    def __call__(self, pixels: Pixels) -> list[TextBox]:
        self.sizes.append(pixels.shape)
        return [TextBox(self._says, 0, 0, 10, 10)]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path))
    yield tmp_path / "pictures"


@pytest.mark.parametrize("format", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
def test_text_is_read_in_every_format(cache: Path, format: str) -> None:
    assert Ocr().read(drawn("Office supplies", format=format)) == "Office supplies"


def test_pale_text_on_nothing_is_read(cache: Path) -> None:
    """On white it could not be seen."""
    assert Ocr().read(drawn("Customer journey", mode="RGBA")) == "Customer journey"


def test_pixels_and_pictures_are_read_as_files_are(cache: Path) -> None:
    data = drawn("Invoice 4711")
    image = Image.open(io.BytesIO(data))
    grey = np.asarray(image.convert("L"))
    assert [Ocr().read(picture) for picture in (data, image, np.asarray(image), grey)] == ["Invoice 4711"] * 4


def test_a_picture_without_text_has_none(cache: Path) -> None:
    assert Ocr().read(drawn()) == ""


def test_a_picture_is_read_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its text is known by its content, whatever it is called; nothing is kept of what clients upload."""
    first, second = Ocr(), Ocr(InputLimits(ocr_seconds=1e-9))
    data = drawn("Quarterly report")
    assert first.read(data) == second.read(data) == "Quarterly report"
    assert (second.spent, second.unread) == (0, 0)
    assert len(list(cache.iterdir())) == 1
    assert Ocr(InputLimits(ocr_seconds=0)).read(data) == ""
    monkeypatch.setattr(ocr_cache, "_off", threading.Event())
    ocr_cache.keep_nothing()
    second.spent = 1
    assert (second.read(data), second.unread) == ("", 1)


def test_the_time_is_that_of_a_document() -> None:
    """What is over, is over: the rest is left out, and counted."""
    reader = Counted("text")
    ocr = Ocr(InputLimits(ocr_seconds=1e-9), reader)
    assert [ocr.read(drawn()) for _ in range(3)] == ["text", "", ""]
    assert (ocr.unread, len(reader.sizes)) == (2, 1)


def test_a_large_picture_is_made_smaller_and_a_tiny_one_left_out() -> None:
    reader = Counted()
    ocr = Ocr(reader=reader)
    ocr.read(drawn(size=(5_000, 1_000)))
    ocr.read(drawn(size=(15, 300)))
    ocr.read(np.zeros((3_000, 300, 3), np.uint8))
    assert reader.sizes == [(400, 2_000, 3), (2_000, 200, 3)]


def test_a_bomb_is_refused_before_it_is_decoded() -> None:
    """30,000 x 30,000 pixels of one colour are 1 MB of PNG, and 2.7 GB when decoded."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    for side in (8_000, 30_000):
        head = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
        bomb = b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(99))) + chunk(b"IEND", b"")
        with pytest.raises(ParseError, match=r"pixels.*the limit"):
            Ocr(reader=Counted()).read(bomb)


@pytest.mark.parametrize(
    "data", [b"", b"no picture", b"\x89PNG\r\n\x1a\n", drawn("x")[:200], drawn("x", format="JPEG")[:700]]
)
def test_what_is_damaged_is_refused(data: bytes) -> None:
    with pytest.raises(ParseError, match=r"expected a picture|damaged"):
        Ocr(reader=Counted()).read(data)


def test_lack_of_memory_leaves_the_picture_out() -> None:
    def reader(pixels: Pixels) -> list[TextBox]:
        raise MemoryError

    ocr = Ocr(reader=reader)
    assert (ocr.read(drawn()), ocr.unread) == ("", 1)


def test_cells_of_a_row_are_one_line() -> None:
    boxes = [
        TextBox("500", 90, 1, 99, 11),
        TextBox("Desk", 0, 0, 40, 10),
        TextBox("20", 90, 22, 99, 30),
        TextBox("Lamp", 0, 20, 40, 30),
    ]
    assert lines_of(boxes) == ["Desk 500", "Lamp 20"]


def test_columns_of_text_are_read_one_after_the_other() -> None:
    """Under a heading across both."""
    words = "some words of running text"
    left = [TextBox(f"left {n} {words}", 0, 20 * n, 190, 20 * n + 10) for n in range(1, 6)]
    right = [TextBox(f"right {n} {words}", 210, 20 * n, 400, 20 * n + 10) for n in range(1, 6)]
    head = TextBox("The heading of a page of two columns", 20, 0, 380, 10)
    found = lines_of([box for pair in zip(left, right, strict=True) for box in pair] + [head])
    assert found == [head.text, *(box.text for box in left), *(box.text for box in right)]


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_turned_picture_is_read_as_an_upright_one(cache: Path, quarters: int) -> None:
    """Its lines in their order, too."""
    lines = ("Parking permit 8812", "Valid until 31 March")
    upright = np.asarray(Image.open(io.BytesIO(drawn(*lines))))
    ocr = Ocr()
    assert ocr.read(np.ascontiguousarray(np.rot90(upright, quarters))).splitlines() == list(lines)
    assert ocr.illegible == 0


def test_text_that_is_not_clear_is_left_out_and_counted(cache: Path) -> None:
    """Also when the picture is seen again."""
    fog = ImageFilter.GaussianBlur(1.5)
    lines = [
        "Invoice 4711 of 3 March 2024",
        "The harbour was closed for two days",
        "since ice had broken the lantern",
    ]
    image = Image.open(io.BytesIO(drawn(*lines))).convert("L").resize((320, 60)).filter(fog)
    noise = np.random.default_rng(1).normal(0, 40, (60, 320))
    pixels = np.clip(np.asarray(image) + noise, 0, 255).astype(np.uint8)
    ocr = Ocr()
    assert [ocr.read(pixels) for _ in range(2)] == ["", ""]
    assert ocr.illegible == 2


class Unsure:
    """A reader that is sure of what it reads when the picture stands on its head."""

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, pixels: Pixels) -> list[TextBox]:
        self.seen += 1
        if pixels[0, 0, 0]:
            return [TextBox("PAIG PIIIG", 0, 0, 90, 10, score=0.65)]
        return [TextBox("PARKING", 0, 0, 90, 10, score=0.99)]


def test_a_picture_is_turned_once_and_only_where_its_text_is_not_clear() -> None:
    pixels = np.zeros((40, 100, 3), np.uint8)
    reader = Unsure()
    assert (Ocr(reader=reader).read(pixels), reader.seen) == ("PARKING", 1)
    pixels[0, 0] = 1
    assert (Ocr(reader=reader).read(pixels), reader.seen) == ("PARKING", 3)
    pixels[-1, -1] = 1
    ocr = Ocr(reader=reader)
    assert (ocr.read(pixels), reader.seen, ocr.illegible) == ("", 5, 1)
