"""What of a passage's sentences is embedded."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.graph.records import Passage
from trivium.graph.schema import embedding_text
from trivium.text.headings import body_of
from trivium.text.normalise import sentences

_SHORTEST = 8
"""Characters: what is shorter ("pp. 3.", a lone number of a list) says nothing by itself."""


def sentence_texts(passage: Passage, headings: Sequence[str] | None = None) -> list[str]:
    """Each sentence of its body under the headings of its passage, or under those given; none where there is only one,
    which is embedded as the passage.

    >>> sentence_texts(Passage(("Mars", "Moons"), "It has two moons. They are small."))
    ['Mars > Moons: It has two moons.', 'Mars > Moons: They are small.']
    >>> sentence_texts(Passage(("Mars", "Moons"), "It has two moons."))
    []
    """
    headings = passage.headings if headings is None else headings
    body = body_of(passage.text, passage.headings)
    found = sentences(body)
    if len(found) < 2:
        return []
    return [embedding_text(headings, body[start:end]) for start, end in found if end - start >= _SHORTEST]
