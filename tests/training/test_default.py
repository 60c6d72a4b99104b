"""Which fusion ``default`` is: that of the store's decision, the shipped network, or the convex combination."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

import pytest

from tests.fusion.test_network import LAYOUT, network, table
from trivium.errors import FusionError
from trivium.fusion import registry
from trivium.fusion.artefact import DESCRIPTION, NUMBERS, SUMS, Artefact, load, publishing, save
from trivium.fusion.convex import Convex
from trivium.fusion.network import NetworkFusion
from trivium.fusion.registry import make_fusion, shipped, suits
from trivium.fusion.stored_decision import Decision, read_decision

OPEN = {"active": True, "because": "it is better"}
SHUT = {"active": False, "because": "it is not better"}


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of networks that ship, empty."""
    folder = tmp_path / "artefacts"
    folder.mkdir()
    monkeypatch.setattr(registry, "artefacts", lambda: folder)
    return folder


def _save(folder: Path, gate: dict[str, object], embedder: str = "bge-small") -> str:
    save(Artefact(network(), LAYOUT, embedder, gate=gate), folder)
    return str(folder)


def test_nothing_ships_so_the_default_is_convex(shelf: Path) -> None:
    """And the network cannot be asked for."""
    assert isinstance(make_fusion("default", "bge-small"), Convex)
    with pytest.raises(FusionError, match=r"no trained network ships for bge-small: .* trivium train"):
        make_fusion("network", "bge-small")
    shelf.rmdir()
    assert isinstance(make_fusion("default", "bge-small"), Convex)


def test_a_network_that_ships_is_the_default_where_its_gate_is_open(shelf: Path) -> None:
    """Of its embedder; by its own name in any case."""
    _save(shelf / "bge-small", OPEN)
    _save(shelf / "minilm", SHUT, "minilm")
    assert isinstance(make_fusion("default", "bge-small"), NetworkFusion)
    assert isinstance(make_fusion("default", "minilm"), Convex)
    assert isinstance(make_fusion("network", "minilm"), NetworkFusion)
    for other in ("openai:text-embedding-3-small", "", "..", "../artefacts/minilm"):
        assert shipped(other) is None
        assert isinstance(make_fusion("default", other), Convex)


def test_stores_with_names_have_a_network_of_their_own(shelf: Path) -> None:
    """The others do not use it."""
    _save(shelf / "bge-small-names", OPEN)
    assert isinstance(make_fusion("default", "bge-small", names=True), NetworkFusion)
    assert isinstance(make_fusion("default", "bge-small"), Convex)


def test_the_decision_of_a_store_comes_first(
    shelf: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """For and against the network that ships, and for one of one's own, whose own gate no longer matters."""
    _save(shelf / "bge-small", OPEN)
    assert isinstance(make_fusion("default", "bge-small", "convex"), Convex)
    assert isinstance(make_fusion("default", "bge-small", "network"), NetworkFusion)
    own = _save(tmp_path / "own", SHUT)
    assert make_fusion("default", "bge-small", own).name == own
    assert not caplog.records
    assert isinstance(make_fusion("convex", "bge-small", own), Convex)


def test_a_store_whose_fusion_is_gone_stays_searchable(
    shelf: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says why it is searched otherwise, and what to do."""
    assert isinstance(make_fusion("default", "bge-small", str(tmp_path / "gone")), Convex)
    assert "cannot be used" in caplog.text and "--activate" in caplog.text


def test_one_whose_gate_is_shut_can_be_named_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Why it is no default; one whose gate is open says nothing."""
    with caplog.at_level(logging.WARNING):
        make_fusion(_save(tmp_path / "open", OPEN), "bge-small")
        assert not caplog.records
        make_fusion(_save(tmp_path / "shut", SHUT), "bge-small")
    assert "its gate is closed: it is not better" in caplog.text
    assert not load(tmp_path / "shut").active


def test_a_network_suits_only_all_the_views_it_was_trained_on() -> None:
    """Any others more do not matter to it; the convex combination takes what it gets."""
    trained = NetworkFusion(network(), LAYOUT)
    assert suits(trained, ["vector", "entity", "lexical", "walk"])
    assert not suits(trained, ["vector", "lexical"])
    assert suits(Convex({"vector": 1.0}), ["walk"])


def test_a_decision_comes_back_as_it_was() -> None:
    """And what is none is refused."""
    decision = Decision("convex", "significantly worse – 3 %", 40, {"mean": 0.5})
    assert read_decision(decision.to_json()) == decision
    for damaged in ("", "{}", "[]", '{"fusion": "a", "because": "b", "questions": "many", "figures": {}}'):
        with pytest.raises(FusionError, match="decide again"):
            read_decision(damaged)


def test_an_artefact_can_be_read_by_everybody(tmp_path: Path) -> None:
    """With the modes that any new file has."""
    save(Artefact(network(), LAYOUT, "bge-small"), tmp_path / "net")
    (tmp_path / "plain").write_text("")
    expected = stat.S_IMODE((tmp_path / "plain").stat().st_mode)
    for name in (DESCRIPTION, NUMBERS, SUMS):
        assert stat.S_IMODE((tmp_path / "net" / name).stat().st_mode) == expected


def test_an_artefact_is_replaced_whole(tmp_path: Path) -> None:
    """Also where the folder is a link, which stays one."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    save(Artefact(network(seed=1), LAYOUT, "bge-small"), tmp_path / "link")
    save(Artefact(network(seed=2), LAYOUT, "bge-small"), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    found = NetworkFusion(load(tmp_path / "real").network, LAYOUT).fuse(table()).scores
    assert (found == NetworkFusion(network(seed=2), LAYOUT).fuse(table()).scores).all()


def test_nobody_elses_files_are_removed(tmp_path: Path) -> None:
    """A folder that holds anything else is refused, before and after the work, and so is a file."""
    _save(tmp_path / "net", OPEN)
    (tmp_path / "net" / "thesis.docx").write_text("years of work")
    with pytest.raises(FusionError, match=r"holds thesis\.docx: name another folder"):
        _save(tmp_path / "net", OPEN)
    assert (tmp_path / "net" / "thesis.docx").read_text() == "years of work"
    with pytest.raises(FusionError, match="is a file"):
        _save(tmp_path / "net" / "thesis.docx", OPEN)
    with pytest.raises(FusionError, match=r"holds late\.txt"), publishing(tmp_path / "new"):
        (tmp_path / "new").mkdir()
        (tmp_path / "new" / "late.txt").write_text("")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net", "new"]


def test_a_folder_that_cannot_take_its_place_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt between the two renames: the earlier one is put back."""
    _save(tmp_path / "net", OPEN, "minilm")
    rename = Path.rename

    def stop(self: Path, target: Path) -> Path:
        if "new" in self.name:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", stop)
    with pytest.raises(KeyboardInterrupt):
        _save(tmp_path / "net", OPEN, "bge-small")
    assert load(tmp_path / "net").embedder == "minilm"
    assert [path.name for path in tmp_path.iterdir()] == ["net"]
