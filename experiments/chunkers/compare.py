"""Compares chunkers: retrieval quality and cost.

Each row is a store of the same documents, chunked and embedded differently, and asked the same questions. A passage is
relevant if it belongs to the right document and contains at least 60 % of the distinct word trigrams of a quote of the
evidence (for shorter quotes, all words in sequence), so that chunks of any size are judged by the same quotes.

    python -m experiments.chunkers.compare squad --pages 3 --questions 30
    python -m experiments.chunkers.compare handbook --pages 12 --questions 60 --json
    python -m experiments.chunkers.compare own --documents trivium/sample/pages \\
        --file trivium/sample/questions_single_hop.jsonl

``own`` takes documents and a question file of your own. The quotes of a question are its ``evidence``, the sentence of
its ``paragraph`` that contains the answer, or its ``gold_passages``; with ``document`` and ``pages``, passages on these
pages are relevant. Questions with none of these are skipped.

Texts shared by all rows (titles, headings) are embedded once, before the rows are timed; no sentences are embedded.
``seconds`` is the processor time to parse, chunk, load and embed.
"""

from __future__ import annotations

import json
import os
import random
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from experiments import command
from experiments.documents.sets import DocumentSet, EvidenceQuestion, load_set
from trivium import Engine
from trivium.chunking.chunker_spec import parse_spec
from trivium.embedding.embedder import Vectors
from trivium.embedding.late_chunking import WholeText
from trivium.embedding.onnx import OnnxEmbedder
from trivium.errors import InputError
from trivium.graph.schema import embedding_text, headings_of, page_uri
from trivium.text.normalise import normalise_title, sentences, words

DATA = Path(os.environ.get("TRIVIUM_DATA", "../shared/data"))
ROWS = (
    "blocks",
    "fixed:300/50",
    "fixed:500/50",
    "fixed:1000/200c",
    "sentence:200",
    "recursive:300",
    "semantic:300",
    "agentic",
    "blocks --late",
    "sentence:200 --late",
)
SHARE = 0.6
KS = (1, 3, 5)

T = TypeVar("T")


@dataclass(frozen=True)
class Asked:
    """A question with quotes of its evidence and their documents, or with the numbers of the pages that answer it."""

    text: str
    quotes: tuple[tuple[str, str], ...]
    pages: frozenset[int] = frozenset()


class SharedEmbedder:
    """An embedder that caches the vectors of texts shared by all rows."""

    def __init__(self, name: str) -> None:
        self._inner = OnnxEmbedder(name)
        self.identity = self._inner.identity
        self._kept: dict[str, Vectors] = {}

    def keep(self, texts: Sequence[str]) -> None:
        self._kept.update(zip(texts, self._inner.embed(texts), strict=True))

    def embed_query(self, text: str) -> Vectors:
        return self._inner.embed_query(text)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        new = [text for text in texts if text not in self._kept]
        found = dict(zip(new, self._inner.embed(new, progress), strict=True))
        rows = [self._kept.get(text, found.get(text)) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.identity.dimension)

    def embed_spans(
        self, documents: Sequence[WholeText], progress: Callable[[int], None] | None = None
    ) -> list[Vectors]:
        return self._inner.embed_spans(documents, progress)

    def close(self) -> None:
        self._inner.close()


def squad(folder: Path, pages: int, questions: int) -> tuple[list[Path], list[Asked]]:
    """Return Wikipedia pages, and for each question the sentence of its paragraph that contains the answer."""
    rows = [json.loads(line) for line in (DATA / "wiki/squad_questions.jsonl").read_text().splitlines()]
    index = [json.loads(line) for line in (DATA / "wiki/pages_index.jsonl").read_text().splitlines()]
    files = {row["page_name"].replace(" ", "_"): row["file"] for row in index if row["canonical_file"]}
    chosen = sorted({row["page"] for row in rows} & files.keys())
    chosen = random.Random(1).sample(chosen, min(pages, len(chosen)))
    wanted = {f"pages/{files[page]}" for page in chosen}
    with tarfile.open(DATA / "wiki/pages.tar.xz") as archive:
        for member in archive:
            if member.name in wanted:
                (folder / Path(member.name).name).write_bytes(archive.extractfile(member).read())  # type: ignore[union-attr]
                wanted.remove(member.name)
                if not wanted:
                    break
    taken = _sample([row for row in rows if row["page"] in chosen], questions)
    return sorted(folder.iterdir()), [
        Asked(row["question"], (_quote(row["page"], row["paragraph"], row["answers"]),)) for row in taken
    ]


def _quote(page: str, paragraph: str, answers: Sequence[str]) -> tuple[str, str]:
    """A page and the first sentence of its paragraph that has an answer; the paragraph, where none has."""
    wanted = [" ".join(words(answer)) for answer in answers]
    said = [paragraph[a:b] for a, b in sentences(paragraph)]
    held = [one for one in said if any(answer in " ".join(words(one)) for answer in wanted)] or [paragraph]
    return page_uri(normalise_title(page)), held[0]


