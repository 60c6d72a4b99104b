"""A small store that is served, and somebody who answers questions by a script."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from tests.waiting import until
from trivium.answering.events import AnswerEvent, Done, Found, Piece
from trivium.engine import Engine
from trivium.llm.chat_model import ChatModel
from trivium.server.app import create_app
from trivium.server.run_server import Server
from trivium.server.service import default_answerer
from trivium.server.settings import ServerSettings
from trivium.speech import Speech
from trivium.types import Answer, Citation, Hit, Intent, Statement, Turn, Usage

QUESTION = "Who found the moons of Mars?"
RECORDS = [
    {"title": "Mars", "text": "Mars is a red planet. Its two moons are Phobos and Deimos."},
    {"title": "Phobos", "text": "Phobos is the larger moon of Mars. Asaph Hall found it in 1877."},
    {"title": "Deimos", "text": "Deimos is the smaller moon of Mars."},
    {"title": "Asaph Hall", "text": "Asaph Hall was an American astronomer."},
]
HTML = """<!doctype html><html><head><title>Vulcan</title></head><body><h1>Vulcan</h1>
<p>Vulcan was thought to circle the <a href="/wiki/Sun">Sun</a> within the orbit of Mercury.</p>
<h2>Search</h2><p>Urbain Le Verrier looked for it.</p></body></html>"""
HEADERS = {"host": "localhost"}
NAMED = {
    "minutes.md": "# Minutes of May\n\n## Attendance\n\nPresent were Dr Mary Somerville and the board.\n\n"
    "## Budget\n\nAfter lunch Mrs Somerville asked for two more telescopes.\n"
    "In the end, Mary Somerville was the chair of Quarry Books.\n",
    "letter.md": "# Letter\n\nIn the evening Mr Charles Babbage shows Mary Somerville the engine.\n",
    "press.txt": "Press release\n\nYesterday Mary Somerville and Mr Charles Babbage won <b>a prize</b>.\n",
}
"""Files that name two people."""


def build_store(folder: Path) -> Path:
    """Four records with links between them, embedded."""
    source = folder / "records.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    with Engine.create(folder / "store", "minilm") as engine:
        engine.build([source])
    return folder / "store"


def build_named_store(folder: Path) -> Path:
    """Three files with the names recognised in them."""
    for name, text in NAMED.items():
        (folder / name).write_text(text)
    with Engine.create(folder / "store", "minilm") as engine:
        engine.build([folder / name for name in NAMED], entities="rules")
    return folder / "store"


def as_file(*records: Mapping[str, Any]) -> dict[str, Any]:
    """The files of a form: one with these records."""
    return {"files": ("records.jsonl", "".join(json.dumps(record) + "\n" for record in records))}


@dataclass
class ScriptedAnswerer:
    """Answers with the hits of a search and fixed words; waits before every piece where ``gate`` is closed."""

    engine: Engine
    script: Script

    def ask_stream(
        self,
        question: str,
        *,
        k: int = 6,
        history: Sequence[Turn] = (),
        model: ChatModel | None = None,
        retrievers: Sequence[str] | None = None,
        fusion: str | None = None,
        settings: Mapping[str, Any] | None = None,
        where: str | None = None,
        intent: Intent | None = None,
        rewrite: bool = True,
    ) -> Generator[AnswerEvent, None, None]:
        """One event after the other."""
        script = self.script
        if rewrite:  # others are questions that the page tries before it offers them
            script.asked.append((question, tuple(history)))
        try:
            hits = tuple(self.engine.search(question, k, retrievers, fusion, settings=settings, where=where))
            yield Found(hits, question)
            for piece in script.pieces:
                script.gate.wait(10)
                if script.error is not None:
                    raise script.error
                yield Piece(piece)
            yield Done(answer(question, "".join(script.pieces), hits, script.unnamed))
        finally:
            script.closed.set()


@dataclass
class Script:
    """What is answered, and what was asked. ``closed`` is set when an answer has ended, whichever way. A sentence with
    ``unnamed`` in it is borne out by the first hit without naming it."""

    pieces: tuple[str, ...] = ("Asaph Hall ", "found them [1].")
    unnamed: str = "[1]"
    error: Exception | None = None
    gate: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)
    asked: list[tuple[str, tuple[Turn, ...]]] = field(default_factory=list)

    def answerer(self, engine: Engine) -> ScriptedAnswerer:
        """Who plays it."""
        return ScriptedAnswerer(engine, self)


def answer(question: str, text: str, hits: tuple[Hit, ...], borne_out: str = "[1]") -> Answer:
    """An answer that rests on the first hit; sentences without a mark (or what else is ``borne_out``) are not."""
    first = hits[0]
    return Answer(
        question=question,
        searched_for=question,
        text=text,
        outcome="answered",
        statements=tuple(_statements(text, borne_out)),
        citations=(Citation(1, first.uri, first.page, first.section, first.start, first.end),),
        passages=hits,
        usage=Usage(),
    )


def _statements(text: str, borne_out: str) -> Iterator[Statement]:
    for sentence in re.finditer(r"\S.*?\.(?= |$)", text):
        cites = borne_out in sentence.group()
        yield Statement(sentence.start(), sentence.end(), (1,) if cites else (), 0.9 if cites else 0.1, cites)


@contextmanager
def serving(
    store: Path,
    settings: ServerSettings | None = None,
    script: Script | None = None,
    model: ChatModel | None = None,
    *,
    extracts: bool = False,
    speech: Speech | None = None,
    models: Sequence[ChatModel | None] = (),
) -> Iterator[TestClient]:
    """A client of a server that is ready. With ``extracts`` it answers itself, with sentences of what it found."""
    script = Script() if script is None else script
    script.gate.set()
    answerer = default_answerer if extracts else script.answerer
    app = create_app(
        store,
        settings,
        answerer=answerer,
        model=model,
        models=models,
        speech=speech,
    )
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        until(lambda: app.state.service.collection.ready)
        yield client


@contextmanager
def listening(
    store: Path,
    settings: ServerSettings | None = None,
    script: Script | None = None,
    model: ChatModel | None = None,
    speech: Speech | None = None,
    *,
    extracts: bool = False,
    port: int = 0,
    models: Sequence[ChatModel | None] = (),
) -> Iterator[str]:
    """The address of a server on a port of its own (or ``port``), as a process would run it, when it is ready. With a
    ``model`` it is that which answers, with ``extracts`` sentences of what was found."""
    script = Script() if script is None else script
    script.gate.set()
    answerer = default_answerer if extracts or model is not None else script.answerer
    app = create_app(
        store,
        settings,
        answerer=answerer,
        model=model,
        models=models,
        speech=speech,
    )
    with socket.create_server(("127.0.0.1", port)) as listener:
        server = Server(app, ServerSettings() if settings is None else settings)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            until(lambda: app.state.service.collection.ready)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def finished(client: TestClient, job: dict[str, Any]) -> dict[str, Any]:
    """A job when it has ended."""
    latest: dict[str, Any] = {}

    def ended() -> bool:
        latest.update(client.get(f"/jobs/{job['id']}").json())
        return latest["state"] in ("done", "failed", "cancelled")

    until(ended)
    return latest
