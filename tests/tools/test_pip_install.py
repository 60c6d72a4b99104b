"""``make install`` says how far it is: pip's own lines are read."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tools.pip_install import Report

TOOL = Path(__file__).parents[2] / "tools" / "pip_install.py"


def wheel(folder: Path) -> Path:
    """A package of one empty module."""
    file = folder / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tiny.py", "")
        archive.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(
            "tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("tiny-1.0.dist-info/RECORD", "")
    return file


def installed(*arguments: str | Path, ci: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, TOOL, "--no-index", "--no-deps", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "CI": ci},
        check=False,
        timeout=120,
    )


def test_an_installation_tells_its_steps_and_is_quiet_in_continuous_integration(tmp_path: Path) -> None:
    told = installed("--target", tmp_path / "a", wheel(tmp_path))
    assert told.returncode == 0 and (tmp_path / "a" / "tiny.py").exists()
    assert "unpacking 1 packages" in told.stderr and told.stderr.rstrip().endswith("done")
    quiet = installed("--target", tmp_path / "b", wheel(tmp_path), ci="true")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    assert (tmp_path / "b" / "tiny.py").exists()


def test_what_pip_says_of_a_failure_is_shown(tmp_path: Path) -> None:
    failed = installed("--target", tmp_path, "there-is-no-such-package")
    assert failed.returncode != 0
    assert "No matching distribution" in failed.stderr and "pip failed" in failed.stderr


@pytest.mark.parametrize("size, megabytes", [("17.5 MB", 17.5), ("250 kB", 0.25), ("1.2 GB", 1200.0)])
def test_lines_of_pip_are_counted(size: str, megabytes: float) -> None:
    """Packages by name, once each, and megabytes; a step begins with the first package and with the unpacking."""
    report = Report()
    assert [report.read(line) for line in ("Collecting rich==1", "Collecting Rich", "Collecting numpy<3")] == [
        True, False, False
    ]  # fmt: skip
    assert not report.read(f"  Downloading onnxruntime-1.2-cp311.whl ({size})")
    assert (len(report.found), report.megabytes) == (2, pytest.approx(megabytes))
    assert "onnxruntime" in str(report)
    assert report.read("Installing collected packages: rich, numpy") and "unpacking 2 packages" in str(report)