def own_questions(file: Path, questions: int) -> list[Asked]:
    """A sample of the questions of a file that say where their evidence is. Raises InputError where none does."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
    found = [one for row in rows if (one := _own(row)).quotes]
    if not found:
        raise InputError(
            f"{file}: expected questions with evidence, paragraph, gold_passages, or document and pages"
        )
    return _sample(found, questions)


def _own(row: dict[str, Any]) -> Asked:
    text, quotes, pages = row["question"], [], frozenset[int]()
    if "pages" in row and "document" in row:
        quotes, pages = [(_name(row["document"]), "")], frozenset(row["pages"])
    elif "evidence" in row:
        quotes = [(_name(each["document"]), quote) for each in row["evidence"] for quote in each["quotes"]]
    elif "gold_passages" in row:
        quotes = [(page_uri(normalise_title(one["title"])), one["text"]) for one in row["gold_passages"]]
    elif "paragraph" in row:
        quotes = [_quote(row["page"], row["paragraph"], row.get("answers", ()))]
    return Asked(text, tuple(quotes), pages)


def handbook(folder: Path, pages: int, questions: int) -> tuple[list[Path], list[Asked]]:
    """Return Markdown pages of a handbook, and the questions that do not depend on a conversation."""
    documents = load_set("handbook", DATA)
    files = sorted(map(Path, documents.documents))
    chosen = [path.as_posix() for path in random.Random(1).sample(files, min(pages, len(files)))]
    every = _sample(documents.questions, len(documents.questions))
    alone = [question for question in every if question.kind != "contextual_anaphora"]
    return _taken(documents, chosen, alone, folder, questions)


def kubernetes(folder: Path, pages: int, questions: int) -> tuple[list[Path], list[Asked]]:
    """Return Markdown documentation, first the pages that answer the questions, then others."""
    documents = load_set("kubernetes", DATA)
    wanted = sorted({name for question in documents.questions for name in question.evidence[0].documents})
    others = [name for name in documents.documents if name not in wanted]
    chosen = (wanted + random.Random(1).sample(others, len(others)))[:pages]
    return _taken(documents, chosen, documents.questions, folder, questions)


def financebench(folder: Path, pages: int, questions: int) -> tuple[list[Path], list[Asked]]:
    """Return filings in PDF, those with the most questions first, ties by size."""
    documents = load_set("financebench", DATA)
    count = Counter(question.group for question in documents.questions)
    sizes = {name: (documents.folder / name).stat().st_size for name in documents.documents}
    chosen = sorted(sizes, key=lambda name: (-count[name], sizes[name]))[:pages]
    return _taken(documents, chosen, documents.questions, folder, questions)


def _taken(
    documents: DocumentSet, chosen: list[str], asked: Sequence[EvidenceQuestion], folder: Path, most: int
) -> tuple[list[Path], list[Asked]]:
    """Copy the ``chosen`` documents into the folder. Returns them and the questions whose evidence is all in them."""
    for name in chosen:
        to = folder / name
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes((documents.folder / name).read_bytes())
    about = [
        question for question in asked if all(each.documents <= set(chosen) for each in question.evidence)
    ]
    if not about:
        raise InputError("none of the questions is about these pages: take more of them")
    return [folder], [_asked(question) for question in about[:most]]


def _asked(question: EvidenceQuestion) -> Asked:
    quotes = tuple(
        (_name(name), quote)
        for each in question.evidence
        for name in sorted(each.documents)
        for quote in each.quotes or ("",)
    )
    return Asked(question.text, quotes, question.evidence[0].pages)


def _ends_with(path: str, end: str) -> bool:
    """Return whether a path equals ``end`` or ends with it below some folder."""
    return f"/{path}".endswith(f"/{end}")


def _name(path: object) -> str:
    """Return a path without its suffix, with forward slashes."""
    return Path(str(path)).with_suffix("").as_posix()


SETS = {"squad": squad, "handbook": handbook, "kubernetes": kubernetes, "financebench": financebench}


def _sample(rows: Sequence[T], count: int) -> list[T]:
    return random.Random(2).sample(rows, min(count, len(rows)))


def holds(chunk: str, quote: str) -> bool:
    """Return whether a chunk contains a quote, as defined in the docstring of this module."""
    said, asked = words(chunk), words(quote)
    if len(asked) < 3:
        return f" {' '.join(asked)} " in f" {' '.join(said)} "
    wanted = set(zip(asked, asked[1:], asked[2:], strict=False))
    return len(wanted & set(zip(said, said[1:], said[2:], strict=False))) >= SHARE * len(wanted)


def stands_on(found: tuple[int, int] | None, wanted: frozenset[int]) -> bool:
    """Return whether the page range of a chunk, first and last, contains one of the wanted pages."""
    return found is not None and any(found[0] <= page <= found[1] for page in wanted)


@dataclass(frozen=True)
class Measured:
    """A chunker before a system: its ``line`` of the table, and the ``values`` of each measure by question ``asked``."""

    line: dict[str, object]
    values: dict[str, list[float]]
    asked: Sequence[Asked]


def measure(
    engine: Engine, asked: Sequence[Asked], systems: Sequence[str]
) -> Iterator[tuple[str, dict[str, list[float]], int]]:
    """Yield for each system the values of each measure by question, and for how many questions no passage is right."""
    graphs = list(engine.store.page_graphs())
    relevant = []
    for question in asked:
        found = {
            chunk.uri
            for graph in graphs
            for document, quote in question.quotes
            if document == graph.uri or _ends_with(_name(graph.path), document)
            for chunk in graph.chunks
            if (stands_on(chunk.pages, question.pages) if question.pages else holds(chunk.text, quote))
        }
        relevant.append(found)
    for system in systems:
        options = {"fusion": "default"} if system == "default" else {"retrievers": [system]}
        values: dict[str, list[float]] = {name: [] for name in (*(f"hit@{k}" for k in KS), "P@5", "R@5")}
        for question, gold in zip(asked, relevant, strict=True):
            hits = [hit.uri in gold for hit in engine.search(question.text, k=5, **options)]  # type: ignore[arg-type]
            for k in KS:
                values[f"hit@{k}"].append(float(any(hits[:k])))
            values["P@5"].append(sum(hits) / 5)
            values["R@5"].append(sum(hits) / len(gold) if gold else 0.0)
        yield system, values, sum(not gold for gold in relevant)


def run(
    name: str,
    pages: int,
    questions: int,
    rows: Sequence[str],
    embedder: str,
    documents: Sequence[Path] = (),
    file: Path | None = None,
    told: Callable[[str], object] = print,
) -> list[Measured]:
    """Return each row before each system, each told as JSON when it is done; ``documents`` and ``file`` belong to the set
    ``own``.
    """
    done: list[Measured] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "documents"
        folder.mkdir()
        sources, asked = (
            SETS[name](folder, pages, questions)
            if file is None
            else (list(documents), own_questions(file, questions))
        )
        shared = SharedEmbedder(embedder)
        with Engine.create(Path(place) / "shared", shared) as engine:
            engine.build(sources, embed=False)
            own = {
                embedding_text(headings_of(chunk.parent), chunk.text)
                for graph in engine.store.page_graphs()
                for chunk in graph.chunks
            }
            shared.keep([text for text in engine.store.pending_texts() if text not in own])
        for number, row in enumerate(rows):
            chunker, _, late = row.partition(" --")
            with Engine.create(Path(place) / str(number), shared) as engine:
                started = time.process_time()
                engine.build(sources, chunker=chunker, late=bool(late), sentences=False, workers=1)
                seconds = time.process_time() - started
                counts = [chunk.token_count for graph in engine.store.page_graphs() for chunk in graph.chunks]
                for system, values, untraced in measure(engine, asked, ("vector", "default")):
                    line: dict[str, object] = {"set": name, "questions": len(asked), "chunker": row}
                    line |= {"system": system}
                    line |= {measure: round(float(np.mean(own)), 3) for measure, own in values.items()}
                    line |= {"untraced": untraced}
                    line |= {
                        "chunks": len(counts),
                        "tokens": round(float(np.mean(counts))),
                        "seconds": round(seconds, 1),
                    }
                    done.append(Measured(line, values, asked))
                    told(json.dumps(line))
    return done


def parser() -> command.Parser:
    """Return the parser of the command line."""
    parser = command.Parser(__doc__, takes="a minute or two a row")
    parser.add_argument("set", choices=(*SETS, "own"))
    parser.add_argument("--pages", type=int, default=3)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--documents", nargs="+", type=command.existing, default=[], help="of the set own")
    parser.add_argument("--file", type=command.existing, help="its questions")
    parser.add_argument("--rows", nargs="*", default=list(ROWS), help="chunkers, each also with ' --late'")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--json", action="store_true", help="print only lines of JSON, one per finished row")
    return parser


def measured(arguments: Sequence[str] | None = None, told: Callable[[str], object] = print) -> list[Measured]:
    """Return what the options ask for."""
    options = parser().parse_args(arguments)
    if (options.set == "own") != bool(options.documents and options.file):
        parser().error("the set own needs --documents and --file, which other sets do not take")
    for row in options.rows:
        parse_spec(row.partition(" --")[0])
    return run(
        options.set,
        options.pages,
        options.questions,
        options.rows,
        options.embedder,
        options.documents,
        options.file,
        told,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    lines = [one.line for one in measured(arguments)]
    if not options.json:
        print("| chunker | system | " + " | ".join(list(lines[0])[4:]) + " |")
        print("|---" * (len(lines[0]) - 2) + "|")
        for line in lines:
            print(
                "| "
                + " | ".join(str(value) for key, value in line.items() if key not in ("set", "questions"))
                + " |"
            )


if __name__ == "__main__":
    command.run(main)
