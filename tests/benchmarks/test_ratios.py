"""`make bench` compares ratios with committed ones: those of the sample are there, and a worse one is noticed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from trivium.engine import Engine
from trivium.retrievers.registry import RETRIEVERS
from trivium.sample import pages_folder

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import ratios


def test_the_sample_has_committed_ratios(tmp_path: Path) -> None:
    """By its number of chunks, which changes with the chunker; without them `make bench` would compare nothing."""
    with Engine.create(tmp_path / "store") as engine:
        engine.build([pages_folder()], embed=False)
        chunks = engine.info().nodes["Chunk"]
    committed = json.loads(ratios.COMMITTED.read_text())
    assert str(chunks) in committed
    assert {"search / embedding", *(f"{name} / embedding" for name in RETRIEVERS)} <= committed[
        str(chunks)
    ].keys()


def test_only_a_ratio_half_as_large_again_is_worse(capsys: pytest.CaptureFixture[str]) -> None:
    """One that nothing was committed for is shown, and is not."""
    committed = {"search / embedding": 2.0, "walk / embedding": 2.0}
    now = {"search / embedding": 2.9, "walk / embedding": 3.1, "new / search": 9.0}
    assert ratios.show(634, now, committed) == ["walk / embedding"]
    printed = capsys.readouterr().out
    assert printed.count("slower") == 1 and "9.00" in printed


def test_a_store_of_about_the_same_size_is_compared() -> None:
    committed = ["634", "25552"]
    assert [ratios.of_size(chunks, committed) for chunks in (634, 640, 650, 25_553, 1)] == [
        "634",
        "634",
        "650",
        "25552",
        "1",
    ]
    assert ratios.of_size(7, []) == "7"
