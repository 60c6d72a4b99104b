"""Pictures in answers: thumbnails of passages, and the JSON of hits and citations that links to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NotRequired, cast
from urllib.parse import quote

from typing_extensions import TypedDict  # the server's schemas take the one of typing from Python 3.12 on

from trivium.graph.protocols import SearchStore
from trivium.serialization import HitFields, LiveFields, citation_json, hit_json
from trivium.types import ChunkKind, Citation, Hit

PATH = "/thumbnails"
MEDIA_TYPE = "image/webp"

Addresses = Mapping[str, str]
"""Maps uris of passages to addresses of their thumbnails, for those that have one."""


class ServedHit(HitFields):
    """A passage, with the address of its thumbnail if it is a picture that has one."""

    thumbnail: NotRequired[str]


class ServedCitation(TypedDict):
    """A passage cited by an answer, with the address of its thumbnail if it has one."""

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
    """Return the address of a passage's thumbnail.

    >>> address_of("AC/DC#chunk-1")
    '/thumbnails/AC%2FDC%23chunk-1'
    """
    return f"{PATH}/{quote(uri, safe='')}"


def addresses(store: SearchStore, hits: Iterable[Hit]) -> Addresses:
    """Return the thumbnail addresses of hits. Does not access the store if no hit is a picture."""
    pictures = [hit.uri for hit in hits if hit.kind == ChunkKind.IMAGE]
    return {uri: address_of(uri) for uri in store.thumbnails(pictures)} if pictures else {}


def served_hit(hit: Hit, thumbnails: Addresses) -> ServedHit:
    """Convert a hit to JSON."""
    served = cast(ServedHit, hit_json(hit))
    if hit.uri in thumbnails:
        served["thumbnail"] = thumbnails[hit.uri]
    return served


def served_citation(citation: Citation, thumbnails: Addresses) -> ServedCitation:
    """Convert a citation to JSON. Cited passages are among the hits of their answer."""
    served = cast(ServedCitation, citation_json(citation))
    if citation.uri in thumbnails:
        served["thumbnail"] = thumbnails[citation.uri]
    return served
