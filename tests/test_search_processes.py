"""Several processes find what one finds, say what went wrong, and end with their engine."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trivium
from tests.waiting import until
from trivium import search_processes
from trivium.common.stopping import Stop, StoppedError
from trivium.engine import Engine
from trivium.errors import FusionError, InputError, StoreError
from trivium.search_processes import SearchProcesses, _blocks
from trivium.serialization import hit_json, hit_of
from trivium.testing.toys import HashEmbedder
from trivium.types import Hit, LiveOrigin

QUESTIONS = [f"Which moon of {planet} is number {n}?" for n in range(9) for planet in ("Mars", "Jupiter")]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("processes")
    for name, moons in (("Mars", "Phobos and Deimos"), ("Jupiter", "Io, Europa, Ganymede and Callisto")):
        text = f"# {name}\n\n{name} is a planet of the Sun.\n\n## Moons\n\nMoons of {name} are {moons}.\n"
        (folder / f"{name}.md").write_text(text)
    with Engine.create(folder / "store", "minilm") as engine:
        engine.build([folder])
        yield engine


def _processes(engine: Engine) -> list[int]:
    assert engine._processes is not None
    workers = engine._processes._pool.workers
    return [worker.pid for worker in workers if worker.is_alive and worker.pid is not None]


def test_hits_are_those_of_one_process(engine: Engine) -> None:
    """With explanations, of one retriever, and under a condition; the processes remain for the next batch."""
    for options in (
        {},
        {"k": 2, "explain": True},
        {"retrievers": ["lexical"], "k": 3},
        {"where": "format = 'markdown'", "settings": {"walk.damping": 0.4}, "cut": "near:0.5"},
    ):
        expected = [engine.search(question, **options) for question in QUESTIONS]  # type: ignore[arg-type]
        assert engine.search_many(QUESTIONS, processes=2, **options) == expected  # type: ignore[arg-type]
    assert len(set(_processes(engine))) == 2
    before = _processes(engine)
    assert engine.search_many([], processes=2) == [] and _processes(engine) == before


def test_errors_are_those_of_one_process(engine: Engine) -> None:
    with pytest.raises(InputError, match="expected several questions"):
        engine.search_many("Mars", processes=2)
    with pytest.raises(InputError, match="k must be"):
        engine.search_many([], k=0, processes=2)
    with pytest.raises(InputError, match="search_many has no option"):
        engine.search_many(QUESTIONS, processes=2, unknown=1)  # type: ignore[call-arg]
    with pytest.raises(InputError, match="live sources"):
        engine.search_many(QUESTIONS, sources=["arxiv"], processes=2)
    with pytest.raises(InputError, match="a question needs some text"):
        engine.search_many(["What is Mars?", " "], processes=2)
    with pytest.raises(InputError, match="a question as text, got NoneType"):
        engine.search_many(["What is Mars?", None], processes=2)  # type: ignore[list-item]
    with pytest.raises(FusionError, match="nothing of the kind"):
        engine.search_many(QUESTIONS, fusion="nothing of the kind", processes=2)
    with pytest.raises(InputError, match="text, numbers"):
        engine.search_many(QUESTIONS, on_sources=print, processes=2)
    for count in (0, -1, 1.5, True):
        with pytest.raises(InputError, match="1 or more"):
            engine.search_many(QUESTIONS, processes=count)  # type: ignore[arg-type]
    assert len(engine.search_many(QUESTIONS, processes=2)) == len(QUESTIONS)


def test_a_process_that_ends_between_batches_is_started_again(engine: Engine) -> None:
    engine.search_many(QUESTIONS, processes=2)
    for process in _processes(engine):
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    assert engine.search_many(QUESTIONS, processes=2) == engine.search_many(QUESTIONS)


def test_a_process_that_ends_in_a_batch_is_an_error(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if it has begun to answer; the next batch starts others."""
    engine.search_many(QUESTIONS, processes=2)
    killed: list[int] = []

    def kill(fields: Mapping[str, Any]) -> Hit:
        if not killed:
            killed.extend(_processes(engine))
            for process in killed:
                os.kill(process, signal.SIGKILL)
        return hit_of(fields)

    with monkeypatch.context() as patched, pytest.raises(StoreError, match=r"has ended \(exit code -9\)"):
        patched.setattr(search_processes, "hit_of", kill)  # the first answer is there, others are being made
        engine.search_many(QUESTIONS * 500, processes=2)
    assert len(killed) == 2
    assert engine.search_many(QUESTIONS, processes=2) == engine.search_many(QUESTIONS)


