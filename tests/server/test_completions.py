"""A store as a model of OpenAI's API: the official client lists it, chats with it and understands its errors."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import openai
import pytest
import requests
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai import OpenAI
from openai.types.chat import ChatCompletion

from tests.fakes.chat_model import ScriptedModel
from tests.server.world import QUESTION, Script, listening
from trivium.engine import Engine
from trivium.errors import ChatModelError
from trivium.server.keys import new_key
from trivium.server.routes.completions import cited_in
from trivium.server.schemas import MAX_ANSWER_CHARACTERS, MAX_TURNS
from trivium.server.settings import ServerSettings
from trivium.server.thumbnail_links import ServedCitation

QUESTIONS = (
    QUESTION,
    "What are the two moons of Mars?",
    "Which moon is the larger one?",
    "Who was Asaph Hall?",
    "Who won the football match?",
    "hello",
)
HARBOURS = """# Harbours

| Harbour | Berths | Depth |
|---|---|---|
| Lys | 20 | 2.8 m [1] |
| Quarry | 35 | 4.1 m |
| Ferrol | 12 | 1.9 m |
"""


def client_of(address: str, key: str = "none") -> OpenAI:
    """The official client, which asks once."""
    return OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0)


def asked(client: OpenAI, *said: Any, **more: Any) -> ChatCompletion:
    """The answer to a conversation, users and assistants in turns."""
    roles = ("user", "assistant")
    messages: Any = [{"role": roles[place % 2], "content": text} for place, text in enumerate(said)]
    return client.chat.completions.create(model="trivium", messages=messages, **more)


def streamed(client: OpenAI, question: str, **more: Any) -> tuple[list[str], list[Any], list[Any]]:
    """The pieces of a streamed answer, its annotations, and its chunks."""
    chunks: list[Any] = list(asked(client, question, stream=True, **more))
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert deltas[0].role == "assistant" and len({chunk.id for chunk in chunks}) == 1
    noted = [delta.annotations for delta in deltas if getattr(delta, "annotations", None) is not None]
    assert len(noted) == 1, "clients that gather chunks expect them once"
    return [delta.content for delta in deltas if delta.content], noted[0], chunks


@pytest.fixture(scope="module")
def address(store: Path) -> Iterator[str]:
    """A server that quotes."""
    with listening(store, extracts=True) as address:
        yield address


@pytest.fixture(scope="module")
def client(address: str) -> OpenAI:
    return client_of(address)


def test_the_store_is_the_only_model(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["trivium"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_is_that_of_ask_whole_or_in_chunks(client: OpenAI, address: str, question: str) -> None:
    usual = requests.post(f"{address}/ask", json={"question": question}, timeout=60).json()
    whole = asked(client, question)
    choice = whole.choices[0]
    pieces, noted, chunks = streamed(client, question)
    assert choice.message.content == usual["markdown"] == "".join(pieces)
    assert whole.object == "chat.completion" and whole.usage is not None and whole.usage.total_tokens == 0
    assert choice.finish_reason == chunks[-1].choices[0].finish_reason == "stop"
    annotations = [note.model_dump() for note in choice.message.annotations or ()]
    assert annotations == noted
    uris = {citation["number"]: citation["uri"] for citation in usual["citations"]}
    assert all(usual["passages"][number - 1]["uri"] == uri for number, uri in uris.items())
    marks = [
        (text[note["url_citation"]["start_index"] : note["url_citation"]["end_index"]], note["url_citation"])
        for note in noted
        for text in [choice.message.content]
    ]
    assert [mark for mark, _ in marks] == re.findall(r"\[\d+\]", choice.message.content)
    for mark, cited in marks:
        linked = requests.utils.unquote(cited["url"].removeprefix(f"{address}/#source="))
        assert linked == uris[int(mark[1:-1])] and cited["title"]


def test_what_clients_send_besides_is_taken_and_ignored(client: OpenAI) -> None:
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": QUESTION},
        {"type": "image_url", "image_url": {"url": "data:,"}},
    ]
    messages: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": parts}]
    answer = client.chat.completions.create(
        model="trivium", messages=messages, temperature=0.2, max_tokens=5, n=2, seed=1, user="u", tools=[],
        response_format={"type": "json_object"}, extra_body={"chat_id": "1", "metadata": {"a": [1]}},
    )  # fmt: skip
    assert answer.choices[0].message.content == asked(client, QUESTION).choices[0].message.content


def test_a_stream_ends_as_clients_expect(client: OpenAI, address: str) -> None:
    """With the words that end it, with usage only where it is wanted; and the client's own collector takes it."""
    body = {"messages": [{"role": "user", "content": QUESTION}], "stream": True}
    answer = requests.post(f"{address}/v1/chat/completions", json=body, timeout=60)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert all(line.startswith("data: ") for line in answer.text.split("\n") if line)
    assert answer.text.endswith("data: [DONE]\n\n") and "usage" not in answer.text
    *_, last = streamed(client, QUESTION, stream_options={"include_usage": True})[2]
    assert last.choices == [] and last.usage.total_tokens == 0
    messages: Any = [{"role": "user", "content": QUESTION}]
    with client.chat.completions.stream(model="trivium", messages=messages) as stream:
        message = stream.get_final_completion().choices[0].message
    whole = asked(client, QUESTION).choices[0].message
    assert (message.content, message.annotations) == (whole.content, whole.annotations)


