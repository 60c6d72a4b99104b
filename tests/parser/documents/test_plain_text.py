"""Plain text: headings that are underlined, and paragraphs that an editor has wrapped."""

from __future__ import annotations

import pytest

from trivium.parser.document import Document
from trivium.parser.documents.text import write_paragraphs


def written(text: str) -> Document:
    """A document with the paragraphs of a text."""
    document = Document(100)
    write_paragraphs(document, text)
    return document


WRAPPED = """\
RELEASE NOTES
=============
Newest first.

4.1
---
  * The greatest size of a body is now 8 MiB instead of 2 MiB, as many users
    have asked for.
  * Dead letters are kept for 30 days.

4.0
---
The server starts within a third of a second, since it does not read the log
backwards any more. It needs half of the memory and listens on one port less.
"""


def test_underlined_lines_are_headings_and_wrapped_lines_are_joined() -> None:
    document = written(WRAPPED)
    assert [(one.heading, one.level) for one in document.sections] == [
        ("RELEASE NOTES", 1),
        ("4.1", 2),
        ("4.0", 2),
    ]
    assert document.text.split("\n\n") == [
        "RELEASE NOTES",
        "Newest first.",
        "4.1",
        "  * The greatest size of a body is now 8 MiB instead of 2 MiB, as many users have asked for.\n"
        "  * Dead letters are kept for 30 days.",
        "4.0",
        "The server starts within a third of a second, since it does not read the log backwards any more. It needs half"
        " of the memory and listens on one port less.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Shall I compare thee to a summer's day, as all the poets do?\n"
        "Thou art more lovely and more temperate than they say.",
        "2026-03-01 08:00:01 INFO  server started on port 8000 with 4 workers\n"
        "2026-03-01 08:00:02 INFO  store opened with 1,204 documents and 9 fields",
        "Name                  Berths   Built      Remarks on the state of her hull\n"
        "Foulque               4        1998       sound, painted in spring last year",
        "Hire of boats\n1 April to 31 October\ndaily",
    ],
)
def test_verses_records_columns_and_short_lines_stay_as_they_are(text: str) -> None:
    document = written(text)
    assert not document.has_sections
    assert document.text == text


def test_a_rule_below_a_paragraph_is_no_underline() -> None:
    document = written(
        "Boats are for hire.\nBring a card.\n-------------\nClosed in winter.\n\n--------\n\nThe end."
    )
    assert not document.has_sections
