"""What a training reads, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.training.world import CANDIDATES, collection_of, hits_of, save_world
from trivium.errors import ConfigurationError, FusionError, InputError
from trivium.fusion.hit_lists import HitFile, save_hits
from trivium.training.settings import Settings
from trivium.training.training_data import Collection, HitSet, examples_of, read


def test_sets_have_the_names_of_their_files_and_weigh_as_the_root_of_their_size(tmp_path: Path) -> None:
    """Times their importance: 36 questions of importance 1 and 9 of importance 2 weigh 6 and 6."""
    paths = [save_world(tmp_path / "big.npz", 36), save_world(tmp_path / "small.npz", 9, seed=1)]
    found = read(paths, [1.0, 2.0])
    assert [(one.name, len(one.hits)) for one in found.sets] == [("big", 36), ("small", 9)]
    assert found.weights[:36].sum() == pytest.approx(6)
    assert found.weights[36:].sum() == pytest.approx(6)
    assert len(examples_of(found)) == 45
    assert examples_of(found)[0].rows.shape == (CANDIDATES, len(found.layout.columns))


def test_pages_of_one_title_are_one_page_in_all_sets() -> None:
    """Or a question about Mars could be judged by a network that has seen Mars."""
    sets = tuple(HitSet(name, hits_of(3), "") for name in "ab")
    pages = Collection(sets, "minilm").pages
    assert pages[0] == pages[3] == ["Page 0"]


def test_gold_that_no_retriever_found_counts_as_missed() -> None:
    """A second group of gold without a candidate: one of two is found at best; pages are those of the gold."""
    collection = collection_of(3)
    hits = tuple(replace(hit, groups=2, pages=("Elsewhere", *hit.pages)) for hit in collection.hits)
    traced = HitSet("some", hits, "").traced
    for hit in hits:
        gold = traced.gold[hit.question_id]
        assert len(gold.groups) == 2
        assert set(gold.pages) == {"Elsewhere", "Page 0"}
        assert [uri for group in gold.groups for uri in group if uri in hit.table.chunks] == [
            hit.table.chunks[row] for row in np.flatnonzero(hit.gold == 0)
        ]


def test_only_signals_that_are_there_get_columns() -> None:
    """And only they are taken as logarithms or have gaps."""
    layout = collection_of(3).layout
    assert layout.signals == ("coverage", "linked")
    assert layout.gaps == ("linked",)
    assert layout.logarithmic == ("walk",)
    assert layout.owners == {"coverage": "lexical", "linked": "walk"}


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    """With the reason, before any training."""
    one = save_world(tmp_path / "one.npz")
    other = save_world(tmp_path / "other.npz", embedder="bge-small")
    with pytest.raises(InputError, match=r"several embedders \(bge-small, minilm\)"):
        read([one, other])
    fewer = tuple(
        replace(hit, table=replace(hit.table, signals={"coverage": hit.table.signals["coverage"]}))
        for hit in hits_of(30)
    )
    save_hits(other, HitFile(fewer, "minilm"))
    with pytest.raises(InputError, match=r"different retrievers or signals \(linked\)"):
        read([one, other])
    bare = tuple(replace(hit, table=replace(hit.table, signals={}, question={})) for hit in hits_of(30))
    save_hits(other, HitFile(bare, "minilm"))
    with pytest.raises(InputError, match="other has no signals"):
        read([other])
    (tmp_path / "again").mkdir()
    with pytest.raises(InputError, match="the same name"):
        read([one, save_world(tmp_path / "again" / "one.npz")])
    with pytest.raises(FusionError, match="there is no file"):
        read([tmp_path / "missing.npz"])
    with pytest.raises(InputError, match="importance for each of 1"):
        read([one], [1.0, 2.0])
    with pytest.raises(InputError, match="positive importance"):
        read([one], [0.0])


def test_too_little_is_refused(tmp_path: Path) -> None:
    """Fewer pages than folds, no gold, no questions."""
    with pytest.raises(InputError, match="questions on at least 5 pages, one a fold, got 3"):
        read([save_world(tmp_path / "few.npz", 9)], folds=5)
    without = tuple(replace(hit, gold=np.full(CANDIDATES, -1)) for hit in hits_of(30))
    for hits in (without, ()):
        save_hits(tmp_path / "none.npz", HitFile(hits, "minilm"))
        with pytest.raises(InputError, match="no question has gold among its candidates"):
            read([tmp_path / "none.npz"])


@pytest.mark.parametrize(
    "wrong", [{"epochs": 0}, {"folds": 1}, {"hidden": (0,)}, {"dropout": 1.0}, {"rate": 0.0}, {"seed": -1}]
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    """By name."""
    with pytest.raises(ConfigurationError):
        Settings(**wrong)  # type: ignore[arg-type]
