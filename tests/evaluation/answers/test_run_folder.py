"""The folder of a run: what is kept, what is cut away, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from trivium.errors import InputError
from trivium.evaluation.answers.run_folder import SETTINGS, begin

SETTINGS_NOW = {"reader": {"name": "tiny"}, "k": 6, "rows": {"vector": None, "mine": "abc"}, "judges": {}}


def test_a_run_goes_on_with_the_same_settings_and_takes_in_more_rows_and_judges(tmp_path: Path) -> None:
    """And remembers those it was not asked for this time."""
    begin(tmp_path / "run", SETTINGS_NOW, ["a.jsonl"])
    begin(tmp_path / "run", {**SETTINGS_NOW, "rows": {"gold": None}, "judges": {"j": 1}}, ["a.jsonl"])
    begin(tmp_path / "run", SETTINGS_NOW, ["a.jsonl"])
    with pytest.raises(InputError, match="judge j"):
        begin(tmp_path / "run", {**SETTINGS_NOW, "judges": {"j": 2}}, ["a.jsonl"])


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"k": 5}, "k: 6 before, 5 now"),
        ({"reader": None}, "reader: .*tiny.* before, None now"),
        ({"new": 1}, "new: None before, 1 now"),
        ({"rows": {"mine": "def"}}, "row mine"),
    ],
)
def test_a_run_of_other_settings_is_refused_and_nothing_is_touched(
    tmp_path: Path, changes: dict[str, object], named: str
) -> None:
    """It says which, and what to do."""
    begin(tmp_path, SETTINGS_NOW, ["a.jsonl"])
    (tmp_path / "a.jsonl").write_text("{}\n")
    before = (tmp_path / SETTINGS).read_bytes()
    with pytest.raises(InputError, match=named) as refused:
        begin(tmp_path, {**SETTINGS_NOW, **changes}, ["a.jsonl"])
    assert "--out" in str(refused.value)
    assert (tmp_path / SETTINGS).read_bytes() == before and (tmp_path / "a.jsonl").exists()


@pytest.mark.parametrize("settings", ["", "[]", "{", "null"])
def test_settings_that_cannot_be_read_are_said_to_be_that(tmp_path: Path, settings: str) -> None:
    """Not taken for those of no run."""
    (tmp_path / SETTINGS).write_text(settings)
    with pytest.raises(InputError, match="expected the settings of a run"):
        begin(tmp_path, SETTINGS_NOW, [])


def test_answers_without_settings_are_not_gone_on_with(tmp_path: Path) -> None:
    """It is unknown what they depend on."""
    (tmp_path / "a.jsonl").write_text("")
    with pytest.raises(InputError, match=SETTINGS):
        begin(tmp_path, SETTINGS_NOW, ["a.jsonl"])
