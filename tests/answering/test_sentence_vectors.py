"""The vectors of sentences that the store has are those that are made without it, and nothing is embedded twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from trivium.answering.answer_parts import parts_of
from trivium.answering.evidence import features
from trivium.answering.passages import NumberedPassage, passages
from trivium.answering.rarity import Rarity
from trivium.answering.sentence_vectors import vectors_of
from trivium.embedding.embedder import Vectors
from trivium.engine import Engine
from trivium.testing import HashEmbedder

RECORDS = [
    {
        "title": "Mars",
        "text": "Mars is the fourth planet. Its colour comes from iron. Two moons go round it.",
    },
    {"title": "Saturn", "text": "Saturn has rings of ice."},
]


class Counting(HashEmbedder):
    """Notes what it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        self.seen.extend(texts)
        return super().embed(texts, progress)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    records = tmp_path / "records.jsonl"
    records.write_text("".join(json.dumps(record) + "\n" for record in RECORDS), "utf-8")
    engine = Engine.create(tmp_path / "store", HashEmbedder())
    engine.build([records])
    yield engine
    engine.close()


def offered(engine: Engine) -> list[tuple[NumberedPassage, str]]:
    found = passages(engine.search("planet moons rings of ice", k=5))
    return [(passage, text) for passage in found for text in passage.sentences]


def test_what_the_store_has_is_not_embedded_again(engine: Engine) -> None:
    """Sentences of Mars are kept; Saturn's only one is embedded as its passage, and now by itself."""
    counting = Counting()
    sentences = offered(engine)
    assert len(sentences) == 4
    kept = vectors_of(sentences, counting, engine.store)
    assert counting.seen == ["Saturn: Saturn has rings of ice."]
    np.testing.assert_allclose(kept, vectors_of(sentences, counting, None), atol=0.01)
    assert len(counting.seen) == 5
    np.testing.assert_allclose(np.linalg.norm(kept, axis=1), 1.0, rtol=1e-5)


def test_a_passage_that_has_changed_since_is_embedded(engine: Engine) -> None:
    """Its sentences are other than those the store has vectors of; so are those of a passage it does not know."""
    counting = Counting()
    ((passage, _), *_) = [row for row in offered(engine) if row[0].hit.page == "Mars"]
    for changed in (
        replace(passage.hit, text="Mars is cold. It is far."),
        replace(passage.hit, uri="Mars#chunk-99"),
    ):
        (now,) = passages([changed])
        vectors_of([(now, text) for text in now.sentences], counting, engine.store)
        assert counting.seen == [f"Mars: {text}" for text in now.sentences]
        counting.seen.clear()


class HearsMarks(HashEmbedder):
    """An embedder to which a question mark is a word, as to some models."""

    def embed_query(self, text: str) -> Vectors:
        return super().embed_query(text.replace("?", " questionmark"))


@pytest.mark.parametrize("mark", ["?", " ?", ".", "!", " \n", "?!"])
def test_a_sentence_is_judged_alike_whatever_mark_the_question_ends_with(engine: Engine, mark: str) -> None:
    """People type questions with and without one; a mark inside stays."""
    question = "What gives Mars its colour"
    found = passages(engine.search(question, k=5))
    rarity = Rarity.of(engine.store, [question, *(text for passage in found for text in passage.sentences)])
    embedder = HearsMarks()
    parts = parts_of(found)
    bare = features(question, parts, rarity, embedder)
    assert features(question + mark, parts, rarity, embedder) == bare
    assert features(question.replace(" ", "? ", 1), parts, rarity, embedder) != bare