def test_the_answer_of_a_language_model_comes_as_it_is_written(store: Path) -> None:
    """Sentences that are not in the documents are named at the end, tokens are counted."""
    model = ScriptedModel("Asaph Hall found Phobos in 1877 [1]. He liked cheese very much.")
    with listening(store, model=model) as address:
        client = client_of(address)
        whole = asked(client, QUESTION)
        pieces, noted, chunks = streamed(client, QUESTION, stream_options={"include_usage": True})
    assert whole.choices[0].message.content == (
        "Asaph Hall found Phobos in 1877 [1]. He liked cheese very much. *(not in the documents)*"
    )
    assert len(pieces) > 10
    assert "".join(pieces) == (
        "Asaph Hall found Phobos in 1877 [1]. He liked cheese very much."
        "\n\n*(not in the documents: He liked cheese very much.)*"
    )
    assert [(note["url_citation"]["start_index"], note["url_citation"]["end_index"]) for note in noted] == [
        (32, 35)
    ]
    assert whole.usage == chunks[-1].usage and whole.usage is not None
    assert whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens > 100


def test_where_another_answer_stands_after_all_it_follows_with_its_citations(store: Path) -> None:
    with listening(store, model=ScriptedModel("It is made of green bananas and nothing else.")) as address:
        whole = asked(client_of(address), QUESTION).choices[0].message.content
        pieces, noted, _ = streamed(client_of(address), QUESTION)
    text = "".join(pieces)
    assert whole is not None and whole.startswith("Phobos is") and text.endswith(f"\n\n{whole}")
    assert "---\n\n*(this is the answer without the language model, which wrote" in text
    places = [note["url_citation"] for note in noted]
    assert [text[place["start_index"] : place["end_index"]] for place in places] == ["[1]"]


def test_the_turns_before_are_passed_on(store: Path) -> None:
    """The last of them, cut where they are too long; questions without an answer and tools' messages are none."""
    script = Script()
    with listening(store, script=script) as address:
        client = client_of(address)
        said = [text for number in range(MAX_TURNS + 5) for text in (f"q{number}", f"a{number}")]
        said[-1] = "a" * (MAX_ANSWER_CHARACTERS + 1)
        asked(client, *said, QUESTION)
        messages: Any = [
            {"role": "assistant", "content": "Welcome!"},
            {"role": "user", "content": "twice"},
            {"role": "user", "content": "What is Mars?"},
            {"role": "tool", "content": "7", "tool_call_id": "1"},
            {"role": "assistant", "content": [{"type": "text", "text": "A planet [1]."}]},
            {"role": "user", "content": QUESTION},
        ]
        client.chat.completions.create(model="trivium", messages=messages)
    (question, long), (_, short) = script.asked
    assert question == QUESTION and len(long) == MAX_TURNS and long[0].question == "q5"
    assert len(long[-1].answer) == MAX_ANSWER_CHARACTERS
    assert [(turn.question, turn.answer) for turn in short] == [("What is Mars?", "A planet [1].")]


