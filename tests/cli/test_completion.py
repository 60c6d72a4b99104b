"""Completion in the shell: what a line may go on with, in the protocol of each shell, quickly and without a store."""

from __future__ import annotations

import importlib.util
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMPORTS = [sys.executable, "-c", "import typer, typer.rich_utils"]
"""What is imported in any case, each time that somebody presses the tab key."""


def ask_shell(shell: str, line: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Have the program say how a line may go on, as the scripts that Typer installs do."""
    words = line.split(" ")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRIVIUM_")}
    environment |= {
        "PYTHONPATH": str(ROOT),
        "_TRIVIUM_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        **variables,
    }
    if shell != "bash":
        del environment["COMP_WORDS"], environment["COMP_CWORD"]
    return subprocess.run(
        [sys.executable, "-m", "trivium"],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("trivium sy", ["synthesize"]),
        ("trivium build --for", ["--format"]),
        ("trivium build documents --chunker se", ["sentence", "semantic"]),
        ("trivium search --retriever wa", ["walk"]),
        ("trivium search --fusion ", ["default", "network", "convex", "rrf"]),
        ("trivium build --language d", ["de", "da"]),
        ("trivium build --embedder m", ["minilm"]),
        ("trivium keys new --scope ", ["read", "write"]),
        ("trivium build docu", []),  # the shell completes files
    ],
)
def test_bash_is_told_options_and_their_values_where_no_store_is_named(
    line: str, expected: list[str], tmp_path: Path
) -> None:
    told = ask_shell("bash", line, tmp_path)
    assert (told.stdout.split(), told.stderr, told.returncode) == (expected, "", 0)


def test_zsh_and_fish_are_told_what_an_option_means_on_one_line_each(tmp_path: Path) -> None:
    zsh = ask_shell("zsh", "trivium build --prun", tmp_path)
    assert zsh.stdout.startswith('_arguments \'*: :(("--prune":"Also remove the documents whose files')
    assert len(zsh.stdout.splitlines()) == 1
    fish = ask_shell("fish", "trivium build --em", tmp_path)
    assert [line.partition("\t")[0] for line in fish.stdout.splitlines()] == ["--embedder"]
    assert ask_shell("fish", "trivium build --format ep", tmp_path).stdout == "epub\n"


@pytest.mark.parametrize(
    ("shell", "line"), [("bash", "trivium build --format "), ("zsh", "trivium build --f")]
)
def test_completion_takes_a_moment(shell: str, line: str, tmp_path: Path) -> None:
    """About as long as it takes to import Typer: no command of the program is imported."""

    def seconds(run: Callable[[], subprocess.CompletedProcess[str]]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert run().returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    least = min(seconds(lambda: subprocess.run(IMPORTS, text=True, check=False)) for _ in range(3))
    assert min(seconds(lambda: ask_shell(shell, line, tmp_path)) for _ in range(3)) < 2.5 * least


def test_titles_of_the_store_are_completed(tmp_path: Path) -> None:
    from trivium import Engine

    (tmp_path / "mars.md").write_text("# Mars\n\nA planet.\n", "utf-8")
    with Engine.create(tmp_path / "store") as engine:
        engine.build([tmp_path / "mars.md"], embed=False)
    told = ask_shell("bash", f"trivium remove --store {tmp_path}/store Ma", tmp_path)
    assert told.stdout.split() == ["Mars"]
    told = ask_shell("bash", "trivium remove Ma", tmp_path, TRIVIUM_STORE=str(tmp_path / "store"))
    assert told.stdout.split() == ["Mars"]
    assert ask_shell("bash", "trivium remove Ma", tmp_path).returncode == 0


def test_the_script_that_is_installed_completes_in_bash(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    command = tmp_path / "trivium"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m trivium "$@"\n', "utf-8")
    command.chmod(0o755)
    script = (
        'eval "$(trivium --show-completion bash)"; COMP_WORDS=(trivium build --for); COMP_CWORD=2;'
        ' _trivium_completion trivium; echo "${COMPREPLY[@]}"'
    )
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    environment["_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION"] = "1"
    told = subprocess.run([bash, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert (told.stdout, told.stderr) == ("--format\n", "")


def test_what_there_is_to_complete_is_what_the_commands_take() -> None:
    spec = importlib.util.spec_from_file_location("completion_tool", ROOT / "tools" / "completion.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    written = tool.FILE.read_text("utf-8")
    assert written == tool.written(tool.described()), "it is out of date: run  python tools/completion.py"
