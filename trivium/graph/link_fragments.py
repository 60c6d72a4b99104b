"""Anchors: by which names links mean the sections of a page.

Each program that makes web pages of documents names headings in a way of its own: "What's new?" is ``whats-new`` on
GitHub and for MkDocs, ``what-s-new`` for Sphinx, ``What's new?`` in Obsidian. Letters and digits are the same in all, so
these are what is compared.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from urllib.parse import unquote

from trivium.graph.schema import SEPARATOR
from trivium.types import Section

MAX_ANCHOR = 200
"""Characters of an anchor as it is compared; what is longer is cut, on both sides."""

_MAX_GIVEN = 2_000


def anchor_key(anchor: str) -> str:
    """An anchor, or a heading, as it is compared: its letters and digits, small, without accents.

    >>> anchor_key("whats-new"), anchor_key("What's new?"), anchor_key("f%C3%BCr-alle_1")
    ('whatsnew', 'whatsnew', 'furalle1')
    """
    plain = unicodedata.normalize("NFKD", unquote(anchor[:_MAX_GIVEN])).casefold()
    return "".join(filter(str.isalnum, plain))[:MAX_ANCHOR]


def anchor_of(address: str) -> str:
    """The anchor of an address or wiki link as it is compared; empty where there is none, and for places that are no
    sections: blocks of Obsidian, and text to be searched for.

    >>> anchor_of("../setup.md?v=1#on-linux"), anchor_of("[[Setup#Install#On Linux]]"), anchor_of("setup.md")
    ('onlinux', 'onlinux', '')
    """
    wiki = address.startswith("[[") and address.endswith("]]")
    name = (address[2:-2] if wiki else address).partition("#")[2]
    if wiki:
        name = name.rpartition("#")[2]
    return "" if name.startswith(("^", ":~:")) else anchor_key(name)


def section_anchors(sections: Sequence[Section]) -> list[tuple[str, ...]]:
    """For each section of a page the anchors that mean it, each anchor of one section alone: those that the document
    gives it, then its heading. A heading that comes again has a number, from 1."""
    found: list[dict[str, None]] = [{} for _ in sections]
    taken: set[str] = set()
    for own, section in zip(found, sections, strict=True):
        for key in map(anchor_key, section.anchors):
            if key and key not in taken:
                taken.add(key)
                own[key] = None
    counts: dict[str, int] = {}
    for own, section in zip(found, sections, strict=True):
        key = anchor_key(section.heading)
        number = counts.get(key, 0)
        counts[key] = number + 1
        numbered = f"{key}{number}" if number else key
        if key and numbered not in taken:
            taken.add(numbered)
            own[numbered] = None
    return [tuple(own) for own in found]


def section_link(page: str, anchor: str) -> str:
    """A link to a section: the uri of a page as it is cited, and an anchor as it is compared."""
    return f"{page}{SEPARATOR}{anchor}"


def split_link(link: str) -> tuple[str, str]:
    """The inverse of :func:`section_link`."""
    page, _, anchor = link.partition(SEPARATOR)
    return page, anchor
