"""Passages of different documents of a store that state different values of the same thing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from trivium.answering.in_force import why_newer
from trivium.answering.passages import NumberedPassage, hit_of, passages
from trivium.answering.rarity import Rarity
from trivium.answering.stated_values import differ, values_of
from trivium.answering.table_rows import rows_of
from trivium.common import stopping
from trivium.common.iteration import batched
from trivium.errors import NotEmbeddedError
from trivium.graph.protocols import SearchStore
from trivium.graph.schema import Label
from trivium.text.languages import StoreLanguages
from trivium.text.normalise import sentences
from trivium.types import ChunkKind

_NEAREST = 12
"""Passages, some of them of the same document, that each is compared with."""
_ALIKE, _ALIKE_OF_UNKNOWN_AGE = 0.5, 0.8
"""How alike two texts must be (harmonic mean of the shares that each says of the other); with their headings if nothing
tells which is newer, since most such texts of two pages are about two things.
"""
_LONGEST = 400
_AT_ONCE = 256
_CODE = re.compile(r"\b[A-Z]{1,4}-?\d[\w-]{0,20}")


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two texts, verbatim, of the passages `uri` and `other_uri`, that state different values of the same thing, and how
    `alike` they are, in [0, 1]. `reason` says why the first is newer; empty if nothing tells which is in force.
    """

    alike: float
    document: str
    uri: str
    text: str
    other_document: str
    other_uri: str
    other_text: str
    reason: str


def conflicts(store: SearchStore, limit: int) -> list[Conflict]:
    """Return at most ``limit`` conflicts, each text in one of them, the most alike first. Each passage is compared with
    the nearest ones by their vectors. Raises NotEmbeddedError.
    """
    if store.embedder is None:
        raise NotEmbeddedError("nothing in the store is embedded yet: run  trivium embed --store STORE")
    analyzer = StoreLanguages.read(store.languages).analyzer
    found: list[Conflict] = []
    compared: set[frozenset[str]] = set()
    for uris in batched(store.chunk_uris(), _AT_ONCE):
        stopping.check()
        near: dict[str, list[str]] = {}
        for uri, vector in zip(uris, store.vectors(Label.CHUNK, uris), strict=True):
            if vector[0] == vector[0]:  # one that is not embedded has none
                near[uri] = [one.uri for one in store.nearest([Label.CHUNK], vector, _NEAREST)]
        wanted = list(dict.fromkeys([*near, *(uri for others in near.values() for uri in others)]))
        read = {one.hit.uri: one for one in passages([hit_of(one) for one in store.fetch(wanted)], analyzer)}
        said = {uri: list(_statements(passage)) for uri, passage in read.items()}
        above = [passage.headings for passage in read.values()]
        rarity = Rarity.of(store, [*above, *(text for texts in said.values() for text in texts)])
        for uri, other in ((uri, other) for uri, others in near.items() for other in others):
            if read[uri].hit.document == read[other].hit.document:
                continue
            for text, instead in product(said[uri], said[other]):
                pair = frozenset([text, instead])
                if pair not in compared and differ(text, instead, days=False):
                    compared.add(pair)
                    found += _conflict(read[uri], text, read[other], instead, rarity)
    return _once(sorted(found, key=lambda one: (-one.alike, one.uri, one.other_uri)), limit)


def _conflict(
    one: NumberedPassage, text: str, other: NumberedPassage, instead: str, rarity: Rarity
) -> list[Conflict]:
    """Return the conflict of two texts that state different values, if they are about the same."""
    codes, others = frozenset(_CODE.findall(text)), frozenset(_CODE.findall(instead))
    alike = _mean(rarity.alike(text, instead))
    if alike < _ALIKE or (codes and others and codes.isdisjoint(others)):
        return []
    reason = why_newer(one, text, other, instead)
    if not reason:
        later = why_newer(other, instead, one, text)
        if later:
            one, text, other, instead, reason = other, instead, one, text, later
        elif ChunkKind.INFOBOX in (one.hit.kind, other.hit.kind):  # of what the page is about
            return []
        else:
            alike = min(alike, _mean(rarity.alike(f"{one.headings} {text}", f"{other.headings} {instead}")))
            if alike < _ALIKE_OF_UNKNOWN_AGE:
                return []
    first, second = one.hit, other.hit
    return [Conflict(alike, first.document, first.uri, text, second.document, second.uri, instead, reason)]


def _mean(shares: tuple[float, float]) -> float:
    return 2 * shares[0] * shares[1] / (sum(shares) or 1)


def _once(found: Sequence[Conflict], limit: int) -> list[Conflict]:
    kept: list[Conflict] = []
    seen: set[str] = set()
    for one in found:
        if seen.isdisjoint([one.text, one.other_text]):
            seen |= {one.text, one.other_text}
            kept.append(one)
    return kept[:limit]


def _statements(passage: NumberedPassage) -> Iterator[str]:
    """Iterate over the sentences and rows of a passage that state values."""
    rows = {row.text for row in rows_of(passage)}
    for line in passage.body.splitlines():
        for start, end in [(0, len(line))] if line in rows else sentences(line):
            if end - start <= _LONGEST and values_of(line[start:end]):
                yield line[start:end]
