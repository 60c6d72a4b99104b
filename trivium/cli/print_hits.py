"""Prints hits for people: in full, or on one line each with the reasons; their places, and in a few plain words why they
were found. The web page does the same (``server/page/why.js``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set

from rich.cells import cell_len, set_cell_size

from trivium.cli.terminal import cut, cuts, err, one_line, out, print_line, shown, wrapped
from trivium.common.log_odds import percent, words_for
from trivium.common.suggested_commands import for_store
from trivium.graph.schema import headings_of
from trivium.text.headings_in_passages import body_of
from trivium.text.normalise import question_terms, sentences, terms
from trivium.types import Citation, Hit, LiveOrigin, SourceOutcome, page_numbers, place_of

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
    shorter = f"{title}{_ARROW}…{_ARROW}{heading}{tail}"
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


LEGEND = (
    '%: how likely a passage answers, before it is read ("one of these" share the answer); "how sure" is judged from'
    " what is quoted"
)
_WIDEST = 110
"""Maximum width of text, for readability."""
_LINES = 3
"""Number of lines of a passage shown at a terminal."""
_INDENT = 4
_SPACES = re.compile(r"(\s+)")


def print_hits(question: str, hits: Sequence[Hit]) -> None:
    """Print hits with their place and text. At a terminal the text is an excerpt around the words of the question, which
    are bold; elsewhere it is complete.
    """
    print_question(question, hits)
    asked = set(question_terms(question))
    for hit, likely in zip(hits, how_likely(hits), strict=True):
        out.print()
        kind = "" if hit.kind == "paragraph" else f" ({hit.kind})"
        print_line(
            (f"{hit.rank:>2}", "bold cyan"),
            (likely, ""),
            (f"  {told_place(hit.section, hit.pages)}{kind}", "bold"),
            (f"  {told_document(hit)}", "dim"),
            whole=hit.live is not None,
        )
        for line in extract(question, body_of(hit.text, headings_of(hit.section))):
            print_line((" " * _INDENT, ""), *_marked(line, asked))


def print_reasons(question: str, hits: Sequence[Hit]) -> None:
    """Print explained hits on one line each: rank, how likely it is, place, and as many reasons as fit. The place
    takes at most two fifths of the line, plus what the reasons leave free.
    """
    print_question(question, hits)
    scores = how_likely(hits, aligned=True)
    places = [_told_place(hit) for hit in hits]
    said = [
        reasons(hit.contributions, hit.provenance, hit.named) or ["nothing speaks strongly for it"]
        for hit in hits
    ]
    widest = max(map(len, scores), default=0)
    room = out.width - len("10  ") - widest - len("  ")
    longest_reasons = max((cell_len("; ".join(words)) for words in said), default=0)
    place_room = min(max(map(cell_len, places), default=0), max(room * 2 // 5, room - longest_reasons))
    for hit, score, place, words in zip(hits, scores, places, said, strict=True):
        if cuts():
            place = _told_place(hit, place_room)
            place += " " * (place_room - cell_len(place))
        print_line(
            (f"{hit.rank:>2}", "bold cyan"),
            (f"{score:<{widest}}", ""),
            (f"  {place}", "bold"),
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


def print_legend(hits: Sequence[Hit]) -> None:
    """Explain the words and numbers before hits at a terminal."""
    if cuts() and any(hit.rerank_score is not None for hit in hits):
        err.print("[dim]numbers: scores of the reranker, higher is better[/]")
    elif cuts() and any(hit.probability is not None for hit in hits):
        err.print(f"[dim]{LEGEND}[/]")


def how_likely(hits: Sequence[Hit], *, aligned: bool = False) -> list[str]:
    """Say of each hit how likely it answers, in a word and as a percentage, which are ``aligned`` below each other; of a
    reranked hit its score, and nothing if there is no probability: other scores mean nothing but the order.
    """
    likely = [hit.probability if hit.rerank_score is None else None for hit in hits]
    words = iter(words_for([one for one in likely if one is not None]))
    told = [
        (next(words), percent(one))
        if one is not None
        else ("" if hit.rerank_score is None else f"{hit.rerank_score:.4g}", "")
        for hit, one in zip(hits, likely, strict=True)
    ]
    if not aligned:
        return [f"  {word} ({number})" if number else word and f"  {word}" for word, number in told]
    wide, long = (max(map(len, column)) for column in zip(*told, strict=True)) if told else (0, 0)
    return [f"  {word:<{wide}}  {number:>{long}}".rstrip() for word, number in told]


def extract(question: str, text: str) -> list[str]:
    """Return lines of a passage: at a terminal at most three, beginning at the sentence from which they contain most
    words of the question. Line breaks of the passage (list items, table rows) become slashes.
    """
    if not cuts():
        return [_in_one_line(text)]
    width = min(out.width, _WIDEST) - _INDENT
    start = 0 if len(text) <= _LINES * width else _telling(question, text, _LINES * width)
    before = "… " if start > 0 else ""
    lines = wrapped(before + _in_one_line(text[start:]), width)
    if len(lines) <= _LINES:
        return lines
    last = lines[_LINES - 1]
    if cell_len(last) > width - 4:
        last = set_cell_size(last, width - 4).rstrip().rsplit(" ", 1)[0]
    return [*lines[: _LINES - 1], f"{last} …"]


def _marked(line: str, asked: Set[str]) -> Iterator[tuple[str, str]]:
    """Iterate over the parts of a line with their styles: words are bold if they have a term that is asked for."""
    for part in _SPACES.split(line):
        yield part, "" if asked.isdisjoint(terms(part)) else "bold"


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


_BAR = 12
_SLIGHT = 0.05
"""A retriever that moved a passage by a smaller share of what the strongest did is not listed."""


def print_details(hit: Hit, hits: Sequence[Hit]) -> None:
    """Print one of some ``hits``: how likely it answers, its address, its whole text, and a bar for each retriever that
    moved it up or down, with the reason. The numbers are in the JSON.
    """
    print_line(
        (f"{hit.rank:>2}", "bold cyan"),
        (how_likely(hits)[hits.index(hit)], ""),
        (f"  {told_place(hit.section, hit.pages)}", "bold"),
    )
    if document := told_document(hit):
        print_line((" " * _INDENT + document, "dim"), whole=True)
    _print_wrapped(f"{place_of(hit.uri, hit.pages)}, characters {hit.start} to {hit.end}", "dim")
    out.print()
    _print_wrapped(hit.text)
    out.print()
    largest = max(map(abs, hit.contributions.values()), default=0.0)
    moved = {name: value for name, value in hit.contributions.items() if abs(value) > _SLIGHT * largest}
    _print_wrapped("what moved it up or down, compared with the other passages found:" if moved else "")
    names = max(map(len, moved), default=0)
    for name in sorted(moved, key=lambda name: (-moved[name], name)):
        reason = _reason(name, hit.provenance, hit.named) if moved[name] > 0 else "less than others"
        path = hit.provenance.get(name, "") if name == "path" and moved[name] > 0 else ""
        _print_contribution(name.ljust(names), moved[name] / largest, ": ".join(filter(None, (reason, path))))


def _print_wrapped(text: str, style: str = "") -> None:
    for line in wrapped(text, out.width - _INDENT):
        print_line((" " * _INDENT + line, style))


def _print_contribution(name: str, share: float, reason: str) -> None:
    """Print the bar of a retriever that moved a passage by a ``share`` in [-1, 1] of what the strongest did. A reason
    that does not fit beside it continues below it.
    """
    block, colour, way = ("█", "green", "up") if share > 0 else ("░", "red", "down")
    before = f"{' ' * _INDENT}{name}  "
    bar = f"{way:<4} {block * max(1, round(_BAR * abs(share))):<{_BAR}}  "
    taken = len(before) + len(bar)
    first, *more = wrapped(reason, max(out.width - taken, 20))
    print_line((before, ""), (bar if first else bar.rstrip(), colour), (first, "dim"))
    for line in more:
        print_line((" " * taken + line, "dim"))


MOST_REASONS = 3
_SMALLEST = 0.12
"""A retriever whose share of the positive contributions is below this is not mentioned."""
_STEP = re.compile(r" -\[[^\[\]]*\]-> ")


def reasons(
    contributions: Mapping[str, float], provenance: Mapping[str, str], named: Sequence[str] = ()
) -> list[str]:
    """Return the strongest reasons for a passage, at most three, strongest first; empty when no retriever contributes.

    The arguments are ``contributions``, ``provenance`` and ``named`` of a :class:`trivium.types.Hit`: what each retriever
    added to the score, the node through which it found the passage, and the words that name its document.

    >>> reasons({"lexical": 3.3, "path": 2.7, "page": -0.1}, {"path": "Mars -[moons]-> Deimos -[found by]-> Hall"})
    ['its words match', '2 links from Mars']
    >>> reasons({"entity": -1.0}, {"entity": "Mars"})
    []
    >>> reasons({"page": 2.0}, {"page": "ADOBE_2017_10K"}, ("FY2017", "Adobe"))
    ['the question names FY2017, Adobe']
    """
    added = {name: value for name, value in contributions.items() if value > 0}
    threshold = _SMALLEST * sum(added.values())
    largest_first = sorted(added, key=lambda name: (-added[name], name))
    said = [_reason(name, provenance, named) for name in largest_first if added[name] >= threshold]
    return list(dict.fromkeys(filter(None, said)))[:MOST_REASONS]


def _reason(name: str, provenance: Mapping[str, str], named: Sequence[str]) -> str:
    """Return the reason for one retriever; empty if it would mean nothing to users."""
    source = provenance.get(name, "")
    match name:
        case "lexical":
            return "its words match"
        case "vector":
            return "near in meaning"
        case "page":
            return f"the question names {', '.join(named)}" if named else "its document is about this"
        case "section":
            return (
                f"section “{headings_of(source)[-1]}” is about this"
                if source
                else "its section is about this"
            )
        case "entity":
            return f"speaks of {headings_of(source)[-1]}" if source else "speaks of what is asked about"
        case "path":
            return _along(source)
        case "diffusion":
            return "like the other good passages"
        case "walk":
            path = provenance.get("path", "")
            return _along(path) if _STEP.search(path) else "links lead to it"
        case "image":
            return "its picture is alike"
        case _:
            return f"found by {name}"


def _along(path: str) -> str:
    """Describe a path given as text: only its first node and its number of links are used."""
    if not path:
        return ""
    start = " › ".join(headings_of(_STEP.split(path, maxsplit=1)[0]))
    links = len(_STEP.findall(path))
    return f"about {start}" if links == 0 else f"{links} {'link' if links == 1 else 'links'} from {start}"
