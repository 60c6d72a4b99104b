"""Replies that have to be JSON: what a model is held to, and reading what it replied all the same.

A schema binds a model where its endpoint can do that. Elsewhere the prompt asks for JSON, and some models write other
things around it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

MAX_TRIED = 50
"""Opening braces that are tried as the beginning of an object."""

JsonSchema = Mapping[str, Any]


def object_schema(properties: Mapping[str, JsonSchema]) -> dict[str, Any]:
    """The JSON schema of an object that has these properties, in this order, and no others, as OpenAI's strict mode wants
    it.

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
"""Keywords that bound a schema's texts and lists. Without them a model that repeats itself never comes to the end of its
reply; but not every endpoint knows them, and some refuse what they do not know."""


def without_bounds(schema: JsonSchema) -> dict[str, Any]:
    """A schema of the same form whose texts and lists may be of any length.

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
    """The JSON objects in a text that have at least one of the keys, whatever is written around them.

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
