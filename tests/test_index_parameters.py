"""Parameters of vector indexes are checked, and those that are given take the place of those that were kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from trivium.errors import ConfigurationError
from trivium.settings.index_parameters import IndexParameters
from trivium.settings.settings import load_settings


def test_what_is_not_said_stays_and_none_takes_back() -> None:
    kept = IndexParameters(expansion_search=32)
    both = kept.changed(IndexParameters(approximate_from=200))
    assert both.stored() == '{"approximate_from": 200, "expansion_search": 32}'
    assert both.changed(IndexParameters(expansion_search=None, approximate_from=None)).stored() is None


def test_they_are_kept_as_text(caplog: pytest.LogCaptureFixture) -> None:
    """Text of an earlier version may have parameters that are gone."""
    given = IndexParameters(expansion_search=32, approximate_from=1)
    assert IndexParameters.read(given.stored()) == given
    assert IndexParameters.read(None) == IndexParameters()
    earlier = '{"connectivity": 32, "expansion_search": 64, "quantized": false}'
    assert IndexParameters.read(earlier) == IndexParameters(expansion_search=64)
    assert not caplog.records


def test_they_are_a_table_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trivium.toml").write_text("[index]\nexpansion_search = 24\nconnectivity = 32\n")
    assert load_settings().index == IndexParameters(expansion_search=24)
    assert load_settings().index.model_fields_set == {"expansion_search"}
    assert caplog.messages == ["index.connectivity is gone and ignored: a node of an index has 16 edges"]
    for wrong in ("expansion_search = 0", "approximate_from = 'many'", "ef = 3"):
        Path("trivium.toml").write_text(f"[index]\n{wrong}\n")
        with pytest.raises(ConfigurationError, match=rf"index\.{wrong.partition(' ')[0]}"):
            load_settings()
