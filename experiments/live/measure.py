"""Measures whether one ranking over a collection and live sources finds what each of them finds alone.

Half of the questions can be answered only by the collection, half only by live sources; all are asked of every source.
Recorded answers are served by a local server in the formats of the real APIs (SearXNG, arXiv). There are two settings:

- ``other``: the collection is the sample encyclopaedia, the web is passages of QED, and arXiv is abstracts of
  Cranfield, read from TRIVIUM_DATA at run time; the sources are about other topics than the collection.
- ``same``: the collection is half of the pages of the sample, and the web is the other half. Both are about the same
  topic, so that right passages of one side compete with similar ones of the other. Needs no data.
"""

from __future__ import annotations

import json
import math
import os
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments import command
from tests.fakes.live_server import Known, LiveServer, live_server
from trivium.datasets.questions import read_questions
from trivium.datasets.trace_gold import trace
from trivium.engine import Engine
from trivium.errors import InputError
from trivium.graph.filter_language import parse
from trivium.live.ask_sources import LiveSources
from trivium.sample import pages_folder, question_files
from trivium.search import candidates
from trivium.search.fuse import fuse_candidates
from trivium.search.ranking import order
from trivium.settings.settings import load_settings
from trivium.text.normalise import terms
from trivium.types import Question

CUTOFF = 5
DATA = Path(os.environ.get("TRIVIUM_DATA", "../shared/data"))


@dataclass(frozen=True)
class Asked:
    """A question, with the uris of its gold passages, or their texts if they are live."""

    text: str
    uris: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()


class Pool:
    """Passages of a search engine, ranked by BM25."""

    def __init__(self, passages: Iterable[tuple[str, str]]) -> None:
        self.passages = list(dict.fromkeys(passages))
        self._counts = [Counter(terms(f"{title} {text}")) for title, text in self.passages]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean = sum(self._lengths) / len(self._lengths)
        self._found: dict[str, list[int]] = {}
        for number, counts in enumerate(self._counts):
            for term in counts:
                self._found.setdefault(term, []).append(number)

    def best(self, question: str, k: int) -> list[Known]:
        """Return the k best passages in the form of a source."""
        scores: dict[int, float] = {}
        for term in dict.fromkeys(terms(question)):
            having = self._found.get(term, [])
            idf = math.log1p((len(self.passages) - len(having) + 0.5) / (len(having) + 0.5))
            for number in having:
                count = self._counts[number][term]
                norm = 0.9 * (0.6 + 0.4 * self._lengths[number] / self._mean)
                scores[number] = scores.get(number, 0.0) + idf * count * 1.9 / (count + norm)
        ranked = sorted(scores, key=lambda number: (-scores[number], number))[:k]
        return [Known(*self.passages[number], path=str(number)) for number in ranked]


def squeezed(text: str) -> str:
    return " ".join(text.split())


def read(name: str) -> list[dict[str, object]]:
    file = DATA / name
    if not file.is_file():
        raise InputError(
            f"expected evaluation data at {file}: set TRIVIUM_DATA, or measure only  --setting same"
        )
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def of_data(corpus: str, questions: str, count: int, rng: random.Random) -> tuple[Pool, list[Asked]]:
    """Return the passages of a set, and some of its questions."""
    pool = Pool((str(row["title"]), squeezed(str(row["text"]))) for row in read(corpus) if row["text"])
    rows = [row for row in read(questions) if row.get("gold_passages")]
    asked = []
    for row in rng.sample(rows, count):
        gold = [passage for passage in row["gold_passages"] if passage.get("grade", 3) >= 2]  # type: ignore[attr-defined]
        gold = gold or row["gold_passages"]
        asked.append(Asked(str(row["question"]), texts=frozenset(squeezed(p["text"]) for p in gold)))
    return pool, asked


def of_collection(engine: Engine, questions: Sequence[Question]) -> list[Asked]:
    """Return questions that the collection answers, with the uris of their gold."""
    traced = trace(questions, engine.store)
    return [
        Asked(
            question.text, uris=frozenset(uri for group in traced.gold[question.id].groups for uri in group)
        )
        for question in traced.questions
    ]


