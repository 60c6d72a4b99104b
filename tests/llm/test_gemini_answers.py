"""What answers of the Gemini API have to look like before Google's package reads them: it takes its time, in the loop
that all endpoints share."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes import provider_servers as fakes
from tests.fakes.openai_server import OpenAIServer, Reply, event, events
from tests.llm.test_providers import needed
from trivium.errors import ChatModelError
from trivium.llm.base import Message

ASKED = [Message("user", "Which moon?")]
LONG = "x" * 3_000_000


def candidate(parts: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with needed("gemini").server() as running:
        yield running


@pytest.mark.parametrize(
    "value",
    [
        {"candidates": LONG},
        {"candidates": {LONG: 1}},
        {"candidates": [{}] * 500_000},
        {"candidates": [{"content": LONG}]},
        candidate(LONG),
        candidate([{"text": "a"}] * 200_000),
        candidate([LONG]),
        {**candidate([{"text": "a"}]), "promptFeedback": {"safetyRatings": [{}] * 500_000}},
        candidate([{"text": LONG * 4}]),
        [candidate([{"text": "a"}])],
        7,
    ],
    ids=lambda value: repr(value)[:60],
)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_what_would_hold_up_everybody_is_refused_at_once(
    server: OpenAIServer, value: Any, streamed: bool
) -> None:
    model = needed("gemini").model(server, retries=0)
    server.script.append(events(event(value)) if streamed else Reply(value))
    began = time.monotonic()
    with pytest.raises(ChatModelError, match=r"something else|MiB at once"):
        "".join(model.stream(ASKED)) if streamed else model.complete(ASKED)
    assert time.monotonic() - began < 5


def test_an_answer_is_what_it_was_wherever_its_bytes_are_cut(server: OpenAIServer) -> None:
    """Comments, lines that end as in Windows, data on several lines, an event at the end without its blank line."""
    text = "Phobos \u2028 \u00e9\U0001f315 [1].\n"
    lines = json.dumps(candidate([{"text": text}]), ensure_ascii=False, indent=1).split("\n")
    data = b": hello\r\nid: 7\r\nevent: x\r\n" + "".join(f"data: {line}\r\n" for line in lines).encode()
    for step in (1, 7, len(data)):
        server.script.append(events(*(data[at : at + step] for at in range(0, len(data), step))))
        assert "".join(needed("gemini").model(server).stream(ASKED)) == text


def test_a_long_honest_answer_is_read(server: OpenAIServer) -> None:
    """Half a megabyte in one, and in a thousand events."""
    model = needed("gemini").model(server)
    server.script.append(fakes.gemini_answer("moon " * 100_000))
    assert len(model.complete(ASKED, max_tokens=60_000)) == 500_000
    server.script.append(fakes.gemini_streamed(*["moon " * 100] * 1000))
    assert len("".join(model.stream(ASKED, max_tokens=60_000))) == 500_000
