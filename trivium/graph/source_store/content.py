"""All that a search reads of a source of truth, in one state."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trivium.graph.arrays.held import Facts, HeldStore, made_index
from trivium.graph.arrays.rows_by_uri import (
    KeyedChunk,
    KeyedEntity,
    KeyedNodes,
    KeyedRows,
    KeyedSection,
    Nodes,
)
from trivium.graph.model import RelationEdge
from trivium.graph.property_graph import names_of
from trivium.graph.records import Vectors
from trivium.graph.source_store.graph import Graph, chunk_text
from trivium.settings.settings import load_settings
from trivium.types import EmbedderIdentity


@dataclass(frozen=True)
class Searchable:
    """A graph with the vectors (bytes) of its texts and of the sentences of its chunks, by text."""

    graph: Graph
    texts: Mapping[str, bytes]
    sentences: Mapping[str, bytes]
    dimension: int

    @cached_property
    def held(self) -> HeldStore[None]:
        """The index and what else a search reads."""
        rows = KeyedRows(self.nodes(), self.dimension)
        return HeldStore(None, made_index(rows, "", load_settings().approximate_from), self._facts())

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors (n, d) of texts, NaN without one."""
        found = np.full((len(texts), self.dimension), np.nan, dtype=np.float32)
        for row, text in enumerate(texts):
            if text in self.texts:
                found[row] = np.frombuffer(self.texts[text], dtype="<f4")
        return found

    def nodes(self) -> KeyedNodes:
        """Return all nodes of the index."""
        graph = self.graph
        texts = [chunk_text(chunk) for _, chunk in graph.chunks.values()]
        chunks = [
            KeyedChunk(
                chunk.uri,
                page.uri,
                chunk.parent,
                chunk.position,
                " ".join(chunk.heading_terms.split()),
                " ".join(chunk.terms.split()),
                graph.cited[chunk.uri],
                chunk.kind,
                chunk.pages or (0, 0),
                self.sentences.get(text, b""),
            )
            for text, (page, chunk) in zip(texts, graph.chunks.values(), strict=True)
        ]
        sections = [
            KeyedSection(uri, page.uri, section.position) for uri, (page, section) in graph.sections.items()
        ]
        entities = [KeyedEntity(uri, uri in graph.pages) for uri in graph.entities]
        return KeyedNodes(
            Nodes.of(chunks, [self.vectors(texts)], self.dimension),
            Nodes.of(sections, [self.vectors(list(graph.sections))], self.dimension),
            Nodes.of(entities, [self.vectors(list(graph.entities.values()))], self.dimension),
        )

    def _facts(self) -> Facts:
        graph = self.graph
        relations: dict[str, list[RelationEdge]] = {}
        for edge in graph.relations:
            relations.setdefault(edge.source, []).append(edge)
        return Facts(
            chunks={
                uri: (
                    chunk.text,
                    chunk.kind,
                    chunk.start,
                    chunk.end,
                    chunk.token_count,
                    *(chunk.pages or (None, None)),
                )
                for uri, (_, chunk) in graph.chunks.items()
            },
            pages={record.uri: record for record in graph.records},
            names={uri: names_of(uri) for uri in graph.entities},
            relations=relations,
            aliases={alias: (*names_of(alias), page) for alias, page in graph.aliases.items()},
            types=dict(zip(graph.relation_types, self.vectors(graph.relation_types), strict=True)),
        )


@dataclass(frozen=True)
class Content:
    """What a source of truth holds in the state ``key``."""

    key: Hashable
    settings: Mapping[str, str]
    searchable: Searchable
    pictures: Mapping[str, bytes]

    def embedder(self, name: str) -> EmbedderIdentity | None:
        """Return the embedder that a setting names."""
        value = self.settings.get(name)
        return None if value is None else EmbedderIdentity(**json.loads(value))
