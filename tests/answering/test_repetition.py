"""What repeats is found where it begins, however a model repeats itself; what only sounds alike is left alone."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.answering.world import HALL, MOONS, ground, hit, world
from tests.fakes.chat_model import ScriptedModel
from trivium.answering.answer import WITHOUT_MODEL, answer
from trivium.answering.events import Done, Piece
from trivium.answering.repetition import repeated_from

STORE = world()
LOOSE_END = re.compile(r"(?:[\s,;:*•–(-]|\band$|\n\s{0,4}\d{1,2}\.$)+$")


def cut_at(text: str, start: int) -> str:
    """The text before the repetition, without what announces the next item."""
    before = text[:start]
    while (shorter := LOOSE_END.sub("", before)) != before:
        before = shorter
    return before


def written(text: str, step: int = 3) -> str:
    """What is left of a text that is written piece by piece and looked at each time."""
    for end in range(step, len(text) + step, step):
        start = repeated_from(text[:end])
        if start is not None:
            return cut_at(text, start)
    return text


LOOPS = {
    "sentence": ("Two moons. ", "Hall discovered both moons. ", "Two moons. Hall discovered both moons."),
    "sentence that cites on": ("", "Hall found the moons [1]. Hall found the moons [2]. ", "Hall found the moons [1]."),
    "short sentence": ("Who? ", "It is Mars. ", "Who? It is Mars."),
    "phrase": ("It is ", "the moon of ", "It is the moon of"),
    "word": ("It is ", "Mars ", "It is Mars"),
    "names": ("Moons: ", "Phobos, Deimos, ", "Moons: Phobos, Deimos"),
    "clause": ("", "he was a man who saw the moons of Mars in May, ", "he was a man who saw the moons of Mars in May"),
    "bullets": ("Moons:\n", "- Phobos\n- Deimos\n- Luna\n", "Moons:\n- Phobos\n- Deimos\n- Luna"),
    "one bullet": ("Moons:\n", "- Phobos\n", "Moons:\n- Phobos"),
    "long bullet": ("", "- Phobos is a moon of Mars\n", "- Phobos is a moon of Mars"),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("step", [1, 3, 17])
def test_fifty_times_become_one(name: str, step: int) -> None:
    """Whatever it is cut into pieces of."""
    begin, loop, once = LOOPS[name]
    assert written(begin + loop * 50, step) == once


def test_a_numbered_list_that_begins_again() -> None:
    """The numbers go on, the items do not."""
    items = ["Phobos", "Deimos", "Luna"]
    text = "".join(f"{n}. {items[(n - 1) % 3]}\n" for n in range(1, 90))
    assert written(text) == "1. Phobos\n2. Deimos\n3. Luna"
    assert written("".join(f"{n}. Phobos\n" for n in range(1, 90))) == "1. Phobos"


@pytest.mark.parametrize(
    "text",
    [
        "1. 1. 1. " + " ".join(f"{n}." for n in range(2, 98)),
        "".join(f"{n}.\n" for n in range(1, 98)),
        "".join(f"{n}) [1]\n" for n in range(1, 98)),
        "-\n" * 50,
        ", ".join(str(n) for n in range(1, 98)),
        "\n".join(str(n) for n in range(2001, 2098)),
    ],
)
@pytest.mark.parametrize("step", [1, 3, 17])
def test_list_numbers_without_text_and_counting(text: str, step: int) -> None:
    """Nothing is said by them; what was said before them stays."""
    assert written(text, step) == ""
    assert written(f"Bread is baked from dough [1].\n{text}", step) == "Bread is baked from dough [1]."


def test_names_that_come_round_and_round() -> None:
    """In no fixed order: once most of them are old ones."""
    text = "Moons: " + "Io, Europa, Callisto, Io, Callisto, Europa, Europa, Io, Callisto, " * 9
    assert written(text) == "Moons: Io, Europa, Callisto"


def test_a_sentence_that_only_begins_otherwise() -> None:
    """As of SmolLM2: "They" for what was named before."""
    once = "The rings of Saturn are made of ice particles, mostly composed of water ice, and some dust."
    again = once.replace("The rings of Saturn", "They")
    assert written(f"{once} {again} {again}") == once


def test_a_line_that_is_followed_at_once() -> None:
    """Its end may come together with the next word."""
    first, second = "Red and blue units: two kinds of ground", "Sub-Mars point: where the planet stands"
    pieces = "\n".join([first, second] * 20).replace("\n", "|\n").split("|")
    text = ""
    for piece in pieces:
        text += piece
        start = repeated_from(text)
        if start is not None:
            break
    assert cut_at(text, start or 0) == f"{first}\n{second}"


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
        "Io, Europa, Ganymede, Callisto, Titan, Rhea, Iapetus, Dione, Tethys, Enceladus, Mimas, Triton and Charon.",
        "In 1877 he found Deimos [1]. In 1877 he found Phobos [1].",
        "1. Mercury 2. Venus 3. Earth\n\nThe orders are 1, 2 and 3. In 2001, 2002 and 2003 it was at 1.5, 2.5 and 3.5.",
        "The first is 5 km long, the second is 5 km wide and the third is 5 km high.",
    ],
)  # fmt: skip
@pytest.mark.parametrize("step", [1, 5])
def test_what_is_no_repetition_is_left_alone(text: str, step: int) -> None:
    """Answers sound alike, name the same things, and list."""
    assert written(text, step) == text


@given(st.text(alphabet="ab .,\n-1[]", max_size=80))
def test_the_cut_is_inside_the_text(text: str) -> None:
    """At its beginning only where that says nothing."""
    start = repeated_from(text)
    assert start is None or 0 <= start < len(text)
    assert start != 0 or not text[:1].isalpha()


def test_a_long_text_is_looked_at_quickly() -> None:
    """At every piece of an answer, while others wait."""
    text = " ".join(f"word{n} says what word{n * 7} said before" for n in range(900))
    begin = time.process_time()
    assert repeated_from(text) is None
    assert time.process_time() - begin < 0.2


@pytest.mark.parametrize(
    "loop",
    ["the moon of ", "- Phobos\n- Deimos\n- Phobos\n", "Phobos, Deimos, ", "1. 1. 1. 1. 1. 1. 1. "],
)
def test_a_model_that_loops_is_stopped(loop: str) -> None:
    """It is told to stop, and the answer without it stands."""
    model = ScriptedModel("Mars has:\n" + loop * 50)
    hits = [hit(STORE, MOONS), hit(STORE, HALL, 2)]
    events = list(answer("Which moons has Mars?", ground(STORE, hits), (), model))
    (done,) = [event for event in events if isinstance(event, Done)]
    assert model.closed == 1 and done.answer.warnings == (f"{WITHOUT_MODEL} began to repeat itself",)
    assert "Mars has two moons, Phobos and Deimos." in done.answer.text and done.answer.form is not None
    assert sum(len(event.text) for event in events if isinstance(event, Piece)) < 100
