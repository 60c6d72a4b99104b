"""JSON found in what a model wrote."""

from __future__ import annotations

import pytest

from trivium.llm.json_replies import MAX_TRIED, json_objects


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("{", []),
        ('[{"key": 1}]', [1]),
        ('```json\n{"key": 1}\n```', [1]),
        ('{"other": 3, "inside": {"key": 1}}', [1]),
        ('{"key": {"key": 1}} {"key": 2}', [{"key": 1}, 2]),
        ('{{"key": 1}}', [1]),
        ('{"key": NaN', []),
        ("{" * 100_000, []),
    ],
)
def test_objects_with_the_key_are_found(text: str, found: list[object]) -> None:
    """Inside of others and after what is no JSON, but not inside of one that counts."""
    assert [one["key"] for one in json_objects(text, ["key"])] == found


def test_a_flood_of_braces_is_given_up() -> None:
    """What comes after so many beginnings is not looked for."""
    assert list(json_objects("{" * (MAX_TRIED - 1) + '{"key": 1}', ["key"])) == [{"key": 1}]
    assert list(json_objects("{" * MAX_TRIED + '{"key": 1}', ["key"])) == []
