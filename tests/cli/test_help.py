"""Every command explains itself, with an example of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from trivium.cli.app import app, main


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command, those of groups too."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


@pytest.mark.parametrize("command", list(commands(typer.main.get_command(app))), ids=" ".join)
def test_help_has_an_example(command: tuple[str, ...]) -> None:
    """In short ``-h``; the example comes after the line of usage."""
    short, long = (CliRunner().invoke(app, [*command, option]) for option in ("-h", "--help"))
    assert short.exit_code == 0 and short.output == long.output
    _, _, explained = " ".join(short.output.split()).partition("Example")
    assert f"trivium {' '.join(command)} " in f"{explained} "


def test_the_list_of_commands_says_what_each_says_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those of groups, in their order, without any of them being loaded for it."""
    monkeypatch.setenv("COLUMNS", "400")
    rows = [
        " ".join(line.strip("│ ").split()) for line in CliRunner().invoke(app, ["--help"]).output.split("\n")
    ]
    root: Any = typer.main.get_command(app)
    said = [
        " ".join(f"{name} {command.help}".partition("\n\n")[0].replace("\\[", "[").split())
        for name, command in root.commands.items()
    ]
    assert [row for row in rows if row in said] == said
    assert [command.name for command in root.commands.values()] == list(root.commands)


def test_one_option_has_one_text() -> None:
    """Wherever a store, a model, a selector or a setting is named."""
    root: Any = typer.main.get_command(app)
    for option, group in {
        "--model": ["ask", "chat", "serve", "mcp", "evaluate answers"],
        "--set": ["search", "ask", "evaluate"],
        "--store": ["search", "ask", "serve", "mcp", "evaluate", "build", "add", "remove", "embed", "stats"],
    }.items():
        texts = {p.help for name in group for p in root.commands[name].params if option in p.opts}
        assert len(texts) == 1, option


def test_examples_stand_below_the_options_and_fit_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Next to the prompt, a line each, for the commands that are met first."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("search", "ask", "chat"):
        with pytest.raises(SystemExit):
            main([name, "--help"])
        options, _, examples = capsys.readouterr().out.partition("Examples:")
        assert "--store" in options and f"trivium {name}" in examples and "─" not in examples
        lines = [line.strip() for line in examples.splitlines() if line.strip()]
        assert len(lines) >= 4 and all(line.startswith(f"trivium {name} ") for line in lines)
