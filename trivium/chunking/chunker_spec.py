"""Chunker specifications by name and size: ``fixed``, ``fixed:500/50``, ``fixed:1000/200c``, ``sentence:200``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trivium.errors import InputError

CHUNKERS = ("blocks", "fixed", "sentence", "recursive", "semantic", "agentic")
"""The strategies. ``blocks``, the default, keeps the blocks found by the parser."""

DEFAULT = "blocks"

_SIZED = {"fixed": 300, "sentence": 200, "recursive": 300, "semantic": 300}
_FIXED_OVERLAP = 50
_FORM = re.compile(r"(?P<name>[a-z]+)(?::(?P<size>\d{1,6})(?:/(?P<overlap>\d{1,6}))?(?P<unit>[ct]?))?")
_TOKENS = range(10, 2_001)
_CHARACTERS = range(50, 10_001)


@dataclass(frozen=True, slots=True)
class ChunkerSpec:
    """A strategy with its sizes. ``size`` is the maximum size of a chunk, and ``overlap`` how much of a chunk the next
    one repeats; in characters if ``characters``, else in tokens (words and punctuation marks). ``size`` is None if the
    strategy has none.
    """

    name: str
    size: int | None = None
    overlap: int = 0
    characters: bool = False

    def __str__(self) -> str:
        """Return the spec with all sizes in canonical form."""
        if self.size is None:
            return self.name
        overlap = f"/{self.overlap}" if self.name == "fixed" else ""
        return f"{self.name}:{self.size}{overlap}{'c' if self.characters else ''}"


def parse_spec(text: str) -> ChunkerSpec:
    """Parse a spec. Raises InputError that lists the valid ones.

    >>> str(parse_spec("fixed")), str(parse_spec("fixed:1000/200c")), str(parse_spec("blocks"))
    ('fixed:300/50', 'fixed:1000/200c', 'blocks')
    """
    found = _FORM.fullmatch(text.strip())
    if found is None or found["name"] not in CHUNKERS:
        raise InputError(
            f"expected a chunker, one of {', '.join(CHUNKERS)}, also with a size such as fixed:500/50 or"
            f" fixed:1000/200c, got {text!r}"
        )
    name, unit = found["name"], found["unit"]
    if name not in _SIZED:
        if found["size"] is not None:
            raise InputError(f"the chunker {name} takes no size, got {text!r}")
        return ChunkerSpec(name)
    if found["size"] is None:
        return ChunkerSpec(name, _SIZED[name], _FIXED_OVERLAP if name == "fixed" else 0)
    size, overlap, characters = int(found["size"]), int(found["overlap"] or 0), unit == "c"
    if name != "fixed" and (found["overlap"] is not None or characters):
        raise InputError(
            f"the chunker {name} takes a size in tokens, as in {name}:{_SIZED[name]}, got {text!r}"
        )
    allowed, what = (_CHARACTERS, "characters") if characters else (_TOKENS, "tokens")
    if size not in allowed:
        raise InputError(f"expected {allowed.start} to {allowed.stop - 1:,} {what} a chunk, got {text!r}")
    if overlap > size // 2:
        raise InputError(f"expected an overlap of at most half of a chunk ({size // 2}), got {text!r}")
    return ChunkerSpec(name, size, overlap, characters)
