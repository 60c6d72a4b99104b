"""Collects the input of the tables: for each question the complete results of the thesis's five retrievers, and the
gold.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fuser_settings import ThesisSettings

from trivium.datasets.cross_validation import clusters
from trivium.datasets.gold import Gold
from trivium.datasets.questions import read_questions
from trivium.engine import Engine
from trivium.errors import InputError
from trivium.evaluation.evaluator import Evaluator
from trivium.fusion.hit_lists import HitFile, HitList, hit_list, load_hits, save_hits
from trivium.retrievers.setting_values import parse_assignments
from trivium.search.ranking import Ranking
from trivium.training.training_data import Collection, HitSet

RETRIEVERS = ThesisSettings().retrievers
EACH_RETRIEVER: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "vector, 10 chunks": ("vector", {}),
    **{f"page, {n} page{'s' * (n > 1)}": ("page", {"page.pages": n}) for n in (1, 2, 3)},
    **{f"section, {n} section{'s' * (n > 1)}": ("section", {"section.sections": n}) for n in (1, 3, 5)},
    **{f"entity, {n} entit{'ies' if n > 1 else 'y'}": ("entity", {"entity.entities": n}) for n in (1, 3, 5)},
    "path": ("path", {}),
}
"""The rows of table 4.3: retrievers with settings."""


@dataclass(frozen=True, slots=True)
class Source:
    """A store and files of questions about it. ``cache`` is a folder for hit lists, which are read from it if present.
    ``selector`` is the path selector. ``settings`` are settings of retrievers, such as section.sections=3.
    """

    store: str
    questions: Sequence[Path]
    selector: str | None = None
    cache: Path | None = None
    settings: Sequence[str] = ()

    def open(self) -> Engine:
        """The engine that is asked."""
        return Engine.open(self.store, selector=self.selector, settings=parse_assignments(self.settings))

    def kept(self, questions: Path) -> Path | None:
        """Where the hit lists of a file are kept, those of other settings apart."""
        if self.cache is None:
            return None
        return self.cache / f"{','.join([questions.stem, *sorted(self.settings)])}.npz"


def hit_sets(source: Source) -> Collection:
    """Return complete hit lists for each file of questions: all chunks of the pages, sections and entities found."""
    files: dict[str, HitFile] = {}
    for path in source.questions:
        kept = source.kept(path)
        if kept is not None and kept.exists():
            print(f"{kept} is there: taken as it is", file=sys.stderr)
            files[path.stem] = load_hits(kept)
            continue
        files[path.stem] = collect(source, path)
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            save_hits(kept, files[path.stem])
    return collection_of(files)


def collection_of(files: Mapping[str, HitFile]) -> Collection:
    """Combine named hit lists into one collection. Raises InputError if there are none, or if their embedders differ."""
    embedders = {file.embedder for file in files.values()}
    if len(embedders) != 1 or not all(file.hits for file in files.values()):
        raise InputError(
            f"expected hit lists of one embedder, got those of {', '.join(sorted(embedders)) or 'none'} in"
            f" {', '.join(files)} ({', '.join(str(len(file.hits)) for file in files.values())} questions)"
        )
    sets = tuple(HitSet(name, file.hits, "") for name, file in files.items())
    return Collection(sets, embedders.pop())


def collect(source: Source, questions: Path) -> HitFile:
    """Query the five retrievers with every question whose gold is in the store, each with its own list length."""
    with source.open() as engine:
        searcher = engine.searcher
        traced = Evaluator(searcher).trace(read_questions(questions))
        retrievers = searcher.retrievers.choose(RETRIEVERS)
        kept: list[HitList] = []
        for number, question in enumerate(traced.questions, start=1):
            with searcher.limited(None) as store:
                table = searcher.table(searcher.query(question.text, store=store), retrievers, None)
            gold = traced.gold[question.id]
            kept.append(hit_list(question.id, question.text, table, gold.groups, gold.pages))
            if number % 50 == 0:
                print(f"  {questions.stem}: {number} of {len(traced.questions)}", file=sys.stderr)
        return HitFile(tuple(kept), searcher.embedder.get().identity.name)


def each_retriever(source: Source, questions: Path) -> tuple[dict[str, Gold], dict[str, list[Ranking]]]:
    """Return the gold of the questions by id, and the complete rankings of each row of table 4.3."""
    with source.open() as engine:
        searcher = engine.searcher
        traced = Evaluator(searcher).trace(read_questions(questions))
        made = {
            row: searcher.retrievers.choose([name], values)[name]
            for row, (name, values) in EACH_RETRIEVER.items()
        }
        rankings: dict[str, list[Ranking]] = {row: [] for row in made}
        for question in traced.questions:
            with searcher.limited(None) as store:
                query = searcher.query(question.text, store=store)
                for row, retriever in made.items():
                    found = retriever.retrieve(query, None)
                    rankings[row].append([(one.uri, one.score) for one in found])
        return {question.id: traced.gold[question.id] for question in traced.questions}, rankings


def gold_of(source: Source) -> dict[str, dict[str, Gold]]:
    """The gold of each file of questions, by their ids, in the order of the file."""
    with source.open() as engine:
        traced = {
            path.stem: Evaluator(engine.searcher).trace(read_questions(path)) for path in source.questions
        }
    return {name: {one.id: own.gold[one.id] for one in own.questions} for name, own in traced.items()}


def documents(gold: Sequence[Gold]) -> np.ndarray:
    """Return the document of each question, (questions,): questions with common gold pages have the same number."""
    return clusters([answer.pages for answer in gold])
