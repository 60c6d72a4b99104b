"""Every script of experiments/ and benchmarks/ says what it lacks in one line, before it works; and keeps what it has."""

from __future__ import annotations

import re
import runpy
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from experiments import command
from trivium.errors import StoreBusyError

ROOT = Path(__file__).parents[2]
SCRIPTS = [
    path.relative_to(ROOT).as_posix()
    for folder in ("experiments", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "__main__" in path.read_text("utf-8") and path.name != "command.py"
]
SECONDS = 20
"""In which it is said, on a busy machine, too."""
NOTHING_TO_MISS = {
    *(f"benchmarks/{name}.py" for name in ("diffusion_vs_networkx", "filters", "run_all", "walk")),
    *("benchmarks/server_attacked.py", "experiments/page/figures.py"),
}
"""They make their own data, or take the sample."""
NAMED = {
    "experiments/embedders/compare.py": "--task nowhere",
    "experiments/intent/fit.py": "--data nowhere",
    "experiments/live/measure.py": "",
    "experiments/readers/planted.py": "--model nowhere:small",
    "experiments/synthetic/judged.py": "--model nowhere:small",
}
"""Arguments in place of those of the script's example, which needs no path or would find it."""


def example(script: str) -> list[str]:
    """The arguments of the first command in a script's docstring, without what is in brackets."""
    module = script.removesuffix(".py").replace("/", r"\.")
    text = (ROOT / script).read_text("utf-8").split('"""')[1].replace("\\\\\n", " ").replace("\\\n", " ")
    found = re.search(rf"python (?:-m {module}|{re.escape(script)})\b(.*(?:\n *\[.*)*)", text)
    assert found, f"{script} has no example in its docstring"
    return [part for part in shlex.split(re.sub(r"\[.*?\]", "", found[1]), comments=True) if part != "..."]


@contextmanager
def as_process(folder: Path) -> Iterator[None]:
    """What is imported by its bare name belongs to the folder of one script."""
    own = {
        name
        for name, module in sys.modules.items()
        if not name.startswith(("experiments", "benchmarks", "tests", "__main__"))
        and str(getattr(module, "__file__", None)).startswith((f"{ROOT}/experiments", f"{ROOT}/benchmarks"))
    }
    kept = {name: sys.modules.pop(name) for name in own}
    path = list(sys.path)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path[:] = path
        for name in [name for name in sys.modules if _is_in(sys.modules[name], folder)]:
            if not name.startswith(("experiments", "benchmarks")):
                del sys.modules[name]
        sys.modules.update(kept)


def _is_in(module: object, folder: Path) -> bool:
    return str(getattr(module, "__file__", None)).startswith(str(folder))


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> Run:
    """Runs a script as a command in an empty folder, and returns its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIVIUM_DATA", "nowhere")
    monkeypatch.delenv("TRIVIUM_CHAT_MODEL", raising=False)

    def late(*_: object) -> None:
        raise AssertionError(f"the script worked for {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, late)
    request.addfinalizer(lambda: signal.signal(signal.SIGALRM, before))

    def call(script: str, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", [script, *arguments])
        signal.alarm(SECONDS)
        try:
            with as_process((ROOT / script).parent), pytest.raises(SystemExit) as ended:
                runpy.run_path(str(ROOT / script), run_name="__main__")
        finally:
            signal.alarm(0)
        told = capsys.readouterr()
        assert isinstance(ended.value.code, int | None)
        return ended.value.code or 0, told.out, told.err

    return call


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_is_missing_is_named_in_one_line(script: str, run: Run) -> None:
    """``--help`` tells how long the script takes. Where no file of its example exists, one of them is named."""
    code, out, err = run(script, "--help")
    packages_at_import = code == command.LACKING and re.fullmatch(r"error: .*: pip install \S+\n", err)
    assert packages_at_import or (code == 0 and re.search(r"^(Needs .* )?Takes ", out, re.M)), out + err
    if script in NOTHING_TO_MISS:
        return
    arguments = shlex.split(NAMED[script]) if script in NAMED else example(script)
    code, _, err = run(script, *arguments)
    assert code == command.LACKING and err.count("\n") == 1 and err.startswith("error: "), err
    assert packages_at_import or any(
        part in err for part in (*re.split("[ =]", " ".join(arguments)), "nowhere", "shared/data")
    )


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (FileNotFoundError(2, "No such file", "gold.jsonl"), 2, "error: No such file: gold.jsonl\n"),
        (StoreBusyError("somebody\nwrites"), 2, "error: somebody writes\n"),
        (ModuleNotFoundError(name="onnx"), 2, "error: the module onnx is missing: pip install onnx\n"),
        (KeyboardInterrupt(), 130, "interrupted: what was printed and written stays\n"),
    ],
)  # fmt: skip
def test_errors_are_one_line(
    raised: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def main() -> None:
        raise raised

    with pytest.raises(SystemExit) as ended:
        command.run(main)
    assert ended.value.code == code and capsys.readouterr().err == said


def test_a_mistake_of_the_script_has_a_traceback_and_its_exit_code_is_passed_on() -> None:
    with pytest.raises(ZeroDivisionError):
        command.run(lambda: 1 // 0)
    with pytest.raises(SystemExit) as ended:
        command.run(lambda: 1)
    assert ended.value.code == 1


def test_what_is_written_at_the_end_has_a_folder_at_the_beginning(tmp_path: Path) -> None:
    assert command.output(str(tmp_path / "figures.json")) == tmp_path / "figures.json"
    with pytest.raises(command.LackingError, match="the folder is missing"):
        command.output(str(tmp_path / "no" / "figures.json"))


def test_packages_are_missing_before_work_and_not_for_help(capsys: pytest.CaptureFixture[str]) -> None:
    parser = command.Parser("Does it.", takes="a minute", packages=("numpy", "no-such-one"))
    for arguments, code in ((["--help"], 0), ([], 2)):
        with pytest.raises(SystemExit) as ended:
            parser.parse_args(arguments)
        assert ended.value.code == code
    told = capsys.readouterr()
    assert "Needs pip install numpy no-such-one. Takes a minute." in told.out
    assert told.err == "error: packages are missing: pip install no-such-one\n"
