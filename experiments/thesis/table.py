"""Makes the tables of the thesis, from any store and files of questions, or from rows of Natural Questions.

    python experiments/thesis/table.py 4.1 4.4 4.5 figure --store STORE --questions earth.jsonl qed.jsonl --cache hits
    python experiments/thesis/table.py 4.1 --nq ROWS --cache work                # builds the store of the rows first

    4.1     one hop: seven methods; precision, recall, hit, F1 to F3; page, section, entity and path by whole lists
    4.2     several hops, by the network of --trained-on (hit lists of one hop), not trained again
    4.3     answers of a language model (--model) from the first passages: exact match, ROUGE-L, cosine, factual
            correctness (--judge, by ragas), refusals; several hops with --trained-on
    4.4     vector, then global and local standardisation, then mining; without path; and mining of all questions
    4.5     trained on 200 rows
    figure  4.2: importance of the five views, with a picture (--picture FILE.svg)

Published figures stand below the measured ones. All files of --questions are one training set; each question is judged
by a network that was not trained on its fold (--folds 5: 80/20). --split question is the thesis's, document keeps
questions that share a page together; 4.1 has both. The store should have neither headings nor sentences in its vectors
(trivium build --no-headings --no-sentences, or plain_store.py); what is otherwise is said. --selector record:FILE lets a
language model choose the paths, replay:FILE repeats its choices. --runs FOLDER writes TREC runs of the rows, for
trivium leaderboard; --run-in FILE adds the run of another system. Needs pip install -e '.[train,dev]'.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

sys.path.extend(str(Path(__file__).parents[up]) for up in (0, 2))

import answers
import figure
import published
import systems
from collect import Source, asked_of, build_rows, gold_of, hit_sets, unlike_the_thesis
from fuser import add_settings, settings_of
from fuser_settings import SPLITS, ThesisSettings
from tables import TrecRuns, set_tables

from experiments import command
from experiments.papers.formats import FORMATS, printed
from experiments.papers.set_table import SetTable
from trivium.answering.prompt_styles import prompt_style
from trivium.datasets.cross_validation import clusters
from trivium.errors import InputError
from trivium.evaluation.answers.ragas_judge import package_version
from trivium.evaluation.trec_files import read_runs
from trivium.llm.registry import find_chat_model, open_chat_model
from trivium.training.fit import load_keras
from trivium.training.training_data import Collection

TABLES = ("4.1", "4.2", "4.3", "4.4", "4.5", "figure")
TRAINED = {
    "4.1": (systems.HYBRID,),
    "4.2": (systems.HYBRID,),
    "4.3": (systems.HYBRID,),
    "4.4": systems.OF_STEPS,
    "4.5": (systems.HYBRID, systems.FEW),
}
READER = Path(__file__).parent / "prompts" / "reader.toml"


def main(arguments: Sequence[str] | None = None) -> None:
    """Make tables and print them."""
    given = parser().parse_args(arguments)
    settings = settings_of(given)
    source = checked(given)
    made, pictured = make(given, source, settings)
    about = {
        "selector": given.selector,
        "set": given.set,
        "settings": asdict(settings),
        "importance": pictured,
    }
    drawn = [figure.table(name, own) for name, own in pictured.items()]
    records = [
        {"table": "figure", "set": name, "method": view, "source": "measured", "column": of, "value": value}
        for name, own in pictured.items()
        for view, values in own.items()
        for of, value in values.items()
    ]
    print(printed(made, given.format, told=about, more=drawn, records=records), end="")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = command.Parser(__doc__, takes="some minutes after the store; 4.3 as the model takes")
    made.add_argument(
        "tables", choices=TABLES, nargs="+", metavar="TABLE", help=f"Some of {', '.join(TABLES)}."
    )
    made.add_argument("--store", type=command.store, help="Folder of the store, or bolt://HOST:PORT.")
    made.add_argument("--questions", type=command.existing, nargs="+", default=[], help="Question files.")
    made.add_argument("--nq", type=command.existing, help="Rows of Natural Questions, in place of both.")
    made.add_argument("--cache", type=Path, help="Folder for hit lists, answers, and the store of --nq.")
    made.add_argument(
        "--trained-on", type=command.existing, nargs="+", default=[], metavar="HITS", help="Hit lists (.npz)."
    )
    made.add_argument(
        "--rows", nargs="*", metavar="ROW", help="Train these rows; none: only what needs no training."
    )
    made.add_argument("--split", choices=SPLITS, nargs="+", help="[default: document; in 4.1 both]")
    made.add_argument("--splits", type=int, help="Number of folds to judge.  [default: all]")
    made.add_argument("--format", choices=FORMATS, default="text")
    made.add_argument(
        "--picture", type=command.output, default=Path("figure-4.2.svg"), help="[default: figure-4.2.svg]"
    )
    made.add_argument("--selector", help="Of paths: match, llm, record:FILE, replay:FILE.")
    made.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="Settings of retrievers.")
    made.add_argument("--runs", type=Path, help="Folder for TREC runs and judgements of the rows.")
    made.add_argument("--run-in", type=command.existing, nargs="+", default=[], help="TREC runs to add.")
    made.add_argument("--model", help="Reader of 4.3.  [default: TRIVIUM_CHAT_MODEL]")
    made.add_argument("--judge", help="Language model that judges 4.3 by ragas.")
    made.add_argument("--prompt", default=READER, help="Prompt of the reader: a style, or its TOML file.")
    made.add_argument("--sample", type=int, help="Ask so many questions of each set in 4.3.  [default: all]")
    add_settings(made)
    return made


def checked(given: argparse.Namespace) -> Source:
    """Check that all is there before anything takes long; build the store of --nq. Raises InputError in one line."""
    if given.nq is not None:
        if given.store or given.questions or given.cache is None:
            raise InputError(
                "expected --nq with --cache FOLDER, for its store, and without --store and --questions"
            )
        given.store, given.questions = str(given.cache / "store"), [given.nq]
    if not given.store or not given.questions:
        raise InputError("expected --store STORE with --questions FILE..., or --nq ROWS with --cache FOLDER")
    if "4.2" in given.tables and not given.trained_on:
        raise InputError(
            "table 4.2 is by a network of questions with one hop: name their hit lists by --trained-on (--cache of 4.1"
            " keeps them)"
        )
    if {*given.tables} - {"figure"}:
        quiet_keras()
    if "4.3" in given.tables:
        answers.rouge()
        if find_chat_model(given.model) is None:
            raise InputError(
                "table 4.3 needs a reader: --model openai:NAME or another, or TRIVIUM_CHAT_MODEL"
            )
        open_chat_model(given.model)
        prompt_style(given.prompt)
        if given.judge is not None:
            open_chat_model(given.judge)
            package_version()
        else:
            print(
                "4.3: factual correctness is left out: it needs --judge MODEL and the extra ragas",
                file=sys.stderr,
            )
    if "figure" in given.tables:
        figure.need_forests()
    if given.nq is not None:
        build_rows(given.nq, Path(given.store))
    source = Source(given.store, given.questions, given.selector, given.cache, given.set)
    with source.open() as engine:
        if other := unlike_the_thesis(engine):
            print(f"{given.store} is not as in the thesis: {' and '.join(other)}", file=sys.stderr)
    return source


def make(
    given: argparse.Namespace, source: Source, settings: ThesisSettings
) -> tuple[list[SetTable], dict[str, figure.Importance]]:
    """Return the tables in the order asked for, and the importances by set. Rows that several tables have are trained
    once."""
    wanted = [number for number in TABLES if number in given.tables and number != "figure"]
    known = systems.variants(settings)
    named = {number: TRAINED[number] if given.rows is None else tuple(given.rows) for number in wanted}
    if unknown := sorted({row for rows in named.values() for row in rows} - known.keys()):
        raise InputError(f"unknown row {', '.join(unknown)}: expected some of {', '.join(known)}")
    training, lists = hit_sets(source)
    pictured: dict[str, figure.Importance] = {}
    if "figure" in given.tables:
        pictured["+".join(one.name for one in training.sets)] = figure.importance(training, settings)
        given.picture.write_text(figure.picture(pictured), "utf-8")
        print(f"drawn: {given.picture}", file=sys.stderr)
    moved = {
        row: systems.transferred(given.trained_on, training, known[row])
        for row in dict.fromkeys(row for rows in named.values() for row in rows if given.trained_on)
    }
    splits = {number: splits_of(given, number) for number in wanted}
    rows = {
        row_name(row, split): replace(known[row], split=split)
        for number in wanted
        if not given.trained_on
        for split in splits[number]
        for row in named[number]
    }
    count = settings.folds if given.splits is None else given.splits
    scores, judged = systems.out_of_fold(training, rows, count)
    ids = [key for one in training.sets for key in one.traced.gold]
    gold = gold_of(source) if given.run_in or given.runs else {}
    runs = TrecRuns(read_runs(given.run_in, ids), given.runs, gold)
    made: list[SetTable] = []
    for number in wanted:
        own = moved or {
            row_name(row, split): scores[row_name(row, split)]
            for split in splits[number]
            for row in named[number]
        }
        if number == "4.3":
            made += answered(given, source, training, own, judged)
        else:
            made += set_tables(number, training, own, judged, runs, lists)
    return made, pictured


def splits_of(given: argparse.Namespace, number: str) -> Sequence[str]:
    """Return how a table splits its questions."""
    if given.split is not None:
        return given.split
    return SPLITS if number == "4.1" and given.splits is None else SPLITS[:1]


def row_name(row: str, split: str) -> str:
    """Return the name of a trained row."""
    return row if split == "document" else f"{row}{systems.BY_QUESTION}"


def answered(
    given: argparse.Namespace, source: Source, training: Collection, scores: dict[str, Any], judged: Any
) -> list[SetTable]:
    """Return table 4.3 of each set: vector search and the hybrid before the reader."""
    k = 6 if given.trained_on else 3
    asked = asked_of(source)
    made, start = [], 0
    with source.open() as engine:
        reading = answers.Reading(
            engine,
            open_chat_model(given.model),
            prompt_style(given.prompt),
            None if given.judge is None else open_chat_model(given.judge),
            given.cache,
        )
        for one in training.sets:
            places = [n for n in range(start, start + len(one.hits)) if judged[n]]
            start += len(one.hits)
            questions = [asked[one.name][training.hits[n].question_id] for n in places]
            chosen = answers.with_answers(questions, given.sample)
            places, questions = [places[n] for n in chosen], [questions[n] for n in chosen]
            hits = [training.hits[n] for n in places]
            rankings = {systems.VECTOR: [systems.vector_ranking(hit) for hit in hits]}
            rankings |= {row: systems.fused(hits, [own[n] for n in places]) for row, own in scores.items()}
            rows = reading.rows(questions, rankings, k)
            tested = tuple(c for c in answers.COLUMNS if c != "factual" or given.judge is not None)
            cluster = clusters([hit.pages for hit in hits])
            note = f"; reader {reading.model.name}"
            made.append(
                SetTable(
                    "4.3", one.name, rows, cluster, answers.COLUMNS, tested, published.ANSWERS, note=note
                )
            )
    return made


def quiet_keras() -> None:
    """Use one thread, so that runs are reproducible. Raises MissingExtraError."""
    _, tf = load_keras()
    with suppress(RuntimeError):  # TensorFlow may be initialised already
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)


if __name__ == "__main__":
    command.run(main)
