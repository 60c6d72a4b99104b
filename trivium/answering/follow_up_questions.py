"""Recognises questions that lean on the conversation before them, and completes them, by rules for English.

A question leans if it *refers* to something said before ("When was he born?"), unless it says itself to what ("which
comet broke up before it hit a planet?"), or if it is *unfinished*: "And Venus?", "Why?", "Which is the largest?", "Tell
me more". Any other question is complete, however short.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from trivium.answering.named_in_answer import (
    ARTICLES,
    MOST_WORDS,
    is_person,
    known_names,
    name_of,
    rows_listed,
    said_in_answer,
    thing_of,
)
from trivium.answering.replaced_in_question import (
    COUNTED,
    FUNCTION_WORDS,
    WHICH_DO,
    topic_terms,
    with_end_replaced,
    with_name_replaced,
    with_number_replaced,
    with_thing_asked_for,
)
from trivium.graph.protocols import GraphReader
from trivium.text.normalise import (
    content_terms,
    sentences,
    terms,
    words,
)
from trivium.types import Turn

Leaning = Literal["refers", "unfinished"]

_MAX_NAMES = 3
"""Maximum number of names from the conversation that are added to a question."""

_ALIKE = tuple(map(frozenset, map(words, ("he him his", "she her", "it its", "they them their"))))
"""The pronouns that a name can be put in place of. Those of one set may mean the same in one question."""
_PERSONS, _SEVERAL = _ALIKE[0] | _ALIKE[1], _ALIKE[3]
_PRONOUNS = frozenset().union(*_ALIKE, ["hers", "theirs"])
_POSSESSIVE = frozenset(words("his her its their"))
_PRONOUN = re.compile(rf"(?<![\w'’])(?:{'|'.join(sorted(_PRONOUNS))})(?![\w'’])", re.IGNORECASE)
_ABBREVIATIONS = re.compile(r"\b(?:IT|US|WHO)\b")
"""Names that look like pronouns, unless the whole question is in capitals."""
_OPENING = re.compile(r"\A\s*(?:(?:and|but|so|or|also|ok(?:ay)?|then|now)\b[\s,]*)+", re.IGNORECASE)
_ELLIPTIC = re.compile(
    r"\A\s*(?:(?:and|but|or|also|ok|so|no|sorry|wait)\b[\s,]*)*(?:(?:what|how)\s+about\b|why\s+not\b|i\s+meant?\b|(?:and|or)\b)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"\s*(?:and|but|or)\b", re.IGNORECASE)
"""How a question begins that leans on the one before, if it says one word of its own ("And what's the price?")."""
_OF_WHAT = re.compile(
    r"\s*(?:which\s+(?:ones?\s+)?(?:of\s+(?:them|these|those)\s+)?(?:is|are|was|were|has|have|had|does|do|did)\b"
    r"|(?:in|at|on|from|by|to|for|with|since|until)\s+(?:which|what|how|whom)\b)",
    re.IGNORECASE,
)
"""Beginnings of questions that do not say of what: "Which is the largest?", "In which year?"."""
_OF_THESE = re.compile(r"(?<=\bwhich of )(?:them|these|those)\b", re.IGNORECASE)
"""What stands for the rows that were listed: "Which of them is the cheapest?"."""
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
_POINTING = re.compile(
    r"\b(?:this|these|those|latter|former)\b|\bthat\W*$|\bif\s+that\b|\b(?:from|of|mentioned)\s+(?:before|above|earlier)\b|\bback\s+to\b"
    r"|\b(?:than|do|does|did|after|before|about|of|in|on|by|for|from|with|like|to|is|was)\s+that\b(?!\s+\w+(?:s|ed)\b)"
    r"|(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbeen )\bthere\b(?!\s+(?:is|are|was|were)\b)",
    re.IGNORECASE,
)
"""Words other than pronouns that refer to something; not "is there"."""
_ORDINAL = re.compile(
    r"\b(?:next|previous|last|following|other|first|second|third|same)\s+(?:ones?|item|level|type|category|row|step)\b"
    r"|\b(?:the|another)\s+ones?\b(?!\s+(?:that|which|who|from|of|in|on|with|for|we|you|they|i)\b)"
    r"|\b(?:that|which)\s+ones?\W*$|\b(?:who|what|where|anything|anyone|nothing)\s+else\b"
    r"|\bthe\s+(?:other|others|same|next|previous|second|third|last|first)\W*$",
    re.IGNORECASE,
)
_FOR_A_PERSON = re.compile(r"\W*(?:\w{2,5}\s+){0,2}who(?:m|se)?\b", re.IGNORECASE)
_FOR_A_THING = re.compile(r"\W*(?:\w{2,5}\s+){0,2}(?:which|what)\b", re.IGNORECASE)
"""Beginnings of questions for something that a later question may speak of: "Which spacecraft visited Pluto?"."""
_ABOUT_A_NAME = re.compile(
    r"\s*(?:who|what)\s+(?:is|was|are|were)\b(?!\s+(?:it|the\s+first)\b)", re.IGNORECASE
)
"""Beginnings of questions about what they name: "Who was Alan Turing?"."""
_ABOUT_A_THING = re.compile(
    r"(?:when|where|what) (?:is|are) ((?:the|our)(?: [^\s?.!,;]+){1,5})[?.! ]*", re.IGNORECASE
)
"""Questions about a thing without a name: "When is the summer party?"."""
_IMPERSONAL = re.compile(
    r"\bit\s+(?:(?:is|was|take|takes|took|costs?|mean|true|possible)\s+){1,2}(?:that|to)\b"
    r"|\b(?:is|was)\s+it\s+(?:(?:allowed|permitted|forbidden|legal|necessary|better|cheaper)\s+)?to\b"
    r"|\b(?:time\s+is|will)\s+it\b|\bit\s+(?:rain|snow)\w*",
    re.IGNORECASE,
)
"""Where "it" stands for nothing: "How long does it take to reach Mars?"."""
_INTRODUCES = re.compile(
    r"\b(?:an?|another|some|his|her|its|their)\s+\w|\bof\b|\b(?:do|does|did)\s+(?:the|our)\s+(?-i:[a-z])",
    re.IGNORECASE,
)
"""Questions that speak of another thing than the one they name: "Did a spacecraft land on Mars?", "When does the ferry
reach Velm?"."""
_NAMED_BEHIND = re.compile(r",\s*(?:the|our)\s[^,?]{3,80}\??\s*$", re.IGNORECASE)
"""An end that says what a pronoun means: "How old is he, the finder of the moons?"."""
_BARE = re.compile(r"\W*(?:(?:and|but|or|so)\s+)?(when|where|why|who|how)\W*\Z", re.IGNORECASE)
_ASKED = re.compile(
    r"\A\W{0,5}(?:when|where|why|who|how)(?=\s+(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b)",
    re.IGNORECASE,
)
"""Questions of one word, and what stands for it in a question before: "And where?" after "When is the party?"."""


