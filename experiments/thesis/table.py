"""Reproduces a table of the thesis from any store and files of questions.

    python experiments/thesis/table.py 4.1 --store STORE --questions earth.jsonl qed.jsonl --cache hits

    4.1  one hop: vector, naive hybrid, hybrid (also without mining, and as we mine); hit, precision, recall at 1, 3, 5
    4.2  several hops: the same systems; set coverage, precision, recall, F1, F2 and F3 at 4, 6 and 8
    4.3  each retriever alone: 1, 2 and 3 pages, 1, 3 and 5 sections and entities
    4.4  the hybrid with one thing left out or changed: standardisation, mining, path; and choices of ours
    4.5  importance of the five views: random forest (impurity) and permutation

The store should have no headings in its vectors (``trivium build --no-headings --no-sentences``, or plain_store.py).
All files of ``--questions`` form one training set, and each is evaluated with networks that were not trained on its
pages: 80 % for training and 20 % for evaluation, five times, so that every question is evaluated once (``--splits 1``:
one split, as in the thesis). ``--trained-on`` adds the hybrid trained on other hit lists, as the thesis evaluated
multi-hop questions with a network trained on one-hop questions. ``--selector record:FILE`` lets the language model of
TRIVIUM_CHAT_MODEL select paths and records its choices; ``--selector replay:FILE`` repeats them without a model.
``--set section.sections=3 entity.entities=3`` changes how many results retrievers return. ``--runs FOLDER`` writes a
TREC run of each row with judgements, one folder per set, for ``trivium leaderboard FOLDER``; ``--run-in FILE`` adds the
run of another system to tables 4.1 to 4.4. Requires the extras ``train`` and ``dev``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent))

import published
import systems
import tables
from collect import Source, each_retriever, gold_of, hit_sets
from fuser_settings import MININGS, SAMPLINGS, ThesisSettings

from trivium.errors import InputError, TriviumError
from trivium.evaluation.trec_files import read_runs
from trivium.training.fit import load_keras

TABLES = ("4.1", "4.2", "4.3", "4.4", "4.5")
REPEATS = 10
FOLDS = 5


def main(arguments: Sequence[str] | None = None) -> None:
    """Make one table and print it."""
    given = parser().parse_args(arguments)
    source = Source(given.store, given.questions, given.selector, given.cache, given.set)
    chosen = {"mining": given.mining, "sampling": given.sampling}
    settings = replace(
        ThesisSettings(),
        seed=given.seed,
        epochs=given.epochs,
        **{name: value for name, value in chosen.items() if value is not None},
    )
    try:
        made, text = make(given, source, settings)
    except TriviumError as error:
        sys.exit(f"error: {error}")
    if given.json:
        described = {
            "table": given.table,
            "selector": given.selector,
            "set": given.set,
            "settings": asdict(settings),
        }
        print(json.dumps({**described, **made}, indent=1, ensure_ascii=False))
    else:
        print(text)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("table", choices=TABLES)
    made.add_argument("--store", required=True, help="Folder of the store, or bolt://HOST:PORT.")
    made.add_argument("--questions", type=Path, nargs="+", required=True, help="Question files (JSON Lines).")
    made.add_argument("--selector", help="Path selector: match, llm, record:FILE, replay:FILE.")
    made.add_argument("--cache", type=Path, help="Folder for hit lists; existing ones are reused.")
    made.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="Settings of retrievers.")
    made.add_argument("--runs", type=Path, help="Folder for TREC runs and judgements of the rows.")
    made.add_argument("--run-in", type=Path, nargs="+", default=[], help="TREC runs to add to the table.")
    made.add_argument(
        "--trained-on", type=Path, nargs="+", default=[], metavar="HITS", help="Hit lists (.npz)."
    )
    made.add_argument("--folds", type=int, default=FOLDS, help="Number of folds of the pages; 5 means 80/20.")
    made.add_argument("--splits", type=int, help="Number of folds to evaluate.  [default: all]")
    made.add_argument(
        "--mining", choices=MININGS, help="Mining of the hybrid.  [default: hard, as in the thesis]"
    )
    made.add_argument("--sampling", choices=SAMPLINGS, help="Sampling of the hybrid.  [default: balanced]")
    made.add_argument("--rows", nargs="+", metavar="ROW", help="Train only these rows.")
    made.add_argument("--epochs", type=int, default=ThesisSettings().epochs)
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--json", action="store_true", help="Print one JSON document instead of Markdown.")
    return made


def make(given: argparse.Namespace, source: Source, settings: ThesisSettings) -> tuple[dict[str, Any], str]:
    """Return a table as JSON and as Markdown."""
    if given.table == "4.3":
        found = {path.stem: each_retriever(source, path) for path in source.questions}
        runs = trec_runs(given, source, [key for gold, _ in found.values() for key in gold])
        return _of_sets(
            [
                tables.each_retriever(name, list(gold.values()), tables.measured(name, gold, rankings, runs))
                for name, (gold, rankings) in found.items()
            ]
        )
    training = hit_sets(source)
    if given.table == "4.5":
        of_views = {
            "+".join(one.name for one in training.sets): systems.importance(
                training, settings, given.folds, REPEATS
            )
        }
        told = {"importance": of_views, "published": dict(published.IMPORTANCE)}
        return told, tables.importance_markdown(of_views)
    runs = trec_runs(given, source, [key for one in training.sets for key in one.traced.gold])
    quiet_keras()
    splits = given.folds if given.splits is None else min(given.splits, given.folds)
    known = systems.variants(settings)
    minings = [row for row in (systems.HYBRID, systems.NO_MINING, systems.MIXED) if row in known]
    usual = [*known, systems.FEW] if given.table == "4.4" else minings
    rows = usual if given.rows is None else given.rows
    if unknown := [row for row in rows if row not in (*known, systems.FEW)]:
        raise InputError(
            f"unknown row {', '.join(unknown)}: expected some of {', '.join([*known, systems.FEW])}"
        )
    scores, judged = systems.out_of_fold(
        training,
        {row: known[row] for row in rows if row != systems.FEW},
        given.folds,
        splits,
        settings if systems.FEW in rows else None,
    )
    if given.trained_on:
        on = " and ".join(path.stem for path in given.trained_on)
        for row in rows:
            if row != systems.FEW:
                moved = systems.transferred(given.trained_on, training, known[row])
                scores[f"{row}, trained on {on}"] = moved
    shape = {"4.1": tables.one_hop, "4.2": tables.several_hops, "4.4": tables.left_out}[given.table]
    return _of_sets(tables.set_tables(training, scores, judged, shape, runs, baselines=given.table != "4.4"))


def trec_runs(given: argparse.Namespace, source: Source, ids: Sequence[str]) -> tables.TrecRuns:
    """The runs that are given, and where those of the rows go; the gold of the questions where either needs it."""
    gold = gold_of(source) if given.run_in or given.runs else {}
    return tables.TrecRuns(read_runs(given.run_in, ids), given.runs, gold)


def _of_sets(made: Sequence[tables.SetTable]) -> tuple[dict[str, Any], str]:
    sets: Mapping[str, Any] = {one.name: one.to_json() for one in made}
    return {"sets": sets}, "\n\n".join(one.to_markdown() for one in made)


def quiet_keras() -> None:
    """Use one thread, so that runs are reproducible."""
    _, tf = load_keras()
    with suppress(RuntimeError):  # TensorFlow may be initialised already
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)


if __name__ == "__main__":
    main()
