"""Every code block of the documentation works as it stands: in a folder of its own, on the sample encyclopaedia."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import requests
import yaml

from tests.code_blocks import ROOT, Block, blocks
from tests.fakes.openai_server import OpenAIServer
from tests.nq_rows import ONA, TARN, write_rows
from trivium.sample import folder as sample
from trivium.sample import pages_folder

EXECUTED_PAGES: dict[str, tuple[str, ...]] = {
    "README.md": (),
    "docs/quickstart.md": ("demo-store",),
    "docs/concepts/index.md": (),
    "docs/concepts/retrievers.md": ("my-store",),
    "docs/howto/documents.md": ("my-store",),
    "docs/howto/filters.md": ("my-store",),
    "docs/howto/chunking.md": (),
    "docs/howto/entities.md": (),
    "docs/howto/ask.md": ("my-store",),
    "docs/howto/speech.md": ("my-store",),
    "docs/howto/live.md": ("my-store",),
    "docs/howto/rerank.md": ("my-store",),
    "docs/howto/evaluate.md": ("my-store",),
    "docs/howto/natural-questions.md": (),
    "docs/howto/sweep.md": ("my-store",),
    "docs/howto/train.md": ("my-store",),
    "docs/howto/synthesize.md": (),
    "docs/howto/papers.md": (),
    "docs/howto/serve.md": ("my-store",),
    "docs/howto/deploy.md": ("my-store",),
    "docs/howto/mcp.md": ("my-store",),
    "docs/howto/langchain.md": ("my-store",),
    "docs/howto/neo4j.md": (),
    "docs/howto/your-own-data.md": (),
    "docs/howto/dbpedia.md": (),
    "docs/reference/cli.md": (),
    "docs/reference/api.md": (),
    "docs/reference/http.md": ("my-store",),
    "docs/reference/settings.md": ("my-store",),
    "docs/reference/embedders.md": (),
    "docs/reference/exit-codes.md": ("my-store",),
    "docs/operations.md": ("my-store",),
    "docs/security.md": (),
    "docs/extending.md": ("my-store",),
    "docs/troubleshooting.md": ("my-store",),
}
"""Pages whose blocks are executed, from top to bottom, and the copies of the sample's store that are there before."""

PAGES = ("Asaph_Hall.html", "Venera_7.html")
"""A reader's own documents: the two shortest pages of the sample."""

RECORDS = (
    {"title": "Vulcan", "text": "Vulcan was a planet supposed between the Sun and Mercury."},
    {"title": "Urbain Le Verrier", "text": "Urbain Le Verrier proposed the planet Vulcan in 1859."},
)
NQ_ROWS = tuple(
    page.row(number, f"what is {page.title.lower()}", page.annotation(page.element("p", 0)))
    for number, page in enumerate((TARN, ONA))
)
SECONDS = 240
"""What a block may take."""


