"""The public surface: what is promised is there, and what users meet is promised."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import trivium
from tests import promised
from trivium import errors, types
from trivium.answering import events


@pytest.mark.parametrize("name", trivium.__all__)
def test_every_name_is_there_and_shown(name: str) -> None:
    assert getattr(trivium, name) is not None
    assert name in dir(trivium)


def _defined(module: object, kind: type) -> set[str]:
    return {
        name
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and value.__module__ == getattr(module, "__name__", "")
        and issubclass(value, kind)
    }


@pytest.mark.parametrize("module", [errors, types, events])
def test_every_error_result_and_event_is_public(module: object) -> None:
    assert _defined(module, object) - {name for name in vars(module) if name.startswith("_")} <= set(
        trivium.__all__
    )


def test_what_the_engine_takes_and_returns_is_public() -> None:
    """Every class of the package that its public signatures name, but those of parts."""
    named: set[str] = set()
    for name, member in inspect.getmembers(trivium.Engine, inspect.isfunction):
        if not name.startswith("_") or name == "__init__":
            for annotation in member.__annotations__.values():
                named |= {
                    node.id for node in ast.walk(ast.parse(str(annotation))) if isinstance(node, ast.Name)
                }
    source = inspect.getsource(sys.modules["trivium.engine"])
    imported = {
        alias.name
        for node in ast.walk(ast.parse(source))  # those for type checkers, too
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("trivium.")
        for alias in node.names
    }
    ours = named & imported
    parts = {
        "SearchOptions",
        "BuildOptions",
        "AskOptions",
        "EngineParts",
        "EvaluateOptions",
        "SettingValues",
        "StageObserver",
        "Progress",
        "StageProgress",
        "Where",
    }
    outside = {
        "Any",
        "Generator",
        "Iterable",
        "Mapping",
        "Path",
        "Sequence",
        "Self",
        "TracebackType",
        "Unpack",
    }
    assert ours - parts - outside <= set(trivium.__all__)


def test_the_names_for_type_checkers_are_the_names_at_run_time() -> None:
    """Both lists of the module, in both directions."""
    tree = ast.parse(Path(inspect.getsourcefile(trivium) or "").read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    checked = {
        (node.module, alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert checked == {(f"trivium.{module}", name) for name, module in trivium._HOME.items()}


def test_nothing_that_was_promised_is_gone() -> None:
    """Names, fields of JSON, commands and the format of stores of the last release (docs/stability.md); more may come."""
    now = promised.present()
    recorded = json.loads(promised.FILE.read_text("utf-8"))
    gone = {kind: sorted(set(names) - set(now[kind])) for kind, names in recorded.items()}
    assert gone == {kind: [] for kind in now}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Motor'"):
        trivium.Motor  # noqa: B018


def test_importing_the_package_loads_next_to_nothing() -> None:
    """Neither numerics nor databases: parser workers import it for every pool."""
    code = "import sys, trivium; print(sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for heavy in ("numpy", "tantivy", "usearch", "neo4j", "openai", "fastapi", "tensorflow", "pydantic"):
        assert f"'{heavy}'" not in loaded
