"""Creates collections of any size from a folder of Wikipedia pages, by copying them under other names.

    python benchmarks/multiply_pages.py UNPACKED/pages --out copies --copy 2
    trivium build copies --store large --no-embed
    python benchmarks/draw_vectors.py --store large --real joint-store

Each copy has the words, sections, tables and links of its page, but is another document, and its links lead to pages of
the same copy: the graph of ten copies is ten times as large and equally dense. Each call makes one copy, so that the
disk need not hold all of them: build, remove the folder, and continue with the next number.
"""

from __future__ import annotations

import re
from pathlib import Path

from rich.progress import track

from experiments import command

_LINK = re.compile(rb'(href="(?:https://en\.wikipedia\.org)?/wiki/)([^"#?:]+)')
"""Links to articles. Names with a colon belong to other namespaces, or are rare enough to be ignored."""
_NAME = re.compile(rb'("wg(?:PageName|Title|RedirectedFrom|RelevantPageName)"\s*:\s*"(?:[^"\\]|\\.)*)"')


def renamed(page: bytes, copy: int) -> bytes:
    """Return the page as part of the ``copy``-th copy of the collection."""
    mark = b"_(copy_%d)" % copy
    page = _LINK.sub(lambda link: link[1] + link[2] + mark, page)
    return _NAME.sub(lambda name: name[1] + mark + b'"', page)


def main() -> None:
    """Write the copies of all pages of a folder."""
    parser = command.Parser(__doc__, takes="seconds for a thousand pages")
    parser.add_argument("pages", type=command.existing, help="A folder of HTML files.")
    parser.add_argument("--out", type=Path, required=True, help="Folder to create and write to.")
    parser.add_argument(
        "--copy", type=int, required=True, help="Number of the copy, which becomes part of its names."
    )
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for path in track(sorted(given.pages.glob("*.html")), description="Copying"):
        target = given.out / f"{path.stem}_(copy_{given.copy}).html"
        target.write_bytes(renamed(path.read_bytes(), given.copy))


if __name__ == "__main__":
    command.run(main)
