"""Settings of retrievers by dotted name, as users write them."""

from __future__ import annotations

import pytest

from trivium.errors import ConfigurationError
from trivium.retrievers.registry import RetrieverSettings
from trivium.retrievers.setting_values import flatten, known_names, parse_assignments


@pytest.mark.parametrize("value", [0.4, "0.4"])
def test_a_value_takes_the_place_of_one_number_only(value: object) -> None:
    """As a number, and as the text of a command line."""
    usual = RetrieverSettings()
    changed = usual.with_values({"walk.damping": value})
    assert changed.walk.damping == 0.4 != usual.walk.damping
    assert changed == RetrieverSettings(walk=changed.walk)
    assert changed.walk == type(usual.walk)(damping=0.4)


def test_every_setting_can_be_named() -> None:
    """Each set to what it is, as text, changes nothing."""
    usual = RetrieverSettings()
    for name in known_names(usual):
        inner: object = usual
        for part in name.split("."):
            inner = getattr(inner, part)
        assert usual.with_values({name: str(inner)}) == usual, name


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("walk.dampening", 0.4, "did you mean walk.damping"),
        ("stroll.damping", 0.4, "did you mean walk.damping"),
        ("walk", 0.4, "unknown setting 'walk'"),
        ("walk.damping.more", 0.4, "unknown setting"),
        ("walk.damping", "much", "walk.damping: .*number"),
        ("walk.damping", 1.5, "walk.damping"),
        ("vector.chunks", 0, "vector.chunks"),
        ("vector.chunks", 1.5, "vector.chunks"),
        ("walk.eps", 1e-4, "it is a constant"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(key: str, value: object, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        RetrieverSettings().with_values({key: value})


def test_assignments_of_a_command_line() -> None:
    assert parse_assignments(["walk.damping = 0.4", "path.match.overlap=2"]) == {
        "walk.damping": "0.4",
        "path.match.overlap": "2",
    }
    for wrong in ("walk.damping", "=0.4"):
        with pytest.raises(ConfigurationError, match="KEY=VALUE"):
            parse_assignments([wrong])


def test_tables_of_a_file_by_dotted_name() -> None:
    tables = {"walk": {"damping": 0.4}, "path": {"match": {"overlap": 2.0}}}
    assert flatten(tables) == {"walk.damping": 0.4, "path.match.overlap": 2.0}
