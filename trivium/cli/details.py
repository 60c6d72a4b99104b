"""Prints one hit in full: its whole text and the contribution of each retriever."""

from __future__ import annotations

from trivium.cli.hits import told_score
from trivium.cli.places import told_document, told_place
from trivium.cli.reasons import reasons
from trivium.cli.terminal import out, print_line, wrapped
from trivium.types import Hit, place_of

_INDENT = "    "
_BAR = 12
_NUMBER = 8


def print_details(hit: Hit) -> None:
    """Print a hit with its address, its whole text, the reasons in words, and its score as a sum of the baseline and
    the contribution of each retriever.
    """
    log_odds = "" if hit.probability is None else f" (log-odds {hit.score:+.2f})"
    print_line(
        (f"{hit.rank:>2}", "bold cyan"),
        (f"  {told_score(hit)}{log_odds}  ", ""),
        (told_place(hit.section, hit.pages), "bold"),
    )
    if document := told_document(hit):
        print_line((_INDENT + document, "dim"), whole=True)
    _print_wrapped(f"{place_of(hit.uri, hit.pages)}, characters {hit.start} to {hit.end}", "dim")
    out.print()
    _print_wrapped(hit.text)
    out.print()
    said = "; ".join(reasons(hit.contributions, hit.provenance)) or "nothing speaks strongly for it"
    _print_wrapped(f"why: {said}")
    _print_sum(hit)


def _print_wrapped(text: str, style: str = "") -> None:
    for line in wrapped(text, out.width - len(_INDENT)):
        print_line((_INDENT + line, style))


def _print_sum(hit: Hit) -> None:
    values = dict(hit.contributions) or dict.fromkeys(sorted(hit.provenance), 0.0)
    largest = max(map(abs, values.values()), default=0.0)
    names = max(map(len, ("baseline", *values)))
    _print_wrapped(f"score {hit.score:+.3f}, the sum of:")
    if hit.baseline != 0:
        _print_contribution("baseline".ljust(names), hit.baseline, 0.0, "an average passage")
    for name in sorted(values, key=lambda name: (-values[name], name)):
        source_node = hit.provenance.get(name)
        found = (
            "" if source_node is None else f"found through {source_node}" if source_node else "found directly"
        )
        _print_contribution(name.ljust(names), values[name], largest, found)


def _print_contribution(name: str, value: float, largest: float, found: str) -> None:
    """Print one term of the sum. Text that does not fit beside the bar continues below it."""
    block, colour = ("█", "green") if value >= 0 else ("░", "red")
    bar = block * min(_BAR, round(_BAR * abs(value) / largest)) if largest > 0 else ""
    before = f"{_INDENT}{name}  "
    taken = len(before) + _NUMBER + 1 + _BAR + 2
    first, *more = wrapped(found, max(out.width - taken, 20))
    number = f"{value:+{_NUMBER}.3f} {bar:<{_BAR}}  " if first else f"{value:+{_NUMBER}.3f} {bar}".rstrip()
    print_line((before, ""), (number, colour), (first, "dim"))
    for line in more:
        print_line((" " * taken + line, "dim"))
