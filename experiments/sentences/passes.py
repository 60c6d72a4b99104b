"""Measures whether the sentences of a passage need their own forward passes: ranking with vectors from the passage's
pass.

    python experiments/sentences/passes.py --store joint-store --limit 350 --questions \\
        ../shared/data/wiki/squad_questions.jsonl ../shared/data/nq/earth_questions.jsonl \\
        ../shared/data/nq/qed_questions.jsonl

The store must have been embedded with bge-small, including sentences. The 50 nearest chunks of each question are
ordered by the mean of two cosines, that of the chunk and that of its most similar sentence, whose vector comes from:

- its own forward pass (as in the package);
- the pass of the passage: the mean of the sentence's token vectors; the same plus the passage's vector; and a linear
  map of both and of the mean of the headings to the vectors of own passes, fitted on other pages (five folds);
- one pass over several sentences, each with its first and last token, up to 256 tokens: the vector of its first token.

Cosines of all but own passes are first shifted and scaled to the mean and standard deviation of those. Losses and gains
are counted by question, with an exact sign test.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

import trivium
from experiments import command
from trivium.datasets.questions import read_questions
from trivium.embedding.manifest import manifest
from trivium.embedding.model_files import locate
from trivium.evaluation.evaluator import Evaluator
from trivium.graph.records import Passage
from trivium.graph.schema import Label, embedding_text, headings_of, page_of, section_of
from trivium.graph.stored_vectors import sentence_texts

MODEL = "bge-small"
NEAREST = 50
CUTOFFS = (1, 5)
FOLDS = 5
PACKED = 256
"""Maximum number of tokens of several sentences in one pass."""
RIDGE = 1.0

Vectors = NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """The vector of a question, its nearest chunks with their cosines, and which of them answer it."""

    vector: Vectors
    chunks: list[str]
    cosines: Vectors
    gold: NDArray[np.bool_]


def unit(rows: Any) -> Vectors:
    vectors = np.asarray(rows, np.float64)
    found: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
    return found


class Model:
    """Token vectors of bge-small, computed one text at a time, as in the embedder."""

    def __init__(self) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        files = locate(MODEL)
        self._session = onnxruntime.InferenceSession(
            str(files.model), options, providers=["CPUExecutionProvider"]
        )
        self.tokenizer = Tokenizer.from_file(str(files.tokenizer))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(manifest()[MODEL].max_tokens)
        self.tokens: dict[str, int] = {}

    def run(self, ids: Sequence[int], what: str) -> Vectors:
        """Return token vectors (n x d), and count the tokens as ``what``."""
        self.tokens[what] = self.tokens.get(what, 0) + len(ids)
        row = np.array([ids], np.int64)
        inputs = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        found: Vectors = self._session.run(None, inputs)[0][0]
        return found

    def from_passage(self, passage: Passage) -> Vectors:
        """Return for each sentence the mean of its token vectors, the passage's vector, and the mean of the headings'
        token vectors, concatenated (n x 3d). For a truncated sentence, the passage's vector replaces the mean.
        """
        whole = embedding_text(passage.headings, passage.text)
        encoded = self.tokenizer.encode(whole)
        hidden = self.run(encoded.ids, "passages")
        offsets = np.array(encoded.offsets)
        starts, ends = offsets.T
        real = np.array(encoded.special_tokens_mask) == 0
        before = len(whole) - len(passage.text)
        heading = real & (ends <= before)
        headings = hidden[heading].mean(axis=0) if heading.any() else np.zeros(hidden.shape[1])
        rows, at = [], before
        lead = len(embedding_text(passage.headings, ""))
        for text in sentence_texts(passage):
            start = whole.index(text[lead:], at)
            at = start + len(text) - lead
            own = real & (ends > start) & (starts < at)
            mean = hidden[own].mean(axis=0) if own.any() else hidden[0]
            rows.append(np.concatenate([unit(mean), unit(hidden[0]), unit(headings)]))
        return np.array(rows)

    def packed(self, passage: Passage) -> Vectors:
        """Return the vectors of the first tokens of sentences that share passes (n x d)."""
        found: list[Vectors] = []
        for group in self._groups([self.tokenizer.encode(text).ids for text in sentence_texts(passage)]):
            hidden = self.run([token for ids in group for token in ids], "packed sentences")
            starts = np.cumsum([0, *map(len, group)])[:-1]
            found += list(hidden[starts])
        return unit(found)

    def _groups(self, rows: Sequence[Sequence[int]]) -> Iterator[list[Sequence[int]]]:
        group: list[Sequence[int]] = []
        for ids in rows:
            self.tokens["own passes"] = self.tokens.get("own passes", 0) + len(ids)
            if group and sum(map(len, group)) + len(ids) > PACKED:
                yield group
                group = []
            group.append(ids)
        if group:
            yield group


def questions_of(engine: trivium.Engine, path: Path, limit: int | None) -> list[Question]:
    """Return the traceable questions in random order."""
    questions = read_questions(path)
    traced = Evaluator(engine.searcher).trace(questions)
    asked = [question for question in questions if question.id in traced.gold]
    random.Random(7).shuffle(asked)
    found = []
    for question in track(asked[:limit], description=path.stem):
        vector = engine.embedder.embed_query(question.text)
        near = engine.store.nearest([Label.CHUNK], vector, NEAREST)
        uris = [chunk.uri for chunk in near]
        gold = np.isin(uris, [uri for group in traced.gold[question.id].groups for uri in group])
        found.append(Question(unit(vector), uris, np.array([chunk.score for chunk in near]), gold))
    return found


def sentences_of(engine: trivium.Engine, chunks: Sequence[str]) -> dict[str, dict[str, Vectors]]:
    """Return the vectors of the sentences of each chunk that has several, by method."""
    model = Model()
    texts = {record.uri: record.text for record in engine.store.fetch(chunks)}
    found: dict[str, dict[str, Vectors]] = {}
    for uri in track(chunks, description="passes"):
        passage = Passage(tuple(headings_of(section_of(uri))), texts[uri])
        own = engine.store.sentence_vectors([uri]).codes
        if not len(own) or len(own) != len(sentence_texts(passage)):
            continue
        states = model.from_passage(passage)
        mean, whole = states[:, : own.shape[1]], states[:, own.shape[1] : 2 * own.shape[1]]
        found[uri] = {
            "own passes": unit(own),
            "mean of its tokens": mean,
            "mean of its tokens + passage": unit(mean + whole),
            "packed": model.packed(passage),
            "linear map": states,
        }
    for what, count in model.tokens.items():
        print(f"tokens of {what}: {count:,}")
    _map(found)
    return found


def _map(found: dict[str, dict[str, Vectors]]) -> None:
    """Replace the inputs of the linear map by its output, fitted for each fold of pages on the others."""
    fold = {uri: zlib.crc32(page_of(uri).encode()) % FOLDS for uri in found}
    for held_out in range(FOLDS):
        learnt = [vectors for uri, vectors in found.items() if fold[uri] != held_out]
        mapped = [uri for uri in found if fold[uri] == held_out]
        if not learnt or not mapped:
            continue
        given = _with_one(np.vstack([vectors["linear map"] for vectors in learnt]))
        wanted = np.vstack([vectors["own passes"] for vectors in learnt])
        inner = given.T @ given + RIDGE * np.eye(given.shape[1])
        weights = np.linalg.solve(inner, given.T @ wanted)
        for uri in mapped:
            found[uri]["mapped"] = unit(_with_one(found[uri]["linear map"]) @ weights)
    for vectors in found.values():
        vectors["linear map"] = vectors.pop("mapped", vectors["mean of its tokens"])


def _with_one(rows: Vectors) -> Vectors:
    return np.hstack([rows, np.ones((len(rows), 1))])


def ranks(
    questions: Sequence[Question], sentences: dict[str, dict[str, Vectors]], way: str | None
) -> NDArray[np.int64]:
    """Return for each question the rank (from 0) of the first right chunk. None: by the cosine of the chunk alone."""
    best = [_best(question, sentences, way or "own passes") for question in questions]
    usual = np.concatenate([_best(question, sentences, "own passes") for question in questions])
    own = np.concatenate(best)
    slope = np.nanstd(usual) / np.nanstd(own)
    found = []
    for question, cosines in zip(questions, best, strict=True):
        brought = np.nanmean(usual) + slope * (cosines - np.nanmean(own))
        scores = question.cosines
        if way is not None:
            scores = np.where(np.isnan(brought), scores, (scores + brought) / 2)
        places = np.flatnonzero(question.gold[np.argsort(-scores, kind="stable")])
        found.append(int(places[0]) if len(places) else NEAREST)
    return np.array(found)


def _best(question: Question, sentences: dict[str, dict[str, Vectors]], way: str) -> Vectors:
    return np.array(
        [
            (sentences[uri][way] @ question.vector).max() if uri in sentences else np.nan
            for uri in question.chunks
        ]
    )


def sign_test(gained: int, lost: int) -> float:
    """Return the p-value of an exact two-sided sign test."""
    count = gained + lost
    tail = sum(comb(count, k) for k in range(min(gained, lost) + 1)) / 2**count
    return min(1.0, 2 * tail)


def main() -> None:
    """Run the experiment and print the results."""
    parser = command.Parser(__doc__, takes="a quarter of an hour")
    parser.add_argument("--store", type=command.store, required=True)
    parser.add_argument("--questions", nargs="+", type=command.existing, required=True)
    parser.add_argument("--limit", type=int, help="maximum number of questions per file")
    given = parser.parse_args()
    with trivium.Engine.open(given.store) as engine:
        asked = {path.stem: questions_of(engine, path, given.limit) for path in given.questions}
        chunks = list(dict.fromkeys(uri for own in asked.values() for each in own for uri in each.chunks))
        sentences = sentences_of(engine, chunks)
    ways = list(next(iter(sentences.values())))
    for name, questions in asked.items():
        usual = ranks(questions, sentences, "own passes")
        print(f"{name} ({len(questions)})")
        for way in (None, *ways):
            found = ranks(questions, sentences, way)
            said = [f"{way or 'the chunk alone':30}"]
            for cutoff in CUTOFFS:
                gained = int(((found < cutoff) & (usual >= cutoff)).sum())
                lost = int(((found >= cutoff) & (usual < cutoff)).sum())
                test = f"+{gained} -{lost}, p {sign_test(gained, lost):.3f}"
                said.append(f"hit@{cutoff} {(found < cutoff).mean():.3f} ({test})")
            print("  ", *said)


if __name__ == "__main__":
    command.run(main)
