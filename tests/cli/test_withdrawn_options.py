"""Options that are gone, and options made from the fields of a request."""

from __future__ import annotations

from typing import Any

import pytest
import typer

from trivium.cli.app import app
from trivium.cli.withdrawn_options import WITHDRAWN, without_withdrawn


def options_of(command: str) -> set[str]:
    found: Any = typer.main.get_command(app)
    for name in [command] if command in found.commands else command.split():
        found = found.commands[name]
    return {flag for parameter in found.params for flag in parameter.opts}


@pytest.mark.parametrize("command", WITHDRAWN)
def test_what_is_gone_is_no_option(command: str) -> None:
    assert not {option.rstrip("=") for option in WITHDRAWN[command].split()} & options_of(command)


def test_it_is_ignored_with_its_value_and_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["chat", "-k", "3", "--set=a=b", "--store", "s", "--", "-k"]
    assert without_withdrawn(line) == ["chat", "--store", "s", "--", "-k"]
    warned = capsys.readouterr().err
    assert "-k is gone and was ignored" in warned and "--set is gone" in warned
    assert without_withdrawn(["ask", "-k", "3"]) == ["ask", "-k", "3"] and not capsys.readouterr().err
