"""Collects the input of the tables: for each question the complete results of the thesis's five retrievers, and the
gold.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuser_settings import ThesisSettings

from trivium.datasets.gold import Gold
from trivium.datasets.questions import read_questions
from trivium.embedding.late_chunking import is_plain
from trivium.engine import Engine
from trivium.errors import InputError
from trivium.evaluation.evaluator import Evaluator
from trivium.fusion.hit_lists import HitFile, HitList, hit_list, load_hits, save_hits
from trivium.retrievers.setting_values import parse_assignments
from trivium.training.training_data import Collection, HitSet
from trivium.types import Question

RETRIEVERS = ThesisSettings().retrievers
WHOLE = {
    "page": ("page.pages", {"1 page": 1, "2 pages": 2, "3 pages": 3}),
    "section": ("section.sections", {"1 section": 1, "3 sections": 3, "5 sections": 5}),
    "entity": ("entity.entities", {"1 entity": 1, "3 entities": 3, "5 entities": 5}),
}
"""Methods whose lists are whole: their setting, and its values by what is retrieved."""
Lists = dict[str, dict[str, list[str]]]
"""Question -> what is retrieved -> chunks of that whole list."""
LONG = 400
"""Characters of a chunk that has several sentences."""


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


def hit_sets(source: Source) -> tuple[Collection, Lists]:
    """Return complete hit lists for each file of questions, of all chunks of the pages, sections and entities found; and
    the lists of fewer pages, sections and entities.
    """
    files: dict[str, HitFile] = {}
    lists: Lists = {}
    for path in source.questions:
        kept = source.kept(path)
        beside = None if kept is None else kept.with_suffix(".lists.json")
        if kept is not None and beside is not None and kept.exists() and beside.exists():
            print(f"{kept} is there: taken as it is", file=sys.stderr)
            files[path.stem], own = load_hits(kept), json.loads(beside.read_text("utf-8"))
        else:
            files[path.stem], own = collect(source, path)
            if kept is not None and beside is not None:
                kept.parent.mkdir(parents=True, exist_ok=True)
                save_hits(kept, files[path.stem])
                beside.write_text(json.dumps(own), "utf-8")
        lists |= {f"{path.stem}/{question}": found for question, found in own.items()}
    return collection_of(files), lists


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


def collect(source: Source, questions: Path) -> tuple[HitFile, Lists]:
    """Query the five retrievers with every question whose gold is in the store, each with its own list length."""
    with source.open() as engine:
        searcher = engine.searcher
        traced = Evaluator(searcher).trace(read_questions(questions))
        retrievers = searcher.retrievers.choose(RETRIEVERS)
        fewer = {
            said: searcher.retrievers.choose([name], {setting: count})[name]
            for name, (setting, counts) in WHOLE.items()
            for said, count in counts.items()
        }
        kept: list[HitList] = []
        lists: Lists = {}
        for number, question in enumerate(traced.questions, start=1):
            with searcher.limited(None) as store:
                query = searcher.query(question.text, store=store)
                table = searcher.table(query, retrievers, None)
                lists[question.id] = {
                    said: [one.uri for one in retriever.retrieve(query, None)]
                    for said, retriever in fewer.items()
                }
            gold = traced.gold[question.id]
            kept.append(hit_list(question.id, question.text, table, gold.groups, gold.pages))
            if number % 50 == 0:
                print(f"  {questions.stem}: {number} of {len(traced.questions)}", file=sys.stderr)
        return HitFile(tuple(kept), searcher.embedder.get().identity.name), lists


def gold_of(source: Source) -> dict[str, dict[str, Gold]]:
    """The gold of each file of questions, by their ids, in the order of the file."""
    with source.open() as engine:
        traced = {
            path.stem: Evaluator(engine.searcher).trace(read_questions(path)) for path in source.questions
        }
    return {name: {one.id: own.gold[one.id] for one in own.questions} for name, own in traced.items()}


def asked_of(source: Source) -> dict[str, dict[str, Question]]:
    """The questions of each file by their ids."""
    return {path.stem: {one.id: one for one in read_questions(path)} for path in source.questions}


def unlike_the_thesis(engine: Engine) -> list[str]:
    """What of a store is not as in the thesis, in words; the tables are made all the same."""
    found = []
    if not is_plain(engine.store.embedder):
        found.append("its chunks are embedded with their headings")
    chunk = next(
        (one.uri for graph in engine.store.page_graphs() for one in graph.chunks if len(one.text) > LONG),
        None,
    )
    if chunk is not None and len(engine.store.sentence_vectors([chunk]).codes):
        found.append("its sentences have vectors")
    return found


def build_rows(rows: Path, store: Path) -> None:
    """Build a store of rows of Natural Questions as in the thesis, if there is none: no headings, no sentences. It can be
    interrupted and repeated. Raises InputError if there are no rows.
    """
    if not rows.exists():
        raise InputError(
            f"expected rows of Natural Questions (.jsonl, .jsonl.gz, or a folder of them), got {rows}: none"
        )
    with Engine.create(store) as engine:
        engine.build([rows], headings=False, sentences=False, format="nq")
