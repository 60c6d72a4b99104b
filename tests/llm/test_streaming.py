"""Answers as they are written: pieces, tokens, failures on the way, leaving early."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from tests.fakes.openai_server import OpenAIServer, Reply, chat, error, event, events, streamed
from tests.waiting import until
from trivium.common.stopping import Stop, StoppedError
from trivium.endpoints.endpoint import Endpoint
from trivium.errors import ChatModelError
from trivium.llm import openai as openai_module
from trivium.llm.chat_model import ChatModel, Message, ReplyUsage
from trivium.llm.openai import OpenAIChatModel
from trivium.llm.token_usage import CountingChatModel
from trivium.types import Usage

KEY = "sk-very-secret"
QUESTION = [Message("user", "Which planet has rings?")]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


def model(server: OpenAIServer, **options: Any) -> OpenAIChatModel:
    endpoint = Endpoint(server.base_url, SecretStr(KEY), sleep=lambda _: None, **options)
    return OpenAIChatModel("tiny", endpoint)


def test_pieces_come_one_by_one_and_the_tokens_at_the_end(server: OpenAIServer) -> None:
    """What was asked for, in the order it was written, with the endpoint's own count."""
    server.script.append(streamed("Sat", "urn", ".", usage=(21, 5)))
    chat_model: ChatModel = model(server)
    reply = chat_model.stream(QUESTION, max_tokens=9)
    assert next(reply) == "Sat" and reply.usage is None
    assert list(reply) == ["urn", "."]
    assert reply.usage == ReplyUsage(21, 5, "reported", truncated=False)
    body = server.requests[0].body
    assert body["stream"] is True and body["stream_options"] == {"include_usage": True}
    assert body["temperature"] == 0.0 and body["seed"] == 0 and body["max_tokens"] == 9


def test_a_piece_is_there_before_the_next_is_written(server: OpenAIServer) -> None:
    """Nothing waits for the end."""
    server.script.append(streamed("first", 0.6, "second"))
    begin = time.monotonic()
    with model(server).stream(QUESTION) as reply:
        assert next(reply) == "first"
        assert time.monotonic() - begin < 0.5


def pieces_of(reply: Reply) -> list[bytes]:
    """The chunks of a scripted reply."""
    return [chunk for chunk in reply.chunks or () if isinstance(chunk, bytes)]


def test_events_are_read_however_the_line_cuts_them(server: OpenAIServer) -> None:
    """A character of two bytes and an event cut in the middle."""
    whole = b"".join(pieces_of(streamed("Jötunn", "heimr")))
    server.script.append(events(*(whole[at : at + 1] for at in range(len(whole)))))
    assert "".join(model(server).stream(QUESTION)) == "Jötunnheimr"


def test_a_body_without_chunks_streams_too(server: OpenAIServer) -> None:
    """Servers of the older protocol send one body and close."""
    whole = b"".join(pieces_of(streamed("Saturn")))
    server.script.append(Reply(whole, headers={"Content-Type": "text/event-stream"}))
    assert list(model(server).stream(QUESTION)) == ["Saturn"]


def test_an_endpoint_that_does_not_stream_is_read_in_one(server: OpenAIServer) -> None:
    """It answers with one object."""
    server.script.append(chat("Saturn."))
    reply = model(server).stream(QUESTION)
    assert list(reply) == ["Saturn."]


def test_the_limit_is_told(server: OpenAIServer) -> None:
    """An answer that was cut off says so."""
    server.script.append(streamed("Sat", reason="length"))
    reply = model(server).stream(QUESTION)
    list(reply)
    assert reply.usage is not None and reply.usage.truncated


