"""What pages know of themselves beside their text, as stores write it down."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from trivium.graph.model import PageGraph
from trivium.types import MetadataValue


def now() -> str:
    """The time of day in UTC, to the second, as ISO 8601 writes it: ``2026-11-23T16:45:00Z``."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def encode_metadata(metadata: Mapping[str, MetadataValue], given: Collection[str] = ()) -> str:
    """Metadata as JSON, its keys in order, so that the same metadata is the same text. What the user has ``given`` stands
    in brackets.

    >>> encode_metadata({"year": 2020, "author": "Ada"}, given=["year"])
    '{"author":"Ada","year":[2020]}'
    """
    written = {key: [value] if key in given else value for key, value in metadata.items()}
    return json.dumps(written, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def decode_metadata(text: str | None) -> dict[str, MetadataValue]:
    """The metadata of :func:`encode_metadata`; none for None."""
    facts: dict[str, Any] = json.loads(text) if text else {}
    return {key: value[0] if isinstance(value, list) else value for key, value in facts.items()}


def decode_given(text: str | None) -> tuple[str, ...]:
    """The keys in :func:`encode_metadata` that the user has given, in order.

    >>> decode_given('{"author":"Ada","year":[2020]}')
    ('year',)
    """
    facts: dict[str, Any] = json.loads(text) if text and "[" in text else {}
    return tuple(sorted(key for key, value in facts.items() if isinstance(value, list)))


def document_name(document: str) -> str:
    """What a document is called to whoever asks: where files lie on this machine is nobody's business.

    >>> document_name("records:/home/ada/notes.jsonl"), document_name("reports/1.pdf")
    ('notes.jsonl', 'reports/1.pdf')
    """
    name = document.removeprefix("records:")
    if ":" not in name and not name.startswith(("/", "\\")):  # cheaper than a path, which each hit would make
        return name
    return PurePath(name).name if PurePath(name).is_absolute() else name


def has_facts(page: PageGraph) -> bool:
    """Whether a page, or any of its chunks, knows more than pages of an encyclopaedia do."""
    return bool(page.format or page.path or page.modified is not None or page.metadata) or any(
        chunk.pages is not None for chunk in page.chunks
    )
