"""Endpoints of language models that lie, dawdle and never stop: who asks is told in time, and answering works at once
afterwards."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import requests

from tests.waiting import until
from torture import liar
from torture.cases import Kind, Outcome, dice, told
from torture.protocols import KEY, OPENAI, Protocol
from torture.sandbox import Child
from torture.served import Server, build_store, serving
from trivium.cli.serve import ANSWER_SHARE

ANSWER_SECONDS = 6.0
"""What the server gives an answer."""
SPARE_SECONDS = 2.0
"""How much later the client may hear of it, on a machine that has other things to do."""
GONE_SECONDS = 2.0
"""In which nothing may be done any more for a client that has left or has its answer: twice what is promised."""


def outcomes(protocol: Protocol, seeds: Iterator[int], scratch: Path) -> Iterator[Outcome]:
    """See :data:`torture.cases.Outcomes`. Where a case fails, the next one gets a server of its own."""
    store = build_store(scratch)
    listener = liar.listen()
    endpoint = Child(lambda: liar.lie(listener, protocol))
    settings = protocol.settings(f"http://127.0.0.1:{listener.getsockname()[1]}")
    options = ("--model", protocol.model, "--timeout", f"{ANSWER_SECONDS / ANSWER_SHARE:g}")
    try:
        for first in seeds:
            try:
                with serving(store, *options, environment=settings) as server:
                    server.note_usual()
                    _ask_honestly(server)
                    for seed in chain((first,), seeds):
                        outcome = _tried(protocol, seed, server)
                        yield outcome
                        if outcome.failure is not None:
                            server.give_up()  # what it is busy with would hold up its end as well
                            break
            except AssertionError as error:
                yield Outcome(first, "server: from this case on", told(error))
    finally:
        endpoint.kill()
        listener.close()


def _tried(protocol: Protocol, seed: int, server: Server) -> Outcome:
    name, _, _ = liar.misbehaviour(protocol, seed)
    drawn = dice(f"{protocol.kind}' client", seed)
    stream = drawn.random() < 0.6
    leaves = drawn.random() < 0.5
    how = f"{'stream' if stream else 'whole'}{', client leaves' if leaves else ''}"
    try:
        if leaves:
            _leave(server, seed, stream, drawn)
        else:
            _wait(server, seed, stream)
        _check_free(server)
        _ask_honestly(server)
        server.check_alive()
        server.check_log()
        assert KEY not in server.child.printed(), "the key is in the log"
        server.check_resources(GONE_SECONDS)
    except (AssertionError, requests.RequestException) as error:
        return Outcome(seed, f"{name}: {how}", told(error))
    return Outcome(seed, f"{name}: {how}")


def _given(seed: int | None, stream: bool) -> dict[str, Any]:
    return {"question": liar.question(seed), "stream": stream, "k": 3}


def _leave(server: Server, seed: int, stream: bool, drawn: Random) -> None:
    """Ask, and close the connection a moment later."""
    try:
        patience = drawn.choice((0.05, 0.3, 1.0))
        with requests.post(
            f"{server.address}/ask", json=_given(seed, stream), stream=True, timeout=patience
        ) as answer:
            deadline = time.monotonic() + patience
            for _ in answer.iter_content(50):
                if time.monotonic() > deadline:
                    break
    except requests.RequestException:
        return


def _wait(server: Server, seed: int, stream: bool) -> None:
    """Ask, and check that a complete, well-formed answer comes in time."""
    began = time.monotonic()
    patience = ANSWER_SECONDS + SPARE_SECONDS + 3
    with requests.post(
        f"{server.address}/ask", json=_given(seed, stream), stream=True, timeout=patience
    ) as answer:
        body = b""
        for piece in answer.iter_content(1 << 16):
            body += piece
            assert time.monotonic() - began < patience, f"still answering after {patience:g} s"
    seconds = time.monotonic() - began
    assert seconds < ANSWER_SECONDS + SPARE_SECONDS, f"took {seconds:.1f} s of {ANSWER_SECONDS:g} s"
    assert KEY.encode() not in body, "the key is in the answer"
    assert answer.status_code in (200, 502, 503), f"HTTP {answer.status_code} {body[:300]!r}"
    if answer.status_code != 200:
        assert isinstance(json.loads(body)["error"]["message"], str)
    elif stream:
        _check_events(body.decode("utf-8"))
    else:
        assert isinstance(json.loads(body)["answer"], str)


def _check_events(text: str) -> None:
    names = re.findall(r"^event: (\w+)$", text, re.MULTILINE)
    for data in re.findall(r"^data: (.*)$", text, re.MULTILINE):
        json.loads(data)
    assert names and names[-1] in ("done", "error"), f"the stream ends with {names[-1:]}"
    assert names.count("done") + names.count("error") == 1, f"several ends: {names}"
    errors = re.findall(r"^event: error\ndata: (.*)$", text, re.MULTILINE)
    assert not any(json.loads(error)["error"]["code"] == "internal" for error in errors), errors


def _check_free(server: Server) -> None:
    """Raise AssertionError if the server is still answering a request after a moment."""

    def taken() -> int:
        return int(requests.get(f"{server.address}/stats", timeout=30).json()["waiting"]["answer"])

    try:
        until(lambda: taken() == 0, GONE_SECONDS)
    except AssertionError:
        raise AssertionError(
            f"{taken()} answers are still being written {GONE_SECONDS:g} s after their client had gone"
        ) from None


def _ask_honestly(server: Server) -> None:
    began = time.monotonic()
    answer = requests.post(f"{server.address}/ask", json=_given(None, False), timeout=30)
    assert answer.status_code == 200, f"an honest answer: HTTP {answer.status_code} {answer.text[:300]}"
    assert "Asaph Hall" in answer.json()["answer"], answer.text[:300]
    seconds = time.monotonic() - began
    assert seconds < SPARE_SECONDS + 1, f"an honest answer took {seconds:.1f} s"


KIND = Kind("endpoints", 2.5, 2, partial(outcomes, OPENAI))
