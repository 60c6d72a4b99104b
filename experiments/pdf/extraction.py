"""Compares the text extracted from PDF files with that of pdftotext (poppler-utils), an independent program.

    python experiments/pdf/extraction.py FOLDER [--pages N]

Prints for every file the share of the words of pdftotext that are extracted (as a multiset per page: a word must be
found on its page), with and without running heads and feet, which are dropped on purpose; the share of its adjacent
word pairs that are adjacent here too (reading order); and pages per second on one core.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from experiments import command
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.documents.pdf import read
from trivium.parser.documents.pdf.lines import lines_of
from trivium.parser.documents.pdf.pdfium import opened
from trivium.settings.limits import InputLimits
from trivium.text.normalise import composed

_WORD = re.compile(r"\w+")
_HYPHEN = re.compile(r"(\w)[-\xad]\s*\n\s*(?=[a-z])")


@dataclass
class Counts:
    """Counts summed over pages or files."""

    words: int = 0
    found: int = 0
    kept: int = 0
    pairs: int = 0
    in_order: int = 0
    pages: int = 0
    seconds: float = 0.0

    def add(self, other: Counts) -> None:
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def row(self, name: str) -> str:
        return (
            f"{name[:36]:36} {self.pages:6,} {self.words:9,} {self.found / max(1, self.words):9.4f}"
            f" {self.kept / max(1, self.words):9.4f} {self.in_order / max(1, self.pairs):8.4f}"
            f" {self.pages / max(1e-9, self.seconds):8.0f}"
        )


def main() -> None:
    parser = command.Parser(__doc__, takes="seconds a file")
    parser.add_argument("folder", type=command.existing, help="folder with PDF files")
    parser.add_argument("--files", type=int, help="maximum number of files")
    options = parser.parse_args()
    if shutil.which("pdftotext") is None:
        parser.error("pdftotext is missing: install poppler-utils")
    print(
        f"{'file':36} {'pages':>6} {'words':>9} {'extracted':>9} {'in chunks':>9} {'order':>8} {'pages/s':>8}"
    )
    total = Counts()
    warm_up(next(iter(sorted(options.folder.glob("*.pdf")))))
    for path in sorted(options.folder.glob("*.pdf"))[: options.files]:
        counts = compare(path)
        print(counts.row(path.name), flush=True)
        total.add(counts)
    print(total.row("all"))


def warm_up(path: Path) -> None:
    """Read the first page, which compiles or loads a loop."""
    with opened(path.read_bytes()) as pdf:
        pdf.spans(0)


def compare(path: Path) -> Counts:
    theirs = pdftotext(path)
    data = path.read_bytes()
    started = time.process_time()
    page = read(DocumentFile(data, path.name, path.name), InputLimits(seconds=600))
    counts = Counts(pages=len(theirs), seconds=time.process_time() - started)
    with opened(data) as pdf:
        extracted = [
            Counter(
                words(
                    "\n".join(line.text for spans in pdf.spans(index) for line in lines_of(spans, index + 1))
                )
            )
            for index in range(pdf.page_count)
        ]
    kept: list[Counter[str]] = [Counter() for _ in theirs]
    texts = [(c.pages, c.text) for _, c in page.all_chunks()]
    texts += [((1, len(theirs)), section.heading) for section in page.sections]
    everywhere: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for pages, text in texts:
        found = words(text)
        pairs.update(zip(found, found[1:], strict=False))
        if pages is not None and pages[0] == pages[1]:
            kept[pages[0] - 1].update(found)
        else:
            everywhere.update(found)
    for index, text in enumerate(theirs):
        wanted = words(text)
        counts.words += len(wanted)
        counts.found += sum((Counter(wanted) & extracted[index]).values())
        missing = Counter(wanted) - kept[index]
        elsewhere = missing & everywhere
        counts.kept += len(wanted) - missing.total() + elsewhere.total()
        neighbours = Counter(zip(wanted, wanted[1:], strict=False))
        counts.pairs += neighbours.total()
        counts.in_order += sum(min(count, pairs[pair]) for pair, count in neighbours.items())
    return counts


def pdftotext(path: Path) -> list[str]:
    """Return the text of each page."""
    out = subprocess.run(
        ["pdftotext", "-enc", "UTF-8", str(path), "-"], check=True, capture_output=True
    ).stdout
    return out.decode("utf-8", "replace").split("\f")[:-1]


def words(text: str) -> list[str]:
    """Return the words of a text, rejoining those hyphenated at line ends."""
    plain = composed(text).replace("ﬁ", "fi").replace("ﬂ", "fl").replace("ﬀ", "ff").replace("ﬃ", "ffi")
    return _WORD.findall(_HYPHEN.sub(r"\1", plain).casefold())


if __name__ == "__main__":
    command.run(main)
