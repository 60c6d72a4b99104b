"""The embedder of a store remembers the questions that it embedded last."""

from __future__ import annotations

from trivium.embedding.base import Vectors
from trivium.embedding.store_embedder import StoreEmbedder
from trivium.testing.toys import HashEmbedder
from trivium.types import EmbedderIdentity


class _Empty:
    embedder: EmbedderIdentity | None = None
    location = "nowhere"


class _Counting(HashEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed_query(self, text: str) -> Vectors:
        self.asked.append(text)
        return super().embed_query(text)


def test_a_question_that_was_asked_before_is_not_embedded_again() -> None:
    counting = _Counting()
    embedder = StoreEmbedder(_Empty(), counting)
    first = embedder.embed_query("red planet")
    assert embedder.embed_query("moon").tolist() == HashEmbedder().embed_query("moon").tolist()
    assert embedder.embed_query("red planet") is first
    assert counting.asked == ["red planet", "moon"]


def test_another_snapshot_of_the_store_shares_what_is_remembered() -> None:
    counting = _Counting()
    filled = _Empty()
    filled.embedder = counting.identity
    embedder = StoreEmbedder(filled, counting)
    embedder.embed_query("red planet")
    embedder.on(filled).embed_query("red planet")
    assert counting.asked == ["red planet"]
