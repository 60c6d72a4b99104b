"""What an installed Trivium is made of: ``sbom.json`` (CycloneDX 1.6) and ``licences.md``, a table to read.

Run by the Python of the environment that is described (``make sbom``)::

    .venv/bin/python tools/sbom.py --extras serve,mcp --out build

Only the package and what it needs at run time with the named extras is listed, whatever else is installed. Works
offline. Exits with 1 where a part declares no licence, or one of those that would bind whoever passes it on (GPL, AGPL).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Collection, Sequence
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
UNDECLARED = {
    "keras": "Apache-2.0",
    "namex": "Apache-2.0",
    "protobuf": "BSD-3-Clause",
    "py-rust-stemmers": "MIT",
    "pypdfium2": "BSD-3-Clause",
    "pysocks": "BSD-3-Clause",
    "tiktoken": "MIT",
}
"""Of packages whose metadata names no licence that a program understands: what the licence file inside says."""
_BINDING = re.compile(r"\bA?GPL|(?<!Lesser )General Public License", re.IGNORECASE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write both files; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--extras", default="serve", help="comma-separated  [default: serve]")
    parser.add_argument("--out", type=Path, default=ROOT / "build", help="folder  [default: build]")
    options = parser.parse_args(arguments)
    extras = [extra for extra in options.extras.split(",") if extra]
    bom = restrict(of_environment(), runtime_parts(extras))
    text = json.dumps(bom, indent=2, ensure_ascii=False) + "\n"
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if fault is not None:
        print(f"the list is not valid CycloneDX: {fault}", file=sys.stderr)
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "sbom.json").write_text(text, "utf-8")
    (options.out / "licences.md").write_text(licence_table(bom, extras), "utf-8")
    wrong = refused(bom)
    for part in wrong:
        print(part, file=sys.stderr)
    print(f"{len(bom['components'])} parts: {options.out / 'sbom.json'}, {options.out / 'licences.md'}")
    return 1 if wrong else 0


def runtime_parts(extras: Sequence[str]) -> set[str]:
    """Names of the packages that the package needs with the extras here, directly or not. Raises SystemExit where one is
    not installed."""
    declared = project()
    unknown = set(extras) - set(declared["optional-dependencies"])
    if unknown:
        raise SystemExit(f"expected extras of {', '.join(declared['optional-dependencies'])}, got {unknown}")
    lists = [declared["dependencies"], *(declared["optional-dependencies"][extra] for extra in extras)]
    return closure([line for lines in lists for line in lines])


def project() -> dict[str, Any]:
    """What pyproject.toml says of the package."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return table


def closure(lines: Sequence[str], without: Collection[str] = ()) -> set[str]:
    """Names of the packages that requirements ask for, and of those that these need; not those of ``without``, nor what
    only they need. Raises SystemExit where one is not installed."""
    waiting = [(Requirement(line), "") for line in lines]
    seen: set[tuple[str, str]] = set()
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        if name in without:
            continue
        for wanted in ("", *requirement.extras):
            if (name, wanted) in seen:
                continue
            seen.add((name, wanted))
            try:
                waiting += [(Requirement(line), wanted) for line in requires(name) or ()]
            except PackageNotFoundError:
                raise SystemExit(
                    f"{name} is not installed: run this in an environment that has what it lists"
                ) from None
    return {name for name, _ in seen}


def of_environment() -> dict[str, Any]:
    """All that is installed beside this Python, as CycloneDX."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "sbom.json")
        subprocess.run(
            [
                *(sys.executable, "-m", "cyclonedx_py", "environment"),
                *("--pyproject", str(ROOT / "pyproject.toml"), "--mc-type", "library"),
                # The part of it that is kept is validated.
                *("--spec-version", "1.6", "--output-reproducible", "--no-validate"),
                *("--output-file", str(target), sys.executable),
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        bom: dict[str, Any] = json.loads(target.read_text("utf-8"))
        return bom


def restrict(bom: dict[str, Any], parts: set[str]) -> dict[str, Any]:
    """Only those parts and what is between them, each with a licence where one is known."""
    components = [part for part in bom["components"] if canonicalize_name(part["name"]) in parts]
    for part in components:
        known = UNDECLARED.get(canonicalize_name(part["name"]))
        if not part.get("licenses") and known is not None:
            part["licenses"] = [{"license": {"id": known, "acknowledgement": "concluded"}}]
    root = bom["metadata"]["component"]["bom-ref"]
    kept = {root, *(part["bom-ref"] for part in components)}
    links = [
        {**link, "dependsOn": [ref for ref in link.get("dependsOn", ()) if ref in kept]}
        for link in bom["dependencies"]
        if link["ref"] in kept
    ]
    return {**bom, "components": components, "dependencies": links}


def licence(part: dict[str, Any]) -> str:
    """What a part declares, in one line; an empty text where it declares nothing."""
    found = []
    for entry in part.get("licenses") or ():
        one = entry.get("license", {})
        found.append(entry.get("expression") or one.get("id") or one.get("name", "").rpartition(" :: ")[2])
    # Packages often say the same twice, exactly and by a classifier.
    exact = [text for text in found if " License" not in text]
    return "; ".join(dict.fromkeys(exact or found))


def refused(bom: dict[str, Any]) -> list[str]:
    """A sentence for each part that cannot be passed on under this project's own licence."""
    faults = []
    for part in bom["components"]:
        terms = licence(part)
        if not terms:
            faults.append(
                f"{part['name']} {part['version']} declares no licence: read its licence file and name it in UNDECLARED"
            )
        elif _BINDING.search(terms) and " OR " not in terms:
            faults.append(f"{part['name']} {part['version']} is under {terms}")
    return faults


def licence_table(bom: dict[str, Any], extras: Sequence[str]) -> str:
    """Markdown: one line a part."""
    named = f" with {', '.join(extras)}" if extras else ""
    lines = [f"# Licences of what Trivium{named} needs", "", "| part | version | licence |", "|---|---|---|"]
    parts = sorted(bom["components"], key=lambda part: canonicalize_name(part["name"]))
    lines += [f"| {part['name']} | {part['version']} | {licence(part)} |" for part in parts]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
