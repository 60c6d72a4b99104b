"""Recognises questions that cannot be understood without the preceding conversation, by rules for English, and
completes them.

There are four kinds. Any other question is left as it is, however short.

- *References*: "When was he born?", unless the question itself says what they refer to ("which comet broke up before
  it hit a planet?"). "IT" in capitals is information technology.
- *Ellipsis*: "And Venus?", "What about the next one?", "No, I meant Pluto": the previous question says what is asked.
- *Bare questions*: "Why?", "How long?", "Which is the largest?", and requests for more: "Tell me more".
- *Descriptions* of something just mentioned: "How deep is the crater?" after a question that named a crater.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Literal, NamedTuple

from trivium.answering.answer_subjects import known_names, person_of, rows_in, said_in_answer, thing_of
from trivium.graph.protocols import GraphReader
from trivium.text.function_words import FUNCTION_WORDS
from trivium.text.normalise import content_terms, terms, without_closing_marks, words
from trivium.types import Turn

MAX_NAMES = 3
"""Maximum number of names from the conversation that are added to a question."""

Leaning = Literal["refers", "elliptic", "bare", "describes"]

_PERSONAL = frozenset(words("he him his she her hers it its they them their theirs"))
_POSSESSIVE = frozenset(words("his her its their"))
_ALIKE = tuple(map(frozenset, map(words, ("he him his", "she her", "it its", "they them their"))))
"""The pronouns that a name can be put in place of. Those of one set may mean the same in one question."""
_HE, _SHE, _IT, _SEVERAL = _ALIKE
_PERSONS = _HE | _SHE
_PRONOUN = re.compile(
    rf"(?<![\w'’])(?:{'|'.join(sorted(_PERSONS | _IT | _SEVERAL))})(?![\w'’])", re.IGNORECASE
)
_POINTING = frozenset(words("this these those latter former"))
_OPENING = re.compile(r"\s*(?:(?:and|but|so|or|also|ok(?:ay)?|then|now)\b[\s,]*)+", re.IGNORECASE)
_ELLIPTIC = re.compile(
    r"\s*(?:(?:and|but|or|also|no|sorry|wait)\b[\s,]*)*(?:(?:what|how)\s+about\b|i\s+meant?\b"
    r"|(?:and|or)\b(?:\s+(?:for|of|in|on|at|to|from|with|by)\b)?)",
    re.IGNORECASE,
)
_JOINING = re.compile(r"\A(?:(?:and|but|or|also|ok|so)\b[\s,]*)+(?:(?:what|how)\s+about\s+)?", re.IGNORECASE)
_WHICH = re.compile(
    r"\s*which\s+(?:ones?\s+)?(?:of\s+(?:them|these|those)\s+)?(?:is|are|was|were|has|have|had|does|do|did)\b",
    re.IGNORECASE,
)
"""Beginnings of questions like "Which is the largest?", which do not say of what."""
_ABBREVIATIONS = re.compile(r"\b(?:IT|US|WHO)\b")
"""Names that look like pronouns, unless the whole question is in capitals."""
_PREPOSED = re.compile(
    r"\s*(?:in|at|on|from|by|to|for|with|since|until)\s+(?:which|what|how|whom)\b", re.IGNORECASE
)
"""Beginnings of questions like "In which year?"."""
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
"""Words that begin a clause in which a pronoun refers to the previous clause."""
_THAT = re.compile(
    r"\bthat\W*$|\b(?:than|do|does|did|after|before|about|of|in|on|by|for|from|with|like|to|is|was)\s+that\b(?!\s+\w+(?:s|ed)\b)",
    re.IGNORECASE,
)
_THERE = re.compile(
    r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbeen )\bthere\b(?!\s+(?:is|are|was|were)\b)",
    re.IGNORECASE,
)
"""Excludes "is there" and "there are"."""
_ORDINAL = re.compile(
    r"\b(?:next|previous|last|following|other|first|second|third|same)\s+(?:ones?|item|level|type|category|row|step)\b"
    r"|\b(?:the|another)\s+ones?\b(?!\s+(?:that|which|who|from|of|in|on|with|for|we|you|they|i)\b)|\b(?:that|which)\s+ones?\W*$|\b(?:who|what|where|anything|anyone|nothing)\s+else\b"
    r"|\bthe\s+(?:other|others|same|next|previous|second|third|last|first)\W*$",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\b(?:from|of|mentioned)\s+(?:before|above|earlier)\b|\bback\s+to\b", re.IGNORECASE)
_WHO = re.compile(r"\s*who\b", re.IGNORECASE)
_WHO_IS = re.compile(r"\s*(?:who|what)\s+(?:is|was|are|were)\b(?!\s+(?:it|the\s+first)\b)", re.IGNORECASE)
"""Beginnings of questions about what they name: "Who was Alan Turing?"."""
_FOR_SOMETHING = re.compile(
    r"\s*(?:(?:in|on|at|by|to|for|from|after|of)\s+)?(?:who|whom|whose|which|what)\b", re.IGNORECASE
)
"""Beginnings of questions for something that a later question may speak of: "Which spacecraft visited Pluto?"."""
_OF_A_THING = re.compile(
    r"(?:when|where|what) (?:is|are) ((?:the|our) [^?.!,;]*[^?.!,; ])[?.! ]*", re.IGNORECASE
)
"""Questions about a thing without a name: "When is the summer party?"."""
_IMPERSONAL = re.compile(
    r"\b(?:time|true|rain|snow|happen(?:s|ed)?|means?|matter)\b|\bit\b[^?]{0,200}\b(?:that|to)\b",
    re.IGNORECASE,
)
"""Questions in which "it" may stand for nothing: "How long does it take to reach Mars?"."""
_INTRODUCES = re.compile(r"\b(?:an?|another|some|his|her|its|their)\s+\w|\bof\b", re.IGNORECASE)
"""Questions that speak of another thing than the one they name: "Did a spacecraft land on Mars?"."""
_COPULAS = frozenset(words("is are was were"))
_FUNCTION_WORDS = frozenset(FUNCTION_WORDS["en"].split())
_COUNTS = frozenset(words("two three four five six seven eight nine ten eleven twelve"))
_COUNTED = re.compile(rf"\b(the\s+)(?:{'|'.join(sorted(_COUNTS))}|\d{{1,3}})\s+(?=[^\W\d])", re.IGNORECASE)
"""A number of things that another has not: "the two moons of Mars"."""
_THING_WORDS = 6
_SUPERLATIVES = frozenset(words("most least first last only"))
_PARTICIPLES = frozenset(
    words("built done found given held kept known left made paid seen sent sold taken used written")
)
"""Words after which a question says more than what it is about: "Where is the key kept?"."""
_DEFINITE = re.compile(r"\bthe\s+(?=([^\W\d_]{3,}(?:\s+[^\W\d_]+){0,5}))", re.IGNORECASE)
_QUANTITIES = frozenset(
    terms(
        "many much long far big large tall old deep high heavy fast hot cold often wide small exactly really so more tell"
        " explain please me details detail most least go on continue"
    )
)

_VAGUE = frozenset(
    terms("year date day time happen happened become became kind sort name called place number")
)
"""Words of questions that answers do not repeat."""


def leaning(question: str, last: Turn, store: GraphReader) -> Leaning | None:
    """Return how a question depends on the conversation that ends with ``last``; None if it is self-contained."""
    named = _abbreviations(question)
    names = [*known_names(question, store), *named]
    opened = _OPENING.match(question)
    rest = question if opened is None else question[opened.end() :]
    said = words(_ABBREVIATIONS.sub(" ", rest) if named else rest)
    topic = [*topic_terms(rest), *named]
    if not topic:
        # "How large are they?" asks about what was mentioned; "when did he do that?" about what was asked before.
        return "refers" if content_terms(rest) and not _PERSONAL.isdisjoint(said) else "bare"
    if (_PREPOSED.match(rest) or _WHICH.match(rest)) and len(topic) <= _FEW_TERMS and not names:
        return "bare"
    elliptic = _ELLIPTIC.match(question)
    if elliptic is not None and _ASKING.isdisjoint(words(question[elliptic.end() :])):
        return "refers" if _asks_anew(question) else "elliptic"
    if _ORDINAL.search(question) and not names:
        return "elliptic"
    if (_refers(rest, said) and not _owns(rest, names)) or _BEFORE.search(question):
        return "refers"
    if not names and _describes(question, last):
        return "describes"
    return None


def complete(question: str, history: Sequence[Turn], store: GraphReader) -> str:
    """Return a self-contained question: the given one, or, if it depends on the conversation, with a name in place of a
    pronoun where only one thing can be seen that it means, else combined with the previous question or with the names
    last mentioned.
    """
    kind = leaning(question, history[-1], store) if history else None
    if kind is None:
        return question
    clear = with_subject(question, history, store) if kind == "refers" else None
    if clear is not None:
        return clear.question
    before = complete(history[-1].question, history[:-1], store)
    if _asks_for_more(question):
        return before
    replaced = None
    if kind == "elliptic":
        replaced = _with_name_replaced(question, history, store) or _with_end_replaced(question, before)
    if replaced is not None:
        return replaced
    carried = [] if kind in ("elliptic", "bare") else _carried(question, history, store)
    if kind == "describes":
        carried = [name for name in carried if name in history[-1].question]
        if not carried:
            return question  # the collection may know what is meant
    if not carried:
        return f"{before.rstrip()} {question.strip()}"
    own = set(terms(f"{question} {' '.join(carried)}"))
    topic = [
        word.strip("()?!.,; ")
        for word in before.split()
        if not _asks_anew(question) and topic_terms(word) and own.isdisjoint(terms(word))
        if _COUNTS.isdisjoint(words(word))
    ]
    end = "?" if question.rstrip().endswith("?") else ""
    return f"{question.rstrip(' ?')} ({', '.join([*carried, ' '.join(topic)]).rstrip(', ')}){end}"


def _abbreviations(question: str) -> list[str]:
    return [] if question.isupper() else _ABBREVIATIONS.findall(question)


def _asks_for_more(question: str) -> bool:
    said = words(question)
    return _ASKING.isdisjoint(said) and _PERSONAL.isdisjoint(said) and not topic_terms(question)


def _asks_anew(question: str) -> bool:
    """Whether an ellipsis says what is asked and only omits the subject: "And its mass?"."""
    elliptic = _ELLIPTIC.match(question)
    rest = "" if elliptic is None else question[elliptic.end() :]
    said = words(rest)
    return _ASKING.isdisjoint(said) and not _POSSESSIVE.isdisjoint(said) and bool(topic_terms(rest))


def _with_name_replaced(question: str, history: Sequence[Turn], store: GraphReader) -> str | None:
    """Return the previous question with its name, or what it refers to, replaced by the name in this one ("And
    Venus?"). None if either has more than one name, or this one says anything else.
    """
    own = known_names(question, store)
    elliptic = _ELLIPTIC.match(question)
    if (
        len(own) != 1
        or elliptic is None
        or set(topic_terms(question[elliptic.end() :])) - {"s", *terms(own[0])}
    ):
        return None
    last, earlier = history[-1].question, history[:-1]
    if earlier and leaning(last, earlier[-1], store) == "refers" and not known_names(last, store):
        return f"{last.rstrip()} {question.strip()}"  # it does not refer to the same thing
    before = complete(last, earlier, store)
    names = list(dict.fromkeys(known_names(before, store)))
    if len(names) != 1:
        return None
    return re.sub(rf"(?<!\w){re.escape(names[0])}(?!\w)", lambda _: own[0], _COUNTED.sub(r"\1", before))


def _with_end_replaced(question: str, before: str) -> str | None:
    """Return the previous question with its end replaced by an ellipsis that begins like it ("How many were there in
    2022?" "And in 2023?"); None if it does not.
    """
    rest = _JOINING.sub("", question.strip(), count=1).split()
    said = without_closing_marks(before).split()

    def alike(at: int) -> bool:
        words_alike = 2 if rest[0] == "the" and said[at - 1] not in _COPULAS else 1
        return said[at : at + words_alike] == rest[:words_alike]

    begins = rest[:1] != [] and rest[0] in _FUNCTION_WORDS
    ends = range(max(1, len(said) - len(rest) - 1), len(said)) if begins else ()
    place = next(filter(alike, ends), None)
    if place is None or _ORDINAL.search(question) or len(rest) < 2:
        return None
    return " ".join([*said[:place], *rest])


class Clear(NamedTuple):
    """A follow-up with its ``subject`` in place of a pronoun."""

    question: str
    subject: str


def with_subject(question: str, history: Sequence[Turn], store: GraphReader) -> Clear | None:
    """Put what the last turn was about in place of the first pronoun of a question that refers to something ("When was
    he born?"). None if it refers to anything else, or if it is not clear what is meant.
    """
    opened = _OPENING.match(question)
    rest = question if opened is None else question[opened.end() :]
    pronoun = _PRONOUN.search(rest)
    found = {word.casefold() for word in _PRONOUN.findall(rest)}
    others = [_THAT, _THERE, _BEFORE, _ORDINAL, *([_IMPERSONAL] if "it" in found else [])]
    if (
        pronoun is None
        or not any(found.issubset(alike) for alike in _ALIKE)
        or _abbreviations(rest)
        or any(other.search(rest) for other in others)
        or not _POINTING.isdisjoint(words(rest))
        or not _refers(rest, words(rest))
        or known_names(rest, store)
    ):
        return None
    said = pronoun[0].casefold()
    subject = _subject(history, store, person=said in _PERSONS)
    if subject is None or (said in _SEVERAL and not (_is_thing(subject) and subject.endswith("s"))):
        return None
    owns = said in _POSSESSIVE
    if said == "her":
        before, after = words(rest[: pronoun.start()])[-1:], words(rest[pronoun.end() :])[:1]
        owns = after != [] and _FUNCTION_WORDS.issuperset(before) and _FUNCTION_WORDS.isdisjoint(after)
        if after and not owns:
            return None  # who is spoken of, or whose it is: "Did anyone help her find comets?"
    ending = "" if not owns else "'" if subject.endswith("s") else "'s"
    return Clear(f"{rest[: pronoun.start()]}{subject}{ending}{rest[pronoun.end() :]}", subject)


def _subject(history: Sequence[Turn], store: GraphReader, *, person: bool) -> str | None:
    """Return the one thing, or ``person``, that the last turn was about, as written there; None if there may be more.

    It is what the answer is about (:mod:`~trivium.answering.answer_subjects`), or the only name in a question that asks
    about it and introduces nothing else; a thing may be described ("When is the summer party?").
    """
    last, earlier = history[-1], history[:-1]
    said = said_in_answer(last, store)
    if person and rows_in(said):
        return person_of(last.question, said, ())
    thing = None if person else thing_of(last.question, said)
    if thing is not None:
        return thing
    question, before = last.question, None
    kind = leaning(question, earlier[-1], store) if earlier else None
    if kind is not None:
        clear = with_subject(question, earlier, store) if kind == "refers" else None
        if clear is None:
            return None
        question, before = clear
    names = list({name.casefold(): name for name in reversed(known_names(question, store))}.values())
    about = _WHO_IS.match(question) is not None
    if person and _WHO.match(question) and not (about and len(names) == 1):
        return person_of(question, said, known_names(said, store))
    if not person and _INTRODUCES.search(question):
        return None
    if len(names) == 1:
        return names[0] if about or not _FOR_SOMETHING.match(question) else None
    if names or person or before is not None:
        return None if names else before
    described = _OF_A_THING.fullmatch(" ".join(question.split()))
    return described[1] if described is not None and _is_thing(described[1]) else None


def _is_thing(text: str) -> bool:
    """Whether a text, the rest of a question, describes one thing and says nothing else of it."""
    said = words(text)
    return (
        said[:1] in (["the"], ["our"])
        and len(said) <= _THING_WORDS
        and (_SUPERLATIVES | _PARTICIPLES).isdisjoint(said)
        and not any(word.endswith(("est", "ed")) for word in said)
    )


def topic_terms(text: str) -> list[str]:
    """Return the terms of a text that indicate its topic."""
    return [term for term in content_terms(text) if term not in _QUANTITIES]


def _refers(question: str, said: Sequence[str]) -> bool:
    if _THAT.search(question) or _THERE.search(question) or not _POINTING.isdisjoint(said):
        return True
    return any(word in _PERSONAL and not _resolved(said[:place], word) for place, word in enumerate(said))


def _resolved(before: Sequence[str], pronoun: str) -> bool:
    """Whether the referent of a pronoun precedes it: in an earlier clause, or as what is asked for ("which planet
    lost its ...").
    """
    before = [word for word in before if word != "s"]
    begins = next((place for place in range(len(before) - 1, 0, -1) if before[place] in _CLAUSE), 0)
    earlier = before[:begins]
    if topic_terms(" ".join(earlier)) and _PERSONAL.isdisjoint(earlier):
        return True
    asks = before[:1] in (["which"], ["what"], ["who"])
    return pronoun in _POSSESSIVE and asks and bool(topic_terms(" ".join(before)))


def own_terms(question: str) -> frozenset[str]:
    """Return the terms by which a follow-up says what is asked. An answer must contain one of them."""
    return frozenset(term for term in topic_terms(question) if term not in _VAGUE)


def _describes(question: str, last: Turn) -> bool:
    """Whether a definite description names a kind of thing that the last question mentioned."""
    spoken = set(words(last.question))
    described = [_phrase(found[1]) for found in _DEFINITE.finditer(question)]
    return any(spoken.issuperset(words(phrase)) for phrase in described if topic_terms(phrase))


def _phrase(text: str) -> str:
    """Return the words of a text up to the first function word."""
    return " ".join(takewhile(lambda word: word not in _FUNCTION_WORDS, words(text)))


def _owns(question: str, names: Sequence[str]) -> bool:
    """Whether the only pronouns are possessive and a name stands before them: "Where did Hall take his degree?"."""
    pronouns = [found for found in _PRONOUN.finditer(question) if found[0].casefold() in _PERSONAL]
    only = all(found[0].casefold() in _POSSESSIVE for found in pronouns)
    return only and any(0 <= question.find(name) < pronouns[0].start() for name in names if pronouns)


def _carried(question: str, history: Sequence[Turn], store: GraphReader) -> list[str]:
    """Return the names last mentioned that the question does not contain; none from before the topic changed."""
    own = known_names(question, store)
    for place in range(len(history) - 1, -1, -1):
        turn = history[place]
        said = said_in_answer(turn, store)
        found = known_names(said, store)
        person = person_of(turn.question, said, found) if _WHO.match(turn.question) else None
        spoken = [*known_names(turn.question, store), *(found if person is None else [person])]
        carried = [name for name in dict.fromkeys(spoken) if name not in own][:MAX_NAMES]
        if carried:
            return carried
        if place > 0 and leaning(turn.question, history[place - 1], store) is None:
            break
    return []
