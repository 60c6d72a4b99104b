"""Keyword search: candidates from the full-text index, exact counts and corpus statistics from the graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from trivium.graph.neo4j.cypher import searching as cypher
from trivium.graph.neo4j.store_cache import ChunkTerms
from trivium.graph.neo4j.store_part import StorePart
from trivium.graph.node_properties import term_key
from trivium.graph.records import TermCounts, TermStatistics, rank_key
from trivium.graph.term_occurrences import count_terms

MAX_CLAUSES = 1024
"""Maximum number of terms in a full-text query; further ones are dropped."""
_NO_TERMS = ChunkTerms("", "")


def any_of(terms: Sequence[str]) -> str:
    """Return a full-text query for chunks that contain some of the terms; empty if none of them can be in the index.

    Within quotation marks only quotation marks and backslashes are special. The index splits at white space, so its
    terms contain none.

    >>> any_of(["red", 'say "no"', "*", 'a"b', "red"])
    '"red" "*" "a\\\\"b"'
    """
    single = [term for term in dict.fromkeys(terms) if term.split() == [term]]
    return " ".join(f'"{_escaped(term)}"' for term in single[:MAX_CLAUSES])


def _escaped(term: str) -> str:
    return term.replace("\\", "\\\\").replace('"', '\\"')


class KeywordReads(StorePart):
    """The part of a store that searches for words."""

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        """Return uris of about the k best chunks by the server's BM25, best first. One round trip, which also fetches the
        data for :meth:`term_counts` and :meth:`term_statistics`.
        """
        query = any_of(terms)
        if not query or k <= 0:
            return []
        content = self._cache.state(self._connection).content_key
        keys = {term_key(term): term for term in terms}
        asked = {"query": query, "count": k, "terms": list(keys)}
        hits, frequencies = self._connection.read(cypher.KEYWORD_SEARCH, asked)[0]
        self._cache.terms.put(content, {uri: _chunk_terms(*found) for uri, _, *found in hits})
        self._cache.frequencies.put(content, _with_zeros(keys.values(), frequencies, keys))
        return [uri for uri, *_ in sorted(hits, key=lambda hit: rank_key(hit[1], hit[0]))]

    def term_counts(self, chunks: Sequence[str], terms: Sequence[str]) -> TermCounts:
        content = self._cache.state(self._connection).content_key
        wanted = dict.fromkeys(chunks)
        cached = self._cache.terms.find(content, wanted)
        missing = [uri for uri in wanted if uri not in cached]
        if missing:
            found = self._connection.read(cypher.SEARCH_TERMS, {"chunks": missing})[0][0]
            fetched: dict[str, ChunkTerms | None] = dict.fromkeys(missing)
            fetched |= {uri: _chunk_terms(*rest) for uri, *rest in found}
            self._cache.terms.put(content, fetched)
            cached |= fetched
        held = [cached[uri] or _NO_TERMS for uri in chunks]
        return count_terms([each.text for each in held], [each.headings for each in held], terms)

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics:
        state = self._cache.state(self._connection)
        cached = self._cache.frequencies.find(state.content_key, dict.fromkeys(terms))
        missing = {term_key(term): term for term in terms if term not in cached}
        if missing:
            found = self._connection.read(cypher.DOCUMENT_FREQUENCIES, {"terms": list(missing)})[0][0]
            fetched = _with_zeros(missing.values(), found, missing)
            self._cache.frequencies.put(state.content_key, fetched)
            cached |= fetched
        mean = state.term_total / state.chunks if state.chunks else 0.0
        frequency = np.array([cached[term] for term in terms], dtype=np.float64)
        return TermStatistics(state.chunks, mean, frequency)


def _with_zeros(
    terms: Iterable[str], found: Iterable[tuple[str, int]], terms_by_key: dict[str, str]
) -> dict[str, int]:
    """Return document frequencies by term, 0 for unknown terms."""
    return dict.fromkeys(terms, 0) | {terms_by_key[key]: frequency for key, frequency in found}


def _chunk_terms(search_terms: str, heading_count: int) -> ChunkTerms:
    """Split the server's string of terms, which starts with those of the headings."""
    terms = search_terms.split()
    return ChunkTerms(" ".join(terms[:heading_count]), " ".join(terms[heading_count:]))
