"""A store of a few pages and an embedder of words, to answer from."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tests.fakes.memory_store import MemoryStore
from tests.retrievers.world import page, store_of
from trivium.answering.answer import AnswerContext
from trivium.answering.answer_parts import Part
from trivium.answering.passages import NumberedPassage
from trivium.embedding.embedder import Vectors
from trivium.settings.domain import NO_DOMAIN, Domain
from trivium.text.normalise import question_terms
from trivium.types import EmbedderIdentity, Hit

DIMENSION = 256

PAGES = [
    page(
        "Mars",
        lead=[("Mars is the fourth planet from the Sun. Its colour comes from iron oxide.", ["Sun"])],
        sections={
            "Moons": [
                (
                    "Mars has two moons, Phobos and Deimos. Asaph Hall discovered both moons in 1877.",
                    ["Asaph Hall"],
                )
            ]
        },
        aliases=["Red Planet"],
    ),
    page("Asaph Hall", lead=[("Asaph Hall was an American astronomer. He was born in Goshen in 1829.", [])]),
    page("Saturn", lead=[("Saturn is the sixth planet. Its rings consist of ice.", [])]),
]
MOONS, HALL, SATURN, LEAD = "Mars#Moons#chunk-1", "Asaph Hall#chunk-1", "Saturn#chunk-1", "Mars#chunk-1"


class WordEmbedder:
    """Texts that share words are near one another. No classifier was fitted for it, so words alone decide."""

    identity = EmbedderIdentity("words", "1", DIMENSION)

    def embed_query(self, text: str) -> Vectors:
        """A text as a unit vector."""
        return self.embed([text])[0]

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """How often terms occur, by a hash of them."""
        vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            for term in question_terms(text) or [""]:
                vectors[row, sum(map(ord, term)) % DIMENSION] += 1.0
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        result: Vectors = vectors / np.maximum(norms, 1e-9)
        return result

    def close(self) -> None:
        """Nothing to let go of."""


def world() -> MemoryStore:
    """The pages in a store."""
    return store_of(PAGES, {})


def hit(store: MemoryStore, uri: str, rank: int = 1) -> Hit:
    """A chunk as a search would give it."""
    (record,) = store.fetch([uri])
    return Hit(
        uri, record.text, 1.0 / rank, rank, record.page, record.section, record.kind, record.start, record.end
    )


def made_up(text: str, rank: int = 1, section: str = "Page") -> Hit:
    """A hit with any text."""
    return Hit(f"{section}#chunk-{rank}", text, 1.0 / rank, rank, "Page", section, "paragraph", 0, len(text))


def ground(
    store: MemoryStore,
    hits: Sequence[Hit],
    asked: list[str] | None = None,
    domain: Domain = NO_DOMAIN,
) -> AnswerContext:
    """Where a search finds those hits, whatever is asked; what was asked is noted, the recall query behind it."""

    def search(question: str, recall: str | None) -> Sequence[Hit]:
        if asked is not None:
            asked.extend([question] if recall is None else [question, recall])
        return hits

    return AnswerContext(store, WordEmbedder(), search, domain)


def sentence_of(passage: NumberedPassage, text: str) -> Part:
    """A sentence of a passage as a part."""
    start = passage.body.find(text)
    return Part(passage, "sentence", start, start + len(text), text)
