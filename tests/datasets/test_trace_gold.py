"""Tracing gold to chunks, on a store of a few hand-made pages."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from trivium.datasets.gold import Cause, Gold
from trivium.datasets.questions import read_questions
from trivium.datasets.trace_gold import trace
from trivium.errors import InputError
from trivium.graph.protocols import GraphStore
from trivium.graph.records import ChunkRecord
from trivium.graph.schema import Hop, chunk_uri, escape, page_of, section_of
from trivium.text.normalise import normalise_title
from trivium.types import GoldPassage, Question

DATA = Path(os.environ.get("TRIVIUM_DATA", Path(__file__).parents[3] / "shared" / "data"))

SPIN = "Mars turns once in twenty four hours and thirty seven minutes"
TWICE = "Its two moons were both found by Asaph Hall in August 1877"


class Shelf:
    """The three reads that tracing needs, over chunk uri -> text, and how often each was asked for."""

    def __init__(self, chunks: dict[str, str], aliases: dict[str, str] | None = None) -> None:
        self.chunks = chunks
        self.aliases = aliases or {}
        self.calls: list[str] = []
        self.below: dict[str, list[str]] = {}
        for uri in chunks:
            self.below.setdefault(page_of(uri), []).append(uri)

    def resolve(self, titles: Sequence[str]) -> dict[str, str]:
        self.calls.append("resolve")
        known = {page: page for page in [*self.below, *self.aliases.values()]} | self.aliases
        return {title: known[title] for title in titles if title in known}

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        self.calls.append("expand")
        assert hop is Hop.BELOW
        return {uri: list(self.below.get(uri, [])) for uri in uris}

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        self.calls.append("fetch")
        return [
            ChunkRecord(u, page_of(u), section_of(u), self.chunks[u], "paragraph", 0, 0, 0, 0) for u in chunks
        ]

    def as_store(self) -> GraphStore:
        return cast(GraphStore, self)


def shelf() -> Shelf:
    return Shelf(
        {
            "Mars#chunk-1": f"The planet. {SPIN}, says the almanac.",
            "Mars#chunk-2": TWICE,
            "Mars#Moons (of Mars)#chunk-1": TWICE,
            "Mars#Red#chunk-1": "red iron",
            "Mars#Red#chunk-2": "red dust and red sky",
            "Mars#Red#chunk-3": "red",
            "Mars#Red#chunk-4": "red, red, red",
            "Mars#Red#chunk-5": "Red!",
            "Mars#Red#chunk-6": "infra red light",
            "C%23 (note)#chunk-1": "The note above C and below D is C sharp",
            "Asaph Hall#chunk-1": "An American astronomer born in Goshen in 1829",
            "Asaph Hall#chunk-2": "He worked at the Naval Observatory in Washington for decades",
        },
        aliases={"Red planet": "Mars", "Ares": "Deimos"},
    )


def outcome(**gold: object) -> tuple[tuple[str, ...], ...] | Cause:
    traced = trace([Question("q", "?", **gold)], shelf().as_store())  # type: ignore[arg-type]
    assert ("q" in traced.gold) == ([q.id for q in traced.questions] == ["q"]) == (not traced.untraceable)
    return traced.gold["q"].groups if traced.questions else traced.untraceable[0].cause


def test_a_paragraph_is_the_chunk_that_holds_it() -> None:
    assert outcome(page="Mars", paragraph=SPIN) == (("Mars#chunk-1",),)


def test_titles_may_have_underscores_be_redirects_and_contain_the_separator() -> None:
    assert outcome(page="Red_planet", paragraph=SPIN) == (("Mars#chunk-1",),)
    assert outcome(page="C#_(note)", paragraph="the note above C and below D") == (("C%23 (note)#chunk-1",),)


def test_the_section_decides_between_equal_chunks_and_only_then() -> None:
    assert outcome(page="Mars", paragraph=TWICE, section="Moons of Mars") == (
        ("Mars#Moons (of Mars)#chunk-1",),
    )
    assert outcome(page="Mars", paragraph=TWICE, section="__lead__") == (("Mars#chunk-2",),)
    assert outcome(page="Mars", paragraph=TWICE) == (("Mars#Moons (of Mars)#chunk-1", "Mars#chunk-2"),)
    assert outcome(page="Mars", paragraph=SPIN, section="Red") == (("Mars#chunk-1",),)


def test_answers_make_one_group_of_at_most_five_alternatives() -> None:
    assert outcome(page="Mars", answers=("red dust", "INFRA-RED")) == (
        ("Mars#Red#chunk-2", "Mars#Red#chunk-6"),
    )
    assert outcome(page="Mars", answers=("red",)) is Cause.TOO_MANY
    assert outcome(page="Mars", answers=("blue",)) is Cause.NO_MATCH
    assert outcome(page="Mars", answers=("?",)) is Cause.NO_GOLD


def test_a_gold_title_is_found_in_any_chunk_of_its_page() -> None:
    assert outcome(gold_titles=("Asaph_Hall", "C# (note)")) == (
        ("Asaph Hall#chunk-1", "Asaph Hall#chunk-2"),
        ("C%23 (note)#chunk-1",),
    )


def test_gold_passages_are_found_on_their_own_page() -> None:
    passages = (
        GoldPassage("Red planet", SPIN),
        GoldPassage("Asaph Hall", "an American astronomer, born in Goshen"),
    )
    assert outcome(gold_passages=passages) == (("Asaph Hall#chunk-1",), ("Mars#chunk-1",))
    assert outcome(gold_passages=(GoldPassage("Asaph Hall", SPIN),)) is Cause.NO_MATCH


def test_a_split_passage_is_found_in_its_larger_part_but_a_split_paragraph_is_not() -> None:
    """SPEC asks 60 % of one chunk for paragraphs."""
    text = (
        "He worked at the Naval Observatory in Washington for decades. "
        "An American astronomer born in Goshen in 1829"
    )
    assert outcome(gold_passages=(GoldPassage("Asaph Hall", text),)) == (("Asaph Hall#chunk-2",),)
    assert outcome(page="Asaph Hall", paragraph=text) is Cause.NO_MATCH


def test_parts_that_share_a_chunk_are_one_group() -> None:
    assert outcome(gold_titles=("Mars", "Red planet", "C# (note)"))[1:] == (
        outcome(gold_titles=("Mars",))[0],
    )


@pytest.mark.parametrize(
    ("gold", "cause", "says"),
    [
        ({}, Cause.NO_GOLD, "expected a page"),
        ({"paragraph": SPIN}, Cause.NO_GOLD, "expected a page"),
        ({"page": "Mars"}, Cause.NO_GOLD, "paragraph or answers"),
        ({"page": "Mars", "paragraph": "--"}, Cause.NO_GOLD, "punctuation"),
        ({"page": "Pluto", "paragraph": SPIN}, Cause.NO_PAGE, "no page 'Pluto'"),
        ({"page": "Ares", "answers": ("x",)}, Cause.NO_PAGE, "no text of the page 'Ares'"),
        ({"page": "Mars", "paragraph": "a text that is nowhere"}, Cause.NO_MATCH, "60%"),
        ({"gold_titles": ("Mars", "Pluto", "Eris")}, Cause.NO_PAGE, "2 of 3 gold parts not found: .*'Pluto'"),
        ({"page": "Mars", "answers": ("red",)}, Cause.TOO_MANY, "6 chunks of 'Mars'"),
    ],
)
def test_what_cannot_be_traced_is_listed_with_its_reason(gold: dict, cause: Cause, says: str) -> None:
    traced = trace([Question("q", "?", **gold)], shelf().as_store())
    assert traced.gold == {}
    (missing,) = traced.untraceable
    assert (missing.id, missing.cause) == ("q", cause)
    assert re.search(says, missing.reason)


def test_no_question_is_lost_and_their_order_is_kept() -> None:
    questions = [
        Question(str(i), "?", page=page, paragraph=SPIN) for i, page in enumerate(["Mars", "Pluto"] * 3)
    ]
    traced = trace(questions, shelf().as_store())
    assert [q.id for q in traced.questions] == list(traced.gold) == ["0", "2", "4"]
    assert [u.id for u in traced.untraceable] == ["1", "3", "5"]


def test_two_questions_with_one_id_are_refused() -> None:
    with pytest.raises(InputError, match="distinct ids"):
        trace([Question("q", "?"), Question("q", "!")], shelf().as_store())


def test_reads_do_not_grow_with_the_questions() -> None:
    store = shelf()
    trace([Question(str(i), "?", page="Mars", paragraph=SPIN) for i in range(500)], store.as_store())
    assert store.calls == ["resolve", "expand", "fetch"]


def test_overlapping_or_empty_groups_are_no_gold() -> None:
    for groups in ((), ((),), (("a",), ("a", "b"))):
        with pytest.raises(InputError, match="disjoint"):
            Gold(groups)


def test_merging_reaches_through_a_chain_of_parts() -> None:
    assert Gold.of([["a"], ["c", "d"], ["e"], ["a", "c"]]).groups == (("a", "c", "d"), ("e",))
    assert Gold.of([["Mars#A#chunk-1"], ["Io#chunk-2", "Mars#chunk-1"]]).pages == ("Io", "Mars")


@pytest.mark.data
@pytest.mark.parametrize(("name", "hops"), [("hotpotqa", {2}), ("2wiki", {2, 4}), ("musique", {2, 3, 4})])
def test_every_question_of_the_record_corpora_is_traced(name: str, hops: set[int]) -> None:
    """One title is one page; each of its records is one chunk."""
    if not (DATA / "multihop").exists():
        pytest.skip(f"no evaluation data at {DATA} (set TRIVIUM_DATA)")
    chunks: dict[str, str] = {}
    count: dict[str, int] = {}
    for line in (DATA / f"multihop/{name}_corpus.jsonl").read_text(encoding="utf-8").split("\n"):
        if line:
            record = json.loads(line)
            page = escape(normalise_title(record["title"]))
            count[page] = count.get(page, 0) + 1
            chunks[chunk_uri(page, count[page])] = record["text"]
    traced = trace(read_questions(DATA / f"multihop/{name}_questions.jsonl"), Shelf(chunks).as_store())
    assert traced.untraceable == ()
    assert {len(gold.groups) for gold in traced.gold.values()} == hops
