"""Recognises names in the texts of a page and what these say of them, where it is parsed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Protocol

from trivium.entities.recogniser import RULES
from trivium.errors import ConfigurationError
from trivium.graph.build_page_graph import with_names
from trivium.graph.page_graph import Name, PageGraph
from trivium.graph.protocols import PageReader
from trivium.graph.schema import page_uri, unescape
from trivium.text.languages import ENGLISH, detect_language
from trivium.text.normalise import normalise_title

if TYPE_CHECKING:
    from trivium.entities.recogniser import EntityRecogniser

NO_NAMES = "none"
"""In place of a recogniser: names are not recognised."""
LINKED = frozenset({"", "nq", "wiki", "wikimedia", "zim"})
"""Formats of pages of encyclopaedias, whose links are the names."""
_LOOKED_AT = 1_000
"""Pages of a store without names that show whether it holds other documents than pages of encyclopaedias."""
_SAMPLE = 4_000
"""Characters of a page from which its language is detected."""


class NamingStore(PageReader, Protocol):
    """The part of a store that tells what recognises its names."""

    @property
    def entities(self) -> str | None: ...

    def set_entities(self, recogniser: str | None) -> None: ...


def with_recognised_names(graph: PageGraph, entities: str | None, language: str | None = None) -> PageGraph:
    """Return the page with the names that a recogniser finds in its chunks, and their relations; ``entities`` is its name
    (:func:`trivium.entities.recogniser.load_recogniser`). Pages of encyclopaedias, whose links are the names, are
    returned unchanged, and all pages if ``entities`` is None. ``language`` is the code of the page's language, by
    default detected.
    """
    if entities is None or graph.format in LINKED:
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


def choose_entities(store: NamingStore, wanted: str | None) -> str | None:
    """Return what is to recognise names in the documents of a load; None for nothing. ``wanted`` is the choice of the
    user; by default it is that of the store, or rules if its pages are all of encyclopaedias.

    Raises ConfigurationError if the names of the store were recognised by something else, and errors of a recogniser that
    cannot be loaded.
    """
    stored = store.entities
    entities: str | None = wanted or stored or RULES
    if entities == NO_NAMES:
        entities = None
    if entities == stored:
        return stored
    if stored is not None and not store.count_pages():
        store.set_entities(None)
    elif any(page.format not in LINKED for page in store.pages(limit=_LOOKED_AT)):
        if wanted is None:
            return None
        raise ConfigurationError(
            f"the names of the store were recognised by {stored or NO_NAMES}, not by {wanted}: leave --entities out, or"
            " build into another store"
        )
    check_entities(entities)
    return entities


def check_entities(entities: str | None) -> None:
    """Raise the error of a recogniser that cannot be loaded."""
    if entities not in (None, NO_NAMES):
        _recogniser(entities)


@cache
def _recogniser(entities: str) -> EntityRecogniser:
    from trivium.entities.recogniser import load_recogniser

    return load_recogniser(entities)
