"""The terminal: consoles, one JSON document, progress. JSON goes to stdout by itself; messages go to stderr."""

from __future__ import annotations

import codecs
import io
import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from trivium.text import plain

if TYPE_CHECKING:  # bars are loaded when there is something to wait for
    from trivium.cli.bars import Reporter

out = Console(highlight=False, soft_wrap=False)
err = Console(stderr=True, highlight=False)

PARTIAL = 3
"""Exit code of what was done although some documents or rows could not be read."""


class NothingCommittedError(Exception):
    """A build was interrupted before a page was in its store, which is not there then."""


_SIMPLER = "trivium.simpler"
"""Name of the error handler for encodings that lack a character."""
_REPLACEMENTS = {
    "…": "...",
    "›": ">",
    "█": "#",
    "░": "-",
    "–": "-",
    "—": "-",
    "−": "-",
    "’": "'",
    "‘": "'",
    "“": '"',
    "”": '"',
    "•": "*",
    "│": "|",
    "─": "-",
}


def simpler(text: str) -> str:
    """Text in ASCII: letters without their accents, a question mark for what has nothing like it.

    >>> simpler("Pavel Šafařík › 火星 …")
    'Pavel Safarik > ?? ...'
    """
    parts = []
    for character in text:
        letters = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode("ascii")
        parts.append(_REPLACEMENTS.get(character) or letters or "?")
    return "".join(parts)


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return simpler(error.object[error.start : error.end]), error.end


def print_anything() -> None:
    """Have characters that the encoding of stdout or stderr lacks replaced, rather than end in an error."""
    codecs.register_error(_SIMPLER, _replace)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "backslashreplace"):
            stream.reconfigure(errors=_SIMPLER)


@contextmanager
def progress(quiet: bool = False) -> Iterator[Reporter]:
    """Bars on stderr with rate and remaining time, when it is a terminal."""
    from trivium.cli.bars import reporter

    with reporter(err, quiet or not err.is_terminal) as bars:
        yield bars


_OBEYED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters that JSON leaves as they are, and marks that turn the direction of what follows."""


def print_json(value: Mapping[str, Any], *, one_line: bool = False) -> None:
    """One JSON document on stdout, with escapes for what a terminal would obey, and where its encoding lacks a
    character."""
    indent = None if one_line else 2
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    text = _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=indent)
    sys.stdout.write(f"{text}\n")


def shown(text: str) -> str:
    """Untrusted text for the terminal: no markup, no control characters."""
    return escape(plain(text))


def cuts() -> bool:
    """Whether what is printed is fitted to a width: that of a terminal. In a file or a pipe every line is whole, so that
    nothing is lost and ``grep`` finds it."""
    return out.is_terminal


def one_line(text: str) -> str:
    """Untrusted text in one line, without control characters; not escaped.

    >>> one_line("Mars\\n Moons")
    'Mars Moons'
    """
    return " ".join(plain(text).split())


def cut(text: str, width: int) -> str:
    """A text in at most ``width`` cells of the terminal, of which wide characters take two.

    >>> cut("Enceladus", 6), cut("火星の衛星", 6), cut("Mars", 6)
    ('Encel…', '火星…', 'Mars')
    """
    if cell_len(text) <= width:
        return text
    mark = ellipsis()
    return set_cell_size(text, max(width - len(mark), 0)).rstrip() + mark


def ellipsis() -> str:
    """What stands for what was cut, in as many characters as it will take."""
    return "…" if out.encoding.startswith("utf") else _REPLACEMENTS["…"]


def wrapped(text: str, width: int) -> list[str]:
    """Text in lines of at most ``width`` cells, each line of its own broken where it is too long; as it is where nothing
    is fitted to a width."""
    lines = plain(text).split("\n")
    if not cuts():
        return lines
    return [str(line).rstrip() for whole in lines for line in Text(whole).wrap(out, width)]


def print_line(*parts: tuple[str, str], whole: bool = False) -> None:
    """A line of texts with their styles, which is never wrapped, and cut only at the edge of a terminal; not even there
    where it must be ``whole``, as one with an address."""
    line = Text.assemble(*parts)
    if cuts() and not whole:
        out.print(line, no_wrap=True, overflow="ellipsis")
    else:
        out.print(line, soft_wrap=True)


def own_name() -> list[str]:
    """How this program was started, so that a command that is shown can be pasted."""
    name = sys.argv[0]
    if Path(name).name == "__main__.py":
        return ["python", "-m", "trivium"]
    return ["trivium"] if shutil.which("trivium") == name else [name]
