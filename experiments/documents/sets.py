"""Documents and questions with known evidence: filings (PDF), a handbook and documentation (Markdown)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from trivium.errors import InputError
from trivium.text.normalise import words

SETS = ("financebench", "handbook", "kubernetes")
WORDS = 250
"""Length of a flat passage."""
_SHARE = 0.6
_GRAM = 4
_TITLE = re.compile(r"^title:\s*[\"']?(.*?)[\"']?\s*$", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*[^()]*\)")
"""Markdown links and images, whose targets are not part of the text of a passage."""
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document (a path below the set's folder), with its first and last page, from 1."""

    document: str
    text: str
    pages: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence for a question, in one of the ``documents``: on one of the ``pages``, or a passage that contains a
    quote.
    """

    documents: frozenset[str]
    pages: frozenset[int] = frozenset()
    quotes: tuple[str, ...] = ()

    def held_by(self, passage: Passage) -> bool:
        """Return whether a passage is evidence: it is on one of the pages of the right document; or contains a quote
        (its words in sequence, or 60 % of its word 4-grams), or is contained in a longer one (60 % of the passage's
        word 4-grams).
        """
        if passage.document not in self.documents:
            return False
        if self.pages:
            first, last = passage.pages or (0, -1)
            return any(first <= page <= last for page in self.pages)
        return any(_holds(passage.text, quote) for quote in self.quotes)


@dataclass(frozen=True, slots=True)
class EvidenceQuestion:
    """A question with one ``evidence`` for each document it needs. ``group`` is the document by which it is resampled."""

    id: str
    text: str
    kind: str
    group: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class DocumentSet:
    """A folder of documents with questions about them. ``source`` is what is parsed: the folder, or a parent that also
    contains the images of the documents.
    """

    name: str
    folder: Path
    documents: tuple[str, ...]
    questions: tuple[EvidenceQuestion, ...]
    source: Path

    def flat(self) -> Iterator[Passage]:
        """Yield the plain text of every document, split every 250 words (in PDF files also at page ends)."""
        for document in self.documents:
            path = self.folder / document
            for number, text in _plain(path):
                pages = None if number is None else (number, number)
                found = text.split()
                for start in range(0, len(found), WORDS):
                    yield Passage(document, " ".join(found[start : start + WORDS]), pages)


def load_set(name: str, data: Path) -> DocumentSet:
    """Load one of :data:`SETS` from the folder of the evaluation data."""
    if name == "financebench":
        return _financebench(data / "pdf")
    if name == "handbook":
        return _handbook(data / "markdown")
    if name == "kubernetes":
        return _kubernetes(data / "markdown")
    raise InputError(f"expected one of {', '.join(SETS)}, got {name!r}")


def _financebench(data: Path) -> DocumentSet:
    folder = data / "financebench"
    questions = [
        EvidenceQuestion(
            row["id"],
            row["question"],
            row["type"],
            row["document"],
            (Evidence(frozenset([row["document"]]), frozenset(row["pages"])),),
        )
        for row in _rows(data / "financebench_questions.jsonl")
    ]
    return DocumentSet("financebench", folder, _files(folder, ".pdf"), tuple(questions), folder)


def _handbook(data: Path) -> DocumentSet:
    folder = data / "handbook" / "content"
    documents = _files(folder, ".md")
    questions = []
    for row in _rows(data / "handbook_questions.jsonl"):
        evidence = tuple(
            Evidence(_named(each["document"], documents), quotes=tuple(each["quotes"]))
            for each in row["evidence"]
        )
        before = " ".join(_said(turn) for turn in row.get("history", ()))
        text = f"{before} {row['question']}".strip()
        questions.append(
            EvidenceQuestion(row["id"], text, row["kind"], row["evidence"][0]["document"], evidence)
        )
    return DocumentSet("handbook", folder, documents, tuple(questions), folder.parent)


def _said(turn: object) -> str:
    return str(turn.get("question", turn.get("content", ""))) if isinstance(turn, Mapping) else str(turn)


def _named(name: str, documents: Sequence[str]) -> frozenset[str]:
    found = frozenset(document for document in documents if f"/{document}".endswith(f"/{name}"))
    if not found:
        raise InputError(f"there is no document {name}")
    return found


def _kubernetes(data: Path) -> DocumentSet:
    folder = data / "kubernetes" / "content"
    documents = _files(folder, ".md")
    by_title: dict[str, set[str]] = {}
    for document in documents:
        title = _TITLE.search((folder / document).read_text("utf-8"))
        if title is not None:
            by_title.setdefault(title[1].casefold(), set()).add(document)
    questions = []
    for row in _rows(data / "kubernetes_questions.jsonl"):
        gold: dict[str, list[str]] = {}
        for passage in row["gold_passages"]:
            gold.setdefault(passage["title"], []).append(passage["text"])
        documented = {title: frozenset(by_title.get(title.casefold(), ())) for title in gold}
        # Any of several answers is sufficient.
        evidence = [
            Evidence(documented[title], quotes=tuple(quotes))
            for title, quotes in gold.items()
            if documented[title]
        ]
        if evidence:
            every = Evidence(
                frozenset().union(*(each.documents for each in evidence)),
                quotes=tuple(quote for each in evidence for quote in each.quotes),
            )
            questions.append(
                EvidenceQuestion(row["id"], row["question"], "users", sorted(every.documents)[0], (every,))
            )
    return DocumentSet("kubernetes", folder, documents, tuple(questions), folder)


def _rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]  # type: ignore[misc]


def _files(folder: Path, suffix: str) -> tuple[str, ...]:
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}: set TRIVIUM_DATA")
    return tuple(
        sorted(path.relative_to(folder).as_posix() for path in folder.rglob(f"*{suffix}") if path.is_file())
    )


def _plain(path: Path) -> Iterator[tuple[int | None, str]]:
    """Yield page numbers and text."""
    if path.suffix != ".pdf":
        yield None, _FRONT_MATTER.sub("", path.read_text("utf-8"))
        return
    import pypdfium2

    with pypdfium2.PdfDocument(path) as pdf:
        for number in range(len(pdf)):
            page = pdf[number]
            text_page = page.get_textpage()
            yield number + 1, text_page.get_text_bounded()
            text_page.close()
            page.close()


def _holds(passage: str, quote: str) -> bool:
    found, wanted = _words(passage), _words(quote)
    if not wanted:
        return False
    if f" {' '.join(wanted)} " in f" {' '.join(found)} ":
        return True
    there = set(found)
    if sum(word in there for word in wanted) >= _SHARE * len(wanted):
        return True
    grams = _grams(found)
    return len(found) < len(wanted) and bool(grams) and len(grams & _grams(wanted)) >= _SHARE * len(grams)


@lru_cache(maxsize=100_000)
def _words(text: str) -> tuple[str, ...]:
    return tuple(words(_LINK.sub(r"\1", text).replace("_", " ")))


def _grams(found: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(found[start : start + _GRAM]) for start in range(len(found) - _GRAM + 1)}
