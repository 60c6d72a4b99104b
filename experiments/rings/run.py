"""Trivium's default, its parts and what a user would take instead: the same vectors, texts, questions and machine.

    pip install bm25s PyStemmer qdrant-client lancedb
    python -m experiments.rings.run --out rings
    python -m experiments.rings.run --out rings --only cranfield stackfaq --limit 100

From an empty folder: of each set a store is built from ``--data`` (by bge-small, in ``OUT/stores``; ``--stores FOLDER``
names one with stores that exist), the questions are traced, every system is asked each question for 100 passages, and
the rankings are written as TREC runs with judgements and times (``OUT/SET``). A set that is there is not asked again, so
that an interrupted run goes on. At the end the tables are printed and written to ``OUT/tables.md``: a mark is a
significant difference from the default (paired permutation test by document, Holm's correction over the systems), a star
a set of which questions were in the default's training.
"""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import trivium
from experiments import command
from experiments.rings import peers
from trivium.datasets.questions import read_questions
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.leaderboard import Leaderboard, read_leaderboard
from trivium.evaluation.report import Ranking
from trivium.evaluation.tables import Cell, Table, share
from trivium.evaluation.trec_files import write_rankings
from trivium.graph.records import Vectors
from trivium.graph.schema import Label, embedding_text, headings_as_text
from trivium.types import Question

EMBEDDER = "bge-small"
DEFAULT = "default"
FUSIONS = (DEFAULT, "convex")
PARTS = ("vector", "lexical", "walk")
MEASURES = ("ndcg@10", "recall@100")
BATCH = 10_000


@dataclass(frozen=True, slots=True)
class Set:
    """A set of questions on the passages of some files, all below the data folder. ``trained``: questions of this set
    were in the training of the default. ``judged``: every relevant passage is to be found, not any of them.
    """

    name: str
    corpus: tuple[str, ...]
    questions: str
    trained: bool = False
    judged: bool = False
    measures: tuple[str, ...] = MEASURES

    @property
    def store(self) -> str:
        """The name of its store, which sets of the same passages share."""
        return "multihop" if len(self.corpus) > 1 else self.name


def _public(name: str, *, trained: bool = False, judged: bool = False) -> Set:
    return Set(name, (f"public/{name}/corpus.jsonl",), f"public/{name}/questions.jsonl", trained, judged)


def _domain(name: str, *, trained: bool = False, judged: bool = False) -> Set:
    return Set(name, (f"domains/{name}_corpus.jsonl",), f"domains/{name}_questions.jsonl", trained, judged)


_HOPS = ("hotpotqa", "2wiki", "musique")
_POOL = tuple(f"multihop/{name}_corpus.jsonl" for name in (*_HOPS, "hotpotqa_train", "musique_train"))


def _hops(name: str, *, pooled: bool) -> Set:
    questions = f"multihop/{name}_questions.jsonl"
    corpus = _POOL if pooled else (f"multihop/{name}_corpus.jsonl",)
    return Set(
        f"{name}_pool" if pooled else name, corpus, questions, True, measures=("recall@5", "all@5", *MEASURES)
    )


SETS = (
    _domain("cranfield", judged=True),
    _public("cisi", judged=True),
    _public("cacm", judged=True),
    _public("npl", judged=True),
    _domain("stackfaq"),
    _public("pubmedqa"),
    _public("clapnq"),
    _public("squad2"),
    _public("dragonball"),
    _public("ect_qa"),
    _domain("fairytaleqa", trained=True),
    _public("cosqa", trained=True),
    _public("legalbench_rag", trained=True),
    _public("tatqa", trained=True),
    _public("chunking_eval", trained=True),
    _public("node_versions", trained=True),
    *(_hops(name, pooled=False) for name in _HOPS),
    *(_hops(name, pooled=True) for name in _HOPS),
)


