"""Parses replies of judges as the JSON that was requested. Anything else is malformed and never guessed."""

from __future__ import annotations

from typing import NamedTuple

from trivium.llm.json_replies import JsonSchema, json_objects, object_schema
from trivium.text import plain

MOST_CLAIMS = 50
"""Replies with more claims than this indicate that the judge misunderstood the task."""

MOST_OF_A_REASON = 500
"""Maximum number of characters of a reason that are kept."""

SHORT_REASON = 120
"""Maximum number of characters of a reason from a small model, which would otherwise never stop."""

CLAIMS_SCHEMA = object_schema({"claims": {"type": "array", "items": {"type": "string"}}})
_VERDICT: dict[str, JsonSchema] = {
    "number": {"type": "integer"},
    "reason": {"type": "string"},
    "verdict": {"type": "integer", "enum": [0, 1]},
}
VERDICTS_SCHEMA = object_schema({"verdicts": {"type": "array", "items": object_schema(_VERDICT)}})


def bounded_verdicts_schema(count: int) -> JsonSchema:
    """Return the same schema for ``count`` claims with short reasons, for models that can be constrained to lengths,
    as small ones must be.
    """
    verdict: dict[str, JsonSchema] = {
        **_VERDICT,
        "number": {"type": "integer", "enum": list(range(1, count + 1))},
        "reason": {"type": "string", "maxLength": SHORT_REASON},
    }
    listed = {"type": "array", "items": object_schema(verdict), "minItems": count, "maxItems": count}
    return object_schema({"verdicts": listed})


class MalformedError(ValueError):
    """A malformed reply. The message says what is wrong with it."""


def read_claims(reply: str) -> list[str]:
    """Parse ``{"claims": ["...", ...]}`` and return the distinct claims, without surplus white space; may be empty."""
    for value in json_objects(reply, ["claims"]):
        claims = value["claims"]
        if isinstance(claims, list) and all(isinstance(claim, str) for claim in claims):
            distinct = list(dict.fromkeys(" ".join(claim.split()) for claim in claims if claim.strip()))
            if len(distinct) > MOST_CLAIMS:
                raise MalformedError(f"more than {MOST_CLAIMS} claims")
            return distinct
    raise MalformedError("no list of claims")


class Verdict(NamedTuple):
    """Whether a claim follows, and the judge's reason, which may be empty."""

    follows: bool
    reason: str = ""


def read_verdicts(reply: str, count: int) -> list[Verdict]:
    """Parse ``{"verdicts": [{"number": 1, "verdict": 1}, ...]}`` and return the verdicts on claims 1 to ``count``, in
    their order. Each claim needs exactly one, 0 or 1.
    """
    for value in json_objects(reply, ["verdicts"]):
        verdicts = value["verdicts"]
        if not isinstance(verdicts, list):
            continue
        by_number: dict[int, Verdict] = {}
        for entry in verdicts:
            number, verdict = (
                (entry.get("number"), entry.get("verdict")) if isinstance(entry, dict) else (None, None)
            )
            if type(number) is not int or not 1 <= number <= count or number in by_number:
                raise MalformedError("verdicts that are not one on each claim")
            if verdict not in (0, 1) or isinstance(verdict, float):
                raise MalformedError("a verdict that is neither 0 nor 1")
            by_number[number] = Verdict(bool(verdict), as_reason(entry.get("reason")))
        if len(by_number) < count:
            raise MalformedError("a claim without a verdict")
        return [by_number[number] for number in range(1, count + 1)]
    raise MalformedError("no list of verdicts")


def as_reason(value: object) -> str:
    """Return a judge's reason on one line, truncated; empty if there is none."""
    return " ".join(plain(value).split())[:MOST_OF_A_REASON] if isinstance(value, str) else ""
