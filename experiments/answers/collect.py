"""Collects statements that a passage does or does not support, as JSON Lines for ``fit.py``.

    python experiments/answers/collect.py --store joint-store --out rows.jsonl \
        --questions ../shared/data/wiki/squad_questions.jsonl ../shared/data/nq/earth_questions.jsonl \
        ../shared/data/nq/qed_questions.jsonl --sample 170

The question with its answer in place of the question word, and the answer alone: supported by the gold passage, but not
by other hits without the answer nor by a random passage. The same with the answer of another question: not supported by
the gold passage. Also a sentence of the gold passage: supported as it is, but not with another number or another name in
it. (The parts of passages that answer a question are collected by ``collect_parts.py``.)
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import trivium
from experiments import command
from trivium.answering.answer_parts import parts_of
from trivium.answering.check_statements import Claim, sources_of, supports
from trivium.answering.judge_parts import Judged
from trivium.answering.passages import MAX_SENTENCE, passages
from trivium.answering.rarity import Rarity
from trivium.datasets.questions import read_questions
from trivium.evaluation.evaluator import Evaluator
from trivium.graph.schema import page_of, section_of
from trivium.text.normalise import normalise_name, sentences
from trivium.types import Hit, Question

DEPTH = 30
FUSION = "convex"
"""Not the network, which was trained on these questions."""
ASKED = re.compile(
    r"\b(in what year|how many|how much|(?:which|what) \w+(?= (?:is|was|are|were|did|does|do|has|have|had|can|will)\b)"
    r"|who|whom|what|which|when|where|why|how)\b",
    re.IGNORECASE,
)


def contains(text: str, answers: Sequence[str]) -> bool:
    padded = f" {normalise_name(text)} "
    return any(f" {normalise_name(answer)} " in padded for answer in answers if normalise_name(answer))


def statement(question: str, answer: str) -> str:
    """Return the question as a statement, with the answer in place of the question word.

    >>> statement("Who discovered the moons of Mars?", "Asaph Hall")
    'Asaph Hall discovered the moons of Mars.'
    """
    text = question.rstrip("? ")
    asked = ASKED.search(text)
    return f"{text} {answer}." if asked is None else f"{text[: asked.start()]}{answer}{text[asked.end() :]}."


def about_statements(
    engine: trivium.Engine,
    name: str,
    question: Question,
    gold: set[str],
    hits: Sequence[Hit],
    others: Sequence[Question],
    rng: random.Random,
) -> Iterator[dict[str, Any]]:
    uri = min(gold)
    here = as_hit(engine, uri)
    if not contains(here.text, question.answers):
        return
    wrong = [hit for hit in hits if hit.uri not in gold and not contains(hit.text, question.answers)][:2]
    asked = question.text.split()[0].lower()
    alike = [
        other.answers[0]
        for other in others
        if other.text.split()[0].lower() == asked and not contains(here.text, other.answers)
    ]
    answer = question.answers[0]
    anywhere = as_hit(engine, rng.choice(engine.store.chunk_uris()))
    cases = [("right", statement(question.text, answer), here), ("right, short", f"{answer}.", here)]
    cases += [("other passage", statement(question.text, answer), hit) for hit in wrong]
    cases.append(("random passage", statement(question.text, answer), anywhere))
    if alike:
        other = rng.choice(alike)
        cases.append(("wrong answer", statement(question.text, other), here))
        cases.append(("wrong answer, short", f"{other}.", here))
    cases += [(case, text, here) for case, text in altered(here.text, anywhere.text, rng)]
    rarity = Rarity.of(engine.store, [question.text, *(text for _, text, _ in cases)])
    for case, text, hit in cases:
        sources = sources_of([Judged(part, 0.0) for part in parts_of(passages([hit]))], rarity)
        claim = Claim.of(question.text, text, rarity)
        features = max((claim.features(source, rarity) for source in sources), key=supports)
        yield {
            "task": "support", "set": name, "page": page_of(uri), "question": question.id, "case": case,
            "right": case.startswith("right"), "features": features,
        }  # fmt: skip


def altered(text: str, other: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Yield pairs of a sentence and the same sentence with a wrong number or a wrong name, if it contains any."""
    spans = [(start, end) for start, end in sentences(text) if end - start < MAX_SENTENCE]
    if not spans:
        return
    start, end = rng.choice(spans)
    sentence = text[start:end]
    yield "right, verbatim", sentence
    numbers = re.findall(r"\d+", sentence)
    if numbers:
        number = rng.choice(numbers)
        yield "wrong number", sentence.replace(number, str(int(number[:9]) + rng.randint(2, 9)))
    names = re.findall(r"(?<=[a-z] )[A-Z][a-z]{3,}", sentence)
    others = [name for name in re.findall(r"(?<=[a-z] )[A-Z][a-z]{3,}", other) if name not in text]
    if names and others:
        yield "wrong name", sentence.replace(rng.choice(names), rng.choice(others))


def as_hit(engine: trivium.Engine, uri: str) -> Hit:
    (record,) = engine.store.fetch([uri])
    return Hit(uri, record.text, 0.0, 1, record.page, section_of(uri), record.kind, record.start, record.end)


def main() -> None:
    parser = command.Parser(__doc__, takes="minutes a file")
    parser.add_argument("--store", type=command.store, required=True)
    parser.add_argument("--questions", nargs="+", type=command.existing, required=True)
    parser.add_argument("--sample", type=int, default=170, help="maximum number of questions per file")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    with trivium.Engine.open(arguments.store) as engine, arguments.out.open("w", encoding="utf-8") as out:
        for file in arguments.questions:
            rng = random.Random(0)
            traced = Evaluator(engine.searcher).trace(
                [question for question in read_questions(file) if not question.history]
            )
            asked = rng.sample(traced.questions, min(arguments.sample, len(traced.questions)))
            for question in asked:
                gold = {uri for group in traced.gold[question.id].groups for uri in group}
                hits = engine.search(question.text, k=DEPTH, fusion=FUSION)
                others = [
                    q
                    for q in traced.questions
                    if q.page == question.page and q.id != question.id and q.answers
                ]
                if question.answers:
                    rows = about_statements(engine, file.stem, question, gold, hits, others, rng)
                    out.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    command.run(main)
