"""Train a fusion on one's own questions through the command line: save hit lists, train, search, decide."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import trivium
from tests.e2e.conftest import Run
from tests.training.world import needs_tensorflow, save_world
from trivium.engine import Engine
from trivium.errors import InputError
from trivium.evaluation.evaluator import Evaluator
from trivium.fusion.artefact import Artefact, load, save, write_sums
from trivium.fusion.hit_lists import load_hits
from trivium.fusion.network import Network
from trivium.fusion.stored_decision import read_decision
from trivium.retrievers.registry import RETRIEVERS
from trivium.sample import question_files
from trivium.training.training_data import layout_of

QUESTION = "Who discovered the moons of Mars?"
SOME = 60
"""Of the sample's single-hop questions: enough for a difference to be one."""


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some single-hop questions of the sample."""
    (whole,) = (file for file in question_files() if "single" in file.name)
    path = tmp_path_factory.mktemp("questions") / "single.jsonl"
    path.write_text("".join(whole.read_text("utf-8").splitlines(keepends=True)[:SOME]), "utf-8")
    return path


@pytest.fixture(scope="module")
def hits(trivium: Run, sample_store: Path, questions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Their hit lists."""
    path = tmp_path_factory.mktemp("hits") / "single.npz"
    result = trivium("evaluate", questions, "--store", sample_store, "-r", "vector", "--hits", path, "--json")
    assert result.code == 0, result.err
    assert list(result.json["rows"]) == ["vector"]
    assert result.json["traced"] == len(load_hits(path).hits) == SOME
    return path


