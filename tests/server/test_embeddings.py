"""The store's embedder as OpenAI's API has embedders, asked by the official client."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest
from openai import OpenAI

from tests.server.world import RECORDS, listening
from trivium.embedding.registry import open_embedder
from trivium.server.keys import new_key
from trivium.server.settings import ServerSettings

TEXTS = [record["text"] for record in RECORDS]


@pytest.fixture(scope="module")
def served(store: Path) -> Iterator[tuple[str, str, str]]:
    """The address of a server that asks for keys, one that may read, and one that is unknown."""
    text, key = new_key("reader", "read")
    with listening(store, ServerSettings(api_keys=(key,))) as address:
        yield f"{address}/v1", text, "sk-wrong"


@pytest.fixture(scope="module")
def client(served: tuple[str, str, str]) -> Iterator[OpenAI]:
    address, key, _ = served
    with OpenAI(base_url=address, api_key=key, max_retries=0) as client:
        yield client


def test_texts_become_the_vectors_of_passages_in_their_order(client: OpenAI) -> None:
    """The client asks for base64 unless it is told otherwise; one text or several, in either form: the same floats."""
    expected = open_embedder("minilm").embed(TEXTS)
    as_base64 = client.embeddings.create(model="minilm", input=TEXTS)
    as_floats = client.embeddings.create(model="minilm", input=TEXTS, encoding_format="float", dimensions=384)
    alone = client.embeddings.create(model="minilm", input=TEXTS[-1])
    assert [one.index for one in as_base64.data] == list(range(len(TEXTS)))
    for answer, vectors in ((as_base64, expected), (as_floats, expected), (alone, expected[-1:])):
        assert np.array_equal(np.array([one.embedding for one in answer.data], dtype=np.float32), vectors)
        assert (answer.object, answer.model, answer.usage.total_tokens) == ("list", "minilm", 0)


def test_base64_is_of_little_endian_floats(served: tuple[str, str, str], client: OpenAI) -> None:
    raw: Any = client.post(
        "/embeddings",
        cast_to=object,
        body={"model": "minilm", "input": TEXTS[0], "encoding_format": "base64", "user": "ada"},
    )
    vector = np.frombuffer(b64decode(raw["data"][0]["embedding"]), dtype="<f4")
    assert np.array_equal(vector, open_embedder("minilm").embed(TEXTS[:1])[0])


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        (
            {"model": "text-embedding-3-small"},
            openai.NotFoundError,
            "expected 'minilm'",
        ),
        ({"dimensions": 256}, openai.BadRequestError, "dimensions: expected 384, got 256"),
        ({"input": []}, openai.UnprocessableEntityError, "input: List should have at least 1 item"),
        (
            {"input": ["a"] * 2049},
            openai.UnprocessableEntityError,
            "input: List should have at most 2048 items",
        ),
        ({"input": ["a", ""]}, openai.UnprocessableEntityError, "input.1: "),
        ({"input": ""}, openai.UnprocessableEntityError, "input.0: "),
        ({"input": [[1, 2]]}, openai.UnprocessableEntityError, "input.0: Input should be a valid string"),
    ],
)
def test_what_cannot_be_embedded_is_refused_with_what_is_expected(
    client: OpenAI, given: dict[str, Any], error: type[openai.APIStatusError], said: str
) -> None:
    with pytest.raises(error, match=said):
        client.embeddings.create(**{"model": "minilm", "input": "a", **given})


def test_no_key_no_vectors(served: tuple[str, str, str]) -> None:
    address, _, wrong = served
    with (
        OpenAI(base_url=address, api_key=wrong, max_retries=0) as client,
        pytest.raises(openai.AuthenticationError),
    ):
        client.embeddings.create(model="minilm", input="a")
