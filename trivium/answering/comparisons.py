"""Questions that compare ("Who is older, Alan Turing or Ada Lovelace?", "Were Ada Lovelace and Lord Byron of the same
nationality?"). A sentence about one of the two decides nothing, so what the passages say of each is quoted instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from trivium.answering.extraction import Sentence
from trivium.answering.passages import NumberedPassage
from trivium.text import content_terms, terms, without_closing_marks, without_parenthesis, words

_ASKING = frozenset(
    words(
        "who whom whose which what when where is are was were does do did has have had can could will would"
    )
)
_BETWEEN = re.compile("[,:]")
_OF_ALL = re.compile(
    r"(?<= )(?:both|(?:of|from|in|by|at|on|have|had|share|shared) the same)\b", re.IGNORECASE
)
_OF_DEGREE = re.compile(
    r"\b(?:both|same|more|most|less|least|first|last|better|best|worse|worst|\w\w+(?:er|est))\b",
    re.IGNORECASE,
)
"""What no sentence about one of the things says. Also other words ("writer"), which only means that both are quoted."""
_LONGEST = 8
"""Number of words of the longest name."""
_MOST = 6
"""Things that are compared at once."""
_SHORT = 4
"""Things in lower case are compared only by questions of so few words besides."""
_ARTICLES = ("the ", "a ", "an ")


class Comparison(NamedTuple):
    """What a question asks (``what``) of the things it compares, which it names."""

    what: str
    names: tuple[str, ...]


def comparison_of(question: str) -> Comparison | None:
    """Return the comparison that a question in English asks for; None for other questions. What it compares is at its
    end, after a comma or colon and the last thing after "or", or before "both" or "of the same".

    >>> comparison_of("Who is older, Alan Turing or Ada Lovelace?")
    Comparison(what='Who is older', names=('Alan Turing', 'Ada Lovelace'))
    >>> comparison_of("Which lasts longer: annual leave, or the sabbatical?").names
    ('annual leave', 'sabbatical')
    >>> comparison_of("Were Ada Lovelace and Lord Byron of the same nationality?")
    Comparison(what='Were of the same nationality', names=('Ada Lovelace', 'Lord Byron'))
    >>> comparison_of("What could be sued for under civil or criminal law?")
    """
    asked = without_closing_marks(question)
    before, joined, last = asked.rpartition(" or ")
    if joined:
        what, *others = _BETWEEN.split(before)
        return _comparison(what, [*others, last])
    of_all = _OF_ALL.search(asked)
    if of_all is None:
        return None
    verbs, first = _parted(asked[: of_all.start()])
    return _comparison(f"{verbs} {asked[of_all.start() :]}", first.split(" and "))


def decides(sentence: Sentence, comparison: Comparison) -> bool:
    """Whether a sentence can be the answer: it names all the things and says something else of the question, or it says
    all that is asked ("Who discovered Titan, ...?") of one of them, unless that is a matter of degree.
    """
    passage, analyzer = sentence.passage, sentence.passage.analyzer
    said = passage.said_by(sentence.text)
    asked = analyzer.question_terms(comparison.what)
    named = [said.issuperset(analyzer.terms(name)) for name in comparison.names]
    if all(named):
        return not said.isdisjoint(asked)
    of_one = any(named) or any(_is_about(passage, name) for name in comparison.names)
    return of_one and said.issuperset(asked) and _OF_DEGREE.search(comparison.what) is None


def about_each(
    comparison: Comparison,
    offered: Sequence[NumberedPassage],
    rank: Callable[[str, Sequence[NumberedPassage]], Sequence[Sentence]],
) -> list[Sentence]:
    """Return the best sentence about each of the things, from different passages: from one of a page of its name, or
    else from one that names it. ``rank`` orders the sentences of passages by how well they answer a question.
    """
    found: list[Sentence] = []
    for name in comparison.names:
        others = [passage for passage in offered if all(passage is not one.passage for one in found)]
        about = [passage for passage in others if _is_about(passage, name)] or [
            passage for passage in others if passage.said.issuperset(passage.analyzer.terms(name))
        ]
        found += rank(f"{comparison.what} {name}?", about)[:1]
    return found


def _comparison(what: str, names: Sequence[str]) -> Comparison | None:
    compared = tuple(_without_article(name) for name in names if name.strip())
    asking = words(what)
    if not 2 <= len(compared) <= _MOST or len(asking) < 2 or asking[0] not in _ASKING:
        return None
    if any(len(name.split()) > _LONGEST or not content_terms(name) for name in compared):
        return None
    if len(what.split()) > _SHORT and any(name[0].islower() for name in compared):
        return None  # "... for any candidate, internal or external?"
    return Comparison(what.strip(), compared)


def _parted(text: str) -> tuple[str, str]:
    """Return the words with which a question begins, and what follows them."""
    said = text.split()
    count = next((place for place, word in enumerate(said) if word.lower() not in _ASKING), len(said))
    return " ".join(said[:count]), " ".join(said[count:])


def _is_about(passage: NumberedPassage, name: str) -> bool:
    title, named = set(terms(without_parenthesis(passage.hit.page))), set(terms(name))
    return bool(title) and (title <= named or named <= title)


def _without_article(name: str) -> str:
    name = name.strip()
    return next((name[len(one) :] for one in _ARTICLES if name.lower().startswith(one)), name)
