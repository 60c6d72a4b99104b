"""Shared parts of the search API adapters: JSON responses, bounded clean text, addresses and dates."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from trivium.common.fetching import Fetched, fetch
from trivium.errors import InputError
from trivium.parser.document import MAX_TITLE
from trivium.parser.sources.read_files import parse_json
from trivium.parser.sources.source_items import clean_text
from trivium.text.normalise import composed

MAX_BYTES = 4 << 20
"""Maximum size of a response in bytes."""
MAX_TEXT = 20_000
"""Maximum number of characters per document in a response."""
MAX_ADDRESS = 2_000

_MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_MAX_DATE = 40
_DATES = ("%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%a, %d %b %Y %H:%M:%S %Z")


def ask(address: str, seconds: float, **request: Any) -> Mapping[str, object]:
    """Return the JSON object that an API responds with; ``request`` are arguments of
    :func:`~trivium.common.fetching.fetch`. Raises InputError when it reports an error, or the response is something
    else. Redirects are not followed, so that a key is sent only to the configured server.
    """
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
    """Yield the objects in a list of results, ignoring everything else."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        yield from (result for result in value if isinstance(result, Mapping))


def within(answer: Mapping[str, object], *names: str) -> object:
    """Return a nested value by the names on its path; None if the path does not exist."""
    found: object = answer
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def title_of(value: object) -> str:
    """Return a title as one line of text."""
    return text_of(value)[:MAX_TITLE].strip()


def text_of(*values: object) -> str:
    """Join the texts of a result, without markup and entities. Values that are not text are ignored.

    >>> text_of("the <strong>moons</strong> of&nbsp;Mars", None, "two")
    'the moons of Mars two'
    """
    said = (_MARKUP.sub("", value[:MAX_TEXT]) for value in values if isinstance(value, str))
    return " ".join(composed(clean_text(html.unescape(" ".join(said)))).split())[:MAX_TEXT]


def address_of(value: object) -> str:
    """Return an ``http`` or ``https`` address; empty for anything else."""
    if not isinstance(value, str) or not value.lower().startswith(("http://", "https://")):
        return ""
    cleaned = clean_text(value).strip()
    return "" if len(cleaned) > MAX_ADDRESS or any(c.isspace() for c in cleaned) else cleaned


def date_of(value: object) -> str | None:
    """Return a date in ISO 8601 if it can be parsed, else as written.

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
