"""Determines the language of each document of a load, and whether the store's embedder supports it; gives a page the
search terms of its language. :func:`trivium.graph.build_page_graph.build` makes those of English.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from typing import Protocol

from trivium.embedding.manifest import advise_many_languages, english_only
from trivium.errors import ConfigurationError
from trivium.graph.page_graph import PageGraph
from trivium.graph.schema import headings_as_text
from trivium.text.languages import (
    AUTO,
    ENGLISH,
    NAMES,
    Analyzer,
    StoreLanguages,
    check_language,
    detect_language,
)
from trivium.types import ChunkKind, EmbedderIdentity

_SAMPLED = 20
_SAMPLE = 100
"""Pages sampled for detection when no language was named: the first 20, then every 20th."""
_SAMPLE_CHARACTERS = 4_000
_WORDS_OF_A_NAME = 6
_TABLES = frozenset((ChunkKind.TABLE, ChunkKind.INFOBOX))


class LanguageStore(Protocol):
    """The part of a store that :class:`Localiser` uses."""

    @property
    def languages(self) -> str | None: ...

    def set_languages(self, languages: str | None) -> None: ...

    def count_pages(self) -> int: ...


class Localiser:
    """Gives each page terms in its language, and records the languages in the store.

    ``language`` is the code of all documents, or ``auto`` to detect that of each page from its text, else from its
    metadata (``language: de``), else the first language of the store. With None, documents are in the language of the
    store, or detected if it has several languages or used detection before. ``any_embedder``: record that an
    English-only embedder may be used for them, if some are in another language.
    """

    def __init__(
        self, store: LanguageStore, language: str | None = None, *, any_embedder: bool = False
    ) -> None:
        self._store = store
        self._kept = store.languages
        self._before = StoreLanguages.read(self._kept)
        given = None if language is None else check_language(language)
        several = self._before.detect or len(self._before.codes) > 1
        self._detect = given == AUTO or (given is None and several)
        self._only = self._before.codes[0] if given is None or given == AUTO else given
        self._any_embedder = any_embedder
        # The recorded languages of an empty store are ignored.
        self._known = dict.fromkeys(self._before.codes if store.count_pages() else ())
        self.pages: Counter[str] = Counter()
        """Number of pages by language."""
        self._assumed = language is None and not self._detect
        self._came = 0
        self._looked: Counter[str | None] = Counter()

    def localise(self, graph: PageGraph) -> PageGraph:
        """Return the page with terms in its language."""
        return localised(graph, self._language(graph))

    def _language(self, graph: PageGraph) -> str:
        """Choose the language of a page, and count it."""
        language = self._detected(graph, self._before.codes[0]) if self._detect else self._only
        self._look(graph)
        self.pages[language] += 1
        return language

    @property
    def likely(self) -> str | None:
        """The language of most sampled pages, if none was named and it differs from the assumed one; else None."""
        language, count = self._looked.most_common(1)[0] if self._looked else (None, 0)
        most = 2 * count > self._looked.total()
        return language if most and language != self._only else None

    def _look(self, graph: PageGraph) -> None:
        """Detect the language of a page if it is in the sample."""
        drawn = self._came < _SAMPLED or self._came % _SAMPLED == 0
        if self._assumed and drawn and self._looked.total() < _SAMPLE:
            self._looked[_likely_language(graph)] += 1
        self._came += 1

    def _detected(self, graph: PageGraph, otherwise: str) -> str:
        found = detect_language(graph.text)
        if found is not None:
            return found
        told = str(graph.metadata.get(LANGUAGE, ""))[:2].lower()
        return told if told in NAMES else otherwise

    def remember_new(self) -> None:
        """Record new languages before their pages are written, since questions use them."""
        if not self._known.keys() >= self.pages.keys():
            self.remember()

    def remember(self) -> None:
        """Record all languages: earlier ones first, then by number of pages."""
        if not self.pages:
            return
        self._known.update(dict.fromkeys(code for code, _ in self.pages.most_common()))
        allowed = self._any_embedder and self._known.keys() != {ENGLISH}
        now = str(StoreLanguages(tuple(self._known), self._detect, allowed or self._before.any_embedder))
        if now != (self._kept or ENGLISH):
            self._store.set_languages(now)
            self._kept = now


class StoredLocaliser(Localiser):
    """For stored pages that are rebuilt from their texts. They keep their languages."""

    def localise(self, graph: PageGraph) -> PageGraph:
        told = graph.metadata.get(LANGUAGE)
        codes = self._before.codes
        if told in codes:
            return localised(graph, str(told))
        return localised(graph, self._detected(graph, codes[0]) if self._detect else codes[0])


def _likely_language(graph: PageGraph) -> str | None:
    """Detect the language of a page from the beginning of its running text: cells of tables and short items are names
    and values.
    """
    running = (
        line
        for chunk in graph.chunks
        if chunk.kind not in _TABLES
        for line in chunk.text.split("\n")
        if chunk.kind != ChunkKind.LIST or len(line.split()) > _WORDS_OF_A_NAME
    )
    return detect_language("\n".join(running)[:_SAMPLE_CHARACTERS])


def check_embedder_knows(language: str, embedder: str) -> None:
    """Raise ConfigurationError for an English-only embedder and documents in another language."""
    if language != ENGLISH and english_only(embedder):
        raise ConfigurationError(
            f"the embedder {embedder} knows English only, and the documents are in {NAMES[language]}: name one of many"
            f" languages ({advise_many_languages()}; or"
            " fastembed:intfloat/multilingual-e5-large, openai:text-embedding-3-small), or search by words alone for"
            f" now (--no-embed), or go on knowingly (name it:  --embedder {embedder})"
        )


class EmbeddedInLanguages(Protocol):
    """The part of a store that :func:`check_embedder_of` uses."""

    @property
    def languages(self) -> str | None: ...

    @property
    def location(self) -> str: ...

    @property
    def embedder(self) -> EmbedderIdentity | None: ...


def check_embedder_of(store: EmbeddedInLanguages, embedder: str) -> None:
    """Raise ConfigurationError, with the alternatives, for an English-only embedder if the store's first language is
    another one and this was not allowed before.
    """
    kept = StoreLanguages.read(store.languages)
    language = kept.codes[0]
    if language == ENGLISH or kept.any_embedder or not english_only(embedder):
        return
    another = (
        f"embed them by one of many languages (trivium embed --store {store.location} {advise_many_languages()})"
        if store.embedder is None
        else "build another store with one of many languages (--embedder)"
    )
    raise ConfigurationError(
        f"the embedder {embedder} knows English only, and most documents of the store are in {NAMES[language]}. They are"
        f" loaded and not embedded: {another}, or search by words alone for now (trivium search QUESTION --retriever"
        f" lexical --store {store.location}), or go on knowingly"
        f" (trivium embed --store {store.location} --embedder {embedder})"
    )


def allow_any_embedder(store: LanguageStore) -> None:
    """Record that an English-only embedder may be used for the store's documents, if they are in another language."""
    kept = StoreLanguages.read(store.languages)
    if kept.codes[0] != ENGLISH and not kept.any_embedder:
        store.set_languages(str(replace(kept, any_embedder=True)))


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
            headings[chunk.parent] = " ".join(analyzer.terms(" ".join(headings_as_text(chunk.parent))))
        terms = " ".join(analyzer.terms(chunk.body))
        chunks.append(replace(chunk, terms=terms, heading_terms=headings[chunk.parent]))
    told = f"{_RULES} {language} {graph.content_hash}".encode()
    return replace(
        graph,
        chunks=tuple(chunks),
        metadata={**graph.metadata, LANGUAGE: language},
        content_hash=hashlib.blake2b(told, digest_size=16).hexdigest(),
    )
