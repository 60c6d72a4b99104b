"""Checks of several stores, and repairs in the one that a finding is of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from trivium.graph.findings import Finding
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Passage, Progress


@dataclass(frozen=True, slots=True)
class _Of:
    """The finding of one of the stores."""

    number: int
    finding: Finding


class ShardedChecker:
    """The :class:`trivium.graph.protocols.StoreChecker` of several stores."""

    def __init__(self, shards: Sequence[GraphStore]) -> None:
        self._shards = shards
        self._checkers = [shard.checker() for shard in shards]

    def check(self, progress: Progress | None = None) -> list[Finding]:
        return [
            replace(finding, problem=f"{finding.problem} (in {shard.location})", keys=(_Of(number, finding),))
            for number, (shard, checker) in enumerate(zip(self._shards, self._checkers, strict=True))
            for finding in checker.check(progress)
        ]

    def repair(self, findings: Sequence[Finding]) -> None:
        """See the protocol. What is not the finding of one store is given to all: they skip pages of others."""
        for number, checker in enumerate(self._checkers):
            own = [part for finding in findings for part in _parts(finding, number)]
            if own:
                checker.repair(own)

    def page_digests(self) -> dict[str, str]:
        return {uri: digest for checker in self._checkers for uri, digest in checker.page_digests().items()}

    def sum_pages(self, digests: Mapping[str, str]) -> None:
        for checker in self._checkers:
            checker.sum_pages(digests)

    def drop_vectors(self, texts: Sequence[str]) -> None:
        for checker in self._checkers:
            checker.drop_vectors(texts)

    def drop_sentences(self, passages: Sequence[Passage]) -> None:
        for checker in self._checkers:
            checker.drop_sentences(passages)


def _parts(finding: Finding, number: int) -> list[Finding]:
    """Return what of a finding concerns a store."""
    of = [key for key in finding.keys if isinstance(key, _Of)]
    return [key.finding for key in of if key.number == number] if of else [finding]
