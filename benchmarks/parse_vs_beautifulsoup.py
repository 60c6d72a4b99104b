"""Compares the speed of a complete parse with that of BeautifulSoup building its tree of the same pages.

    python benchmarks/parse_vs_beautifulsoup.py PAGES [--sample 100] [--rounds 3]

PAGES is a folder of .html files or a glob pattern. Both parsers read the bytes from memory and alternate page by page,
so that other load on the machine affects both alike; the best round of each counts, in processor time. Garbage
collection stays enabled: BeautifulSoup's trees consist of reference cycles, and collecting them is part of their cost.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from experiments import command
from trivium.errors import InputError
from trivium.parser.html import parse_html


def read(pages: str, sample: int) -> list[bytes]:
    """Read every n-th of the sorted files, so that the sample is deterministic."""
    place = Path(pages)
    files = sorted(place.glob("*.html") if place.is_dir() else place.parent.glob(place.name))
    if not files:
        raise InputError(f"expected a folder of .html files or a glob, got {pages}: no such file")
    step = max(1, len(files) // sample)
    return [file.read_bytes() for file in files[::step][:sample]]


def seconds_of(function: Callable[[bytes], object], html: bytes) -> float:
    """Return the processor time of one call."""
    start = time.process_time()
    function(html)
    return time.process_time() - start


def main() -> None:
    arguments = command.Parser(__doc__, takes="a minute", packages=("beautifulsoup4", "lxml"))
    arguments.add_argument("pages", help="folder or glob of HTML pages")
    arguments.add_argument("--sample", type=int, default=100, help="number of pages (default: 100)")
    arguments.add_argument("--rounds", type=int, default=3, help="repetitions of each page (default: 3)")
    options = arguments.parse_args()
    from bs4 import BeautifulSoup

    pages = read(options.pages, options.sample)
    contenders: dict[str, Callable[[bytes], object]] = {
        "BeautifulSoup, tree only": lambda html: BeautifulSoup(html, "lxml"),
        "lexbor, tree only": LexborHTMLParser,
        "trivium, complete page": parse_html,
    }
    rounds = []
    for _ in range(options.rounds):
        spent = dict.fromkeys(contenders, 0.0)
        for html in pages:
            for name, function in contenders.items():
                spent[name] += seconds_of(function, html)
        rounds.append(spent)
    seconds = {name: min(spent[name] for spent in rounds) for name in contenders}
    size = sum(map(len, pages)) / 1e6
    base = seconds["BeautifulSoup, tree only"]
    print(f"{len(pages)} pages, {size:.1f} MB")
    for name, best in seconds.items():
        print(f"{name:26} {best:8.3f} s {size / best:8.1f} MB/s {base / best:6.1f} x")


if __name__ == "__main__":
    command.run(main)
