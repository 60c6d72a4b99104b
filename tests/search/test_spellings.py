"""Every spelling of a word is found, and the one asked for is first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium.engine import Engine

_PAIRS = [("Bäcker", "Backer"), ("Peña", "Pena"), ("Łomnica", "Lomnica"), ("co-ordinator", "coordinator")]


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Two cards for every pair, which differ in the spelling alone."""
    folder: Path = tmp_path_factory.mktemp("cards")
    rows = [
        {"title": f"Card {2 * n + k}", "text": f"The office of {word} opens at nine, and closes at five."}
        for n, pair in enumerate(_PAIRS)
        for k, word in enumerate(pair)
    ]
    (folder / "cards.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with Engine.create(folder / "store", "minilm") as engine:
        engine.build([folder / "cards.jsonl"], workers=1)
        yield engine


@pytest.mark.parametrize("retrievers", [None, ["lexical"]])
@pytest.mark.parametrize("number", range(2 * len(_PAIRS)))
def test_the_spelling_asked_for_is_first_and_the_other_second(
    cards: Engine, number: int, retrievers: list[str] | None
) -> None:
    """By words alone, and with all retrievers."""
    word = _PAIRS[number // 2][number % 2]
    found = cards.search(f"When does the office of {word} open?", 2, retrievers=retrievers)
    assert [hit.page for hit in found] == [f"Card {number}", f"Card {number ^ 1}"]
