"""Recognises questions in a language that the collection does not have: whether it answers them cannot be told by
words.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from trivium.embedding.manifest import advise_many_languages, english_only
from trivium.text.languages import NAMES, Analyzer, function_words, written_words

MIN_WORDS = 2
"""Minimum number of function words of a language: one may be part of a name ("La Paz")."""
MIN_SHARE = 0.3
"""Minimum share of function words of the language in the question."""
_SHOWS_LANGUAGE = re.compile(r"^\W*¿|[\u0400-\u04ff]")
"""Spanish and Cyrillic marks, beside which one function word is enough."""
ANY_LANGUAGE = Analyzer(tuple(NAMES))


def foreign_language(question: str, languages: Collection[str]) -> str | None:
    """Return the language of a question (its code) if it is none of the ``languages``; None if it is, or may be, in one
    of them. Questions are short, so a single function word of those languages decides.

    >>> foreign_language("Wer hat die Monde des Mars entdeckt?", ["en"])
    'de'
    >>> foreign_language("Who sang Je ne regrette rien?", ["en"])
    """
    best = ANY_LANGUAGE.language_of(question)
    if best is None or best in languages:
        return None
    own = function_words(best)
    if not own:
        return best  # recognised by its characters
    asked = written_words(question)
    known = frozenset[str]().union(*map(function_words, languages))
    if any(word in known and word not in own for word in asked):
        return None
    # Single letters are initials, too.
    found = {word for word in asked if word in own - known and len(word) > 1}
    enough = (
        len(found) >= max(MIN_WORDS, MIN_SHARE * len(asked)) or _SHOWS_LANGUAGE.search(question) is not None
    )
    return best if enough and found else None


def language_warnings(language: str, languages: Collection[str], embedder: str) -> tuple[str, ...]:
    """Return a warning, or nothing if the ``embedder`` can find passages in other languages than the question's."""
    if not english_only(embedder):
        return ()
    others = " and ".join(NAMES[code] for code in languages)
    return (
        f"the question seems to be in {NAMES[language]}, the documents are in {others}, and the store's embedder,"
        f" {embedder}, knows English only: ask in {others}, or build a store with an embedder of many languages"
        f" ({advise_many_languages()})",
    )
