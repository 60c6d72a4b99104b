"""What the last answer of a conversation was about: the thing of a row, the person asked for, a sentence's subject."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.answering.events import CLOSEST, NOT_FOUND
from trivium.answering.marks import without_marks
from trivium.graph.protocols import GraphReader
from trivium.graph.schema import Hop
from trivium.parser.gazetteer import find_names
from trivium.parser.tables import cells_of
from trivium.text.normalise import content_terms, normalise_name, terms, words
from trivium.types import Turn

FULL_NAME = re.compile(r"[^\W\d_a-z]\w{0,40}(?:[\s.'’-]{1,4}\w{1,40}){0,8}[\s.'’-]{1,4}[^\W\d_a-z]\w+")
"""A name of several words, the first and the last of which begin with capitals."""
_CAPITALISED = re.compile(
    r"[^\W\d_a-z][\w’'-]{1,40}(?:\.?\s(?:(?:de|da|di|van|von|der|den|la|le|al|bin|ten|ter)\s){0,2}[^\W\d_a-z][\w’'-]{0,40}){1,4}"
)
"""Words with capitals, which may be a name that the store does not know."""
ANSWER_CHARACTERS = 400
"""Number of characters of an earlier answer that are examined."""
_ARTICLES = frozenset(words("the our a an"))
_MOST_WORDS = 6


def person_of(question: str, answer: str, known: Sequence[str]) -> str | None:
    """Return the person that an answer names: the only full name that the question does not have, or the one nearest to
    words of the question. Names that are ``known`` go before others. None if it is not clear.

    >>> person_of("Who found it?", "Asaph Hall found it, while Giovanni Schiaparelli drew lines.", [])
    'Asaph Hall'
    >>> person_of("Who is the head?", "Post: Head; Name: Ada Kern; Extension: 12", [])
    'Ada Kern'
    """
    asked = set(content_terms(question))
    shaped = [found[0] for found in _CAPITALISED.finditer(answer)]
    for names in ([name for name in known if FULL_NAME.fullmatch(name)], shaped):
        new = [name for name in dict.fromkeys(names) if not asked.issuperset(terms(name))]
        if len(new) > 1:
            near = sorted((_distance(name, answer, asked), name) for name in new)
            new = [near[0][1]] if near[0][0] < near[1][0] else []
        if new or names is shaped:
            return new[0] if new else None
    return None


def _distance(name: str, answer: str, asked: set[str]) -> int:
    """Return how many words are between a name and the nearest word of a question in its sentence."""
    best = len(answer)
    for found in re.finditer(re.escape(name), answer):
        before, behind = answer[: found.start()].split()[::-1], answer[found.end() :].split()
        for side in (before, behind):
            for place, word in enumerate(side):
                if not asked.isdisjoint(terms(word)):
                    best = min(best, place)
                    break
                if word.endswith((".", ";")):
                    break
    return best


def thing_of(question: str, answer: str) -> str | None:
    """Return the thing that an answer is about: the first cell of its only row, or what its first sentence begins with
    and the question names, too. None if it is not clear.

    >>> thing_of("How many berths are there in Lys?", "Lys; Berths: 20; Depth: 2.8")
    'Lys'
    >>> thing_of("What does the check sail cost?", "The check sail takes 25 minutes and costs 20 euros.")
    'the check sail'
    """
    rows = rows_in(answer)
    if rows:
        label, cell = rows[0][0]
        while ": " in cell:
            label, _, cell = cell.partition(": ")
        named = cell if any(map(str.isalpha, cell)) else f"{label} {cell}".strip()
        return named if len(rows) == 1 else None
    said = answer.split()[:_MOST_WORDS]
    for count in range(len(said), 1, -1):
        thing = " ".join(said[:count]).strip(",.;:")
        if (
            said[0].casefold() in _ARTICLES
            and f" {thing.casefold()} " in f" {question.casefold().rstrip('?!. ')} "
        ):
            return thing[0].lower() + thing[1:]
    return None


def rows_in(answer: str) -> list[list[tuple[str, str]]]:
    """Return the rows that an answer quotes, as labels and cells."""
    return [cells for line in answer.splitlines() if len(cells := cells_of(line)) > 1 and cells[1][0]]


def known_names(text: str, store: GraphReader) -> list[str]:
    """Return the names in a text that the store knows, as written there."""
    return [text[found.start : found.end] for found in find_names(text, store.lookup_names)]


def short_answer(turn: Turn) -> str:
    """Return the beginning of an answer without its citations; empty if the answer said that there is none."""
    text = turn.answer.strip()
    if not text or text.startswith((NOT_FOUND, CLOSEST)):
        return ""
    return without_marks(text)[:ANSWER_CHARACTERS]


def said_in_answer(turn: Turn, store: GraphReader) -> str:
    """Return :func:`short_answer` without names of documents in front of quotations ("Handbook: ..."), unless passages
    cite the document, which then is a thing that the collection speaks of.
    """
    lines = short_answer(turn).splitlines()
    titles = {line: line.partition(": ")[0] for line in lines if ": " in line}
    pages = store.lookup_names([normalise_name(title) for title in titles.values()]) if titles else {}
    cited = store.expand(list(dict.fromkeys(pages.values())), Hop.CITED_IN) if pages else {}

    def only_document(title: str) -> bool:
        page = pages.get(normalise_name(title))
        return page is not None and not cited.get(page)

    return "\n".join(
        line.removeprefix(f"{titles[line]}: ") if line in titles and only_document(titles[line]) else line
        for line in lines
    )
