"""Measures how much evidence of questions about documents is among the first 1, 3, 5 and 10 passages.

    python -m experiments.documents.evidence --sets handbook kubernetes --cache ../evidence
    python -m experiments.documents.evidence --sets financebench --cache ../evidence --json

The systems are ``default`` and ``vector`` on parsed documents (headings, tables, links), and on flat passages of 250
words: a plain vector index (``flat vector``), BM25 (``flat bm25``), and a store of these passages with the default
fusion (``flat default``). ``--named`` also prefixes the passages of the plain indexes with the document's name. A cache
folder keeps everything that was built; after a change of the parsers delete its ``SET-pages``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from experiments import command
from experiments.documents.flat import FlatVectors, FlatWords, records
from experiments.documents.sets import SETS, DocumentSet, EvidenceQuestion, Passage, load_set
from trivium.engine import Engine
from trivium.evaluation.significance import mean_interval, p_value
from trivium.graph.page_graph import PageGraph
from trivium.graph.schema import page_of, page_uri
from trivium.settings.limits import InputLimits
from trivium.settings.settings import load_settings
from trivium.text.normalise import normalise_title

CUTOFFS = (1, 3, 5, 10)
DEPTH = max(CUTOFFS)
COMPARED = "hit@5"

Search = Callable[[str], Sequence[Passage]]


@dataclass(frozen=True, slots=True)
class Options:
    """Command-line options."""

    cache: Path
    embedder: str | None
    sentences: bool
    named: bool
    retrievers: tuple[str, ...]
    limits: InputLimits


def main() -> None:
    parser = command.Parser(__doc__, takes="minutes a set, once its store is built")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS, help="which questions to ask")
    parser.add_argument(
        "--cache", type=Path, help="folder in which stores are kept (default: a temporary one)"
    )
    parser.add_argument("--embedder", help="the embedder of all systems (default: as for a new store)")
    parser.add_argument("--no-sentences", action="store_true", help="embed no sentences: much faster")
    parser.add_argument(
        "--named",
        action="store_true",
        help="also build plain indexes of passages prefixed with their document's name",
    )
    parser.add_argument(
        "--retriever", nargs="*", default=["vector"], help="retrievers to evaluate in addition to default"
    )
    parser.add_argument(
        "--ocr",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="read the text in pictures (default)",
    )
    parser.add_argument(
        "--failures", type=command.output, help="file to write the questions to that default misses at 5"
    )
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    data = Path(os.environ.get("TRIVIUM_DATA", "../shared/data"))
    with tempfile.TemporaryDirectory() as folder:
        cache = given.cache or Path(folder)
        cache.mkdir(parents=True, exist_ok=True)
        options = Options(
            cache,
            given.embedder,
            not given.no_sentences,
            given.named,
            tuple(given.retriever),
            _limits(given.ocr),
        )
        reports = {}
        for one in [load_set(name, data) for name in given.sets]:
            reports[one.name] = evaluate(one, options, given.failures)
            if not given.json:
                _print(one.name, reports[one.name])
    if given.json:
        print(json.dumps(reports, indent=1))


def evaluate(documents: DocumentSet, options: Options, failures: Path | None = None) -> dict[str, object]:
    """Return the measures of every system by kind of question, and the differences between ``default`` and each other
    system.
    """
    systems = _systems(documents, options)
    found: dict[str, dict[str, np.ndarray]] = {}
    kinds = np.array([question.kind for question in documents.questions])
    for name, search in systems.items():
        started = time.perf_counter()
        ranks = [_ranks(question, search(question.text)) for question in documents.questions]
        _say(f"{documents.name}: {name} answered in {time.perf_counter() - started:.0f} s")
        found[name] = _measures(ranks)
        if name == "default" and failures is not None:
            _write_failures(failures, documents.questions, ranks, search)
    groups = {group: number for number, group in enumerate(sorted({q.group for q in documents.questions}))}
    clusters = [groups[question.group] for question in documents.questions]
    return {
        "questions": len(kinds),
        "documents": len(documents.documents),
        "rows": {name: _means(measures) for name, measures in found.items()},
        "kinds": {
            kind: {name: _means(measures, kinds == kind) for name, measures in found.items()}
            for kind in sorted(set(kinds.tolist()))
        },
        "ahead": {
            name: _ahead(found["default"][COMPARED] - measures[COMPARED], clusters)
            for name, measures in found.items()
            if name != "default" and "default" in found
        },
    }


def _ranks(question: EvidenceQuestion, found: Sequence[Passage]) -> list[float]:
    """Return for each evidence the rank (from 1) of the first passage that contains it."""
    return [
        next((rank for rank, passage in enumerate(found, 1) if evidence.held_by(passage)), float("inf"))
        for evidence in question.evidence
    ]


def _measures(ranks: Sequence[Sequence[float]]) -> dict[str, np.ndarray]:
    first = np.array([min(each) for each in ranks])
    last = np.array([max(each) for each in ranks])
    return {f"hit@{k}": (first <= k) * 1.0 for k in CUTOFFS} | {
        f"all@{k}": (last <= k) * 1.0 for k in (5, 10)
    }


def _means(measures: Mapping[str, np.ndarray], rows: np.ndarray | None = None) -> dict[str, float]:
    return {
        name: round(float((values if rows is None else values[rows]).mean()), 4)
        for name, values in measures.items()
    }


def _ahead(differences: np.ndarray, clusters: Sequence[int]) -> dict[str, float]:
    interval = mean_interval(differences, clusters)
    return {
        "mean": round(interval.mean, 4),
        "low": round(interval.low, 4),
        "high": round(interval.high, 4),
        "p": round(p_value(differences, clusters), 4),
    }


def _systems(documents: DocumentSet, options: Options) -> dict[str, Search]:
    flat = list(documents.flat())
    _say(f"{documents.name}: {len(documents.documents)} documents, {len(flat)} flat passages")
    systems: dict[str, Search] = {}
    pages = _store(documents.name + "-pages", [documents.source], options)
    if pages is not None:
        engine, stored_passages = pages
        # Paths are relative to the folder that was read, which may be a parent of the documents' folder.
        root = documents.folder.relative_to(documents.source).as_posix()
        passages = {
            uri: replace(passage, document=passage.document.removeprefix(f"{root}/"))
            for uri, passage in stored_passages.items()
        }
        systems |= _of_store(engine, passages, "", options.retrievers)
    texts = options.cache / f"{documents.name}-flat.jsonl"
    texts.write_text("".join(json.dumps(row) + "\n" for row in records(flat)), "utf-8")
    originals = {page_uri(normalise_title(document)): document for document in documents.documents}
    stored = _store(documents.name + "-flat", [texts], options)
    assert stored is not None
    engine, _ = stored
    # Records do not contain page numbers: equal texts of one document cannot be told apart. A title is the name of the
    # document with spaces for underscores.
    by_text = {
        (page_uri(normalise_title(passage.document)), _squeezed(passage.text)): passage for passage in flat
    }
    of_chunks = {
        uri: by_text.get(
            (page_of(uri), _squeezed(found.text)), replace(found, document=originals[page_of(uri)])
        )
        for uri, found in stored[1].items()
    }
    systems |= _of_store(engine, of_chunks, "flat ", ())
    for label, prefix in {"": False, " named": True}.items():
        if prefix and not options.named:
            continue
        shown = [f"{Path(p.document).stem.replace('_', ' ')}: {p.text}" if prefix else p.text for p in flat]
        _say(f"{documents.name}: plain indexes{label}")
        kept = options.cache / f"{documents.name}{label.replace(' ', '-')}.npy"
        vectors, words = FlatVectors(shown, engine.embedder, kept), FlatWords(shown)
        systems[f"flat vector{label}"] = lambda text, index=vectors: [
            flat[i] for i in index.search(text, DEPTH)
        ]
        systems[f"flat bm25{label}"] = lambda text, index=words: [flat[i] for i in index.search(text, DEPTH)]
    return systems


def _of_store(
    engine: Engine, passages: Mapping[str, Passage], prefix: str, retrievers: Sequence[str]
) -> dict[str, Search]:
    def search(text: str, only: list[str] | None) -> list[Passage]:
        return [passages[hit.uri] for hit in engine.search(text, k=DEPTH, retrievers=only)]

    named: dict[str, Search] = {f"{prefix}default": lambda text: search(text, None)}
    for name in retrievers:
        named[f"{prefix}{name}"] = lambda text, only=name: search(text, [only])
    return named


def _store(name: str, sources: Sequence[Path], options: Options) -> tuple[Engine, dict[str, Passage]] | None:
    """Return a store of sources, built once, with its chunks; None if nothing could be parsed."""
    folder = options.cache / name
    kept = options.cache / f"{name}.chunks.json"
    if folder.exists() and not kept.exists():
        shutil.rmtree(folder)  # left by an interrupted build
    chunks: dict[str, Passage] = {}
    engine = Engine.create(folder, options.embedder)
    if kept.exists():
        rows = json.loads(kept.read_text("utf-8"))
        return engine, {
            uri: Passage(d, t, None if p is None else (p[0], p[1])) for uri, (d, t, p) in rows.items()
        }

    def note(graph: PageGraph) -> None:
        for chunk in graph.chunks:
            chunks[chunk.uri] = Passage(graph.path or graph.uri, chunk.text, chunk.pages)

    started = time.perf_counter()
    report = engine.build(
        [str(s) for s in sources],
        check=note,
        sentences=options.sentences,
        limits=options.limits,
        progress=_Progress(name),
    )
    _say(f"{name}: {report.added} pages, {len(chunks)} chunks in {time.perf_counter() - started:.0f} s")
    for problem in report.problems[:10]:
        _say(f"  {problem.location}: {problem.reason}")
    if not chunks:
        engine.close()
        shutil.rmtree(folder)
        return None
    kept.write_text(json.dumps({uri: (p.document, p.text, p.pages) for uri, p in chunks.items()}), "utf-8")
    return engine, chunks


class _Progress:
    """Reports the progress of a stage every ten seconds."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._said = time.monotonic()

    def __call__(self, stage: str, done: int, total: int) -> None:
        if time.monotonic() - self._said > 10:
            self._said = time.monotonic()
            _say(f"{self._name}: {stage} {done:,} of {total:,}")


