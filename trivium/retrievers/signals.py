"""What else is known of the candidates of a question: columns for a trained fusion, beside the retrievers' scores.

Everything here is worked out from the question, the words of the chunks, their uris and the links between them; no
language model is asked.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from trivium.graph.schema import page_of
from trivium.graph.store import Adjacency, Floats, TermCounts
from trivium.retrievers.base import Query
from trivium.retrievers.bm25 import BM25Settings, bm25, idf
from trivium.retrievers.walk import WalkRetriever, WalkSettings

OWNERS: Mapping[str, str] = {
    "coverage": "lexical",
    "heading_coverage": "lexical",
    "text_coverage": "lexical",
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
    "page_best": "page",
    "page_candidates": "page",
    "before": "vector",
    "after": "vector",
    "position": "section",
    "depth": "section",
}
"""Signal -> the retriever whose view it sharpens: it shares in that retriever's contribution."""

WALKS: Mapping[str, WalkSettings] = {
    "walk_sharp": WalkSettings(temperature=0.01, damping=0.7),
    "walk_far": WalkSettings(temperature=0.05, entity_share=0.5, damping=0.7),
    "walk_named": WalkSettings(entity_share=1.0),
}
_LARGEST_PAGE = 500
"""Chunks of a named page whose links are followed."""
_NUMBER = re.compile(r"#chunk-(\d+)$")
_ASKING = re.compile(
    r"\W*(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|has|have|had)\b",
    re.IGNORECASE,
)
"""How a question begins that asks, where keywords do not."""

Signals = dict[str, Floats]


def signals(query: Query, chunks: Sequence[str]) -> tuple[Signals, dict[str, float]]:
    """Columns (n,) of the candidates ``chunks``, NaN where there is nothing to say, and numbers of the question."""
    cosines = np.nan_to_num(query.similarities(chunks).chunk, nan=-1.0)
    counts = query.store.term_counts(chunks, query.terms)
    lexical, question = _of_words(query, counts)
    return {
        **lexical,
        **{name: WalkRetriever(settings).score(query, chunks) for name, settings in WALKS.items()},
        **_of_links(query, query.store.adjacency(), chunks, cosines),
        **_of_places(chunks, cosines),
    }, question


def _of_words(query: Query, counts: TermCounts) -> tuple[Signals, dict[str, float]]:
    """How much of what the question asks for, by rarity, a chunk and its headings mention."""
    terms = query.terms
    statistics = query.remember("term_statistics", lambda: query.store.term_statistics(terms))
    rarity = idf(statistics)
    total = float(rarity.sum())
    share = rarity / total if total else rarity
    in_text, in_headings = counts.text > 0, counts.headings > 0
    plain = replace(
        counts, headings=np.zeros_like(counts.headings), headings_length=np.zeros_like(counts.headings_length)
    )
    words = query.text.split()
    return {
        "coverage": (in_text | in_headings) @ share,
        "heading_coverage": in_headings @ share,
        "text_coverage": in_text @ share,
        "bm25_text": bm25(plain, statistics, BM25Settings()),
        "length": np.log1p(counts.text_length),
    }, {
        "terms": float(len(terms)),
        "words": float(len(words)),
        "named": float(len(query.named_entities)),
        "asks": float(_ASKING.match(query.text) is not None),
        "rarest": float(rarity.max()) if len(terms) else 0.0,
        "rarity": total / len(terms) if terms else 0.0,
        "corpus": math.log1p(statistics.chunks),
        "mean_length": math.log1p(statistics.mean_length),
    }


def _of_links(query: Query, graph: Adjacency, chunks: Sequence[str], cosines: Floats) -> Signals:
    """Whom the question names, who is linked from there, and the best candidate on either end of a link."""
    offset = len(graph.chunks)
    named = {graph.entity_rows[uri] for uri in query.named_entities if uri in graph.entity_rows}
    from_named = _cited_on(graph, [graph.entities[row] for row in named])
    n = len(chunks)
    pages = [graph.entity_rows.get(page_of(uri), -1) for uri in chunks]
    cited = [_cited_by(graph, graph.chunk_rows.get(uri, -1), offset) for uri in chunks]
    best_of_page: dict[int, float] = {}
    best_linking: dict[int, float] = {}
    for page, entities, cosine in zip(pages, cited, cosines.tolist(), strict=True):
        best_of_page[page] = max(best_of_page.get(page, -1.0), cosine)
        for entity in entities:
            if entity != page:
                best_linking[entity] = max(best_linking.get(entity, -1.0), cosine)
    found = {
        name: np.full(n, np.nan)
        for name in (
            "page_named",
            "cites_named",
            "from_named",
            "in_degree",
            "out_degree",
            "linking",
            "linked",
        )
    }
    for row, (page, entities) in enumerate(zip(pages, cited, strict=True)):
        others = [entity for entity in entities if entity != page]
        found["page_named"][row] = page in named
        found["cites_named"][row] = sum(entity in named for entity in others)
        found["from_named"][row] = page in from_named
        found["out_degree"][row] = math.log1p(len(others))
        found["linking"][row] = best_linking.get(page, np.nan)
        there = [best_of_page[entity] for entity in others if entity in best_of_page]
        found["linked"][row] = max(there, default=np.nan)
        if page >= 0:
            node = offset + page
            found["in_degree"][row] = math.log1p(int(graph.indptr[node + 1] - graph.indptr[node]))
    return found


def _cited_by(graph: Adjacency, chunk: int, offset: int) -> list[int]:
    """Numbers of the entities a chunk is linked with, its own page among them."""
    if chunk < 0:
        return []
    row: list[int] = (graph.indices[graph.indptr[chunk] : graph.indptr[chunk + 1]] - offset).tolist()
    return row


def _cited_on(graph: Adjacency, pages: Sequence[str]) -> set[int]:
    """Numbers of the entities that chunks of the pages are linked with."""
    found: set[int] = set()
    for page in pages:
        # Chunks are in the order of their uris, which all begin with the page's and "#", and "$" comes after "#".
        start, end = bisect_left(graph.chunks, f"{page}#"), bisect_left(graph.chunks, f"{page}$")
        end = min(end, start + _LARGEST_PAGE)
        found.update((graph.indices[graph.indptr[start] : graph.indptr[end]] - len(graph.chunks)).tolist())
    return found


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
