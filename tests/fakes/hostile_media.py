"""Pictures and recordings that are none, are huge by their header, or are something else."""

from __future__ import annotations

import struct
import zlib


def png(width: int, height: int, content: bytes = b"") -> bytes:
    """A picture of that size by its header; there is less in it."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    packed = zlib.compress(content)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


PICTURES = {
    "empty.png": b"",
    "cut.png": png(8, 8, b"\0" * 200)[:40],
    "hollow.png": png(800, 800),
    "huge.png": png(60_000, 60_000),
    "hugest.png": png(0x7FFFFFFF, 0x7FFFFFFF),
    "flat.png": png(0, 0),
    "bomb.png": png(20_000, 20_000, b"\0" * (40 << 20)),
    "page.png": b"<!doctype html><p>no picture",
    "tone.png": b"RIFF\x24\0\0\0WAVEfmt ",
    "cut.jpg": b"\xff\xd8\xff\xe0\0\x10JFIF\0",
    "cut.webp": b"RIFF\xff\xff\xff\x7fWEBPVP8 ",
    "cut.gif": b"GIF89a\xff\xff\xff\xff\xf7\0\0",
    "long.tiff": b"II*\0\x08\0\0\0\xff\xff" + b"\xff" * 500,
}


def wav(seconds: float, rate: int, *, told: int | None = None, bits: int = 8) -> bytes:
    """Silence; ``told`` is how many bytes of it the header says there are."""
    data = b"\x80" * int(seconds * rate * bits // 8)
    size = len(data) if told is None else told
    form = struct.pack("<IHHIIHH", 16, 1, 1, rate, rate * bits // 8, bits // 8, bits)
    return (
        b"RIFF"
        + struct.pack("<I", min(36 + size, 0xFFFFFFFF))
        + b"WAVEfmt "
        + form
        + b"data"
        + struct.pack("<I", size)
        + data
    )


AUDIO: dict[str, tuple[bytes, tuple[int, ...]]] = {
    "nothing": (b"", (400,)),
    "a header alone": (wav(0, 16_000), (200, 400)),
    "of hours": (wav(10_000, 100), (413,)),
    "of hours by its header": (wav(1, 16_000, told=0xFFFFFFFF), (200,)),
    "of no rate": (wav(0, 0) + b"\x80" * 100, (400,)),
    "of a huge rate": (wav(0.001, 4_000_000), (200, 400)),
    "of 65,535 channels": (wav(1, 8000)[:22] + b"\xff\xff" + wav(1, 8000)[24:], (400,)),
    "cut off": (wav(1, 16_000)[:30], (400,)),
    "a picture": (png(8, 8), (400,)),
    "a page": (b"<html>" * 100, (400,)),
    "a list of addresses": (b"#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:1/a.ts\n", (400,)),
    "a list of files": (b"ffconcat version 1.0\nfile '/etc/passwd'\n", (400,)),
    "Ogg of nothing": (b"OggS" + b"\0" * 200, (400,)),
    "FLAC of nothing": (b"fLaC\x80\0\0\x22" + b"\xff" * 34, (400,)),
    "MP4 of a huge box": (b"\0\0\0\x18ftypM4A \0\0\0\0" + struct.pack(">I", 0xFFFFFFF0) + b"moov", (400,)),
    "WebM of nothing": (b"\x1a\x45\xdf\xa3\x01\xff\xff\xff\xff\xff\xff\xff", (400,)),
    "more than is taken": (b"RIFF" + b"\0" * (17 << 20), (413,)),
}
"""The content, and the statuses that it may be answered with."""
