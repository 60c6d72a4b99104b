"""How probably each part of the passages read answers a question.

Boosted trees, fitted by ``experiments/answers`` for each embedder on questions of many collections, read the features of
:mod:`trivium.answering.evidence`. They are kept as arrays (``evidence_trees/EMBEDDER.safetensors``) and evaluated here
with NumPy. A regression on what all parts together have tells whether the passages are about the question at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load

from trivium.answering.answer_parts import Part, parts_of
from trivium.answering.asked_kind import asks_for_one, lacks_kind
from trivium.answering.evidence import as_rows, features, of_all
from trivium.answering.follow_up_questions import own_terms
from trivium.answering.nearness import knows_languages, nearness
from trivium.answering.passages import NumberedPassage
from trivium.answering.rarity import Rarity, names_and_numbers
from trivium.answering.reader_network import load_reader
from trivium.answering.replaced_in_question import topic_terms
from trivium.answering.steps import asks_for_steps, begins_clause, lists_of
from trivium.common.arrays import dots
from trivium.common.log_odds import probability_of
from trivium.embedding.embedder import Embedder
from trivium.graph.protocols import SearchStore
from trivium.text.identifiers import identifiers_of
from trivium.text.languages import Analyzer
from trivium.text.normalise import terms, without_closing_marks, words
from trivium.types import ChunkKind, EmbedderIdentity

NO_EMBEDDER = "none"
"""Key of what was fitted to words only, for embedders without a fit of their own: the scale of cosines differs."""
_NEARLY = 0.5
"""Share of the probability of the best part from which another one is preferred for its form."""
_OF_TABLE = 0.2
"""Share of the probability of a table, or an infobox, from which its most probable row is preferred: a whole one answers
little.
"""
_AS_PROBABLE = 0.8
_SHORTER = 0.7
_AS_SURE, _HARDLY = 1.0, 0.25
"""By how much less the log-odds of a sentence may be than those of a list or block around it, and of two sentences, that
it is preferred to.
"""
_OF_ANY_COLLECTION = frozenset(
    terms(
        "summary summarise summarize overview outline main key point points idea ideas finding findings topic topics"
        " theme themes subject subjects document documents text texts passage passages page pages collection file files"
        " content contents cover covered mention mentioned give list describe tell explain translate say write"
    )
)
"""Words of requests that are about whatever the passages say ("Summarise this document")."""
_READ = 6
"""Number of parts, the most probable ones, that are read together with the question: more gain nothing."""
_NO_RIVAL = -4.0
"""The least log-odds of another part that might answer."""
_ALONE = 0.3
"""The probability of a part from which passages are about a question though they do not seem to be, without a reader."""
_GAIN, _GAIN_OF_COSINE = 0.0, 0.02
"""By how much a part that says in other words what is asked is nearer to the question than to what is left of it without
the words for that: in log-odds of the reader, or as cosine.
"""
_SUFFIX = re.compile(r"['’]\w+\W*\Z")
_FOR_A_MODEL = 0.5
"""Share of the threshold of nearness from which a language model is asked, which understands other words for the same."""


class Judged(NamedTuple):
    """A part, the probability, in [0, 1], that it answers the question, and the share of the question's weight that it
    says with its headings.
    """

    part: Part
    probability: float
    covered: float = 0.0
    lacks: bool = False
    """Whether it has no value of the kind that is asked for."""

    @property
    def passage(self) -> NumberedPassage:
        """The passage of the part."""
        return self.part.passage

    @property
    def text(self) -> str:
        """The text of the part."""
        return self.part.shown

    def opens(self, other: Judged) -> bool:
        """Whether another part begins with its lines, and not only with a sentence of them."""
        body = self.passage.body
        begins = not body[other.part.start : self.part.start].strip()
        return begins and body[self.part.end : self.part.end + 1] in ("", "\n")


class Judgement(NamedTuple):
    """All parts, the most probable first, and how probably the passages are about the question, in [0, 1]."""

    parts: list[Judged]
    nearness: float

    @property
    def best(self) -> float:
        """The probability of the most probable part, 0 without parts."""
        return self.parts[0].probability if self.parts else 0.0


@dataclass(frozen=True, slots=True)
class Trees:
    """Boosted trees as arrays (trees, nodes): a node asks whether a feature is at most ``threshold`` and goes on to
    ``left`` or else to ``right``; a leaf (``feature`` -1) adds its ``value`` to the log-odds. ``of_all`` are the
    intercept and weights of a logistic regression on :func:`trivium.answering.evidence.of_all`, and ``thresholds`` see
    :class:`Thresholds`. ``risks`` (levels, 2) are shares of answers that are wrong, each with the probability of the best
    part from which on no more were wrong, of questions about documents that the trees were not fitted to.
    """

    feature: NDArray[np.int16]
    threshold: NDArray[np.float32]
    left: NDArray[np.int16]
    right: NDArray[np.int16]
    value: NDArray[np.float32]
    thresholds: NDArray[np.float32]
    of_all: NDArray[np.float32]
    risks: NDArray[np.float64]

    def probabilities(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the probabilities (n,) of rows of features (n, columns)."""
        tree = np.arange(len(self.feature))[None, :]
        node = np.zeros((len(rows), len(self.feature)), dtype=np.int64)
        while True:
            asked = self.feature[tree, node]
            if (asked < 0).all():
                break
            smaller = np.take_along_axis(rows, np.maximum(asked, 0), axis=1) <= self.threshold[tree, node]
            following = np.where(smaller, self.left[tree, node], self.right[tree, node])
            node = np.where(asked < 0, node, following)
        odds = self.value[tree, node].sum(axis=1, dtype=np.float64)
        found: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(odds, -50, 50)))
        return found


