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
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import trivium
from experiments import command
from trivium.answering.follow_up_questions import complete
from trivium.answering.query_rewriting import Rewriting, rewrite_question
from trivium.evaluation.requests import PASSAGES
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
    """A turn of a ``dialogue`` with the earlier turns, and a predicate for the passages that answer it."""

    question: str
    kind: str
    history: tuple[Turn, ...]
    right: Callable[[Hit], bool]
    answers: tuple[str, ...] = ()
    dialogue: str = ""

    def answered(self, text: str) -> bool:
        """Whether a text holds one of the known answers."""
        said = f" {' '.join(words(text))} "
        return any(f" {' '.join(words(one))} " in said for one in self.answers)


def of_dialogues(file: Path) -> Iterator[Asked]:
    """Yield every turn of every dialogue."""
    for number, line in enumerate(file.read_text("utf-8").splitlines()):
        turns = json.loads(line)["turns"]
        for place, turn in enumerate(turns):
            history = tuple(Turn(before["question"], before["reply"]) for before in turns[:place])
            yield Asked(
                turn["question"],
                turn["kind"],
                history,
                _holds(turn["paragraph"]),
                tuple(turn["answers"]),
                str(number),
            )


def of_handbook(file: Path) -> Iterator[Asked]:
    """Yield the questions that follow another one."""
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        if row.get("history"):
            quotes = [quote for evidence in row["evidence"] for quote in evidence["quotes"]]
            history = tuple(Turn(question, "") for question in row["history"])
            yield Asked(
                row["question"],
                row["kind"],
                history,
                lambda hit, q=quotes: any(_holds(x)(hit) for x in q),
                dialogue=row["evidence"][0]["document"],
            )


def of_conversations(file: Path) -> Iterator[Asked]:
    """Yield the last turn of every conversation that has earlier ones."""
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        said = row["history"]
        if said:
            history = tuple(map(Turn, said[::2], said[1::2]))
            titles = {passage["title"] for passage in row["gold_passages"]}
            yield Asked(
                row["question"],
                "last",
                history,
                lambda hit, titles=titles: hit.page in titles,
                dialogue=said[0],
            )


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


class Searched(NamedTuple):
    """What each way found for a turn (``hits``), best first; the question as ``completed`` by the rules; the answer of
    ``trivium ask``, or the queries that a language model wrote, in so many ``seconds``.
    """

    hits: dict[str, Sequence[Hit]]
    completed: str
    answer: trivium.Answer | None = None
    queries: Rewriting | None = None
    seconds: float = 0.0


def searched(engine: trivium.Engine, turn: Asked, history: Sequence[Turn], depth: int) -> Searched:
    """Search in the ways that need no model."""
    completed = complete(turn.question, history, engine.store)
    before = f"{history[-1].question} " if history else ""
    answer = engine.ask(turn.question, history=history, k=max(depth, PASSAGES))
    asked = {"literal": turn.question, "joined": f"{before}{turn.question}", "rules": completed}
    hits: dict[str, Sequence[Hit]] = {way: engine.search(text, depth) for way, text in asked.items()}
    return Searched({**hits, "taken": answer.passages[:depth]}, completed, answer)


def rewritten(engine: trivium.Engine, model: ChatModel, turn: Asked, depth: int) -> Searched:
    """Search by the match query of a language model, and with the candidates of its recall query."""
    began = time.perf_counter()
    queries = rewrite_question(turn.question, turn.history, model, engine.store)
    seconds = time.perf_counter() - began
    completed = complete(turn.question, turn.history, engine.store)
    asked = {
        "literal": (turn.question, None),
        "rules": (completed, None),
        "match": (queries.match_query, None),
    }
    asked["both"] = (queries.match_query, queries.recall_query)
    hits: dict[str, Sequence[Hit]] = {
        way: engine.search(text, depth, recall=recall) for way, (text, recall) in asked.items()
    }
    return Searched(hits, completed, queries=queries, seconds=seconds)


