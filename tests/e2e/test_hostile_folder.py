"""A folder with one file of every format and trouble: the good ones are found, the others named with a reason."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.fakes.hostile_files import HostileFile, hostile_files
from trivium.engine import Engine
from trivium.parser.documents.formats import BUILT_IN
from trivium.testing import HashEmbedder

MEMORY = 2 << 30
"""Bytes that the command may have at most."""
SECONDS = 300.0
_MEASURED = """
import pathlib, resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
pathlib.Path(sys.argv[1]).write_text(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024))
sys.exit(code)
"""
"""Runs the command and writes its peak of memory: a process counts as its own what the one that started it had, so
that the command must be started by a small one, not by the tests."""

Built = tuple[Path, dict[str, HostileFile], subprocess.CompletedProcess[str]]


def _readable(file: HostileFile) -> bool:
    suffix = f".{file.name.rpartition('.')[2]}"
    known = {suffix for format in BUILT_IN.values() for suffix in format.suffixes} | {".json"}
    return suffix in known and (not file.package or find_spec(file.package) is not None)


def _write(folder: Path) -> dict[str, HostileFile]:
    folder.mkdir()
    files = {file.name: file for file in hostile_files() if _readable(file)}
    for name, file in files.items():
        (folder / name).write_bytes(file.make())
    (folder / "link.txt").symlink_to(folder / "link.txt")
    (folder / "exotic.xyz").write_bytes(b"what nobody knows \x00\x01")
    os.mkfifo(folder / "pipe.txt")  # whoever opens it waits for ever
    return files


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The store, the files, and what the command printed."""
    place = tmp_path_factory.mktemp("hostile")
    files = _write(place / "folder")
    started = time.monotonic()
    command = [
        sys.executable,
        "-m",
        "trivium",
        "build",
        str(place / "folder"),
        "--store",
        str(place / "store"),
    ]
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, str(place / "peak"), *command, "--no-embed", "--json", "--workers", "2"],
        capture_output=True, text=True, timeout=SECONDS, check=False, cwd=place,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert time.monotonic() - started < SECONDS
    return place, files, done


def test_the_command_says_that_some_could_not_be_read(built: Built) -> None:
    """Exit code 3, no trace of a program's error, and memory within bounds."""
    place, _, done = built
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert 0 < int((place / "peak").read_text()) < MEMORY


def test_each_bad_file_is_named_with_the_reason(built: Built) -> None:
    """And no good one."""
    place, files, done = built
    problems = {Path(p["location"]).name: p["reason"] for p in json.loads(done.stdout)["problems"]}
    refused = {name for name, file in files.items() if file.outcome == "refused"}
    good = {name for name, file in files.items() if file.outcome == "found"}
    assert refused - problems.keys() == set()
    assert good & problems.keys() == set(), {name: problems[name] for name in good & problems.keys()}
    for name, reason in problems.items():
        assert 5 < len(reason) < 500, f"{name}: {reason}"
        assert "Error:" not in reason, f"{name} is refused by an accident: {reason}"
        assert "root:" not in reason, f"{name}: a file of this machine was read"
    assert not (place / "evil.txt").exists() and not Path("/tmp/evil.txt").exists()


def test_the_good_files_are_found(built: Built) -> None:
    """Each by its word."""
    place, files, _ = built
    words = {name: file.word for name, file in files.items() if file.outcome == "found"}
    with Engine.open(place / "store", embedder=HashEmbedder()) as engine:
        engine.indexer.embed()
        for name, word in words.items():
            hits = engine.search(word, k=1, retrievers=["lexical"])
            assert hits and word in hits[0].text, f"{name}: {word} is not found"
        texts = [chunk.text for page in engine.store.page_graphs() for chunk in page.chunks]
        assert not any("root:" in text for text in texts), "a file of this machine was read"
