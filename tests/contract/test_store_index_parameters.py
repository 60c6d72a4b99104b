"""Parameters of the vector indexes are kept with the store; Neo4j has none."""

from __future__ import annotations

import pytest

from trivium.errors import ConfigurationError
from trivium.graph.protocols import GraphStore
from trivium.settings.index_parameters import IndexParameters


def test_what_is_kept_is_what_was_set_until_it_is_taken_back(store: GraphStore) -> None:
    assert store.index_parameters == IndexParameters() and store.info().index == {}
    given = IndexParameters(expansion_search=64, approximate_from=1)
    if store.remote:
        with pytest.raises(ConfigurationError, match=r"index\.expansion_search: Neo4j has no such parameter"):
            store.set_index_parameters(given)
        return
    store.set_index_parameters(given)
    store.set_index_parameters(given)
    assert store.index_parameters == given
    assert store.info().index == {"expansion_search": 64, "approximate_from": 1}
    store.set_index_parameters(IndexParameters())
    assert store.index_parameters == IndexParameters()