@pytest.mark.parametrize("questions", [QUESTIONS * 500, QUESTIONS[:5], []])
@pytest.mark.parametrize("after", [0.0, 0.3])
def test_a_batch_can_be_stopped(engine: Engine, questions: list[str], after: float) -> None:
    """Before it begins or by another thread, with idle processes or busy ones; the next batch has others."""
    engine.search_many(QUESTIONS, processes=2)
    stop = Stop()
    if after:
        threading.Timer(after, stop.ask).start()
    else:
        stop.ask()
    began = time.monotonic()
    some = suppress(StoppedError)  # few may be answered before
    with stop.in_force(), pytest.raises(StoppedError) if len(questions) > 5 or not after else some:
        engine.search_many(questions, processes=2)
    assert time.monotonic() - began < 20
    assert engine.search_many(QUESTIONS[:2], processes=2) == engine.search_many(QUESTIONS[:2])


def test_an_interrupt_ends_a_batch(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """It need not wait for the other questions, nor for the questions to be divided; the next batch starts other
    processes."""
    engine.search_many(QUESTIONS, processes=2)
    before = _processes(engine)

    def interrupt(_: object) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        return 1

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(search_processes, "count_tokens", interrupt)  # while questions are divided
        engine.search_many(QUESTIONS * 5_000, processes=2)
    assert before and not any(map(_is_running, before))
    engine.search_many(QUESTIONS, processes=2)
    before = _processes(engine)

    def later() -> None:
        until(lambda: any(thread.name.startswith("workers") for thread in threading.enumerate()), 60)
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    interrupting = threading.Thread(target=later)
    interrupting.start()
    with pytest.raises(KeyboardInterrupt):
        engine.search_many(QUESTIONS * 5_000, processes=2)
    interrupting.join()
    assert before and not any(map(_is_running, before))
    assert engine.search_many(QUESTIONS, processes=2) == engine.search_many(QUESTIONS)


def _is_running(process: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat")  # one that was killed may not have been waited for yet
        return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")
    return False


def test_a_batch_that_waits_for_another_can_be_stopped(engine: Engine) -> None:
    lock = engine._searching(2)._lock
    stop = Stop()
    lock.acquire()
    release = threading.Timer(2, lock.release)
    release.start()
    threading.Timer(0.2, stop.ask).start()
    with stop.in_force(), pytest.raises(StoppedError):
        engine.search_many(QUESTIONS, processes=2)
    assert lock.locked()  # it did not wait
    release.join()
    assert engine.search_many(QUESTIONS, processes=2) == engine.search_many(QUESTIONS)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are of Unix")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_processes_end_although_a_fork_has_their_pipes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a fork that closes its engine leaves those of the program that it was made from."""
    monkeypatch.setattr("trivium.common.worker_processes._END_SECONDS", 30.0)
    (tmp_path / "Mars.md").write_text("# Mars\n\nMars is a planet.\n")
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([tmp_path / "Mars.md"])
        first = engine.search_many(["What is Mars?"], processes=1)
        assert engine._processes is not None
        process = engine._processes._pool.workers[0]._process
        assert process is not None
        closing = os.fork()
        if not closing:
            try:
                engine._processes.close()
            finally:
                os._exit(0)
        os.waitpid(closing, 0)
        fork = os.fork()
        if not fork:
            try:
                time.sleep(60)
            finally:
                os._exit(0)
        try:
            assert engine.search_many(["What is Mars?"], processes=1) == first
            assert _processes(engine) == [process.pid]
            engine._processes.close()
            assert process.returncode == 0  # -9 for one that had to be killed
        finally:
            os.kill(fork, signal.SIGKILL)
            os.waitpid(fork, 0)


def test_a_closed_engine_starts_no_processes(tmp_path: Path) -> None:
    """And one on a snapshot none that would search another state; a change of the number ends the others."""
    (tmp_path / "Mars.md").write_text("# Mars\n\nMars is a planet.\n")
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([tmp_path / "Mars.md"])
        first = engine.search_many(["What is Mars?"], processes=2)
        (before,) = _processes(engine)
        assert engine.search_many(["What is Mars?"], processes=1) == first
        with pytest.raises(ProcessLookupError):
            os.kill(before, 0)
        with (
            engine.store.pinned() as pinned,
            pytest.raises(InputError, match="may be a snapshot"),
        ):
            engine.on(pinned).search_many(["What is Mars?"], processes=1)  # type: ignore[arg-type]
        with (
            engine.store.pinned() as pinned,
            pytest.raises(InputError, match="may be a snapshot"),
        ):
            Engine(pinned).search_many(["What is Mars?"], processes=1)  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        engine.search_many(["What is Mars?"], processes=1)
    assert engine._processes is not None and not _processes(engine)


def test_modules_of_the_current_folder_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is a store looked for where the current folder is later."""
    (tmp_path / "Mars.md").write_text("# Mars\n\nMars is a planet.\n")
    (tmp_path / "numpy.py").write_text("raise SystemExit(3)")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with Engine.create("store", "minilm") as engine:
        engine.build(["Mars.md"])
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert engine.search_many(["What is Mars?"], processes=1) == engine.search_many(["What is Mars?"])


def test_warnings_are_told_once(tmp_path: Path) -> None:
    """That texts have no vectors; and processes end when their engine is closed."""
    for name in ("Mars", "Venus"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\n{name} is a planet.\n")
    told: list[str] = []
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([tmp_path / "Mars.md"])
        engine.build([tmp_path / "Venus.md"], embed=False)
        engine.search_many(QUESTIONS, processes=1, on_warnings=told.extend)
        assert len(told) == 1 and "not embedded yet" in told[0]
        assert engine._processes is not None
        process = engine._processes._pool.workers[0]._process
        assert process is not None and process.poll() is None
    assert process.poll() is not None


def test_parts_that_are_objects_are_refused(tmp_path: Path) -> None:
    (tmp_path / "Mars.md").write_text("# Mars\n\nMars is a planet.\n")
    with Engine.create(tmp_path / "store", HashEmbedder(), on_stage=print) as engine:
        engine.build([tmp_path / "Mars.md"])
        with pytest.raises(InputError, match=r"cannot be given \(embedder, on_stage\)"):
            engine.search_many(["What is Mars?"], processes=2)


def test_a_store_that_cannot_be_opened_is_an_error_of_every_batch(tmp_path: Path) -> None:
    searching = SearchProcesses(str(tmp_path / "nothing"), 1, {})
    try:
        for _ in range(2):
            with pytest.raises(trivium.errors.StoreNotFoundError, match="nothing"):
                searching.search_many(["?"], {}, print)
    finally:
        searching.close()


@given(st.lists(st.integers(0, 99), max_size=2_000), st.integers(1, 9))
def test_blocks_have_each_question_once_and_become_smaller(lengths: list[int], processes: int) -> None:
    """The longest questions come first. If all took as long, no process would wait for another more than four
    searches at the end."""
    questions = ["?" * length for length in lengths]
    blocks = list(_blocks(questions, processes))
    places = [place for block in blocks for place in block]
    assert sorted(places) == list(range(len(questions)))
    assert [lengths[place] for place in places] == sorted(lengths, reverse=True)
    sizes = [len(block) for block in blocks]
    assert sizes == sorted(sizes, reverse=True) and max(sizes, default=0) <= 128
    shares = [0] * processes
    for size in sizes:
        shares[shares.index(min(shares))] += size
    assert max(shares) - min(shares) <= 4


def test_a_hit_is_read_from_its_json() -> None:
    live = LiveOrigin("arxiv", "https://arxiv.org/abs/1", None, "2024-01-01T00:00:00Z")
    for hit in (
        Hit("a#chunk-0", "text", 1.5, 1, "a", "a", "paragraph", 0, 4),
        Hit(
            "a", "t", -0.1, 2, "p", "s", "list", 3, 9, {"walk": 0.1}, {"walk": "n"}, 0.2, 0.9, "d.pdf", (1, 2)
        ),
        Hit("a", "t", 0.0, 1, "p", "s", "list", 3, 9, metadata={"year": 1}, live=live, rerank_score=0.3),
    ):
        assert hit_of(hit_json(hit)) == hit
