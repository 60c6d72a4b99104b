"""Answers as text for a model to read. What comes from documents stands between tags, which it can neither open nor
close."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.answering.prompting import quoted, untagged
from trivium.integrations.mcp.answers import NOTE, Answered, Counts, Found, OpenedSection, Surrounded
from trivium.types import place_of


def render_found(found: Found) -> str:
    """Passages, best first."""
    if not found.passages:
        return "\n".join(["Nothing found.", *map(quoted, found.warnings)])
    blocks = [
        _block(f"passage {hit.rank}", place_of(hit.uri, hit.pages), hit.headings, hit.text, hit.cut)
        for hit in found.passages
    ]
    return "\n".join([f"{len(blocks)} passages, best first. {NOTE}", *blocks])


def render_answered(answered: Answered) -> str:
    """An answer and what it cites."""
    lines = [NOTE, "<answer>", untagged(answered.answer), "</answer>"]
    lines += [f"Not supported by any passage: {quoted(sentence)}" for sentence in answered.unsupported]
    lines += [
        _block(
            f"passage {cited.number}", place_of(cited.uri, cited.pages), cited.headings, cited.text, cited.cut
        )
        for cited in answered.citations
    ]
    return "\n".join(lines)


def render_section(section: OpenedSection) -> str:
    """A section and where to read on."""
    lines = [f"{_headings(section.headings)}. {NOTE}", "<section>"]
    lines += [
        f"{quoted(text.uri)} ({text.start}-{text.end}):\n{quoted(text.text)}" for text in section.passages
    ]
    lines.append("</section>")
    if section.next_start is not None:
        lines.append(f"It goes on: open_section with start {section.next_start}.")
    if section.sections:
        more = f" and {section.sections_left_out} more" if section.sections_left_out else ""
        lines.append("Its parts: " + "; ".join(quoted(part.uri) for part in section.sections) + more)
    if section.above is not None:
        lines.append(f"Part of: {quoted(section.above)}")
    return "\n".join(lines)


def render_surrounded(surrounded: Surrounded) -> str:
    """Relations, a line each."""
    lines = [f"{quoted(surrounded.entity)} and its neighbours. {NOTE}", "<relations>"]
    lines += [
        f"{quoted(edge.source)} -[{quoted(edge.type)}]-> {quoted(edge.target)}"
        for edge in surrounded.relations
    ]
    lines.append("</relations>")
    if surrounded.more:
        lines.append("Some were left out: ask with a higher limit.")
    return "\n".join(lines)


def render_counts(counts: Counts) -> str:
    """Counts, a line each."""
    numbers = [*counts.nodes.items(), *counts.relationships.items(), ("aliases", counts.aliases)]
    lines = [f"{name}: {number:,}" for name, number in numbers]
    lines.append(f"embedder: {counts.embedder or 'none, nothing can be searched yet'}")
    lines.append(f"answers: {counts.model or 'sentences of the passages'}")
    return "\n".join(lines)


def _block(tag: str, place: str, headings: Sequence[str], text: str, cut: bool) -> str:
    name = tag.partition(" ")[0]
    rest = " …" if cut else ""
    return f"<{tag}>\n{quoted(place)}\n{_headings(headings)}: {quoted(text)}{rest}\n</{name}>"


def _headings(headings: Sequence[str]) -> str:
    return quoted(" > ".join(headings))
