"""Hits for people: to be read, or one line each with the reasons."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from trivium.cli.places import told_document, told_place
from trivium.cli.reasons import reasons
from trivium.cli.terminal import cut, cuts, ellipsis, err, one_line, out, print_line, shown, wrapped
from trivium.text import question_terms, sentences, terms
from trivium.types import Hit, SourceOutcome

_WIDEST = 110
"""Longer lines of text are hard to read."""
_LINES = 3
"""So many lines of a passage are shown at a terminal."""
_INDENT = 4


def print_hits(question: str, hits: Sequence[Hit]) -> None:
    """Hits to be read: where each stands, and its text; at a terminal the part of it that has most of the question's
    words, elsewhere all of it."""
    print_question(question, hits)
    for hit in hits:
        out.print()
        kind = "" if hit.kind == "paragraph" else f" ({hit.kind})"
        print_line(
            (f"{hit.rank:>2}", "bold cyan"),
            (f"  {told_score(hit)}  ", ""),
            (f"{told_place(hit.section, hit.pages)}{kind}", "bold"),
            (f"  {told_document(hit)}", "dim"),
            whole=hit.live is not None,
        )
        for line in extract(question, hit.text):
            print_line((" " * _INDENT + line, ""))


def print_reasons(question: str, hits: Sequence[Hit]) -> None:
    """Explained hits in one line each: rank, probability or score, place, and the reasons, as many as there is room
    for. The place gets half of a terminal, and what the reasons leave."""
    print_question(question, hits)
    scores = [told_score(hit) for hit in hits]
    places = [_told_place(hit) for hit in hits]
    said = [reasons(hit.contributions, hit.provenance) or ["nothing speaks strongly for it"] for hit in hits]
    widest = max(map(len, scores), default=0)
    room = out.width - len("10    ") - widest - len("  ")
    longest_reasons = max((cell_len("; ".join(words)) for words in said), default=0)
    place_room = min(max(map(cell_len, places), default=0), max(room // 2, room - longest_reasons))
    for hit, score, place, words in zip(hits, scores, places, said, strict=True):
        if cuts():
            place = _told_place(hit, place_room)
            place += " " * (place_room - cell_len(place))
        print_line(
            (f"{hit.rank:>2}", "bold cyan"),
            (f"  {score:>{widest}}  ", ""),
            (place, "bold"),
            (f"  {_fitting(words, room - place_room)}", "dim"),
        )


def print_question(question: str, hits: Sequence[Hit]) -> None:
    """The question above its hits, or above the news that there are none."""
    out.print(f"[bold]{shown(question)}[/]", soft_wrap=not cuts())
    if not hits:
        out.print("  Nothing found.")


def print_hints(hints: Sequence[str]) -> None:
    """Why a condition leaves nothing, beside what was found."""
    for hint in hints:
        err.print(f"hint: {shown(hint)}", soft_wrap=True)


def print_warnings(warnings: Sequence[str]) -> None:
    """What did not work and was done without."""
    for warning in warnings:
        err.print(f"[yellow]warning:[/] {shown(warning)}", soft_wrap=True)


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


def print_legend(hits: Sequence[Hit]) -> None:
    """What the percentages of hits are, for people at a terminal."""
    if cuts() and any(hit.probability is not None for hit in hits):
        err.print(
            "[dim]%: how likely this very passage is the answer; several share it, and other words lower it[/]"
        )


def told_score(hit: Hit) -> str:
    """How likely a hit is right, or its score where the fusion is not calibrated."""
    return f"{hit.score:.4g}" if hit.probability is None else percent(hit.probability)


def extract(question: str, text: str) -> list[str]:
    """Lines of a passage: at a terminal at most three, from the sentence on that has most of the question's words in
    and behind it. Its own lines (items of a list, rows of a table) have a stroke between them."""
    if not cuts():
        return [_in_one_line(text)]
    width = min(out.width, _WIDEST) - _INDENT
    start = 0 if len(text) <= _LINES * width else _telling(question, text, _LINES * width)
    before = f"{ellipsis()} " if start > 0 else ""
    lines = wrapped(before + _in_one_line(text[start:]), width)
    if len(lines) <= _LINES:
        return lines
    last = lines[_LINES - 1]
    if cell_len(last) > width - 4:
        last = set_cell_size(last, width - 4).rstrip().rsplit(" ", 1)[0]
    return [*lines[: _LINES - 1], f"{last} {ellipsis()}"]


def _in_one_line(text: str) -> str:
    return " / ".join(filter(None, map(one_line, text.splitlines())))


def _telling(question: str, text: str, size: int) -> int:
    """Where to begin so that the next ``size`` characters hold most words of the question: at the first character where
    that is as good as any, else at the last sentence that is."""
    asked = set(question_terms(question))
    starts = [start for start, _ in sentences(text)]
    found = [len(asked.intersection(terms(text[start : start + size]))) for start in starts]
    best = max(found, default=0)
    if not starts or found[0] == best:
        return 0
    return max(start for start, count in zip(starts, found, strict=True) if count == best)


def _told_place(hit: Hit, width: int | None = None) -> str:
    """A live passage has the name of its source behind its place."""
    source = "" if hit.live is None else f" ({one_line(hit.live.source)})"
    return told_place(hit.section, hit.pages, None if width is None else width - cell_len(source)) + source


def _fitting(words: Sequence[str], width: int) -> str:
    """As many reasons as fit into a line, at least the first."""
    said = [one_line(word) for word in words]
    while cuts() and len(said) > 1 and cell_len("; ".join(said)) > width:
        said.pop()
    return cut("; ".join(said), width) if cuts() else "; ".join(said)
