"""The page that compares two runs: one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from trivium.datasets.gold import Gold
from trivium.evaluation.comparison.outcomes import Difference, Run, RunComparison, compare, rank_of
from trivium.evaluation.report_pages import render
from trivium.evaluation.tables import BETTER, WORSE, Cell, Table
from trivium.graph.schema import headings_of, section_of

TOP = 3
"""Number of passages of each run shown per question."""
MOST = 500
"""Default maximum number of questions on a page."""
_EXCERPT = 320
"""Maximum length of an excerpt in characters."""
_BAR = 60
"""Half the width of a bar, in its own units."""

Explain = Callable[[str, Sequence[str]], Mapping[str, Mapping[str, float]]]
"""Maps a question id and chunks to each retriever's contribution to the scores of those that were candidates."""
Fetch = Callable[[Sequence[str]], Mapping[str, str]]
"""Maps chunks to their texts, if available."""


@dataclass(frozen=True, slots=True)
class Side:
    """A run to compare: its display name, its rankings, and for a fused run the function that explains its scores."""

    name: str
    run: Run
    explain: Explain | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """The context of both runs. ``views`` are the rankings of single retrievers on the same questions, ``questions``
    the texts by id; ``facts`` describe the set, the store and so on.
    """

    gold: Mapping[str, Gold]
    questions: Mapping[str, str] = field(default_factory=dict)
    views: Mapping[str, Run] = field(default_factory=dict)
    facts: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A chunk on the page: its ``rank`` (None: not ranked), its place, an excerpt, and whether it is gold."""

    rank: int | None
    place: str
    excerpt: str
    gold: bool


@dataclass(frozen=True, slots=True)
class View:
    """The ranks, from 1, of the gold passage and its rival in a retriever's list; None when not in the list. Without
    ``has_list`` the retriever's list is not available.
    """

    name: str
    gold: int | None
    rival: int | None
    has_list: bool = True


@dataclass(frozen=True, slots=True)
class Contributions:
    """The contribution of each retriever to the fused scores of the gold and of its rival. ``gold`` is None when the
    gold was not among the candidates.
    """

    gold: Mapping[str, float] | None
    rival: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Bar:
    """A retriever in a table of contributions. ``start`` and ``width`` draw the difference; the middle is at 60 of
    120.
    """

    view: View
    gold: str
    rival: str
    difference: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Grid:
    """The retrievers' values for the gold and its rival. With ``fused`` these are contributions to a fused score."""

    caption: str
    fused: bool
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """A question on the page. ``gold`` is its gold passage if no list shows it."""

    difference: Difference
    text: str
    ranks: tuple[str, str]
    tops: tuple[tuple[ShownPassage, ...], tuple[ShownPassage, ...]]
    gold: ShownPassage | None
    grids: tuple[Grid, ...]


def comparison_page(
    first: Side, second: Side, setting: Setting, fetch: Fetch | None = None, most: int = MOST
) -> str:
    """Return the page for two runs, ``second`` compared with ``first``: totals, then the ``most`` questions with the
    largest differences, each with the top passages of both runs and explanations. Raises InputError if runs and gold
    do not match.
    """
    found = compare(first.run, second.run, setting.gold)
    shown = found.differences[:most]
    asides = {each.question: _Aside.of(each, first, second, setting) for each in shown}
    wanted = dict.fromkeys(uri for aside in asides.values() for uri in aside.uris)
    texts = fetch(list(wanted)) if fetch is not None else {}
    cards = [_card(each, asides[each.question], (first, second), setting, texts) for each in shown]
    return _render(first.name, second.name, setting, found, cards)


@dataclass(frozen=True, slots=True)
class _Aside:
    """The passages of a question: the gold chunk in focus, and for each run its best chunk that is not gold."""

    focus: str
    part: tuple[str, ...]
    rivals: tuple[str | None, str | None]
    tops: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def uris(self) -> list[str]:
        return [self.focus, *(uri for top in self.tops for uri in top)]

    @classmethod
    def of(cls, difference: Difference, first: Side, second: Side, setting: Setting) -> _Aside:
        gold = setting.gold[difference.question]
        part = gold.groups[difference.focus]
        rankings = [side.run.get(difference.question, ()) for side in (second, first)]
        rankings += [run.get(difference.question, ()) for run in setting.views.values()]
        placed = [(rank, uri) for ranking in rankings for rank, (uri, _) in enumerate(ranking) if uri in part]
        focus = min(placed, key=lambda found: found[0])[1] if placed else part[0]
        every = {uri for group in gold.groups for uri in group}
        first_rival, second_rival = (
            next((uri for uri, _ in ranking if uri not in every), None) for ranking in rankings[1::-1]
        )
        tops = tuple(tuple(uri for uri, _ in ranking[:TOP]) for ranking in rankings[1::-1])
        return cls(focus, part, (first_rival, second_rival), (tops[0], tops[1]))


