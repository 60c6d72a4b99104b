"""Saved hit lists."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.unit.test_fusion_network import table
from trivium.errors import FusionError
from trivium.fusion.hits import HitList, load_hits, save_hits


def hit(number: int, n: int) -> HitList:
    gold = np.full(n, -1, dtype=np.int64)
    gold[:1] = 0
    return HitList(
        f"q{number}", "Which moon – of “Mars”?", table(seed=number, n=n), gold, 2, ("Mars", "Phobos")
    )


def test_hit_lists_come_back_as_they_were(tmp_path: Path) -> None:
    """Scores, gaps, ranks, signals, gold and words."""
    hits = [hit(0, 4), hit(1, 0), hit(2, 7)]
    save_hits(tmp_path / "some.npz", hits, "bge-small")
    found, embedder = load_hits(tmp_path / "some.npz")
    assert embedder == "bge-small"
    for one, other in zip(hits, found, strict=True):
        assert (one.question_id, one.question, one.groups, one.pages) == (
            other.question_id,
            other.question,
            other.groups,
            other.pages,
        )
        assert (one.table.chunks, one.table.columns) == (other.table.chunks, other.table.columns)
        assert one.table.question == other.table.question
        np.testing.assert_array_equal(one.table.raw, other.table.raw)
        np.testing.assert_array_equal(one.table.ranks, other.table.ranks)
        np.testing.assert_array_equal(one.gold, other.gold)
        assert list(one.table.signals) == list(other.table.signals)
        for name, values in one.table.signals.items():
            np.testing.assert_array_equal(values, other.table.signals[name])


def test_no_hit_lists_are_some_too(tmp_path: Path) -> None:
    """A set none of whose questions could be traced."""
    save_hits(tmp_path / "none.npz", [], "bge-small")
    assert load_hits(tmp_path / "none.npz") == ([], "bge-small")


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_what_holds_no_hit_lists_is_refused(tmp_path: Path, content: bytes | None) -> None:
    """Nothing there, something else, an archive of something else."""
    path = tmp_path / "some.npz"
    if content is None:
        np.savez(path, other=np.zeros(3))
    else:
        path.write_bytes(content)
    with pytest.raises(FusionError, match="does not hold hit lists"):
        load_hits(path)
    with pytest.raises(FusionError, match="does not hold hit lists"):
        load_hits(tmp_path / "missing.npz")


def test_lists_of_different_retrievers_are_not_mixed(tmp_path: Path) -> None:
    """Nobody could tell their columns apart."""
    other = HitList("q", "?", table(("vector",)), np.full(4, -1), 1, ())
    with pytest.raises(FusionError, match="the same retrievers"):
        save_hits(tmp_path / "some.npz", [hit(0, 4), other], "bge-small")
