"""Measure the required packages anew: the table of ``docs/reference/packages.md``, whose reasons are kept.

Run by the Python of an environment with the versions that are to be measured, from the repository::

    .venv/bin/python -m tools.required_packages

A size is that of a package's files and of those that it brings along, unless they have a row of their own or an earlier
one counts them. The commands are those of all of these. Nothing is fetched.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import sbom

PAGE = sbom.ROOT / "docs" / "reference" / "packages.md"
ROW = re.compile(
    r"^\| (?P<name>[\w-]+) \| (?P<reason>.+?) \| (?P<size>[\d.]+) \| (?P<commands>.*?) \| (?P<licence>.+) \|$",
    re.M,
)


def main() -> int:
    """Write the page; the exit code."""
    text = PAGE.read_text("utf-8")
    rows = {name: rest for name, *rest in measured()}
    if differing := set(rows) ^ {row["name"] for row in ROW.finditer(text)}:
        print(
            f"expected a row for each required package and no other, see {', '.join(differing)}",
            file=sys.stderr,
        )
        return 1
    text = ROW.sub(lambda row: f"| {row['name']} | {row['reason']} | {' | '.join(rows[row['name']])} |", text)
    total = sum(float(size) for size, *_ in rows.values())
    PAGE.write_text(re.sub(r"together \d+ MB", f"together {total:.0f} MB", text), "utf-8")
    return 0


def measured() -> Iterator[tuple[str, str, str, str]]:
    """Name, megabytes, commands and licence of each required package, in the order of pyproject.toml."""
    licences = {canonicalize_name(part["name"]): sbom.licence(part) for part in parts()}
    required = {Requirement(line).name: line for line in sbom.project()["dependencies"]}
    counted: set[str] = set()
    for name, line in required.items():
        others = {canonicalize_name(other) for other in required if other != name}
        new = sbom.closure([line], without=others) - counted
        counted |= new
        commands = sorted(command for each in new for command in commands_of(each))
        size = sum(map(size_of, new))
        yield (
            name,
            f"{size:.1f}",
            ", ".join(f"`{each}`" for each in commands),
            licences[canonicalize_name(name)],
        )


def parts() -> list[dict[str, object]]:
    """The required packages, and what they need, as components of CycloneDX."""
    return list(sbom.restrict(sbom.of_environment(), sbom.runtime_parts([]))["components"])


def size_of(name: str) -> float:
    """Megabytes of the files of an installed package, without what Python compiled."""
    files = [Path(str(file.locate())) for file in distribution(name).files or () if file.suffix != ".pyc"]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def commands_of(name: str) -> list[str]:
    """The commands that an installed package brings."""
    return [entry.name for entry in distribution(name).entry_points if entry.group == "console_scripts"]


if __name__ == "__main__":
    sys.exit(main())
