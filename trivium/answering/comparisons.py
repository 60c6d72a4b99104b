"""Questions that compare ("Who is older, Alan Turing or Ada Lovelace?", "Were Ada Lovelace and Lord Byron of the same
nationality?"). A sentence about one of the two decides nothing, so what the passages say of each is quoted instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from trivium.answering.judge_parts import Judged
from trivium.text.normalise import content_terms, without_closing_marks, words
from trivium.types import ChunkKind

_WHICH = frozenset(words("who whom whose which what when where"))
_WHETHER = frozenset(words("is are was were does do did has have had can could will would"))
_NOT_A_NAME = (
    _WHICH
    | _WHETHER
    | frozenset(words("and but or nor not so how why he she it they him her them this that these"))
)
"""Words with which a clause begins rather than a name."""
_BETWEEN = re.compile(r"(?P<comma>,)\s+|:\s+")
_COMMA = re.compile(r",\s+|,$")
_LIST = re.compile(r",\s+(?:and\s+)?|(?<!\s)\s++and\s+")
_OF_ALL = re.compile(r"(?<= )(?P<both>both)\b|(?<= )(?:of|from|in|by|at|on|have|had|share|shared) the same\b")
_OF_DEGREE = re.compile(r"\b(?:both|same|more|less|better|worse|(?<!the )(?:first|last)|[a-z]{2,}er)\b")
"""What no sentence about one of the things says. Also other words ("writer"), which only means that both are quoted."""
_THAN = re.compile(
    r"(?P<verb>is|are|was|were)\s+(?P<one>.{1,80}?)\s+(?P<degree>[a-z]{2,20}er|(?:more|less)\s+[a-z]{2,20})\s+than\s+"
    r"(?P<other>(?!\d|usual|before|normal|average|expected|planned|ever|last|in\s|on\s|at\s).{1,80})",
    re.IGNORECASE,
)
"""A comparison of two things that are around what is asked: "Is A cheaper than B?"."""
_DIFFERENCES = frozenset(words("difference differences differ compare comparison"))
_LONGEST = 8
"""Number of words of the longest name."""
_MOST = 6
"""Things that are compared at once."""
_BEFORE_A_NAME = re.compile(
    r"(?:(?:that|one|the one|those) of |(?:in|at|on|for|by|from|of|with|to) |the |an? )+", re.IGNORECASE
)
_PARENTHESIS = re.compile(r"\s{0,3}\([^()]{1,80}\)")
_LEADING = re.compile(
    r"((?:in|for|at|on|by|of|with|from)\s[^,]{1,60}),\s+(?=(?:which|who|what)\b)", re.IGNORECASE
)
"""Where something is compared, before it is asked: "In class C, which has the higher rate ...?"."""


class Comparison(NamedTuple):
    """What a question asks (``what``) of the things it compares, which it names."""

    what: str
    names: tuple[str, ...]


def comparison_of(question: str) -> Comparison | None:
    """Return the comparison that a question in English asks for; None for other questions. What it compares is at its
    end, the last thing after "or", and after a colon or, if it begins with who, which or the like, after a comma; or it
    follows the verb and is before "both" or "of the same"; or it is around "cheaper than".

    >>> comparison_of("Who is older, Alan Turing or Ada Lovelace?")
    Comparison(what='Who is older', names=('Alan Turing', 'Ada Lovelace'))
    >>> comparison_of("Which lasts longer: annual leave, or the sabbatical?").names
    ('annual leave', 'sabbatical')
    >>> comparison_of("Were Ada Lovelace and Lord Byron of the same nationality?")
    Comparison(what='Were of the same nationality', names=('Ada Lovelace', 'Lord Byron'))
    >>> comparison_of("Is the Basic plan cheaper than the Family plan?")
    Comparison(what='Is cheaper', names=('Basic plan', 'Family plan'))
    >>> comparison_of("What could be sued for under civil or criminal law?")
    """
    asked = _PARENTHESIS.sub("", without_closing_marks(question))
    if leading := _LEADING.match(asked):
        inner = comparison_of(asked[leading.end() :])
        return inner and inner._replace(what=f"{inner.what} {leading[1]}")
    head, between, both = asked.rpartition(" between ")
    if between and not _DIFFERENCES.isdisjoint(words(head)):
        return _comparison(head, both.split(" and "))
    if than := _THAN.fullmatch(asked):
        return _comparison(f"{than['verb']} {than['degree']}", [than["one"], than["other"]])
    before, joined, last = asked.rpartition(" or ")
    if not joined:
        return _of_all(asked)
    parted = _BETWEEN.search(before)
    if parted is None:
        return _between_verb_and_degree(before, last)
    what = before[: parted.start()]
    if parted["comma"] and words(what)[:1] and words(what)[0] not in _WHICH:
        return None  # "Is Titan a moon of Saturn, Jupiter or Neptune?" has a name before the comma
    return _comparison(what, [*_COMMA.split(before[parted.end() :]), last])


def decides(sentence: Judged, comparison: Comparison) -> bool:
    """Whether a sentence can be the answer: it names all the things and says something else of the question."""
    passage, analyzer = sentence.passage, sentence.passage.analyzer
    said = passage.said_by(sentence.text)
    of_table = (sentence.part.kind, passage.hit.kind) == ("block", ChunkKind.TABLE)  # which names many
    named = all(said.issuperset(analyzer.question_terms(name)) for name in comparison.names)
    return named and not of_table and not said.isdisjoint(analyzer.question_terms(comparison.what))


def about_each(comparison: Comparison, judge: Callable[[str], Sequence[Judged]]) -> list[Judged]:
    """Return the best part about each of the things, as far as there is one, no part twice: one that names it, or else
    what tells it apart from the others. ``judge`` orders the parts of passages by how probably they answer a question.
    """
    found: list[Judged] = []
    for name in comparison.names:
        judged = [
            one
            for one in judge(f"{comparison.what} {name}?")
            if all(one.text != other.text for other in found)
        ]
        beside = [one for one in judged if found and one.part.kind == found[0].part.kind == "row"]
        about = (
            [one for one in beside if one.passage is found[0].passage and _says(one, name)]
            or [one for one in judged if _says(one, name)]
            or [one for one in judged if _says(one, name, comparison.names)]
        )
        found += about[:1]
    return found


def _says(one: Judged, name: str, names: Sequence[str] = ()) -> bool:
    """Whether a part or its headings say a name, or what tells it apart from other ``names``."""
    terms_of = one.passage.analyzer.question_terms
    others = {term for other in names if other != name for term in terms_of(other)}
    asked = [term for term in terms_of(name) if term not in others]
    return bool(asked) and one.passage.said_by(one.text).issuperset(asked)


def _between_verb_and_degree(before: str, last: str) -> Comparison | None:
    """Return what two things are compared by that stand behind a verb: "Is R-01 or R-02 the roomier unit?", or at the
    end: "Is it cheaper in Lund or in Malmö?". The second has as many words as the first.
    """
    verb, *one = before.split()
    other, rest = last.split()[: len(one)], last.split()[len(one) :]
    if one and not rest:
        rest, one = one[: -len(other)], one[-len(other) :]
    if not one or verb.lower() not in _WHETHER | _WHICH or _OF_DEGREE.search(" ".join(rest)) is None:
        return None
    return _comparison(" ".join([verb, *rest]), [" ".join(one), " ".join(other)])


def _of_all(asked: str) -> Comparison | None:
    """Return what "both" or "the same" is asked of, which a verb precedes and "and" joins."""
    verb, _, rest = asked.partition(" ")
    marked = _OF_ALL.search(rest)
    if verb.lower() not in _WHETHER or marked is None:
        return None
    *names, last = _LIST.split(rest[: marked.start()].strip())
    said = last.split()
    count = len(
        said
    )  # words in lower case behind the last name belong to what is asked: "born in the same city"
    while count and said[count - 1][0].islower():
        count -= 1
    if marked["both"] and count < len(said):
        return None
    what = " ".join([verb, *said[count:], rest[marked.start() :]])
    return _comparison(what, [*names, " ".join(said[:count])])


def _comparison(what: str, names: Sequence[str]) -> Comparison | None:
    compared = tuple(_without_article(name) for name in names if name.strip())
    asking = words(what)
    if not 2 <= len(compared) <= _MOST or len(asking) < 2 or asking[0] not in _WHICH | _WHETHER:
        return None
    if not all(map(_may_be_a_name, compared)):
        return None
    return Comparison(what.strip(), compared)


def _may_be_a_name(text: str) -> bool:
    return (
        len(text.split()) <= _LONGEST
        and bool(content_terms(text))
        and _NOT_A_NAME.isdisjoint(words(text)[:1])
    )


def _without_article(name: str) -> str:
    name = name.strip().removesuffix(" one")
    before = _BEFORE_A_NAME.match(name)
    return name[before.end() :] if before else name
