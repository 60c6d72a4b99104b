"""Finds the passages that support each sentence of a finished answer, whatever the answer itself cites."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trivium.answering.classifier import SupportClassifier
from trivium.answering.marks import cited, without_marks
from trivium.answering.passages import NumberedPassage
from trivium.answering.rarity import Rarity, names_and_numbers
from trivium.common.arrays import dots
from trivium.embedding.embedder import Embedder
from trivium.graph.protocols import TextSearch
from trivium.text.normalise import sentences, terms, words
from trivium.types import Statement

MAX_COMPARED = 3
"""Number of a passage's sentences that are compared with a statement: those that share most terms with it."""

Features = dict[str, float]

_OF_THE_ANSWER = frozenset(terms("answer answers question questions passage passages according"))
"""Words with which a model refers to its own answer. They need no support."""


def attribute(
    question: str,
    text: str,
    offered: Sequence[NumberedPassage],
    classifier: SupportClassifier,
    store: TextSearch,
    embedder: Embedder,
) -> tuple[Statement, ...]:
    """Return the statements of an answer's ``text``, which cites ``offered`` passages only.

    If no passage cited by a statement supports it, the best-supporting passage is cited as well, provided its
    probability reaches the classifier's threshold. A sentence without a claim ("The answer is:") needs no support.
    """
    spans = [span for span in sentences(text) if words(without_marks(text[slice(*span)]))]
    statements = [without_marks(text[slice(*span)]) for span in spans]
    rarity = Rarity.of(store, [question, *statements])
    by_statement = support_features(
        question, statements, offered, rarity, embedder if classifier.needs_cosine else None
    )
    return tuple(
        _attributed(
            span, cited(text[slice(*span)]), _probabilities(by_passage, offered, classifier), classifier
        )
        if claim_terms(statement, rarity)
        else Statement(*span, cited(text[slice(*span)]), 1.0, True)
        for span, statement, by_passage in zip(spans, statements, by_statement, strict=True)
    )


def support_features(
    question: str,
    statements: Sequence[str],
    offered: Sequence[NumberedPassage],
    rarity: Rarity,
    embedder: Embedder | None,
) -> list[list[Features]]:
    """Return the classifier's features for each pair (statements, passages).

    ``covered`` is how much of the statement the passage says, ``together`` how much one of its sentences says,
    ``new`` how much of what the question did not already say. ``names`` and ``numbers`` tell whether all of them
    occur in the passage, since a single wrong one makes the statement wrong. With an embedder, ``cosine`` is that of
    the closest sentence.
    """
    asked = frozenset(rarity.terms(question)) | _OF_THE_ANSWER
    features: list[list[Features]] = []
    compared: list[list[list[str]]] = []
    for statement in statements:
        claim = claim_terms(statement, rarity)
        named = names_and_numbers(statement)
        numbers = [word for word in named if any(c.isdigit() for c in word)]
        names = [word for word in named if word not in numbers]
        new = [term for term in claim if term not in asked]
        features.append([])
        compared.append([])
        for passage in offered:
            shares = [(rarity.covered(claim, passage.said_by(s)), s) for s in passage.sentences]
            best = sorted(shares, key=lambda share: -share[0])[:MAX_COMPARED]
            compared[-1].append([text for _, text in best])
            features[-1].append(
                {
                    "covered": rarity.covered(claim, passage.said),
                    "together": best[0][0] if best else 0.0,
                    "new": rarity.covered(new, passage.said),
                    "names": _none_missing(names, passage.words),
                    "numbers": _none_missing(numbers, passage.words),
                }
            )
    if embedder is not None:
        _add_cosines(statements, features, compared, embedder)
    return features


def claim_terms(statement: str, rarity: Rarity) -> list[str]:
    """Return the terms of a statement's claim; none if it makes no claim ("The answer is:")."""
    return [term for term in rarity.content(statement) if term not in _OF_THE_ANSWER]


def _probabilities(
    by_passage: Sequence[Features], offered: Sequence[NumberedPassage], classifier: SupportClassifier
) -> dict[int, float]:
    return {
        passage.number: round(classifier.probability(features), 6)
        for passage, features in zip(offered, by_passage, strict=True)
    }


def _attributed(
    span: tuple[int, int],
    named: tuple[int, ...],
    probabilities: dict[int, float],
    classifier: SupportClassifier,
) -> Statement:
    best = max((probabilities[number] for number in named), default=0.0)
    if best < classifier.threshold and probabilities:
        # The first of equally good ones: passages are in rank order.
        other = max(probabilities, key=lambda number: probabilities[number])
        best = probabilities[other]
        if best >= classifier.threshold:
            named = (*named, other)
    return Statement(*span, named, best, best >= classifier.threshold)


def _none_missing(wanted: Sequence[str], there: frozenset[str]) -> float:
    """Return 1 if all are present, 1/2 if one is missing, 1/3 if two are, and so on."""
    return 1 / (1 + sum(word not in there for word in wanted))


def _add_cosines(
    statements: Sequence[str],
    features: list[list[Features]],
    compared: list[list[list[str]]],
    embedder: Embedder,
) -> None:
    texts = list(
        dict.fromkeys(
            [*statements, *(text for by_passage in compared for best in by_passage for text in best)]
        )
    )
    if not texts:
        return
    places = {text: place for place, text in enumerate(texts)}
    vectors = embedder.embed(texts)
    for statement, by_passage, sentences_by_passage in zip(statements, features, compared, strict=True):
        own = vectors[places[statement]]
        for found, best in zip(by_passage, sentences_by_passage, strict=True):
            cosines = dots(vectors[[places[text] for text in best]], own) if best else np.zeros(1)
            found["cosine"] = float(cosines.max())
