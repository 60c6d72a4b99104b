"""Parts that installed packages declare: found by name, loaded when asked for, and clear about what is wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.fakes.packages import install_package
from trivium.errors import ConfigurationError, InputError
from trivium.plugins import create_plugin, list_plugins, load_plugin

GROUP = "trivium.tests"


@pytest.fixture(autouse=True)
def on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test installs is importable."""
    monkeypatch.syspath_prepend(str(tmp_path))


def install(folder: Path, package: str, points: dict[str, str], code: str = "") -> None:
    install_package(folder, package, points, code, group=GROUP)


def test_a_declared_function_is_called_with_the_arguments(tmp_path: Path) -> None:
    """What it returns comes back."""
    install(tmp_path, "plug_one", {"join": "plug_one:join"}, "def join(a, b):\n    return a + b\n")
    assert create_plugin(GROUP, "join", "x", "y") == "xy"


def test_listing_imports_nothing(tmp_path: Path) -> None:
    """A package that cannot be imported is listed all the same, in alphabetical order."""
    install(tmp_path, "plug_two", {"b": "plug_two:b", "a": "plug_two:a"}, "raise RuntimeError\n")
    assert list(list_plugins(GROUP)) == ["a", "b"]


def test_an_undeclared_name_is_none(tmp_path: Path) -> None:
    """The caller knows the built-in names and says what there is."""
    install(tmp_path, "plug_three", {"there": "plug_three:there"})
    assert load_plugin(GROUP, "other") is None
    assert create_plugin(GROUP, "other") is None
    assert load_plugin("trivium.nothing", "there") is None


@pytest.mark.parametrize(
    ("code", "match"),
    [
        ("raise RuntimeError('no GPU')\n", r"'broken' .*the package plug_four.* RuntimeError: no GPU"),
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("", "AttributeError"),
        ("make = 3\n", "expected a function or a class at plug_four:make, got int"),
        ("def make():\n    raise KeyError('key')\n", "failed: KeyError: 'key'"),
    ],
)
def test_a_broken_entry_point_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, match: str
) -> None:
    """The message names the entry point, the package and what it said."""
    monkeypatch.delitem(sys.modules, "plug_four", raising=False)
    install(tmp_path, "plug_four", {"broken": "plug_four:make"}, code)
    with pytest.raises(ConfigurationError, match=match):
        create_plugin(GROUP, "broken")


def test_an_error_of_trivium_passes_through(tmp_path: Path) -> None:
    """A plugin that says what is wrong is believed."""
    code = "from trivium.errors import InputError\ndef make():\n    raise InputError('expected a folder')\n"
    install(tmp_path, "plug_five", {"own": "plug_five:make"}, code)
    with pytest.raises(InputError, match=r"^expected a folder$"):
        create_plugin(GROUP, "own")


def test_a_name_declared_twice_names_both_packages(tmp_path: Path) -> None:
    """Nothing is chosen silently."""
    install(tmp_path, "plug_six", {"same": "plug_six:make"})
    install(tmp_path, "plug_seven", {"same": "plug_seven:make"})
    with pytest.raises(ConfigurationError, match=r"'same' .* declared twice.*plug_s.*plug_s"):
        load_plugin(GROUP, "same")
