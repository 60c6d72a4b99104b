"""Documents as what is found: rankings of passages, and gold passages, turned into documents.

A document is called by its id in a benchmark, else by the title of its page. Runs may name documents so, by their path
(:mod:`trivium.datasets.find_documents`) or by any of their passages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trivium.datasets.find_documents import Documents
from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.report import Ranking
from trivium.graph.protocols import PageReader
from trivium.graph.schema import CHUNK_MARK, page_of

WAYS = ("best", "mean")
"""How documents are scored: by their best passage, or by the mean of their best :data:`MEAN_OF` passages."""
MEAN_OF = 3


def check_way(way: str | None) -> None:
    """Raise InputError for an unknown way."""
    if way is not None and way not in WAYS:
        raise InputError(f"expected documents to be scored by one of {', '.join(WAYS)}, got {way!r}")


class DocumentRankings:
    """Turns what names passages, in one store, into what names documents."""

    def __init__(self, store: PageReader, way: str) -> None:
        self._documents = Documents(store)
        self._way = way

    def named(self, entry: str) -> str:
        """Return the name of the document that an entry of a ranking means, or the entry itself if it means none."""
        documents = self._documents
        page = page_of(entry) if CHUNK_MARK in entry else entry
        for found in ((page,), documents.with_id(entry), documents.named(entry)):
            if len(found) == 1 and found[0] in documents.ids:
                return documents.ids[found[0]]
        return entry

    def names(self) -> list[str]:
        """Return the names of all documents of the store."""
        return list(self._documents.ids.values())

    def gold(self, gold: Gold) -> Gold:
        """Return the documents that hold each part of the gold."""
        groups = [{self.named(chunk) for chunk in group} for group in gold.groups]
        return Gold.of(groups, gold.grades or [1] * len(groups))

    def ranked(self, ranking: Ranking) -> list[tuple[str, float]]:
        """Return the documents of a ranking, best first. For the mean, a document with fewer passages has the score of
        the last one of the ranking for each that is missing; of equal ones the first comes first.
        """
        scores: dict[str, list[float]] = {}
        for entry, score in ranking:
            scores.setdefault(self.named(entry), []).append(score)
        if self._way == "best":
            return [(name, own[0]) for name, own in scores.items()]
        last = ranking[-1][1] if ranking else 0.0
        means = {name: sum([*own, *[last] * MEAN_OF][:MEAN_OF]) / MEAN_OF for name, own in scores.items()}
        return sorted(means.items(), key=lambda pair: -pair[1])

    def of_all(self, rankings: Mapping[str, Sequence[Ranking]]) -> dict[str, list[list[tuple[str, float]]]]:
        """Return the documents of every ranking of every system."""
        return {name: [self.ranked(one) for one in ranked] for name, ranked in rankings.items()}
