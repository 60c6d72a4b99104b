"""Compares ways of completing follow-up questions by the rank of the right passages, for each kind of question.

    python -m experiments.conversation.compare --store demo-store
    python -m experiments.conversation.compare --store handbook-store \
        --handbook ../shared/data/markdown/handbook_questions.jsonl

``dialogues.jsonl`` contains 60 conversations about the sample encyclopaedia, written for this experiment, with changes
of topic; each of the handbook's questions of the kind ``contextual_anaphora`` follows another one. Compares the
question as it is (``literal``), prefixed with the previous question (``joined``), completed by the rules (``rules``), and
as ``trivium ask`` takes it, which searches both as it is and completed (``taken``); prints how many questions of each
kind were completed and searched for as completed, how many answers were given outright, and how many of those hold a
known answer. ``--live`` has the earlier turns answered by the product instead of by the file. ``--conversations`` reads
other conversations: JSON Lines of ``question``, ``history`` (questions and answers in turn) and ``gold_passages``.

    python -m experiments.conversation.compare --store demo-store --model local --sample 40

compares two more ways on a sample of the turns that depend on earlier ones: the match query written by a language model
(``match``), and in addition the candidates of its recall query (``both``). Unusable output is replaced as in ``trivium
ask``; the share of usable queries is printed.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import trivium
from experiments import command
from trivium.answering.follow_up_questions import complete
from trivium.answering.query_rewriting import rewrite_question
from trivium.llm.chat_model import ChatModel
from trivium.llm.registry import open_chat_model
from trivium.text.normalise import words
from trivium.types import Hit, Turn

KS = (1, 5)
SHARE = 0.6
"""Minimum share of a paragraph's word 4-grams that a passage must contain."""
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*[^()]*\)")


@dataclass(frozen=True)
class Asked:
    """A turn of a dialogue with the earlier turns, and a predicate for the passages that answer it."""

    question: str
    kind: str
    history: tuple[Turn, ...]
    right: Callable[[Hit], bool]
    answers: tuple[str, ...] = ()

    def answered(self, text: str) -> bool:
        """Whether a text holds one of the known answers."""
        said = f" {' '.join(words(text))} "
        return any(f" {' '.join(words(one))} " in said for one in self.answers)


def of_dialogues(file: Path) -> Iterator[Asked]:
    """Yield every turn of every dialogue."""
    for line in file.read_text("utf-8").splitlines():
        turns = json.loads(line)["turns"]
        for place, turn in enumerate(turns):
            history = tuple(Turn(before["question"], before["reply"]) for before in turns[:place])
            yield Asked(
                turn["question"], turn["kind"], history, _holds(turn["paragraph"]), tuple(turn["answers"])
            )


def of_handbook(file: Path) -> Iterator[Asked]:
    """Yield the questions that follow another one."""
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        if row.get("history"):
            quotes = [quote for evidence in row["evidence"] for quote in evidence["quotes"]]
            history = tuple(Turn(question, "") for question in row["history"])
            yield Asked(
                row["question"], row["kind"], history, lambda hit, q=quotes: any(_holds(x)(hit) for x in q)
            )


def of_conversations(file: Path) -> Iterator[Asked]:
    """Yield the last turn of every conversation that has earlier ones."""
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        said = row["history"]
        if said:
            history = tuple(map(Turn, said[::2], said[1::2]))
            titles = {passage["title"] for passage in row["gold_passages"]}
            yield Asked(row["question"], "last", history, lambda hit, titles=titles: hit.page in titles)


def live(engine: trivium.Engine, turn: Asked) -> tuple[Turn, ...]:
    """Return the earlier turns as the product answers them."""
    said: list[Turn] = []
    for before in turn.history:
        said.append(Turn(before.question, engine.ask(before.question, history=said).text))
    return tuple(said)


def _holds(text: str) -> Callable[[Hit], bool]:
    """Return whether a passage contains a text: all its words in sequence, or 60 % of its word 4-grams; for a passage
    shorter than the text, 60 % of the passage's.
    """
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