def main() -> None:
    """Ask what is not asked yet, print the tables and write them."""
    parser = command.Parser(
        __doc__, takes="an hour, most of it to embed; a set that is there is not asked again"
    )
    parser.add_argument("--out", type=Path, required=True, help="Folder of the results.")
    parser.add_argument("--data", type=command.existing, default="../shared/data", help="Folder of the data.")
    parser.add_argument(
        "--stores", type=command.existing, help="Folder of stores that exist, named as the sets."
    )
    parser.add_argument("--only", nargs="+", choices=[one.name for one in SETS], help="Only these sets.")
    parser.add_argument("--limit", type=int, default=200, help="Maximum number of questions per set (200).")
    given = parser.parse_args()
    parser.need(peers.PACKAGES)
    chosen = [one for one in SETS if given.only is None or one.name in given.only]
    lacking = [
        path for one in chosen for path in (*one.corpus, one.questions) if not (given.data / path).is_file()
    ]
    if lacking:
        parser.error(f"expected in {given.data} (--data) also the files {', '.join(dict.fromkeys(lacking))}")
    for one in chosen:
        folder = given.out / one.name
        if not (folder / "times.json").exists():
            ask(one, given.data, given.stores or given.out / "stores", folder, given.limit)
    done = [one for one in SETS if (given.out / one.name / "times.json").exists()]
    written = "\n\n".join(tables(done, given.out))
    print(written)
    (given.out / "tables.md").write_text(written + "\n", "utf-8")


def ask(one: Set, data: Path, stores: Path, folder: Path, limit: int) -> None:
    """Ask every system the questions of a set, and write runs, judgements and times, these last."""
    with opened(one, data, stores) as engine:
        questions = read(data / one.questions, folder, one.judged)
        traced = Evaluator(engine.searcher).trace(questions)
        drawn = random.Random(0).sample(traced.questions, min(limit, len(traced.questions)))
        corpus = passages(engine)
        shutil.rmtree(folder, ignore_errors=True)
        with TemporaryDirectory(prefix="trivium-rings-") as made:
            systems = {**ours(engine), **{made.name: made.ask for made in peers.make(corpus, Path(made))}}
            rankings: dict[str, list[Ranking]] = {name: [] for name in systems}
            seconds: dict[str, list[float]] = {name: [] for name in systems}
            shuffled = random.Random(0)
            for question in drawn:
                vector = engine.embedder.embed_query(question.text)
                engine.search(
                    question.text, 1, ["vector"]
                )  # now the engine knows the vector, too: nobody embeds
                for name in shuffled.sample(list(systems), len(systems)):
                    begun = time.perf_counter()
                    rankings[name].append(systems[name](question.text, vector))
                    seconds[name].append(time.perf_counter() - begun)
    write_rankings({question.id: traced.gold[question.id] for question in drawn}, rankings, folder)
    told = {
        "passages": len(corpus.uris),
        "questions": len(drawn),
        "traced": len(traced.questions),
        "asked": traced.asked,
        "versions": peers.versions(),
        "milliseconds": {
            name: None if name.startswith(peers.UNTIMED) else 1000 * float(np.median(own))
            for name, own in seconds.items()
        },
    }
    (folder / "times.json").write_text(json.dumps(told, indent=2) + "\n", "utf-8")
    print(f"{one.name}: {len(drawn)} of {traced.asked} questions, {len(corpus.uris):,} passages", flush=True)


def opened(one: Set, data: Path, stores: Path) -> trivium.Engine:
    """Open the store of a set, which is built if there is none or it is not finished."""
    store = stores / one.store
    if (store / "graph.db").exists() and not (store.with_suffix(".building")).exists():
        return trivium.Engine.open(store)
    store.parent.mkdir(parents=True, exist_ok=True)
    store.with_suffix(".building").touch()
    engine = trivium.Engine.create(store, EMBEDDER)
    engine.build([data / path for path in one.corpus])
    store.with_suffix(".building").unlink()
    return engine


