"""A store seen through: every read is the store's own, until a view overrides it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from operator import attrgetter
from typing import Concatenate, ParamSpec, TypeVar

from trivium.graph.filter_conditions import Condition
from trivium.graph.filter_matching import Allowed
from trivium.graph.protocols import SearchStore

P = ParamSpec("P")
R = TypeVar("R")


def _of_store(method: Callable[Concatenate[SearchStore, P], R]) -> Callable[Concatenate[StoreView, P], R]:
    """Make a method that asks the store below."""
    name = method.__name__

    @wraps(method)
    def ask(self: StoreView, /, *args: P.args, **options: P.kwargs) -> R:
        found: R = getattr(self._store, name)(*args, **options)
        return found

    return ask


class StoreView(ABC):
    """A :class:`~trivium.graph.protocols.SearchStore` on top of another one."""

    def __init__(self, store: SearchStore) -> None:
        self._store = store

    @property
    @abstractmethod
    def allowed(self) -> Allowed | None:
        """The chunks that a condition leaves; None where none limits the view."""

    @abstractmethod
    def within(self, condition: Condition) -> SearchStore: ...

    @abstractmethod
    def pinned(self) -> AbstractContextManager[SearchStore]: ...

    location = property(attrgetter("_store.location"))
    remote = property(attrgetter("_store.remote"))
    languages = property(attrgetter("_store.languages"))
    entities = property(attrgetter("_store.entities"))
    embedder = property(attrgetter("_store.embedder"))
    image_embedder = property(attrgetter("_store.image_embedder"))

    waiting_texts = _of_store(SearchStore.waiting_texts)
    nearest = _of_store(SearchStore.nearest)
    expand_nearest = _of_store(SearchStore.expand_nearest)
    keyword_search = _of_store(SearchStore.keyword_search)
    expand = _of_store(SearchStore.expand)
    outline = _of_store(SearchStore.outline)
    adjacency = _of_store(SearchStore.adjacency)
    chunk_uris = _of_store(SearchStore.chunk_uris)
    picture_vectors = _of_store(SearchStore.picture_vectors)
    cited = _of_store(SearchStore.cited)
    cited_sections = _of_store(SearchStore.cited_sections)
    fetch = _of_store(SearchStore.fetch)
    thumbnails = _of_store(SearchStore.thumbnails)
    page_text = _of_store(SearchStore.page_text)
    resolve = _of_store(SearchStore.resolve)
    lookup_names = _of_store(SearchStore.lookup_names)
    names_like = _of_store(SearchStore.names_like)
    aliases = _of_store(SearchStore.aliases)
    names = _of_store(SearchStore.names)
    relations = _of_store(SearchStore.relations)
    similarities = _of_store(SearchStore.similarities)
    vectors = _of_store(SearchStore.vectors)
    sentence_vectors = _of_store(SearchStore.sentence_vectors)
    relation_vectors = _of_store(SearchStore.relation_vectors)
    term_counts = _of_store(SearchStore.term_counts)
    term_statistics = _of_store(SearchStore.term_statistics)
