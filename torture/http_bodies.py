"""Hostile request bodies: JSON with odd values in every field of every route, and malformed uploads."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from torture.http_exchange import JSON, QUESTION, TEXTS, Api, Exchange, request
from torture.mutations import odd_value


def _definitions(api: Api) -> dict[str, Any]:
    """Return the schemas that others refer to: those of the whole document, and those within a body's schema."""
    found = dict(api["components"]["schemas"])
    for methods in api["paths"].values():
        for operation in methods.values():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                found |= content.get("schema", {}).get("$defs", {})
    return found


def _value(schema: Mapping[str, Any], api: Api, drawn: random.Random) -> Any:
    """Return a value that a schema allows, or almost allows."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return _value(_definitions(api).get(name, {}), api, drawn)
    if "anyOf" in schema:
        return _value(drawn.choice(schema["anyOf"]), api, drawn)
    if "enum" in schema:
        return drawn.choice(schema["enum"])
    match schema.get("type"):
        case "object":
            given = schema.get("properties", {})
            needed = schema.get("required", [])
            return {
                key: _value(part, api, drawn)
                for key, part in given.items()
                if key in needed or drawn.random() < 0.4
            }
        case "array":
            return [_value(schema.get("items", {}), api, drawn) for _ in range(drawn.randrange(3))]
        case "string":
            return drawn.choice((*schema.get("examples", ()), QUESTION, drawn.choice(TEXTS)))
        case "integer" | "number":
            return drawn.choice((0, 1, 3, schema.get("minimum", 1), schema.get("maximum", 50)))
        case "boolean":
            return drawn.random() < 0.5
        case "null":
            return None
        case _:
            return odd_value(drawn)


def _operations(api: Api) -> list[tuple[str, str, Mapping[str, Any]]]:
    """Return method, path and body schema of each operation that takes JSON."""
    return [
        (method.upper(), path, content["application/json"].get("schema", {}))
        for path, methods in api["paths"].items()
        for method, operation in methods.items()
        if "application/json" in (content := operation.get("requestBody", {}).get("content", {}))
    ]


def body(drawn: random.Random, api: Api, host: str) -> Exchange:
    """Return a request body with odd values, or one that is not JSON."""
    method, path, schema = drawn.choice(_operations(api))
    path = path.replace("{page}", quote(drawn.choice(("Vulcan", *TEXTS[2:6]))))
    value = _value(schema, api, drawn)
    if isinstance(value, dict):
        for _ in range(drawn.randrange(3)):
            key = drawn.choice([*value, "unknown", ""]) if value else "question"
            value = {**value, key: odd_value(drawn)}
        if path.startswith("/ask") and drawn.random() < 0.7:
            value["question"] = QUESTION
    text = json.dumps(value, ensure_ascii=drawn.random() < 0.7)
    data = text.encode("utf-8", "surrogatepass")
    match drawn.randrange(12):
        case 0:
            data = data[: drawn.randrange(len(data) + 1)]
        case 1:
            data = b"[" * drawn.choice((100, 5000, 200_000))
        case 2:
            data = text.encode(drawn.choice(("utf-16", "utf-32", "utf-8-sig")), "surrogatepass")
        case 3:
            data = data.replace(b'"', b"'") + b"\xff\xc0"
        case 4:
            data = (
                b'{"question": "x", "k": '
                + drawn.choice((b"1" * 5000, b"1e400", b"NaN", b"-0", b"01", b"1_0", b"0.5"))
                + b"}"
            )
        case 5:
            data = b'{"question": "x", "question": "y", "k": 1, "k": 1}'
        case 6:
            data = b'{"a":' * drawn.choice((90, 900, 9000)) + b"1" + b"}" * 90
        case _:
            pass
    return Exchange("body", (request(method, path, host, data, JSON),))


def multipart(drawn: random.Random, api: Api, host: str) -> Exchange:
    """Return a malformed multipart upload."""
    boundary = drawn.choice(("x", "a" * 70, "a" * 5000, '"quo ted"', "", "--"))
    name = drawn.choice(
        (
            'name="files"; filename="a.html"',
            'name="files"; filename="../../x.html"',
            'name="other"',
            "name=files",
            'name="files"; filename="' + "n" * 9000 + '"',
            "name=\"files\"; filename*=utf-8''%ff",
            'filename="a"',
            "",
        )
    )
    content = drawn.choice(
        (
            b"<title>Vulcan</title><p>A planet.</p>",
            b"",
            b"\x1f\x8b\x08" + drawn.randbytes(50),
            b"[{}]",
            b"{" * 500,
            b'[{"title": "Vulcan", "text": "A planet."}]',
            drawn.randbytes(300),
        )
    )
    plain = boundary.strip('"').encode()
    part = (
        b"--"
        + plain
        + b"\r\nContent-Disposition: form-data; "
        + name.encode()
        + b"\r\n"
        + drawn.choice(
            (
                b"",
                b"Content-Type: text/html\r\n",
                b"Content-Transfer-Encoding: base64\r\n",
                b"X: " + b"y" * 20_000 + b"\r\n",
                b"\xff: \x00\r\n",
            )
        )
        + b"\r\n"
        + content
        + b"\r\n"
    )
    body = part * drawn.choice((0, 1, 1, 1, 2, 50, 1500)) + drawn.choice(
        (b"--" + plain + b"--\r\n", b"", b"--" + plain)
    )
    if drawn.random() < 0.2:
        body = body[: drawn.randrange(len(body) + 1)]
    kind = f"Content-Type: multipart/form-data; boundary={boundary}\r\n"
    return Exchange("multipart", (request("POST", "/documents", host, body, kind),))
