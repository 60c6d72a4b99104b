"""Packages with entry points, as pip would have left them in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

REVERSED = """
from trivium.retrievers.vector_retrievers import VectorRetriever


class Reversed(VectorRetriever):
    name = "reversed"

    def __init__(self, values):
        super().__init__()
        self.__dict__["sign"] = values.get("sign", -1)

    def retrieve(self, query, depth=None):
        return super().retrieve(query, depth)[:: self.sign]
"""
"""A retriever to declare: what ``vector`` finds, the other way round unless its setting ``sign`` is 1."""


def install_package(
    folder: Path, package: str, entry_points: Mapping[str, str], code: str = "", *, group: str
) -> None:
    """Put a module and the record of its installation into ``folder``, which has to be on ``sys.path``. Module names must
    differ from test to test, since imported modules stay."""
    (folder / f"{package}.py").write_text(code)
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {value}" for name, value in entry_points.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]) + "\n")
