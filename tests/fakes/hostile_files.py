"""Files of every format: good ones, broken ones, and such as are made to harm a program that reads them.

Each is a :class:`HostileFile` with what has to come of it. Nothing here is real text of anybody.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Outcome = Literal["found", "refused", "either"]
"""What has to come of a file: its word is found, it is named with a reason, or one of them."""


@dataclass(frozen=True, slots=True)
class HostileFile:
    """A file called ``name``. ``word`` stands in the text of one that can be read; ``package`` is what making or reading
    it needs beside the package itself."""

    name: str
    make: Callable[[], bytes]
    outcome: Outcome
    word: str = ""
    package: str = ""


def hostile_files(scale: int = 1) -> list[HostileFile]:
    """One of each format and trouble. With a ``scale`` of 20 those that are large are so large that they take long."""
    return [*_good(), *_damaged(), *_hostile(scale)]


def good_files(other: str = "") -> dict[str, HostileFile]:
    """A readable file of each format, by the end of its name; with their own words, or an ``other`` one."""
    return {file.name.rpartition(".")[2]: file for file in _good(other)}


def _good(other: str = "") -> Iterator[HostileFile]:
    """With their own words, or all with an ``other`` one: documents are called after it, and titles must not collide."""

    def file(name: str, make: Callable[[str], bytes], word: str, package: str = "") -> HostileFile:
        return HostileFile(name, lambda: make(other or word), "found", other or word, package)

    yield file("good txt.txt", lambda word: f"Plain text about the {word} tree.\n".encode(), "baobab")
    yield file(
        "good md.md",
        lambda word: f"# The {word} in Markdown\n\nMarkdown about the {word} tree.\n".encode(),
        "sequoia",
    )
    yield file("good html.html", lambda word: html(word), "jacaranda")
    yield file("good csv.csv", lambda word: f"tree,height\n{word},30\nother,20\n".encode(), "tamarind")
    yield file(
        "good json.json",
        lambda word: f'[{{"title": "The {word} in records", "text": "About the {word}."}}]'.encode(),
        "mesquite",
    )
    yield file("good pdf.pdf", lambda word: pdf([f"A PDF about the {word} tree."]), "eucalyptus")
    yield file("good docx.docx", docx, "rhododendron", "docx")
    yield file("good pptx.pptx", pptx, "cottonwood", "pptx")
    yield file("good xlsx.xlsx", xlsx, "hawthorn", "openpyxl")
    yield file(
        "good epub.epub", lambda word: epub(f"<p>A book about the {word} tree.</p>"), "hornbeam", "lxml"
    )


def _damaged() -> Iterator[HostileFile]:
    for suffix, good in good_files("brokenwood").items():
        text = suffix in ("txt", "md", "html", "csv", "json")
        yield HostileFile(f"empty.{suffix}", bytes, "refused", package=good.package)
        # Half a text is a text; half of an archive is none.
        broken: Outcome = "either" if text else "refused"
        yield HostileFile(
            f"broken.{suffix}", lambda good=good: _half(good.make()), broken, package=good.package
        )
        yield HostileFile(f"binary.{suffix}", lambda: bytes(range(256)) * 40, "refused", package=good.package)
    yield HostileFile("garbage.pdf", lambda: b"%PDF-1.7\n" + bytes(range(256)) * 40, "refused")
    yield HostileFile("encrypted.pdf", lambda: pdf(["Nobody may read this."], encrypted=True), "refused")
    for suffix, package in (("docx", "docx"), ("pptx", "pptx"), ("xlsx", "openpyxl")):
        yield HostileFile(f"encrypted.{suffix}", encrypted_office, "refused", package=package)
    yield HostileFile("encrypted.epub", lambda: epub("<p>No.</p>", encrypted=True), "refused", package="lxml")
    for name, make in (
        ("renamed.pdf", lambda: docx("x")),
        ("renamed.docx", lambda: pdf(["No document of a word processor."])),
    ):
        yield HostileFile(name, make, "either", package="docx")


def _hostile(scale: int) -> Iterator[HostileFile]:
    office = (
        ("docx", docx, "word/document.xml", "docx"),
        ("pptx", pptx, "ppt/slides/slide1.xml", "pptx"),
        ("xlsx", xlsx, "xl/worksheets/sheet1.xml", "openpyxl"),
        ("epub", lambda word: epub(f"<p>{word}</p>"), "OEBPS/one.xhtml", "lxml"),
    )
    for suffix, make, part, package in office:
        yield HostileFile(
            f"bomb.{suffix}",
            lambda make=make, part=part: bombed(make("boom"), part, 600),
            "refused",
            package=package,
        )
        yield HostileFile(
            f"laughs.{suffix}",
            lambda make=make, part=part: replaced(make("ha"), {part: billion_laughs()}),
            "either" if suffix == "epub" else "refused",
            package=package,
        )
        yield HostileFile(
            f"entity.{suffix}",
            lambda make=make, part=part: replaced(make("passwd"), {part: external_entity()}),
            "either" if suffix == "epub" else "refused",
            package=package,
        )
        yield HostileFile(
            f"traversal.{suffix}",
            lambda make=make: with_members(
                make("outside"), {"../../../evil.txt": b"evil", "/tmp/evil.txt": b"evil"}
            ),
            "either",
            package=package,
        )
        yield HostileFile(
            f"members.{suffix}",
            lambda make=make: with_members(
                make("many"), {f"x/{n}.xml": b"<x/>" for n in range(3_000 * scale)}
            ),
            "either",
            package=package,
        )
    yield HostileFile("entities.html", lambda: billion_laughs(b"html"), "either")
    yield HostileFile("deep.html", lambda: b"<div>" * 200_000 + b"deep" + b"</div>" * 200_000, "either")
    yield HostileFile("deep.md", lambda: b">" * 100_000 + b" deep\n" + b"[" * 100_000, "either")
    yield HostileFile("stars.md", lambda: b"*a **b " * (1_500 * scale), "either")
    yield HostileFile("matter.md", lambda: b"---\n" + yaml_laughs() + b"---\n\nFront matter.\n", "either")
    yield HostileFile(
        "wide.csv", lambda: b"a," * (10_000 * scale) + b"\n" + b"b," * (10_000 * scale), "either"
    )
    yield HostileFile("line.txt", lambda: b"word " * (100_000 * scale), "either")
    yield HostileFile("quote.csv", lambda: b'a,"' + b"b,\n" * (20_000 * scale), "either")
    yield HostileFile("pages loop.pdf", lambda: pdf(["Round and round."], loop="pages"), "either")
    yield HostileFile("outline loop.pdf", lambda: pdf(["Round and round."], loop="outline"), "either")
    yield HostileFile("form loop.pdf", lambda: pdf(["Round and round."], loop="form"), "either")
    yield HostileFile(
        "bomb.pdf", lambda: pdf(["Boom"], content=_flate(b"q " * (1 << 19), 2 * scale)), "either"
    )
    yield HostileFile("media.pdf", lambda: pdf(["Wide"], box=1e30), "either")
    yield HostileFile(
        "ten thousand.pdf",
        lambda: pdf([f"This is page {n} of the thousandfold tale." for n in range(1, 10_001)]),
        "either",
        "thousandfold",
    )


def html(word: str) -> bytes:
    """A page with a heading and a paragraph."""
    return (
        f"<!doctype html><html lang=en><head><title>The {word} in HTML</title></head><body><main>"
        f"<h1>The {word} in HTML</h1><p>HTML about the {word} tree, which is rather tall.</p></main></body></html>"
    ).encode()


def docx(word: str) -> bytes:
    """A document of a word processor."""
    from docx import Document

    document = Document()
    document.add_heading(f"The {word} in Word", 1)
    document.add_paragraph(f"A document about the {word} tree.")
    return _saved(document.save)


def pptx(word: str) -> bytes:
    """A slide."""
    from pptx import Presentation

    slides = Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[1])
    slide.shapes.title.text = f"The {word} on slides"
    slide.placeholders[1].text = f"A slide about the {word} tree."
    return _saved(slides.save)


def xlsx(word: str) -> bytes:
    """A sheet."""
    from openpyxl import Workbook

    book = Workbook()
    for row in (("tree", "height"), (word, 30), ("other", 20)):
        book.active.append(row)
    return _saved(book.save)


def epub(body: str, *, encrypted: bool = False) -> bytes:
    """A book of one chapter; ``encrypted`` as shops sell them."""
    members = {
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": b'<?xml version="1.0"?><container version="1.0"'
        b' xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf"'
        b' media-type="application/oebps-package+xml"/></rootfiles></container>',
        "OEBPS/book.opf": b'<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0"'
        b' unique-identifier="id"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">x'
        b"</dc:identifier><dc:title>"
        + re.sub("<[^>]*>", "", body).encode()
        + b"</dc:title><dc:language>en</dc:language></metadata><manifest>"
        b'<item id="one" href="one.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="one"/>'
        b"</spine></package>",
        "OEBPS/one.xhtml": f'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>One</title>'
        f"</head><body><h1>One</h1>{body}</body></html>".encode(),
    }
    if encrypted:
        members["OEBPS/one.xhtml"] = zlib.compress(members["OEBPS/one.xhtml"])[::-1]
        members["META-INF/encryption.xml"] = (
            b'<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"'
            b' xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:EncryptionMethod'
            b' Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/><enc:CipherData><enc:CipherReference'
            b' URI="OEBPS/one.xhtml"/></enc:CipherData></enc:EncryptedData></encryption>'
        )
    return archive(members)


def encrypted_office() -> bytes:
    """What Office writes for a document with a password: a compound file instead of an archive."""
    header = bytearray(512)
    header[:8] = bytes.fromhex("d0cf11e0a1b11ae1")
    struct.pack_into("<HHHHH", header, 24, 0x3E, 3, 0xFFFE, 9, 6)
    struct.pack_into("<IIIIIIIII", header, 40, 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    struct.pack_into("<109I", header, 76, 0, *[0xFFFFFFFF] * 108)
    table = struct.pack("<128I", 0xFFFFFFFD, 0xFFFFFFFE, *[0xFFFFFFFF] * 126)
    names = (("Root Entry", 5, 1), ("EncryptionInfo", 2, 2), ("EncryptedPackage", 2, 0xFFFFFFFF))
    entries = b"".join(_entry(name, kind, child) for name, kind, child in names).ljust(512, b"\x00")
    return bytes(header) + table + entries + bytes(4096)


def _entry(name: str, kind: int, child: int) -> bytes:
    encoded = (name + "\x00").encode("utf-16-le")
    none = 0xFFFFFFFF
    left = none
    return struct.pack(
        "<64sHBBIII16sIQQIQ", encoded, len(encoded), kind, 1, left, none, child if kind == 5 else none, b"", 0, 0, 0,
        0xFFFFFFFE, 0,
    )  # fmt: skip


def archive(members: dict[str, bytes], stored: str = "mimetype") -> bytes:
    """A zip archive; ``stored`` is not compressed."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members.items():
            kind = zipfile.ZIP_STORED if name in ("mimetype", stored) else zipfile.ZIP_DEFLATED
            packed.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, kind)
    return file.getvalue()


