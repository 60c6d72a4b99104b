"""Which retrievers a search asks, and with which settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.fakes.packages import install_package
from trivium.errors import ConfigurationError, InputError
from trivium.graph.records import Floats
from trivium.retrievers.query import Candidate, Query
from trivium.retrievers.registry import RETRIEVERS
from trivium.retrievers.walk import WalkRetriever
from trivium.search.retriever_set import RetrieverSet

DECLARED = """
class Declared:
    name = "declared"
    def __init__(self, settings): self.settings = settings
    def retrieve(self, query, depth=None): return []
    def score(self, query, chunks): raise NotImplementedError
def misnamed(settings): return Declared(settings)
"""


class Own:
    """A retriever of one's own that knows nothing."""

    name = "own"

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        return []

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        return np.full(len(chunks), np.nan)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = {"declared": "set_parts:Declared", "other": "set_parts:misnamed"}
    install_package(tmp_path, "set_parts", points, DECLARED, group="trivium.retrievers")
    monkeypatch.syspath_prepend(str(tmp_path))


def walk_of(chosen: object) -> float:
    assert isinstance(chosen, dict)
    walk = chosen["walk"]
    assert isinstance(walk, WalkRetriever)
    return walk.settings.damping


def test_without_names_the_eight_and_those_handed_in_are_asked() -> None:
    assert tuple(RetrieverSet().choose()) == RETRIEVERS
    own = Own()
    chosen = RetrieverSet([own]).choose()
    assert tuple(chosen) == (*RETRIEVERS, "own") and chosen["own"] is own


def test_named_ones_come_in_a_fixed_order() -> None:
    assert tuple(RetrieverSet([Own()]).choose(["own", "walk", "vector"])) == ("vector", "walk", "own")


@pytest.mark.usefixtures("installed")
def test_declared_ones_are_asked_when_they_are_named() -> None:
    """With their settings; not otherwise, so that installing a package changes no ranking."""
    retrievers = RetrieverSet(values={"declared.depth": 7})
    assert "declared" not in retrievers.choose() and "declared" in retrievers.names
    chosen = retrievers.choose(["declared", "vector"])
    assert tuple(chosen) == ("vector", "declared")
    assert chosen["declared"].settings == {"depth": 7}  # type: ignore[attr-defined]
    changed = retrievers.choose(["declared"], {"declared.depth": 8})
    assert changed["declared"].settings == {"depth": 8}  # type: ignore[attr-defined]


def test_a_package_cannot_take_the_settings_of_a_built_in_retriever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = {"walk": "walk_parts:Declared"}
    install_package(tmp_path, "walk_parts", points, DECLARED, group="trivium.retrievers")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert walk_of(RetrieverSet(values={"walk.damping": 0.2}).choose()) == 0.2


@pytest.mark.usefixtures("installed")
def test_a_declared_one_that_calls_itself_otherwise_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="calls itself 'declared'"):
        RetrieverSet().choose(["other"])


def test_settings_of_a_search_win_over_those_of_the_set() -> None:
    retrievers = RetrieverSet(values={"walk.damping": 0.3, "walk.temperature": 0.04})
    assert walk_of(retrievers.choose()) == 0.3
    changed = retrievers.choose(None, {"walk.damping": 0.6})
    assert walk_of(changed) == 0.6 and changed["walk"].settings.temperature == 0.04  # type: ignore[attr-defined]
    assert walk_of(retrievers.choose()) == 0.3


def test_settings_may_be_nested_as_in_the_file_and_are_nothing_else() -> None:
    assert walk_of(RetrieverSet().choose(None, {"walk": {"damping": 0.6}})) == 0.6
    assert walk_of(RetrieverSet(values={"walk": {"damping": 0.6}}).choose()) == 0.6
    for wrong in (3, 0, "walk.damping=0.4", ["walk.damping"]):
        with pytest.raises(InputError, match="expected settings by name"):
            RetrieverSet().choose(None, wrong)  # type: ignore[arg-type]


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(InputError, match=r"retriever vektor \(did you mean vector\?\): expected") as caught:
        RetrieverSet().choose(["vektor"])
    assert "rerank:" not in str(caught.value)
    with pytest.raises(InputError, match=r"unknown retriever telepathy: expected some of vector.*own"):
        RetrieverSet([Own()]).choose(["vector", "telepathy"])
    for text in ("vector", ""):
        with pytest.raises(InputError, match="expected a list"):
            RetrieverSet().choose(text)
    for nobody in ([], ()):
        with pytest.raises(InputError, match=r"at least one retriever, got an empty list: .* leave it out"):
            RetrieverSet().choose(nobody)
    with pytest.raises(ConfigurationError, match="own was handed in as an object"):
        RetrieverSet([Own()], {"own.depth": 3})
    for doubled in ([Own(), Own()], [type("Vector", (Own,), {"name": "vector"})()]):
        with pytest.raises(InputError, match="names are their own"):
            RetrieverSet(doubled)
