"""Finds the entity that a name refers to."""

from __future__ import annotations

from trivium.graph.protocols import GraphReader
from trivium.graph.schema import page_uri
from trivium.text.normalise import normalise_name, normalise_title


def find_entity(store: GraphReader, name: str) -> str | None:
    """Return the uri of the entity with this uri, title or alias, else of one whose name differs only in case,
    punctuation or a trailing parenthesis; None when there is none.
    """
    names = dict.fromkeys((name, page_uri(normalise_title(name))))
    known = store.resolve(list(names))
    exact = next((known[spelling] for spelling in names if spelling in known), None)
    if exact is not None:
        return exact
    loose = normalise_name(name)
    return store.lookup_names([loose]).get(loose) if loose else None
