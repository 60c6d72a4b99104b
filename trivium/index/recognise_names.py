"""Recognises names in the texts of a page and what these say of them, where it is parsed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from trivium.graph.build_page_graph import with_names
from trivium.graph.page_graph import Name, PageGraph
from trivium.graph.schema import page_uri, unescape
from trivium.text.languages import ENGLISH, detect_language
from trivium.text.normalise import normalise_title

if TYPE_CHECKING:  # most stores have no names
    from trivium.entities.recogniser import EntityRecogniser

NO_NAMES = "none"
"""In place of a recogniser: names are not recognised."""
_LINKED = frozenset({"", "nq", "wiki"})
"""Formats of pages of encyclopaedias."""
_SAMPLE = 4_000
"""Characters of a page from which its language is detected."""


def with_recognised_names(graph: PageGraph, entities: str | None, language: str | None = None) -> PageGraph:
    """Return the page with the names that a recogniser finds in its chunks, and their relations; ``entities`` is its name
    (:func:`trivium.entities.recogniser.load_recogniser`). Pages of encyclopaedias, whose links are the names, are
    returned unchanged, and all pages if ``entities`` is None. ``language`` is the code of the page's language, by
    default detected.
    """
    if entities is None or graph.format in _LINKED:
        return graph
    from trivium.entities.linking import linked_names
    from trivium.entities.relations import described

    bodies = [chunk.body for chunk in graph.chunks]
    language = language or detect_language(graph.text[:_SAMPLE]) or ENGLISH
    spans = _recogniser(entities).spans(bodies, language)
    names = [
        [Name(page_uri(normalise_title(one.name)), one.kind, one.start, one.end) for one in own]
        for own in linked_names(unescape(graph.uri), bodies, spans)
    ]
    return with_names(graph, *described(graph, names))


def recogniser_of(wanted: str) -> str | None:
    """Return the name of a recogniser; None for ``none``."""
    return None if wanted == NO_NAMES else wanted


def check_entities(entities: str | None) -> None:
    """Raise the error of a recogniser that cannot be loaded."""
    if entities not in (None, NO_NAMES):
        _recogniser(entities)


@cache
def _recogniser(entities: str) -> EntityRecogniser:
    from trivium.entities.recogniser import load_recogniser

    return load_recogniser(entities)
