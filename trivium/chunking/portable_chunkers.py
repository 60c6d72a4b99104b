"""Chunkers that need no model and can run in any process."""

from __future__ import annotations

from dataclasses import dataclass

from trivium.chunking import split_by_length as split_text
from trivium.chunking.chunker import Chunker, Cut, recut
from trivium.chunking.chunker_spec import DEFAULT, ChunkerSpec, parse_spec
from trivium.chunking.merge_short_blocks import joined
from trivium.errors import ConfigurationError
from trivium.types import Page


@dataclass(frozen=True, slots=True)
class Blocks:
    """The default: each paragraph, list or table as parsed, with long ones split. In formats other than encyclopaedia
    pages, consecutive short blocks of a section are merged (:func:`~trivium.chunking.merge_short_blocks.joined`).
    """

    portable = True

    @property
    def spec(self) -> str:
        return DEFAULT

    def rechunk(self, page: Page) -> Page:
        return joined(page)


@dataclass(frozen=True, slots=True)
class ByLength:
    """Splits the text of each section by the sizes of a spec: ``fixed``, ``sentence`` or ``recursive``."""

    wanted: ChunkerSpec

    portable = True

    @property
    def spec(self) -> str:
        return str(self.wanted)

    def rechunk(self, page: Page) -> Page:
        return recut(page, cut_of(self.wanted))


BLOCKS: Chunker = Blocks()


def cut_of(spec: ChunkerSpec) -> Cut:
    """Return the splitting function of a ``fixed``, ``sentence`` or ``recursive`` spec."""
    size, overlap = spec.size or 0, spec.overlap
    if spec.name == "fixed" and spec.characters:
        return lambda text: split_text.by_characters(text, size, overlap)
    if spec.name == "fixed":
        return lambda text: split_text.by_tokens(text, size, overlap)
    if spec.name == "sentence":
        return lambda text: split_text.by_sentences(text, size)
    return lambda text: split_text.recursively(text, size)


def needs_model(spec: str) -> bool:
    """Whether a chunker needs an embedder or a language model."""
    return parse_spec(spec).name in ("semantic", "agentic")


def portable_chunker(spec: str) -> Chunker:
    """Create a chunker that can run in any process. Raises InputError for an unknown spec, and ConfigurationError for
    one that needs a model.
    """
    wanted = parse_spec(spec)
    if wanted.name == DEFAULT:
        return BLOCKS
    if needs_model(spec):
        raise ConfigurationError(f"the chunker {wanted.name} asks a model, which this process does not have")
    return ByLength(wanted)