@cache
def load_trees(embedder: str) -> tuple[Trees, bool]:
    """Return the trees for an embedder, and whether they read cosines."""
    folder = files(__package__).joinpath("evidence_trees")
    file = folder.joinpath(f"{embedder}.safetensors")
    known = file.is_file()
    if not known:
        file = folder.joinpath(f"{NO_EMBEDDER}.safetensors")
    return Trees(**load(file.read_bytes())), known


def worth_asking(question: str, found: Judgement, rarity: Rarity, near: float) -> bool:
    """Whether a language model should be asked: it can also do what is asked of any text."""
    return _OF_ANY_COLLECTION.issuperset(rarity.content(question)) or found.nearness >= _FOR_A_MODEL * near


def having_identifier(
    question: str, offered: Sequence[NumberedPassage], analyzer: Analyzer
) -> list[NumberedPassage]:
    """Return the passages that have an identifier of the question, if the first one has it; else none. Who asks for a
    code by name is told of them alone.
    """
    asked = identifiers_of(question, analyzer)
    named = [passage for passage in offered if any(one.is_in(passage.said) for one in asked)]
    return named if named[:1] == list(offered[:1]) else []


def fitted(judged: Sequence[Judged], *, steps: bool = False) -> Judged:
    """Return the part that answers, as the most probable one of ``judged``: the whole list in place of its beginning
    or of an item that says less of the question, a row in place of several if it says as much, and a much shorter
    sentence inside of it that is about as probable. What announces a list by a colon is not an answer without it. Where
    ``steps`` are asked for, the list that a sentence stands in is taken for it, and a list goes before what says as much.
    """
    about_as_probable = [one for one in judged if one.probability >= _AS_PROBABLE * judged[0].probability]
    best = max(about_as_probable, key=lambda one: (one.covered, steps and one.part.is_list))
    if steps and best.part.kind == "sentence":
        around = [one for one in judged if one.passage is best.passage and _is_around(one.part, best.part)]
        best = min(around, key=lambda one: one.part.end - one.part.start, default=best)
    beside = [one for one in judged[1:] if _overlap(one.part, best.part)]
    if best.text.rstrip().endswith(":"):
        announced = [
            one for one in beside if one.part.kind in ("list", "code") and one.part.start <= best.part.start
        ]
        if announced:
            return announced[0]
    rows = [one for one in beside if one.part.kind == "row" or one.passage.hit.kind == ChunkKind.INFOBOX]
    if best.part.kind == "block" and len(rows) > 1 and rows[0].probability >= _OF_TABLE * best.probability:
        return rows[0]
    overlapping = [one for one in beside if one.probability >= _NEARLY * best.probability]
    for one in overlapping:
        longer = one.part.end - one.part.start > best.part.end - best.part.start
        is_whole = one.part.kind == "list" != best.part.kind
        if one.part.kind == best.part.kind == "code":  # with what stands above it
            is_whole = one.probability >= _AS_PROBABLE * best.probability and "\n" not in best.text
        says_more = best.opens(one) or one.covered > best.covered
        if is_whole and longer and says_more:
            return one
        if one.part.kind == "row" and best.part.kind == "block" and one.covered >= best.covered:
            return one
    for one in overlapping:
        inside = best.part.start <= one.part.start and one.part.end <= best.part.end
        shorter = one.part.end - one.part.start < _SHORTER * (best.part.end - best.part.start)
        as_probable = one.probability >= _AS_PROBABLE * best.probability
        if one.part.kind == "sentence" and best.part.kind != "list" and inside and shorter and as_probable:
            return one
    return best