def compare_model(engine: trivium.Engine, model: ChatModel, turns: Sequence[Asked], show: bool) -> None:
    """Print hit@k of the ways with and without the model, and statistics of its queries."""
    ranks: defaultdict[str, list[int]] = defaultdict(list)
    used: Counter[str] = Counter()
    seconds = 0.0
    for turn in turns:
        began = time.perf_counter()
        asked = rewrite_question(turn.question, turn.history, model, engine.store)
        seconds += time.perf_counter() - began
        completed = complete(turn.question, turn.history, engine.store)
        used["match query"] += asked.match_query != completed
        used["recall query"] += asked.recall_query is not None
        used["neither"] += asked.match_query == completed and asked.recall_query is None
        for way, text, recall in (
            ("literal", turn.question, None),
            ("rules", completed, None),
            ("match", asked.match_query, None),
            ("both", asked.match_query, asked.recall_query),
        ):
            hits = engine.search(text, max(KS), recall=recall)
            ranks[way].append(next((hit.rank for hit in hits if turn.right(hit)), max(KS) + 1))
        if show:
            print(f"{turn.question!r}: {asked.match_query!r} + {asked.recall_query!r}")
    print(f"{model.name}, {len(turns)} turns, {seconds / len(turns):.1f} s a rewriting")
    print("  used: " + ", ".join(f"{name} {count}" for name, count in used.items()))
    _print_ways(ranks, len(turns))


def _print_ways(ranks: Mapping[str, Sequence[int]], count: int) -> None:
    for way, found in ranks.items():
        print(f"  {way:<8}" + "".join(f"  hit@{k} {sum(r <= k for r in found) / count:.3f}" for k in KS))


def main() -> None:
    """Print hit@k by kind."""
    parser = command.Parser(__doc__, takes="a minute; with --model as the model takes")
    parser.add_argument("--store", type=command.store, required=True)
    parser.add_argument(
        "--handbook", type=command.existing, help="question file of the handbook, for its store"
    )
    parser.add_argument(
        "--conversations", type=command.existing, help="question file of other conversations, for their store"
    )
    parser.add_argument("--live", action="store_true", help="the earlier turns are answered by the product")
    parser.add_argument(
        "--failures",
        action="store_true",
        help="print the questions that fail with the rules, or the output of the model",
    )
    parser.add_argument(
        "--model", help="also compare two ways of rewriting by this language model, on a sample"
    )
    parser.add_argument(
        "--sample", type=int, default=40, help="number of dependent turns that the model rewrites (40)"
    )
    arguments = parser.parse_args()
    here = Path(__file__).parent / "dialogues.jsonl"
    if arguments.handbook is not None:
        asked = list(of_handbook(arguments.handbook))
    elif arguments.conversations is not None:
        asked = list(of_conversations(arguments.conversations))
    else:
        asked = list(of_dialogues(here))
    found: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    with trivium.Engine.open(arguments.store, remembered_questions=0) as engine:
        if arguments.model is not None:
            model = open_chat_model(arguments.model)
            leaning = [turn for turn in asked if turn.kind not in ("first", "independent", "new_topic")]
            chosen = random.Random(0).sample(leaning, min(arguments.sample, len(leaning)))
            compare_model(engine, model, chosen, arguments.failures)
            return
        for turn in asked:
            history = live(engine, turn) if arguments.live else turn.history
            completed = complete(turn.question, history, engine.store)
            before = f"{history[-1].question} " if history else ""
            answer = engine.ask(turn.question, history=history)
            counts[turn.kind]["completed"] += completed != turn.question
            counts[turn.kind]["taken so"] += answer.searched_for not in (None, turn.question)
            counts[turn.kind]["answered"] += answer.outcome == "answered"
            counts[turn.kind]["rightly"] += answer.outcome == "answered" and turn.answered(answer.text)
            for way, text in (
                ("literal", turn.question),
                ("joined", f"{before}{turn.question}"),
                ("rules", completed),
                ("taken", ""),
            ):
                hits = engine.search(text, max(KS)) if text else answer.passages[: max(KS)]
                rank = next((hit.rank for hit in hits if turn.right(hit)), max(KS) + 1)
                found[way, turn.kind].append(rank)
                found[way, "all"].append(rank)
            if arguments.failures and rank > max(KS):
                print(f"{turn.kind}: {turn.question!r} searched for as {answer.searched_for!r}")
    for kind in dict.fromkeys(kind for _, kind in found):
        told = "".join(f", {count} {name}" for name, count in counts[kind].items())
        print(f"{kind} ({len(found['rules', kind])}){told}")
        ways = ("literal", "joined", "rules", "taken")
        _print_ways({way: found[way, kind] for way in ways}, len(found["rules", kind]))


if __name__ == "__main__":
    command.run(main)
