"""Clauses, steps and items that a question asks for by their number ("What does clause 2.1 of the statutes say?")."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.answering.answer_parts import Part
from trivium.answering.passages import NumberedPassage
from trivium.graph.protocols import GraphReader
from trivium.graph.schema import Hop, headings_of, section_of
from trivium.text.normalise import STOPS
from trivium.types import Hit

_PAGES = 3
"""Number of pages, those of the best hits, of which sections are looked for."""
_MOST_ADDED = 4
_ASKED = re.compile(
    r"(?:\b(?P<kind>step|clause|rule|section|article|paragraph|point|item|chapter|part|annex|appendix|week)s?\s|§)\s?"
    r"(?P<number>\d{1,3}(?:\.\d{1,3}){0,8})\b(?:\s?(?P<inside>\(\w{1,2}\)))?",
    re.IGNORECASE,
)
_ALONE = re.compile(
    r"(?<![\w.,])(?P<number>\d{1,3}(?:\.\d{1,3}){1,3})"
    r"(?= (?:of|in) (?:the|our|my)\b| says?\b| about\b)|, (?P<last>\d{1,3}(?:\.\d{1,3}){1,3})\??\Z"
)
"""A number with points, of what is not said: "What does 2.4 of the hygiene plan say?", "house rules, 2.4"."""

_OF_LISTS = frozenset(["step", "item", "point"])
"""What sections are called only if their headings say so."""
_OF_HEADINGS = frozenset(["part", "annex", "appendix", "week"])
"""What only sections are called."""
_WHERE = re.compile(
    r"\b(?:which|what)\s(?:section|chapter|clause|article|paragraph|heading|title|part\b(?= of))\b",
    re.IGNORECASE,
)


def sections_with_number(question: str, hits: Sequence[Hit], store: GraphReader) -> list[str]:
    """Return the uris of up to four passages in sections of the number that a question asks for, of the pages of the
    best ``hits``, that are not among them.
    """
    asked = _number(question)
    if asked is None:
        return []
    heads = _heads(*asked[:2])
    pages = list(dict.fromkeys(hit.page for hit in hits if hit.live is None))[:_PAGES]
    known = {hit.uri for hit in hits}
    below = store.expand(pages, Hop.BELOW) if pages else {}
    found = [
        uri
        for page in pages
        for uri in below.get(page, [])
        if heads.match(headings_of(section_of(uri))[-1]) and uri not in known
    ]
    return found[:_MOST_ADDED]


def clause_asked(question: str, offered: Sequence[NumberedPassage]) -> list[Part]:
    """Return the clause with the number that a question asks for, with what it announces, or the passages below a heading
    with the number; none if no passage has it. The passages of a document that the question names go before others, and
    sections before items with the number.
    """
    asked = _number(question)
    if asked is None:
        return []
    kind, number, inside = asked
    heads = _heads(kind, number)
    own = rf"{re.escape(number)}(?!\.?\d)[.):]?" if "." in number else rf"{number}[.):]{{1,2}}"
    begins = re.compile(rf"\W{{0,9}}{re.escape(inside) or own}\s")

    # Headings of minutes that the question names are items, too.
    of_named = _heads(kind, number, said=kind.lower() != "item")

    def headed(passage: NumberedPassage) -> bool:
        begins = of_named if _named(question, passage) else heads
        return begins.match(headings_of(passage.hit.section)[-1]) is not None

    for passage in sorted(offered, key=lambda one: (-_named(question, one), not headed(one))):
        same = [one for one in offered if headed(passage) and one.hit.section == passage.hit.section]
        same.sort(key=lambda one: one.hit.start)
        if same and not inside:
            return [whole(one) for one in same]
        if not same and (inside or kind.lower() in _OF_HEADINGS):
            continue
        for one in same or [passage]:
            at = 0
            for line in one.body.splitlines(keepends=True):
                if begins.match(line):
                    return [_clause(one, at, inside or number)]
                at += len(line)
    return []


def _clause(passage: NumberedPassage, start: int, number: str) -> Part:
    """Return a clause: the lines up to the next one, or to a blank line behind a whole sentence."""
    if number.startswith("("):
        label = r"\(\d" if number[1].isdigit() else r"\([a-z]"
    else:
        label = r"\d{1,3}\.\d" if "." in number else r"\d{1,3}[.):]"
    following = re.compile(rf"[ \t]{{0,8}}{label}", re.IGNORECASE)
    body, end = passage.body, start
    for line in body[start:].splitlines(keepends=True):
        said = body[start:end]
        if said and (following.match(line) or (line.isspace() and said.rstrip().endswith(STOPS))):
            break
        end += len(line)
    text = body[start:end].strip()
    start = body.index(text, start)
    return Part(passage, "clause", start, start + len(text), text)


def asks_for_section(question: str) -> bool:
    """Whether a question asks where something stands ("Which section deals with lifts?")."""
    return _WHERE.search(question) is not None and _number(question) is None


def whole(passage: NumberedPassage) -> Part:
    """Return all of a passage, to be shown under its heading."""
    return Part(passage, "clause", 0, len(passage.body), passage.body)


def _number(question: str) -> tuple[str, str, str] | None:
    """Return what a question asks for by its number ("clause"; empty if it does not say so), the number, and that of a
    part inside it ("(3)"; empty without).
    """
    asked = _ASKED.search(question)
    if asked is not None:
        return asked["kind"] or "", asked["number"], asked["inside"] or ""
    alone = _ALONE.search(question)
    return None if alone is None else ("", alone["number"] or alone["last"], "")


def _heads(name: str, number: str, *, said: bool = True) -> re.Pattern[str]:
    """Return what a heading begins with that has a number; ``name`` is what it is called, if anything. That it is an item
    of a list has to be ``said``.
    """
    kind = f"(?:{re.escape(name)}\\s+)?" if name else "§?\\s?"
    if said and name.lower() in _OF_LISTS:
        kind = f"{re.escape(name)}\\s+"
    return re.compile(rf"\W{{0,9}}{kind}{re.escape(number)}(?!\w|\.\d)", re.IGNORECASE)


def _named(question: str, passage: NumberedPassage) -> int:
    """Return how many words of a question the title of a passage and the name of its document have."""
    analyzer = passage.analyzer
    title = frozenset(analyzer.terms(f"{passage.hit.page} {passage.hit.document}"))
    return len(title.intersection(analyzer.question_terms(question)))
