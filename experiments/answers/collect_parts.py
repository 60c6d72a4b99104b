"""Collects the parts of passages that are read for questions, with their features and whether they are right, for
``fit_parts.py``, and beside them their texts, for ``fit_reader.py``.

    python experiments/answers/collect_parts.py --store boats --questions ../shared/data/reader/boats/questions.jsonl \
        --out boats.npz
    python experiments/answers/collect_parts.py --store squad2 --questions ../shared/data/public/squad2/questions.jsonl \
        ../shared/data/public/squad2/unanswerable.jsonl --sample 700 --out squad2.npz

A part is right if it has all facts of the question (``all`` or the given ``cells`` or ``evidence``, else one of the
``answers``) and nothing forbidden, and is in the right document or passage; a part with the answer elsewhere counts
neither way. Each answerable question is asked once more without the passages that have any of its facts, where nothing is
right. ``--foreign`` questions are about other things.
"""

from __future__ import annotations

import json
import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import trivium
from experiments import command
from trivium.answering.answer_parts import Part, parts_of
from trivium.answering.evidence import as_rows, features
from trivium.answering.passages import NumberedPassage, passages
from trivium.answering.quote_answer import understood
from trivium.types import Answer, Hit

OFFERED, DEPTH = 6, 14
RIGHT, ELSEWHERE = 1, -1
Row = Mapping[str, Any]


class Asked(NamedTuple):
    """A question: the set it is of, its kind, and the document it is about, by which sets are split."""

    question: str
    kind: str
    group: str
    answerable: bool


def normal(text: str) -> str:
    """Return a text without case, accents, marks of citations and differences of white space, dashes and quotes."""
    text = unicodedata.normalize("NFKD", re.sub(r" ?\[\d+\]|[*`\u00ad]", "", text))
    text = "".join(c for c in text if not unicodedata.combining(c)).casefold()
    return " ".join(re.sub("[‐‑‒–—−]", "-", re.sub("[‘’‚′]", "'", re.sub("[“”„″]", '"', text))).split())


def has(fact: str, text: str) -> bool:
    """Whether a normal text has a normal fact, no number of which goes on."""
    before, behind = (r"(?<!\d)(?<!\d[.,/:])", r"(?!\d)(?![.,/:]\d)")
    pattern = (
        (before if fact[:1].isdigit() else "") + re.escape(fact) + (behind if fact[-1:].isdigit() else "")
    )
    return re.search(pattern, text) is not None


def facts_of(row: Row) -> list[list[str]]:
    """Return the facts that an answer must have, each in one of several wordings."""
    if "all" in row:
        return [[normal(one) for one in options] for options in row["all"]]
    quotes = [one for one in row.get("evidence") or [] if isinstance(one, str)]
    every = row.get("cells") or quotes or (row["answers"] if row.get("answer_type") == "multi-span" else [])
    if every:
        return [[normal(one)] for one in every if one.strip()]
    answers = [normal(one) for one in row.get("answers") or [] if one.strip()]
    return [answers] if answers else []


def in_place(row: Row) -> Callable[[NumberedPassage], bool]:
    """Return whether a passage is one that the question is about."""
    names = row.get("document") or []
    names = [names] if isinstance(names, str) else names
    gold = [normal(one["text"])[:100] for one in row.get("gold_passages") or []]
    quoted = [one["document"] for one in row.get("evidence") or [] if isinstance(one, dict)]
    titles = {one.replace("_", " ") for one in row.get("gold_titles") or [row.get("page") or ""]}

    def is_in(passage: NumberedPassage) -> bool:
        body, document = normal(passage.body), passage.hit.document
        if names or quoted:
            return document.split("/")[-1] in names or any(document.endswith(one) for one in quoted)
        return any(one in body or body[:100] in one for one in gold) if gold else passage.hit.page in titles

    return is_in


def labels(row: Row, parts: Sequence[Part]) -> list[int]:
    """Return for each part whether it is right (1), has the answer elsewhere (-1), or neither (0)."""
    facts, is_in = facts_of(row), in_place(row)
    forbidden = [normal(one) for one in row.get("none") or []]
    found = []
    for part in parts:
        text = normal(part.shown)
        right = bool(facts) and all(any(has(one, text) for one in options) for options in facts)
        right = right and not any(has(one, text) for one in forbidden)
        found.append(0 if not right else RIGHT if is_in(part.passage) else ELSEWHERE)
    return found


