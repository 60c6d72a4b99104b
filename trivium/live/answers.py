"""What the adapters of search APIs share: an answer as JSON, fields of results as bounded clean text, dates."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from trivium.common.fetching import Fetched, fetch
from trivium.errors import InputError
from trivium.parser.page import MAX_TITLE
from trivium.parser.sources.base import clean_text
from trivium.parser.sources.files import parse_json
from trivium.text import composed

MAX_BYTES = 4 << 20
"""Of an answer of a search API."""
MAX_TEXT = 20_000
"""Characters of what a source says of one document."""
MAX_ADDRESS = 2_000

_MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_MAX_DATE = 40
_DATES = ("%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%a, %d %b %Y %H:%M:%S %Z")


def ask(address: str, seconds: float, **request: Any) -> Mapping[str, object]:
    """The JSON object that an API answers; ``request`` as for :func:`~trivium.common.fetching.fetch`. Raises InputError
    where it refuses, with what it says, or answers something else. Redirects are not followed: a key is for the server
    that was named."""
    answer = fetch(address, seconds=seconds, max_bytes=MAX_BYTES, **request)
    if answer.status != 200:
        raise InputError(_refusal(answer))
    try:
        told = parse_json(answer.body)
    except InputError as error:
        raise InputError("expected JSON, got something else") from error
    if not isinstance(told, Mapping):
        raise InputError(f"expected a JSON object, got a JSON {type(told).__name__}")
    return told


def _refusal(answer: Fetched) -> str:
    hint = {
        301: "; name the address that it is redirected to",
        302: "; name the address that it is redirected to",
        401: "; is the key right?",
        403: "; is the key right, and JSON allowed?",
        429: "; too many questions for now",
    }.get(answer.status, "")
    return f"it answers HTTP {answer.status}{hint}"


def results(value: object) -> Iterator[Mapping[str, object]]:
    """The objects of a list of results; whatever else is there is left out."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        yield from (result for result in value if isinstance(result, Mapping))


def within(answer: Mapping[str, object], *names: str) -> object:
    """What is found down a way of names; None where it ends early."""
    found: object = answer
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def title_of(value: object) -> str:
    """A title as one line of text."""
    return text_of(value)[:MAX_TITLE].strip()


def text_of(*values: object) -> str:
    """Texts of a result, one after the other, without markup and entities; what is no text is left out.

    >>> text_of("the <strong>moons</strong> of&nbsp;Mars", None, "two")
    'the moons of Mars two'
    """
    said = (_MARKUP.sub("", value[:MAX_TEXT]) for value in values if isinstance(value, str))
    return " ".join(composed(clean_text(html.unescape(" ".join(said)))).split())[:MAX_TEXT]


def address_of(value: object) -> str:
    """An ``http`` or ``https`` address; empty for anything else."""
    if not isinstance(value, str) or not value.lower().startswith(("http://", "https://")):
        return ""
    cleaned = clean_text(value).strip()
    return "" if len(cleaned) > MAX_ADDRESS or any(c.isspace() for c in cleaned) else cleaned


def date_of(value: object) -> str | None:
    """A date as ISO 8601 where it can be read, else as it was written.

    >>> date_of("2024-05-01T00:00:00"), date_of("Mar 3, 2021"), date_of("3 days ago"), date_of("")
    ('2024-05-01T00:00:00', '2021-03-03', '3 days ago', None)
    """
    said = text_of(value)[:_MAX_DATE]
    for layout in _DATES:
        try:
            return datetime.strptime(said, layout).date().isoformat()
        except ValueError:
            continue
    return said or None
