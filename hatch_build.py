"""Compiles the loops in C when the package is built or installed: a wheel has them for its platform and any Python.
Also makes the description of a package index from the README."""

from __future__ import annotations

import importlib.util
import platform
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface
from packaging.tags import platform_tags

_HERE = Path(__file__).parent
_COMPILE = _HERE / "trivium" / "native" / "compile.py"
_LINK = re.compile(r"(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)]+)\)")
"""A link or picture of Markdown whose address is a path of the repository."""


def _compiling() -> ModuleType:
    """The module that compiles, without the package around it, which needs what is not installed yet."""
    spec = importlib.util.spec_from_file_location("trivium_native_compile", _COMPILE)
    if spec is None or spec.loader is None:
        raise ImportError(_COMPILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class LoopsInC(BuildHookInterface[Any]):
    """The hook of ``[tool.hatch.build.targets.wheel.hooks.custom]``."""

    def dependencies(self) -> list[str]:
        """A compiler as a package, where the machine has none."""
        return [] if _compiling().compiler() else ["ziglang>=0.14"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and name what was made for the wheel."""
        compiling = _compiling()
        libraries = [compiling.compile_library(compiling.FOLDER, level) for level in compiling.LEVELS]
        if version != "editable":
            places = {str(file): f"trivium/native/compiled/{file.name}" for file in libraries}
            build_data["force_include"] |= places
        build_data["pure_python"] = False
        here = next(platform_tags()).replace("universal2", platform.machine())
        build_data["tag"] = f"py3-none-{here}"


class Description(MetadataHookInterface):
    """The hook of ``[tool.hatch.metadata.hooks.custom]``."""

    def update(self, metadata: dict[str, Any]) -> None:
        """The README, whose paths become addresses of this version in the repository."""
        repository = f"{metadata['urls']['Repository']}/%s/v{metadata['version']}"
        text = _LINK.sub(
            lambda link: f"{link[1]}{link[2]}({repository % ('raw' if link[1] else 'blob')}/{link[3]})",
            (_HERE / "README.md").read_text("utf-8"),
        )
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
