"""Random histories of a store: writes, removals, aliases, relations, types, questions and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.contract.graphs import IDENTITY, embed_pending, pages, unit
from trivium.graph.page_graph import QuestionNode, RelationEdge
from trivium.graph.protocols import GraphStore

Step = tuple[str, Any]

_titles = st.sampled_from(("A", "B", "C", "a", "b", "A (x)"))
_said = st.sampled_from((("", 0, 0), ("A#chunk-1", 0, 3), ("A#S#chunk-1", 1, 2), ("B#chunk-1", 0, 1)))
RELATIONS = st.builds(
    lambda source, kind, target, said: RelationEdge(source, kind, target, *said),
    _titles,
    st.sampled_from(("r", "B")),
    _titles,
    _said,
)
"""Some said in a chunk, which need not be of the page."""
_numbers = st.integers(0, 9)


def _steps(action: str, arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.tuples(st.just(action), arguments)


_CHANGES = (
    _steps("write", st.lists(pages, min_size=1, max_size=4)),
    _steps("delete", st.lists(_titles, min_size=1, max_size=2)),
    _steps("alias", st.dictionaries(_titles, st.lists(_titles, max_size=2), max_size=2)),
    _steps("relate", st.dictionaries(_titles, st.lists(RELATIONS, max_size=3), max_size=2)),
    _steps("type", st.dictionaries(_titles, st.sampled_from(("x", "y", "")), max_size=3)),
    _steps("embed", st.none()),
)
_READ = _steps("read", st.none())
_UNCOMMON = (
    _steps("ask", st.dictionaries(_titles, st.lists(st.integers(0, 3), max_size=3), max_size=2)),
    _steps("vectors", st.lists(_numbers, max_size=4)),
    _steps("forget", st.lists(_numbers, max_size=3)),
)
HISTORIES = st.lists(st.one_of(*_CHANGES, _READ), min_size=1, max_size=8)
"""Of what every store can do, and reads in between."""
HISTORIES_OF_ALL = st.lists(st.one_of(*_CHANGES, *_UNCOMMON), min_size=1, max_size=10)
"""Also of questions, replaced vectors and dropped ones."""


def carry_out(store: GraphStore, step: Step) -> object:
    """Carry out a step and return what the store reports."""
    action, argument = step
    match action:
        case "write":
            return store.write(argument)
        case "delete":
            return store.delete(argument)
        case "relate":
            return store.add_relations(argument)
        case "type":
            return store.set_types(argument)
        case "alias":
            store.add_aliases(argument)
        case "embed":
            embed_pending(store)
        case "read":
            store.refresh()
        case "ask":
            asked = {page: [question(page, number) for number in own] for page, own in argument.items()}
            store.put_questions(asked)
        case "vectors":
            _replace_vectors(store, _some(argument))
        case "forget":
            store.checker().drop_vectors(_some(argument))
        case _:
            raise AssertionError(action)
    return None


def question(page: str, number: int) -> QuestionNode:
    """Some are answered by chunks of several pages, and some by none."""
    return QuestionNode(f"q{number}", "what", ("x",), tuple(f"{page}#chunk-{n}" for n in range(number)))


def _some(numbers: Sequence[int]) -> list[str]:
    """Texts of nodes, some of which are there, and repeatedly."""
    texts = ("A", "B", "C", "A (x)", "r", "A#S", "B#S", "A: red", "B: red moon", "nothing")
    return [texts[number] for number in numbers]


def _replace_vectors(store: GraphStore, texts: Sequence[str]) -> None:
    """Put vectors other than those of embed_pending."""
    if texts:
        store.set_embedder(IDENTITY)
        store.put_vectors(texts, np.stack([unit(f"other {text}") for text in texts]))
