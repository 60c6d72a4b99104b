"""The checker of a store in dictionaries, where nothing is ever damaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.fakes.memory_graph import MemoryGraph
from tests.fakes.memory_vectors import MemoryVectors
from trivium.graph.findings import PAGES, Finding
from trivium.graph.pages import page_digest
from trivium.graph.records import Progress


class MemoryChecker:
    """See the module's docstring."""

    def __init__(self, graph: MemoryGraph, vectors: MemoryVectors) -> None:
        self._graph, self._vectors = graph, vectors

    def check(self, progress: Progress | None = None) -> list[Finding]:
        return []

    def repair(self, findings: Sequence[Finding]) -> None:
        for uri in (uri for finding in findings if finding.kind == PAGES for uri in finding.where):
            self._graph.pages[uri] = replace(self._graph.pages[uri], content_hash="", revision=None)

    def page_digests(self) -> dict[str, str]:
        return {uri: page_digest(page) for uri, page in self._graph.pages.items()}

    def drop_vectors(self, texts: Sequence[str]) -> None:
        self._vectors.drop(texts)
