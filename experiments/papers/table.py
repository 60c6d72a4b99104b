"""Makes the tables of the papers: ours, the published figures below them, intervals and differences.

    python -m experiments.papers.table diffusion-5 multimodal-7 study-7.3 --store STORE --questions FILE...
    python -m experiments.papers.table diffusion-2 diffusion-3 diffusion-4 --data ../shared/data
    python -m experiments.papers.table diffusion-6 --sweep FILE.toml
    python -m experiments.papers.table study-7.4 study-7.5 study-7.6 --sweep FILE.toml
    python -m experiments.papers.table study-7.1 squad --pages 3 --questions 80
    python -m experiments.papers.table study-7.2 --make needle passkey --documents 20
    python -m experiments.papers.table cmc --store STORE
    python -m experiments.papers.table 4.1 --store STORE --questions FILE --cache hits

diffusion-2 to -4   what a question is meant for: accuracy and macro F1, confusions, with typos; options of
                    experiments/intent
diffusion-5         BM25, dense search, and diffusion after it
diffusion-6         answers from these, of a sweep
multimodal-7        dense search, and diffusion of its 20 best (figure 7), with times
study-7.1           chunkers; options of experiments/chunkers
study-7.2           embedders on long documents; options of experiments/embedders
study-7.3           rerankers of the 20 best of dense search; more by --rerank
study-7.4 to 7.6    models, prompts, temperatures, judged, of a sweep
cmc                 ranks of follow-up questions by how they are rewritten; options of experiments/conversation
4.1 to 4.5, figure  the thesis's (experiments/thesis/table.py, which lists their options)

All take --format text|markdown|latex|csv|json. What is missing (a file, a model, a package) is said before anything takes
long.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments import command
from experiments.papers import answers, rankings
from experiments.papers.formats import FORMATS, printed
from experiments.papers.set_table import SetTable
from trivium.errors import InputError

INTENTS = ("diffusion-2", "diffusion-3", "diffusion-4")
ALONE = ("study-7.1", "study-7.2", "cmc")
"""Tables whose options are those of an experiment."""
TABLES = (*INTENTS, "diffusion-5", "diffusion-6", "multimodal-7", "study-7.1", "study-7.2", "study-7.3",
          *(f"study-7.{n}" for n in (4, 5, 6)), "cmc")  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Make tables and print them."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and given[0] not in TABLES and not given[0].startswith("-"):
        sys.path.append(str(Path(__file__).parents[1] / "thesis"))
        from experiments.thesis import table as thesis

        thesis.main(given)
        return
    names = []
    while given and given[0] in TABLES:
        names.append(given.pop(0))
    parser = command.Parser(
        __doc__,
        takes="minutes a set",
        prog="table",
        usage="table TABLE [TABLE ...] [OPTIONS]",
        allow_abbrev=False,
    )
    parser.add_argument("--format", choices=FORMATS, default="text")
    of_experiment = bool(names) and set(names) <= {*INTENTS, *ALONE}
    if not of_experiment:
        rankings.add_options(parser)
        parser.add_argument("--sweep", type=Path, help="Of answers: a sweep file, or the folder of a sweep.")
    own, rest = parser.parse_known_args(given) if of_experiment else (parser.parse_args(given), [])
    if not names:
        parser.error(f"expected some of {', '.join(TABLES)}")
    print(printed(make(names, own, rest), own.format), end="")


def make(names: Sequence[str], given: argparse.Namespace, rest: Sequence[str]) -> list[SetTable]:
    """Return the tables in the order asked for; ``rest`` are the options of an experiment."""
    if set(names) & set(ALONE) and len(names) > 1:
        raise InputError(f"expected {' or '.join(ALONE)} alone: their options are those of an experiment")
    if set(names) & set(INTENTS) and not set(names) <= set(INTENTS):
        raise InputError(
            f"expected {', '.join(INTENTS)} without others, because their options are those of an experiment"
        )
    if names[0] in INTENTS:
        from experiments.papers import intents  # needs scikit-learn, as no other table does

        return intents.tables(names, rest)
    if names[0] == "cmc":
        return rankings.matches(rest)
    if names[0] in ALONE:
        from experiments.papers import documents

        return documents.of_chunkers(rest) if names[0] == "study-7.1" else documents.of_embedders(rest)
    swept = [name for name in names if name in answers.MADE]
    ranked = [name for name in names if name not in answers.MADE]
    made = answers.tables(swept, given.sweep) if swept else []
    made += rankings.tables(ranked, given) if ranked else []
    return sorted(made, key=lambda one: names.index(one.number))


if __name__ == "__main__":
    command.run(main)
