"""The chat model against a scripted server: what is sent, what is retried, what is refused, what stays
hidden."""

from __future__ import annotations

import gzip
import subprocess
import sys
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from tests.fakes.openai_server import OpenAIServer, Reply, chat, error, streamed
from trivium.endpoints import response_limit as bounded
from trivium.endpoints.endpoint import Endpoint
from trivium.errors import ChatModelError, ConfigurationError
from trivium.llm.chat_model import ChatModel, Message
from trivium.llm.json_replies import object_schema
from trivium.llm.openai import OpenAIChatModel

KEY = "sk-very-secret"
QUESTION = [Message("system", "Be brief."), Message("user", "Which planet has rings?")]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


class Waits(list[float]):
    """A sleep that only remembers."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def waits() -> Waits:
    return Waits()


def model(server: OpenAIServer, waits: Waits, **options: Any) -> OpenAIChatModel:
    return OpenAIChatModel("tiny", Endpoint(server.base_url, SecretStr(KEY), sleep=waits, **options))


def test_a_conversation_is_sent_as_given(server: OpenAIServer, waits: Waits) -> None:
    """Model, turns, limits and key arrive; the content of the answer comes back."""
    server.script.append(chat("Saturn."))
    chat_model: ChatModel = model(server, waits)
    assert chat_model.complete(QUESTION, max_tokens=9, temperature=0.5) == "Saturn."
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "tiny",
        "max_tokens": 9,
        "temperature": 0.5,
        "seed": 0,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Which planet has rings?"},
        ],
    }


def test_no_key_means_no_header(server: OpenAIServer) -> None:
    """Local servers are asked without credentials."""
    OpenAIChatModel("tiny", Endpoint(server.base_url)).complete(QUESTION)
    assert "Authorization" not in server.requests[0].headers


def test_a_netrc_entry_does_not_replace_the_key(
    server: OpenAIServer, waits: Waits, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The HTTP library would prefer the password in ~/.netrc."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password other\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    model(server, waits).complete(QUESTION)
    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_passing_failures_are_tried_again(server: OpenAIServer, waits: Waits, status: int) -> None:
    """Two failures and then an answer: three requests, waits that about double."""
    server.script.extend([error(status, "busy"), error(status, "busy"), chat("yes")])
    assert model(server, waits).complete(QUESTION) == "yes"
    assert len(server.requests) == 3
    assert 0.25 <= waits[0] <= 0.5 <= waits[1] <= 1.0


def test_retry_after_is_honoured_in_seconds_and_as_a_date(server: OpenAIServer, waits: Waits) -> None:
    """The endpoint says how long; nonsense is ignored and an hour is cut to a minute."""
    in_ten = formatdate(time.time() + 10, usegmt=True)
    for value in ("7", in_ten, "soon", "nan", "-3", "3600"):
        server.script.append(error(429, "slow down", headers={"Retry-After": value}))
    assert model(server, waits).complete(QUESTION) == QUESTION[-1].content
    assert waits[0] == 7.0
    assert 8.0 <= waits[1] <= 10.0
    assert 1.0 <= waits[2] <= 2.0  # third attempt's own wait
    assert 2.0 <= waits[3] <= 4.0
    assert 8.0 / 2 <= waits[4] <= 8.0
    assert waits[5:] == [60.0]


def test_the_wait_has_a_ceiling(server: OpenAIServer, waits: Waits) -> None:
    """However many failures, no wait is longer than a minute."""
    server.script.extend(error(503, "down") for _ in range(10))
    model(server, waits, retries=10).complete(QUESTION)
    assert max(waits) <= 60.0


def test_giving_up_says_what_was_last_said(server: OpenAIServer, waits: Waits) -> None:
    """After the last attempt the server's own words are in the message."""
    server.script.extend(error(503, "overloaded, come back") for _ in range(3))
    with pytest.raises(ChatModelError, match=r"tiny: .*503: overloaded, come back \(3 attempts\)"):
        model(server, waits, retries=2).complete(QUESTION)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "reply",
    [
        error(400, "bad request"),
        error(401, "who are you"),
        error(404, "no such model"),
        error(429, "you have no money", code="insufficient_quota"),
        Reply({}, 302, {"Location": "http://127.0.0.1:1/steal"}),
    ],
)
def test_lasting_failures_are_not_tried_again(server: OpenAIServer, waits: Waits, reply: Reply) -> None:
    """One request, one error: neither a wrong key, an empty account nor a redirect gets better."""
    server.script.append(reply)
    with pytest.raises(ChatModelError, match=str(reply.status)):
        model(server, waits).complete(QUESTION)
    assert len(server.requests) == 1
    assert waits == []


