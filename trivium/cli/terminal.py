"""The terminal: consoles, JSON output, progress, numbers with their nouns. JSON goes to stdout, messages go to stderr."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from trivium.text.normalise import plain

if TYPE_CHECKING:
    from trivium.common.progress import StageProgress

out = Console(highlight=False, soft_wrap=False)
err = Console(stderr=True, highlight=False)

PARTIAL = 3
"""Exit code when some documents or rows could not be read."""
OUT_OF_BUDGET = 4
"""Exit code when a budget is used up."""


class NothingCommittedError(Exception):
    """A build was interrupted before any page was in its new store, which has been removed."""


def print_anything() -> None:
    """Print ``?`` for characters that the encoding of stdout or stderr lacks instead of raising UnicodeEncodeError."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "backslashreplace"):
            stream.reconfigure(errors="replace")


@contextmanager
def progress(quiet: bool = False) -> Iterator[StageProgress]:
    """Show progress on stderr, with rate and remaining time: bars if it is a terminal, else a plain line now and then.
    Nothing if ``quiet``.
    """
    if not quiet and not err.is_terminal:
        from trivium.cli.progress import LineReporter

        yield LineReporter(err)
        return
    from trivium.cli.progress import reporter

    with reporter(err, quiet) as bars:
        yield bars


_OBEYED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters that JSON does not escape, and marks that change the direction of text."""


def print_json(value: Mapping[str, Any], *, one_line: bool = False) -> None:
    """Print one JSON document to stdout. Characters that a terminal interprets, or that its encoding lacks, are
    escaped.
    """
    indent = None if one_line else 2
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    text = _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=indent)
    sys.stdout.write(f"{text}\n")


def shown(text: str) -> str:
    """Make untrusted text safe for the terminal: without markup and control characters."""
    return escape(plain(text))


def cuts() -> bool:
    """Whether output is fitted to the width of a terminal. In a file or pipe every line is complete, so that nothing is
    lost and ``grep`` finds it.
    """
    return out.is_terminal


def one_line(text: str) -> str:
    """Put untrusted text on one line, without control characters. Markup is not escaped.

    >>> one_line("Mars\\n Moons")
    'Mars Moons'
    """
    return " ".join(plain(text).split())


def cut(text: str, width: int) -> str:
    """Truncate a text to ``width`` terminal cells. Wide characters take two.

    >>> cut("Enceladus", 6), cut("火星の衛星", 6), cut("Mars", 6)
    ('Encel…', '火星…', 'Mars')
    """
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + "…"


def wrapped(text: str, width: int) -> list[str]:
    """Wrap text to lines of at most ``width`` cells, keeping its line breaks. Outside a terminal the lines are not
    wrapped.
    """
    lines = plain(text).split("\n")
    if not cuts():
        return lines
    return [str(line).rstrip() for whole in lines for line in Text(whole).wrap(out, width)]


def print_line(*parts: tuple[str, str], whole: bool = False) -> None:
    """Print a line of styled texts without wrapping it. At a terminal it is truncated unless it must stay ``whole``,
    for example because it contains an address.
    """
    line = Text.assemble(*parts)
    if cuts() and not whole:
        out.print(line, no_wrap=True, overflow="ellipsis")
    else:
        out.print(line, soft_wrap=True)


def own_name() -> list[str]:
    """Return the command by which this program was started, for suggestions to paste."""
    name = sys.argv[0]
    if Path(name).name == "__main__.py":
        return ["python", "-m", "trivium"]
    return ["trivium"] if shutil.which("trivium") == name else [name]


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Format a number with its noun, in the plural when needed, which has an s unless it is given.

    >>> count(1, "store"), count(1200, "store"), count(0, "copy", "copies")
    ('1 store', '1,200 stores', '0 copies')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
