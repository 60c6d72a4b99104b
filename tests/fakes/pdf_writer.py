"""Writes small PDF files byte by byte: text at given places in Helvetica, an outline, information on the document, and
what a broken or hostile file may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

WIDTH, HEIGHT = 612, 792
"""Of a page, in points: US letter."""

# Widths of the characters 32 to 126 of Helvetica and Helvetica-Bold, in thousandths of the size of type.
_PLAIN = """
278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584 584
584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278
278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500
500 334 260 334 584
"""
_BOLD = """
278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333 333 584 584
584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722 667 944 667 667 611 333
278 333 584 556 333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778 556 556
500 389 280 389 584
"""
_WIDTHS = {bold: [int(width) for width in text.split()] for bold, text in ((False, _PLAIN), (True, _BOLD))}


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """The width of a line in points."""
    widths = _WIDTHS[bold]
    return size / 1000 * sum(widths[ord(c) - 32] if 32 <= ord(c) < 127 else 556 for c in text)


@dataclass
class PdfPage:
    """A page. Places are in points from the lower left corner."""

    content: list[bytes] = field(default_factory=list)
    has_picture: bool = False

    def text(self, x: float, y: float, text: str, size: float = 10, *, bold: bool = False) -> None:
        """A line that begins at ``x`` and stands on ``y``."""
        coded = text.encode("cp1252", "replace")
        for mark in (b"\\", b"(", b")"):
            coded = coded.replace(mark, b"\\" + mark)
        font = b"F2" if bold else b"F1"
        self.content.append(b"BT /%b %g Tf %g %g Td (%b) Tj ET" % (font, size, x, y, coded))

    def right(self, x: float, y: float, text: str, size: float = 10, *, bold: bool = False) -> None:
        """A line that ends at ``x``."""
        self.text(x - width_of(text, size, bold=bold), y, text, size, bold=bold)

    def lines(self, x: float, y: float, texts: Sequence[str], size: float = 10, leading: float = 12) -> float:
        """Lines below each other; returns where the next one would stand."""
        for text in texts:
            self.text(x, y, text, size)
            y -= leading
        return y

    def picture(self) -> None:
        """A grey square, and nothing that could be read."""
        self.has_picture = True
        self.content.append(b"q 200 0 0 200 100 400 cm /Im1 Do Q")

    def show(self, image: int, x: float, y: float, width: float, height: float) -> None:
        """A picture of the file, by its number (:meth:`PdfFile.image`)."""
        self.has_picture = True
        self.content.append(b"q %g 0 0 %g %g %g cm /Im%d Do Q" % (width, height, x, y, image))

    def group(self, form: int, *matrix: float) -> None:
        """A form object of the file, by its number (:meth:`PdfFile.form`), placed by the six numbers of a matrix."""
        self.content.append(b"q %g %g %g %g %g %g cm /Fm%d Do Q" % (*matrix, form))


@dataclass
class PdfFile:
    """A document. ``outline`` are (level from 0, title, page from 1, height on it or None). ``info`` is as PDF names it
    (``Title``, ``Author``, ``ModDate`` ...)."""

    info: Mapping[str, str] = field(default_factory=dict)
    outline: Sequence[tuple[int, str, int, float | None]] = ()
    pages: list[PdfPage] = field(default_factory=list)
    images: list[tuple[int, int, bytes]] = field(default_factory=list)
    forms: list[tuple[str, PdfPage]] = field(default_factory=list)

    def image(self, columns: int, rows: int, grey: bytes = b"") -> int:
        """A picture for :meth:`PdfPage.show`: a byte a pixel, row by row; fewer than its size says make a broken file."""
        self.images.append((columns, rows, grey))
        return len(self.images) + 1

    def form(self, matrix: str = "1 0 0 1 0 0") -> tuple[int, PdfPage]:
        """A form object for :meth:`PdfPage.group`, with a matrix of its own: its number, and what it shows."""
        self.forms.append((matrix, PdfPage()))
        return len(self.forms), self.forms[-1][1]

    def page(self) -> PdfPage:
        """A further page."""
        self.pages.append(PdfPage())
        return self.pages[-1]

    def data(self, *, encrypted: bool = False, page_loop: bool = False, outline_loop: bool = False) -> bytes:
        """The file. ``encrypted``: with a password that nobody knows. The loops: a list of pages that is its own child,
        and an outline in which the last entry is followed by the first."""
        objects: dict[int, bytes] = {}
        first = 10 + len(self.outline)
        numbers = [first + 2 * index for index in range(len(self.pages))]
        kids = " ".join(f"{number} 0 R" for number in numbers) + (" 2 0 R" if page_loop else "")
        catalog = "/Type /Catalog /Pages 2 0 R" + (" /Outlines 6 0 R" if self.outline else "")
        objects[1] = f"<< {catalog} >>".encode()
        objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {len(numbers) + page_loop} >>".encode()
        for number, name in ((3, "Helvetica"), (4, "Helvetica-Bold")):
            font = f"/Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding"
            objects[number] = f"<< {font} >>".encode()
        objects[5] = b"<< %b >>" % b" ".join(b"/%b %b" % (k.encode(), _text(v)) for k, v in self.info.items())
        self._add_outline(objects, numbers, loop=outline_loop)
        pixels = b"\x80" * 64
        image = (
            b"/Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 8"
        )
        objects[8] = b"<< %b /Length %d >>\nstream\n%b\nendstream" % (image, len(pixels), pixels)
        after = first + 2 * len(self.pages)
        for number, (columns, rows, grey) in enumerate(self.images, start=after):
            size = f"/Width {columns} /Height {rows} /ColorSpace /DeviceGray /BitsPerComponent 8"
            head = f"/Type /XObject /Subtype /Image {size} /Length {len(grey)}"
            objects[number] = b"<< %b >>\nstream\n%b\nendstream" % (head.encode(), grey)
        named = " ".join(f"/Im{index + 2} {after + index} 0 R" for index in range(len(self.images)))
        after += len(self.images)
        named += " ".join(f" /Fm{index + 1} {after + index} 0 R" for index in range(len(self.forms)))
        for number, (matrix, shown) in enumerate(self.forms, start=after):
            content = b"\n".join(shown.content)
            head = (
                f"/Type /XObject /Subtype /Form /BBox [0 0 {WIDTH} {HEIGHT}] /Matrix [{matrix}]"
                f" /Resources << /XObject << {named} >> >> /Length {len(content)}"
            )
            objects[number] = b"<< %b >>\nstream\n%b\nendstream" % (head.encode(), content)
        for number, page in zip(numbers, self.pages, strict=True):
            resources = f"/Font << /F1 3 0 R /F2 4 0 R >> /XObject << /Im1 8 0 R {named} >>"
            box = f"/MediaBox [0 0 {WIDTH} {HEIGHT}]"
            objects[number] = (
                f"<< /Type /Page /Parent 2 0 R {box} /Resources << {resources} >> /Contents {number + 1} 0 R >>"
            ).encode()
            content = b"\n".join(page.content)
            objects[number + 1] = b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content)
        trailer = b"/Root 1 0 R" + (b" /Info 5 0 R" if self.info else b"")
        if encrypted:
            keys = f"/Filter /Standard /V 1 /R 2 /P -4 /O <{'5a' * 32}> /U <{'a5' * 32}>"
            objects[7] = f"<< {keys} >>".encode()
            trailer += b" /Encrypt 7 0 R /ID [<00> <00>]"
        return _written(objects, trailer)

    def _add_outline(self, objects: dict[int, bytes], pages: Sequence[int], *, loop: bool) -> None:
        if not self.outline:
            return
        parents = [_parent(self.outline, index) for index in range(len(self.outline))]
        children: dict[int, list[int]] = {}
        for index, parent in enumerate(parents):
            children.setdefault(parent, []).append(index)
        for index, (_, title, page, top) in enumerate(self.outline):
            siblings = children[parents[index]]
            place = siblings.index(index)
            target = "/Fit" if top is None else f"/XYZ 0 {top:g} 0"
            entry = f"/Parent {_entry(parents[index])} 0 R /Dest [{pages[page - 1]} 0 R {target}]"
            if place + 1 < len(siblings):
                entry += f" /Next {_entry(siblings[place + 1])} 0 R"
            elif loop:
                entry += f" /Next {_entry(siblings[0])} 0 R"
            if index in children:
                entry += f" /First {_entry(children[index][0])} 0 R /Last {_entry(children[index][-1])} 0 R"
            elif loop:
                entry += " /First 6 0 R"
            objects[_entry(index)] = b"<< /Title %b %b >>" % (_text(title), entry.encode())
        top_level = children[-1]
        objects[6] = (
            f"<< /Type /Outlines /First {_entry(top_level[0])} 0 R /Last {_entry(top_level[-1])} 0 R >>".encode()
        )


def _parent(outline: Sequence[tuple[int, str, int, float | None]], index: int) -> int:
    return next((i for i in range(index - 1, -1, -1) if outline[i][0] < outline[index][0]), -1)


def _entry(index: int) -> int:
    """The object that an entry of the outline is; -1 is the outline itself."""
    return 6 if index < 0 else 10 + index


def _text(text: str) -> bytes:
    return b"<feff" + text.encode("utf-16-be").hex().encode() + b">"


def _written(objects: Mapping[int, bytes], trailer: bytes) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places: dict[int, int] = {}
    for number in sorted(objects):
        places[number] = len(out)
        out += b"%d 0 obj\n%b\nendobj\n" % (number, objects[number])
    start, size = len(out), max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 00001 f \n"
    out += b"trailer\n<< /Size %d %b >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start)
    return bytes(out)
