"""Anthropic and Gemini through their own packages, against servers that speak as theirs do: what is sent, and the same
promises as for OpenAI-compatible endpoints."""

from __future__ import annotations

import gzip
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pytest
from pydantic import SecretStr

from tests.fakes import provider_servers as fakes
from tests.fakes.openai_server import OpenAIServer, Reply, events
from tests.waiting import until
from trivium.common import stopping
from trivium.common.stopping import Stop, StoppedError
from trivium.errors import ChatModelError
from trivium.llm.base import Message, ReplyUsage
from trivium.llm.hosted import HostedChatModel
from trivium.llm.json_replies import object_schema
from trivium.testing.contracts import ChatModelContract

KEY = "sk-very-secret"
QUESTION = [
    Message("system", "Be brief."),
    Message("user", "Which planet has rings?"),
    Message("assistant", "Saturn."),
    Message("user", "Which other?"),
]


@dataclass(frozen=True)
class Provider:
    """How a provider's server answers, and what asks it."""

    package: str
    server: Callable[[], OpenAIServer]
    streamed: Callable[..., Reply]
    whole: Callable[..., Reply]
    error: Callable[..., Reply]
    fault: Callable[..., dict[str, Any]]
    delta: Callable[..., bytes]
    cut: str

    def model(self, server: OpenAIServer, **options: Any) -> HostedChatModel:
        """The model, with a server for its endpoint; options of the endpoint, or ``seed`` and ``temperature``."""
        own = {name: options.pop(name) for name in ("seed", "temperature") if name in options}
        options = {"api_key": SecretStr(KEY), "sleep": lambda _: None} | options
        if self.package == "anthropic":
            from trivium.endpoints.anthropic import AnthropicEndpoint
            from trivium.llm.anthropic import AnthropicChatModel

            return AnthropicChatModel("tiny", AnthropicEndpoint(server.base_url, **options), **own)
        from trivium.endpoints.gemini import GeminiEndpoint
        from trivium.llm.gemini import GeminiChatModel

        return GeminiChatModel("tiny", GeminiEndpoint(server.base_url, **options), **own)


PROVIDERS = {
    "anthropic": Provider(
        "anthropic",
        fakes.AnthropicServer,
        fakes.anthropic_streamed,
        fakes.anthropic_message,
        fakes.anthropic_error,
        fakes.anthropic_fault,
        fakes.anthropic_delta,
        "max_tokens",
    ),
    "gemini": Provider(
        "google.genai",
        fakes.GeminiServer,
        fakes.gemini_streamed,
        fakes.gemini_answer,
        fakes.gemini_error,
        fakes.gemini_fault,
        fakes.gemini_delta,
        "MAX_TOKENS",
    ),
}


def needed(name: str) -> Provider:
    """A provider whose package is there."""
    provider = PROVIDERS[name]
    try:
        there = find_spec(provider.package) is not None
    except ModuleNotFoundError:
        there = False
    if not there and os.environ.get("CI") != "true":
        pytest.skip(f"the package {provider.package} is not installed")
    return provider


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> Provider:
    return needed(request.param)


@pytest.fixture
def server(provider: Provider) -> Iterator[OpenAIServer]:
    with provider.server() as running:
        yield running


def test_anthropic_is_asked_in_its_words() -> None:
    """The system's part apart, a schema as output format; there is no seed."""
    provider = needed("anthropic")
    with provider.server() as server:
        chat_model = provider.model(server, temperature=0.3)
        schema = object_schema({"planet": {"type": "string"}})
        assert chat_model.complete(QUESTION, max_tokens=9, schema=schema) == "Which other?"
    (request,) = server.requests
    assert request.path == "/v1/messages" and request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.headers["anthropic-version"] and request.headers["Accept-Encoding"] == "identity"
    assert request.body == {
        "model": "tiny",
        "max_tokens": 9,
        "temperature": 0.3,
        "system": "Be brief.",
        "messages": [{"role": m.role, "content": m.content} for m in QUESTION[1:]],
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
    }