def leaning(question: str, store: GraphReader) -> Leaning | None:
    """Return how a question leans on the conversation before it; None if it is complete."""
    rest = _spelled_out(question[_end(_OPENING, question) :])
    said, topic = words(rest), topic_terms(rest)
    if not topic:
        # "How large are they?" asks about what was mentioned; "when did he do that?" about what was asked before.
        return "refers" if content_terms(rest) and not _PRONOUNS.isdisjoint(said) else "unfinished"
    names = known_names(question, store)
    if WHICH_DO.match(question):
        return "unfinished"
    if not names and (_ORDINAL.search(rest) or (len(topic) == 1 and _OF_WHAT.match(rest))):
        return "unfinished"
    end = _end(_ELLIPTIC, question)
    if end and _ASKING.isdisjoint(words(question[end:])):
        return "unfinished" if _POSSESSIVE.isdisjoint(words(question[end:])) else "refers"
    says_little = _GOES_ON.match(question) and len({*topic} - {"s"}) == 1 and not names
    return "refers" if says_little or _POINTING.search(rest) or _has_pronoun(rest, names) else None


def complete(question: str, history: Sequence[Turn], store: GraphReader) -> str:
    """Return a question completed from the conversation before it; unchanged if it leans on nothing.

    A pronoun is replaced by what the last answer was about, if only one thing can be meant; else the names and words last
    spoken of are added. An unfinished question is put in the place of the part of the last question that it replaces, or
    behind it.
    """
    kind = leaning(question, store) if history else None
    if kind is None:
        return question
    listed = _OF_THESE.search(question)
    if listed is not None and len(names := rows_listed(history)) > 1:
        return (
            f"{question[: listed.start()]}{', '.join(names[:-1])} and {names[-1]}{question[listed.end() :]}"
        )
    clear = with_subject(question, history, store) if kind == "refers" else None
    if clear is not None:
        return clear[0]
    before = complete(history[-1].question, history[:-1], store)
    if kind == "refers":
        return _with_names(question, history[-1], before, store)
    if asks_for_more(question):
        return before
    bare = _BARE.fullmatch(question)
    if bare is not None and _ASKED.match(before):
        return _ASKED.sub(bare[1].capitalize(), before, count=1)
    replaced = with_thing_asked_for(question, before) or _replaced(question, history[-1], before, store)
    # What was unfinished itself is left out: the last complete question says what is asked.
    first = before[slice(*spans[0])] if (spans := sentences(before)) else before
    return replaced or f"{first.rstrip()} {question.strip()}"


