"""A sentence of a model is supported by a part that says it with all names and numbers, not by a whole table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.answering.world import WordEmbedder, made_up, world
from trivium.answering.check_statements import check
from trivium.answering.judge_parts import judge
from trivium.answering.passages import passages
from trivium.answering.rarity import Rarity
from trivium.types import ChunkKind

STORE = world()
TABLE = "Harbour: Quercy; Berths: 40; Fee: 12\nHarbour: Sornville; Berths: 15; Fee: 18\nHarbour: Lys; Berths: 8; Fee: 24"
HITS = [
    replace(made_up(TABLE, section="Harbours"), kind=ChunkKind.TABLE),
    made_up("No. Dogs are not allowed in the harbour of Lys.", 2),
]


def supported(question: str, text: str) -> list[tuple[bool, tuple[int, ...]]]:
    """What is said of each sentence."""
    offered = passages(HITS)
    judged = judge(question, offered, Rarity.of(STORE, [question]), WordEmbedder()).parts
    found = check(question, text, judged, STORE, answered=0.0)
    return [(one.statement.supported, one.statement.citations) for one in found]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("The fee in the harbour of Quercy is 12 [1].", True),
        ("The fee in the harbour of Quercy is 24 [1].", False),
        ("The fee in Quercy is 12, in Sornville 18.", True),
        ("The fee in Quercy is 12, in Sornville 99.", False),
        ("The fee in Calais is 24.", False),
    ],
)
def test_a_value_of_another_row_is_not_supported(text: str, right: bool) -> None:
    """Several rows are one where each of them is named."""
    assert supported("What is the fee in Quercy?", text) == [(right, (1,) if right or "[1]" in text else ())]


def test_yes_and_no_need_a_part_that_begins_so() -> None:
    """They have no words that a part could have."""
    asked = "Are dogs allowed in the harbour of Lys?"
    assert supported(asked, "The answer is: No.") == [(True, (2,))]
    assert supported(asked, "Yes.") == [(False, ())]


def test_what_announces_others_needs_no_support() -> None:
    """They are checked; with a number of its own it is, too."""
    asked = "What are the fees?"
    assert supported(asked, "All moorings charge the following:")[0][0]
    assert not supported(asked, "All 70 moorings charge the following:")[0][0]
