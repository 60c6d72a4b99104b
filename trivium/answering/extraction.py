"""Answers without a language model, by the sentences of the best passages that most probably answer the question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from trivium.answering.classifier import load_classifier
from trivium.answering.passages import NumberedPassage
from trivium.answering.rarity import Rarity, names_and_numbers
from trivium.answering.sentence_vectors import vectors_of
from trivium.common.arrays import dots
from trivium.embedding.embedder import Embedder
from trivium.graph.protocols import SearchStore
from trivium.text.normalise import terms, without_closing_marks, words

MAX_SENTENCES = 3
MAX_EMBEDDED = 14
"""Number of sentences to embed: those with most of the question's words. More took longer without any gain."""
MIN_COMPARED = 6
"""Minimum number of sentences for one to stand out from the others."""
SHARE_OF_BEST = 0.5
"""Further sentences need at least this share of the best one's probability."""
_SAME = 0.8
"""Of sentences that share this much of their terms, only the first is used."""
_MAX_NAMES = 4
_QUANTITIES = words("many much far long old big tall high deep large heavy fast hot cold")
_NUMBERS = frozenset(
    [("how", quantity) for quantity in _QUANTITIES]
    + [("what", "year"), ("which", "year"), ("what", "date"), ("what", "percentage")]
)
"""Phrases that ask for a number."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage, the probability that it answers the question, and their cosine (0 without an
    embedder).
    """

    passage: NumberedPassage
    text: str
    probability: float
    cosine: float = 0.0


def choose(ranked: Sequence[Sentence], threshold: float) -> list[Sentence]:
    """Return up to three sentences that answer the question, most probable first; none if the first of those
    ``ranked`` is below the threshold.
    """
    chosen: list[Sentence] = []
    for sentence in ranked:
        first = ranked[0].probability
        if first < threshold or sentence.probability < SHARE_OF_BEST * first or len(chosen) == MAX_SENTENCES:
            break
        if not any(_alike(sentence.text, other.text) for other in chosen):
            chosen.append(sentence)
    return chosen


def rank(
    question: str,
    offered: Sequence[NumberedPassage],
    rarity: Rarity,
    embedder: Embedder,
    store: SearchStore | None = None,
) -> tuple[list[Sentence], float]:
    """Return the classified sentences, most probable first, and the probability from which one counts as an answer.
    With the ``store`` of the passages, its sentence vectors are reused.
    """
    name = embedder.identity.name
    needs_cosine = load_classifier("sentence", name).needs_cosine
    rows = features(question, offered, rarity, embedder if needs_cosine else None, store)
    classifier = load_classifier("sentence" if len(rows) >= MIN_COMPARED else "sentence_alone", name)
    found = [
        Sentence(passage, text, classifier.probability(row), row.get("cosine", 0.0))
        for passage, text, row in rows
    ]
    return sorted(found, key=lambda s: (-round(s.probability, 6), s.passage.number)), classifier.threshold


def features(
    question: str,
    offered: Sequence[NumberedPassage],
    rarity: Rarity,
    embedder: Embedder | None,
    store: SearchStore | None = None,
) -> list[tuple[NumberedPassage, str, dict[str, float]]]:
    """Return the features of the sentences with most of the question's words. ``cosine`` is included only with an
    embedder.
    """
    asked = rarity.content(question)
    candidates = [
        (rarity.covered(asked, passage.said_by(text)), passage, text)
        for passage in offered
        for text in (*passage.sentences, *(s for s in passage.stated if _answers(asked, passage, s)))
    ]
    best = sorted(candidates, key=lambda row: (-row[0], row[1].number))[:MAX_EMBEDDED]
    rows = [
        (passage, text, {"covered": covered, **_of_words(question, asked, passage, text, rarity)})
        for covered, passage, text in best
    ]
    if embedder is not None and rows:
        vectors = vectors_of([(passage, text) for passage, text, _ in rows], embedder, store)
        # Some embedders treat a closing mark as a word, which would change the answer.
        asked_for = embedder.embed_query(without_closing_marks(question))
        for (_, _, row), cosine in zip(rows, dots(vectors, asked_for).tolist(), strict=True):
            row["cosine"] = cosine
    # How far a sentence exceeds the mean: an answer stands out, while all text on the topic is close to the question.
    for name in ("covered", "cosine"):
        values = [row[name] for _, _, row in rows if name in row]
        for (_, _, row), value in zip(rows, values, strict=False):
            row[f"{name}_lead"] = value - sum(values) / len(values)
    return rows


def _answers(asked: Sequence[str], passage: NumberedPassage, heading: str) -> bool:
    """Whether a heading has terms of the question and others: one with the same terms only repeats the question."""
    said = set(passage.analyzer.terms(heading))
    return not said.isdisjoint(asked) and len(said.difference(asked)) > 1


def _of_words(
    question: str, asked: Sequence[str], passage: NumberedPassage, text: str, rarity: Rarity
) -> dict[str, float]:
    known = set(words(question))
    names = [term for name in names_and_numbers(question) for term in rarity.terms(name)]
    new_names = sum(word not in known for word in names_and_numbers(text))
    wants_number = _wants_number(question)
    has_number = any(character.isdigit() for character in text)
    return {
        "covered_by_text": rarity.covered(asked, frozenset(rarity.terms(text))),
        "covered_by_passage": rarity.covered(asked, passage.said),
        "rarest": float(rarity.rarest(asked) in passage.said),
        "names": rarity.covered(names, passage.said) if names else rarity.covered(asked, passage.said),
        "log_rank": math.log(passage.number),
        "number_found": float(wants_number and has_number),
        "number_missing": float(wants_number and not has_number),
        "new_names": min(new_names, _MAX_NAMES) / _MAX_NAMES,
        "nobody": float("who" in words(question)[:3] and new_names == 0),
        "log_length": math.log(1 + len(text)),
    }


def _wants_number(question: str) -> bool:
    asked = words(question)
    return asked[:1] == ["when"] or not _NUMBERS.isdisjoint(pairwise(asked))


def _alike(sentence: str, other: str) -> bool:
    first, second = set(terms(sentence)), set(terms(other))
    return len(first & second) >= _SAME * min(len(first), len(second))
