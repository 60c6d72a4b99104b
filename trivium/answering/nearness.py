"""Whether the passages found are about the question or about something else."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.answering.classifier import load_classifier
from trivium.answering.extraction import Sentence
from trivium.answering.passages import NumberedPassage
from trivium.answering.rarity import Rarity, names_and_numbers
from trivium.text.identifiers import identifiers_of
from trivium.text.languages import Analyzer
from trivium.text.normalise import terms

BEST = 3
"""Number of passages examined together: those that are quoted when no sentence answers."""
_FOR_A_MODEL = 1 / 2
"""A model is asked from this share of the threshold on, since it understands questions of several hops, of which a
passage says a part. At the threshold 6 of 260 of them are refused whose passages were found, at this share 3.
"""
_WORDS_ALONE = 1 / 6
"""The share without cosines. Of the sample's answerable questions, words alone refuse 12 of 112 at the threshold and 1 at
this share of it.
"""
_OF_ANY_COLLECTION = frozenset(
    terms(
        "summary summarise summarize overview outline main key point points idea ideas finding findings topic topics"
        " theme themes subject subjects document documents text texts passage passages page pages collection file files"
        " content contents cover covered mention mentioned give list describe tell explain translate say write"
    )
)
"""Words of requests that are about whatever the passages say ("Summarise this document")."""


def is_near(
    question: str,
    offered: Sequence[NumberedPassage],
    ranked: Sequence[Sentence],
    rarity: Rarity,
    embedder: str,
    *,
    for_model: bool = False,
) -> bool:
    """Whether passages are about the question, for the ``embedder`` of that name. ``for_model``: whether a language model
    should be asked, which understands other words for the same, and can also do what is asked of any text: so it is
    refused less.
    """
    if having_identifier(question, offered, rarity.analyzer):
        return True
    classifier = load_classifier("nearness", embedder)
    threshold = classifier.threshold
    if for_model:
        if _OF_ANY_COLLECTION.issuperset(rarity.content(question)):
            return True
        threshold *= _FOR_A_MODEL if classifier.needs_cosine else _WORDS_ALONE
    return classifier.probability(nearness_features(question, offered, ranked, rarity)) >= threshold


def having_identifier(
    question: str, offered: Sequence[NumberedPassage], analyzer: Analyzer
) -> list[NumberedPassage]:
    """Return the passages that have an identifier of the question, if the first one has it; else none. Who asks for a
    code by name is told of them alone.
    """
    asked = identifiers_of(question, analyzer)
    named = [passage for passage in offered if any(one.is_in(passage.said) for one in asked)]
    return named if named[:1] == list(offered[:1]) else []


def nearness_features(
    question: str, offered: Sequence[NumberedPassage], ranked: Sequence[Sentence], rarity: Rarity
) -> dict[str, float]:
    """Return the classifier's features of a question and its passages.

    ``covered`` is how much of the question's weight the best passage says, ``covered_together`` how much the best
    three say together, ``names`` how much of its names. ``rarest`` and ``second`` tell whether they say its rarest
    and second rarest term. ``cosine`` is the highest of a sentence, and ``best`` the probability that the best
    sentence answers. All in [0, 1] except the cosine, which is in [-1, 1].
    """
    asked = rarity.content(question)
    first = offered[:BEST]
    together = frozenset[str]().union(*(passage.said for passage in first))
    names = [term for name in names_and_numbers(question) for term in rarity.terms(name)]
    by_weight = sorted(asked, key=lambda term: -rarity.weights.get(term, 0.0))
    return {
        "covered": max((rarity.covered(asked, passage.said) for passage in first), default=0.0),
        "covered_together": rarity.covered(asked, together),
        "names": rarity.covered(names, together) if names else rarity.covered(asked, together),
        "rarest": float(by_weight[0] in together) if by_weight else 0.0,
        "second": float(by_weight[1] in together) if len(by_weight) > 1 else float(bool(by_weight)),
        "cosine": max((sentence.cosine for sentence in ranked), default=0.0),
        "best": ranked[0].probability if ranked else 0.0,
    }
