"""Small Natural Questions rows of our own text, in the original format: tags and words as tokens, with byte offsets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

_TOKEN = re.compile(r"<[^>]*>|[^\s<]+")
NULL = (-1, -1)
Span = tuple[int, int]
"""Tokens [start, end)."""


class NqDocument:
    """A page, of which parts are marked as annotators mark them."""

    def __init__(self, title: str, body: str, revision: int = 7) -> None:
        self.title = title
        self.revision = revision
        self.html = (
            f"<html><head><title>{title} - Wikipedia</title></head><body><h1>{title}</h1>{body}</body></html>"
        )
        self.tokens = [
            {
                "token": found.group(),
                "html_token": found.group().startswith("<"),
                "start_byte": len(self.html[: found.start()].encode()),
                "end_byte": len(self.html[: found.end()].encode()),
            }
            for found in _TOKEN.finditer(self.html)
        ]

    def element(self, tag: str, number: int = 0) -> Span:
        """The tokens of the ``number``-th element of a tag, from 0; elements of one tag do not lie in one another."""
        starts = [i for i, t in enumerate(self.tokens) if re.match(rf"<{tag}\b", str(t["token"]))]
        start = starts[number]
        ends = [i for i, t in enumerate(self.tokens) if t["token"] == f"</{tag}>" and i > start]
        return start, ends[0] + 1

    def words(self, text: str, within: Span) -> Span:
        """The tokens of some words in a part of the page."""
        wanted = text.split()
        for start in range(within[0], within[1] - len(wanted) + 1):
            if [t["token"] for t in self.tokens[start : start + len(wanted)]] == wanted:
                return start, start + len(wanted)
        raise AssertionError(f"{text!r} is not there")

    def answer(self, span: Span) -> dict[str, int]:
        """A range as rows have it."""
        start, end = span
        if start < 0:
            return {"start_token": -1, "end_token": -1, "start_byte": -1, "end_byte": -1}
        first, last = self.tokens[start], self.tokens[end - 1]
        return {
            "start_token": start,
            "end_token": end,
            "start_byte": int(first["start_byte"]),
            "end_byte": int(last["end_byte"]),
        }

    def annotation(self, long: Span = NULL, *short: Span, yes_no: str = "NONE") -> dict[str, Any]:
        """What one annotator says."""
        return {
            "annotation_id": 1,
            "long_answer": {**self.answer(long), "candidate_index": -1 if long == NULL else 0},
            "short_answers": [self.answer(span) for span in short],
            "yes_no_answer": yes_no,
        }

    def row(self, number: int, question: str, *annotations: dict[str, Any]) -> dict[str, Any]:
        """A row in the original format."""
        return {
            "example_id": number,
            "question_text": question,
            "question_tokens": question.split(),
            "document_title": self.title,
            "document_url": "https://en.wikipedia.org//w/index.php?title="
            f"{self.title.replace(' ', '_')}&amp;oldid={self.revision}",
            "document_html": self.html,
            "document_tokens": self.tokens,
            "long_answer_candidates": [],
            "annotations": list(annotations),
        }


def simplified(row: dict[str, Any]) -> dict[str, Any]:
    """A row as the simplified training files have it: blanks in tokens are underscores, and tags have no attributes but
    those of cells."""
    kept = ("start_token", "end_token", "candidate_index")

    def short(answer: dict[str, int]) -> dict[str, int]:
        return {key: value for key, value in answer.items() if key in kept}

    words = (str(token["token"]) for token in row["document_tokens"])
    tags = (re.sub(r"^<(\w+) class='[^']*'>$", r"<\1>", word) for word in words)
    return {
        "document_text": " ".join(tag.replace(" ", "_") for tag in tags),
        "document_url": row["document_url"],
        "question_text": row["question_text"],
        "example_id": row["example_id"],
        "long_answer_candidates": [],
        "annotations": [
            {
                **annotation,
                "long_answer": short(annotation["long_answer"]),
                "short_answers": [short(answer) for answer in annotation["short_answers"]],
            }
            for annotation in row["annotations"]
        ],
    }


def write_rows(path: Path, rows: Iterable[object]) -> Path:
    """A file of rows; what is text already is written as it is."""
    lines: Sequence[str] = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


_MOONS = ("Arbel", "Brinn", "Corva", "Delph", "Ersa", "Fenro", "Galt", "Hesk", "Ilmar", "Jorun")
_LONG_TABLE = "".join(
    f"<tr><td>{name} {letter}</td><td>was seen by watcher {letter}{name.lower()} in the year {1700 + 7 * i}</td>"
    f"<td>it takes {i + 3} days to go round and is as bright as a candle at {i + 11} miles</td></tr>"
    for letter in "PQRST"
    for i, name in enumerate(_MOONS)
)

TARN = NqDocument(
    "Tarn",
    "<p class='lead'>Tarn is a planet of the star Ona . It has rings of dust .</p>"
    "<p>The rings of Tarn were found in 1731 by Mira Lund .</p>"
    "<h2>Moons</h2>"
    "<p>Fifty moons are known .</p>"
    f"<table><tr><th>Name</th><th>Found</th><th>Path</th></tr>{_LONG_TABLE}</table>"
    "<h2>Colours</h2><ul><li>The north is green .</li><li>The south is red .</li></ul>",
)
"""A lead of two chunks; a chunk and a table of several under Moons; a list of one chunk under Colours."""
ONA = NqDocument("Ona", "<p>Ona is a star . It is yellow .</p><p>Its planets are Tarn and Velu .</p>")
