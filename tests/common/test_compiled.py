"""Loops that are compiled say so once, since the first search after an installation waits for them."""

from __future__ import annotations

import logging

import pytest

from trivium.common import compiled as module


def test_compiling_is_announced_once(caplog: pytest.LogCaptureFixture) -> None:
    announcer = module._Announcer()
    with caplog.at_level(logging.INFO, module.__name__):
        for _ in range(3):
            announcer.on_start(None)
            announcer.on_end(None)
    assert [record.getMessage() for record in caplog.records] == [
        "compiling for this processor, once: about ten seconds"
    ]


def test_the_announcer_hears_of_what_numba_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    monkeypatch.setattr(module._Announcer, "on_start", lambda _self, event: heard.append(event.kind))

    @module.njit
    def one(number: int) -> int:
        return number + 1

    assert (one(1), one(2)) == (2, 3)
    assert heard == ["numba:compile"], "compiled once, told once"
