"""From hit lists to an artefact, on hit lists of which it is known what can be learnt."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.training.world import QUICK, RETRIEVERS, collection_of, needs_tensorflow
from trivium.errors import FusionError, MissingExtraError
from trivium.fusion.artefact import CARD, DESCRIPTION, NUMBERS, SUMS, load
from trivium.fusion.fold_networks import read_folds
from trivium.fusion.registry import make_fusion
from trivium.training import report as saving
from trivium.training.report import save_outcome
from trivium.training.run import Outcome, train_fusion

pytestmark = needs_tensorflow

ENTRIES = {DESCRIPTION, NUMBERS, SUMS, CARD, "report"}


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    """Of a world in which only two views together find the gold."""
    return train_fusion(collection_of(120), QUICK, version="1.2.3")


def _content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_network_beats_every_view_out_of_fold_and_its_gate_opens(outcome: Outcome) -> None:
    """Every row is judged by the measures of an evaluation."""
    scores = outcome.artefact.scores["made-up"]
    assert set(scores) == {"network", *RETRIEVERS, "rrf", "convex"}
    assert scores["network"]["hit@1"] > 0.9
    assert all(scores[row]["hit@5"] < 0.5 for row in (*RETRIEVERS, "convex"))
    assert outcome.artefact.active
    assert outcome.gate.sets["made-up"].decision == "better"


def test_a_probability_is_one_out_of_fold(outcome: Outcome) -> None:
    """The error is smaller than without the line."""
    assert outcome.calibration.after < min(0.02, outcome.calibration.before)
    assert 0 <= outcome.calibration.scaling.competition <= 0.9
    assert outcome.calibration.scaling.slope > 0


def test_noise_does_not_get_through_the_gate() -> None:
    """Nothing can be learnt, so nothing may be the default."""
    found = train_fusion(collection_of(90, signal=0.0), replace(QUICK, epochs=8))
    assert not found.artefact.active
    assert "not better" in found.gate.because or "worse" in found.gate.because


def test_the_folder_says_what_it_is(outcome: Outcome, tmp_path: Path) -> None:
    """What it was trained on and how, what it scored, and what its tables show; the fusion in it works."""
    save_outcome(outcome, tmp_path / "net")
    assert {path.name for path in (tmp_path / "net").iterdir()} == ENTRIES
    kept = json.loads((tmp_path / "net" / DESCRIPTION).read_text("utf-8"))
    assert kept["trivium"] == "1.2.3"
    assert kept["data"] == {"made-up": {"questions": 120, "importance": 1.0, "sha256": "0" * 64}}
    assert kept["settings"]["folds"] == 3
    assert kept["settings"]["epochs_of_the_whole"] == outcome.fitted.epochs
    assert kept["gate"]["active"] is True
    card = (tmp_path / "net" / CARD).read_text("utf-8")
    report = (tmp_path / "net" / "report" / "report.md").read_text("utf-8")
    assert "CC BY-SA" in card and "report/report.md" in card
    assert outcome.gate.because in card and outcome.gate.because in report
    for name in RETRIEVERS:
        assert f"| {name} |" in report
    assert "| predicted | observed |" in report
    table = outcome.collection.hits[0].table
    fused = make_fusion(str(tmp_path / "net"), "minilm").fuse(table)
    assert outcome.collection.hits[0].gold[int(np.argmax(fused.scores))] == 0
    with pytest.raises(FusionError, match="trivium train"):
        make_fusion(str(tmp_path / "net"), "bge-small")


def test_each_question_has_a_network_that_has_not_seen_its_pages(outcome: Outcome, tmp_path: Path) -> None:
    """Its scores are those that the figures are of."""
    save_outcome(outcome, tmp_path / "net", folds=True)
    folds = read_folds(tmp_path / "net" / "folds")
    scaling = outcome.calibration.scaling
    for hit, logits in list(zip(outcome.collection.hits, outcome.fitted.logits, strict=True))[::7]:
        fused = make_fusion(str(folds.fusion_for(hit.question_id)), "minilm").fuse(hit.table)
        assert fused.scores == pytest.approx(scaling(logits), abs=1e-4)
        whole = make_fusion(str(tmp_path / "net"), "minilm").fuse(hit.table)
        assert np.abs(whole.scores - fused.scores).max() > 1e-2
    with pytest.raises(FusionError, match="expected a question of the training"):
        folds.fusion_for("unheard of")
    save_outcome(outcome, tmp_path / "net")
    with pytest.raises(FusionError, match="--keep-folds"):
        read_folds(tmp_path / "net" / "folds")


def test_the_same_training_writes_the_same_files(tmp_path: Path) -> None:
    """Weights, card and report, byte by byte."""
    quick = replace(QUICK, epochs=2, folds=2)
    for name in ("one", "two"):
        save_outcome(train_fusion(collection_of(60), quick), tmp_path / name)
    assert _content(tmp_path / "one") == _content(tmp_path / "two")


def test_an_interrupted_save_leaves_the_earlier_fusion(
    outcome: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole, and nothing beside it."""
    save_outcome(outcome, tmp_path / "net")
    before = _content(tmp_path / "net")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(saving, "write_report", stop)
    changed = replace(outcome, artefact=replace(outcome.artefact, embedder="other"))
    with pytest.raises(KeyboardInterrupt):
        save_outcome(changed, tmp_path / "net")
    assert _content(tmp_path / "net") == before
    assert load(tmp_path / "net").embedder == "minilm"
    assert [path.name for path in tmp_path.iterdir()] == ["net"]
    monkeypatch.undo()
    save_outcome(changed, tmp_path / "net")
    assert load(tmp_path / "net").embedder == "other"
    assert [path.name for path in tmp_path.iterdir()] == ["net"]


def test_progress_is_told_stage_by_stage() -> None:
    """Up to the end of each."""
    seen: dict[str, list[tuple[int, int]]] = {}
    quick = replace(QUICK, epochs=2, members=2, folds=2)
    train_fusion(
        collection_of(30), quick, lambda stage, done, total: seen.setdefault(stage, []).append((done, total))
    )
    assert list(seen) == ["Training", "Judging", "Finishing"]
    assert seen["Training"] == [(n, 8) for n in range(1, 9)]
    assert all(told[-1][0] == told[-1][1] for told in seen.values())


@pytest.mark.parametrize("missing", ["tensorflow", "keras"])
def test_without_tensorflow_it_says_what_to_install(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is trained."""
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'trivium\[train\]'"):
        train_fusion(collection_of(30), QUICK)
