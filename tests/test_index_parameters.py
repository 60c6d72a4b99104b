"""Parameters of vector indexes are checked, and those that are given take the place of those that were kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from trivium.errors import ConfigurationError
from trivium.settings.index_parameters import IndexParameters, index_parameters
from trivium.settings.settings import load_settings


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"connectivity": 1}, "index.connectivity: .*greater than or equal to 2"),
        ({"expansion_add": 5_000}, "index.expansion_add: .*less than or equal to 3200"),
        ({"expansion_search": "many"}, "index.expansion_search: .*valid integer"),
        ({"quantized": "perhaps"}, "index.quantized: .*valid boolean"),
        ({"ef": 3}, "index.ef: Extra inputs"),
    ],
)
def test_what_is_not_known_or_out_of_range_is_refused(values: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        index_parameters(**values)


def test_what_is_not_said_stays_and_none_takes_back() -> None:
    kept = IndexParameters(connectivity=32, quantized=False)
    assert kept.changed(IndexParameters(expansion_add=200)).stored() == (
        '{"connectivity": 32, "expansion_add": 200, "quantized": false}'
    )
    assert kept.changed(IndexParameters(connectivity=None, quantized=None)).stored() is None


def test_they_are_kept_as_text() -> None:
    given = IndexParameters(connectivity=32, quantized=True)
    assert IndexParameters.read(given.stored()) == given
    assert IndexParameters.read(None) == IndexParameters()


def test_they_are_a_table_of_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trivium.toml").write_text("[index]\nconnectivity = 24\n")
    assert load_settings().index == IndexParameters(connectivity=24)
    assert load_settings().index.model_fields_set == {"connectivity"}
    Path("trivium.toml").write_text("[index]\nconnectivity = 1\n")
    with pytest.raises(ConfigurationError, match=r"index\.connectivity"):
        load_settings()
