"""What is done with a shard, on whatever machine: parse it, embed it. Each is done once: what is there is left alone."""

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
    """What all shards of a build have in common. ``version`` is that of Trivium, ``cwd`` the folder that paths of
    sources are relative to. ``embedder`` is a name, or an embedder of the caller's own, and ``identity`` what it must
    be; both are None where nothing is embedded. ``device`` is where each machine embeds."""

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
        """Names what pages hang on besides their documents."""
        return digest([self.version, RULES, self.cwd, self.chunker, self.limits.model_dump(mode="json")])

    @cached_property
    def embedded_by(self) -> str:
        """Names what vectors hang on besides their texts."""
        own = self.identity
        assert own is not None
        return digest([own.name, own.version, own.dimension, self.sentences])[:12]

    @property
    def shards(self) -> ShardFolder:
        """Where the files are."""
        return ShardFolder(self.folder)

    def is_embedded(self, shard: PageShard | TextShard) -> bool:
        """Whether the vectors of a shard are there, or none are wanted."""
        return self.identity is None or self.shards.vectors(shard.key, self.embedded_by).exists()


class Runner(Protocol):
    """Has the shards of a build made: all that is asked for, in the order asked for."""

    def parse(self, shards: Iterable[PageShard]) -> Iterator[PageShard]:
        """The shards, each when its pages are there; it may still have to be embedded. Shards are taken from the iterable
        a few ahead. Raises TriviumError where a shard cannot be made."""
        ...

    def finish(self) -> None:
        """Wait until the shards that were parsed are embedded. Raises TriviumError."""
        ...

    def embed(self, shards: Iterable[TextShard]) -> Iterator[TextShard]:
        """The shards, each when its vectors are there. Raises TriviumError."""
        ...


def parse_shard(work: Work, shard: PageShard, pool: ParserPool) -> None:
    """Have the pages of a shard be there. Documents are parsed in processes apart, however few, within their limits of
    memory and time: one that kills its process costs only itself."""
    if work.shards.parsed(shard.key) is None:
        with closing(pool.parse(shard.items)) as outcomes:
            write_pages(work.shards, shard.key, outcomes)


def embed_shard(work: Work, shard: PageShard | TextShard, embedder: Embedder) -> None:
    """Have the vectors of a shard be there; of a page shard the pages have to be."""
    if work.is_embedded(shard):
        return
    texts: Sequence[str]
    passages: Sequence[Passage]
    if isinstance(shard, PageShard):
        graphs = list(_graphs(work, shard))
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
    """What of a page is embedded whatever else is in the store. What it cites or is related to is not: many pages name
    the same things, and some of these are other names of pages."""
    yield from chunk_texts(graph)
    yield entity_text(graph.uri)
    yield from (section.uri for section in graph.sections)


def _passages(graph: PageGraph) -> Iterator[Passage]:
    return (Passage(tuple(headings_of(chunk.parent)), chunk.text) for chunk in graph.chunks)


def _graphs(work: Work, shard: PageShard) -> Iterator[PageGraph]:
    for outcome in read_pages(parsed_file(work, shard)):
        if not isinstance(outcome, Problem):
            yield from outcome


def parsed_file(work: Work, shard: PageShard) -> Path:
    """The pages of a shard that has been parsed, maybe by another machine a moment ago. Raises ConfigurationError where
    they do not come in sight."""
    found = work.shards.parsed(shard.key)
    if found is None:  # the usual one first: a folder of several machines may take a while to show it
        wait_for(work.shards.pages(shard.key), work.shards.faulty(shard.key))
        found = work.shards.parsed(shard.key)
    if found is None:
        raise ConfigurationError(
            f"a shard was written to {work.folder} on another machine, and is not there: the folder of the shards must be"
            " one that all nodes see"
        )
    return found
