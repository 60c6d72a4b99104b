"""Pictures made in tests."""

from __future__ import annotations

import io


def drawn(*lines: str, size: tuple[int, int] = (640, 120), mode: str = "RGB", format: str = "PNG") -> bytes:
    """A picture with lines of text, black on white, or pale on nothing."""
    from PIL import Image, ImageDraw, ImageFont

    clear = mode == "RGBA"
    image = Image.new(mode, size, (0, 0, 0, 0) if clear else "white")  # type: ignore[arg-type]
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(28)
    for number, line in enumerate(lines):
        pen.text((12, 10 + 44 * number), line, fill="white" if clear else "black", font=font)
    file = io.BytesIO()
    image.save(file, format)
    return file.getvalue()