def rank_of(turn: Asked, hits: Sequence[Hit], depth: int) -> int:
    """Return the rank of the first right passage; one more than the depth if there is none."""
    return next((hit.rank for hit in hits if turn.right(hit)), depth + 1)


def compare_model(engine: trivium.Engine, model: ChatModel, turns: Sequence[Asked], show: bool) -> None:
    """Print hit@k of the ways with and without the model, and statistics of its queries."""
    ranks: defaultdict[str, list[int]] = defaultdict(list)
    used: Counter[str] = Counter()
    seconds = 0.0
    for turn in turns:
        found = rewritten(engine, model, turn, max(KS))
        seconds += found.seconds
        asked = found.queries
        assert asked is not None
        used["match query"] += asked.match_query != found.completed
        used["recall query"] += asked.recall_query is not None
        used["neither"] += asked.match_query == found.completed and asked.recall_query is None
        for way, hits in found.hits.items():
            ranks[way].append(rank_of(turn, hits, max(KS)))
        if show:
            print(f"{turn.question!r}: {asked.match_query!r} + {asked.recall_query!r}")
    print(f"{model.name}, {len(turns)} turns, {seconds / len(turns):.1f} s a rewriting")
    print("  used: " + ", ".join(f"{name} {count}" for name, count in used.items()))
    _print_ways(ranks, len(turns))


def _print_ways(ranks: Mapping[str, Sequence[int]], count: int) -> None:
    for way, found in ranks.items():
        print(f"  {way:<8}" + "".join(f"  hit@{k} {sum(r <= k for r in found) / count:.3f}" for k in KS))


def leaning_sample(asked: Sequence[Asked], count: int) -> list[Asked]:
    """Return a sample of the turns that depend on earlier ones."""
    leaning = [turn for turn in asked if turn.kind not in ("first", "independent", "new_topic")]
    return random.Random(0).sample(leaning, min(count, len(leaning)))


def turns_of(arguments: Namespace) -> list[Asked]:
    """Return the turns that the options name."""
    if arguments.handbook is not None:
        return list(of_handbook(arguments.handbook))
    if arguments.conversations is not None:
        return list(of_conversations(arguments.conversations))
    return list(of_dialogues(Path(__file__).parent / "dialogues.jsonl"))


def parser() -> command.Parser:
    """Return the parser of the command line."""
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
    return parser


def main() -> None:
    """Print hit@k by kind."""
    arguments = parser().parse_args()
    asked = turns_of(arguments)
    found: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    with trivium.Engine.open(arguments.store, remembered_questions=0) as engine:
        if arguments.model is not None:
            model = open_chat_model(arguments.model)
            compare_model(engine, model, leaning_sample(asked, arguments.sample), arguments.failures)
            return
        for turn in asked:
            history = live(engine, turn) if arguments.live else turn.history
            ways = searched(engine, turn, history, max(KS))
            answer = ways.answer
            assert answer is not None
            counts[turn.kind]["completed"] += ways.completed != turn.question
            counts[turn.kind]["taken so"] += answer.searched_for not in (None, turn.question)
            counts[turn.kind]["answered"] += answer.outcome == "answered"
            counts[turn.kind]["rightly"] += answer.outcome == "answered" and turn.answered(answer.text)
            for way, hits in ways.hits.items():
                rank = rank_of(turn, hits, max(KS))
                found[way, turn.kind].append(rank)
                found[way, "all"].append(rank)
            if arguments.failures and rank > max(KS):
                print(f"{turn.kind}: {turn.question!r} searched for as {answer.searched_for!r}")
    for kind in dict.fromkeys(kind for _, kind in found):
        told = "".join(f", {count} {name}" for name, count in counts[kind].items())
        print(f"{kind} ({len(found['rules', kind])}){told}")
        own = {way: ranks for (way, of), ranks in found.items() if of == kind}
        _print_ways(own, len(own["rules"]))


if __name__ == "__main__":
    command.run(main)
