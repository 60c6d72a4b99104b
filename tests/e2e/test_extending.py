"""The package of docs/extending.md, installed with pip into a folder of its own, through every door."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.code_blocks import ROOT, blocks
from tests.e2e.test_documentation import PAGES, _free_port
from trivium.sample import pages_folder

PAGE = "docs/extending.md"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """With the package of the page: its parts in one module, and its pyproject.toml, as they stand."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("target")
    code = [block.text for block in blocks(PAGE) if block.language == "python" and "\ndef " in block.text]
    modules = [text.partition('if __name__ == "__main__":')[0] for text in code]
    assert len(modules) == 5 and all(len(text.split("\n")) <= 40 for text in modules)
    (source / "mine.py").write_text("".join(modules), "utf-8")
    (project,) = (block.text for block in blocks(PAGE) if block.language == "toml")
    (source / "pyproject.toml").write_text(project, "utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run(
        [*pip, "--no-build-isolation", "--target", str(target), str(source)], check=True, cwd=source
    )
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(target)])}


@pytest.fixture(scope="module")
def store(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Filled through the command line by the package's embedder."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "pages").mkdir()
    for name in PAGES:
        shutil.copy(pages_folder() / name, folder / "pages")
    run(
        environment,
        "build",
        str(folder / "pages"),
        "--store",
        str(folder / "store"),
        "--embedder",
        "trigrams",
    )
    return folder / "store"


def run(environment: dict[str, str], *arguments: str, code: int = 0) -> str:
    command = [sys.executable, "-m", "trivium", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == code, done.stderr
    return done.stdout


def test_the_command_line_searches_with_declared_parts(environment: dict[str, str], store: Path) -> None:
    told = run(
        environment, "search", 'Which "astronomer" was it?', "--store", str(store), "--retriever", "phrases", "vector",
        "--fusion", "podium", "--explain", "--json",
    )  # fmt: skip
    hits = json.loads(told)["hits"]
    assert "astronomer" in hits[0]["text"].lower()
    assert {"phrases", "vector"} == set(hits[0]["contributions"])
    reranked = run(
        environment, "search", "Which astronomer?", "--store", str(store), "--rerank", "terse", "--json"
    )
    scores = [hit["rerank_score"] for hit in json.loads(reranked)["hits"]]
    assert scores == sorted(scores, reverse=True) and scores[0] > 0
    assert json.loads(run(environment, "stats", "--store", str(store), "--json"))["embedder"] == "trigrams"


@pytest.fixture
def server(environment: dict[str, str], store: Path) -> Iterator[str]:
    port = _free_port()
    command = [sys.executable, "-m", "trivium", "serve", "--store", str(store), "--port", str(port)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            assert process.poll() is None
            try:
                if requests.get(f"{address}/ready", timeout=1).ok:
                    break
            except requests.ConnectionError:
                pass
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(30)


def test_the_server_searches_with_declared_parts(server: str) -> None:
    given = {"question": 'Which "astronomer" was it?', "retrievers": ["phrases"], "fusion": "podium"}
    answer = requests.post(f"{server}/search", json=given, timeout=30)
    assert answer.status_code == 200, answer.text
    assert all("astronomer" in hit["text"].lower() for hit in answer.json()["hits"])
    unknown = requests.post(f"{server}/search", json={**given, "retrievers": ["sentences"]}, timeout=30)
    assert unknown.status_code == 422 and "phrases" in unknown.text


def test_an_object_is_handed_in_as_it_is(environment: dict[str, str], store: Path) -> None:
    """All three at once, through Python."""
    code = (
        "import sys, trivium; from mine import Phrases, Podium, Trigrams\n"
        "with trivium.Engine.open(sys.argv[1], Trigrams(), retrievers=[Phrases()], fusion=Podium()) as engine:\n"
        "    hits = engine.search('Which \"astronomer\" was it?', explain=True)\n"
        "    print(sorted(hits[0].contributions), engine.embedder.identity.name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(store)], env=environment, capture_output=True, text=True, check=True
    )
    assert "'phrases'" in done.stdout and "'walk'" in done.stdout and "trigrams" in done.stdout


DOCLING = """#!/bin/sh
# Stands for the program, whose weights cannot be had: it checks how it is called and writes such a file.
[ "$*" = "--to md --image-export-mode placeholder --output $6 $7" ] && head -c 5 "$7" | grep -q %PDF- || exit 1
grep -q unreadable "$7" && exit 1
printf '# Report of the lock keepers\\n\\n## Gates\\n\\nThe upper gate was oiled in May.\\n' > "$6/document.md"
"""


def test_a_declared_format_takes_over_files(environment: dict[str, str], tmp_path: Path) -> None:
    program = tmp_path / "bin" / "docling"
    program.parent.mkdir()
    program.write_text(DOCLING)
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    reports = tmp_path / "reports"
    reports.mkdir()
    (reports / "locks.pdf").write_bytes(b"%PDF-1.4 with nothing in it that PDFium could read")
    (reports / "damaged.pdf").write_bytes(b"%PDF-1.4 unreadable")
    store = str(tmp_path / "store")
    told = run({**environment, "PATH": path}, "build", str(reports), "--store", store, "--json", code=3)
    (problem,) = json.loads(told)["problems"]
    assert problem["location"].endswith("damaged.pdf") and "Docling could not read" in problem["reason"]
    found = run(environment, "search", "upper gate", "--store", store, "--where", "format = 'pdf'", "--json")
    (hit,) = json.loads(found)["hits"]
    assert hit["page"] == "Report of the lock keepers" and "The upper gate was oiled in May." in hit["text"]
