"""What looks like a greeting is searched for if the documents have its words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium.engine import Engine

_TEXT = """# Inn

## Good beer

Good beer is served in the cellar.

## Night bell

The night bell hangs beside the gate.

## Thank-you card

Every guest gets a thank-you card.
"""


@pytest.fixture(scope="module")
def inn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A house book, embedded."""
    folder: Path = tmp_path_factory.mktemp("inn")
    (folder / "inn.md").write_text(_TEXT)
    with Engine.create(folder / "store", "minilm") as engine:
        engine.build([folder / "inn.md"], embed=True, workers=1)
        yield engine


@pytest.mark.parametrize(
    ("asked", "told"), [("good beer", "cellar"), ("night bell", "gate"), ("thank-you card", "guest")]
)
def test_keywords_are_searched_for(inn: Engine, asked: str, told: str) -> None:
    """Whatever the classifier thinks of them."""
    assert told in inn.ask(asked).text


@pytest.mark.parametrize("said", ["Hello!", "thank you so much", "Good morning", "What can you do?", "bye"])
def test_greetings_are_answered_without_a_search(inn: Engine, said: str) -> None:
    """Their words are no topic."""
    answer = inn.ask(said)
    assert answer.intent == "small_talk"
    assert answer.passages == ()
