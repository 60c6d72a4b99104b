"""Writes a corpus of functions and its questions anew, to measure what identifiers and the order of their text bring.

python experiments/fusion/code_words.py cut corpus.jsonl questions.jsonl OUT     # readCsv -> readCsv read Csv
python experiments/fusion/code_words.py describe corpus.jsonl questions.jsonl OUT  # the docstring first
trivium build OUT/corpus.jsonl --store STORE && trivium evaluate OUT/questions.jsonl --store STORE
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from experiments import command

_CAMEL = re.compile(r"\b[A-Za-z][a-z0-9]*[A-Z]\w*\b")
_BEFORE_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DOCSTRING = re.compile(r'("""|\'\'\')(.*?)\1', re.DOTALL)


def cut(text: str) -> str:
    """Follow each identifier in camel case by its words."""
    return _CAMEL.sub(lambda found: f"{found[0]} {_BEFORE_CAPITAL.sub(' ', found[0])}", text)


def describe(text: str) -> str:
    """Put the docstring of a function before it."""
    found = _DOCSTRING.search(text)
    return f"{found[2].strip()}\n{text[: found.start()]}{text[found.end() :]}" if found else text


def main() -> None:
    """Write both files."""
    parser = command.Parser(__doc__, takes="seconds")
    parser.add_argument("way", choices=("cut", "describe"))
    parser.add_argument("corpus", type=command.existing)
    parser.add_argument("questions", type=command.existing)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    change = {"cut": cut, "describe": describe}[given.way]
    given.out.mkdir(parents=True, exist_ok=True)
    changed = 0
    with (given.out / "corpus.jsonl").open("w", encoding="utf-8") as out:
        for line in given.corpus.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            changed += change(record["text"]) != record["text"]
            out.write(json.dumps(record | {"text": change(record["text"])}) + "\n")
    with (given.out / "questions.jsonl").open("w", encoding="utf-8") as out:
        for line in given.questions.read_text(encoding="utf-8").splitlines():
            question = json.loads(line)
            for gold in question["gold_passages"]:
                gold["text"] = change(gold["text"])
            out.write(json.dumps(question) + "\n")
    print(f"{changed:,} passages changed")


if __name__ == "__main__":
    command.run(main)
