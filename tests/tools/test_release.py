"""What a release is made of: its parts and their licences, and the checksums it is installed by."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import required_packages

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DIRECT = [Requirement(line) for line in PROJECT["dependencies"] + PROJECT["optional-dependencies"]["serve"]]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sbom", ROOT / "tools" / "sbom.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def environment(tool: ModuleType) -> dict[str, Any]:
    return tool.of_environment()  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def bom(tool: ModuleType, environment: dict[str, Any]) -> dict[str, Any]:
    return tool.restrict(environment, tool.runtime_parts(["serve"]))  # type: ignore[no-any-return]


def pinned() -> dict[str, str]:
    """The versions of constraints.txt by name."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").split()
    return {canonicalize_name(line.partition("==")[0]): line.partition("==")[2] for line in lines}


def locked() -> dict[str, tuple[str, list[str]]]:
    """Version and sums of each package of requirements-release.txt."""
    entries = (ROOT / "requirements-release.txt").read_text("utf-8").replace("\\\n", " ").splitlines()
    found = {}
    for entry in entries:
        requirement, *hashes = entry.split(" --hash=")
        name, version = requirement.partition(";")[0].strip().split("==")
        found[canonicalize_name(name)] = (version, [each.strip() for each in hashes])
    return found


def test_the_list_of_parts_holds_all_that_is_needed_at_run_time_and_nothing_else(
    tool: ModuleType, bom: dict[str, Any]
) -> None:
    """Every dependency, directly or not, with version and licence; no tool of development."""
    parts = {canonicalize_name(part["name"]): part for part in bom["components"]}
    assert {canonicalize_name(each.name) for each in DIRECT} <= set(parts)
    assert {"protobuf", "starlette", "flatbuffers"} <= set(parts)  # of dependencies
    assert not {"pytest", "mypy", "mkdocs", "cyclonedx-bom"} & set(parts)
    assert all(part["version"] and tool.licence(part) for part in parts.values())
    assert len(tool.licence_table(bom, ["serve"]).splitlines()) == 4 + len(parts)
    links = {link["ref"]: link.get("dependsOn", []) for link in bom["dependencies"]}
    assert set().union(*links.values()) <= set(links)
    direct = {canonicalize_name(ref.partition("==")[0]) for ref in links["root-component"]}
    assert {canonicalize_name(each.name) for each in DIRECT} <= direct


def test_the_list_of_parts_is_valid_cyclonedx(tool: ModuleType, environment: dict[str, Any]) -> None:
    """By its published schema; a few parts stand for all, which `make sbom` validates."""
    # Here, as they take a second of every process of a run.
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    some = tool.restrict(environment, {"numpy", "protobuf", "neo4j"})
    assert len(some["components"]) == 3 and some["specVersion"] == "1.6"
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(json.dumps(some)) is None
    assert validator.validate_str(json.dumps({**some, "components": [{"name": "x"}]})) is not None


def test_no_part_is_under_a_licence_that_binds_whoever_passes_it_on(
    tool: ModuleType, bom: dict[str, Any]
) -> None:
    """And one that were would be found, as would one without a licence."""
    assert tool.refused(bom) == []
    declared: list[tuple[list[dict[str, Any]], bool]] = [
        ([{"expression": "GPL-3.0-or-later"}], True),
        ([{"license": {"id": "AGPL-3.0-only"}}], True),
        ([{"license": {"name": "License :: OSI Approved :: GNU General Public License v3 (GPLv3)"}}], True),
        ([], True),
        ([{"license": {"id": "LGPL-3.0-only"}}], False),
        ([{"expression": "GPL-2.0-only OR MIT"}], False),
    ]
    for licenses, wrong in declared:
        part = {"name": "part", "version": "1", "licenses": licenses}
        assert bool(tool.refused({"components": [part]})) is wrong, licenses


def test_the_page_on_required_packages_has_a_row_for_each(tool: ModuleType, bom: dict[str, Any]) -> None:
    """In the order of pyproject.toml, with the licence that it declares; the sizes sum up to the one named above. Every
    command that comes with a required package is named."""
    page = (ROOT / "docs" / "reference" / "packages.md").read_text("utf-8")
    rows = [row.group("name", "size", "commands", "licence") for row in required_packages.ROW.finditer(page)]
    declared = {canonicalize_name(part["name"]): tool.licence(part) for part in bom["components"]}
    names = [Requirement(line).name for line in PROJECT["dependencies"]]
    assert [(name, licence) for name, *_, licence in rows] == [
        (name, declared[canonicalize_name(name)]) for name in names
    ]
    assert f"together {sum(float(size) for _, size, *_ in rows):.0f} MB" in page
    needed = tool.runtime_parts([])
    assert sorted(command for part in needed for command in required_packages.commands_of(part)) == sorted(
        command for _, _, commands, _ in rows for command in re.findall("`(.+?)`", commands)
    )


def test_a_release_is_installed_by_checksums_of_the_versions_that_are_tested(bom: dict[str, Any]) -> None:
    """Each part at the version of constraints.txt, which meets pyproject.toml, with the sums of its files."""
    lock, constraints = locked(), pinned()
    for requirement in DIRECT:
        version, _ = lock[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version, prereleases=True), requirement
    assert {canonicalize_name(part["name"]) for part in bom["components"]} <= set(lock)
    for name, (version, hashes) in lock.items():
        assert constraints[name] == version, name
        assert hashes and all(re.fullmatch("sha256:[0-9a-f]{64}", each) for each in hashes), name


def test_no_address_of_an_index_is_in_the_lock_file() -> None:
    """Who installs chooses where from."""
    text = (ROOT / "requirements-release.txt").read_text("utf-8")
    assert not re.search(r"://|index|find-links|\bfrom\b", text)
