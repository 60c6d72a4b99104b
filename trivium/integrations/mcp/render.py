"""Renders results as text for a model. Content of documents is enclosed in tags that it can neither open nor close."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.answering.prompting import quoted, untagged
from trivium.common.log_odds import in_words, percent, words_for
from trivium.integrations.mcp.output_schemas import (
    NOTE,
    Answered,
    Cited,
    Counts,
    Found,
    FoundPassage,
    OpenedSection,
    Surrounded,
)
from trivium.text.headings_in_passages import body_of
from trivium.types import Outcome, SourceOutcome, place_of

_OUTCOMES: dict[Outcome, str] = {
    "answered": "answered",
    "closest": "closest. No sentence states the answer; these are the nearest passages",
    "absent": "absent. Nothing that was searched is near the question",
}


def render_found(found: Found) -> str:
    """Render passages, best first."""
    asked = _asked(found.sources)
    if not found.passages:
        return "\n".join(["Nothing found.", *map(quoted, found.warnings), *asked])
    blocks = [
        _block(hit.rank, hit, likely) for hit, likely in zip(found.passages, _likely(found), strict=True)
    ]
    warned = [f"Note: {quoted(warning)}" for warning in found.warnings]
    return "\n".join(
        [
            f"{len(blocks)} {'passage' if len(blocks) == 1 else 'passages'}, best first. {NOTE}",
            *warned,
            *asked,
            *blocks,
        ]
    )


def render_answered(answered: Answered) -> str:
    """Render an answer and its citations."""
    sure = "" if answered.confidence is None else f" How sure: {in_words(answered.confidence)}."
    lines = [NOTE, f"Outcome: {_OUTCOMES[answered.outcome]}.{sure} Intent: {answered.intent}."]
    if answered.searched_for is not None:
        lines.append(f"Searched for: {quoted(answered.searched_for)}")
    if answered.recall_query is not None:
        lines.append(f"Candidates also for: {quoted(answered.recall_query)}")
    lines += [f"Note: {quoted(warning)}" for warning in answered.warnings]
    lines += [*_asked(answered.sources), "<answer>", untagged(answered.answer), "</answer>"]
    lines += [quoted(str(other)) for other in answered.disagreements]
    lines += [f"Not in the documents: {quoted(sentence)}" for sentence in answered.unsupported]
    lines += [_block(cited.number, cited) for cited in answered.citations]
    return "\n".join(lines)


def render_section(section: OpenedSection) -> str:
    """Render a section and how to continue reading."""
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
    """Render relations, one per line."""
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
    """Render counts, one per line."""
    numbers = [*counts.nodes.items(), *counts.relationships.items(), ("aliases", counts.aliases)]
    lines = [f"{name}: {number:,}" for name, number in numbers]
    lines.append(f"embedder: {counts.embedder or 'none, nothing can be searched yet'}")
    lines.append(f"answers: {counts.model or 'sentences of the passages'}")
    lines.append(f"live sources: {counts.live}" + "".join(f", {name}" for name in counts.sources))
    return "\n".join(lines)


def _likely(found: Found) -> list[str]:
    """Return a line for each passage that says how likely it answers; nothing if it is not known."""
    if found.scores == "own" or any(hit.rerank_score is not None for hit in found.passages):
        return [""] * len(found.passages)
    probabilities = [hit.probability or 0.0 for hit in found.passages]
    words = words_for(probabilities)
    return [f"Answers: {word} ({percent(one)})" for word, one in zip(words, probabilities, strict=True)]


def _block(number: int, passage: FoundPassage | Cited, likely: str = "") -> str:
    lines = [f"<passage {number}>", quoted(place_of(passage.uri, passage.pages)), *filter(None, [likely])]
    live = passage.live
    if live is not None:
        published = f"published {live['published']}, " if live["published"] else ""
        lines.append(
            quoted(
                f"Not from the collection: {live['address']}"
                f" ({live['source']}, {published}retrieved {live['retrieved']})"
            )
        )
    rest = " …" if passage.cut else ""
    body = body_of(passage.text, passage.headings)
    lines += [f"{_headings(passage.headings)}: {quoted(body)}{rest}", "</passage>"]
    return "\n".join(lines)


def _asked(sources: Sequence[SourceOutcome]) -> list[str]:
    """Render one line per live source: the number of passages found, or the error."""
    return [
        f"Live source {quoted(source.name)}: {source.found} found"
        + ("" if source.cached_age is None else f", {source.cached_age:.0f} s old")
        + ("" if source.error is None else f"; {quoted(source.error)}")
        for source in sources
    ]


def _headings(headings: Sequence[str]) -> str:
    return quoted(" > ".join(headings))
