"""How probably passages are about a question, by an embedder of many languages.

The trees for embedders without a fit of their own (:mod:`trivium.answering.judge_parts`) know words alone. These cannot
tell it in a language whose forms of words they do not know, nor where question and passages are in two. Cosines can, but
they are lower across languages. So ``nearness.json`` has a regression for each of the two cases, with a constant for each
script, fitted by ``experiments/languages/refusal.py``. Passages are near from odds of .4 / .6.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from trivium.answering.answer_parts import Part
from trivium.answering.evidence import of_meaning
from trivium.common.log_odds import probability_of
from trivium.embedding.embedder import Embedder
from trivium.graph.protocols import SearchStore
from trivium.text.languages import ANY_LANGUAGE

_SAMPLED = 200
"""Characters at the beginning of a passage by which its script is told."""
_IDEOGRAPHS = frozenset(["HIRAGANA", "KATAKANA", "HANGUL"])
_SHARED = ("LATIN", "CJK")
"""Scripts that several languages with constants or words of their own are written in."""
_OWN_LETTERS = {
    "VIETNAMESE": frozenset("ơưđ").union(map(chr, range(0x1EA0, 0x1EFA))),
    "TURKISH": frozenset("ığş"),
}
"""Languages in Latin script with constants of their own, by letters that hardly any other has."""
_LEAST_SHARE = 0.03
"""The share of such letters from which a text is in that language."""


@cache
def _fitted() -> dict[str, Any]:
    fitted: dict[str, Any] = json.loads(files(__package__).joinpath("nearness.json").read_text("utf-8"))
    return fitted


def knows_languages(embedder: str) -> bool:
    """Whether an embedder tells by its cosines what passages of many languages are about."""
    return embedder in _fitted()


def nearness(
    question: str,
    rows: Sequence[Mapping[str, float]],
    parts: Sequence[Part],
    embedder: Embedder,
    store: SearchStore | None,
) -> float:
    """Return how probably passages are about a question, in [0, 1]: by the features of words (``rows``) and those of
    meaning of all their ``parts``. The embedder is one that :func:`knows_languages`.
    """
    passages = list({part.passage.number: part.passage for part in parts}.values())
    asked, said = _script(question), _script(" ".join(one.body[:_SAMPLED] for one in passages))
    language = ANY_LANGUAGE.language_of(question)
    told = None if said not in _SHARED else language
    across = asked != said or told not in (None, *passages[0].analyzer.languages)
    fitted = _fitted()[embedder.identity.name]["across" if across else "within"]
    constants = fitted["constants"]
    odds = constants.get(f"{asked}>{said}" if across else said, constants[""])
    meant = of_meaning(question, parts, embedder, store)
    for name, weight in fitted["weights"].items():
        odds += weight * max(row[name] for row in (meant if name in meant[0] else rows))
    return probability_of(odds)


def _script(text: str) -> str:
    """Return the first word of the Unicode names of most letters of a text, or the language that letters show."""
    letters = [one for one in text.lower() if one.isalpha()]
    for language, own in _OWN_LETTERS.items():
        if letters and sum(one in own for one in letters) >= _LEAST_SHARE * len(letters):
            return language
    names = Counter(unicodedata.name(one, "").split(" ")[0] for one in letters)
    script = names.most_common(1)[0][0] if names else "LATIN"
    return "CJK" if script in _IDEOGRAPHS else script
