"""Questions that cannot be understood without the conversation before them, told by rules of English, and completed.

Four kinds lean on what was said; anything else is a question by itself, however short, and is left as it is.

- *Words that refer*: "When was he born?", unless what they refer to stands in the question ("which comet broke up
  before it hit a planet?").
- *Ellipsis*: "And Venus?", "What about the next one?": what is asked stands in the question before.
- *Bare questions*: "Why?", "How long?".
- *Descriptions* of what was just spoken of: "How deep is the crater?", where the last turn named a crater.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from trivium.answering.events import CLOSEST, NOT_FOUND
from trivium.answering.marks import without_marks
from trivium.graph.protocols import GraphReader
from trivium.parser.gazetteer import find_names
from trivium.text import content_terms, terms, words
from trivium.types import Turn

MAX_NAMES = 3
"""Names of a conversation that are added to a question."""
ANSWER_CHARACTERS = 400
"""Characters of an earlier answer that are looked at."""

Leaning = Literal["refers", "elliptic", "bare", "describes"]

_PERSONAL = frozenset(words("he him his she her hers it its they them their theirs"))
_POSSESSIVE = frozenset(words("his her its their"))
_POINTING = frozenset(words("this these those latter former"))
_OPENING = re.compile(r"\s*(?:(?:and|but|so|or|also|ok(?:ay)?|then|now)\b[\s,]*)+", re.IGNORECASE)
_ELLIPTIC = re.compile(
    r"\s*(?:(?:and|but|or|also)\b[\s,]*)*(?:(?:what|how)\s+about\b|(?:and|or)\b(?:\s+(?:for|of|in|on|at|to|from|with|by)\b)?)",
    re.IGNORECASE,
)
_PREPOSED = re.compile(
    r"\s*(?:in|at|on|from|by|to|for|with|since|until)\s+(?:which|what|how|whom)\b", re.IGNORECASE
)
"""How questions like "In which year?" begin."""
_FEW_TERMS = 1
_ASKING = frozenset(
    words(
        "who whom whose what which when where why how is are was were do does did has have had can could will would"
    )
)
_CLAUSE = frozenset(
    words(
        "before after when while if because as since until that who which whose where although though and but or so"
    )
)
"""Words that begin a clause in which a pronoun refers to the one before it."""
_THAT = re.compile(
    r"\bthat\W*$|\b(?:than|do|does|did|after|before|about|of|in|on|by|for|from|with|like|to|is|was)\s+that\b(?!\s+\w+(?:s|ed)\b)",
    re.IGNORECASE,
)
_THERE = re.compile(
    r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbeen )\bthere\b(?!\s+(?:is|are|was|were)\b)",
    re.IGNORECASE,
)
"""Not that of "is there" and "there are"."""
_ORDINAL = re.compile(
    r"\b(?:next|previous|last|following|other|first|second|third|same)\s+(?:ones?|item|level|type|category|row|step)\b"
    r"|\b(?:the|another)\s+ones?\b|\b(?:that|which)\s+ones?\W*$|\b(?:who|what|where|anything|anyone|nothing)\s+else\b"
    r"|\bthe\s+(?:other|others|same|next|previous|second|third|last|first)\W*$",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\b(?:from|of|mentioned)\s+(?:before|above|earlier)\b|\bback\s+to\b", re.IGNORECASE)
_DEFINITE = re.compile(r"\bthe\s+([^\W\d_]{3,})", re.IGNORECASE)
_QUANTITIES = frozenset(
    terms(
        "many much long far big large tall old deep high heavy fast hot cold often wide small exactly really so more tell"
        " explain please me details detail"
    )
)


def leaning(question: str, last: Turn, store: GraphReader) -> Leaning | None:
    """In which way a question leans on the conversation whose last turn this is; None where it stands by itself."""
    said = words(question)
    names = known_names(question, store)
    opened = _OPENING.match(question)
    rest = question if opened is None else question[opened.end() :]
    topic = _topic(rest)
    if not topic:
        # "How large are they?" asks something of what is spoken of, "when did he do that?" what was asked before.
        return "refers" if content_terms(rest) and not _PERSONAL.isdisjoint(said) else "bare"
    if _PREPOSED.match(rest) and len(topic) <= _FEW_TERMS and not names:
        return "bare"
    elliptic = _ELLIPTIC.match(question)
    if elliptic is not None and _ASKING.isdisjoint(words(question[elliptic.end() :])):
        return "elliptic"
    if _ORDINAL.search(question) and not names:
        return "elliptic"
    if _refers(question, said) or _BEFORE.search(question):
        return "refers"
    if not names and _describes(question, last):
        return "describes"
    return None


def complete(question: str, history: Sequence[Turn], store: GraphReader) -> str:
    """A question that can be searched for by itself: the given one, or, where it leans on the conversation, with the
    question before it, or with the names that were spoken of."""
    kind = leaning(question, history[-1], store) if history else None
    if kind is None:
        return question
    before = complete(history[-1].question, history[:-1], store)
    carried = [] if kind in ("elliptic", "bare") else _carried(question, history, store)
    if not carried:
        return f"{before.rstrip()} {question.strip()}"
    own = set(terms(f"{question} {' '.join(carried)}"))
    topic = [
        word.strip("()?!.,; ") for word in before.split() if _topic(word) and own.isdisjoint(terms(word))
    ]
    end = "?" if question.rstrip().endswith("?") else ""
    return f"{question.rstrip(' ?')} ({', '.join([*carried, ' '.join(topic)]).rstrip(', ')}){end}"


def known_names(text: str, store: GraphReader) -> list[str]:
    """The names in a text that the store knows, as they are written there."""
    return [text[found.start : found.end] for found in find_names(text, store.lookup_names)]


def short_answer(turn: Turn) -> str:
    """The beginning of an answer without its citations; empty where it said that there is none."""
    text = turn.answer.strip()
    if text in ("", NOT_FOUND) or text.startswith(CLOSEST):
        return ""
    return without_marks(text)[:ANSWER_CHARACTERS]


def _topic(text: str) -> list[str]:
    """The terms of a text that say what it is about."""
    return [term for term in content_terms(text) if term not in _QUANTITIES]


def _refers(question: str, said: Sequence[str]) -> bool:
    if _THAT.search(question) or _THERE.search(question) or not _POINTING.isdisjoint(said):
        return True
    return any(word in _PERSONAL and not _resolved(said[:place], word) for place, word in enumerate(said))


def _resolved(before: Sequence[str], pronoun: str) -> bool:
    """Whether what a pronoun refers to stands before it: in a clause before its own, or as what is asked for ("which
    planet lost its ...")."""
    begins = next((place for place in range(len(before) - 1, 0, -1) if before[place] in _CLAUSE), 0)
    earlier = before[:begins]
    if _topic(" ".join(earlier)) and _PERSONAL.isdisjoint(earlier):
        return True
    asks = before[:1] in (["which"], ["what"], ["who"])
    return pronoun in _POSSESSIVE and asks and bool(_topic(" ".join(before)))


def _describes(question: str, last: Turn) -> bool:
    """Whether a definite description names a kind of thing that the last turn spoke of."""
    spoken = set(terms(f"{last.question} {short_answer(last)}"))
    described = [_topic(found[1]) for found in _DEFINITE.finditer(question)]
    return any(spoken.issuperset(term) for term in described if term)


def _carried(question: str, history: Sequence[Turn], store: GraphReader) -> list[str]:
    """The names last spoken of, that the question does not say itself."""
    own = known_names(question, store)
    for turn in reversed(history):
        spoken = [name for text in (turn.question, short_answer(turn)) for name in known_names(text, store)]
        carried = [name for name in dict.fromkeys(spoken) if name not in own][:MAX_NAMES]
        if carried:
            return carried
    return []