def test_a_follow_up_leans_on_a_row_that_the_client_has_as_a_table(tmp_path: Path) -> None:
    """And a mark in a cell is none of the answer's."""
    (tmp_path / "harbours.md").write_text(HARBOURS)
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([tmp_path / "harbours.md"])
    with listening(tmp_path / "store", extracts=True) as address:
        client = client_of(address)
        question = "How many berths are there in Quarry?"
        first = asked(client, question).choices[0].message.content
        second = asked(client, question, first, "And how deep is it?").choices[0].message.content
        lys = asked(client, "How many berths are there in Lys?").choices[0].message
    row = "| Harbour | Berths | Depth |  |\n| --- | --- | --- | --- |\n| Quarry | 35 | 4.1 m | [1] |"
    assert first == second == row
    assert lys.content is not None and lys.content.endswith("| Lys | 20 | 2.8 m (1) | [1] |")
    assert len(lys.annotations or ()) == 1


def citation(number: int, **more: Any) -> ServedCitation:
    """A citation of a passage."""
    given: Any = {
        "number": number, "uri": f"A%23B#chunk-{number}", "page": "A%23B", "section": "A%23B#Über", "start": 0,
        "end": 1, "document": "a.md", "pages": [], "live": None, **more,
    }  # fmt: skip
    return given


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.one_of(
            st.integers(0, 12).map(lambda number: f"[{number}]"),
            st.sampled_from(["\n```py\nx[1]\n```\n", "\n````\n[2]\n```\n[3]\n````\n"]),
            st.text(st.characters(exclude_characters="[]`", exclude_categories=["Cs"]), max_size=9),
        )
    )
)
def test_annotations_are_at_the_marks_and_at_all_of_them(parts: list[str]) -> None:
    """But those in code, and those of no passage."""
    text = "".join(parts)
    citations = [citation(number) for number in (1, 2, 3, 12)]
    found = [note["url_citation"] for note in cited_in(text, citations, "http://here/")]
    places = [(one["start_index"], one["end_index"]) for one in found]
    marks = [part for part in parts if part in ("[1]", "[2]", "[3]", "[12]")]
    assert [text[start:end] for start, end in places] == marks
    assert places == sorted(set(places))
    assert [one["url"].rpartition("-")[2] for one in found] == [mark[1:-1] for mark in marks]


def test_code_that_does_not_end_goes_on_to_the_end_in_linear_time() -> None:
    """As it is shown."""
    begin = time.monotonic()
    found = cited_in("[1]\n" + "```py\n[1]\n" * 20_000, [citation(1)], "http://here/")
    assert len(found) == 1 and time.monotonic() - begin < 5


def test_links_lead_to_the_web_page_a_passage_is_from_or_to_this_servers() -> None:
    live = {"source": "web", "address": "https://live.example/a", "published": None, "retrieved": "2026"}
    given = [
        citation(1),
        citation(2, document="https://example.org/b"),
        citation(3, live=live),
        citation(4, document="javascript:alert(1)"),
    ]
    found = [note["url_citation"] for note in cited_in("[1][2][3][4]", given, "http://here/")]
    assert [one["url"] for one in found] == [
        "http://here/#source=A%2523B%23chunk-1",
        "https://example.org/b",
        "https://live.example/a",
        "http://here/#source=A%2523B%23chunk-4",
    ]
    assert found[0]["title"] == "A#B > Über"


def refused_by_its_length(address: str) -> set[str]:
    """The keys of the error of a request that is too long. Its body is not sent: whoever is still sending when the server
    closes the connection may not see the answer."""
    connection = HTTPConnection(address.removeprefix("http://"), timeout=60)
    with closing(connection):
        connection.putrequest("POST", "/v1/chat/completions")
        connection.putheader("Content-Length", "300000")
        connection.endheaders()
        answer = connection.getresponse()
        assert answer.status == 413
        return set(json.loads(answer.read())["error"])