def test_a_broken_connection_is_tried_again(server: OpenAIServer, waits: Waits) -> None:
    """A body that ends half-way is a failure of the line."""
    server.script.append(Reply({"choices": "x" * 1000}, hang_up=True))
    assert model(server, waits).complete(QUESTION) == QUESTION[-1].content
    assert len(server.requests) == 2


def test_a_timeout_is_tried_again_and_then_reported(server: OpenAIServer, waits: Waits) -> None:
    """A server that does not answer costs the timeout, not for ever."""
    server.script.extend(Reply(delay=0.5) for _ in range(2))
    with pytest.raises(ChatModelError, match=r"did not answer within 0\.1 s \(2 attempts\)"):
        model(server, waits, timeout=0.1, retries=1).complete(QUESTION)


def test_nobody_listening_is_a_chat_model_error(waits: Waits) -> None:
    """The library's exception is translated."""
    with OpenAIServer() as server:
        url = server.base_url
    with pytest.raises(ChatModelError, match="cannot be reached"):
        OpenAIChatModel("tiny", Endpoint(url, retries=0, sleep=waits)).complete(QUESTION)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"[" * 100_000,
        [],
        {},
        {"choices": []},
        {"choices": [{"message": {}}]},
        {"choices": [{"message": {"content": None}}]},
        {"choices": {"0": 1}},
    ],
)
def test_an_unusable_answer_is_an_error(server: OpenAIServer, waits: Waits, body: Any) -> None:
    """Whatever comes with status 200 is checked."""
    server.script.append(Reply(body))
    with pytest.raises(ChatModelError, match="tiny: "):
        model(server, waits).complete(QUESTION)


