"""Determines the title of a PDF: from its file name if that is descriptive and says more than its content, else from its
content; and reads its dates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

from trivium.parser.documents.pdf.lines import Line

_MAX_TITLE = 150
_WORDS = re.compile(r"[^\W\d_]{2,}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ANY = """
    document documents doc file files scan scanned untitled unnamed noname copy download pdf page image img print output
    draft final version new microsoft word excel powerpoint the and of report paper article title test temp tmp main
    """
_GENERIC = frozenset(_ANY.split())
_PROGRAM = re.compile(
    r"microsoft (?:word|excel|powerpoint)|\.(?:docx?|xlsx?|pptx?|indd|tex|dvi|qxd|pmd|rtf|txt|html?|pdf|eps|ai)\s*$|https?://",
    re.IGNORECASE,
)
_LARGER = 1.3
"""Minimum size of a title relative to the text."""


def names_something(name: str) -> bool:
    """Whether a file name is descriptive: it contains a specific word, and another one or a year.

    >>> [names_something(n) for n in ("AMCOR 2023 10K", "annual-report-2023", "1706.03762v5", "scan 0001", "Document1")]
    [True, True, False, False, False]
    """
    parts = _parts(name)
    words = [word for part in parts if len(word := part.strip("0123456789")) >= 3 and word not in _GENERIC]
    others = [part for part in parts if _YEAR.fullmatch(part) or (part[:1].isdigit() and part[-1:].isalpha())]
    return len(words) >= 2 or bool(words and others)


def says_all(title: str, name: str) -> bool:
    """Whether a title has all the words of a file name, in any order, except generic ones: the name is short for it.

    >>> says_all("The season on Marlow Hill", "marlow-hill-season"), says_all("CORNING INCORPORATED", "CORNING_2020_10K")
    (True, False)
    """
    parts = set(_parts(title))
    return all(part in parts for part in _parts(name) if part not in _GENERIC)


def _parts(name: str) -> list[str]:
    return [part for part in re.split(r"[\W_]+", name.casefold()) if part]


def stated_title(title: str) -> str | None:
    """Return the title stated by a document if it was written by a person.

    >>> stated_title("Attention is all you need"), stated_title("Microsoft Word - x.doc"), stated_title("0001628280-17-1")
    ('Attention is all you need', None, None)
    """
    title = " ".join(title.split())
    if not title or len(title) > _MAX_TITLE or _PROGRAM.search(title):
        return None
    words = [word for word in _WORDS.findall(title.casefold()) if word not in _GENERIC]
    return title if len(words) >= 2 or (len(words) == 1 and len(words[0]) >= 4 and " " not in title) else None


def printed_title(lines: Sequence[Line], size: float) -> str | None:
    """Return the lines in the largest font if they are in the upper half of the first page (``lines``) and clearly
    larger than the text, whose font size is ``size``.
    """
    if not lines:
        return None
    largest = max(line.size for line in lines)
    if largest < _LARGER * size:
        return None
    first = next(index for index, line in enumerate(lines) if line.size >= 0.97 * largest)
    top, bottom = lines[0].base, lines[-1].base
    if len(lines) > 8 and lines[first].base < (top + bottom) / 2:
        return None
    texts = []
    for line in lines[first : first + 4]:
        if line.size < 0.97 * largest:
            break
        texts.append(line.text)
    title = " ".join(texts)
    return title if len(title) <= _MAX_TITLE and sum(map(str.isalpha, title)) >= 3 else None


_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-])(\d\d)'?(\d\d)?)?")


def pdf_date(text: str) -> str | None:
    """Convert a PDF date to ISO 8601 in UTC; None if it is invalid.

    >>> pdf_date("D:20240102030405+01'00'"), pdf_date("D:2024"), pdf_date("yesterday"), pdf_date("D:20249999")
    ('2024-01-02T02:04:05Z', '2024-01-01T00:00:00Z', None, None)
    """
    match = _DATE.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) if part else None for part in match.groups()[:6])
    sign = -1 if match[8] == "-" else 1
    ahead = timedelta(hours=int(match[9] or 0), minutes=int(match[10] or 0)) if match[8] else timedelta()
    try:
        zone = timezone(sign * ahead)
        when = datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=zone)
        return when.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return None