def read(path: Path, folder: Path, judged: bool) -> list[Question]:
    """Read questions. Some files have keys of Trivium's in another form, which are left out, and empty answers."""
    rows = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]
    for row in rows:
        if not all(isinstance(part, dict) for part in row.get("evidence") or ("none",)):
            row.pop("evidence", None)
        row["answers"] = [answer for answer in row.get("answers") or () if str(answer).strip()]
    folder.mkdir(parents=True, exist_ok=True)
    plain = folder / "questions.jsonl"
    plain.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    questions = read_questions(plain)
    return [replace(question, gold_any=False) for question in questions] if judged else questions


def passages(engine: trivium.Engine) -> peers.Corpus:
    """Return all chunks of a store with the texts that were embedded, and their vectors."""
    uris = list(engine.store.chunk_uris())
    texts: list[str] = []
    vectors: list[Vectors] = []
    for begin in range(0, len(uris), BATCH):
        some = uris[begin : begin + BATCH]
        vectors.append(engine.store.vectors(Label.CHUNK, some))
        texts += [embedding_text(headings_as_text(one.section), one.text) for one in engine.store.fetch(some)]
    return peers.Corpus(uris, texts, np.concatenate(vectors))


def ours(engine: trivium.Engine) -> dict[str, Callable[[str, Vectors], Ranking]]:
    """Return the default and its parts, by name."""

    def searched(name: str) -> Callable[[str, Vectors], Ranking]:
        views, fusion = (None, name) if name in FUSIONS else ([name], None)
        return lambda text, _: [(hit.uri, hit.score) for hit in engine.search(text, peers.K, views, fusion)]

    return {name: searched(name) for name in (*FUSIONS, *PARTS)}


def tables(sets: Sequence[Set], out: Path) -> Iterator[str]:
    """Yield the tables as Markdown, each below its title: one for each measure, with the number of groups of documents
    that the tests resample, then milliseconds.
    """
    told = {one.name: json.loads((out / one.name / "times.json").read_text("utf-8")) for one in sets}
    systems = list(next(iter(told.values()))["milliseconds"])
    for measure in dict.fromkeys(measure for one in sets for measure in one.measures):
        table = Table(["set", "questions", "groups", *systems])
        means: dict[Set, list[float]] = {}
        for one in sets:
            if measure in one.measures:
                board = read_leaderboard(out / one.name, measure, DEFAULT)
                table.add_row(
                    *_counts(one, told[one.name]["questions"], board.clusters), *_means(board, systems)
                )
                places = {place.name: place.means[measure] for place in board.places}
                means[one] = [places[name] for name in systems]
        new = [own for one, own in means.items() if not one.trained]
        if len(new) > 1:
            each = np.mean(new, axis=0).tolist()
            cells = [Cell(share(mean), best=share(mean) == share(max(each))) for mean in each]
            table.add_row(f"mean of the {len(new)} without a star", "", "", *cells)
        yield f"{measure}\n\n{table.to_markdown()}"
    times = Table(["set", "questions", "passages", *systems])
    for one in sets:
        own = told[one.name]
        times.add_row(
            *_counts(one, own["questions"], own["passages"]),
            *map(_milliseconds, own["milliseconds"].values()),
        )
    yield f"milliseconds of a search (median)\n\n{times.to_markdown()}"


def _counts(one: Set, *numbers: int) -> list[str]:
    return [
        one.name.replace("_", "-") + (" ★" if one.trained else ""),
        *(f"{number:,}" for number in numbers),
    ]


def _milliseconds(median: float | None) -> str:
    return "-" if median is None else f"{median:.1f}"


def _means(board: Leaderboard, systems: Sequence[str]) -> list[Cell]:
    places = {place.name: place for place in board.places}
    shown = {name: share(places[name].means[board.measure]) for name in systems}
    best = max(shown.values(), key=float)
    return [Cell(shown[name], best=shown[name] == best, mark=places[name].mark) for name in systems]


if __name__ == "__main__":
    command.run(main)
