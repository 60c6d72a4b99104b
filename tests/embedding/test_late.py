"""Late chunking: a chunk's vector is that of its tokens, in the context of their document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.embedding.embedder import Vectors
from trivium.embedding.late_chunking import (
    LateEmbedder,
    TokenEncoder,
    Tokens,
    WholeText,
    embed_spans,
    is_late,
    late,
    windows,
)
from trivium.embedding.onnx import OnnxEmbedder
from trivium.errors import EmbeddingError
from trivium.testing import HashEmbedder

DIMENSION = 3


def by_words(text: str) -> Tokens:
    """Each word a token; its number is that of its first letter."""
    ids, offsets, at = [], [], 0
    for word in text.split(" "):
        if word:
            ids.append(ord(word[0]))
            offsets.append((at, at + len(word)))
        at += len(word) + 1
    return Tokens(np.array(ids, np.int64), np.array(offsets, np.int64).reshape(-1, 2))


class Encoder:
    """A token's vector says what it is, how many tokens stand before it in the window, and how many behind."""

    def __init__(self) -> None:
        self.seen: list[Sequence[int]] = []

    def __call__(self, ids: Sequence[int]) -> Vectors:
        self.seen.append(ids)
        return np.array([[token, at, len(ids) - at - 1] for at, token in enumerate(ids)], dtype=np.float32)


def unit(*numbers: float) -> Vectors:
    vector = np.array(numbers, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def embed_nothing(_: str) -> Vectors:
    return unit(1, 0, 0)


def test_a_document_that_fits_is_encoded_once_under_its_title() -> None:
    """The mean of the vectors of a span's tokens: "c d" are tokens 3 and 4 of T: a b c d."""
    encode = Encoder()
    encoder = TokenEncoder(by_words, encode, embed_nothing, 10, DIMENSION)
    document = WholeText("T", "a b c d", ((0, 3), (4, 7), (2, 5)))
    (vectors,) = embed_spans([document], encoder)
    assert encode.seen == [[ord(letter) for letter in "Tabcd"]]
    assert vectors[0] == pytest.approx(unit(97.5, 1.5, 2.5))
    assert vectors[1] == pytest.approx(unit(99.5, 3.5, 0.5))
    assert vectors[2] == pytest.approx(unit(98.5, 2.5, 1.5)), "spans may overlap"


@given(st.integers(0, 500), st.integers(4, 60))
def test_each_token_counts_in_one_window_and_has_context_on_both_sides(count: int, room: int) -> None:
    """At least a quarter of a window, except at the ends of the document."""
    found = list(windows(count, room))
    assert [at for window in found for at in range(window.begin, window.end)] == list(range(count))
    for window in found:
        assert 0 <= window.first <= window.begin <= window.end <= window.last <= count
        assert window.last - window.first == min(room, count)
        assert window.first == 0 or window.begin - window.first >= room // 4
        assert window.last == count or window.last - window.end >= room // 4


def test_a_span_across_windows_is_the_mean_of_all_its_tokens() -> None:
    """Forty words in windows of twelve, the title among them: the numbers of all tokens are averaged."""
    words = [chr(97 + number % 26) for number in range(40)]
    encode = Encoder()
    encoder = TokenEncoder(by_words, encode, embed_nothing, 12, DIMENSION)
    (vectors,) = embed_spans([WholeText("T", " ".join(words), ((0, 79),))], encoder, workers=2)
    assert all(len(ids) == 12 and ids[0] == ord("T") for ids in encode.seen)
    sums = vectors[0] / vectors[0].sum()
    mean = np.mean([ord(word) for word in words])
    assert sums[0] / sums[1:].sum() == pytest.approx(mean / 11, rel=1e-5), (
        "before and behind are eleven together"
    )


def test_a_span_without_tokens_is_embedded_by_itself() -> None:
    """Some text is nothing to a tokeniser; its chunk still has a vector."""
    encoder = TokenEncoder(by_words, Encoder(), embed_nothing, 12, DIMENSION)
    (vectors,) = embed_spans([WholeText("T", "a    b", ((2, 4),))], encoder)
    assert vectors.tolist() == [[1, 0, 0]]
    (nothing,) = embed_spans([WholeText("T", "", ())], encoder)
    assert nothing.shape == (0, DIMENSION)


@pytest.fixture(scope="module")
def minilm() -> Iterator[OnnxEmbedder]:
    embedder = OnnxEmbedder("minilm", workers=2)
    yield embedder
    embedder.close()


def test_what_a_pronoun_stands_for_is_in_the_vector(minilm: OnnxEmbedder) -> None:
    """ "It has a dense atmosphere" is nearer to a question about Titan behind a sentence about Titan than behind one
    about Venus, and the same vector comes every time."""
    said = "It has a dense atmosphere, mostly of nitrogen."
    about = [f"{name} is a body of the Solar System. {said}" for name in ("Titan", "Venus")]
    documents = [WholeText("Bodies", text, ((len(text) - len(said), len(text)),)) for text in about]
    titan, venus = (vectors[0] for vectors in minilm.embed_spans(documents))
    question = minilm.embed_query("Which gases surround Titan?")
    assert titan @ question > venus @ question + 0.05
    assert np.array_equal(minilm.embed_spans(documents[:1])[0][0], titan)
    assert np.linalg.norm(titan) == pytest.approx(1.0, abs=1e-6)


def test_long_documents_and_half_characters_are_read(minilm: OnnxEmbedder) -> None:
    """Longer than the model's window, with a lone surrogate, and spans of any kind."""
    text = "Saturn has rings of ice. " * 60 + "\udcff Titan is its largest moon."
    spans = ((0, 24), (24, len(text)), (len(text) - 10, len(text)))
    (vectors,) = minilm.embed_spans([WholeText("Saturn", text, spans)])
    assert vectors.shape == (3, 384) and np.isfinite(vectors).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)


def test_an_embedder_without_tokens_is_refused_with_the_reason(minilm: OnnxEmbedder) -> None:
    """And a late one has an identity of its own."""
    with pytest.raises(EmbeddingError, match="hash gives only those of whole texts"):
        late(HashEmbedder())
    made = late(minilm)
    assert isinstance(made, LateEmbedder) and late(made) is made
    assert is_late(made.identity) and not is_late(minilm.identity) and not is_late(None)
    assert made.identity.version == minilm.identity.version + "+late"
