"""The options of the engine's methods are known to type checkers and to whoever asks for help, and others are refused."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import pytest

import trivium
from trivium.engine_parts import EngineParts
from trivium.errors import InputError
from trivium.evaluation.requests import EvaluateOptions, EvaluateRequest
from trivium.search.requests import MAX_K, MAX_QUESTION_CHARACTERS, SearchRequest


def test_what_type_checkers_know_is_what_there_is() -> None:
    parts = [
        name
        for name in inspect.signature(trivium.Engine.__init__).parameters
        if name not in ("self", "store", "embedder")
    ]
    assert list(EngineParts.__annotations__) == parts
    positional = {"questions", "retrievers", "fusions"}
    assert (
        EvaluateOptions.__annotations__.keys() == {one.name for one in fields(EvaluateRequest)} - positional
    )


def test_help_of_a_search_names_every_option_and_its_range() -> None:
    told = inspect.getdoc(trivium.Engine.search) or ""
    assert all(f"``{one.name}``:" in told for one in fields(SearchRequest))
    assert f"1 to {MAX_K:,}" in told and f"1 to {MAX_QUESTION_CHARACTERS:,} characters" in told


@pytest.mark.parametrize("method", ["open", "create"])
def test_a_part_that_no_engine_has_is_refused_before_anything_is_made(method: str, tmp_path: Path) -> None:
    wrong: dict[str, Any] = {"fuson": "rrf"}
    with pytest.raises(InputError, match=r"no option 'fuson' .did you mean fusion"):
        getattr(trivium.Engine, method)(tmp_path / "store", **wrong)
    assert not (tmp_path / "store").exists()


def test_an_option_that_no_evaluation_has_is_refused() -> None:
    engine = object.__new__(trivium.Engine)
    with pytest.raises(InputError, match=r"evaluate has no option 'dept' .did you mean depth"):
        engine.evaluate([], **cast(Any, {"dept": 3}))
