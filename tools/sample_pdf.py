"""Writes the PDF of the sample documents:  python tools/sample_pdf.py"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.fakes.pdf_writer import PdfFile  # noqa: E402

TARGET = ROOT / "trivium" / "sample" / "documents" / "marlow-hill-season.pdf"
TITLE = "The season on Marlow Hill"
PAGES = (
    (
        TITLE,
        (
            (
                None,
                "This report tells what the observers of Marlow Hill saw between April and October, with the telescope"
                " and without it. It was written for the friends of the observatory.",
            ),
            (
                "Weather",
                "Of 180 nights 71 were clear. May was the best month with 19 clear nights, and September the worst with"
                " four. A storm tore the cover of the weather station away in June.",
            ),
        ),
    ),
    (
        None,
        (
            (
                "Meteors",
                "In the night of 12 August eleven observers counted 214 Perseids within five hours. The brightest left a"
                " trail over the constellation Lyra that could be seen for forty seconds.",
            ),
            (
                "Occultations",
                "On 3 July the Moon covered the star Antares. Three of four timings agree within two tenths of a second.",
            ),
        ),
    ),
    (
        None,
        (
            (
                "Saturn",
                "The rings were seen nearly from the edge this year. Titan was followed on 26 evenings; its shadow"
                " crossed the planet on 2 September, which nobody on the hill had ever watched before.",
            ),
            (
                "Next season",
                "The mirror will be coated anew in January. Until the end of March there are no evenings for visitors.",
            ),
        ),
    ),
)


def main() -> None:
    """Write the file."""
    file = PdfFile(info={"Title": TITLE})
    for title, sections in PAGES:
        page = file.page()
        y = 730.0
        if title is not None:
            page.text(72, y, title, 20, bold=True)
            y -= 40
        for heading, text in sections:
            if heading is not None:
                page.text(72, y, heading, 14, bold=True)
                y -= 22
            y = page.lines(72, y, textwrap.wrap(text, 85), 11, 14) - 20
    TARGET.write_bytes(file.data())


if __name__ == "__main__":
    main()
