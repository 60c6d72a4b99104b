"""A question with a part replaced by what the next, unfinished one says: "When was Mars found?" "And Venus?"."""

from __future__ import annotations

import re
from itertools import takewhile

from trivium.answering.named_in_answer import known_names
from trivium.graph.protocols import GraphReader
from trivium.text.languages import ENGLISH, function_words
from trivium.text.normalise import NUMBER_WORDS, content_terms, terms, without_closing_marks

FUNCTION_WORDS = function_words(ENGLISH)
COUNTED = re.compile(
    rf"\b(the\s+)(?:{'|'.join(NUMBER_WORDS)}|\d{{1,3}})\s+(?=[^\W\d])",
    re.IGNORECASE,
)
"""A number of things that another has not: "the two moons of Mars"."""
_QUANTITIES = frozenset(
    terms(
        "many much long far big large tall old deep high heavy fast hot cold often wide small exactly really so more tell"
        " explain please me details detail most least go on continue"
    )
)
_NUMBERED = re.compile(r"\b([^\W\d_]{3,20}) (\d{1,6})\b(?![.,]?\d)")
"""A word with its number: "severity 3"."""
_CODE = re.compile(r"(?<![\w/.-])[A-Za-z]{1,6}[/.-]?\d[\w/-]{0,20}")
"""A code of letters and digits: E511, ORV-17A."""
_CAPITALISED = re.compile(r"\b[^\W\d_a-z]\w{1,40}(?: [^\W\d_a-z]\w{1,40}){0,3}")
WHICH_DO = re.compile(
    r"\A\W{0,5}(?:and|but|or)\s+which\s+(?P<verb>\w+)\s+(?=(?:an?|the|no|any|all|more|less|at|over|under|\d+)\b)",
    re.IGNORECASE,
)
"""The beginning of a question that leaves out what is asked for: "And which need a key?"."""
_WHICH_THINGS = re.compile(r"\A\W*(?:which|what)\s+(?!(?:is|are|was|were|do|does|did)\b)", re.IGNORECASE)


def topic_terms(text: str) -> list[str]:
    """Return the terms of a text that indicate its topic."""
    return [term for term in content_terms(text) if term not in _QUANTITIES]


def with_thing_asked_for(question: str, before: str) -> str | None:
    """Return a question that leaves out what it asks for with what the previous one asked for ("Which huts need a key?"
    "And which have a stove?"); None if either is another kind of question.
    """
    own, things = WHICH_DO.match(question), _WHICH_THINGS.match(before)
    if own is None or things is None:
        return None
    named = before[things.end() :].split()
    before_verb = list(takewhile(lambda word: word not in FUNCTION_WORDS and word != own["verb"], named))
    plural = next((n for n, word in enumerate(before_verb, 1) if word.endswith("s")), len(before_verb))
    thing = " ".join(before_verb[:plural])
    return f"{before[: things.end()]}{thing} {question[own.start('verb') :]}"


def with_name_replaced(rest: str, before: str, store: GraphReader) -> str | None:
    """Return the previous question with its name or code replaced by the one in the ``rest`` of this question ("And
    Venus?", "And E511?"); None if either has more than one, or this one says anything else.
    """
    found = (
        (known_names(rest, store), known_names(before, store)),
        (_CODE.findall(rest), _CODE.findall(before)),
        (_CAPITALISED.findall(rest), _CAPITALISED.findall(before, 1)),
    )
    pairs = [(list(dict.fromkeys(own)), list(dict.fromkeys(names))) for own, names in found]
    one_each = [pair for pair in pairs if len(pair[0]) == len(pair[1]) == 1]
    if not one_each or not set(topic_terms(rest)) <= {"s", *terms(one_each[0][0][0])}:
        return None
    own, names = one_each[0]
    return re.sub(rf"(?<!\w){re.escape(names[0])}(?!\w)", lambda _: own[0], COUNTED.sub(r"\1", before))


def with_number_replaced(rest: str, before: str) -> str | None:
    """Return the previous question with another number behind a word that it has, too ("What is due for level 2?" "And
    for level 3?"); None if this question says anything else.
    """
    own = _NUMBERED.findall(rest)
    if len(own) != 1 or len(topic_terms(rest)) > 2:
        return None
    word, number = own[0]
    replaced, count = re.subn(
        rf"(?i)\b({re.escape(word)}) \d+\b", lambda found: f"{found[1]} {number}", before
    )
    return replaced if count == 1 else None


def with_end_replaced(rest: str, before: str) -> str | None:
    """Return the previous question with its end replaced by an ellipsis that begins like it ("How many were there in
    2022?" "And in 2023?"); None if it does not.
    """
    own, said = rest.split(), without_closing_marks(before).split()
    if len(own) < 2 or own[0] not in FUNCTION_WORDS:
        return None
    for at in range(max(1, len(said) - len(own) - 1), len(said)):
        alike = 2 if own[0] == "the" and said[at - 1] not in ("is", "are", "was", "were") else 1
        if said[at : at + alike] == own[:alike]:
            return " ".join([*said[:at], *own])
    return None
