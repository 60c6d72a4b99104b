"""A reranker used as a retriever, as an additional view of relevance for a fusion."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from trivium.common.arrays import Floats
from trivium.errors import RerankError
from trivium.graph.schema import headings_as_text
from trivium.rerank.reranker import RerankCandidate, Reranker, RerankSettings
from trivium.rerank.reranker_names import PREFIX
from trivium.rerank.time_limit import score_within
from trivium.retrievers.diffusion import DiffusionRetriever
from trivium.retrievers.query import Candidate, Query, Retriever, check_depth, ranked

_log = logging.getLogger(__name__)


def rerank_candidates(
    query: Query, ranking: Sequence[tuple[str, float]], views: Mapping[str, Retriever]
) -> list[RerankCandidate]:
    """Create the candidates for chunks with their search scores: texts, and scores of the ``views``. Diffusion, whose
    scores depend on a list, takes these chunks as its list.
    """
    uris = [uri for uri, _ in ranking]
    if not uris:
        return []
    scores = {
        name: (
            one.score_list(query, ranking) if isinstance(one, DiffusionRetriever) else one.score(query, uris)
        ).tolist()
        for name, one in views.items()
    }
    return [
        RerankCandidate(
            uri=uri,
            headings=tuple(headings_as_text(record.section)),
            text=record.text,
            score=score,
            views={name: values[row] for name, values in scores.items()},
        )
        for row, ((uri, score), record) in enumerate(zip(ranking, query.store.fetch(uris), strict=True))
    ]


@dataclass(frozen=True, eq=False)
class RerankRetriever:
    """Scores the chunks that other retrievers found. Its own candidates are the chunks closest to the question and
    those that share its words, ``settings.passages`` of each, ordered by its scores. If the reranker fails, the
    question loses only this view, and the failure is logged as a warning.
    """

    reranker: Reranker
    views: Mapping[str, Retriever]
    settings: RerankSettings = field(default_factory=RerankSettings)

    @property
    def name(self) -> str:
        """``rerank:`` followed by the reranker's name."""
        return PREFIX + self.reranker.name

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        check_depth(depth)
        count = self.settings.passages
        near = [neighbour.uri for neighbour in query.closest_chunks(count)]
        matching = query.store.keyword_search(query.terms, count) if query.terms else []
        found = list(dict.fromkeys([*near, *matching]))
        scores = self.score(query, found)
        known = [Candidate(uri, score) for uri, score in zip(found, scores.tolist(), strict=True)]
        return ranked([one for one in known if not np.isnan(one.score)], count if depth is None else depth)

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        """NaN for all chunks if the reranker fails."""
        if not self.reranker.independent:
            return self._scores(query, chunks)
        known: dict[str, float] = query.memoize((self, "scores"), dict)
        new = [uri for uri in dict.fromkeys(chunks) if uri not in known]
        known.update(zip(new, self._scores(query, new).tolist(), strict=True))
        return np.array([known[uri] for uri in chunks], dtype=np.float64)

    def _scores(self, query: Query, chunks: Sequence[str]) -> Floats:
        candidates = rerank_candidates(query, [(uri, 0.0) for uri in chunks], self.views)
        try:
            scores = score_within(self.reranker, query.text, candidates, self.settings.seconds)
        except RerankError as error:
            _log.warning("%s: %s, going on without", self.name, error)
            return np.full(len(chunks), np.nan)
        return np.array(scores, dtype=np.float64)