def asked_of(row: Row, name: str, kind: str) -> Asked:
    """Return a question of a set."""
    gold = row.get("gold_passages") or [{}]
    group = row.get("document") or gold[0].get("title") or row.get("page") or row.get("about") or "none"
    return Asked(row["question"], kind, f"{name}:{group}", bool(facts_of(row)) and kind != "without")


def collect(
    engine: trivium.Engine, row: Row, name: str, foreign: bool
) -> Iterator[tuple[Asked, Sequence[Part], np.ndarray, list[int]]]:
    """Ask a question, and once more without what has its answer."""
    history = [one for one in row.get("history") or [] if isinstance(one, dict)]
    answer: Answer = engine.ask(row["question"], history=history, k=DEPTH)
    if answer.searched_for is None:
        return
    row = {**row, "question": answer.searched_for}
    found = list(answer.passages)

    def read(hits: Sequence[Hit]) -> tuple[Sequence[Part], np.ndarray]:
        with engine.searcher.store.pinned() as store:
            offered = passages(hits)
            question, rarity = understood(answer.searched_for or "", offered, store)
            parts = parts_of(offered)
            rows = features(question, parts, rarity, engine.searcher.remembering(), store) if parts else []
        return parts, as_rows(rows)

    parts, rows = read([hit for hit in found if hit.rank <= OFFERED or hit.rank > DEPTH])
    if not parts:
        return
    kind = "foreign" if foreign else row.get("kind") or name
    right = [0] * len(parts) if foreign else labels(row, parts)
    yield asked_of(row, name, kind), parts, rows, right
    facts = [one for options in facts_of(row) for one in options]
    if foreign or not facts:
        return
    is_in = in_place(row)
    rest = [
        one.hit
        for one in passages(found[:DEPTH])
        if not any(has(fact, normal(one.hit.text)) for fact in facts)
        and not ("all" not in row and is_in(one))
    ]
    parts, rows = read(rest[:OFFERED])
    if parts:
        yield asked_of(row, name, "without"), parts, rows, [0] * len(parts)


def main() -> None:
    """Write the rows of a set."""
    parser = command.Parser(__doc__, takes="minutes a set")
    parser.add_argument("--store", type=command.store, required=True)
    parser.add_argument("--questions", type=command.existing, nargs="+", required=True)
    parser.add_argument("--foreign", type=command.existing, nargs="*", default=[])
    parser.add_argument("--sample", type=int, default=1000, help="maximum number of questions")
    parser.add_argument("--foreign-sample", type=int, default=12, help="of each file")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    rng = random.Random(7)
    rows = [json.loads(line) for file in given.questions for line in file.open(encoding="utf-8")]
    rows = [row for row in rows if row.get("outcome") != "talk"]
    rng.shuffle(rows)
    others: list[Row] = []
    for file in given.foreign:
        all_of = [json.loads(line) for line in file.open(encoding="utf-8")]
        others += rng.sample([row for row in all_of if not row.get("history")], given.foreign_sample)
    asked: list[Asked] = []
    columns: list[str] = []
    matrices, right, lengths, counts = [], [], [], []
    texts = given.out.with_suffix(".jsonl")
    try:
        with trivium.Engine.open(given.store) as engine, texts.open("w", encoding="utf-8") as lines:
            for row, foreign in [
                *((row, False) for row in rows[: given.sample]),
                *((row, True) for row in others),
            ]:
                for one, parts, matrix, labelled in collect(engine, row, given.out.stem, foreign):
                    asked.append(one)
                    matrices.append(matrix)
                    right += labelled
                    lengths += [len(part.shown) for part in parts]
                    counts.append(len(parts))
                    said = [[part.passage.above, part.shown] for part in parts]
                    lines.write(json.dumps({"question": one.question, "parts": said}) + "\n")
                    columns = columns or column_names(engine, parts)
    finally:  # also of the questions that were asked when it is interrupted
        if asked:
            np.savez_compressed(
                given.out,
                asked=np.array([json.dumps(one._asdict()) for one in asked]),
                columns=np.array(columns),
                rows=np.concatenate(matrices),
                right=np.array(right, np.int8),
                lengths=np.array(lengths),
                counts=np.array(counts),
            )
    print(f"{given.out}: {len(asked)} questions, {sum(counts)} parts, {sum(one > 0 for one in right)} right")


def column_names(engine: trivium.Engine, parts: Sequence[Part]) -> list[str]:
    """Return the names of the features of parts."""
    with engine.searcher.store.pinned() as store:
        question, rarity = understood("What?", [parts[0].passage], store)
        return list(features(question, parts[:1], rarity, engine.searcher.remembering(), store)[0])


if __name__ == "__main__":
    command.run(main)
