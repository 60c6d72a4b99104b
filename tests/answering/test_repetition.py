"""A text that repeats itself is noticed, however a model does it; what only sounds alike is left alone."""

from __future__ import annotations

import time

import pytest

from tests.answering.world import HALL, MOONS, ground, hit, world
from tests.fakes.chat_model import ScriptedModel
from trivium.answering.answer import WITHOUT_MODEL, answer
from trivium.answering.events import Done, Piece
from trivium.answering.repetition import Repetition, repeats

STORE = world()


def written(text: str, step: int) -> str:
    """What is written of a text piece by piece until it is seen to repeat itself."""
    watched = Repetition()
    return next(
        (text[:end] for end in range(step, len(text) + step, step) if watched.is_in(text[:end])), text
    )


@pytest.mark.parametrize(
    ("begin", "loop"),
    [
        ("Two moons. ", "Hall discovered both moons. "),
        ("", "Hall found the moons [1]. Hall found the moons [2]. "),
        ("Who? ", "It is Mars. "),
        ("It is ", "the moon of "),
        ("It is ", "Mars "),
        ("Moons: ", "Phobos, Deimos, "),
        ("", "he was a man who saw the moons of Mars in May, "),
        ("Moons:\n", "- Phobos\n- Deimos\n- Luna\n"),
        ("Moons:\n", "- Phobos\n"),
        ("", "- Phobos is a moon of Mars\n"),
        ("", "1. "),
    ],
)
@pytest.mark.parametrize("step", [1, 3, 17])
def test_what_is_said_fifty_times_is_noticed_soon(begin: str, loop: str, step: int) -> None:
    """Whatever it is cut into pieces of."""
    assert len(written(begin + loop * 50, step)) <= 200


@pytest.mark.parametrize(
    "text",
    [
        "He found Deimos with the telescope in Washington. He found Phobos with the telescope in Washington.",
        "Mars has two moons. Saturn has many moons. Mars has two poles.",
        "It is very, very, very cold.",
        "Yes. He did. Yes. He was.",
        "Phobos orbits Mars. Deimos orbits Mars. Both orbit Mars.",
        "- Mars: yes\n- Venus: no\n- Earth: yes\n- Saturn: yes\n",
        "1. Mercury\n2. Venus\n3. Earth\n4. Mars\n5. Jupiter\n6. Saturn\n",
        "In 1877 he found Deimos [1]. In 1877 he found Phobos [1].",
        "The first is 5 km long, the second is 5 km wide and the third is 5 km high.",
    ],
)
@pytest.mark.parametrize("step", [1, 5])
def test_what_is_no_repetition_is_left_alone(text: str, step: int) -> None:
    """Answers sound alike, name the same things, and list."""
    assert written(text, step) == text


def test_a_long_text_is_looked_at_quickly() -> None:
    """At every piece of an answer, while others wait."""
    text = " ".join(f"word{n} says what word{n * 7} said before" for n in range(900))
    begin = time.process_time()
    assert not repeats(text)
    assert time.process_time() - begin < 0.2


@pytest.mark.parametrize("loop", ["the moon of ", "- Phobos\n- Deimos\n- Phobos\n", "1. 1. 1. 1. 1. 1. 1. "])
def test_a_model_that_loops_is_stopped(loop: str) -> None:
    """It is told to stop, and the answer without it stands."""
    model = ScriptedModel("Mars has:\n" + loop * 50)
    hits = [hit(STORE, MOONS), hit(STORE, HALL, 2)]
    events = list(answer("Which moons has Mars?", ground(STORE, hits), (), model))
    (done,) = [event for event in events if isinstance(event, Done)]
    assert model.closed == 1 and done.answer.warnings == (f"{WITHOUT_MODEL} began to repeat itself",)
    assert "Mars has two moons, Phobos and Deimos." in done.answer.text and done.answer.form is not None
    assert sum(len(event.text) for event in events if isinstance(event, Piece)) < 100
