"""Applies the checks to questions written by people: are they too strict for multi-hop questions, or blind to one-hop
ones?

    python experiments/synthetic/people.py --data ../shared/data

Multi-hop: the questions with the passages they were made from, bridges unknown. One-hop: each question with its passage
and another one drawn from the same file, as if a model claimed to need both.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from experiments import command
from trivium.answering.passage_prompts import Source
from trivium.datasets.questions import read_questions
from trivium.sample import folder
from trivium.synthetic.checks import Check, check_wording
from trivium.synthetic.records import Bridge
from trivium.types import Question

NOBODY = Bridge("", 2, (), ())
MOST = 1000
Case = tuple[Question, list[Source]]


def main() -> None:
    """Print a table of sets x checks with the share of questions that fail."""
    parser = command.Parser(__doc__, takes="a minute")
    parser.add_argument("--data", type=command.existing, required=True)
    data = parser.parse_args().data
    sample = folder()
    sets = {
        "sample, two hops": several(sample / "questions_two_hop.jsonl", {}),
        **{
            name: several(
                data / "multihop" / f"{file}_questions.jsonl",
                corpus(data / "multihop" / f"{file}_corpus.jsonl"),
            )
            for name, file in (("HotpotQA", "hotpotqa"), ("2Wiki", "2wiki"), ("MuSiQue", "musique"))
        },
        "sample, one hop": single(sample / "questions_single_hop.jsonl"),
        "SQuAD, one hop": single(data / "wiki" / "squad_questions.jsonl"),
        "QED, one hop": single(data / "nq" / "qed_questions.jsonl"),
    }
    checks = [
        Check.FORM,
        Check.NO_ANSWER,
        Check.ANSWER_ABSENT,
        Check.ANSWER_GIVEN,
        Check.COPIED,
        Check.ONE_PASSAGE,
    ]
    print("| | questions |", " | ".join(check.name.lower().replace("_", " ") for check in checks), "|")
    print("|---|---|" + "---|" * len(checks))
    for name, cases in sets.items():
        known = list(cases)[:MOST]
        counted: Counter[Check] = Counter()
        for question, sources in known:
            text = " ".join(f"{one.headings} {one.text}" for one in sources).lower()
            answers = [answer for answer in question.answers if answer.lower() in text] or list(
                question.answers
            )
            counted.update(check_wording(question.text, answers[0], NOBODY, sources))
        shares = " | ".join(f"{counted[check] / len(known):.3f}" for check in checks)
        print(f"| {name} | {len(known):,} | {shares} |")


def corpus(file: Path) -> dict[str, str]:
    """Return the text of each title."""
    rows = map(json.loads, file.read_text("utf-8").splitlines())
    return {row["title"]: row["text"] for row in rows}


def several(file: Path, texts: dict[str, str]) -> Iterator[Case]:
    """Yield questions with all of their gold passages."""
    for question in read_questions(file):
        passages = [(one.title, one.text) for one in question.gold_passages]
        passages += [(title, texts[title]) for title in question.gold_titles if title in texts]
        yield question, [Source(title, title, title, text) for title, text in passages]


def single(file: Path) -> Iterator[Case]:
    """Yield questions with their passage and an unrelated one."""
    questions = read_questions(file)
    own = [
        next(
            ((one.title, one.text) for one in question.gold_passages),
            (question.page or "", question.paragraph or ""),
        )
        for question in questions
    ]
    generator = random.Random(0)
    for question, passage in zip(questions, own, strict=True):
        if not passage[1]:
            continue
        other = generator.choice([one for one in own if one[0] != passage[0]])
        yield question, [Source(title, title, title, text) for title, text in (passage, other)]


if __name__ == "__main__":
    command.run(main)
