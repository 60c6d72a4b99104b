"""What of a passage's sentences is embedded."""

from __future__ import annotations

from trivium.graph.records import Passage
from trivium.graph.schema import embedding_text
from trivium.text import sentences

_SHORTEST = 8
"""Characters: what is shorter ("pp. 3.", a lone number of a list) says nothing by itself."""


def sentence_texts(passage: Passage) -> list[str]:
    """Each sentence under the headings of its passage; none where there is only one, which is embedded as the passage.

    >>> sentence_texts(Passage(("Mars", "Moons"), "It has two moons. They are small."))
    ['Mars > Moons: It has two moons.', 'Mars > Moons: They are small.']
    >>> sentence_texts(Passage(("Mars", "Moons"), "It has two moons."))
    []
    """
    found = sentences(passage.text)
    if len(found) < 2:
        return []
    return [
        embedding_text(passage.headings, passage.text[start:end])
        for start, end in found
        if end - start >= _SHORTEST
    ]
