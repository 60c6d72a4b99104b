"""Packages are installed by uv where it can, by pip where it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tools.install_packages import uv_flags

TOOL = Path(__file__).parents[2] / "tools" / "install_packages.py"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of one line."""
    path = tmp_path_factory.mktemp("wheels") / "ink-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ink.py", "COLOUR = 'blue'\n")
        archive.writestr("ink-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: ink\nVersion: 1.0\n")
        archive.writestr(
            "ink-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("ink-1.0.dist-info/RECORD", "ink.py,,\n")
    return path


@pytest.mark.parametrize("uv", ["works", "fails", "told of two indexes"])
def test_either_installs_it(uv: str, wheel: Path, tmp_path: Path) -> None:
    """The one that did it signs the package as its installer, and says nothing unless something went wrong."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env" / "bin" / "python"
    found = Path(sys.executable).parent
    if uv == "fails":
        found = tmp_path / "broken"
        found.mkdir()
        (found / "uv").write_text("#!/bin/sh\necho no luck >&2\nexit 2\n")
        (found / "uv").chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{found}{os.pathsep}{os.environ['PATH']}",
        "PIP_CONFIG_FILE": os.devnull,
    }
    for name in [name for name in environment if name.startswith(("PIP_EXTRA", "PIP_NO_INDEX", "PIP_PROXY"))]:
        del environment[name]
    if uv == "told of two indexes":
        environment["PIP_EXTRA_INDEX_URL"] = "http://127.0.0.1:9/simple"
    done = subprocess.run(
        [python, TOOL, wheel], capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    says = "from importlib.metadata import distribution as d; print(d('ink').read_text('INSTALLER').strip())"
    by = subprocess.run([python, "-c", says], capture_output=True, text=True, check=True).stdout.strip()
    assert by == ("uv" if uv == "works" else "pip")
    assert ("no luck" in done.stderr and "pip tries" in done.stderr) == (uv == "fails")
    assert "ink" not in done.stdout + done.stderr


def test_what_neither_finds_is_a_failure(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, TOOL, "--no-deps", str(tmp_path / "missing-1.0-py3-none-any.whl")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode != 0 and "missing-1.0" in done.stderr


def test_uv_is_told_what_pip_is_configured_with() -> None:
    assert uv_flags("") == []
    listed = (
        ":env:.find-links='/wheels /more'\nglobal.index-url='https://a.example/simple'\n"
        "install.trusted-host='a.example'\nglobal.timeout='60'\ndownload.find-links='/never'\n"
    )
    assert uv_flags(listed) == [
        *("--find-links", "/wheels", "--find-links", "/more"),
        *("--default-index", "https://a.example/simple"),
        *("--allow-insecure-host", "a.example"),
    ]
    assert uv_flags(listed + "global.extra-index-url='https://b.example/simple'\n") is None