def test_failures_before_the_first_byte_are_tried_again(server: OpenAIServer) -> None:
    """Nothing has been passed on yet."""
    server.script.extend([error(503, "busy"), events(hang_up=True), streamed("yes")])
    assert list(model(server).stream(QUESTION)) == ["yes"]
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "rest",
    [
        streamed("one", hang_up=True),
        events(*pieces_of(streamed("one"))[:3], event({"error": {"message": f"overloaded {KEY}"}})),
        events(*pieces_of(streamed("one"))[:3], event(b"<html>")),
    ],
    ids=["line breaks", "error in the stream", "no JSON"],
)
def test_failures_on_the_way_are_final_and_show_no_key(server: OpenAIServer, rest: Reply) -> None:
    """What was read cannot be taken back: no second request."""
    server.script.append(rest)
    reply = model(server).stream(QUESTION)
    with pytest.raises(ChatModelError, match="in the middle of an answer") as caught:
        list(reply)
    assert KEY not in repr(caught.value) + repr(caught.value.__cause__)
    assert len(server.requests) == 1 and reply.usage is None


def test_a_pause_that_is_too_long_ends_it(server: OpenAIServer) -> None:
    """The timeout counts from one byte to the next."""
    server.script.append(streamed("one", 0.6, "two"))
    with pytest.raises(ChatModelError, match=r"did not answer within 0\.2 s"):
        list(model(server, timeout=0.2).stream(QUESTION))


def test_a_stream_without_an_answer_is_an_error(server: OpenAIServer) -> None:
    """Events that are something else."""
    server.script.append(events(event({"hello": 1}), event(b"[DONE]")))
    with pytest.raises(ChatModelError, match=r"choices\[0\]\.delta"):
        list(model(server).stream(QUESTION))


def test_who_leaves_early_hangs_up(server: OpenAIServer) -> None:
    """The server sees the connection closed, and can stop generating."""
    server.script.append(streamed("one", *([0.01, "more" * 2000] * 100)))
    with model(server).stream(QUESTION) as reply:
        next(reply)
    for _ in range(300):
        if server.abandoned:
            break
        time.sleep(0.01)
    assert server.abandoned == 1


