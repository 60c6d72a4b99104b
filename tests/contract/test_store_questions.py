"""Questions that chunks answer: returned on request, removed with the last chunk that answers them, and not searched."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.contract.conftest import MakeStore
from tests.contract.graphs import embed_pending, graph
from tests.contract.state import state_of
from tests.fakes.memory_store import MemoryStore
from trivium.graph.page_graph import PageGraph, QuestionNode
from trivium.graph.protocols import GraphStore

MARS = graph("Mars", [("red planet", ["Sun"]), ("two moons", [])], {"Moons": [("Phobos and Deimos", [])]})
MOON = graph("Moon", [("grey", ["Mars"])])
HOW_MANY = QuestionNode(
    "nq-1", "how many moons has mars", ("two", "2"), ("Mars#chunk-2", "Mars#Moons#chunk-1")
)
COLOUR = QuestionNode("nq-2", "what colour is mars", (), ("Mars#chunk-1",))


def _counts(store: GraphStore) -> tuple[int | None, int | None]:
    info = store.info()
    return info.nodes.get("Question"), info.relationships.get("is_answer_of")


def _asked(store: GraphStore, page: str = "Mars") -> tuple[QuestionNode, ...]:
    (found,) = store.page_graphs([page])
    return found.questions


def test_questions_are_given_to_pages_and_counted(store: GraphStore) -> None:
    """Without any there is no such node or relationship, not even one that is counted as none."""
    store.write([MARS, MOON])
    assert _counts(store) == (None, None)
    assert store.put_questions({"Mars": [COLOUR, HOW_MANY]}) == 2
    assert _counts(store) == (2, 3)
    assert _asked(store) == (HOW_MANY, COLOUR)
    assert _asked(store, "Moon") == ()


def test_the_same_again_adds_nothing(store: GraphStore) -> None:
    store.write([MARS])
    store.put_questions({"Mars": [HOW_MANY, COLOUR]})
    assert store.put_questions({"Mars": [HOW_MANY, COLOUR]}) == 0
    assert store.write([MARS]).unchanged == 1
    assert (_counts(store), _asked(store)) == ((2, 3), (HOW_MANY, COLOUR))


def test_what_is_said_later_takes_the_place_of_what_was_said(store: GraphStore) -> None:
    """Of one question alone; a question that a page answers no more goes."""
    store.write([MARS])
    store.put_questions({"Mars": [HOW_MANY, COLOUR]})
    other = replace(HOW_MANY, text="how many moons", answers=("two",), chunks=("Mars#Moons#chunk-1",))
    assert store.put_questions({"Mars": [other]}) == 1
    assert _asked(store) == (other, COLOUR)
    assert store.put_questions({"Mars": [replace(COLOUR, chunks=())]}) == 1
    assert (_asked(store), _counts(store)) == ((other,), (1, 1))


def test_unknown_pages_and_chunks_are_left_out(store: GraphStore) -> None:
    """Chunks of another page, too; chunks come in the order of the page."""
    store.write([MARS, MOON])
    mixed = ("Mars#Moons#chunk-1", "Moon#chunk-1", "Mars#chunk-9", "Mars#chunk-1")
    assert store.put_questions({"Venus": [HOW_MANY], "Mars": [replace(COLOUR, chunks=mixed)]}) == 1
    assert _asked(store) == (replace(COLOUR, chunks=("Mars#chunk-1", "Mars#Moons#chunk-1")),)
    assert store.put_questions({"Moon": [HOW_MANY]}) == 0
    assert store.put_questions({}) == 0
    assert _counts(store) == (1, 2)


def test_a_question_stays_while_a_chunk_of_some_page_answers_it(store: GraphStore) -> None:
    store.write([MARS, MOON])
    on_both = {"Mars": [COLOUR], "Moon": [replace(COLOUR, chunks=("Moon#chunk-1",))]}
    store.put_questions(on_both)
    assert _counts(store) == (1, 2)
    store.delete(["Mars"])
    assert _counts(store) == (1, 1)
    store.delete(["Moon"])
    assert _counts(store) == (None, None)


def test_a_replaced_page_answers_what_comes_with_it(store: GraphStore) -> None:
    store.write([MARS, MOON])
    store.put_questions({"Mars": [HOW_MANY, COLOUR]})
    store.write([replace(MARS, content_hash="2", questions=(COLOUR,))])
    assert (_asked(store), _counts(store)) == ((COLOUR,), (1, 1))
    store.write([replace(MARS, content_hash="3")])
    assert _counts(store) == (None, None)


def test_a_copy_of_the_pages_has_them(make_store: MakeStore, store: GraphStore) -> None:
    store.write([MARS, MOON])
    store.put_questions({"Mars": [HOW_MANY, COLOUR]})
    copy = MemoryStore()
    copy.write(list(store.page_graphs()))
    assert list(copy.page_graphs()) == list(store.page_graphs())


def test_nothing_searches_them(store: GraphStore) -> None:
    """Neither texts to embed nor anything else that a store answers becomes another."""
    store.write([MARS, MOON])
    embed_pending(store)
    before = state_of(store)
    store.put_questions({"Mars": [HOW_MANY]})
    after = state_of(store)
    for key in ("graphs", "nodes", "relationships"):
        del before[key], after[key]
    assert after == before


def test_a_store_with_questions_passes_its_check(store: GraphStore) -> None:
    store.write([MARS])
    store.put_questions({"Mars": [HOW_MANY, COLOUR]})
    store.refresh()
    assert store.checker().check() == []


def test_any_order_of_writes_ends_as_in_the_store_that_is_obviously_right(store: GraphStore) -> None:
    draw, oracle = random.Random(7), MemoryStore()
    pages: dict[str, list[PageGraph]] = {
        title: [graph(title, [(word, []) for word in words]) for words in (["a"], ["a", "b", "c"])]
        for title in ("A", "B", "C")
    }
    for _ in range(60):
        title = draw.choice("ABC")
        chunks = tuple(f"{title}#chunk-{n}" for n in draw.sample(range(1, 5), draw.randint(0, 3)))
        question = QuestionNode(f"q{draw.randint(1, 3)}", draw.choice(["who", "what"]), ("x",), chunks)
        kind = draw.randrange(4)
        for each in (store, oracle):
            match kind:
                case 0:
                    each.write([pages[title][len(chunks) % 2]])
                case 1 if len(chunks) > 1:
                    each.delete([title])
                case _:
                    each.put_questions({title: [question]})
        assert list(store.page_graphs()) == list(oracle.page_graphs())
        assert _counts(store) == _counts(oracle)
