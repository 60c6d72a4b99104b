"""Processes a shard on any machine: parses it, embeds it. Existing results are reused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np

from trivium.common.fetching import package_version
from trivium.embedding.base import Embedder, Vectors
from trivium.embedding.fill import fill, fill_parts
from trivium.errors import ConfigurationError
from trivium.graph.build import RULES
from trivium.graph.model import PageGraph
from trivium.graph.records import Codes, Passage
from trivium.graph.schema import entity_text, headings_of
from trivium.graph.sentences import sentence_texts
from trivium.index.late import chunk_texts
from trivium.index.parsing import ParserPool
from trivium.index.sharding.files import (
    Embedded,
    ShardFolder,
    read_pages,
    wait_for,
    write_embedded,
    write_pages,
)
from trivium.index.sharding.shards import PageShard, TextShard, digest
from trivium.limits import InputLimits
from trivium.parser.sources.base import Problem
from trivium.types import EmbedderIdentity


@dataclass(frozen=True)
class Work:
    """The common parameters of a build's shards. ``version`` is that of Trivium, ``cwd`` the folder to which source
    paths are relative. ``embedder`` is a name or a custom embedder, and ``identity`` the required identity; both are
    None if nothing is embedded. ``device`` is where each machine embeds.
    """

    folder: Path
    cwd: str
    limits: InputLimits
    chunker: str
    embedder: str | Embedder | None = None
    identity: EmbedderIdentity | None = None
    sentences: bool = True
    device: str | None = None
    version: str = field(default_factory=package_version)

    @cached_property
    def parsed_by(self) -> str:
        """Identifies what pages depend on besides their documents."""
        return digest([self.version, RULES, self.cwd, self.chunker, self.limits.model_dump(mode="json")])

    @cached_property
    def embedded_by(self) -> str:
        """Identifies what vectors depend on besides their texts."""
        own = self.identity
        assert own is not None
        return digest([own.name, own.version, own.dimension, self.sentences])[:12]

    @property
    def shards(self) -> ShardFolder:
        """The folder of the files."""
        return ShardFolder(self.folder)

    def is_parsed(self, shard: PageShard) -> bool:
        """Whether the pages of a shard exist."""
        return self.shards.parsed(shard.key) is not None

    def is_embedded(self, shard: PageShard | TextShard) -> bool:
        """Whether the vectors of a shard exist, or none are needed."""
        return self.identity is None or self.shards.vectors(shard.key, self.embedded_by).exists()


class Runner(Protocol):
    """Processes the shards of a build, all of them, in the given order."""

    def parse(self, shards: Iterable[PageShard]) -> Iterator[PageShard]:
        """Yield each shard when its pages are available; it may still have to be embedded. Shards are read from the
        iterable a few ahead. Raises TriviumError if a shard fails.
        """
        ...

    def finish(self) -> None:
        """Wait until all parsed shards are embedded. Raises TriviumError."""
        ...

    def embed(self, shards: Iterable[TextShard]) -> Iterator[TextShard]:
        """Yield each shard when its vectors are available. Raises TriviumError."""
        ...


def parse_shard(work: Work, shard: PageShard, pool: ParserPool) -> None:
    """Parse a shard unless its pages exist. Even a few documents are parsed in separate processes with limits of
    memory and time, so that one that crashes its process affects no other.
    """
    if not work.is_parsed(shard):
        with closing(pool.parse(shard.items)) as outcomes:
            write_pages(work.shards, shard.key, outcomes)


def embed_shard(work: Work, shard: PageShard | TextShard, embedder: Embedder) -> None:
    """Embed a shard unless its vectors exist. The pages of a page shard must exist."""
    if work.is_embedded(shard):
        return
    texts: Sequence[str]
    passages: Sequence[Passage]
    if not isinstance(shard, TextShard):
        graphs = list(_pages_of(work, shard.key))
        texts = list(dict.fromkeys(text for graph in graphs for text in page_texts(graph)))
        wanted = work.sentences
        passages = list(dict.fromkeys(p for graph in graphs for p in _passages(graph))) if wanted else []
    else:
        texts, passages = shard.texts, shard.passages
    vectors: list[Vectors] = [np.empty((0, embedder.identity.dimension), np.float32)]
    codes: list[Codes] = []
    fill(texts, embedder, lambda _, rows: vectors.append(rows))
    fill_parts(passages, sentence_texts, embedder, lambda _, rows: codes.extend(rows))
    path = work.shards.vectors(shard.key, work.embedded_by)
    write_embedded(path, Embedded(texts, np.concatenate(vectors), passages, codes))


def page_texts(graph: PageGraph) -> Iterator[str]:
    """Iterate over the texts of a page that are embedded whatever else is in the store. Cited and related entities
    are not included: many pages name the same ones, and some are aliases of pages.
    """
    yield from chunk_texts(graph)
    yield entity_text(graph.uri)
    yield from (section.uri for section in graph.sections)


def _passages(graph: PageGraph) -> Iterator[Passage]:
    return (Passage(tuple(headings_of(chunk.parent)), chunk.text) for chunk in graph.chunks)


def _pages_of(work: Work, key: str) -> Iterator[PageGraph]:
    """Iterate over the pages of a parsed shard."""
    for outcome in read_pages(parsed_file(work, key)):
        if not isinstance(outcome, Problem):
            yield from outcome


def parsed_file(work: Work, key: str) -> Path:
    """Return the file of a parsed shard, which may have been written by another machine a moment ago. Raises
    ConfigurationError if it does not appear.
    """
    found = work.shards.parsed(key)
    if found is None:  # the common case first: a shared folder may take a while to show it
        wait_for(work.shards.pages(key), work.shards.faulty(key))
        found = work.shards.parsed(key)
    if found is None:
        raise ConfigurationError(
            f"a shard was written to {work.folder} on another machine, and is not there: the folder of the shards must be"
            " one that all nodes see"
        )
    return found
