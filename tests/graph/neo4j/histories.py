"""Random histories of a store: writes, removals, aliases, relations, types and vectors."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.contract.graphs import IDENTITY, codes, pages, unit
from tests.graph.sqlite.histories import RELATIONS, Step
from tests.graph.sqlite.histories import carry_out as carry_out_common
from trivium.graph.protocols import GraphStore

_titles = st.sampled_from(("A", "B", "C", "a", "b", "A (x)"))
_writes = st.tuples(st.just("write"), st.lists(pages, min_size=2, max_size=4))
_changes = st.one_of(
    _writes,
    st.tuples(st.just("delete"), st.lists(_titles, min_size=1, max_size=4)),
    st.tuples(st.just("alias"), st.dictionaries(_titles, st.lists(_titles, max_size=2), max_size=2)),
    st.tuples(st.just("relate"), st.dictionaries(_titles, st.lists(RELATIONS, max_size=2), max_size=2)),
    st.tuples(st.just("type"), st.dictionaries(_titles, st.sampled_from(("x", "y", "")), max_size=3)),
    st.tuples(st.just("embed"), st.integers(1, 12)),
)
HISTORIES = st.builds(lambda first, rest: [first, *rest], _writes, st.lists(_changes, min_size=4, max_size=7))


def carry_out(store: GraphStore, step: Step) -> object:
    """Carry out a step and return what the store reports."""
    action, argument = step
    if action == "embed":
        store.set_embedder(IDENTITY)
        pending = list(store.pending_texts())
        texts = pending[::argument]  # not all: what has a vector and what has none must not be mixed up
        if texts:
            store.put_vectors(texts, np.stack([unit(text) for text in texts]))
        passages = list(store.pending_sentences())
        some = passages[::argument]
        store.put_sentences(some, [codes(passage.text) for passage in some])
        return pending, passages
    reported = carry_out_common(store, step)
    return (store.pages(), list(store.page_graphs()), store.types()) if action == "alias" else reported
