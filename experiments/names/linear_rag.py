"""Measures LinearRAG's way on the passages of a store: names alone, without links, relations or a trained ranking.

    python -m experiments.names.linear_rag STORE QUESTIONS

After Zhuang et al. (arXiv:2510.10114), with the settings of its published code. Each name of the question leads to the
closest name of the passages. A name passes its score, times a cosine, on to the names of its sentence that is closest to
the question, while scores stay above a threshold. PageRank over passages and names starts from these names and, a
little, from all passages. Names are titles and those of the rules; vectors of passages and sentences are the store's.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Any, NamedTuple

import numpy as np

import trivium
from experiments import command
from trivium.datasets.questions import read_questions
from trivium.entities.recogniser import RULES, load_recogniser
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.ranking_measures import measure
from trivium.graph.records import Floats
from trivium.graph.schema import Label, headings_of
from trivium.text.normalise import normalise_name, sentences, without_parenthesis

THRESHOLD, HOPS = 0.5, 2
PASSAGE_RATIO, PASSAGE_WEIGHT, DAMPING = 1.5, 0.05, 0.5
STEPS, SHORTEST, COMPARED = 25, 8, 200
Scores = dict[int, tuple[float, int]]  # of names, and in how many steps they were reached


class Names(NamedTuple):
    """Those of passages, how often each passage has each, and the sentences that they stand in, with vectors (n, d)."""

    numbers: dict[str, int]
    counts: list[Counter[int]]
    of_sentence: list[list[int]]
    of_name: dict[int, list[int]]
    vectors: Floats


def names_of(text: str) -> list[tuple[int, str]]:
    """Return the names of a text, normalised, with where they begin."""
    (spans,) = load_recogniser(RULES).spans([text], "en")
    found = [(span.start, normalise_name(text[span.start : span.end])) for span in spans]
    return [(start, name.removesuffix(" s")) for start, name in found if name]


def read(store: Any, chunks: list[str], passages: Floats) -> Names:
    """Find the names of passages, sentence by sentence. A passage of one sentence has its own vector."""
    kept, vectors = store.sentence_vectors(chunks), []
    names = Names({}, [], [], defaultdict(list), np.empty((0, passages.shape[1])))
    for row, record in enumerate(store.fetch(chunks)):
        title = normalise_name(without_parenthesis(headings_of(record.section)[0]))
        found = [(0, title), *names_of(record.body)]
        places = [(start, names.numbers.setdefault(name, len(names.numbers))) for start, name in found]
        names.counts.append(Counter(name for _, name in places))
        codes = kept.codes[kept.starts[row] : kept.starts[row + 1]].astype(np.float64)
        spans = [span for span in sentences(record.body) if span[1] - span[0] >= SHORTEST]
        if len(codes) != len(spans):
            spans, codes = [(0, len(record.body))], passages[row : row + 1]
        for (start, end), code in zip(spans, codes, strict=True):
            names.of_sentence.append([name for place, name in places if start <= place < end])
            for name in set(names.of_sentence[-1]):
                names.of_name[name].append(len(vectors))
            vectors.append(code / (np.linalg.norm(code) or 1.0))
    return names._replace(vectors=np.array(vectors))


def steps_among(counts: list[Counter[int]], size: int) -> Any:
    """Return the steps (n, n) of a walker among passages and ``size`` names. An edge weighs a name's share in it."""
    from scipy import sparse

    half = sparse.lil_array((len(counts) + size,) * 2)
    for row, own in enumerate(counts):
        for name, count in own.items():
            half[row, len(counts) + name] = count / own.total()
    both = (half + half.T).tocsr()
    return both @ sparse.diags_array(1 / both.sum(axis=0))


def closest(names: Names, asked: list[str], embedder: Any) -> Scores:
    """Return the name closest to each of a question: the same one, or of those that share a word with it."""
    found: Scores = {}
    for name in asked:
        alike = [one for one in names.numbers if {*name.split()} & {*one.split()}][:COMPARED]
        if name in names.numbers:
            found[names.numbers[name]] = 1.0, 1
        elif alike:
            cosines = embedder.embed(alike) @ embedder.embed([name])[0]
            found[names.numbers[alike[int(cosines.argmax())]]] = float(cosines.max()), 1
    return found


def activated(names: Names, question: Floats, seeds: Scores) -> Scores:
    """Return the seeds and the names that they lead to."""
    found, current, used = dict(seeds), seeds, set[int]()
    for hop in range(2, HOPS + 2):
        further: Scores = {}
        for name, (score, _) in current.items():
            if left := [one for one in names.of_name[name] if one not in used]:
                cosines = names.vectors[left] @ question
                used.add(sentence := left[int(cosines.argmax())])
                if (passed := score * float(cosines.max())) >= THRESHOLD:
                    further.update((one, (passed, hop)) for one in names.of_sentence[sentence])
        found, current = found | further, further
    return found


def scores(names: Names, steps: Any, cosines: Floats, active: Scores) -> Floats:
    """Return the scores (n,) of all passages; their cosines if the question has no name."""
    if not active:
        return cosines
    bonus, start = np.zeros(len(cosines)), np.zeros(steps.shape[0])
    for name, (score, hop) in active.items():
        start[len(cosines) + name] = score
        bonus += [score * math.log1p(own[name]) / hop for own in names.counts]
    spread = (cosines - cosines.min()) / np.ptp(cosines)
    start[: len(cosines)] = PASSAGE_WEIGHT * (PASSAGE_RATIO * spread + np.log1p(bonus))
    mass = start
    for _ in range(STEPS):
        mass = DAMPING * (steps @ mass) + (1 - DAMPING) * start
    return mass[: len(cosines)]


def main(arguments: list[str] | None = None) -> None:
    """Print the measures."""
    parser = command.Parser(__doc__, takes="minutes", packages=("scipy",))
    parser.add_argument("store", type=command.store)
    parser.add_argument("questions", type=command.existing)
    given, rankings = parser.parse_args(arguments), []
    with trivium.Engine.open(given.store) as engine:
        traced = Evaluator(engine.searcher).trace(read_questions(given.questions))
        chunks = engine.store.chunk_uris()
        passages = np.asarray(engine.store.vectors(Label.CHUNK, chunks), dtype=np.float64)
        names = read(engine.store, chunks, passages)
        steps = steps_among(names.counts, len(names.numbers))
        for question in traced.questions:
            vector = engine.searcher.query(question.text).vector.astype(np.float64)
            seeds = closest(names, [name for _, name in names_of(question.text)], engine.embedder)
            found = scores(names, steps, passages @ vector, activated(names, vector, seeds))
            rankings.append([chunks[row] for row in np.argsort(-found, kind="stable")[:20].tolist()])
    measured = measure([traced.gold[question.id] for question in traced.questions], rankings)
    print(*(f"{name} {measured[name].mean():.3f}" for name in ("recall@5", "recall@20", "hit@1")))


if __name__ == "__main__":
    command.run(main)
