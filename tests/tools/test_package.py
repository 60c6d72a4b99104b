"""What is published: the files of wheel and sdist, what a package index shows of them, and the workflow that does it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest
import yaml

import trivium
from tools import package

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", folder], cwd=ROOT, check=True, timeout=120
    )
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def metadata(built: tuple[Path, Path]) -> Message:
    with zipfile.ZipFile(built[1]) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def test_wheel_and_sdist_hold_their_tracked_files_the_loops_and_nothing_else(
    built: tuple[Path, Path],
) -> None:
    """No tests, no experiments, nothing that happened to lie there."""
    sdist, wheel = built
    assert package.faults_of_sdist(sdist) == [] and package.faults_of_wheel(wheel) == []
    assert package.libraries()
    with zipfile.ZipFile(wheel) as archive:
        assert package.libraries() <= set(archive.namelist())


def test_a_file_too_many_and_a_library_too_few_are_found(built: tuple[Path, Path], tmp_path: Path) -> None:
    missing = min(package.libraries())
    spoilt = tmp_path / "spoilt.whl"
    with zipfile.ZipFile(built[1]) as archive, zipfile.ZipFile(spoilt, "w") as copy:
        for name in set(archive.namelist()) - {missing}:
            copy.writestr(name, archive.read(name))
        copy.writestr("tests/test_engine.py", "")
    assert package.faults_of_wheel(spoilt) == [
        "spoilt.whl contains tests/test_engine.py, which is no tracked file that belongs there",
        f"spoilt.whl lacks {missing}",
    ]


def test_the_wheel_serves_every_python_of_its_platform(built: tuple[Path, Path], metadata: Message) -> None:
    assert re.fullmatch(r"trivium-[\d.]+-py3-none-(?!any)\w+\.whl", built[1].name)
    assert metadata["Version"] == trivium.__version__


def test_links_and_pictures_of_the_description_work_outside_the_repository(metadata: Message) -> None:
    """Each is an address, and that of a file of the repository names one that is there."""
    text = str(metadata.get_payload())
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert len(targets) > 10
    assert [target for target in targets if not re.match("https?://|#", target)] == []
    (repository,) = (
        line.partition(", ")[2]
        for line in metadata.get_all("Project-URL", [])
        if line.startswith("Repository, ")
    )
    version = f"v{metadata['Version']}"
    for target in targets:
        if target.startswith(f"{repository}/"):
            _, named, path = target.removeprefix(f"{repository}/").partition("#")[0].split("/", 2)
            assert named == version and (ROOT / path).exists(), target


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_what_a_workflow_runs_of_others_is_named_by_its_digest(workflow: Path) -> None:
    """With the version beside it, for people; a tag could be moved."""
    used = re.findall(r"uses: (?!\./)(.+)", workflow.read_text("utf-8"))
    assert used
    for line in used:
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_only_a_tag_publishes_and_only_what_was_tested_and_tried() -> None:
    """The right to publish is that of one job, in an environment of its own, which runs nothing of the repository."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "publish.yml").read_text("utf-8"))
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML takes the key `on` for true
    assert workflow["permissions"] == {"contents": "read"}
    jobs = workflow["jobs"]
    assert [name for name, job in jobs.items() if "permissions" in job] == ["publish"]
    assert (
        jobs["publish"]["permissions"] == {"id-token": "write"}
        and jobs["publish"]["environment"]["name"] == "pypi"
    )
    assert jobs["publish"]["needs"] == ["test", "build"] and not any(
        "run" in step for step in jobs["publish"]["steps"]
    )
    assert jobs["test"]["uses"] == "./.github/workflows/test.yml"
    assert any("tools/package.py" in step.get("run", "") for step in jobs["build"]["steps"])


def test_a_published_version_is_that_of_its_tag(tmp_path: Path) -> None:
    """The step of the workflow lets only a version through that the changelog dates."""
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "0.2.0"\n', "utf-8")
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "publish.yml").read_text("utf-8"))
    (check,) = (
        step["run"] for step in workflow["jobs"]["build"]["steps"] if "GITHUB_REF_NAME" in step.get("run", "")
    )
    shell = shutil.which("bash") or "bash"
    for tag, heading, passes in (
        ("v0.2.0", "## 0.2.0 (2026-12-01)", True),
        ("v0.2.1", "## 0.2.1 (2026-12-01)", False),
        ("v0.2.0", "## 0.2.0 (unreleased)", False),
    ):
        (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n", "utf-8")
        done = subprocess.run(
            [shell, "-e", "-c", check],
            cwd=tmp_path,
            env={"GITHUB_REF_NAME": tag, "PATH": "/usr/bin:/bin"},
            check=False,
        )
        assert (done.returncode == 0) is passes, (tag, heading)
