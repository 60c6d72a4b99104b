"""Make a collection larger than there are pages: copies of a folder of Wikipedia pages under other names.

    python benchmarks/multiply_pages.py UNPACKED/pages --out copies --copy 2
    trivium build copies --store large --no-embed
    python benchmarks/draw_vectors.py --store large --real joint-store

Each copy has the words, sections, tables and links of the page, but it is another document, and its links lead to the
pages of the same copy: the graph of ten copies is ten times as large and no denser. One copy a call, so that the disk
need not hold all of them: build, remove the folder, and go on with the next number.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from rich.progress import track

_LINK = re.compile(rb'(href="(?:https://en\.wikipedia\.org)?/wiki/)([^"#?:]+)')
"""Links to articles: names with a colon are of other namespaces, or rare enough to be left out."""
_NAME = re.compile(rb'("wg(?:PageName|Title|RedirectedFrom|RelevantPageName)"\s*:\s*"(?:[^"\\]|\\.)*)"')


def renamed(page: bytes, copy: int) -> bytes:
    """The page as one of the ``copy``-th collection."""
    mark = b"_(copy_%d)" % copy
    page = _LINK.sub(lambda link: link[1] + link[2] + mark, page)
    return _NAME.sub(lambda name: name[1] + mark + b'"', page)


def main() -> None:
    """Write the copies of all pages of a folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", type=Path, help="A folder of HTML files.")
    parser.add_argument("--out", type=Path, required=True, help="Where to write them; it is made.")
    parser.add_argument("--copy", type=int, required=True, help="The number of the copy, part of its names.")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for path in track(sorted(given.pages.glob("*.html")), description="Copying"):
        target = given.out / f"{path.stem}_(copy_{given.copy}).html"
        target.write_bytes(renamed(path.read_bytes(), given.copy))


if __name__ == "__main__":
    main()
