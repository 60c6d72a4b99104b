"""Reads the fields of Natural Questions rows, in any of three formats.

The formats are that of the original files (``document_html``, ``document_tokens``, a list of annotations), that of the
simplified training files (``document_text``: the same tokens, including tags, joined by spaces) and that of the Hugging
Face data set (``document: {html, title, url, tokens}``, annotations as columns). Source: Kwiatkowski et al., *Natural
Questions: a Benchmark for Question Answering Research*, TACL 2019.

And the rules that determine which annotators' answers count.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast
from urllib.parse import parse_qs, unquote, urlsplit

from trivium.errors import InputError
from trivium.parser.sources.source_items import clean_text
from trivium.text.normalise import normalise_title
from trivium.types import NoAnswer

ANNOTATORS = ("majority", "any", "agreed", "first")
"""Rules by which the answers of annotators count (:func:`counted`)."""
MAJORITY = "majority"
_ENOUGH = 2
"""Of several annotators, this many must have marked a long answer, as in the official evaluation."""
_NOBODY = "its annotator marked no long answer"
_NONE_OF = "none of its {} annotators marked a long answer"


def check_annotators(rule: str) -> None:
    """Raise InputError for a rule that is not in :data:`ANNOTATORS`."""
    if rule not in ANNOTATORS:
        raise InputError(f"expected annotators of {', '.join(ANNOTATORS)}, got {rule!r}")


def counted(annotations: Sequence[Annotation], rule: str = MAJORITY) -> list[int] | tuple[NoAnswer, str]:
    """Return the annotators (from 0) whose answers count, or why none do.

    - ``majority``: all who marked a long answer if at least two of them did, or the only annotator.
    - ``any``: all who marked a long answer.
    - ``agreed``: those who marked the same one as another, or the only annotator.
    - ``first``: the first annotator only.

    Raises InputError for any other rule.

    >>> from trivium.parser.sources.natural_question_rows import Annotation
    >>> alone, other = Annotation((3, 9), (), None), Annotation(None, (), None)
    >>> counted([alone]), counted([alone, other, other], "any")
    ([0], [0])
    >>> counted([alone, other, other])[1]
    '1 of 3 annotators marked a long answer, 2 are needed'
    """
    check_annotators(rule)
    if rule == "first":
        annotations = annotations[:1]
    total = len(annotations)
    spans = {index: one.long for index, one in enumerate(annotations) if one.long is not None}
    if not spans:
        nobody = (
            "the row has no annotations" if not total else _NOBODY if total == 1 else _NONE_OF.format(total)
        )
        return NoAnswer.NONE, nobody
    needed = 1 if rule == "any" else min(_ENOUGH, total)
    if rule == "agreed":
        alike = Counter(spans.values())
        kept = [index for index, span in spans.items() if alike[span] >= needed]
        return kept or (NoAnswer.FEW, f"no two of {total} annotators marked the same long answer")
    if len(spans) < needed:
        return NoAnswer.FEW, f"{len(spans)} of {total} annotators marked a long answer, {needed} are needed"
    return list(spans)


Row = Mapping[str, object]
TokenSpan = tuple[int, int]

_YES_NO = {"YES": "yes", "NO": "no", 1: "yes", 0: "no"}
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9]*(?:_[^<>\s]*)?>")
"""A tag among the tokens of a simplified document, in which blanks within tokens are replaced by ``_``."""
_TITLE_LINE = re.compile(r"[^<>]{0,500}?(?=<H1>)")
"""The text before the heading of a simplified document: the window title."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotator's marks, as half-open ranges of document tokens. ``long`` is None for "no answer"."""

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
        return clean_text(" ".join(token for token, is_html in pairs if not is_html))


def as_row(value: object) -> Row:
    """Return a parsed line as a row. Raises InputError when it contains no document."""
    if not isinstance(value, Mapping):
        raise InputError(f"expected a Natural Questions row, got a JSON {type(value).__name__}")
    if not isinstance(document_of(value).get("html"), str):
        raise InputError(
            "expected a Natural Questions row, got one without document_html, document_text and document.html"
        )
    return value


def tokens(row: Row) -> Tokens:
    """Return the tokens of a row's document. Raises InputError when they are missing or malformed."""
    if is_simplified(row):
        words = str(row["document_text"]).split(" ")
        return Tokens(words, [_TAG.fullmatch(word) is not None for word in words])
    try:
        rows = _rows(_token_rows(row))
        flag = "html_token" if rows and "html_token" in rows[0] else "is_html"
        return Tokens([str(token["token"]) for token in rows], [bool(token[flag]) for token in rows])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError("expected the document's tokens, each with token and html_token") from error


def annotated(row: Row) -> list[Annotation]:
    """Return the annotations of a row, one per annotator. Raises InputError when they are malformed."""
    try:
        return [
            Annotation(
                long=_span(cast(Row, annotation["long_answer"])),
                short=tuple(
                    span
                    for answer in _rows(annotation["short_answers"])
                    if (span := _span(answer)) is not None
                ),
                yes_no=_YES_NO.get(cast(str, annotation.get("yes_no_answer"))),
            )
            for annotation in _rows(row["annotations"])
        ]
    except (KeyError, TypeError, ValueError, OverflowError) as error:  # the last for Infinity
        raise InputError("expected annotations, each with long_answer and short_answers") from error


def _span(answer: Row) -> TokenSpan | None:
    start, end = int(cast(int, answer["start_token"])), int(cast(int, answer["end_token"]))
    return None if start < 0 else (start, end)


def _rows(value: object) -> list[Row]:
    """Return a list of rows, from rows or from columns (a mapping of lists)."""
    if isinstance(value, Mapping):
        columns = {key: column for key, column in value.items() if isinstance(column, Sequence)}
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if isinstance(value, Sequence) and all(isinstance(row, Mapping) for row in value):
        return list(value)
    raise TypeError(f"expected rows or columns, got {type(value).__name__}")


def _token_rows(row: Row) -> object:
    return row["document_tokens"] if "document_tokens" in row else document_of(row).get("tokens")


def is_simplified(row: Row) -> bool:
    """Whether a row contains the words and tags of its document, but not the document itself."""
    return isinstance(row.get("document_text"), str) and "document_html" not in row


def document_of(row: Row) -> Row:
    """Return the document fields of a row: ``html``, ``title``, ``url`` and, in the Hugging Face format, ``tokens``."""
    document = row.get("document")
    if isinstance(document, Mapping):
        return document
    if is_simplified(row):
        found = {key: row.get(f"document_{key}") for key in ("title", "url")}
        tagged = _TAG.sub(lambda tag: tag.group().replace("_", " "), str(row["document_text"]))
        return {"html": _TITLE_LINE.sub("", tagged, count=1), **found}
    return {key: row.get(f"document_{key}") for key in ("html", "title", "url")}


def title_and_revision(document: Row) -> tuple[str | None, int | None]:
    """Return the title of a row's page (from its address if it has none), and its revision, the ``oldid`` of the
    address. Raises InputError for a malformed address.
    """
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