def test_errors_have_the_form_that_clients_read(client: OpenAI, address: str) -> None:
    def error_of(kind: type[openai.APIStatusError], **more: Any) -> Any:
        question = {"messages": [{"role": "user", "content": QUESTION}], "model": "trivium"}
        with pytest.raises(kind) as caught:
            client.chat.completions.create(**{**question, **more})
        assert isinstance(caught.value.body, dict)
        assert set(caught.value.body) == {"message", "type", "param", "code"}
        assert caught.value.type == "invalid_request_error"
        return caught.value

    assert error_of(openai.NotFoundError, model="gpt-4o").code == "model_not_found"
    last = {"role": "assistant", "content": "Yes?"}
    assert "role user" in error_of(openai.BadRequestError, messages=[last]).message
    wrong: list[tuple[list[Any], str]] = [
        ([], "messages: "),
        ([{"role": "user", "content": " "}], "messages: needs some text"),
        ([{"role": "user", "content": "why " * 2000}], "at most 4000"),
        ([{"role": "user", "content": 7}], "messages.0.content"),
        ([{"content": "why?"}], "messages.0.role"),
    ]
    for messages, told in wrong:
        assert told in error_of(openai.UnprocessableEntityError, messages=messages).message
    assert refused_by_its_length(address) == {"message", "type", "param", "code"}
    half = '{"messages": [{"role": "user", "content": "\\ud800"}], "model": "trivium"}'
    for method, path, body, status in (
        ("POST", "/v1/chat/completions", half, 422),
        ("POST", "/v1/chat/completions", "{", 400),
        ("GET", "/v1/chat/completions", None, 405),
        ("GET", "/v1/files", None, 404),
        ("POST", "/ask", "{", 400),
    ):
        answer = requests.request(
            method, address + path, data=body, headers={"content-type": "application/json"}, timeout=60
        )
        assert answer.status_code == status
        assert ("type" in answer.json()["error"]) == path.startswith("/v1/")


def test_a_failing_model_is_told_before_and_within_a_stream(store: Path) -> None:
    script = Script(error=ChatModelError("secret"))
    with listening(store, script=script) as address:
        client = client_of(address)
        with pytest.raises(openai.InternalServerError) as caught:
            asked(client, QUESTION)
        assert (caught.value.status_code, caught.value.type, caught.value.code) == (
            502,
            "server_error",
            "model",
        )
        with pytest.raises(openai.APIError, match="the language model did not answer"):
            streamed(client, QUESTION)


def test_keys_are_bearers_and_one_that_may_read_may_chat(store: Path) -> None:
    text, key = new_key("reader", "read")
    with listening(store, ServerSettings(api_keys=(key,)), extracts=True) as address:
        assert asked(client_of(address, text), QUESTION).choices[0].message.content
        assert [model.id for model in client_of(address, text).models.list()] == ["trivium"]
        with pytest.raises(openai.AuthenticationError) as caught:
            client_of(address, "sk-wrong").models.list()
        assert (caught.value.type, caught.value.code) == ("invalid_request_error", "unauthorized")


def test_the_rate_limit_the_cache_and_the_measures_are_those_of_other_questions(store: Path) -> None:
    with listening(store, ServerSettings(rate_limit=4), extracts=True) as address:
        client = client_of(address)
        requests.post(f"{address}/ask", json={"question": QUESTION}, timeout=60)
        asked(client, QUESTION)
        streamed(client, QUESTION)
        told = requests.get(f"{address}/metrics", timeout=60).text
        with pytest.raises(openai.RateLimitError) as caught:
            asked(client, QUESTION)
        assert (
            caught.value.code == "too_many_requests" and int(caught.value.response.headers["retry-after"]) > 0
        )
    assert 'trivium_answer_cache_total{result="hit"} 2.0' in told
    assert 'route="/v1/chat/completions",status="200"}' in told