@pytest.fixture(scope="module")
def trained(hits: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """Two fusions made by hand: one (True) ranks like the vector view, one (False) the other way round."""
    file = load_hits(hits)
    layout = layout_of(file.hits[0].table)
    width = len(layout.columns)
    made = {}
    for good in (True, False):
        weights = np.zeros((1, width, 1), np.float32)
        weights[0, [name for name, _ in layout.columns].index("standard vector")] = 1 if good else -1
        network = Network(
            np.zeros(width, np.float32),
            np.ones(width, np.float32),
            ((weights, np.zeros((1, 1), np.float32)),),
        )
        made[good] = tmp_path_factory.mktemp("nets") / str(good)
        save(
            Artefact(network, layout, file.embedder, gate={"active": True, "because": "made by hand"}),
            made[good],
        )
    return made


def test_saved_hit_lists_hold_all_views_signals_and_gold(hits: Path) -> None:
    """Whatever rows were asked for."""
    file = load_hits(hits)
    assert file.embedder == "minilm"
    found = [(hit.gold >= 0).any() for hit in file.hits]
    assert np.mean(found) > 0.9
    for hit in file.hits:
        assert hit.table.columns == RETRIEVERS
        assert "coverage" in hit.table.signals and "terms" in hit.table.question


ONE_NETWORK = """
from functools import partial
from trivium.cli import train
from trivium.training.settings import Settings
train.Settings = partial(Settings, members=1)
from trivium.__main__ import run
run()
"""
"""The command; what it trains is one network instead of the mean of five."""


@needs_tensorflow
@pytest.mark.parametrize("way", ["--adapt", "--no-adapt"])
def test_from_questions_to_a_fusion_that_explains_itself(
    trivium: Run, python: Path, hits: Path, sample_store: Path, tmp_path: Path, way: str
) -> None:
    """One command adapts the network that ships or trains one, and the folder it makes is the name of a fusion."""
    net = tmp_path / "net"
    quick = ("--folds", "2", "--epochs", "3", way)
    done = subprocess.run(
        [python, "-c", ONE_NETWORK, "train", hits, "--out", net, *quick, "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "100"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") < 6 and "--epochs is gone and was ignored" in done.stderr
    report = json.loads(done.stdout)
    beside = ["shipped"] if way == "--adapt" else []
    assert set(report["sets"]["single"]) == {"network", *RETRIEVERS, "rrf", "convex", *beside}
    assert load(net).active is report["gate"]["active"]
    assert (net / "report" / "report.md").is_file() and (net / "README.md").is_file()
    found = trivium("search", QUESTION, "--store", sample_store, "--fusion", net, "--explain", "--json")
    assert set(found.json["hits"][0]["contributions"]) == set(RETRIEVERS)
    assert ("its gate is closed" in found.err) is not report["gate"]["active"]


def test_an_evaluation_of_enough_questions_says_how_the_ranking_is_fitted(
    trivium: Run, sample_store: Path, questions: Path, tmp_path: Path
) -> None:
    """Fifty are enough; with the hit lists only the last step is left."""
    asked = ("evaluate", questions, "--store", sample_store, "-r", "lexical", "--fusion", "convex")
    assert "--hits mine.npz  and then  trivium train mine.npz --out my-fusion" in trivium(*asked).out
    some = tmp_path / "some.jsonl"
    some.write_text("".join(questions.read_text("utf-8").splitlines(keepends=True)[:20]), "utf-8")
    few = trivium("evaluate", some, *asked[2:], "--hits", tmp_path / "few.npz")
    assert few.code == 0 and "trivium train" not in few.out


def test_what_cannot_be_trained_on_is_a_clear_error(trivium: Run, hits: Path, tmp_path: Path) -> None:
    """And the folder is not made."""
    net = tmp_path / "net"
    text = tmp_path / "text.npz"
    text.write_text("not a hit list")
    other = save_world(tmp_path / "other.npz", embedder="bge-small")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("")
    for arguments, message in (
        ([text, "--out", net], "does not hold hit lists"),
        ([tmp_path / "none.npz", "--out", net], "there is no file"),
        ([hits, other, "--out", net], "several embedders"),
        ([hits, "--out", net, "--folds", "9999"], "questions on at least 9999 pages"),
        ([hits, "--out", tmp_path / "mine"], "holds notes.txt"),
        ([hits, "--out", net, "--importance", "1", "2"], "importance for each of 1"),
        ([hits, "--out", net, "--preset", "thesis"], "No such option"),
    ):
        result = trivium("train", *arguments)
        assert result.code != 0 and "Traceback" not in result.err
        assert message in " ".join(result.err.replace("│", " ").split()), result.err
        assert not net.exists()


@needs_tensorflow
@pytest.mark.slow
def test_an_interrupted_training_leaves_the_earlier_fusion(
    hits: Path, trained: dict[bool, Path], tmp_path: Path
) -> None:
    """SIGINT while it trains: exit code 130, no trace of it."""
    net = Path(shutil.copytree(trained[True], tmp_path / "net"))
    before = (net / "fusion.json").read_bytes()
    command = [sys.executable, "-m", "trivium", "train", str(hits), "--out", str(net)]
    running = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "FORCE_COLOR": "1"}
    )
    assert running.stderr is not None
    seen = ""
    while re.search(r"[1-9]\d*/\d", seen) is None:  # the first epoch, in its progress bar
        piece = running.stderr.read(1)
        assert piece, seen
        seen += piece
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130 and "Traceback" not in err
    assert (net / "fusion.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["net"]


@pytest.mark.parametrize("good", [True, False])
def test_a_store_decides_on_its_own_questions(
    trivium: Run, own_store: Path, questions: Path, trained: dict[bool, Path], good: bool
) -> None:
    """A ranking turned round is worse than convex; vector's own is no better than vector. Either way the store's default
    stays as it was, and the command says why."""
    before = trivium("search", QUESTION, "--store", own_store, "--json").json
    result = trivium(
        "evaluate", questions, "--store", own_store, "--fusion", trained[good], "--activate", "--json"
    )
    assert result.code == 0, result.err
    decision = result.json["decision"]
    assert decision["fusion"] == "network"
    assert set(result.json["rows"]) == {*RETRIEVERS, str(trained[good]), "convex", "default"}
    assert ("not better" if good else "significantly worse") in decision["because"]
    assert trivium("search", QUESTION, "--store", own_store, "--json").json == before
    stats = trivium("stats", "--store", own_store, "--json").json
    assert (stats["default_fusion"], stats["fusion_decision"]) == ("network", None)


def test_a_rejected_default_gives_way(
    own_store: Path, questions: Path, trained: dict[bool, Path], tmp_path: Path
) -> None:
    """A folder to what a store without a decision has, the network that ships to convex. A fusion that is not the
    default changes nothing, nor does one that the gate admits and that is significantly worse than the default."""
    own, other = (str(trained[good]) for good in (True, False))
    with trivium.Engine.open(own_store) as engine:
        evaluator = Evaluator(engine.searcher)
        some = tmp_path / "some.jsonl"
        some.write_text("".join(questions.read_text("utf-8").splitlines(keepends=True)[:10]), "utf-8")
        report = engine.evaluate(some, RETRIEVERS, [own, other, "network", "convex", "default"])

        def found(**shares: float) -> None:
            for name, row in report.rows.items():
                row.values["recall@5"][:] = share = shares.get(name, shares["others"])
                row.means["recall@5"] = share  # type: ignore[index]

        def decision() -> str | None:
            kept = engine.store.fusion_decision
            return None if kept is None else read_decision(kept).fusion

        found(**{own: 1.0, "others": 0.0})
        assert evaluator.activate(report, own).fusion == decision() == own
        found(**{other: 0.5, "default": 1.0, "others": 0.0})
        rejected = evaluator.activate(report, other)
        assert rejected.fusion == decision() == own and "present default" in rejected.because
        found(others=0.0)
        assert evaluator.activate(report, "network").fusion == decision() == own
        assert evaluator.activate(report, own).fusion == "network" and decision() is None
        assert evaluator.activate(report, own).fusion == "network" and decision() is None
        assert evaluator.activate(report, "network").fusion == decision() == "convex"
        assert evaluator.forget_decision() == "network" and decision() is None


def test_the_way_back_to_the_default_that_ships(trivium: Run, own_store: Path) -> None:
    """One command, without questions; stats shows what holds."""
    kept = {"fusion": "convex", "because": "tried", "questions": 7, "figures": {}}
    with Engine.open(own_store) as engine:
        engine.store.set_fusion_decision(json.dumps(kept))
    assert (
        "default fusion: convex (decided on 7 of your questions)"
        in trivium("stats", "--store", own_store).out
    )
    assert trivium("stats", "--store", own_store, "--json").json["fusion_decision"] == kept
    back = trivium("evaluate", "--store", own_store, "--fusion", "default", "--activate")
    assert back.code == 0 and "default fusion: network" in back.out
    stats = trivium("stats", "--store", own_store, "--json").json
    assert (stats["default_fusion"], stats["fusion_decision"]) == ("network", None)
    with Engine.open(own_store) as engine:
        engine.store.set_fusion_decision("{")
    broken = trivium("stats", "--store", own_store)
    assert broken.code == 0 and "is damaged" in broken.err
    assert trivium("stats", "--store", own_store, "--json").json["default_fusion"] is None


def test_a_decision_for_a_fusion_is_obeyed_unless_views_are_left_out(
    own_store: Path, trained: dict[bool, Path]
) -> None:
    """By the engine that took it and those that come after; by name it is used in any case."""
    with trivium.Engine.open(own_store) as engine:
        before = [hit.uri for hit in engine.search(QUESTION)]
        engine.store.set_fusion_decision(
            json.dumps({"fusion": str(trained[False]), "because": "", "questions": 1, "figures": {}})
        )
    with trivium.Engine.open(own_store) as engine:
        turned = [hit.uri for hit in engine.search(QUESTION)]
        assert turned != before
        assert turned == [hit.uri for hit in engine.search(QUESTION, fusion=str(trained[False]))]
        some = ["vector", "lexical"]
        by_convex = engine.search(QUESTION, retrievers=some, fusion="convex")
        assert engine.search(QUESTION, retrievers=some) == by_convex
        assert engine.search(QUESTION, retrievers=some, fusion="default") == by_convex
        assert engine.search(QUESTION, retrievers=some, fusion=str(trained[False])) != by_convex


def test_a_fusion_is_activated_where_it_is_better(
    own_store: Path, questions: Path, trained: dict[bool, Path]
) -> None:
    """On questions that only it answers: those for which another's rankings are empty. The decision is kept."""
    name = str(trained[True])
    with trivium.Engine.open(own_store) as engine:
        report = engine.evaluate(questions, RETRIEVERS, [name, "convex"])
        for row in report.rows.values():
            if row is not report.rows[name]:
                row.values["recall@5"][:] = 0
                row.means["recall@5"] = 0.0  # type: ignore[index]
        decision = Evaluator(engine.searcher).activate(report, name)
        assert decision.fusion == name and decision.questions == len(report.traced.questions)
        assert read_decision(str(engine.store.fusion_decision)) == decision
        assert engine.search(QUESTION) == engine.search(QUESTION, fusion=name)
        with pytest.raises(InputError, match="expected a trained fusion"):
            Evaluator(engine.searcher).activate(report, "convex")


def test_only_one_trained_fusion_can_be_decided_on(trivium: Run, sample_store: Path, questions: Path) -> None:
    """The network that ships, or one folder."""
    result = trivium("evaluate", questions, "--store", sample_store, "--activate", "--fusion", "convex")
    assert result.code == 2 and "one trained fusion" in " ".join(result.err.replace("│", " ").split())


def test_a_fusion_is_read_once_an_engine(
    sample_store: Path, trained: dict[bool, Path], caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """Not at every search: the warning of one whose gate is shut comes once, and it works on without its folder."""
    net = Path(shutil.copytree(trained[True], tmp_path / "net"))
    description = json.loads((net / "fusion.json").read_text("utf-8"))
    (net / "fusion.json").write_text(
        json.dumps({**description, "gate": {"active": False, "because": "x"}}), "utf-8"
    )
    write_sums(net)
    with caplog.at_level(logging.WARNING), trivium.Engine.open(sample_store) as engine:
        first = engine.search(QUESTION, fusion=str(net))
        shutil.rmtree(net)
        assert engine.search(QUESTION, fusion=str(net)) == first
    assert len(caplog.records) == 1
