"""Prints hits for people, in full or on one line each with the reasons."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from trivium.cli.places import told_document, told_place
from trivium.cli.reasons import reasons
from trivium.cli.terminal import cut, cuts, ellipsis, err, one_line, out, print_line, shown, wrapped
from trivium.common.suggested import for_store
from trivium.graph.schema import headings_of
from trivium.text.headings import body_of
from trivium.text.normalise import question_terms, sentences, terms
from trivium.types import Hit, SourceOutcome

LEGEND = "%: how likely this very passage is the answer; several share it, and other words lower it"
_WIDEST = 110
"""Maximum width of text, for readability."""
_LINES = 3
"""Number of lines of a passage shown at a terminal."""
_INDENT = 4


def print_hits(question: str, hits: Sequence[Hit]) -> None:
    """Print hits with their place and text. At a terminal the text is an excerpt around the words of the question;
    elsewhere it is complete.
    """
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
        for line in extract(question, body_of(hit.text, headings_of(hit.section))):
            print_line((" " * _INDENT + line, ""))


def print_reasons(question: str, hits: Sequence[Hit]) -> None:
    """Print explained hits on one line each: rank, probability or score, place, and as many reasons as fit. The place
    takes at most half of the terminal, plus what the reasons leave free.
    """
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
    """Print the question above its hits, and a message if there are none."""
    out.print(f"[bold]{shown(question)}[/]", soft_wrap=not cuts())
    if not hits:
        out.print("  Nothing found.")


def print_hints(hints: Sequence[str]) -> None:
    """Print why a condition matches nothing."""
    for hint in hints:
        err.print(f"hint: {shown(hint)}", soft_wrap=True)


def print_warnings(warnings: Sequence[str], store: str) -> None:
    """Print warnings about parts of the search that failed and were skipped, with commands for this ``store``."""
    for warning in warnings:
        err.print(f"[yellow]warning:[/] {shown(for_store(warning, store))}", soft_wrap=True)


def print_sources(outcomes: Sequence[SourceOutcome]) -> None:
    """Print the outcome of each live source."""
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
    """Format a probability as a percentage.

    >>> percent(0.5), percent(0.9), percent(0.0001), percent(0.9999)
    ('50 %', '90 %', '< 1 %', '> 99 %')
    """
    if probability < 0.01:
        return "< 1 %"
    return "> 99 %" if probability > 0.99 else f"{100 * probability:.0f} %"


def print_legend(hits: Sequence[Hit]) -> None:
    """Explain the percentages of hits at a terminal."""
    if cuts() and any(hit.rerank_score is not None for hit in hits):
        err.print(
            "[dim]scores of the reranker; passages with a percentage follow as the search ordered them[/]"
        )
    elif cuts() and any(hit.probability is not None for hit in hits):
        err.print(f"[dim]{LEGEND}[/]")


def told_score(hit: Hit) -> str:
    """Format what the hit is ordered by: the score of the reranker, else the probability, else the score of a fusion
    that is not calibrated.
    """
    if hit.rerank_score is not None or hit.probability is None:
        return f"{hit.deciding:.4g}"
    return percent(hit.probability)


def extract(question: str, text: str) -> list[str]:
    """Return lines of a passage: at a terminal at most three, beginning at the sentence from which they contain most
    words of the question. Line breaks of the passage (list items, table rows) become slashes.
    """
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
    """Return the offset from which the next ``size`` characters contain most words of the question: 0 if that is among
    the best, else the start of the last such sentence.
    """
    asked = set(question_terms(question))
    starts = [start for start, _ in sentences(text)]
    found = [len(asked.intersection(terms(text[start : start + size]))) for start in starts]
    best = max(found, default=0)
    if not starts or found[0] == best:
        return 0
    return max(start for start, count in zip(starts, found, strict=True) if count == best)


def _told_place(hit: Hit, width: int | None = None) -> str:
    """Format the place of a hit; for a live passage followed by the name of its source."""
    source = "" if hit.live is None else f" ({one_line(hit.live.source)})"
    return told_place(hit.section, hit.pages, None if width is None else width - cell_len(source)) + source


def _fitting(words: Sequence[str], width: int) -> str:
    """Join as many reasons as fit into a line, at least the first."""
    said = [one_line(word) for word in words]
    while cuts() and len(said) > 1 and cell_len("; ".join(said)) > width:
        said.pop()
    return cut("; ".join(said), width) if cuts() else "; ".join(said)
