"""Finds terms that a document defines, and their uses, without a model.

A term is defined by ``"Net Revenue" means ...``, by ``Acme Corporation (the "Company")``, and in glossaries and lists
of definitions by ``Net Revenue: ...``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trivium.parser.gazetteer import Gazetteer, is_name
from trivium.text.normalise import normalise_name, normalise_title

MAX_TERMS = 40
"""Maximum number of terms per document; the most frequent ones are kept."""
_MAX_WORDS = 6
_FEW_PASSAGES = 20
_MAX_SHARE = 0.25
"""A term in a larger share of the passages does not distinguish them. Not applied to few passages."""

_QUOTED = re.compile(r"[\"“]([^\"“”\n]{2,60})[\"”]")
_MEANS = re.compile(
    r"[\"“]([^\"“”\n]{2,60})[\"”],?\s+(?:shall\s+)?(?:means?|refers?\s+to|is\s+defined\s+as|has\s+the\s+meaning)\b"
)
_PARENTHESIS = re.compile(r"\(([^()\n]{4,160})\)")
_WORDS_BESIDE = """
the a an or and each any as its our collectively together individually hereinafter hereafter hereby referred to called
also with subsidiaries affiliates consolidated successors
"""
_CONNECTING = frozenset(_WORDS_BESIDE.split())
_GLOSSARY_LINE = re.compile(
    r"^[ \t]*+(?:[-*•][ \t]++)?+([^\s:–—][^\n:–—]{1,59}?)(?::|(?<![ \t])[ \t]++(?:[–—-]|means\b))[ \t]++\S",
    re.M,
)
_GLOSSARY = re.compile(r"\b(?:glossary|definitions|defined terms|terminology|abbreviations|acronyms)\b", re.I)


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a document. ``glossary``: it is in a list of definitions."""

    text: str
    glossary: bool = False


def is_glossary(heading: str) -> bool:
    """Whether the text under a heading consists of definitions.

    >>> is_glossary("1.1 Defined Terms"), is_glossary("Terms of payment")
    (True, False)
    """
    return _GLOSSARY.search(heading) is not None


def used_terms(passages: Sequence[Passage]) -> list[list[str]]:
    """Return for each passage the distinct terms that the document defines and the passage mentions, in order.

    A term must be mentioned by at least two passages. A term defined in running text must be capitalised, as in its
    definition.

    >>> used_terms([Passage('"Net Sales" means sales less returns.'), Passage("Net Sales grew.")])
    [['Net Sales'], ['Net Sales']]
    """
    loose: dict[str, bool] = {}
    for passage in passages:
        for term, any_case in _defined(passage):
            loose[term] = loose.get(term, False) or any_case
    if not loose:
        return [[] for _ in passages]
    gazetteer = Gazetteer((term, term) for term in loose)
    used = [
        list(
            dict.fromkeys(
                mention.target
                for mention in gazetteer.find(passage.text)
                if loose[mention.target] or passage.text[mention.start].isupper()
            )
        )
        for passage in passages
    ]
    counts = Counter(term for terms in used for term in terms)
    most = len(passages) * _MAX_SHARE if len(passages) > _FEW_PASSAGES else len(passages)
    fitting = [term for term, count in counts.items() if 2 <= count <= most]
    kept = set(sorted(fitting, key=lambda term: (-counts[term], term))[:MAX_TERMS])
    return [[term for term in terms if term in kept] for terms in used]


def _defined(passage: Passage) -> Iterator[tuple[str, bool]]:
    """Yield the terms that a passage defines, and whether case is ignored."""
    for match in _MEANS.finditer(passage.text):
        yield from _term(match[1])
    for match in _PARENTHESIS.finditer(passage.text):
        terms = _QUOTED.findall(match[1])
        rest = re.findall(r"\w+", _QUOTED.sub(" ", match[1])) if terms else ()
        if all(word.lower() in _CONNECTING for word in rest):
            for term in terms:
                yield from _term(term)
    if passage.glossary:
        for match in _GLOSSARY_LINE.finditer(passage.text):
            yield from _term(match[1], any_case=True)


def _term(text: str, any_case: bool = False) -> Iterator[tuple[str, bool]]:
    term = normalise_title(text.strip(' \t,.;:"“”*_'))
    key = normalise_name(term)
    if is_name(key) and key.count(" ") < _MAX_WORDS and (any_case or term[0].isupper()):
        yield term, any_case