def _replaced(question: str, last: Turn, before: str, store: GraphReader) -> str | None:
    """Return the previous question with what an unfinished one says in place of its name, number or end."""
    rest = question[_end(_ELLIPTIC, question) :]
    # A question that refers to something else is about another thing than the one before it.
    named = rest != question and (
        known_names(last.question, store) or leaning(last.question, store) != "refers"
    )
    return (
        (with_name_replaced(rest, before, store) if named else None)
        or with_number_replaced(rest, before)
        or (None if _ORDINAL.search(question) else with_end_replaced(rest, before))
    )


def goes_on(question: str) -> bool:
    """Whether a question begins as one that goes on with what was said ("And how much for two?")."""
    return _end(_OPENING, question) > 0


def asks_for_more(question: str) -> bool:
    """Whether a question in a conversation asks for more of the same ("Tell me more")."""
    return (_ASKING | _PRONOUNS).isdisjoint(words(question)) and not topic_terms(question)


def own_terms(question: str) -> frozenset[str]:
    """Return the terms that an answer to an unfinished question has to say: what stands in place of something ("And
    Venus?"), but not "the other one" or what asks ("In which year?").
    """
    asks = not _ASKING.isdisjoint(words(question)) or _ORDINAL.search(question)
    return frozenset() if asks else frozenset(topic_terms(question))


def means_a_person(question: str) -> bool:
    """Whether a question speaks of somebody without a name ("When was she born?"): by itself it is about nobody."""
    return not _PERSONS.isdisjoint(words(question))


def with_subject(question: str, history: Sequence[Turn], store: GraphReader) -> tuple[str, str] | None:
    """Put what the last answer was about in place of the first pronoun of a question ("When was he born?"), and return it
    behind the question. None if the question refers to anything else, or if it is not clear what is meant.
    """
    rest = question[_end(_OPENING, question) :]
    plain = _spelled_out(rest)
    pronoun = _PRONOUN.search(plain)
    found = {word.casefold() for word in _PRONOUN.findall(plain)}
    if (
        pronoun is None
        or plain != rest
        or not any(found.issubset(alike) for alike in _ALIKE)
        or any(other.search(rest) for other in (_POINTING, _ORDINAL))
    ):
        return None
    said = pronoun[0].casefold()
    subject = _subject(history, store, said)
    if subject is None or subject in rest:
        return None
    owns = said in _POSSESSIVE
    if said == "her":  # whose, or whom
        before, after = words(rest[: pronoun.start()])[-1:], words(rest[pronoun.end() :])[:1]
        owns = after != [] and FUNCTION_WORDS.issuperset(before) and FUNCTION_WORDS.isdisjoint(after)
    ending = "" if not owns else "'" if subject.endswith("s") else "'s"
    return f"{rest[: pronoun.start()]}{subject}{ending}{rest[pronoun.end() :]}", subject


