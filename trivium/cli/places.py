"""Formats the place of a passage on one line."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from trivium.cli.terminal import cut, cuts, ellipsis, one_line, out, print_line
from trivium.graph.schema import headings_of
from trivium.types import Citation, Hit, LiveOrigin, page_numbers

_ARROW = " › "


def told_place(section: str, pages: Sequence[int] = (), width: int | None = None) -> str:
    """Format title, headings and page numbers. If that is wider than ``width`` cells, the headings between the title
    and the last heading are dropped first, then the title and last heading are truncated. Page numbers are always kept.

    >>> told_place("Titan (moon)#Exploration#Huygens", (4,))
    'Titan (moon) › Exploration › Huygens, p. 4'
    >>> told_place("Titan (moon)#Exploration#Huygens", (4,), 32)
    'Titan (moon) › … › Huygens, p. 4'
    >>> told_place("Titan (moon)#Exploration#Huygens", (4,), 27)
    'Titan (moo… › Huygens, p. 4'
    """
    headings = [one_line(heading) for heading in headings_of(section)]
    tail = f", {page_numbers(pages)}" if pages else ""
    whole = _ARROW.join(headings) + tail
    if width is None or cell_len(whole) <= width:
        return whole
    if len(headings) == 1:
        return cut(headings[0], width - len(tail)) + tail
    title, heading = headings[0], headings[-1]
    shorter = f"{title}{_ARROW}{ellipsis()}{_ARROW}{heading}{tail}"
    if len(headings) > 2 and cell_len(shorter) <= width:
        return shorter
    room = width - len(_ARROW) - len(tail)
    title = cut(title, max(room - cell_len(heading), room // 2))
    return f"{title}{_ARROW}{cut(heading, room - cell_len(title))}{tail}"


def told_origin(origin: LiveOrigin) -> str:
    """Format the origin of a passage from a live source on one line.

    >>> told_origin(LiveOrigin("arxiv", "https://arxiv.org/abs/2101.00001", "2021-01-01T00:00:00Z", "2026-03-01"))
    'arxiv: https://arxiv.org/abs/2101.00001 (2021-01-01)'
    """
    day = (origin.published or f"retrieved {origin.retrieved}").partition("T")[0]
    return f"{origin.source}: {origin.address} ({day})"


def told_document(passage: Hit | Citation) -> str:
    """Return the document of a passage: its file, or the address of a live one."""
    return one_line(passage.document if passage.live is None else told_origin(passage.live))


def print_citation(citation: Citation) -> None:
    """Print one line for a passage cited by an answer."""
    number, document = f"[{citation.number}]", told_document(citation)
    width = max(out.width - len(number) - 1 - 2 - cell_len(document), out.width // 2) if cuts() else None
    place = told_place(citation.section, citation.pages, width)
    print_line(
        (number, "bold cyan"),
        (f" {place}", "bold"),
        (f"  {document}", "dim"),
        whole=citation.live is not None,
    )