def test_gemini_is_asked_in_its_words() -> None:
    """The system's part apart, ``model`` for the assistant, the key in its own header; nothing to call."""
    provider = needed("gemini")
    with provider.server() as server:
        chat_model = provider.model(server, temperature=0.3, seed=5)
        schema = object_schema({"planet": {"type": "string"}})
        assert chat_model.complete(QUESTION, max_tokens=9, schema=schema) == "Which other?"
        list(chat_model.stream(QUESTION, temperature=0.0))
    whole, streamed = server.requests
    assert whole.path == "/v1beta/models/tiny:generateContent"
    assert streamed.path == "/v1beta/models/tiny:streamGenerateContent?alt=sse"
    assert whole.headers["x-goog-api-key"] == KEY and "key=" not in whole.path
    assert whole.headers["Accept-Encoding"] == "identity"
    assert whole.body["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert [turn["role"] for turn in whole.body["contents"]] == ["user", "model", "user"]
    config = whole.body["generationConfig"]
    assert (config["maxOutputTokens"], config["temperature"], config["seed"]) == (9, 0.3, 5)
    assert config["responseMimeType"] == "application/json" and config["responseJsonSchema"] == schema
    assert streamed.body["generationConfig"]["temperature"] == 0.0 and "tools" not in streamed.body


def test_pieces_come_one_by_one_and_the_tokens_at_the_end(server: OpenAIServer, provider: Provider) -> None:
    """In the order they were written, each before the next, with the endpoint's own count."""
    server.script.append(provider.streamed("Sat", "urn", 2.0, "…", usage=(21, 5)))
    begin = time.monotonic()
    reply = provider.model(server).stream(QUESTION, max_tokens=9)
    assert next(reply) == "Sat" and reply.usage is None and time.monotonic() - begin < 1.8
    assert list(reply) == ["urn", "…"]
    assert reply.usage == ReplyUsage(21, 5, "reported", truncated=False)


def test_tokens_that_are_not_told_are_estimated(server: OpenAIServer, provider: Provider) -> None:
    """And it is said that they are."""
    server.script.append(provider.streamed("Saturn", usage=None))
    reply = provider.model(server).stream(QUESTION)
    list(reply)
    assert reply.usage is not None and reply.usage.counted_by == "estimated"
    assert reply.usage.prompt_tokens > 0 and reply.usage.completion_tokens == 2


def test_the_limit_is_told(server: OpenAIServer, provider: Provider) -> None:
    """An answer that was cut off says so."""
    server.script.append(provider.streamed("Sat", reason=provider.cut))
    reply = provider.model(server).stream(QUESTION)
    list(reply)
    assert reply.usage is not None and reply.usage.truncated


def test_failures_before_the_first_event_are_tried_again(server: OpenAIServer, provider: Provider) -> None:
    """Busy, a line that breaks, an error that passes as the first event; then an answer."""
    passing = provider.fault("overloaded", "overloaded_error") if "type" in provider.fault("") else None
    first = events(fakes.fault_event(passing or provider.fault("overloaded", 503)))
    server.script.extend([provider.error(503, "busy"), events(hang_up=True), first, provider.streamed("yes")])
    assert list(provider.model(server).stream(QUESTION)) == ["yes"]
    assert len(server.requests) == 4


def test_retry_after_is_honoured_and_giving_up_says_why(server: OpenAIServer, provider: Provider) -> None:
    """The package itself tries nothing again."""
    waits: list[float] = []
    server.script.extend(provider.error(429, "slow down", headers={"Retry-After": "7"}) for _ in range(3))
    with pytest.raises(ChatModelError, match=r"tiny: .*429: slow down \(3 attempts\)"):
        provider.model(server, retries=2, sleep=waits.append).complete(QUESTION)
    assert waits == [7.0, 7.0] and len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_lasting_failures_are_told_at_once_without_the_key(
    server: OpenAIServer, provider: Provider, status: int
) -> None:
    """One request, one line, and what to look at."""
    server.script.append(provider.error(status, f"not with {KEY}"))
    with pytest.raises(ChatModelError, match=rf"{status}: not with \*\*\*") as caught:
        list(provider.model(server).stream(QUESTION))
    assert len(server.requests) == 1 and "\n" not in str(caught.value)
    assert KEY not in repr(caught.value) + repr(caught.value.__cause__)
    assert ("check the API key" in str(caught.value)) == (status in (401, 403))


@pytest.mark.parametrize("how", ["line breaks", "error in the stream", "no JSON", "something else"])
def test_failures_on_the_way_are_final_and_show_no_key(
    server: OpenAIServer, provider: Provider, how: str
) -> None:
    """What was read cannot be taken back: no second request."""
    begun = fakes.pieces_of(provider.streamed("one", hang_up=True))
    rest = {
        "line breaks": provider.streamed("one", hang_up=True),
        "error in the stream": events(*begun, fakes.fault_event(provider.fault(f"overloaded {KEY}"))),
        "no JSON": events(*begun, b"event: content_block_delta\ndata: <html>\n\n"),
        "something else": events(*begun, b'event: content_block_delta\ndata: [{"x": 1}]\n\n'),
    }
    server.script.append(rest[how])
    reply = provider.model(server).stream(QUESTION)
    with pytest.raises(ChatModelError, match=r"in the middle of an answer") as caught:
        list(reply)
    assert KEY not in repr(caught.value) + repr(caught.value.__cause__)
    assert len(server.requests) == 1 and reply.usage is None


def test_a_stream_that_was_cut_is_no_answer(server: OpenAIServer, provider: Provider) -> None:
    """It ended well for HTTP, but the model never said that it was done."""
    server.script.append(events(*fakes.pieces_of(provider.streamed("Saturn has", hang_up=True))))
    with pytest.raises(ChatModelError, match="broke off in the middle"):
        list(provider.model(server).stream(QUESTION))


def test_text_that_does_not_come_is_not_waited_for(server: OpenAIServer, provider: Provider) -> None:
    """Silence, and events without text; thoughts are progress."""
    begun = fakes.pieces_of(provider.streamed("one", hang_up=True))
    for chunks in ([2.0], [provider.delta(""), 0.02] * 60):
        server.script.append(events(*begun, *chunks))
        with pytest.raises(ChatModelError, match=r"within 0\.3 s|nothing for 0\.3 s"):
            list(provider.model(server, timeout=0.3, retries=0).stream(QUESTION))
    thoughts = [provider.delta("hm", "thinking"), 0.05] * 30
    server.script.append(events(*thoughts, *fakes.pieces_of(provider.streamed("Saturn"))))
    assert "".join(provider.model(server, timeout=1.0).stream(QUESTION)) == "Saturn"


def test_an_attempt_has_a_time_in_all(server: OpenAIServer, provider: Provider) -> None:
    """Streamed or whole, and it is not asked again."""
    server.script.extend([provider.streamed(*["word ", 0.05] * 60), Reply({}, delay=2.0)])
    chat_model = provider.model(server, total=0.5)
    with pytest.raises(ChatModelError, match=r"not done within 0\.5 s, in the middle"):
        list(chat_model.stream(QUESTION))
    with pytest.raises(ChatModelError, match=r"not done within 0\.5 s"):
        chat_model.complete(QUESTION)
    assert len(server.requests) == 2


def test_an_answer_is_no_longer_than_was_asked_for(server: OpenAIServer, provider: Provider) -> None:
    """An endpoint that ignores the limit is cut off; one that compresses is refused."""
    server.script.append(provider.streamed(*["x" * 90] * 100))
    reply = provider.model(server).stream(QUESTION, max_tokens=10)
    assert len("".join(reply)) == 1000
    assert reply.usage is not None and reply.usage.truncated
    server.script.append(Reply(gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"}))
    with pytest.raises(ChatModelError, match="compressed"):
        provider.model(server, retries=0).complete(QUESTION)


def test_who_leaves_early_hangs_up(server: OpenAIServer, provider: Provider) -> None:
    """The server sees the connection closed, and can stop generating."""
    server.script.append(provider.streamed("one", *([0.01, "more" * 2000] * 100)))
    with provider.model(server).stream(QUESTION) as reply:
        next(reply)
    until(lambda: server.abandoned == 1)


def test_a_stop_reaches_what_waits(server: OpenAIServer, provider: Provider) -> None:
    """For its answer, for the next piece, for the time to try again: each ends at once."""
    slow = [
        Reply({}, delay=5.0),
        provider.streamed("one", *(["more" * 2000, 0.05] * 100)),
        provider.error(429, "later", headers={"Retry-After": "60"}),
    ]
    for reply in slow:
        server.script.clear()
        server.script.append(reply)
        stop = Stop()
        begin = time.monotonic()
        threading.Timer(0.3, stop.ask).start()
        with stop.in_force(), pytest.raises(StoppedError):
            list(provider.model(server, sleep=stopping.sleep).stream(QUESTION))
        assert 0.2 < time.monotonic() - begin < 4


def test_what_a_model_does_not_take_is_left_out(server: OpenAIServer, provider: Provider) -> None:
    """Some take no temperature, and only say so in words; it is not sent again."""
    server.script.append(provider.error(400, "`temperature` is not supported by this model"))
    chat_model = provider.model(server)
    assert "".join(chat_model.stream(QUESTION)) == "Which other?"
    assert "".join(chat_model.stream(QUESTION)) == "Which other?"
    assert ["temperature" in str(request.body) for request in server.requests] == [True, False, False]


def test_texts_beside_the_answer_are_not_read_out() -> None:
    """Several texts are one answer; thoughts are none of it."""
    anthropic, gemini = needed("anthropic"), needed("gemini")
    with anthropic.server() as server:
        server.script.append(fakes.anthropic_message("Sat", "urn"))
        server.script.append(
            events(fakes.anthropic_delta("hm", "thinking"), *fakes.pieces_of(anthropic.streamed("x")))
        )
        assert anthropic.model(server).complete(QUESTION) == "Saturn"
        assert list(anthropic.model(server).stream(QUESTION)) == ["x"]
    with gemini.server() as server:
        server.script.append(fakes.gemini_answer("Sat", "urn"))
        server.script.append(
            events(fakes.gemini_delta("hm", "thinking"), *fakes.pieces_of(gemini.streamed("x")))
        )
        assert gemini.model(server).complete(QUESTION) == "Saturn"
        assert list(gemini.model(server).stream(QUESTION)) == ["x"]


def test_an_answer_that_is_declined_says_so() -> None:
    """Gemini gives no candidate and a reason."""
    gemini = needed("gemini")
    declined = {"promptFeedback": {"blockReason": "SAFETY"}}
    with gemini.server() as server:
        server.script.append(Reply(declined))
        with pytest.raises(ChatModelError, match="SAFETY"):
            gemini.model(server).complete(QUESTION)
        server.script.append(events(fakes.event(declined)))
        with pytest.raises(ChatModelError, match=r"declined to answer \(SAFETY\)"):
            list(gemini.model(server).stream(QUESTION))


def test_variables_for_the_packages_change_nothing(
    server: OpenAIServer, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys and addresses come from the settings alone."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "sk-other")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    assert provider.model(server).complete(QUESTION) == "Which other?"
    assert "sk-other" not in str(server.requests[0].headers)


def test_a_long_event_is_read_in_linear_time(server: OpenAIServer, provider: Provider) -> None:
    """However small the pieces it comes in."""
    text = "x" * 200_000
    whole = b"".join(fakes.pieces_of(provider.streamed(text)))
    server.script.append(events(*(whole[at : at + 100] for at in range(0, len(whole), 100))))
    begin = time.process_time()
    assert "".join(provider.model(server).stream(QUESTION, max_tokens=100_000)) == text
    assert time.process_time() - begin < 5


@pytest.mark.usefixtures("asked")
class TestAnthropicContract(ChatModelContract):
    """What every chat model does."""

    @pytest.fixture
    def asked(self) -> Iterator[None]:
        provider = needed("anthropic")
        with provider.server() as self.server:
            yield

    def make(self) -> HostedChatModel:
        """The model under test."""
        return PROVIDERS["anthropic"].model(self.server)


@pytest.mark.usefixtures("asked")
class TestGeminiContract(ChatModelContract):
    """What every chat model does."""

    @pytest.fixture
    def asked(self) -> Iterator[None]:
        provider = needed("gemini")
        with provider.server() as self.server:
            yield

    def make(self) -> HostedChatModel:
        """The model under test."""
        return PROVIDERS["gemini"].model(self.server)


ODD = {
    "anthropic": [
        *({"type": kind} for kind in ("message_start", "content_block_delta", "message_delta", "message", "error", "x")),
        {"type": "message_start", "message": None},
        {"type": "message_start", "message": {"usage": {"input_tokens": "7", "cache_read_input_tokens": None}}},
        {"type": "content_block_delta", "delta": 7},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": None}},
        {"type": "content_block_delta", "delta": {"type": 7, "thinking": ["x"]}},
        {"type": "message_delta", "delta": {"stop_reason": ["x"]}, "usage": [1]},
        {"type": "message", "content": [7, {"type": "text"}, None], "stop_reason": {}, "usage": 3},
        {"type": "error", "error": "no"},
        {"type": "error", "error": {"type": ["overloaded_error"], "message": {"a": 1}}},
        {"type": ["x"]}, {}, [], None, 7, "x",
    ],
    "gemini": [
        {"candidates": 7}, {"candidates": [None]}, {"candidates": [{}]}, {"candidates": [{"content": 7}]},
        {"candidates": [{"content": {"parts": None}}]}, {"candidates": [{"content": {"parts": [{"text": 7}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "x"}}]}}]},
        {"candidates": [{"finishReason": 7}]}, {"candidates": [{"finishReason": "UNHEARD_OF"}]},
        {"candidates": [{"finishReason": "CONTINUATION", "continuationToken": "x"}]},
        {"usageMetadata": {"promptTokenCount": -1}}, {"usageMetadata": 7}, {"promptFeedback": 7},
        {"error": {}}, {"error": "no"}, {"error": {"code": "x", "message": {"a": 1}}}, {}, [], None, 7, "x",
    ],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*is not a valid FinishReason:UserWarning")  # the package says so
@pytest.mark.parametrize("place", ["first", "later"])
def test_odd_answers_are_an_answer_or_an_error(server: OpenAIServer, provider: Provider, place: str) -> None:
    """Whatever comes, streamed or whole: text and its end, or a ChatModelError in one line; never another error."""
    begun = [] if place == "first" else fakes.pieces_of(provider.streamed("one", hang_up=True))
    end = fakes.pieces_of(provider.streamed("two"))
    chat_model = provider.model(server, retries=0)
    for odd in ODD[provider.package.rpartition(".")[2].replace("genai", "gemini")]:
        kind = odd.get("type") if isinstance(odd, dict) else "message_delta"
        name = b"" if provider.package != "anthropic" else f"event: {kind}\n".encode()
        server.script.append(events(*begun, name + fakes.event(odd), *end))
        server.script.append(Reply(odd))
        for ask in (lambda: "".join(chat_model.stream(QUESTION)), lambda: chat_model.complete(QUESTION)):
            try:
                assert isinstance(ask(), str)
            except ChatModelError as error:
                assert "\n" not in str(error), odd
        server.script.clear()