def _briefest(question: str, best: Judged, judged: Sequence[Judged]) -> Judged:
    """Return the only sentence of a part that says as much of a question for one thing as all of it, and the part if
    there is none or more than one.
    """
    if best.part.kind not in ("sentence", "block", "list") or not asks_for_one(question):
        return best
    asked = {term for term in topic_terms(question) if not term.isdigit()}
    inside = [
        one
        for one in judged
        if one.part.kind == "sentence"
        and (best.part.kind == "sentence" or asked.issubset(terms(one.text)))
        and one.passage is best.passage
        and best.part.start <= one.part.start
        and one.part.end <= best.part.end
        and one.covered >= best.covered
        and one.probability >= _NEARLY * best.probability
        and not one.text.rstrip().endswith(":")
        and not lacks_kind(question, one.part)
    ]
    brief = min(inside, key=lambda one: len(one.text), default=best)
    return brief if all(_overlap(one.part, brief.part) for one in inside) else best


def _is_around(one: Part, sentence: Part) -> bool:
    """Whether a part is a list, which may be all of a block, in which a sentence stands."""
    lists = [items.start for items in lists_of(one.passage)] if one.kind == "block" else ()
    is_list = one.kind == "list" or one.start in lists
    clauses = "\n" in one.text and begins_clause(one.text)
    return is_list and not clauses and one.start <= sentence.start < one.end


class Thresholds(NamedTuple):
    """The probability from which a part counts as an answer, that below which nothing is said of the question, and that
    from which the passages are about it.
    """

    answered: float
    nothing: float
    near: float


def thresholds_of(embedder: str) -> Thresholds:
    """Return the thresholds for an embedder."""
    return Thresholds(*load_trees(embedder)[0].thresholds.tolist())


def sure_from(embedder: EmbedderIdentity, risk: float | None) -> float:
    """Return the probability from which a part counts as an answer. If at most a share ``risk``, in [0, 1], of the
    answers may be wrong, it is that of the highest measured risk that is not above it, or 1 if even the surest answers
    are wrong more often.
    """
    reader, (trees, _) = load_reader(embedder), load_trees(embedder.name)
    if risk is None:
        return float(trees.thresholds[0] if reader is None else reader.weights["answered"][0])
    measured = (trees.risks if reader is None else reader.weights["risks"]).tolist()
    return min((threshold for level, threshold in measured if level <= risk), default=1.0)


def of_follow_up(question: str, found: Judgement) -> Judgement:
    """Return the judgement of the parts that may answer what a follow-up asks itself, and not only what was asked before
    it: of ``found`` those that say one of its words, if it has any, and have a value of the kind that it asks for.
    """
    own = own_terms(question)
    parts = [
        one
        for one in found.parts
        if not lacks_kind(question, one.part)
        and (not own or not own.isdisjoint(terms(f"{one.passage.above} {one.text}")))
    ]
    return found._replace(parts=parts)


class Confirmed(NamedTuple):
    """The part that answers, the probability, in [0, 1], that it does, and the same without regard to others that might,
    which tells whether the passages are about the question.
    """

    best: Judged
    probability: float
    alone: float


