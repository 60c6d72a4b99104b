"""Tests whether a model, as a judge, distinguishes two-hop from one-hop questions about the sample encyclopaedia, both
written by people.

    python experiments/synthetic/judged.py --model local --questions 10

A useful judge gives high scores to the former throughout, and a low score for ``multi_hop`` to the latter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from people import Case, several, single

from experiments import command
from trivium.llm.chat_model import ChatModel
from trivium.llm.registry import open_chat_model
from trivium.sample import folder
from trivium.synthetic.judge import score
from trivium.synthetic.records import CRITERIA, Bridge, Judged, Outcome, Written
from trivium.synthetic.run_folder import THRESHOLD


def main(
    arguments: Sequence[str] | None = None, open_model: Callable[[str], ChatModel] = open_chat_model
) -> None:
    """Print a table of kinds of questions x criteria."""
    parser = command.Parser(__doc__, takes="as the model takes")
    parser.add_argument("--model", required=True)
    parser.add_argument("--questions", type=int, default=10)
    given = parser.parse_args(arguments)
    model = open_model(given.model)
    print(f"| {model.name} | questions | readable |", " | ".join(CRITERIA), f"| all {THRESHOLD} or more |")
    print("|---|---|---|" + "---|" * len(CRITERIA) + "---|")
    for name, cases in (
        ("two hops", several(folder() / "questions_two_hop.jsonl", {})),
        ("one hop", single(folder() / "questions_single_hop.jsonl")),
    ):
        some = list(cases)[: given.questions]
        judged = [_judged(case, model) for case in some]
        read = [one for one in judged if one.scores]
        means = " | ".join(
            f"{sum(one.scores[name] for one in read) / len(read):.1f}" if read else "-" for name in CRITERIA
        )
        passed = sum(one.weakest >= THRESHOLD for one in judged)
        print(f"| {name} | {len(some)} | {len(read)} | {means} | {passed} |")


def _judged(case: Case, model: ChatModel) -> Judged:
    question, sources = case
    bridge = Bridge(question.id, len(sources), (), tuple(sources))
    uris = tuple(source.uri for source in sources)
    written = Written(question.id, Outcome.WRITTEN, question.text, question.answers[0], uris)
    return score(bridge, written, model)


if __name__ == "__main__":
    command.run(main)
