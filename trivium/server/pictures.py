"""Pictures that passages stand for: where their thumbnails are, and passages as the server gives them, with that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NotRequired, cast
from urllib.parse import quote

from typing_extensions import TypedDict  # the server's schemas take the one of typing from Python 3.12 on

from trivium.graph.protocols import SearchStore
from trivium.serialization import HitFields, LiveFields, hit_json, live_json
from trivium.types import ChunkKind, Citation, Hit

PATH = "/thumbnails"
MEDIA_TYPE = "image/webp"
CACHE = "private, no-cache"
"""Browsers keep it and ask whether it is still the same: another picture may come to stand under the same uri, and
documents may need a key to be read."""

Addresses = Mapping[str, str]
"""uri of a passage -> address of its thumbnail, of those that have one."""


class ServedHit(HitFields):
    """A passage with the address of its thumbnail, where it stands for a picture that has one."""

    thumbnail: NotRequired[str]


class ServedCitation(TypedDict):
    """A passage that an answer rests on, with the address of its thumbnail, where it has one."""

    number: int
    uri: str
    page: str
    section: str
    start: int
    end: int
    document: str
    pages: list[int]
    live: LiveFields | None
    thumbnail: NotRequired[str]


def address_of(uri: str) -> str:
    """Where the thumbnail of a passage is.

    >>> address_of("AC/DC#chunk-1")
    '/thumbnails/AC%2FDC%23chunk-1'
    """
    return f"{PATH}/{quote(uri, safe='')}"


def addresses(store: SearchStore, hits: Iterable[Hit]) -> Addresses:
    """Those of hits. Reads nothing where none of them is a picture."""
    pictures = [hit.uri for hit in hits if hit.kind == ChunkKind.IMAGE]
    return {uri: address_of(uri) for uri in store.thumbnails(pictures)} if pictures else {}


def served_hit(hit: Hit, thumbnails: Addresses) -> ServedHit:
    """A hit as JSON."""
    served = cast(ServedHit, hit_json(hit))
    if hit.uri in thumbnails:
        served["thumbnail"] = thumbnails[hit.uri]
    return served


def served_citation(citation: Citation, thumbnails: Addresses) -> ServedCitation:
    """A citation as JSON. The passages cited are among the hits of their answer."""
    served: ServedCitation = {
        "number": citation.number,
        "uri": citation.uri,
        "page": citation.page,
        "section": citation.section,
        "start": citation.start,
        "end": citation.end,
        "document": citation.document,
        "pages": list(citation.pages),
        "live": live_json(citation.live),
    }
    if citation.uri in thumbnails:
        served["thumbnail"] = thumbnails[citation.uri]
    return served


def names_tag(if_none_match: str, tag: str) -> bool:
    """Whether the header names the tag; as proxies weaken tags, the mark of a weak one does not count.

    >>> names_tag('"a", W/"b"', '"b"'), names_tag("*", '"b"'), names_tag('"a"', '"b"')
    (True, True, False)
    """
    named = [part.strip().removeprefix("W/") for part in if_none_match.split(",")]
    return "*" in named or tag in named
