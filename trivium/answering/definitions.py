"""Questions for what a word means ("What counts as downtime?"), and the sentences that say it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.answering.answer_parts import Part
from trivium.answering.passages import NumberedPassage
from trivium.answering.table_rows import rows_of
from trivium.text.normalise import sentences, without_closing_marks
from trivium.types import ChunkKind

_ASKED = re.compile(
    r"\W*(?:what(?: is| are|['’]s|s) (?:meant by )?|what counts? as |define "
    r"|what do(?:es)? (?=.{1,60} (?:mean|stand for)\b))"
    r"(?P<known>the |our )?(?:an? )?(?P<word>\S+(?: \S+){0,3}?)(?: mean| stand for)?"
    r"(?: in (?:the|our|this) [^,]{1,60})?",
    re.IGNORECASE,
)
_MEANS = r" (?:=|means?\b|stands? for\b|refers? to\b)"
_IS = r" (?:is|are) (?:an?|the|any|what|when|where|how|those)\b|: "


def definition_asked(question: str, offered: Sequence[NumberedPassage]) -> Part | None:
    """Return the sentence that defines the word a question asks for: "Downtime is a minute in which ...", "ILL = ...".
    None if no document does, or several do. "The price is ..." and "Price: ..." tell something else of what the question
    knows ("the price").
    """
    asked = _ASKED.fullmatch(without_closing_marks(question))
    if asked is None:
        return None
    says = _MEANS if asked["known"] else rf"(?:{_MEANS}|{_IS})"
    word = rf"{re.escape(asked['word'])}[\"'”’]?(?: \([^)]*\))?"
    begins = re.compile(
        rf"(?:.*\. )?\W{{0,3}}(?:\d[\d.]*\W{{1,3}})?(?:(?:an?|the) )?{word}(?:{says}|(?<=[\"”’]) (?:is|are)\b)"
        rf"|.*[,;] {word} =",
        re.IGNORECASE | re.DOTALL,
    )
    found = [part for passage in offered for part in _sentences(passage) if begins.match(part.text)]
    return found[0] if len({part.passage.hit.document for part in found}) == 1 else None


def _sentences(passage: NumberedPassage) -> list[Part]:
    body, rows = passage.body, {row.text for row in rows_of(passage)}
    spans = [(start, end, body[start:end]) for start, end in sentences(body)]
    told = [one for one in spans if passage.hit.kind != ChunkKind.CODE or one[2].endswith(".")]
    return [Part(passage, "sentence", start, end, text) for start, end, text in told if text not in rows]