def test_tokens_are_counted_where_the_endpoint_does_not(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By tiktoken where its vocabulary is there, else by length, and it is said which."""

    class Encoding:
        def encode_ordinary(self, text: str) -> list[int]:
            return [0] * len(text.split())

    server.script.extend([streamed("Saturn", " has", usage=None)] * 2)
    monkeypatch.setattr(openai_module, "token_counter", lambda _: openai_module.TiktokenCounter(Encoding()))
    reply = model(server).stream(QUESTION)
    list(reply)
    assert reply.usage == ReplyUsage(4 + 4, 2, "tiktoken")
    monkeypatch.setattr(openai_module, "token_counter", lambda _: openai_module.EstimatedCounter())
    reply = model(server).stream(QUESTION)
    list(reply)
    assert reply.usage == ReplyUsage(4 + 8, 4, "estimated")


def test_what_is_not_taken_is_left_out(server: OpenAIServer) -> None:
    """Some endpoints know neither seed nor stream_options; some only say so in words."""
    server.script.extend(
        [
            error(400, "no", param="stream_options"),
            error(422, "extra fields not permitted: seed"),
            streamed("yes"),
        ]
    )
    chat_model = model(server)
    assert list(chat_model.stream(QUESTION)) == ["yes"]
    assert {"stream_options", "seed"}.isdisjoint(server.requests[-1].body)


def test_a_counted_model_counts_what_is_read(server: OpenAIServer) -> None:
    """As the endpoint reports it: 7 + 3, then 20 + 1 of an answer taken whole; its end is handed on. Where it reports
    nothing the model's own count holds, and a call that fails has been paid for."""
    server.script.extend([streamed("12345", "678"), streamed("1234", usage=(20, 1))])
    counted = CountingChatModel(model(server))
    reply = counted.stream(QUESTION)
    assert "".join(reply) == "12345678" and reply.usage == ReplyUsage(7, 3)
    assert counted.complete(QUESTION) == "1234"
    assert (counted.calls, counted.usage) == (2, Usage(27, 4))
    assert counted.context_tokens == 8192 and counted.count_tokens("abc") == 1

    server.script.append(streamed("stop", " here", " please"))
    with counted.stream(QUESTION) as reply:
        assert next(reply) == "stop"
    asked = counted.count_tokens(QUESTION[0].content)
    assert counted.usage == Usage(27 + asked, 4 + counted.count_tokens("stop"))
    server.script.append(error(401, "no such key"))
    with pytest.raises(ChatModelError, match="no such key"):
        counted.complete(QUESTION)
    assert counted.calls == 4 and counted.usage.prompt_tokens == 27 + 2 * asked


def test_text_that_does_not_come_is_not_waited_for(server: OpenAIServer) -> None:
    """Comments and events without text are no progress."""
    nothing = event({"choices": [{"index": 0, "delta": {"content": ""}}]})
    for chunks in ([b": ping\n\n", 0.02] * 100, [nothing, 0.02] * 100):
        server.script.append(events(*chunks))
        begin = time.monotonic()
        with pytest.raises(ChatModelError, match=r"within 0\.3 s|nothing for 0\.3 s"):
            list(model(server, timeout=0.3, retries=0).stream(QUESTION))
        assert time.monotonic() - begin < 1.5


def test_thoughts_are_progress(server: OpenAIServer) -> None:
    """A reasoning model may think for longer than the time limit without text."""
    thought = event({"choices": [{"index": 0, "delta": {"reasoning_content": "hm"}}]})
    server.script.append(events(*([thought, 0.05] * 12), *pieces_of(streamed("Saturn"))))
    assert list(model(server, timeout=0.3).stream(QUESTION)) == ["Saturn"]


def test_an_attempt_has_a_time_in_all(server: OpenAIServer) -> None:
    """Whoever sends something now and then is not waited for for ever, and not asked again."""
    server.script.append(streamed(*["word ", 0.05] * 100))
    with pytest.raises(ChatModelError, match=r"not done within 0\.5 s, in the middle"):
        list(model(server, total=0.5).stream(QUESTION))
    server.script.append(Reply({}, delay=2.0))
    with pytest.raises(ChatModelError, match=r"not done within 0\.5 s"):
        model(server, total=0.5).complete(QUESTION)
    assert len(server.requests) == 2


def test_a_stream_that_was_cut_is_no_answer(server: OpenAIServer) -> None:
    """It ended well for HTTP, but the model never said that it was done: by a reason, or by [DONE]."""
    said = event({"choices": [{"index": 0, "delta": {"content": "Saturn has"}}]})
    server.script.append(events(said))
    with pytest.raises(ChatModelError, match="broke off in the middle"):
        list(model(server).stream(QUESTION))
    reason = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    for end in (reason, event(b"[DONE]"), b"data:[DONE]\n\n"):
        server.script.append(events(said, end))
        assert list(model(server).stream(QUESTION)) == ["Saturn has"]


def test_an_answer_is_no_longer_than_was_asked_for(server: OpenAIServer) -> None:
    """An endpoint that ignores the limit is cut off, and told so by the connection."""
    server.script.append(streamed(*["x" * 90] * 100))
    reply = model(server).stream(QUESTION, max_tokens=10)
    assert len("".join(reply)) == 1000
    assert reply.usage is not None and reply.usage.truncated


def test_a_long_event_is_read_in_linear_time(server: OpenAIServer) -> None:
    """However small the pieces it comes in."""
    text = "x" * 400_000
    whole = b"".join(pieces_of(streamed(text)))
    server.script.append(events(*(whole[at : at + 100] for at in range(0, len(whole), 100))))
    begin = time.process_time()
    assert "".join(model(server).stream(QUESTION, max_tokens=100_000)) == text
    assert time.process_time() - begin < 5


def test_a_stop_reaches_what_waits_for_an_endpoint(server: OpenAIServer) -> None:
    """For its answer, for the next piece, for the time to try again: each ends at once, and hangs up."""
    slow = [
        Reply({}, delay=5.0),
        streamed("one", *(["more" * 2000, 0.05] * 100)),
        error(429, "later", headers={"Retry-After": "60"}),
    ]
    for reply in slow:
        server.script.clear()
        server.script.append(reply)
        stop = Stop()
        ended = threading.Timer(0.3, stop.ask)
        begin = time.monotonic()
        ended.start()
        with stop.in_force(), pytest.raises(StoppedError):
            list(OpenAIChatModel("tiny", Endpoint(server.base_url)).stream(QUESTION))
        assert 0.2 < time.monotonic() - begin < 1.5
    until(lambda: server.abandoned == 1)
