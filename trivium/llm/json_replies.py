"""JSON replies: the schemas that constrain a model, and lenient parsing of its replies.

A schema constrains a model if its endpoint supports that. Otherwise only the prompt asks for JSON, and some models add
other text around it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from trivium.text.normalise import plain

MAX_TRIED = 50
"""Maximum number of opening braces tried as the beginning of an object."""

MAX_CHARACTERS = 1000
"""Maximum length of a text in a reply; longer ones are truncated."""
_NUMBER = re.compile(r"\d{1,4}")

JsonSchema = Mapping[str, Any]


def object_schema(properties: Mapping[str, JsonSchema]) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these properties, in this order, as OpenAI's strict mode
    requires.

    >>> object_schema({"claims": {"type": "array", "items": {"type": "string"}}})["required"]
    ['claims']
    """
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


BOUNDS = frozenset(("minLength", "maxLength", "minItems", "maxItems", "pattern"))
"""Keywords that limit texts and lists. Without them the reply of a model that repeats itself may never end; but not
every endpoint supports them, and some reject unknown keywords.
"""


def without_bounds(schema: JsonSchema) -> dict[str, Any]:
    """Return the schema without limits on texts and lists.

    >>> without_bounds({"type": "array", "maxItems": 2, "items": {"type": "string", "pattern": "^a+$"}})
    {'type': 'array', 'items': {'type': 'string'}}
    """
    return {
        name: without_bounds(value)
        if name == "items"
        else {key: without_bounds(one) for key, one in value.items()}
        if name == "properties"
        else value
        for name, value in schema.items()
        if name not in BOUNDS
    }


def json_objects(text: str, keys: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text that have at least one of the keys, ignoring the text around them.

    >>> list(json_objects('Sure: {"a": 1} or {"b": {"a": 2}} or {"a": ', ["a"]))
    [{'a': 1}, {'a': 2}]
    """
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(MAX_TRIED):
        if start < 0:
            return
        end = start + 1
        try:
            value, after = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and not value.keys().isdisjoint(keys):
            yield value
            end = after
        start = text.find("{", end)


def listed_objects(text: str, name: str, key: str) -> list[dict[str, Any]] | None:
    """Return the objects of the list ``name`` of a reply, which have a ``key``; None if it has neither the list nor such
    objects. A truncated reply still contains complete ones.

    >>> listed_objects('{"claims": [{"text": "a"}, {"text": "b', "claims", "text")
    [{'text': 'a'}]
    """
    value = next(json_objects(text, (name,)), {}).get(name)
    if isinstance(value, list):
        objects = [one for one in value if isinstance(one, dict)]
        return objects if objects or not value else None
    return list(json_objects(text, (key,))) or None


def whole_number(value: object) -> int | None:
    """Parse an integer from 0 to 9999, given as a number or as text; None for anything else."""
    if isinstance(value, str):
        return int(value) if _NUMBER.fullmatch(value.strip()) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 10_000:
        return None
    return int(value) if value == int(value) else None


def one_line(text: str) -> str:
    """Return a model's text as one line without control characters."""
    return " ".join(plain(text).split())[:MAX_CHARACTERS]
