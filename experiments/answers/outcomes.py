"""Measures the outcomes of questions without a language model: answered, closest passages, or absent.

    python experiments/answers/outcomes.py --store demo-store --questions trivium/sample/questions_single_hop.jsonl \
        --foreign ../shared/data/nq/qed_questions.jsonl ../shared/data/domains/stackfaq_questions.jsonl

Prints how many answers contain a known one (or cite a gold passage, if the file has no answers), how many questions are
called absent although a gold passage is among the first five, and how many of a hundred ``--foreign`` questions, which
the store cannot answer, are called absent.
"""

from __future__ import annotations

import random
from collections import Counter

import trivium
from experiments import command
from experiments.answers.collect import contains
from trivium.datasets.questions import read_questions
from trivium.evaluation.evaluator import Evaluator
from trivium.text.normalise import without_closing_marks
from trivium.types import Answer, Question

FOREIGN = 100
NEAR = 5
PASSAGES = 6


def ask(engine: trivium.Engine, question: Question, ending: str | None = None) -> Answer:
    """Answer a question as ``trivium ask`` does without a model, with ``ending`` in place of its punctuation mark."""
    text = question.text if ending is None else without_closing_marks(question.text) + ending
    return engine.ask(text, k=PASSAGES, intent="collection")


def main() -> None:
    """Print the three figures."""
    parser = command.Parser(__doc__, takes="a minute")
    parser.add_argument("--store", type=command.store, required=True)
    parser.add_argument("--questions", type=command.existing, required=True)
    parser.add_argument("--foreign", nargs="*", type=command.existing, default=[])
    parser.add_argument("--sample", type=int, default=150, help="maximum number of questions")
    parser.add_argument(
        "--ending", help='punctuation at the end of every question: "", "?", "." ... (default: its own)'
    )
    arguments = parser.parse_args()
    rng = random.Random(1)
    with trivium.Engine.open(arguments.store) as engine:
        traced = Evaluator(engine.searcher).trace(
            [question for question in read_questions(arguments.questions) if not question.history]
        )
        asked = rng.sample(traced.questions, min(arguments.sample, len(traced.questions)))
        outcomes: Counter[str] = Counter()
        right: Counter[str] = Counter()
        refused = 0
        for question in asked:
            gold = {uri for group in traced.gold[question.id].groups for uri in group}
            answer = ask(engine, question, arguments.ending)
            near = not gold.isdisjoint(hit.uri for hit in answer.passages[:NEAR])
            outcomes[answer.outcome] += 1
            refused += near and answer.outcome == "absent"
            right[answer.outcome] += (
                contains(answer.text, question.answers)
                if question.answers
                else any(citation.uri in gold for citation in answer.citations)
            )
        others = [
            question
            for file in arguments.foreign
            for question in read_questions(file)
            if not question.history and file != arguments.questions
        ]
        foreign = rng.sample(others, min(FOREIGN, len(others)))
        absent = sum(ask(engine, question, arguments.ending).outcome == "absent" for question in foreign)
    print(
        f"{arguments.questions.stem}: {right.total()} of {len(asked)} with a known answer ("
        + ", ".join(f"{name} {right[name]} of {outcomes[name]}" for name in ("answered", "closest", "absent"))
        + f"); absent although among the first {NEAR}: {refused}; of {len(foreign)} about other things absent: {absent}"
    )


if __name__ == "__main__":
    command.run(main)
