"""A page's search terms in its own language. :func:`trivium.graph.build.build` makes those of English."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from trivium.graph.model import PageGraph
from trivium.graph.schema import headings_of
from trivium.text.languages import ENGLISH, Analyzer

LANGUAGE = "language"
"""The key of a page's metadata that says its language."""
# Bumped when the same text would give other terms, so that stores notice on the next load.
_RULES = "2"


def localised(graph: PageGraph, language: str) -> PageGraph:
    """The page with the terms of a language, which its metadata name. One in English is left as it is."""
    if language == ENGLISH:
        return graph
    analyzer = Analyzer((language,))
    headings: dict[str, str] = {}
    chunks = []
    for chunk in graph.chunks:
        if chunk.parent not in headings:
            headings[chunk.parent] = " ".join(analyzer.terms(" ".join(headings_of(chunk.parent))))
        terms = " ".join(analyzer.terms(chunk.body))
        chunks.append(replace(chunk, terms=terms, heading_terms=headings[chunk.parent]))
    told = f"{_RULES} {language} {graph.content_hash}".encode()
    return replace(
        graph,
        chunks=tuple(chunks),
        metadata={**graph.metadata, LANGUAGE: language},
        content_hash=hashlib.blake2b(told, digest_size=16).hexdigest(),
    )
