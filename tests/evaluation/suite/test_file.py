"""Suite files: what they say, and how their faults are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from trivium.errors import InputError
from trivium.evaluation.suite.definition import read_suite, sample

TWO_SETS = """
[[set]]
name = "squad"
questions = "questions/squad.jsonl"
store = "joint"
sample = 200
seed = 7

[[set]]
name = "nq-earth"
questions = "nq.jsonl"
store = "bolt://localhost:7687"
exact = true
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "suite.toml"
    path.write_text(text, "utf-8")
    return path


def test_paths_are_relative_to_the_file_and_addresses_stay(tmp_path: Path) -> None:
    one, other = read_suite(write(tmp_path, TWO_SETS)).sets
    assert (one.name, one.sample, one.seed, one.exact) == ("squad", 200, 7, False)
    assert (one.questions, one.store) == (str(tmp_path / "questions/squad.jsonl"), str(tmp_path / "joint"))
    assert (other.store, other.sample, other.exact) == ("bolt://localhost:7687", None, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[set]]\nname = "a\n', "line 2"),
        ("", "set: Field required"),
        ("title = 1\nset = []", "title: Extra inputs are not permitted, got 1"),
        ('[[set]]\nname = "a"\nstore = "s"', "set.1.questions: Field required"),
        (TWO_SETS + "samples = 3", "set.2.samples: Extra inputs are not permitted, got 3"),
        (TWO_SETS.replace("200", "0"), "set.1.sample: .*greater than or equal to 1, got 0"),
        (TWO_SETS.replace("200", '"200"'), "sample: .*integer, got '200'"),
        (TWO_SETS.replace('"squad"', '"../squad"'), r"name: .*pattern.*got '\.\./squad'"),
        (TWO_SETS.replace('"nq-earth"', '"Squad"'), "every name once, got 'squad' again"),
        ("set = [3]", "set.1: .*got 3"),
    ],
)
def test_a_fault_is_named_by_line_or_set_and_key(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        read_suite(write(tmp_path, text))
    message = str(raised.value)
    assert "suite.toml" in message
    with pytest.raises(AssertionError, match=said.replace("(", r"\(").replace(")", r"\)")):
        raise AssertionError(message)


def test_a_file_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a readable suite file"):
        read_suite(tmp_path / "none.toml")


def test_a_sample_keeps_the_order_and_hangs_on_the_seed_alone() -> None:
    numbers = list(range(100))
    drawn = sample(numbers, 10, seed=1)
    assert drawn == sorted(set(drawn)) and len(drawn) == 10
    assert drawn == sample(numbers, 10, seed=1) != sample(numbers, 10, seed=2)
    assert sample(numbers, 100, seed=1) == sample(numbers, None, seed=1) == numbers


def test_the_suite_of_the_development_questions_can_be_read() -> None:
    suite = read_suite(Path(__file__).parents[3] / "experiments" / "suite.toml")
    assert [one.name for one in suite.sets] == ["squad", "nq-earth", "qed", "hotpotqa", "2wiki", "musique"]