def unpacked(data: bytes) -> dict[str, bytes]:
    """Return the members of a zip archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def replaced(data: bytes, parts: dict[str, bytes]) -> bytes:
    """Return an archive with some members replaced."""
    return archive({**unpacked(data), **parts})


def with_members(data: bytes, more: dict[str, bytes]) -> bytes:
    """Return an archive with more members at its end."""
    return archive({**unpacked(data), **more})


def bombed(data: bytes, part: str, megabytes: int) -> bytes:
    """An archive one of whose parts is XML of so many megabytes, which are very few in the archive."""
    members = unpacked(data)
    members.pop(part)
    head, body, tail = b'<?xml version="1.0"?><w><!--', b"0" * (1 << 20), b"--></w>"
    packed = _deflated(head) + _deflated(body) * megabytes + _deflated(tail) + b"\x03\x00"
    checksum = zlib.crc32(head)
    for _ in range(megabytes):
        checksum = zlib.crc32(body, checksum)
    checksum = zlib.crc32(tail, checksum)
    size = len(head) + len(tail) + (megabytes << 20)
    # Stored first: the compressed bytes are as they are, and only what the archive says of them has to change.
    file = bytearray(archive({part: packed, **members}, stored=part))
    for signature, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        start = file.index(signature)
        while file[start + (30 if at == 8 else 46) :][: len(part)] != part.encode():
            start = file.index(signature, start + 1)
        struct.pack_into("<H", file, start + at, zipfile.ZIP_DEFLATED)
        struct.pack_into("<III", file, start + at + 6, zlib.crc32(b"", checksum), len(packed), size)
    return bytes(file)


def _deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH)


def billion_laughs(root: bytes = b"w") -> bytes:
    """XML whose entities expand exponentially."""
    names = [b"l%d" % n for n in range(12)]
    within = [b'<!ENTITY %s "%s">' % (b, (b"&" + a + b";") * 10) for a, b in pairwise(names)]
    lines = b"\n".join([b'<!ENTITY l0 "lol">', *within])
    return b'<?xml version="1.0"?><!DOCTYPE %s [%s]><%s>&l11;</%s>' % (root, lines, root, root)


def external_entity() -> bytes:
    """An entity that is a file of this machine."""
    return b'<?xml version="1.0"?><!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]><w>&x;</w>'


def yaml_laughs() -> bytes:
    """YAML whose aliases expand exponentially."""
    lines = [b"a0: &a0 [lol, lol]"]
    lines += [b"a%d: &a%d [%s]" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 12)]
    return b"\n".join(lines) + b"\n"


def pdf(
    lines: Sequence[str],
    *,
    encrypted: bool = False,
    loop: str = "",
    content: bytes | None = None,
    box: float = 600,
) -> bytes:
    """A PDF with a page for each line. ``content`` is a compressed stream in place of what the first page shows."""
    first = 5
    kids = " ".join(f"{first + 2 * n} 0 R" for n in range(len(lines)))
    kids += " 2 0 R" if loop == "pages" else ""
    outline = " /Outlines 4 0 R" if loop == "outline" else ""
    objects = {
        1: f"<< /Type /Catalog /Pages 2 0 R{outline} >>".encode(),
        2: f"<< /Type /Pages /Kids [{kids}] /Count {len(lines)} >>".encode(),
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        4: b"<< /Type /Outlines /First 4 0 R /Last 4 0 R /Next 4 0 R /Title (round) /Parent 4 0 R /Count 1 >>",
    }
    form = " /XObject << /F 4 0 R >>" if loop == "form" else ""
    if form:
        objects[4] = _stream(
            b"/F Do", f"/Type /XObject /Subtype /Form /BBox [0 0 600 600] /Resources << {form} >>"
        )
    for number, line in enumerate(lines):
        page = first + 2 * number
        objects[page] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {box:.0f} {box:.0f}] /Contents {page + 1} 0 R"
            f" /Resources << /Font << /H 3 0 R >>{form} >> >>"
        ).encode()
        shown = f"BT /H 12 Tf 50 500 Td ({line}) Tj ET{' /F Do' if form else ''}".encode("latin-1")
        objects[page + 1] = _stream(shown)
    if content is not None:
        objects[first + 1] = _stream(content, "/Filter /FlateDecode")
    extra = ""
    if encrypted:
        last = max(objects) + 1
        objects[last] = f"<< /Filter /Standard /V 1 /R 2 /O <{'41' * 32}> /U <{'42' * 32}> /P -4 >>".encode()
        extra = f" /Encrypt {last} 0 R /ID [<{'43' * 16}> <{'43' * 16}>]"
    return _numbered(objects, extra)


def _numbered(objects: dict[int, bytes], extra: str) -> bytes:
    parts, places, at = [b"%PDF-1.4\n"], [], 9
    for number in sorted(objects):
        part = b"%d 0 obj\n%s\nendobj\n" % (number, objects[number])
        parts.append(part)
        places.append(at)
        at += len(part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(places) + 1
    parts.append(b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table))
    parts.append(f"trailer\n<< /Size {size} /Root 1 0 R{extra} >>\nstartxref\n{at}\n%%EOF\n".encode())
    return b"".join(parts)


def _stream(data: bytes, more: str = "") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), more.encode(), data)


def _flate(data: bytes, times: int) -> bytes:
    """Data so many times, compressed; the checksum behind it is left out, which readers do not mind."""
    return b"\x78\xda" + _deflated(data) * times + b"\x03\x00"


def _half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    file = io.BytesIO()
    save(file)
    return file.getvalue()