@pytest.fixture(scope="module")
def commands(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``trivium``, ``python`` and ``gunicorn``, those under test: they have imported the package."""
    folder = tmp_path_factory.mktemp("bin")
    for name, arguments in (("trivium", "-m trivium"), ("python", ""), ("gunicorn", "-m gunicorn")):
        command = folder / name
        command.write_text(f'#!/bin/sh\nexec "{python}" {arguments} "$@"\n', "utf-8")
        command.chmod(0o755)
    return folder


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """The folder a reader works in, with documents and questions."""
    pages = tmp_path / "pages"
    pages.mkdir()
    for name in PAGES:
        shutil.copy(pages_folder() / name, pages)
    records = "".join(json.dumps(record) + "\n" for record in RECORDS)
    (tmp_path / "passages.jsonl").write_text(records, "utf-8")
    (tmp_path / "nq").mkdir()
    write_rows(tmp_path / "nq" / "train.jsonl", NQ_ROWS)
    questions = (sample() / "questions_single_hop.jsonl").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "questions.jsonl").write_text("".join(questions[:6]), "utf-8")
    return tmp_path


@pytest.fixture
def environment(commands: Path) -> Iterator[Mapping[str, str]]:
    """What a reader's shell has set; the language model is a server that repeats what it is asked."""
    with OpenAIServer() as model:
        yield {
            **os.environ,
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PYTHONIOENCODING": "utf-8",
            "COLUMNS": "100",
            "GUNICORN_CMD_ARGS": "--no-control-socket",
            "TRIVIUM_EMBEDDER": "minilm",
            "TRIVIUM_CHAT_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "sk-of-a-test-0123456789",
            "HAYSTACK_TELEMETRY_ENABLED": "False",
        }


@pytest.mark.parametrize("page", EXECUTED_PAGES)
def test_every_block_of_the_page_works(
    page: str, desk: Path, environment: Mapping[str, str], sample_store: Path
) -> None:
    """One after another in one folder, as a reader goes through the page."""
    for name in EXECUTED_PAGES[page]:
        shutil.copytree(sample_store, desk / name)
    port = _free_port()
    with _servers() as servers:
        for block in blocks(page):
            if block.not_run is not None:
                continue
            if block.file is not None:
                assert block.text == (ROOT / block.file).read_text("utf-8"), (
                    f"{block.place}: not {block.file}"
                )
                shutil.copy(ROOT / block.file, desk)
            elif block.language in ("json", "toml"):
                _check_data(block)
            elif block.language in ("sh", "python"):
                text = block.text.replace("8000", str(port))
                if block.keeps_running:
                    named = "" if str(port) in text else f" --port {port}"
                    servers.append(_start(f"{text.rstrip()}{named}", desk, environment))
                    _wait_until_ready(servers[-1], port, block)
                else:
                    _run(block, text, desk, environment)


@pytest.mark.parametrize(
    "block",
    [block for page in EXECUTED_PAGES for block in blocks(page) if block.not_run is not None],
    ids=lambda block: block.place,
)
def test_a_block_that_is_not_run_says_why(block: Block) -> None:
    """In a sentence; a test file that it names exists."""
    assert block.not_run is not None and len(block.not_run.split()) >= 3
    for word in block.not_run.split():
        if word.startswith("tests/"):
            assert (ROOT / word.rstrip(",;.")).exists(), word


def test_blocks_are_found_with_what_is_said_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The four comments, and blocks without one."""
    monkeypatch.setattr("tests.code_blocks.ROOT", tmp_path)
    (tmp_path / "page.md").write_text(
        "```sh\nls\n```\n\n<!-- not run: takes an hour -->\n```sh\nmake\n```\n\n"
        "<!-- exit code 3 -->\n```sh\nfalse\n```\n\n<!-- keeps running -->\n```sh\nserve\n```\n\n"
        "<!-- file: examples/app.py -->\n```python\napp\n```\n",
        "utf-8",
    )
    plain, left_out, fails, server, file = blocks("page.md")
    assert (plain.text, plain.not_run, plain.exit_code, plain.keeps_running) == ("ls\n", None, 0, False)
    assert left_out.not_run == "takes an hour"
    assert fails.exit_code == 3 and fails.line == 11
    assert server.keeps_running and server.file is None
    assert file.file == "examples/app.py"


@pytest.mark.parametrize(
    "text",
    ["    indented\n", "```\nno language\n```\n", "```perl\n1\n```\n", "<!-- exit code 1 -->\n\nText\n"],
)
def test_a_block_that_would_escape_the_test_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a language that is known nothing would execute it."""
    monkeypatch.setattr("tests.code_blocks.ROOT", tmp_path)
    (tmp_path / "page.md").write_text(text, "utf-8")
    with pytest.raises(ValueError, match="expected a"):
        blocks("page.md")


def test_the_maps_of_the_repository_are_complete() -> None:
    """Each folder and root module of the package, and each folder of the repository; what they name exists."""
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    architecture = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for parts in {tuple(path.split("/")) for path in tracked}:
        if parts[0] == "trivium" and not parts[1].startswith(("__", "py.typed")):
            name = f"{parts[1]}/" if len(parts) > 2 else parts[1]
            assert f"`trivium/{name}`" in architecture or f"`{name}`" in architecture, name
        if len(parts) > 1:
            assert f"`{parts[0]}/`" in contributing, parts[0]
    for path in re.findall(
        r"`((?:trivium|tests|tools|docs|experiments)/[\w/.]*)`", architecture + contributing
    ):
        assert (ROOT / path).exists(), path


def test_the_workflow_runs_every_supported_python() -> None:
    """Those that the package declares; what it runs builds the documentation and runs the tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    supported = [
        match[1]
        for entry in project["classifiers"]
        if (match := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", entry))
    ]
    (job,) = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text("utf-8"))["jobs"].values()
    assert job["strategy"]["matrix"]["python"] == supported
    assert any(step.get("run") == ".ci/run" for step in job["steps"])
    commands = (ROOT / ".ci/run").read_text("utf-8").splitlines()
    assert "make -j2 docs test" in commands


def _run(block: Block, text: str, folder: Path, environment: Mapping[str, str]) -> None:
    command = ["bash", "-euo", "pipefail", "-c", text] if block.language == "sh" else ["python", "-c", text]
    done = subprocess.run(
        command,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == block.exit_code, (
        f"{block.place} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    )


def _check_data(block: Block) -> None:
    if block.language == "toml":
        tomllib.loads(block.text)
        return
    try:
        json.loads(block.text)
    except json.JSONDecodeError:
        for line in block.text.splitlines():
            json.loads(line)


def _start(text: str, folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    log = (folder / "server.log").open("wb")
    with log:
        return subprocess.Popen(
            ["bash", "-c", f"exec {text}"],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def _wait_until_ready(server: subprocess.Popen[bytes], port: int, block: Block) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        assert server.poll() is None, f"{block.place} ended with {server.returncode}"
        with suppress(requests.ConnectionError, requests.Timeout):
            if requests.get(f"http://127.0.0.1:{port}/ready", timeout=10).ok:
                return
        time.sleep(0.1)
    raise AssertionError(f"{block.place} was not ready in {SECONDS} s")


@contextmanager
def _servers() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Servers that are stopped at the end."""
    running: list[subprocess.Popen[bytes]] = []
    try:
        yield running
    finally:
        for server in running:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=30)


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port
