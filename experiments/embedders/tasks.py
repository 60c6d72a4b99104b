"""Retrieval tasks with long documents: LongEmbed's six tasks from their original files, two of them generated at any
length, and the pages of a store with a question file.

LongEmbed (Zhu et al., 2024, arXiv:2404.12096) stores a task in a folder: ``corpus.jsonl`` (``doc_id``, ``text``),
``queries.jsonl`` (``qid``, ``text``) and ``qrels.jsonl`` (``qid``, ``doc_id``). Rows of ``needle`` and ``passkey`` also
have a ``context_length``; each length is a separate task.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from trivium.chunking.split_by_length import count
from trivium.datasets.questions import read_questions
from trivium.engine import Engine
from trivium.errors import InputError
from trivium.evaluation.evaluator import Evaluator

TASKS = ("2wikimqa", "narrativeqa", "needle", "passkey", "qmsum", "summ_screen_fd")
"""The folders of LongEmbed."""
MADE = ("needle", "passkey")
LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
"""Document lengths, in tokens, of the generated tasks."""
_FILES = {"corpus": ("doc_id", "text"), "queries": ("qid", "text"), "qrels": ("qid", "doc_id")}


@dataclass(frozen=True, slots=True)
class Task:
    """``documents`` and ``questions`` by id; ``gold``: the documents that answer each question. ``length`` is in
    tokens, 0 if it varies.
    """

    name: str
    documents: Mapping[str, str]
    questions: Mapping[str, str]
    gold: Mapping[str, frozenset[str]]
    length: int = 0


# -- LongEmbed's files -------------------------------------------------------------------------------------------


def read_task(folder: Path) -> Iterator[Task]:
    """Yield the tasks of a folder: one, or one per length. Raises InputError for malformed files and rows."""
    found = {name: list(_rows(folder / f"{name}.jsonl", keys)) for name, keys in _FILES.items()}
    lengths = sorted({int(row["context_length"]) for row in found["corpus"] if "context_length" in row})
    for length in lengths or [0]:
        of_length = {
            name: [row for row in rows if int(row.get("context_length", length)) == length]
            for name, rows in found.items()
        }
        documents = {str(row["doc_id"]): str(row["text"]) for row in of_length["corpus"]}
        questions = {str(row["qid"]): str(row["text"]) for row in of_length["queries"]}
        gold: dict[str, frozenset[str]] = {}
        for row in of_length["qrels"]:
            # Relevance rows need not have a length.
            qid, document = str(row["qid"]), str(row["doc_id"])
            if qid in questions and document in documents:
                gold[qid] = gold.get(qid, frozenset()) | {document}
        if missing := questions.keys() - gold.keys():
            raise InputError(
                f"{folder / 'qrels.jsonl'}: expected documents for every question, got none for {min(missing)!r}"
            )
        yield Task(folder.name, documents, questions, gold, length)


def _rows(file: Path, keys: tuple[str, ...]) -> Iterator[dict[str, object]]:
    if not file.is_file():
        raise InputError(
            f"expected {', '.join(f'{name}.jsonl' for name in _FILES)} in {file.parent}, got no {file.name}"
        )
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise InputError(f"{file}, line {number}: expected JSON, got {line[:40]!r}") from error
            if not isinstance(row, dict) or any(key not in row for key in keys):
                raise InputError(f"{file}, line {number}: expected {' and '.join(keys)}, got {line[:60]!r}")
            yield row


# -- made --------------------------------------------------------------------------------------------------------

_FIRST, _LAST, _WHO, _DID, _WHAT, _WHEN, _CITIES = (
    line.split(",")
    for line in """\
