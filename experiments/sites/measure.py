"""How much of the content of web pages is kept, and how much of what surrounds it.

Usage: python -m experiments.sites.measure DATA [--half tune|report|all] [--reader trivium|trafilatura|...] [--errors]

DATA is the folder ``tests`` of the repository of trafilatura, whose ``evaldata.json`` names strings that the text of a
page should have (``with``) and should not have (``without``).
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

from experiments import command

HALVES = ("tune", "report", "all")
Extract = Callable[[bytes], str]


def half_of(address: str) -> str:
    """The half to which a page belongs, by the hash of its address."""
    return "tune" if hashlib.sha256(address.encode()).digest()[0] % 2 == 0 else "report"


def by_trivium() -> Extract:
    from trivium.parser.documents.document_file import DocumentFile
    from trivium.parser.html import parse_html

    def extract(data: bytes) -> str:
        file = DocumentFile(data, source="", path="page.html")
        return parse_html(data, file=file).text

    return extract


def by_trafilatura() -> Extract:
    from trafilatura import extract

    return lambda data: extract(data, include_comments=False, include_tables=True) or ""


def by_trafilatura_fast() -> Extract:
    from trafilatura import extract

    return lambda data: extract(data, include_comments=False, include_tables=True, fast=True) or ""


def by_trafilatura_recall() -> Extract:
    from trafilatura import extract

    return lambda data: extract(data, include_comments=False, include_tables=True, favor_recall=True) or ""


def by_readability() -> Extract:
    from lxml.html import fromstring
    from readability import Document

    return lambda data: fromstring(Document(data).summary()).text_content()


def by_resiliparse() -> Extract:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    return lambda data: extract_plain_text(
        bytes_to_str(data, detect_encoding(data)), main_content=True, links=False
    )


READERS: dict[str, Callable[[], Extract]] = {
    "trivium": by_trivium,
    "trafilatura": by_trafilatura,
    "trafilatura-fast": by_trafilatura_fast,
    "trafilatura-recall": by_trafilatura_recall,
    "readability": by_readability,
    "resiliparse": by_resiliparse,
}


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def measure(folder: Path, half: str, extract: Extract, *, errors: bool) -> dict[str, float]:
    """Return the shares of wanted and unwanted strings that are kept, and the seconds that it took."""
    wanted = kept = unwanted = left = failed = 0
    seconds = 0.0
    pages = json.loads((folder / "evaldata.json").read_text("utf-8"))
    for address, page in sorted(pages.items()):
        if half not in ("all", half_of(address)):
            continue
        path = next(place for name in ("cache", "eval") if (place := folder / name / page["file"]).is_file())
        data = path.read_bytes()
        start = time.process_time()
        try:
            text = plain(extract(data))
        except Exception as error:  # what a reader cannot read is lost
            text = ""
            failed += 1
            if errors:
                print(f"{page['file']}: {type(error).__name__}: {str(error)[:100]}")
        seconds += time.process_time() - start
        lost = [part for part in page["with"] if plain(part) not in text]
        stays = [part for part in page["without"] if plain(part) in text]
        wanted += len(page["with"])
        kept += len(page["with"]) - len(lost)
        unwanted += len(page["without"])
        left += len(stays)
        if errors and (lost or stays):
            print(f"{page['file']}: lost {lost}, stays {stays}")
    return {"kept": kept / wanted, "unwanted": left / unwanted, "failed": failed, "seconds": seconds}


def main() -> None:
    parser = command.Parser(__doc__, takes="a minute")
    parser.add_argument("data", type=command.existing)
    parser.add_argument("--half", choices=HALVES, default="tune")
    parser.add_argument("--reader", choices=READERS, default="trivium")
    parser.add_argument("--errors", action="store_true")
    given = parser.parse_args()
    found = measure(given.data, given.half, READERS[given.reader](), errors=given.errors)
    print(
        f"{given.reader} on the half {given.half}: {found['kept']:.3f} of wanted and {found['unwanted']:.3f} of unwanted"
        f" strings kept, {found['failed']} pages not read, {found['seconds']:.1f} s",
        file=sys.stdout,
    )


if __name__ == "__main__":
    command.run(main)
