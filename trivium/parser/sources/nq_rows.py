"""Reads the fields of Natural Questions rows, in either of two formats.

The formats are that of the original files (``document_html``, ``document_tokens``, a list of
annotations) and that of the Hugging Face data set (``document: {html, title, url, tokens}``, annotations as
columns). Source: Kwiatkowski et al., *Natural Questions: a Benchmark for Question Answering Research*, TACL
2019.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast
from urllib.parse import parse_qs, unquote, urlsplit

from trivium.errors import InputError
from trivium.parser.sources.base import clean_text
from trivium.text import normalise_title

Row = Mapping[str, object]
TokenSpan = tuple[int, int]

_YES_NO = {"YES": "yes", "NO": "no", 1: "yes", 0: "no"}


@dataclass(frozen=True, slots=True)
class Annotation:
    """What one annotator marked, as half-open ranges of document tokens. ``long`` is None for "no answer"."""

    long: TokenSpan | None
    short: tuple[TokenSpan, ...]
    yes_no: str | None


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a document; ``is_html`` marks tags, which are not words."""

    tokens: Sequence[str]
    is_html: Sequence[bool]

    def text(self, span: TokenSpan) -> str:
        """The tokens of a span without tags, joined by spaces. Raises InputError when it is out of range."""
        start, end = span
        if not 0 <= start < end <= len(self.tokens):
            raise InputError(f"tokens {start} to {end} are outside a document of {len(self.tokens)} tokens")
        pairs = zip(self.tokens[start:end], self.is_html[start:end], strict=True)
        return " ".join(token for token, is_html in pairs if not is_html)


def as_row(value: object) -> Row:
    """A parsed line as a row. Raises InputError when it holds no document."""
    if not isinstance(value, Mapping):
        raise InputError(f"expected a Natural Questions row, got a JSON {type(value).__name__}")
    if not isinstance(document_of(value).get("html"), str):
        raise InputError("expected a Natural Questions row, got one without document_html and document.html")
    return value


def tokens(row: Row) -> Tokens:
    """The tokens of a row's document. Raises InputError when they are missing or malformed."""
    value = row["document_tokens"] if "document_tokens" in row else document_of(row).get("tokens")
    try:
        rows = _rows(value)
        flag = "html_token" if rows and "html_token" in rows[0] else "is_html"
        return Tokens(
            [clean_text(str(token["token"])) for token in rows], [bool(token[flag]) for token in rows]
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError("expected the document's tokens, each with token and html_token") from error


def annotated(row: Row) -> list[Annotation]:
    """The annotations of a row, one per annotator. Raises InputError when they are malformed."""
    try:
        return [
            Annotation(
                long=_span(cast(Row, annotation["long_answer"])),
                short=tuple(filter(None, map(_span, _rows(annotation["short_answers"])))),
                yes_no=_YES_NO.get(cast(str, annotation.get("yes_no_answer"))),
            )
            for annotation in _rows(row["annotations"])
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError("expected annotations, each with long_answer and short_answers") from error


def _span(answer: Row) -> TokenSpan | None:
    start, end = int(cast(int, answer["start_token"])), int(cast(int, answer["end_token"]))
    return None if start < 0 else (start, end)


def _rows(value: object) -> list[Row]:
    """A list of rows, from rows or from columns (a mapping of lists)."""
    if isinstance(value, Mapping):
        columns = {key: column for key, column in value.items() if isinstance(column, Sequence)}
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if isinstance(value, Sequence) and all(isinstance(row, Mapping) for row in value):
        return list(value)
    raise TypeError(f"expected rows or columns, got {type(value).__name__}")


def document_of(row: Row) -> Row:
    """The document fields of a row: ``html``, ``title``, ``url`` and, in the Hugging Face format, ``tokens``."""
    document = row.get("document")
    if isinstance(document, Mapping):
        return document
    return {key: row.get(f"document_{key}") for key in ("html", "title", "url")}


def title_and_revision(document: Row) -> tuple[str | None, int | None]:
    """The title of a row's page (from its address when it has none), and its revision, the ``oldid`` of the address.
    Raises InputError for a malformed address."""
    # Addresses are stored HTML-escaped, with &amp; between parameters.
    try:
        address = urlsplit(html.unescape(str(document.get("url") or "")))
        parameters = parse_qs(address.query)
    except ValueError as error:
        raise InputError(f"the row's document_url is not an address: {error}") from error
    title = document.get("title")
    if not isinstance(title, str) or not title.strip():
        path = unquote(address.path.partition("/wiki/")[2])
        title = parameters.get("title", [path])[0]
    oldid = parameters.get("oldid", [""])[0]
    revision = int(oldid) if oldid.isascii() and oldid.isdigit() and len(oldid) < 19 else None
    return normalise_title(clean_text(html.unescape(title))) or None, revision
