"""Bridges are entities that passages of several pages cite."""

from __future__ import annotations

import pytest

from tests.retrievers.world import page
from tests.synthetic.world import MOONS_CHUNK, PAGES, STICKNEY_CHUNK, hall, many, world
from trivium.errors import InputError
from trivium.synthetic.sample_bridges import Sampling, draw

LONG = "A sentence that is long enough to be offered to whoever writes, since it has twenty tokens or a few more of them."


def test_a_bridge_is_offered_with_one_passage_a_page_and_never_its_own() -> None:
    """The page of the entity itself cites it too, and one passage only says "see": neither is offered."""
    bridge = hall()
    assert (bridge.entity, bridge.cited) == ("Asaph Hall", 3)
    assert {source.uri for source in bridge.sources} == {MOONS_CHUNK, STICKNEY_CHUNK}
    by_uri = {source.uri: source for source in bridge.sources}
    assert by_uri[MOONS_CHUNK].headings == "Mars > Moons" and by_uri[MOONS_CHUNK].page == "Mars"
    assert bridge.names == ("a hall", "asaph hall"), "an alias that is a common word gives nothing away"


def test_two_passages_of_one_page_are_no_bridge() -> None:
    """What joins them is the page."""
    pages = [page("A", lead=[(LONG, ["X"]), (LONG + " More.", ["X"])]), page("B", lead=[(LONG, ["Y"])])]
    with pytest.raises(InputError, match="no entity of the store is cited on two pages"):
        draw(world(pages), Sampling())
    (found,) = draw(world([*pages, page("C", lead=[(LONG, ["X"])])]), Sampling())
    assert found.entity == "X" and sorted(source.page for source in found.sources) == ["A", "C"]


def test_entities_that_everything_cites_are_left_out_and_so_are_bare_numbers() -> None:
    """A hub and a year say nothing to who looks for them."""
    pages = [page(f"P{n}", lead=[(LONG, ["Hub", "1877", *(["Rare"] if n < 2 else [])])]) for n in range(5)]
    assert [bridge.entity for bridge in draw(world(pages), Sampling(most_cited=4))] == ["Rare"]
    assert {bridge.entity for bridge in draw(world(pages), Sampling(most_cited=5))} == {"Hub", "Rare"}


def test_a_seed_draws_the_same_again_and_more_of_it_adds() -> None:
    """So that a run can be made larger; another seed draws others."""
    store = many(40)
    ten = draw(store, Sampling(entities=10))
    assert draw(store, Sampling(entities=10)) == ten
    assert draw(store, Sampling(entities=25))[:10] == ten
    assert len(draw(store, Sampling(entities=99))) == 40
    other = draw(store, Sampling(entities=10, seed=1))
    assert [bridge.entity for bridge in other] != [bridge.entity for bridge in ten]


def test_many_pages_give_as_many_passages_as_asked_for_each_of_another_page() -> None:
    """Which pages is drawn for each entity by itself."""
    pages = [page(f"P{n}", lead=[(f"{LONG} {n}", ["X", "Y"])]) for n in range(12)]
    found = draw(world(pages), Sampling(sources=3))
    assert [len({source.page for source in bridge.sources}) for bridge in found] == [3, 3]
    assert {source.page for source in found[0].sources} != {source.page for source in found[1].sources}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"entities": 0}, "1 entity"),
        ({"sources": 1}, "2 chunks or more"),
        ({"most_cited": 1}, "2 chunks or more"),
        ({"kinds": ("song",)}, "song"),
        ({"kinds": ()}, "none"),
    ],
)
def test_what_cannot_be_drawn_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Sampling(**wrong)  # type: ignore[arg-type]


def test_other_kinds_can_be_asked_for() -> None:
    """Only paragraphs by default: the sample world has no list."""
    with pytest.raises(InputError, match="in list of 20 tokens"):
        draw(world(PAGES), Sampling(kinds=("list",)))
