"""Saved hit lists."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from tests.fusion.test_network import table
from trivium.errors import FusionError
from trivium.fusion.hit_lists import HitFile, HitList, hit_list, load_hits, save_hits
from trivium.fusion.score_table import Table


def hit(number: int, n: int) -> HitList:
    gold = np.full(n, -1, dtype=np.int64)
    gold[:1] = 0
    return HitList(
        f"q{number}", "Which moon – of “Mars”?", table(seed=number, n=n), gold, 2, ("Mars", "Phobos")
    )


def test_hit_lists_come_back_as_they_were(tmp_path: Path) -> None:
    """Scores, gaps, ranks, signals, gold and words."""
    hits = (hit(0, 4), hit(1, 0), hit(2, 7))
    save_hits(tmp_path / "some.npz", HitFile(hits, "bge-small", {"depth": 3}, names=True))
    found = load_hits(tmp_path / "some.npz")
    assert (found.embedder, found.inputs, found.names) == ("bge-small", {"depth": 3}, True)
    assert [path.name for path in tmp_path.iterdir()] == ["some.npz"]
    for one, other in zip(hits, found.hits, strict=True):
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
    save_hits(tmp_path / "none.npz", HitFile((), "bge-small"))
    assert load_hits(tmp_path / "none.npz").hits == ()


def test_a_question_without_candidates_is_one_too(tmp_path: Path) -> None:
    """Nothing was found, so there are no signals: it is kept, it scores zero later."""
    columns = hit(0, 1).table.columns
    empty = Table((), columns, np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64), ())
    nothing = HitList("none", "?", empty, np.zeros(0, dtype=np.int64), 1, ("Mars",))
    save_hits(tmp_path / "some.npz", HitFile((nothing, hit(0, 4)), "bge-small"))
    found = load_hits(tmp_path / "some.npz").hits
    assert [len(one.table.chunks) for one in found] == [0, 4]
    assert found[0].groups == 1


def test_the_gold_of_a_candidate_is_its_group() -> None:
    """Also where a group has several chunks, and where none of them is a candidate."""
    candidates = table(n=4)
    groups = (("A#chunk-9",), ("A#chunk-1", "A#chunk-3"), ("A#chunk-0",))
    one = hit_list("q", "?", candidates, groups, ("A",))
    assert one.gold.tolist() == [2, 1, -1, 1]
    assert one.groups == 3


def test_an_interrupted_save_leaves_the_earlier_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing else."""
    save_hits(tmp_path / "some.npz", HitFile((hit(0, 4),), "bge-small"))

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", stop)
    with pytest.raises(KeyboardInterrupt):
        save_hits(tmp_path / "some.npz", HitFile((), "minilm"))
    assert load_hits(tmp_path / "some.npz").embedder == "bge-small"
    assert [path.name for path in tmp_path.iterdir()] == ["some.npz"]


@pytest.mark.parametrize(
    ("content", "came"),
    [
        (b"", "an empty file"),
        (b"no archive", "a file of another format"),
        (pickle.dumps({"a": 1}), "a file of another format"),
        (["other", "b", "c", "d", "e", "f"], "an archive of b, c, d, e, f, ..."),
        (["header"], "a damaged one: make it again"),
    ],
)
def test_what_holds_no_hit_lists_is_refused(tmp_path: Path, content: bytes | list[str], came: str) -> None:
    """In our words: what was expected, what came, and what makes such a file. NumPy suggests to allow pickles."""
    path = tmp_path / "some.npz"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.savez(path, **dict.fromkeys(content, np.zeros(3)))  # type: ignore[arg-type]
    with pytest.raises(FusionError) as raised:
        load_hits(path)
    assert str(raised.value) == (
        f"{path} does not hold hit lists: expected a file (.npz) written by  trivium evaluate QUESTIONS --store STORE"
        f" --hits FILE, got {came}"
    )


def test_a_file_that_is_not_there_or_a_folder_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(FusionError, match=r"^there is no file .*missing\.npz: expected a file"):
        load_hits(tmp_path / "missing.npz")
    with pytest.raises(FusionError, match=r"got one that cannot be read \(Is a directory\)"):
        load_hits(tmp_path)


def test_lists_of_different_retrievers_are_not_mixed(tmp_path: Path) -> None:
    """Their columns could not be told apart."""
    other = HitList("q", "?", table(("vector",)), np.full(4, -1), 1, ())
    with pytest.raises(FusionError, match="the same retrievers"):
        save_hits(tmp_path / "some.npz", HitFile((hit(0, 4), other), "bge-small"))
