"""What else is known of the candidates of a question: columns for a trained fusion, beside the retrievers' scores.

Everything here is worked out from the question, the words of the chunks, their uris and the links between them; no
language model is asked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from trivium.common.arrays import Floats
from trivium.graph.schema import page_of
from trivium.retrievers.base import Query
from trivium.retrievers.bm25 import BM25Settings, bm25, idf
from trivium.retrievers.signals_of_links import of_links
from trivium.retrievers.signals_of_words import WINDOWS, of_question, of_words, shares
from trivium.retrievers.walk import WalkRetriever, WalkSettings

OWNERS: Mapping[str, str] = {
    "coverage": "lexical",
    "heading_coverage": "lexical",
    "text_coverage": "lexical",
    "distinct": "lexical",
    "rarest_term": "lexical",
    "second_rarest": "lexical",
    **{f"within_{width}": "lexical" for width in WINDOWS},
    "pairs_near": "lexical",
    "pairs_as_asked": "lexical",
    "phrase": "lexical",
    "first_match": "lexical",
    "bm25_text": "lexical",
    "length": "lexical",
    "walk_sharp": "walk",
    "walk_far": "walk",
    "walk_named": "walk",
    "page_named": "entity",
    "cites_named": "entity",
    "from_named": "walk",
    "in_degree": "walk",
    "out_degree": "walk",
    "linking": "walk",
    "linked": "walk",
    "linking_lexical": "walk",
    "linked_lexical": "walk",
    "linking_coverage": "walk",
    "linked_coverage": "walk",
    "linking_union": "walk",
    "linked_union": "walk",
    "union": "walk",
    "union_gain": "walk",
    "links": "walk",
    "page_best": "page",
    "page_candidates": "page",
    "before": "vector",
    "after": "vector",
    "position": "section",
    "depth": "section",
}
"""Signal -> the retriever whose view it sharpens: it shares in that retriever's contribution."""

WALKS: Mapping[str, WalkRetriever] = {
    "walk_sharp": WalkRetriever(WalkSettings(temperature=0.01, damping=0.7)),
    "walk_far": WalkRetriever(WalkSettings(temperature=0.05, entity_share=0.5, damping=0.7)),
    "walk_named": WalkRetriever(WalkSettings(entity_share=1.0)),
}
PARTIAL = ("before", "after", "linking", "linked", "union", "page_best")
"""Signals that say nothing of some candidates; others say nothing of the same ones."""
_NUMBER = re.compile(r"#chunk-(\d+)$")

Signals = dict[str, Floats]


def prepare_words(query: Query) -> None:
    """What the signals want to know of the words of a question."""
    query.term_statistics  # noqa: B018
    if query.named_entities:
        WALKS["walk_named"].prepare(query)


def prepare(query: Query) -> None:
    """What the signals want to know beside that, whatever the candidates are."""
    for walk in WALKS.values():
        walk.prepare(query)


def signals(query: Query, chunks: Sequence[str]) -> tuple[Signals, dict[str, float]]:
    """Columns (n,) of the candidates ``chunks``, NaN where there is nothing to say, and numbers of the question."""
    cosines = np.nan_to_num(query.closeness(chunks), nan=-1.0)
    counts = query.term_counts(chunks)
    statistics = query.term_statistics
    mentioned = ((counts.text > 0) | (counts.headings > 0)) * shares(idf(statistics))
    lexical = bm25(counts, statistics, BM25Settings())
    return {
        **of_words(query, counts, statistics),
        **{name: walk.score(query, chunks) for name, walk in WALKS.items()},
        **of_links(query, query.adjacency, chunks, cosines, lexical, mentioned),
        **_of_places(chunks, cosines),
    }, of_question(query, statistics)


def _of_places(chunks: Sequence[str], cosines: Floats) -> Signals:
    """Where a chunk stands, and what its page and its neighbours are like."""
    rows = {uri: row for row, uri in enumerate(chunks)}
    pages = [page_of(uri) for uri in chunks]
    on_page: dict[str, list[float]] = {}
    for page, cosine in zip(pages, cosines.tolist(), strict=True):
        on_page.setdefault(page, []).append(cosine)
    top = {page: sorted(values, reverse=True)[:2] for page, values in on_page.items()}
    found = {
        name: np.full(len(chunks), np.nan)
        for name in ("page_best", "page_candidates", "before", "after", "position", "depth")
    }
    for row, uri in enumerate(chunks):
        best = top[pages[row]]
        others = best[1:] if cosines[row] == best[0] else best[:1]
        found["page_best"][row] = others[0] if others else np.nan
        found["page_candidates"][row] = math.log1p(len(on_page[pages[row]]))
        found["depth"][row] = uri.count("#") - 1
        match = _NUMBER.search(uri)
        if match is not None:
            number, section = int(match[1]), uri[: match.start()]
            found["position"][row] = math.log(number) if number else 0.0
            for name, step in (("before", -1), ("after", 1)):
                neighbour = rows.get(f"{section}#chunk-{number + step}")
                if neighbour is not None:
                    found[name][row] = cosines[neighbour]
    return found
