"""The OpenAI embedder against a scripted server: batches, limits, retries, and answers that are not
vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from tests.fakes.openai_server import DIMENSION, OpenAIServer, Reply, embedding, error
from trivium.embedding import openai
from trivium.embedding.embedder import Embedder
from trivium.embedding.openai import OpenAIEmbedder
from trivium.endpoints.endpoint import Endpoint
from trivium.endpoints.token_counts import EstimatedCounter, TiktokenCounter, token_counter
from trivium.errors import EmbeddingError
from trivium.types import EmbedderIdentity

KEY = "sk-very-secret"


class Clock:
    """Time that passes by sleeping."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class WordCounter:
    """A token is a word."""

    def truncate(self, text: str, limit: int) -> tuple[str, int]:
        words = text.split()[:limit]
        return " ".join(words) or text, max(len(words), 1)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


def embedder(server: OpenAIServer, clock: Clock | None = None) -> OpenAIEmbedder:
    clock = clock or Clock()
    return OpenAIEmbedder("toy", Endpoint(server.base_url, SecretStr(KEY), sleep=clock.sleep), WordCounter())


def expected(text: str) -> np.ndarray[Any, Any]:
    row = np.array(embedding(text))
    return np.asarray(row / np.linalg.norm(row))


def test_vectors_are_the_servers_at_length_one_in_the_order_of_the_texts(server: OpenAIServer) -> None:
    """The server answers in reverse order; its indices are what counts. Equal texts are sent once."""
    toy: Embedder = embedder(server)
    steps: list[int] = []
    rows = toy.embed(["moon", "sun", "moon"], steps.append)
    assert rows.dtype == np.float32
    assert rows == pytest.approx(np.array([expected(text) for text in ("moon", "sun", "moon")]), abs=1e-6)
    assert toy.embed_query("sun") == pytest.approx(expected("sun"), abs=1e-6)
    assert [request.body["input"] for request in server.requests] == [["moon", "sun"], ["sun"]]
    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    assert steps == [2]


def test_dimension_and_version_are_learned_from_the_first_answer(server: OpenAIServer) -> None:
    """One request at most: none when something was embedded before."""
    toy = embedder(server)
    assert toy.identity == EmbedderIdentity("openai:toy", "toy-v2", DIMENSION)
    assert toy.identity.dimension == DIMENSION
    assert toy.embed([]).shape == (0, DIMENSION)
    assert len(server.requests) == 1


def test_an_azure_deployment_embeds(server: OpenAIServer) -> None:
    """The deployment is part of the path."""
    endpoint = Endpoint(server.address, SecretStr(KEY), api_version="2024-10-21")
    server.script.append(Reply({"data": [{"index": 0, "embedding": embedding("moon")}]}))
    rows = OpenAIEmbedder("my-ada", endpoint, WordCounter()).embed(["moon"])
    assert rows[0] == pytest.approx(expected("moon"), abs=1e-6)
    (request,) = server.requests
    assert request.path == "/openai/deployments/my-ada/embeddings?api-version=2024-10-21"
    assert request.headers["api-key"] == KEY


