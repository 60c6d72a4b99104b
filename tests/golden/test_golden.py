"""What is changed inside changes nothing of what is found: candidates, scores, features and answers are those that were
recorded. Who changes them on purpose records them again (``python -m tests.golden``) and says what moved, and why.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.golden.stores import FOLDER, TABLES, Asked
from tests.golden.tables import differences, read, recorded
from trivium.engine import Engine

STORES = [
    pytest.param(name, asked, make, id=make.__name__)
    for name, (asked, stores) in TABLES.items()
    for make in stores
]


@pytest.mark.parametrize(("name", "asked", "make"), STORES)
def test_tables_are_those_that_were_recorded(
    name: str, asked: Asked, make: Callable[[Path], Engine], tmp_path: Path
) -> None:
    with make(tmp_path / "store") as engine:
        told = list(differences(read(FOLDER / f"{name}.jsonl.gz"), list(recorded(engine, asked))))
    assert told == [], f"{len(told)} differences, such as {told[:5]}"


def test_what_differs_is_named_with_its_place() -> None:
    before = {"hits": [["a", 1.0], ["b", 0.5]], "candidates": 2}
    assert list(differences(before, {"hits": [["a", 1.0000001], ["b", 0.5]], "candidates": 2})) == []
    (told,) = differences(before, {"hits": [["a", 1.0], ["c", 0.5]], "candidates": 2})
    assert told == "/hits/1/0: 'b' is 'c' now"
