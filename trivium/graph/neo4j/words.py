"""Words: candidates from the full-text index, exact counts and corpus statistics from the graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import searching as cypher
from trivium.graph.neo4j.keys import term_key
from trivium.graph.neo4j.lucene import any_of
from trivium.graph.neo4j.memory import ChunkTerms, Memory
from trivium.graph.neo4j.names import WORD_INDEX
from trivium.graph.occurrences import count_terms
from trivium.graph.store import TermCounts, TermStatistics, rank_key

_NO_TERMS = ChunkTerms("", "")


def words(connection: Connection, memory: Memory, terms: Sequence[str], k: int) -> list[str]:
    """Uris of about the k best chunks by the server's BM25, best first. One round trip, which brings along what
    :func:`term_counts` and :func:`term_statistics` will be asked about them."""
    query = any_of(terms)
    if not query or k <= 0:
        return []
    content = memory.standing(connection).content
    keys = {term_key(term): term for term in terms}
    asked = {"index": WORD_INDEX, "query": query, "count": k, "terms": list(keys)}
    hits, frequencies = connection.read(cypher.WORDS, asked)[0]
    memory.terms.keep(content, {uri: _taken_apart(*found) for uri, _, *found in hits})
    memory.frequencies.keep(content, _completed(keys.values(), frequencies, keys))
    return [uri for uri, *_ in sorted(hits, key=lambda hit: rank_key(hit[1], hit[0]))]


def term_counts(
    connection: Connection, memory: Memory, chunks: Sequence[str], terms: Sequence[str]
) -> TermCounts:
    """How often terms occur in the texts and headings of chunks; nothing occurs in an unknown one."""
    content = memory.standing(connection).content
    wanted = dict.fromkeys(chunks)
    known = memory.terms.find(content, wanted)
    missing = [uri for uri in wanted if uri not in known]
    if missing:
        found = connection.read(cypher.SEARCH_TERMS, {"chunks": missing})[0][0]
        fresh: dict[str, ChunkTerms | None] = dict.fromkeys(missing)
        fresh |= {uri: _taken_apart(*rest) for uri, *rest in found}
        memory.terms.keep(content, fresh)
        known |= fresh
    held = [known[uri] or _NO_TERMS for uri in chunks]
    return count_terms([each.text for each in held], [each.headings for each in held], terms)


def term_statistics(connection: Connection, memory: Memory, terms: Sequence[str]) -> TermStatistics:
    """How many chunks there are, how long, and how many contain each term."""
    standing = memory.standing(connection)
    known = memory.frequencies.find(standing.content, dict.fromkeys(terms))
    missing = {term_key(term): term for term in terms if term not in known}
    if missing:
        found = connection.read(cypher.DOCUMENT_FREQUENCIES, {"terms": list(missing)})[0][0]
        fresh = _completed(missing.values(), found, missing)
        memory.frequencies.keep(standing.content, fresh)
        known |= fresh
    mean = standing.term_total / standing.chunks if standing.chunks else 0.0
    frequency = np.array([known[term] for term in terms], dtype=np.float64)
    return TermStatistics(standing.chunks, mean, frequency)


def _completed(
    terms: Iterable[str], found: Iterable[tuple[str, int]], terms_by_key: dict[str, str]
) -> dict[str, int]:
    """term -> in how many chunks it occurs, 0 where the server knows none."""
    return dict.fromkeys(terms, 0) | {terms_by_key[key]: frequency for key, frequency in found}


def _taken_apart(search_terms: str, heading_count: int) -> ChunkTerms:
    """The terms of headings and text, which the server keeps as one string, the headings' first."""
    terms = search_terms.split()
    return ChunkTerms(" ".join(terms[:heading_count]), " ".join(terms[heading_count:]))