def _write_failures(
    path: Path, questions: Sequence[EvidenceQuestion], ranks: Sequence[Sequence[float]], search: Search
) -> None:
    with path.open("a", encoding="utf-8") as file:
        for question, each in zip(questions, ranks, strict=True):
            if min(each) > 5:
                best = [f"{p.document} {p.pages or ''} {p.text[:160]!r}" for p in search(question.text)[:5]]
                wanted = [(sorted(e.documents), sorted(e.pages), e.quotes) for e in question.evidence]
                row = {"id": question.id, "question": question.text, "kind": question.kind, "rank": min(each)}
                file.write(json.dumps(row | {"evidence": wanted, "found": best}, indent=1) + "\n")


def _print(name: str, report: Mapping[str, object]) -> None:
    rows = report["rows"]
    assert isinstance(rows, dict)
    print(f"\n## {name} ({report['questions']} questions, {report['documents']} documents)\n")
    print("| system | " + " | ".join(next(iter(rows.values()))) + " |")
    print("|---|" + "---|" * len(next(iter(rows.values()))))
    for system, means in rows.items():
        print(f"| {system} | " + " | ".join(f"{value:.3f}" for value in means.values()) + " |")
    kinds = report["kinds"]
    assert isinstance(kinds, dict)
    for kind, by_system in kinds.items():
        print(
            f"\n{kind}: "
            + ", ".join(f"{system} {means[COMPARED]:.3f}" for system, means in by_system.items())
        )
    ahead = report["ahead"]
    assert isinstance(ahead, dict)
    for system, difference in ahead.items():
        print(
            f"\ndefault - {system}, {COMPARED}: {difference['mean']:+.3f}"
            f" [{difference['low']:+.3f}, {difference['high']:+.3f}], p = {difference['p']:.3f}"
        )


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _limits(ocr: bool) -> InputLimits:
    limits = load_settings().limits
    return limits if ocr else limits.model_copy(update={"ocr_seconds": 0.0})


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    command.run(main)