def _card(
    difference: Difference,
    aside: _Aside,
    sides: tuple[Side, Side],
    setting: Setting,
    texts: Mapping[str, str],
) -> Card:
    question = difference.question
    gold = {uri for group in setting.gold[question].groups for uri in group}
    views = {
        name: (rank_of(run.get(question, ()), aside.part), run.get(question, ()))
        for name, run in setting.views.items()
    }

    def passage(uri: str, rank: int | None) -> ShownPassage:
        return ShownPassage(rank, _place(uri), _excerpt(texts.get(uri, "")), uri in gold)

    tops = [tuple(passage(uri, rank) for rank, uri in enumerate(top, start=1)) for top in aside.tops]
    grids = []
    for side, rival in zip(sides, aside.rivals, strict=True):
        if side.explain is None or rival is None:
            continue
        added = side.explain(question, [aside.focus, rival])
        if rival not in added:
            continue
        contributions = Contributions(added.get(aside.focus), added[rival])
        beside = [View(name, rank, rank_of(run, [rival])) for name, (rank, run) in views.items()]
        beside += [
            View(name, None, None, has_list=False) for name in contributions.rival if name not in views
        ]
        named = _rival(rival, aside.focus)
        unranked = "" if contributions.gold is not None else " (the gold was no candidate)"
        grids.append(_grid(f"{side.name}: the gold against {named}{unranked}", beside, contributions))
    if not grids and views:
        rival = aside.rivals[1]
        beside = [
            View(name, rank, None if rival is None else rank_of(run, [rival]))
            for name, (rank, run) in views.items()
        ]
        caption = "Ranks in each view's list" + (
            f", beside {_rival(rival, aside.focus)}" if rival is not None else ""
        )
        grids.append(_grid(caption, beside, None))
    listed = any(uri in aside.part for top in aside.tops for uri in top)
    return Card(
        difference,
        setting.questions.get(question, question),
        (_ranks(difference, 0), _ranks(difference, 1)),
        (tops[0], tops[1]),
        None if listed else passage(aside.focus, None),
        tuple(grids),
    )


def _grid(caption: str, views: Sequence[View], contributions: Contributions | None) -> Grid:
    if contributions is None:
        return Grid(caption, False, tuple(Bar(view, "", "", "", _BAR, 0.0) for view in views))
    gold = contributions.gold or {}
    moved = {name: gold[name] - contributions.rival[name] for name in gold}
    largest = max(map(abs, moved.values()), default=0.0) or 1.0
    bars = []
    for view in sorted(views, key=lambda view: -moved.get(view.name, 0.0)):
        by = moved.get(view.name)
        width = _BAR * abs(by or 0.0) / largest
        bars.append(
            Bar(
                view,
                _signed(gold[view.name]) if view.name in gold else "",
                _signed(contributions.rival[view.name]) if view.name in contributions.rival else "",
                "" if by is None else _signed(by),
                round(_BAR - width if by is not None and by < 0 else _BAR, 1),
                round(width, 1),
            )
        )
    return Grid(caption, True, tuple(bars))


def _ranks(difference: Difference, side: int) -> str:
    ranks = [pair[side] for pair in difference.ranks]
    return ", ".join("–" if rank is None else str(rank) for rank in ranks)


def _signed(value: float) -> str:
    """Return a contribution with its sign, to two decimals, without -0.00."""
    return f"{round(value, 2) + 0.0:+.2f}"


def _place(uri: str) -> str:
    return " › ".join(headings_of(section_of(uri)))


def _rival(uri: str, gold: str) -> str:
    """Describe a rival by its place, which may be that of the gold."""
    return _place(uri) if section_of(uri) != section_of(gold) else f"another passage of {_place(uri)}"


def _excerpt(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _EXCERPT else flat[: _EXCERPT - 1].rsplit(" ", 1)[0] + " …"


def _render(first: str, second: str, setting: Setting, found: RunComparison, cards: Sequence[Card]) -> str:
    verdicts = {
        verdict: sum(card.difference.verdict == verdict for card in cards)
        for verdict in ("won", "lost", "tied")
    }
    return render(
        "compare",
        scripted=True,
        first=first,
        second=second,
        facts=setting.facts,
        questions=len(found.differences),
        totals=_totals(first, second, found),
        cards=cards,
        verdicts=verdicts,
        has_texts=any(passage.excerpt for card in cards for top in card.tops for passage in top),
    )


def _totals(first: str, second: str, found: RunComparison) -> Table:
    table = Table(["measure", first, second, "difference", "won", "lost", "tied"])
    for total in found.totals:
        moved = total.second - total.first
        mark = BETTER if moved > 0 else WORSE if moved < 0 else ""
        table.add_row(
            total.measure,
            f"{total.first:.3f}",
            f"{total.second:.3f}",
            Cell(f"{moved:+.3f}", mark=mark),
            *(f"{count:,}" for count in (total.won, total.lost, total.tied)),
        )
    return table