def test_batches_respect_count_and_tokens(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most three texts and five tokens a request; a text longer than that goes alone."""
    texts = ["a", "b", "c", "d", "e e e", "f f", "g g g g g g", "h"]
    steps: list[int] = []
    monkeypatch.setattr(openai, "_BATCH_TEXTS", 3)
    monkeypatch.setattr(openai, "_BATCH_TOKENS", 5)
    embedder(server).embed(texts, steps.append)
    assert [request.body["input"] for request in server.requests] == [
        ["a", "b", "c"],
        ["d", "e e e"],
        ["f f"],
        ["g g g g g g"],
        ["h"],
    ]
    assert steps == [3, 2, 1, 1, 1]


def test_a_long_text_is_cut_and_an_empty_one_is_a_space(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API refuses both."""
    monkeypatch.setattr(openai, "TEXT_TOKENS", 2)
    rows = embedder(server).embed(["one two three", "", "\n"])
    assert server.requests[0].body["input"] == ["one two", " ", " "]
    assert rows.shape == (3, DIMENSION)


def test_rate_limiting_and_server_errors_are_tried_again(server: OpenAIServer) -> None:
    """A 429 with Retry-After, a 500 and a broken line, then the vectors."""
    clock = Clock()
    server.script.extend(
        [
            error(429, "slow down", headers={"Retry-After": "7"}),
            error(500, "oops"),
            Reply({"data": "x" * 100}, hang_up=True),
        ]
    )
    rows = embedder(server, clock).embed(["moon"])
    assert rows[0] == pytest.approx(expected("moon"), abs=1e-6)
    assert len(server.requests) == 4
    assert clock.now >= 1007.0


def test_giving_up_is_an_embedding_error_without_the_key(server: OpenAIServer) -> None:
    """The server's words, not its echo of the key."""
    toy = embedder(server)
    server.script.append(error(401, f"bad key {KEY}"))
    with pytest.raises(EmbeddingError, match=r"openai:toy: .*401: bad key") as caught:
        toy.embed(["moon"])
    assert KEY not in f"{caught.value!r}{caught.value.__cause__!r}{toy!r}"


GOOD = embedding("moon")


@pytest.mark.parametrize(
    "body",
    [
        b"no json",
        {},
        {"data": None},
        {"data": [{"index": 0}]},
        {"data": [{"embedding": GOOD}]},
        {"data": []},
        {"data": [{"index": 0, "embedding": GOOD}] * 2},
        {"data": [{"index": 0, "embedding": GOOD}, {"index": 1, "embedding": GOOD}]},
        {"data": [{"index": 1, "embedding": GOOD}]},
        {"data": [{"index": [], "embedding": GOOD}]},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": 7}]},
        {"data": [{"index": 0, "embedding": "abc"}]},
        {"data": [{"index": 0, "embedding": [[1.0]]}]},
        {"data": [{"index": 0, "embedding": [1.0, None]}]},
        {"data": [{"index": 0, "embedding": [0.0, 0.0]}]},
        {"data": [{"index": 0, "embedding": [1e300, 1e300]}]},
        b'{"data": [{"index": 0, "embedding": [1.0, NaN]}]}',
        b'{"data": [{"index": 0, "embedding": [1.0, Infinity]}]}',
    ],
)
def test_an_answer_that_is_not_one_vector_a_text_is_an_error(server: OpenAIServer, body: Any) -> None:
    """Wrong count, wrong places, wrong numbers: never a vector."""
    server.script.append(Reply(body))
    with pytest.raises(EmbeddingError, match="openai:toy: "):
        embedder(server).embed(["moon"])


def test_another_dimension_than_before_is_an_error(server: OpenAIServer) -> None:
    """The dimension of the first answer holds."""
    toy = embedder(server)
    toy.embed(["moon"])
    server.script.append(Reply({"data": [{"index": 0, "embedding": [1.0, 2.0]}]}))
    with pytest.raises(EmbeddingError, match=rf"shape \(1, {DIMENSION}\), got \(1, 2\)"):
        toy.embed(["sun"])


@given(st.text(max_size=200), st.integers(1, 40))
def test_the_estimate_cuts_to_the_limit_and_keeps_what_fits(text: str, limit: int) -> None:
    """A cut text is a beginning of the text, of at most three bytes a token."""
    cut, count = EstimatedCounter().truncate(text, limit)
    assert text.startswith(cut)
    assert len(cut.encode()) <= 3 * limit
    assert count <= limit
    assert cut == text or len(text.encode()) > 3 * limit


def bytes_encoding() -> Any:
    """A tiktoken encoding made here: every byte is a token, "moon" is one as well."""
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([i]): i for i in range(256)}
    for i, merged in enumerate([b"mo", b"on", b"moon"]):
        ranks[merged] = 256 + i
    return tiktoken.Encoding("toy", pat_str=r"\w+|\W", mergeable_ranks=ranks, special_tokens={"<end>": 300})


def test_tiktoken_counts_and_cuts_exactly() -> None:
    """Hand-counted: "moon" is one token; a cut inside a character leaves the character out; special tokens
    are plain text."""
    counter = TiktokenCounter(bytes_encoding())
    assert counter.truncate("moon moon", 3) == ("moon moon", 3)
    assert counter.truncate("moon moon", 2) == ("moon ", 2)
    assert counter.truncate("é", 1) == ("", 1)
    assert counter.truncate("<end>", 9) == ("<end>", 5)


def test_without_tiktokens_vocabulary_tokens_are_estimated(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is downloaded at first use; without a network there is a warning and an estimate."""
    tiktoken = pytest.importorskip("tiktoken")

    def unreachable(name: str) -> Any:
        raise OSError("no network")

    monkeypatch.setattr(tiktoken, "encoding_for_model", unreachable)
    assert isinstance(token_counter("text-embedding-3-small"), EstimatedCounter)
    assert "estimated" in caplog.text


def test_a_model_tiktoken_does_not_know_is_counted_like_openais(monkeypatch: pytest.MonkeyPatch) -> None:
    """cl100k_base stands in."""
    tiktoken = pytest.importorskip("tiktoken")
    asked: list[str] = []

    def get(name: str) -> Any:
        asked.append(name)
        return bytes_encoding()

    monkeypatch.setattr(tiktoken, "get_encoding", get)
    assert isinstance(token_counter("my-own-model"), TiktokenCounter)
    assert asked == ["cl100k_base"]