def confirmed(question: str, judged: Sequence[Judged], embedder: EmbedderIdentity) -> Confirmed:
    """Return the part that answers. With an embedder that has a reader the question is read together with the part that
    the trees prefer and the most probable ones: a sentence is left for the part that then answers most probably, and
    what another place answers nearly as probably is less probable. What has no value of the kind asked for is left for
    another passage that has one.
    """
    if judged[0].lacks:
        elsewhere = [one for one in judged if not one.lacks and one.passage is not judged[0].passage]
        if elsewhere and elsewhere[0].probability >= _NEARLY * judged[0].probability:
            judged = elsewhere
    best = fitted(judged, steps=asks_for_steps(question))
    reader = load_reader(embedder)
    if reader is None:
        brief = best if best.part.kind == "sentence" else _briefest(question, best, judged)
        return Confirmed(brief, judged[0].probability, judged[0].probability)
    by_trees = {one: one.probability for one in judged[:_READ]} | {best: judged[0].probability}
    read = {one: reader.read(question, one.passage.above, one.text) for one in by_trees}
    odds = {one: reader.odds(found, by_trees[one]) for one, found in read.items()}
    if best.part.kind == "sentence" and best.passage.hit.kind != ChunkKind.INFOBOX:
        best = max(odds, key=odds.__getitem__)
    rival = max((odds[one] for one in odds if not _overlap(one.part, best.part)), default=_NO_RIVAL)
    found = reader.probability(odds[best], max(_NO_RIVAL, rival), max(read.values()))
    brief = _briefest(question, best, judged)
    if brief is not best:
        odds_of_brief = reader.odds(reader.read(question, brief.passage.above, brief.text), brief.probability)
        sure = odds[best] - (_HARDLY if best.part.kind == "sentence" else _AS_SURE)
        brief = brief if odds_of_brief >= sure else best
    return Confirmed(brief, round(found, 6), probability_of(odds[best]))


def says_what_is_asked(question: str, part: Part, embedder: Embedder) -> bool:
    """Whether a part may say what is asked of something that it names: with a word of the question that is no name, or in
    other words, so that it answers the question better than what is left of it without its words for that. "Approved by
    Ada Kern on 3 May" answers "When was Ada Kern?" as well as "When was Ada Kern born?". Rows say it by their heads,
    and a reason need not say what it is for.
    """
    reader, (_, has_cosines) = load_reader(embedder.identity), load_trees(embedder.identity.name)
    own, above, terms_of = question.split(), part.passage.above, part.passage.analyzer.terms
    names = frozenset(names_and_numbers(question) or names_and_numbers(part.shown))
    telling = [one for one in own if topic_terms(_SUFFIX.sub("", one))]
    asked = [one for one in telling if names.isdisjoint(words(one))]
    # Words in parentheses were added from the conversation.
    other = words(question)[:1] == ["why"] or "(" in question
    if other or part.kind == "row" or "|" in part.text or not has_cosines:
        return True
    known = frozenset(terms_of(f"{above} {part.shown}"))
    if asked in ([], telling) or not known.isdisjoint(terms_of(" ".join(asked))):
        return True
    rest = " ".join(one for one in own if one not in asked)
    if reader is not None:
        gain = reader.read(question, above, part.shown) - reader.read(f"{rest}?", above, part.shown)
        return gain >= _GAIN
    whole, without = (embedder.embed_query(without_closing_marks(one)) for one in (question, rest))
    return float(dots(embedder.embed([part.shown]), whole - without)[0]) >= _GAIN_OF_COSINE


def _overlap(one: Part, other: Part) -> bool:
    return one.passage is other.passage and one.start < other.end and other.start < one.end


def are_about(found: Judgement, confidence: float, embedder: EmbedderIdentity) -> bool:
    """Whether passages are about a question, of which a part of them answers it with the probability ``confidence``."""
    reader = load_reader(embedder)
    if reader is not None:
        return reader.are_about(confidence, found.nearness)
    _, nothing, near = thresholds_of(embedder.name)
    said = found.best >= nothing or knows_languages(embedder.name)  # other words, or another language
    return (found.nearness >= near and said) or confidence >= _ALONE


def judge(
    question: str,
    offered: Sequence[NumberedPassage],
    rarity: Rarity,
    embedder: Embedder,
    store: SearchStore | None = None,
) -> Judgement:
    """Judge all parts of the passages; of equally probable ones the shortest comes first. With the ``store`` of the
    passages, its sentence vectors are reused.
    """
    trees, needs_cosine = load_trees(embedder.identity.name)
    parts = parts_of(offered)
    if not parts:
        return Judgement([], 0.0)
    rows = features(question, parts, rarity, embedder if needs_cosine else None, store)
    found = [
        Judged(part, round(probability, 6), row["said_with_headings"], row["value_wanted"] < 0)
        for part, probability, row in zip(
            parts, trees.probabilities(as_rows(rows)).tolist(), rows, strict=True
        )
    ]
    found.sort(key=lambda one: (-one.probability, len(one.part.shown), one.part.passage.number))
    if knows_languages(embedder.identity.name):
        return Judgement(found, nearness(question, rows, parts, embedder, store))
    intercept, *weights = trees.of_all.tolist()
    together = zip(weights, of_all(rows, found[0].probability), strict=True)
    odds = intercept + sum(weight * value for weight, value in together)
    return Judgement(found, probability_of(odds))