def test_an_endless_answer_is_cut_off(
    server: OpenAIServer, waits: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers are read up to a bound."""
    monkeypatch.setattr(bounded, "MAX_BYTES", 1000)
    server.script.append(chat("x" * 200_000))
    with pytest.raises(ChatModelError, match="more than"):
        model(server, waits).complete(QUESTION)


def test_reasoning_models_get_the_parameters_they_take(server: OpenAIServer, waits: Waits) -> None:
    """A refusal of max_tokens or temperature is answered once, and remembered."""
    server.script.extend(
        [
            error(400, "use max_completion_tokens", param="max_tokens", code="unsupported_parameter"),
            error(400, "only the default", param="temperature", code="unsupported_value"),
        ]
    )
    reasoning = model(server, waits)
    reasoning.complete(QUESTION, max_tokens=9)
    reasoning.complete(QUESTION, max_tokens=9)
    sent = [set(request.body) - {"model", "messages"} for request in server.requests]
    assert sent == [
        {"max_tokens", "temperature", "seed"},
        {"max_completion_tokens", "temperature", "seed"},
        {"max_completion_tokens", "seed"},
        {"max_completion_tokens", "seed"},
    ]


SCHEMA = object_schema({"places": {"type": "array", "items": {"type": "integer"}}})


def test_a_schema_is_sent_as_openai_wants_it(server: OpenAIServer, waits: Waits) -> None:
    """Streamed or not; without one there is no such parameter."""
    server.script.extend([chat("{}"), streamed("{}"), chat("Saturn.")])
    chat_model = model(server, waits)
    chat_model.complete(QUESTION, schema=SCHEMA)
    assert list(chat_model.stream(QUESTION, schema=SCHEMA)) == ["{}"]
    chat_model.complete(QUESTION)
    formats = [request.body.get("response_format") for request in server.requests]
    described = {"name": "reply", "strict": True, "schema": SCHEMA}
    assert formats == [{"type": "json_schema", "json_schema": described}] * 2 + [None]


@pytest.mark.parametrize(
    "refusal",
    [
        error(400, "Invalid parameter", param="response_format"),
        error(400, "Invalid schema", param="response_format.json_schema"),
        error(400, "This response_format type is unavailable now"),
        error(422, "unknown variant `json_schema`, expected `text` or `json_object`"),
    ],
)
def test_an_endpoint_that_takes_no_schema_is_asked_without(
    server: OpenAIServer, waits: Waits, refusal: Reply
) -> None:
    """The model is asked again at once, and not offered one again."""
    server.script.extend([refusal, chat("[1]"), chat("[2]")])
    chat_model = model(server, waits)
    assert chat_model.complete(QUESTION, schema=SCHEMA) == "[1]"
    assert chat_model.complete(QUESTION, schema=SCHEMA) == "[2]"
    assert ["response_format" in request.body for request in server.requests] == [True, False, False]
    assert waits == []


BOUNDED = object_schema({"name": {"type": "string", "maxLength": 9}})
PLAINER = object_schema({"name": {"type": "string"}})


def test_an_endpoint_that_knows_no_bounds_gets_a_plainer_schema_and_then_none(
    server: OpenAIServer, waits: Waits
) -> None:
    """Lengths first, as llama.cpp and vLLM hold a model to; OpenAI may refuse them; others know no schema at all. What
    was refused is not sent again."""
    refusal = error(400, "Invalid schema: 'maxLength' is not permitted.", param="response_format")
    server.script.extend([refusal, chat("[1]"), chat("[2]"), refusal, chat("[3]"), chat("[4]")])
    chat_model = model(server, waits)
    for reply in ("[1]", "[2]", "[3]", "[4]"):
        assert chat_model.complete(QUESTION, schema=BOUNDED) == reply
    sent = [
        request.body.get("response_format", {}).get("json_schema", {}).get("schema")
        for request in server.requests
    ]
    assert sent == [BOUNDED, PLAINER, PLAINER, PLAINER, None, None]


def test_a_parameter_refused_twice_is_an_error(server: OpenAIServer, waits: Waits) -> None:
    """A server that keeps complaining does not keep us busy."""
    server.script.extend(error(400, "no", param="temperature") for _ in range(2))
    with pytest.raises(ChatModelError, match="400"):
        model(server, waits).complete(QUESTION)


def test_the_key_is_in_no_message_and_no_repr(server: OpenAIServer, waits: Waits) -> None:
    """Not even when the server repeats it."""
    server.script.append(error(401, f"Incorrect API key provided: {KEY}."))
    chat_model = model(server, waits)
    with pytest.raises(ChatModelError) as caught:
        chat_model.complete(QUESTION)
    shown = repr(chat_model) + repr(chat_model._endpoint) + repr(caught.value) + repr(caught.value.__cause__)
    assert "check the API key" in shown
    assert KEY not in shown


def test_a_servers_message_is_one_short_line(server: OpenAIServer, waits: Waits) -> None:
    """What a server says is neither long nor able to draw on a terminal's next lines."""
    server.script.append(error(400, "a\nb\r\x1b[2J" + "c" * 5000))
    with pytest.raises(ChatModelError) as caught:
        model(server, waits).complete(QUESTION)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_connections_are_kept(server: OpenAIServer, waits: Waits) -> None:
    """Questions after the first cost no new connection."""
    chat_model = model(server, waits)
    for _ in range(5):
        chat_model.complete(QUESTION)
    assert len(server.requests) == 5 and server.connections == 1


def test_an_azure_deployment_is_asked_as_azure_wants_it(server: OpenAIServer, waits: Waits) -> None:
    """The deployment is part of the path, the version of the query, the key has a header of its own."""
    server.script.extend([chat("Saturn."), streamed("Sat", "urn.")])
    azure = OpenAIChatModel(
        "my-gpt", Endpoint(server.address, SecretStr(KEY), api_version="2024-10-21", sleep=waits)
    )
    assert azure.complete(QUESTION) == "Saturn."
    assert "".join(azure.stream(QUESTION)) == "Saturn."
    for request in server.requests:
        assert request.path == "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"
        assert request.headers["api-key"] == KEY
        assert "Authorization" not in request.headers


def test_variables_for_another_endpoint_are_not_sent(
    server: OpenAIServer, waits: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client would read keys and the names of an organisation from the environment."""
    server.script.extend([chat("yes")] * 3)
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", "not-for-you")
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "not-for-you")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer not-for-you")
    OpenAIChatModel("tiny", Endpoint(server.base_url)).complete(QUESTION)
    model(server, waits).complete(QUESTION)
    OpenAIChatModel("tiny", Endpoint(server.base_url, SecretStr(KEY), api_version="1", retries=0)).complete(
        QUESTION
    )
    assert len(server.requests) == 3
    assert not any("not-for-you" in str(request.headers) for request in server.requests)


def test_a_compressed_answer_is_refused(server: OpenAIServer, waits: Waits) -> None:
    """None is asked for, and a short one can be endless when it is unpacked."""
    server.script.append(Reply(gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"}))
    with pytest.raises(ChatModelError, match="compressed its answer"):
        model(server, waits).complete(QUESTION)
    assert server.requests[0].headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize(
    ("reply", "hint"),
    [
        (error(401, "no"), "check the API key"),
        (error(404, "The model `tiny` does not exist"), "check the name of the model and the base url"),
        (Reply({"error": "model 'tiny' not found"}, 404), "model 'tiny' not found .check the name"),
        (
            error(400, "maximum context length is 512 tokens", code="context_length_exceeded"),
            "set TRIVIUM_CHAT_CONTEXT_TOKENS",
        ),
    ],
)
def test_a_refusal_says_what_to_do(server: OpenAIServer, waits: Waits, reply: Reply, hint: str) -> None:
    """Wrong key, unknown model (as OpenAI and as Ollama word it), a conversation that is too long."""
    server.script.append(reply)
    with pytest.raises(ChatModelError, match=hint):
        model(server, waits).complete(QUESTION)


def test_an_error_with_status_200_is_an_error(server: OpenAIServer, waits: Waits) -> None:
    """Some proxies answer so."""
    server.script.append(error(200, "upstream is gone"))
    with pytest.raises(ChatModelError, match="upstream is gone"):
        model(server, waits).complete(QUESTION)


def test_a_key_that_cannot_be_sent_is_refused() -> None:
    """Before the first request, and without repeating it."""
    with pytest.raises(ConfigurationError, match="ASCII") as caught:
        Endpoint("https://host/v1", SecretStr("schlüssel"))
    assert "schl" not in str(caught.value)


def test_without_the_package_the_message_names_the_extra() -> None:
    """The client is an extra."""
    code = (
        "import sys; sys.modules['openai'] = None\n"
        "from trivium.errors import MissingExtraError\n"
        "from trivium.llm.registry import open_chat_model\n"
        "try: open_chat_model('openai:tiny')\n"
        "except MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'trivium[openai]'" in done.stdout


@pytest.mark.parametrize("url", ["ftp://x/v1", "x/v1", "http://", "https://user:word@x/v1"])
def test_a_base_url_is_http_without_credentials(url: str) -> None:
    """Refused before anything is sent, and without repeating what may be a password."""
    with pytest.raises(ConfigurationError) as caught:
        Endpoint(url)
    assert "word@" not in str(caught.value)
