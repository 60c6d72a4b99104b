"""Are the right passages found for questions that follow on others? By kind, with three ways of completing them.

    python -m experiments.conversation.compare --store demo-store
    python -m experiments.conversation.compare --store handbook-store \
        --handbook ../shared/data/markdown/handbook_questions.jsonl

``dialogues.jsonl`` holds 60 conversations about the sample encyclopaedia, written for this, with changes of topic; the
handbook's questions of the kind ``contextual_anaphora`` each follow on one other. Compared are the question as it is
(``literal``), with the question before it in front (``joined``), and as the rules complete it (``rules``); ``rules``
also says how often the rules changed a question of each kind.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import trivium
from trivium.answering.followups import complete
from trivium.text import words
from trivium.types import Hit, Turn

KS = (1, 5)
SHARE = 0.6
"""Of a paragraph's runs of four words that a passage has to hold."""
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*[^()]*\)")


@dataclass(frozen=True)
class Asked:
    """A turn of a dialogue: what was said before it, and which passages answer it."""

    question: str
    kind: str
    history: tuple[Turn, ...]
    right: Callable[[Hit], bool]


def of_dialogues(file: Path) -> Iterator[Asked]:
    """Every turn of every dialogue."""
    for line in file.read_text("utf-8").splitlines():
        turns = json.loads(line)["turns"]
        for place, turn in enumerate(turns):
            history = tuple(Turn(before["question"], before["reply"]) for before in turns[:place])
            yield Asked(turn["question"], turn["kind"], history, _holds(turn["paragraph"]))


def of_handbook(file: Path) -> Iterator[Asked]:
    """The questions that follow on another."""
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        if row.get("history"):
            quotes = [quote for evidence in row["evidence"] for quote in evidence["quotes"]]
            history = tuple(Turn(question, "") for question in row["history"])
            yield Asked(
                row["question"], row["kind"], history, lambda hit, q=quotes: any(_holds(x)(hit) for x in q)
            )


def _holds(text: str) -> Callable[[Hit], bool]:
    """Whether a passage holds a text: all its words in a row, or .6 of its runs of four words, or the text's part of a
    passage that is shorter."""
    wanted = words(_LINK.sub(r"\1", text).replace("_", " "))
    grams = _runs(wanted)

    def right(hit: Hit) -> bool:
        found = words(hit.text.replace("_", " "))
        own = _runs(found)
        common = len(grams & own)
        within = len(found) < len(wanted) and common >= SHARE * max(len(own), 1)
        in_a_row = f" {' '.join(wanted)} " in f" {' '.join(found)} "
        return in_a_row or bool(grams) and common >= SHARE * len(grams) or within

    return right


def _runs(found: list[str]) -> set[tuple[str, ...]]:
    return {tuple(found[start : start + 4]) for start in range(len(found) - 3)}


def main() -> None:
    """Print hit@k by kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", required=True)
    parser.add_argument("--handbook", type=Path, help="the handbook's questions, asked of its store")
    parser.add_argument("--failures", action="store_true", help="print what the rules do not find")
    arguments = parser.parse_args()
    here = Path(__file__).parent / "dialogues.jsonl"
    asked = list(of_dialogues(here) if arguments.handbook is None else of_handbook(arguments.handbook))
    found: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    changed: defaultdict[str, list[bool]] = defaultdict(list)
    with trivium.Engine.open(arguments.store) as engine:
        for turn in asked:
            completed = complete(turn.question, turn.history, engine.store)
            changed[turn.kind].append(completed != turn.question)
            before = f"{turn.history[-1].question} " if turn.history else ""
            for way, text in (
                ("literal", turn.question),
                ("joined", f"{before}{turn.question}"),
                ("rules", completed),
            ):
                hits = engine.search(text, max(KS))
                rank = next((hit.rank for hit in hits if turn.right(hit)), max(KS) + 1)
                found[way, turn.kind].append(rank)
                found[way, "all"].append(rank)
                if arguments.failures and way == "rules" and rank > max(KS):
                    print(f"{turn.kind}: {turn.question!r} searched for as {text!r}")
    for kind in dict.fromkeys(kind for _, kind in found):
        count = len(found["rules", kind])
        print(f"{kind} ({count})" + ("" if kind == "all" else f", completed {sum(changed[kind])}"))
        for way in ("literal", "joined", "rules"):
            ranks = found[way, kind]
            print(f"  {way:<8}" + "".join(f"  hit@{k} {sum(r <= k for r in ranks) / count:.3f}" for k in KS))


if __name__ == "__main__":
    main()
