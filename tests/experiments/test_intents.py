"""Phrases by intent from a language model behind an endpoint, and the tables of the classifiers that learn from them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.intent import fit, generate
from experiments.papers import table
from tests.evaluation.small_store import fill_folder
from tests.fakes.openai_server import OpenAIServer, Reply, Request, error, streamed
from trivium.errors import ChatModelError, ConfigurationError, InputError

EACH = 40
LENGTH = (
    " and that is told here in a few more words, so that the passage is long enough to be asked about at all"
)
KINDS = {"documents": "collection", "web of today": "live", "do not want to know": "small_talk"}


def asked_for(request: Request) -> tuple[str, str, int]:
    """The intent that a request is about, who is to speak (or the passage's subject), and how many phrases."""
    told, wanted = (message["content"] for message in request.body["messages"])
    intent = next((intent for words, intent in KINDS.items() if words in told), "conversation")
    spoken = wanted.rpartition("Write ")[2]
    voice = spoken.partition(" as ")[2].partition(" would")[0]
    if intent == "collection":
        voice = wanted.partition("<passage>\n")[2].partition("\n")[0]
    return intent, voice, int(spoken.split()[0])


def says(request: Request) -> Reply:
    """As many phrases as are wanted, each of a word that only this voice has for this intent, and its number; the first
    of several is always the same."""
    intent, voice, count = asked_for(request)
    word = "".join(filter(str.isalpha, f"{voice}{intent}"))
    phrases = [f"{word} {n} now" for n in range(count)]
    return streamed(json.dumps({"phrases": ["Once more, please.", *phrases[1:]] if count > 1 else phrases}))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Sixteen pages of a passage each."""
    folder = tmp_path_factory.mktemp("intents")
    fill_folder(folder, {f"Mill {n}": f"Mill {n} has a wheel{LENGTH}." for n in "ABCDEFGHIJKLMNOP"}, {})
    return str(folder / "store")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """Where the model is asked."""
    with OpenAIServer(says) as running:
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", running.base_url)
        yield running


def write(store: str, file: Path, *more: object) -> list[dict]:
    """The phrases that a run leaves in its file."""
    given = ("--store", store, "--model", "openai:writer", "--out", file, "--each", EACH, *more)
    generate.main(list(map(str, given)))
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_phrases_of_each_intent(
    store: str, server: OpenAIServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So many of each, of several writers, none twice; five are asked of a passage and twenty of a voice. A run that an
    error ended goes on where it was, and a finished one asks nothing."""
    file = tmp_path / "generated.jsonl"
    server.script.append(error(401, "no such key"))
    with pytest.raises(ChatModelError):
        write(store, file)
    assert not file.read_text() and len(server.requests) == 1
    rows = write(store, file)
    assert Counter(row["intent"] for row in rows) == dict.fromkeys(fit.INTENTS, EACH)
    assert len({row["text"].lower() for row in rows}) == len(rows)
    assert sum(row["text"] == "Once more, please." for row in rows) == 1
    counts = Counter((intent, count) for intent, _, count in map(asked_for, server.requests[1:]))
    assert counts["collection", 5] >= 8 and counts["live", 20] == 2
    mills = {row["writer"] for row in rows if row["intent"] == "collection"}
    assert len(mills) >= 8 and all(": Mill" in writer for writer in mills)
    assert {row["writer"] for row in rows if row["intent"] == "live"} >= {
        f"writer, {voice}" for voice in generate.VOICES[:2]
    }
    assert "conversation       40 phrases, " in capsys.readouterr().out
    done = len(server.requests)
    assert write(store, file) == rows and len(server.requests) == done
    assert len(write(store, file, "--each", EACH + 4)) == 4 * (EACH + 4)


def test_a_model_that_repeats_itself_is_given_up(store: str, server: OpenAIServer, tmp_path: Path) -> None:
    """One phrase of each intent but those that were said with another one; what is no JSON counts as nothing new."""
    server._respond = lambda _: streamed('{"phrases": ["Once more, please.", "once more please", 7, "!"]}')
    assert [row["text"] for row in write(store, tmp_path / "same.jsonl")] == ["Once more, please."]
    server._respond = lambda _: streamed("Sure!")
    assert write(store, tmp_path / "nothing.jsonl") == []
    assert len(server.requests) <= 2 * len(fit.INTENTS) * (generate.IDLE + 1)


def test_own_instructions(store: str, server: OpenAIServer, tmp_path: Path) -> None:
    """A folder of instructions takes the place of ours; one that lacks an intent is refused before anything is asked."""
    own = tmp_path / "own"
    own.mkdir()
    for intent in fit.INTENTS[1:]:
        (own / f"{intent}.txt").write_text(f"Write what I call {intent}.")
    with pytest.raises(ConfigurationError, match=r"collection\.txt"):
        write(store, tmp_path / "own.jsonl", "--prompts", own)
    assert not server.requests
    (own / "collection.txt").write_text("Write what I call collection.")
    write(store, tmp_path / "own.jsonl", "--prompts", own)
    first = server.requests[0].body["messages"][0]["content"]
    assert first.startswith("Write what I call collection.") and "quoted data" in first


def test_tables_of_generated_phrases(
    store: str,
    server: OpenAIServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every voice has words of its own: split by phrase, as in the paper, they are known from others of the same voice,
    split by writer they are not. Other files are refused."""
    pytest.importorskip("sklearn")
    from experiments.papers import intents

    monkeypatch.setattr(fit, "EMBEDDERS", (fit.NO_EMBEDDER,))
    monkeypatch.setattr(intents, "SHOWN", (fit.NO_EMBEDDER,))
    file = tmp_path / "generated.jsonl"
    write(store, file)
    capsys.readouterr()
    accuracy = {}
    for split in ("phrase", "writer"):
        table.main(["diffusion-2", "--phrases", str(file), "--split", split, "--format", "json"])
        said = capsys.readouterr()
        (made,) = json.loads(said.out)["tables"]
        assert made["questions"] == 4 * EACH and "--data" not in said.err
        accuracy[split] = made["rows"][0]["accuracy"]
    assert accuracy["phrase"] > accuracy["writer"] + 0.2, accuracy
    rows = file.read_text("utf-8").splitlines(keepends=True)
    file.write_text("".join(row for row in rows if '"live"' not in row))
    with pytest.raises(InputError, match="5 or more phrases of each intent, got fewer of live"):
        table.main(["diffusion-2", "--phrases", str(file)])
    file.write_text('{"question": "Who?"}\n')
    with pytest.raises(InputError, match="expected lines of JSON with text, intent and writer"):
        table.main(["diffusion-2", "--phrases", str(file)])