def outside(half: int, rng: random.Random) -> tuple[dict[str, Pool], list[Asked]]:
    """Return the pools of the setting ``other``, and the questions about them."""
    web, of_web = of_data("nq/qed_corpus.jsonl", "nq/qed_questions.jsonl", half - half // 2, rng)
    papers, of_papers = of_data(
        "domains/cranfield_corpus.jsonl", "domains/cranfield_questions.jsonl", half // 2, rng
    )
    return {"web": web, "papers": papers}, [*of_web, *of_papers]


def other(
    engine: Engine, pools: dict[str, Pool], away: list[Asked], half: int, rng: random.Random
) -> tuple[list[Asked], dict[str, Pool]]:
    """Return the questions and pools of the setting ``other``."""
    home = of_collection(engine, [q for file in question_files() for q in read_questions(file)])
    return [*rng.sample(home, half), *away], pools


def same(engine: Engine, whole: Engine, half: int, rng: random.Random) -> tuple[list[Asked], dict[str, Pool]]:
    """Return the questions and pools of the setting ``same``."""
    questions = [q for file in question_files() for q in read_questions(file) if "single" in file.name]
    mine = set(engine.pages())
    home = of_collection(engine, [q for q in questions if q.page in mine])
    pages = [page for page in whole.pages() if page not in mine]
    uris = [uri for uri in whole.store.chunk_uris() if uri.split("#", 1)[0] in set(pages)]
    texts = {record.uri: squeezed(record.text) for record in whole.store.fetch(uris)}
    pool = Pool((record.page, squeezed(record.text)) for record in whole.store.fetch(uris))
    away = [
        Asked(asked.text, texts=frozenset(texts[uri] for uri in asked.uris))
        for asked in of_collection(whole, [q for q in questions if q.page not in mine])
        if asked.uris <= texts.keys()
    ]
    half = min(half, len(home), len(away))
    return [*rng.sample(home, half), *rng.sample(away, half)], {"web": pool}


Row = dict[str, list[bool]]


def measure(
    engine: Engine,
    whole: Engine,
    server: LiveServer,
    asked: Sequence[Asked],
    pools: dict[str, Pool],
    fusions: Sequence[str],
) -> dict[str, Row]:
    """Return fusion -> system -> whether each question was a hit. ``whole`` is a store with the passages of both sides,
    if it is not ``engine``.
    """
    sources = ["searxng", "arxiv"] if "papers" in pools else ["searxng"]
    rows: dict[str, Row] = {name: {} for name in fusions}
    searcher = engine.searcher
    retrievers = searcher.retrievers.choose()
    for question in asked:
        server.documents = pools["web"].best(question.text, 10)
        server.papers = pools["papers"].best(question.text, 30) if "papers" in pools else []

        def right(uri: str, text: str, question: Asked = question) -> bool:
            return uri in question.uris or squeezed(text) in question.texts

        def note(fusion: str, system: str, hit: bool) -> None:
            rows[fusion].setdefault(system, []).append(hit)

        answers = searcher.live.ask(question.text, sources)
        assert not any(outcome.error for outcome in answers.outcomes), answers.outcomes
        offered = [found.document.text for found in answers.documents]
        for name in fusions:
            fusion = searcher.fusions.get(name)
            note(name, "offered by the sources", any(right("", text) for text in offered))
            note(name, "live, in the order of the sources", any(right("", text) for text in offered[:CUTOFF]))
            for system, given, where in (
                ("collection alone", None, None),
                ("live alone", answers, "format in (web, arxiv)"),
                ("one ranking", answers, None),
            ):
                condition = None if where is None else parse(where)
                with searcher.limited(condition, question.text, given) as store:
                    query = searcher.query(question.text, store=store)
                    table, fused = fuse_candidates(query, retrievers, fusion, CUTOFF)
                    best = [table.chunks[row] for row in order(table.chunks, fused.scores)[:CUTOFF]]
                    hits = store.fetch(best)
                    note(name, system, any(right(hit.uri, hit.text) for hit in hits))
            if whole is not engine:
                everything = whole.search(question.text, CUTOFF, fusion=name)
                note(name, "both in one collection", any(right(hit.uri, hit.text) for hit in everything))
    return rows


def build(folder: Path, embedder: str, keep: Callable[[Path], bool] = lambda _: True) -> Engine:
    engine = Engine.create(folder, embedder)
    engine.build([str(file) for file in sorted(pages_folder().iterdir()) if keep(file)], workers=1)
    return engine


def show(title: str, rows: dict[str, Row], half: int) -> None:
    print(f"\n{title}\n")
    print(f"| hit@{CUTOFF} | all | answered by the collection | answered live |\n|---|---|---|---|")
    for fusion, systems in rows.items():
        for system, hits in systems.items():
            if fusion != next(iter(rows)) and system in (
                "offered by the sources",
                "live, in the order of the sources",
            ):
                continue
            told = (
                system
                if " of the sources" in system or system.startswith("offered")
                else f"{system}, {fusion}"
            )
            parts = [np.mean(hits), np.mean(hits[:half]), np.mean(hits[half:])]
            print(f"| {told} | {' | '.join(f'{part:.3f}' for part in parts)} |")


def main() -> None:
    parser = command.Parser(__doc__, takes="minutes")
    parser.add_argument("--embedder", default="bge-small")
    parser.add_argument("--setting", choices=("other", "same"), default="other")
    parser.add_argument("--half", type=int, default=20, help="number of questions that each side answers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fusion", nargs="+", default=["default", "convex", "rrf"])
    parser.add_argument(
        "--links", choices=("borrowed", "lowest"), default="borrowed", help="link features of live passages"
    )
    given = parser.parse_args()
    if given.links == "lowest":
        candidates.borrow = lambda table, *_: table
    rng = random.Random(given.seed)
    away = outside(given.half, rng) if given.setting == "other" else ({}, [])
    with tempfile.TemporaryDirectory() as folder, live_server() as server:
        whole = build(Path(folder) / "whole", given.embedder)
        engine = whole
        if given.setting == "same":
            files = sorted(file.name for file in pages_folder().iterdir())
            mine = set(rng.sample(files, len(files) // 2))
            engine = build(Path(folder) / "half", given.embedder, lambda file: file.name in mine)
        given_settings = server.settings(live_cache_seconds=0.0, live_seconds=60.0)
        settings = load_settings().model_copy(update=given_settings)
        object.__setattr__(engine.searcher, "live", LiveSources(settings))
        asked, pools = (
            same(engine, whole, given.half, rng)
            if given.setting == "same"
            else other(engine, *away, given.half, rng)
        )
        rows = measure(engine, whole, server, asked, pools, given.fusion)
        show(
            f"{given.setting}, {given.embedder}, {len(asked)} questions, seed {given.seed}, links {given.links}",
            rows,
            len(asked) // 2,
        )
        whole.close()
        if engine is not whole:
            engine.close()


if __name__ == "__main__":
    command.run(main)