Ada,Bela,Cora,Dilan,Edda,Farid,Gwen,Hugo,Ines,Jonas,Kira,Lorenz,Mira,Nadia,Oskar,Petra,Rosa,Silas,Tilda,Vera,Wanda,Zita
Abel,Brandt,Castell,Dorn,Ebner,Falk,Grimm,Hartl,Imhof,Jarosz,Keller,Lindt,Moser,Novak,Orlow,Prinz,Reuter,Sander,Thoma,Weiss
the gardener,a teacher,the old mill,every traveller,the council,a flock of geese,the harbour,the museum,a carpenter
watched,forgot,repaired,painted,followed,remembered,measured,surrounded,described,crossed,left,opened,counted,carried,missed
the long bridge,a basket of apples,the evening market,two letters,the frozen pond,a narrow street,the red lantern,an atlas
before noon,in late autumn,without a word,after the rain,for many years,on market days,once again,by candlelight
Arlen,Brisa,Corvin,Delmar,Estra,Fjell,Garda,Holm,Isola,Juna,Kesten,Lumo""".splitlines()
)
"""Parts of names, and filler sentences."""

_FACTS = (
    (
        "{who} spends every Sunday at the chess tables of the park in {city}.",
        "Where does {who} play board games on weekends?",
    ),
    (
        "The first bakery of {city} was founded by {who} with a borrowed oven.",
        "Which of the shops in {city} did {who} start?",
    ),
    (
        "{who} keeps seven bees' nests on the roof of the town hall of {city}.",
        "What does {who} have on top of a public building?",
    ),
    (
        "At the school of {city}, {who} teaches astronomy with a home-made telescope.",
        "Which subject is taught by {who}?",
    ),
    ("{who} swam across the lake of {city} in under forty minutes.", "How fast did {who} cross the water?"),
    (
        "In {city}, {who} restores violins that others have given up.",
        "What kind of instruments does {who} mend?",
    ),
)
"""Hidden facts, and the questions that ask for them in other words."""


def make_task(name: str, length: int, documents: int = 50, seed: int = 0) -> Task:
    """Generate a task. ``needle``: a fact in an unrelated text, asked for in other words. ``passkey``: a number, asked
    for in the same words. For each of that many distinct people there is one document of ``length`` tokens, with the
    fact at a random position, and one question. Deterministic for a given seed.
    """
    rng = random.Random(f"{name} {length} {seed}")
    people = [f"{first} {last}" for first in _FIRST for last in _LAST]
    if not 0 < documents <= len(people):
        raise InputError(f"expected 1 to {len(people)} documents, got {documents}")
    texts: dict[str, str] = {}
    asked: dict[str, str] = {}
    for number, who in enumerate(rng.sample(people, documents)):
        if name == "passkey":
            key = rng.randrange(10_000, 100_000)
            fact = f"The pass key for {who} is {key}. Remember it. {key} is the pass key for {who}."
            question = f"What is the pass key for {who}?"
        elif name == "needle":
            fact, question = (text.format(who=who, city=rng.choice(_CITIES)) for text in rng.choice(_FACTS))
        else:
            raise InputError(f"expected {' or '.join(MADE)}, got {name!r}")
        texts[f"{name}-{length}-{number}"] = _hidden(fact, length, rng)
        asked[f"{name}-{length}-{number}"] = question
    return Task(name, texts, asked, {key: frozenset([key]) for key in asked}, length)


def _hidden(fact: str, length: int, rng: random.Random) -> str:
    sentences: list[str] = []
    left = length - count(fact)
    while True:
        parts = [rng.choice(_WHO), rng.choice(_DID), rng.choice(_WHAT), rng.choice(_WHEN)]
        sentence = " ".join(parts)
        sentence = f"{sentence[0].upper()}{sentence[1:]}."
        left -= count(sentence)
        if left < 0:
            break
        sentences.append(sentence)
    sentences.insert(rng.randint(0, len(sentences)), fact)
    return " ".join(sentences)


# -- pages of a store --------------------------------------------------------------------------------------------


def task_of_store(store: str, questions: Path, sample: int = 300, seed: int = 0) -> Task:
    """Return whole pages of a store as documents; the gold of a question is the pages that contain its answer. Raises
    InputError if no question can be traced.
    """
    with Engine.open(store) as engine:
        documents = {
            graph.uri: "\n".join(chunk.text for chunk in graph.chunks) for graph in engine.store.page_graphs()
        }
        traced = Evaluator(engine.searcher).trace(read_questions(questions))
    if not traced.questions:
        raise InputError(f"no question of {questions} can be traced in {store}")
    chosen = random.Random(seed).sample(traced.questions, min(sample, len(traced.questions)))
    return Task(
        questions.stem,
        documents,
        {question.id: question.text for question in chosen},
        {question.id: frozenset(traced.gold[question.id].pages) for question in chosen},
    )
