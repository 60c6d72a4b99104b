"""Explains in a few plain words why a passage was found. The web page does the same (``server/page/why.js``)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trivium.graph.schema import headings_of

MOST = 3
_SMALLEST = 0.12
"""A retriever whose share of the positive contributions is below this is not mentioned."""
_STEP = re.compile(r" -\[[^\[\]]*\]-> ")


def reasons(contributions: Mapping[str, float], provenance: Mapping[str, str]) -> list[str]:
    """Return the strongest reasons for a passage, at most three, strongest first; empty when no retriever contributes.

    The arguments are ``contributions`` and ``provenance`` of a :class:`trivium.types.Hit`: what each retriever added to
    the score, and the node through which it found the passage.

    >>> reasons({"lexical": 3.3, "path": 2.7, "page": -0.1}, {"path": "Mars -[moons]-> Deimos -[found by]-> Hall"})
    ['its words match', '2 links from Mars']
    >>> reasons({"entity": -1.0}, {"entity": "Mars"})
    []
    """
    added = {name: value for name, value in contributions.items() if value > 0}
    threshold = _SMALLEST * sum(added.values())
    largest_first = sorted(added, key=lambda name: (-added[name], name))
    said = [_reason(name, provenance) for name in largest_first if added[name] >= threshold]
    return list(dict.fromkeys(filter(None, said)))[:MOST]


def _reason(name: str, provenance: Mapping[str, str]) -> str:
    """Return the reason for one retriever; empty if it would mean nothing to users."""
    source = provenance.get(name, "")
    match name:
        case "lexical":
            return "its words match"
        case "vector":
            return "near in meaning"
        case "page":
            return "its document is about this"
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
