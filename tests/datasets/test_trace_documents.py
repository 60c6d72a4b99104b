"""Tracing gold to documents, by pages and quotes, and gold of which any part will do, on hand-made documents."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.datasets.test_trace_gold import SPIN, TWICE, Shelf, shelf
from trivium.datasets.gold import Cause, Traced
from trivium.datasets.trace_gold import trace
from trivium.graph.records import ChunkRecord, PageRecord
from trivium.graph.schema import page_of
from trivium.types import Evidence, GoldPassage, Question

ROW = "Team: Legal; Channel: #legal"
LONG = "We write down what was decided so that everybody can read it later on"


class Library(Shelf):
    """A shelf whose pages are files: page uri -> path; the pages that chunks stand on by their number."""

    def __init__(
        self, paths: dict[str, str], chunks: dict[str, str], numbers: dict[str, tuple[int, int]] | None = None
    ) -> None:
        super().__init__(chunks)
        self.paths = paths
        self.numbers = numbers or {}

    def pages(self, after: str | None = None, limit: int | None = None) -> list[PageRecord]:
        self.calls.append("pages")
        records = [PageRecord(uri, "", None, "", path=path) for uri, path in sorted(self.paths.items())]
        return [record for record in records if after is None or record.uri > after][:limit]

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        self.calls.append("fetch")
        return [
            ChunkRecord(u, page_of(u), page_of(u), self.chunks[u], "text", 0, 0, 0, 0, self.numbers.get(u))
            for u in chunks
        ]


def library() -> Library:
    return Library(
        {
            "Report": "reports/2023.pdf",
            "Team": "handbook/team/_index.md",
            "Sales": "handbook/sales/_index.md",
            "Empty": "handbook/empty.md",
        },
        {
            "Report#chunk-1": "on the cover",
            "Report#chunk-2": "from two to four",
            "Report#chunk-3": "on four",
            "Report#chunk-4": "on seven",
            "Team#chunk-1": f"Team | Channel\n{ROW}\nTeam: Sales; Channel: #sales",
            "Team#chunk-2": LONG,
            "Team#chunk-3": f"Once more: {LONG}.",
            "Sales#chunk-1": "The team of sales has its own channel",
        },
        {f"Report#chunk-{n + 1}": on for n, on in enumerate([(1, 1), (2, 4), (4, 4), (7, 7)])},
    )


def traced(store: Shelf | None = None, /, **gold: object) -> Traced:
    return trace([Question("q", "?", **gold)], (store or library()).as_store())  # type: ignore[arg-type]


def outcome(*evidence: Evidence, **gold: object) -> tuple[tuple[str, ...], ...] | Cause:
    found = traced(evidence=evidence, **gold)
    return found.gold["q"].groups if found.questions else found.untraceable[0].cause


def pages(*numbers: int) -> Evidence:
    return Evidence("2023.pdf", pages=numbers)


def quotes(document: str, *texts: str) -> Evidence:
    return Evidence(document, texts)


def test_every_chunk_that_stands_on_one_of_the_pages_is_an_answer() -> None:
    """All in one group: to find one of them is enough."""
    assert outcome(pages(4)) == (("Report#chunk-2", "Report#chunk-3"),)
    assert outcome(pages(3)) == (("Report#chunk-2",),)
    assert outcome(pages(7, 1, 9)) == (("Report#chunk-1", "Report#chunk-4"),)
    assert outcome(pages(5, 6)) is Cause.NO_MATCH


def test_every_chunk_of_the_document_that_holds_a_quote_is_an_answer() -> None:
    assert outcome(quotes("team/_index.md", LONG)) == (("Team#chunk-2", "Team#chunk-3"),)
    assert outcome(quotes("team/_index.md", "| Legal | [#legal](legal.md) |")) == (("Team#chunk-1",),)
    both = outcome(quotes("team/_index.md", "| Legal | `#legal` |", f"**{LONG}**", "a quote that is nowhere"))
    assert both == (("Team#chunk-1", "Team#chunk-2", "Team#chunk-3"),)


def test_a_document_without_pages_and_quotes_is_found_in_any_of_its_chunks() -> None:
    assert outcome(Evidence("sales/_index.md"), pages(1)) == (("Report#chunk-1",), ("Sales#chunk-1",))
    assert outcome(Evidence("nowhere.md")) is Cause.NO_DOCUMENT


def test_every_document_is_a_group_and_all_have_to_be_there() -> None:
    team, sales = quotes("team/_index.md", LONG), quotes("sales/_index.md", "has its own channel")
    assert outcome(team, sales) == (("Sales#chunk-1",), ("Team#chunk-2", "Team#chunk-3"))
    assert outcome(team, quotes("sales/_index.md", "nowhere")) is Cause.NO_MATCH
    assert outcome(team, quotes("nowhere.md", "x")) is Cause.NO_DOCUMENT


def test_entries_that_share_a_chunk_are_one_group() -> None:
    groups = outcome(quotes("team/_index.md", LONG), quotes("team/_index.md", "Once more"), pages(1))
    assert groups == (("Report#chunk-1",), ("Team#chunk-2", "Team#chunk-3"))


def test_a_name_of_several_documents_means_all_of_them() -> None:
    """As long as one of them has the quote."""
    assert outcome(quotes("_index.md", "channel", "Once more")) == (
        ("Sales#chunk-1", "Team#chunk-1", "Team#chunk-3"),
    )
    assert outcome(quotes("_index.md", "Once more")) == (("Team#chunk-3",),)


def test_evidence_comes_before_other_gold() -> None:
    assert outcome(pages(1), gold_titles=("Sales",), page="Sales", answers=("own",)) == (("Report#chunk-1",),)


@pytest.mark.parametrize(
    ("evidence", "cause", "says"),
    [
        (quotes("faq.md", "x"), Cause.NO_DOCUMENT, "^the store has no document 'faq.md'$"),
        (quotes("2032.pdf", "x"), Cause.NO_DOCUMENT, "'2032.pdf': did you mean 'reports/2023.pdf'"),
        (quotes("Team/_index.md", "x"), Cause.NO_DOCUMENT, "did you mean 'handbook/team/_index.md'"),
        (quotes("empty.md", "x"), Cause.NO_PAGE, "no text of the document 'empty.md'"),
        (pages(5), Cause.NO_MATCH, "no chunk of '2023.pdf' stands on page 5$"),
        (pages(5, 6), Cause.NO_MATCH, "any of the pages 5, 6$"),
        (pages(*range(8, 99)), Cause.NO_MATCH, r"16, 17 \.\.\.$"),
        (Evidence("team/_index.md", pages=(1,)), Cause.NO_MATCH, "page 1: it has no page numbers"),
        (
            quotes("2023.pdf", "on eight"),
            Cause.NO_MATCH,
            "no chunk of '2023.pdf' holds the quote 'on eight'$",
        ),
        (
            quotes("2023.pdf", "on eight", "on nine"),
            Cause.NO_MATCH,
            "holds any of 2 quotes, such as 'on eight'$",
        ),
        (quotes("2023.pdf", "eight " * 99), Cause.NO_MATCH, r"quote 'eight .{60,80}\.\.\.'$"),
        (quotes("2023.pdf", "![](a.png)", "--"), Cause.NO_GOLD, "quote of words from '2023.pdf'"),
    ],
)
def test_what_cannot_be_traced_is_listed_with_its_reason(evidence: Evidence, cause: Cause, says: str) -> None:
    (missing,) = traced(evidence=(evidence,)).untraceable
    assert missing.cause == cause
    assert re.search(says, missing.reason), missing.reason


def test_with_gold_any_the_parts_that_are_found_are_one_group() -> None:
    assert outcome(
        pages(1), pages(9), quotes("nowhere.md", "x"), quotes("team/_index.md", LONG), gold_any=True
    ) == (("Report#chunk-1", "Team#chunk-2", "Team#chunk-3"),)
    assert outcome(pages(9), quotes("nowhere.md", "x"), gold_any=True) is Cause.NO_MATCH
    (missing,) = traced(evidence=(pages(8), pages(9)), gold_any=True).untraceable
    assert missing.reason.startswith("2 of 2 gold parts not found")


def test_gold_any_goes_for_passages_and_titles_too() -> None:
    passages = (
        GoldPassage("Mars", SPIN),
        GoldPassage("Mars", "a text that is nowhere"),
        GoldPassage("Pluto", SPIN),
        GoldPassage("Mars", "--"),
        GoldPassage("Asaph Hall", "an American astronomer, born in Goshen"),
    )
    found = traced(shelf(), gold_passages=passages, gold_any=True)
    assert found.gold["q"].groups == (("Asaph Hall#chunk-1", "Mars#chunk-1"),)
    assert traced(shelf(), gold_passages=passages).gold == {}
    titles = traced(shelf(), gold_titles=("C# (note)", "Pluto", "Asaph Hall"), gold_any=True)
    assert titles.gold["q"].groups == (("Asaph Hall#chunk-1", "Asaph Hall#chunk-2", "C%23 (note)#chunk-1"),)
    paragraph = {"page": "Mars", "paragraph": TWICE}
    assert traced(shelf(), **paragraph, gold_any=True).gold == traced(shelf(), **paragraph).gold


def test_pages_are_listed_once_and_only_for_questions_that_name_a_document() -> None:
    store = library()
    trace([Question(str(n), "?", evidence=(pages(n),)) for n in range(1, 50)], store.as_store())
    assert store.calls == ["pages", "expand", "fetch"]
    store = library()
    trace([Question("q", "?", gold_titles=("Sales",))], store.as_store())
    assert store.calls == ["resolve", "expand"]


RANGES = st.lists(st.tuples(st.integers(1, 6), st.integers(0, 2)), min_size=1, max_size=6)


@given(RANGES, st.sets(st.integers(1, 8), min_size=1), st.sets(st.integers(1, 8), min_size=1))
def test_any_pages_of_any_document_agree_with_counting_them_out(
    ranges: list[tuple[int, int]], first: set[int], second: set[int]
) -> None:
    numbers = {f"A#chunk-{i}": (start, start + more) for i, (start, more) in enumerate(ranges, start=1)}
    store = Library({"A": "a.pdf"}, dict.fromkeys(numbers, "text"), numbers)
    on = [
        {uri for uri, (start, end) in numbers.items() if wanted & set(range(start, end + 1))}
        for wanted in (first, second)
    ]
    evidence = tuple(Evidence("a.pdf", pages=tuple(wanted)) for wanted in (first, second))
    found = traced(store, evidence=evidence).gold
    assert bool(found) == (bool(on[0]) and bool(on[1]))
    if found:
        expected = [on[0] | on[1]] if on[0] & on[1] else on
        assert sorted(map(sorted, found["q"].groups)) == sorted(map(sorted, expected))
    either = traced(store, evidence=evidence, gold_any=True).gold
    assert [set(group) for question in either.values() for group in question.groups] == (
        [on[0] | on[1]] if on[0] | on[1] else []
    )
