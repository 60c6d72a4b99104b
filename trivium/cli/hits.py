"""Hits for people: where, what, and (explained) why."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from rich.markup import escape

from trivium.cli.terminal import err, out, shown
from trivium.graph.schema import headings_of
from trivium.types import ChunkKind, Hit, LiveOrigin, SourceOutcome, place_of

EXPLAINED = 3
"""So many hits are explained line by line, the others in one line each."""
_SUMMARISED = 4
"""So many retrievers are named in one line."""
_SNIPPET = 420
_BAR = 12
_SMALL = 0.03
"""Contributions below this share of the largest have no line of their own."""


def print_hits(question: str, hits: Sequence[Hit], explain: bool) -> None:
    """Hits as a list. Scores of a calibrated fusion are shown as probabilities."""
    out.print(f"[bold]{shown(question)}[/]")
    if not hits:
        out.print("  Nothing found.")
        return
    for hit in hits:
        place = " › ".join(headings_of(hit.section))
        kind = "" if hit.kind == "paragraph" else f" [dim]({escape(hit.kind)})[/]"
        out.print(
            f"\n[bold cyan]{hit.rank:>2}[/]  [bold]{shown(place)}[/]{kind}  [dim]{_score(hit, explain)}[/]"
        )
        for line in textwrap.wrap(_snippet(hit.text), width=max(40, min(out.width, 110) - 6)):
            out.print(f"    {shown(line)}")
        file = f"  {shown(hit.document)}" if hit.kind == ChunkKind.IMAGE and hit.document else ""
        where = place_of(hit.uri, hit.pages) if hit.live is None else told_origin(hit.live)
        out.print(f"    [dim]{shown(where)}  {hit.start}-{hit.end}{file}[/]", soft_wrap=hit.live is not None)
        if explain and hit.rank <= EXPLAINED:
            _print_explanation(hit)
        elif explain:
            _print_summary(hit)


def print_hints(hints: Sequence[str]) -> None:
    """Why a condition leaves nothing, beside what was found."""
    for hint in hints:
        err.print(f"hint: {shown(hint)}", soft_wrap=True)


def told_origin(origin: LiveOrigin) -> str:
    """Where a passage is from that is not of the collection, in one line.

    >>> told_origin(LiveOrigin("arxiv", "https://arxiv.org/abs/2101.00001", "2021-01-01T00:00:00Z", "2026-03-01"))
    'arxiv: https://arxiv.org/abs/2101.00001 (2021-01-01)'
    """
    day = (origin.published or f"retrieved {origin.retrieved}").partition("T")[0]
    return f"{origin.source}: {origin.address} ({day})"


def print_sources(outcomes: Sequence[SourceOutcome]) -> None:
    """What came of asking live sources."""
    for outcome in outcomes:
        age = "" if outcome.cached_age is None else f", asked {outcome.cached_age:.0f} s ago"
        line = f"{outcome.name}: {outcome.found} found in {outcome.seconds:.1f} s{age}"
        if outcome.error is None:
            err.print(f"[dim]{shown(line)}[/]", soft_wrap=True)
        else:
            err.print(
                f"[yellow]{shown(outcome.name)}: {shown(outcome.error)}[/] [dim]{shown(line)}[/]",
                soft_wrap=True,
            )


def percent(probability: float) -> str:
    """A probability as a percentage.

    >>> percent(0.5), percent(0.9), percent(0.0001), percent(0.9999)
    ('50 %', '90 %', '< 1 %', '> 99 %')
    """
    if probability < 0.01:
        return "< 1 %"
    return "> 99 %" if probability > 0.99 else f"{100 * probability:.0f} %"


def _score(hit: Hit, explain: bool) -> str:
    if hit.probability is None:
        return f"{hit.score:.4g}"
    return percent(hit.probability) + (f" (log-odds {hit.score:+.2f})" if explain else "")


def _snippet(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SNIPPET else flat[: _SNIPPET - 1].rsplit(" ", 1)[0] + " …"


def _contributions(hit: Hit) -> tuple[Mapping[str, float], list[str]]:
    """What each retriever added, and the names of those that are not worth a line of their own."""
    values = dict(hit.contributions) or dict.fromkeys(sorted(hit.provenance), 0.0)
    largest = max(map(abs, values.values()), default=0.0)
    small = [
        name
        for name in values
        if abs(values[name]) < _SMALL * largest or (values[name] == 0 and name not in hit.provenance)
    ]
    return values, small


def _largest_first(values: Mapping[str, float], small: Sequence[str]) -> list[str]:
    return sorted(values.keys() - small, key=lambda name: (-values[name], name))


def _print_explanation(hit: Hit) -> None:
    """The baseline, then what each retriever adds to it; together that is the score."""
    values, small = _contributions(hit)
    largest = max(map(abs, values.values()), default=0.0)
    if hit.baseline != 0:
        _print_contribution("baseline", hit.baseline, 0.0, "an average passage")
    for name in _largest_first(values, small):
        source_node = hit.provenance.get(name)
        found = ""
        if source_node is not None:
            found = f"found through {source_node}" if source_node else "found directly"
        _print_contribution(name, values[name], largest, found)
    finders = [name for name in small if name in hit.provenance]
    if finders:
        _print_contribution(
            "others", sum(values[name] for name in small), 0.0, f"found by {', '.join(finders)}"
        )


def _print_contribution(name: str, value: float, largest: float, found: str) -> None:
    block, colour = ("█", "green") if value >= 0 else ("░", "red")
    bar = block * min(_BAR, round(_BAR * abs(value) / largest)) if largest > 0 else ""
    line = f"      {name:<10}[{colour}]{value:+8.3f} {bar:<{_BAR}}[/]  [dim]{shown(found)}[/]"
    out.print(line, no_wrap=True, overflow="ellipsis")


def _print_summary(hit: Hit) -> None:
    """An explanation in one line: the largest contributions, and the sum of the others."""
    values, _ = _contributions(hit)
    largest = sorted(values, key=lambda name: (-abs(values[name]), name))[:_SUMMARISED]
    others = values.keys() - set(largest)
    parts = [f"baseline {hit.baseline:+.2f}"] if hit.baseline != 0 else []
    parts += [f"{name} {values[name]:+.2f}" for name in _largest_first(values, list(others))]
    if others:
        parts.append(f"others {sum(values[name] for name in sorted(others)):+.2f}")
    out.print(f"    [dim]{', '.join(parts)}[/]", no_wrap=True, overflow="ellipsis")