def _subject(history: Sequence[Turn], store: GraphReader, pronoun: str) -> str | None:
    """Return the one thing or person that the last turn was about, as written there; None if there may be more: what
    the answer is about, or the only name in a question that asks about it and introduces nothing else.
    """
    last, earlier = history[-1], history[:-1]
    person = pronoun in _PERSONS
    said = said_in_answer(last, store)
    thing = None if person else thing_of(last.question, said)
    if thing is None:
        question, before = last.question, None
        if earlier and leaning(question, store) is not None:
            clear = with_subject(question, earlier, store)
            if clear is None:
                return None
            question, before = clear
        names = list({name.casefold(): name for name in reversed(known_names(question, store))}.values())
        if person:
            names = [name for name in names if is_person(name, store)]
        asks_who, asks_which = _FOR_A_PERSON.match(question), _FOR_A_THING.match(question)
        about = _ABOUT_A_NAME.match(question) is not None and len(names) == 1
        if about or (names and not (asks_who if person else asks_which)):
            thing = names[0] if len(names) == 1 and (person or not _INTRODUCES.search(question)) else None
        elif asks_which or (person and asks_who):
            said = said if asks_who else " ".join(said.split()[:MOST_WORDS])
            thing = name_of(question, said, known_names(said, store), person=person)
        elif not person:
            described = _ABOUT_A_THING.fullmatch(" ".join(question.split()))
            thing = described[1] if before is None and described is not None else before
    several = thing is not None and thing.endswith("s") and words(thing)[0] in ARTICLES
    return thing if several or pronoun not in _SEVERAL else None


def _with_names(question: str, last: Turn, before: str, store: GraphReader) -> str:
    """Return a question with the names last mentioned and the topic of the question before in brackets."""
    own, said = known_names(question, store), said_in_answer(last, store)
    found = known_names(said, store)
    person = name_of(last.question, said, found) if _FOR_A_PERSON.match(last.question) else None
    asked = known_names(before, store)
    if not asked and _GOES_ON.match(question) and _PRONOUNS.isdisjoint(words(question)):
        found = []  # "and what if that happens?" is about what was asked
    spoken = [*asked, *(found if person is None else [person])]
    names = [name for name in dict.fromkeys(spoken) if name not in own][:_MAX_NAMES]
    if not names:
        return f"{before.rstrip()} {question.strip()}"
    known = set(terms(f"{question} {' '.join(names)}"))
    topic = [
        word.strip("()?!.,; ")
        for word in COUNTED.sub(r"\1", before).split()
        if topic_terms(word) and known.isdisjoint(terms(word))
        if not _end(_ELLIPTIC, question)  # "And its mass?" asks for something else
    ]
    end = "?" if question.rstrip().endswith("?") else ""
    return f"{question.rstrip(' ?')} ({', '.join([*names, ' '.join(topic)]).rstrip(', ')}){end}"


def _spelled_out(question: str) -> str:
    """Return a question without words that look like pronouns: names in capitals, and "it" that stands for nothing."""
    named = question if question.isupper() else _ABBREVIATIONS.sub("department", question)
    return _IMPERSONAL.sub(" ", named)


def _has_pronoun(question: str, names: Sequence[str]) -> bool:
    """Whether a question has a pronoun that does not mean something in the question itself: in an earlier clause, what
    is asked for ("which planet lost its ..."), the owner before it ("Where did Hall take his degree?"), or what stands
    behind it ("how old is he, the finder of the moons?").
    """
    if _NAMED_BEHIND.search(question):
        return False
    for pronoun in _PRONOUN.finditer(question):
        before = [word for word in words(question[: pronoun.start()]) if word != "s"]
        begins = next((at for at in range(len(before) - 1, 0, -1) if before[at] in _CLAUSE), 0)
        clause = before[:begins]
        in_clause = topic_terms(" ".join(clause)) and _PRONOUNS.isdisjoint(clause)
        asked_for = before[:1] in (["which"], ["what"], ["who"]) and topic_terms(" ".join(before))
        owned = asked_for or any(name in question[: pronoun.start()] for name in names)
        # "which body throws back more of the light it gets?"
        verb = words(question[pronoun.end() :])[:1]
        acts = verb and verb[0].endswith(("s", "ed")) and verb[0] not in FUNCTION_WORDS
        again = acts and before[:1] == ["which"] and _ASKING.isdisjoint(before[1:])
        if not (in_clause or again or (owned and pronoun[0].casefold() in _POSSESSIVE)):
            return True
    return False


def _end(pattern: re.Pattern[str], text: str) -> int:
    """Return where a match at the beginning of a text ends; 0 if there is none."""
    return found.end() if (found := pattern.match(text)) else 0
