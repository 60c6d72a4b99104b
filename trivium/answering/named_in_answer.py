"""What an answer names: the person or thing that a later question may speak of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.answering.citation_marks import without_marks
from trivium.answering.events import CLOSEST, NOT_FOUND
from trivium.graph.protocols import GraphReader
from trivium.graph.schema import Hop
from trivium.parser.gazetteer import find_names
from trivium.parser.tables import cells_of
from trivium.text.normalise import content_terms, normalise_name, terms, words
from trivium.types import Turn

ANSWER_CHARACTERS = 400
"""Number of characters of an earlier answer that are examined."""
MOST_WORDS = 6
"""Words of a thing without a name ("the annual summer party")."""
_FULL_NAME = re.compile(r"[^\W\d_a-z]\w{0,40}(?:[\s.'’-]{1,4}\w{1,40}){0,8}[\s.'’-]{1,4}[^\W\d_a-z]\w+")
"""A name of several words, the first and the last of which begin with capitals."""
_CAPITALISED = re.compile(
    r"[^\W\d_a-z][\w’'-]{1,40}(?:\.?\s(?:(?:de|da|di|van|von|der|den|la|le|al|bin|ten|ter)\s){0,2}[^\W\d_a-z][\w’'-]{0,40}){1,4}"
)
"""Words with capitals, which may be a name that the store does not know."""
ARTICLES = frozenset(words("the our a an"))


def is_person(name: str, store: GraphReader) -> bool:
    """Whether a page of a name has the form of a full name."""
    pages = store.lookup_names([normalise_name(name)])
    return any(_FULL_NAME.fullmatch(page) for page in pages.values())


def name_of(question: str, answer: str, known: Sequence[str], *, person: bool = True) -> str | None:
    """Return the person or thing that an answer names: the only name that the question does not have, or the one nearest
    to words of the question; of things the first one. Names that are ``known`` go before others; a person's has several
    words. Of a box, the line counts whose label the question has. None if it is not clear.

    >>> name_of("Who found it?", "Asaph Hall found it, while Giovanni Schiaparelli drew lines.", [])
    'Asaph Hall'
    >>> name_of("Who is the head?", "Post: Head; Name: Ada Kern; Extension: 12", [])
    'Ada Kern'
    >>> name_of("Who found Io?", "Io\\nFound by: Galileo Galilei\\nVisited by: Pioneer Ten, New Horizons", [])
    'Galileo Galilei'
    """
    asked = set(content_terms(question))
    labelled = [
        line for line in answer.splitlines()[1:] if not asked.isdisjoint(terms(line.partition(":")[0]))
    ]
    answer = labelled[0] if len(labelled) == 1 else answer
    shaped = [found[0] for found in _CAPITALISED.finditer(answer)]
    for names in ([name for name in known if not person or _FULL_NAME.fullmatch(name)], shaped):
        new = [name for name in dict.fromkeys(names) if name in answer and not asked.issuperset(terms(name))]
        if not person:
            new = new[:1]
        if new:
            near = sorted((_distance(name, answer, asked), name) for name in new)
            return near[0][1] if len(new) == 1 or near[0][0] < near[1][0] else None
    return None


def _distance(name: str, answer: str, asked: set[str]) -> int:
    """Return how many words are between a name and the nearest word of a question."""
    before, _, behind = answer.partition(name)
    sides = (before.split()[::-1], behind.split())
    near = [at for side in sides for at, word in enumerate(side) if not asked.isdisjoint(terms(word))]
    return min(near, default=len(answer))


def thing_of(question: str, answer: str) -> str | None:
    """Return the thing that an answer is about: the first cell of its only row, or what its first sentence begins with
    and the question names, too. None if it is not clear.

    >>> thing_of("How many berths are there in Lys?", "Lys; Berths: 20; Depth: 2.8")
    'Lys'
    >>> thing_of("What does the check sail cost?", "The check sail takes 25 minutes and costs 20 euros.")
    'the check sail'
    """
    if rows := _rows(answer):
        label, cell = rows[0]
        named = cell if any(map(str.isalpha, cell)) else f"{label} {cell}".strip()
        return named if len(rows) == 1 else None
    said = answer.split()[:MOST_WORDS]
    asked = f" {question.casefold().rstrip('?!. ')} "
    for count in range(len(said), 1, -1):
        thing = " ".join(said[:count]).strip(",.;:")
        if said[0].casefold() in ARTICLES and f" {thing.casefold()} " in asked:
            return thing[0].lower() + thing[1:]
    return None


def rows_listed(history: Sequence[Turn]) -> list[str]:
    """Return the names of the rows of a table that the last answer lists, or that the last ones name one each: what their
    first cells say.

    >>> rows_listed([Turn("Which are dry?", "Hut: Lys; Beds: 4\\nHut: Orn; Beds: 9")])
    ['Lys', 'Orn']
    """
    listed: list[tuple[str, str]] = []
    for turn in reversed(history):
        own = _rows(without_marks(turn.answer)) if short_answer(turn) else []
        if not own or (listed and (len(own) > 1 or own[0][0] != listed[0][0])):
            break
        listed = [*own, *listed]
        if len(own) > 1:
            break
    return list(dict.fromkeys(cell for label, cell in listed if label == listed[0][0]))


def _rows(answer: str) -> list[tuple[str, str]]:
    """Return the label and the text of the first cell of each row in an answer."""
    found = []
    for line in answer.splitlines():
        cells = cells_of(line)
        if len(cells) > 1 and cells[1][0]:
            label, cell = cells[0]
            *_, label, cell = ["", label, *cell.split(": ")]
            found.append((label, cell))
    return found


def known_names(text: str, store: GraphReader) -> list[str]:
    """Return the names in a text that the store knows, as written there."""
    return [text[found.start : found.end] for found in find_names(text, store.lookup_names)]


def short_answer(turn: Turn) -> str:
    """Return the beginning of an answer without its citations; empty if the answer said that there is none."""
    text = turn.answer.strip()
    return "" if text.startswith((NOT_FOUND, CLOSEST)) else without_marks(text)[:ANSWER_CHARACTERS]


def said_in_answer(turn: Turn, store: GraphReader) -> str:
    """Return :func:`short_answer` without names of documents in front of quotations ("Handbook: ..."), unless passages
    cite the document, which then is a thing that the collection speaks of.
    """
    lines = [f"{line} ".partition(": ") for line in short_answer(turn).splitlines()]
    pages = store.lookup_names([normalise_name(title) for title, colon, _ in lines if colon])
    cited = store.expand(list(dict.fromkeys(pages.values())), Hop.CITED_IN) if pages else {}
    only_documents = {name for name, page in pages.items() if not cited.get(page)}
    return "\n".join(
        (rest if colon and normalise_name(title) in only_documents else f"{title}{colon}{rest}").strip()
        for title, colon, rest in lines
    )
