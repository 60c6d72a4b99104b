"""Labels, relationship types and uri rules: the one place that names them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from trivium.text.headings_in_passages import body_of
from trivium.text.normalise import without_id

SCHEMA_VERSION = 9

MAX_URI_BYTES = 4000
"""Longest uri, in bytes of UTF-8: a graph database keeps uris in index keys of about 8 kB at most."""

SEPARATOR = "#"
CHUNK_MARK = "#chunk-"
_ESCAPED = re.compile("%(?:25)*23")
_LOOKS_ESCAPED = re.compile("#|%(?:25)*23")


QUESTION = "Question"
"""Label of questions that chunks answer. They are there on request alone and nothing searches them, so that it is no
:class:`Label`."""


class Label(StrEnum):
    """Labels of the nodes that are searched. Every Page is an Entity as well."""

    ENTITY = "Entity"
    PAGE = "Page"
    SUBCHAPTER = "SubChapter"
    CHUNK = "Chunk"


class RelationshipType(StrEnum):
    """Relationship types of the graph."""

    HAS_SUBCHAPTER = "has_subchapter"
    IS_SUBCHAPTER_OF = "is_subchapter_of"
    HAS_CHUNK = "has_chunk"
    IS_CHUNK_OF = "is_chunk_of"
    NEXT = "next"
    PREVIOUS = "previous"
    CITES = "cites"
    CITED_IN = "cited_in"
    SEMANTIC_REL = "semantic_rel"
    IS_ANSWER_OF = "is_answer_of"


ON_REQUEST = frozenset({QUESTION, str(RelationshipType.IS_ANSWER_OF)})
"""What a graph has only where it was asked for: it is counted only where there is some."""


class Hop(StrEnum):
    """Ways from a node to chunks."""

    BELOW = "below"  # Page -> every chunk of the page
    CHILD = "child"  # Page or SubChapter -> chunks directly under it
    CITED_IN = "cited_in"  # Entity -> chunks that cite it


def escape(part: str) -> str:
    """A title or heading as one part of a uri: ``#`` is the separator and is written ``%23``. What looks like that
    already gets one ``25`` more, so that no two titles have the same uri; any other ``%`` stays.

    >>> escape("C# (language)"), escape("%23"), escape("100 % of 25")
    ('C%23 (language)', '%2523', '100 % of 25')
    """
    return _LOOKS_ESCAPED.sub(_escape_once, part)


def unescape(part: str) -> str:
    """The inverse of :func:`escape`.

    >>> unescape("C%23 (language)"), unescape("%2523")
    ('C# (language)', '%23')
    """
    return _ESCAPED.sub(_unescape_once, part)


def _escape_once(found: re.Match[str]) -> str:
    return "%23" if found.group() == SEPARATOR else f"%25{found.group()[1:]}"


def _unescape_once(found: re.Match[str]) -> str:
    return SEPARATOR if found.group() == "%23" else f"%{found.group()[3:]}"


def page_uri(title: str) -> str:
    """The uri of a page or entity."""
    return escape(title)


def section_uri(parent: str, heading: str) -> str:
    """The uri of a section under a page or section."""
    return f"{parent}{SEPARATOR}{escape(heading)}"


def chunk_uri(section: str, number: int) -> str:
    """The uri of the ``number``-th (from 1) chunk directly under a section or page."""
    return f"{section}{CHUNK_MARK}{number}"


def headings_of(section: str) -> list[str]:
    """Title and headings down to a section, readable.

    >>> headings_of("Mars#Moons#Phobos")
    ['Mars', 'Moons', 'Phobos']
    """
    parts = section.split(SEPARATOR)
    return [unescape(part) for part in parts] if "%" in section else parts


def headings_as_text(section: str) -> list[str]:
    """Title and headings down to a section as they are searched and embedded: without what is only an id.

    >>> headings_as_text("Heather ⟦17⟧"), headings_as_text("⟦Document 17⟧#Moons")
    (['Heather'], ['Moons'])
    """
    title, *below = section.split(SEPARATOR) if "%" not in section else headings_of(section)
    if "⟧" in title:
        title = without_id(title)
    return [title, *below] if title else below


def page_of(uri: str) -> str:
    """The page a section or chunk belongs to."""
    return uri.split(SEPARATOR, 1)[0]


def section_of(chunk: str) -> str:
    """The section or page directly above a chunk."""
    return chunk.rpartition(CHUNK_MARK)[0]


def embedding_text(headings: Sequence[str], text: str) -> str:
    """What of a chunk is embedded: its headings, then its text; without headings the text alone.

    >>> embedding_text(["Mars", "Moons"], "It has two.")
    'Mars > Moons: It has two.'
    >>> embedding_text(["Mars", "Moons"], "Moons\\n\\nIt has two.")
    'Mars > Moons: It has two.'
    >>> embedding_text([], "It has two.")
    'It has two.'
    """
    return f"{' > '.join(headings)}: {body_of(text, headings)}" if headings else text


def entity_text(uri: str, type: str = "") -> str:
    """What of an entity is embedded: its name, with its type in parentheses when one is known and the name does
    not end with it already.

    >>> entity_text("Phobos", "moon")
    'Phobos (moon)'
    >>> entity_text("Mercury (planet)", "planet")
    'Mercury (planet)'
    """
    name = unescape(without_id(uri) or uri)
    return f"{name} ({type})" if type and not name.endswith(f"({type})") else name


def without_unrequested(counts: Mapping[str, int]) -> dict[str, int]:
    """Numbers of nodes or relationships, without those that are there on request and that nobody requested.

    >>> without_unrequested({"Chunk": 0, "Question": 0})
    {'Chunk': 0}
    """
    return {name: count for name, count in counts.items() if count or name not in ON_REQUEST}


def mirror_type(relation: str) -> str:
    """The type of the relation back from target to source.

    >>> mirror_type("discovered by")
    'is_discovered by_of'
    """
    return f"is_{relation}_of"
