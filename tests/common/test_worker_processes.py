"""Workers answer in order, cost their request when they end, and leave nothing behind. Their processes are real."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.waiting import until
from trivium.common.stopping import Stop, StoppedError
from trivium.common.worker_processes import Pool, Worker, WorkerLostError, answer_all, plain, running

HERE = f"{__name__}:echo"


def echo(pipe: Connection, name: str = "") -> None:
    """What a worker of these tests does: answers, sleeps, dies, takes memory."""

    def answer(request: bytes) -> bytes:
        if request == b"die":
            os._exit(3)
        if request == b"sleep":
            time.sleep(600)
        if request == b"much":
            return str(len(bytearray(1 << 30))).encode()
        return request + name.encode()

    answer_all(pipe, answer)


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool(HERE, ("!",), 2)
    yield made
    made.close()
    assert not running(HERE)


def test_answers_are_in_the_order_of_the_requests_and_a_lost_one_costs_itself(pool: Pool) -> None:
    requests = [b"%d" % n for n in range(30)]
    requests[7] = b"die"
    answers = list(pool.map(requests, lambda request: request))
    assert [request for request, _ in answers] == requests
    for request, answer in answers:
        if request == b"die":
            assert isinstance(answer, WorkerLostError) and answer.exit_code == 3
        else:
            assert answer == request + b"!"


def test_who_stops_asking_ends_the_workers(pool: Pool) -> None:
    """Closed early, or stopped by another thread while they work; the next requests start others."""
    with closing(pool.map([b"a", b"sleep", b"sleep"], lambda request: request)) as answers:
        assert next(answers) == (b"a", b"a!") and running(HERE)
    assert not running(HERE)
    stop = Stop()
    with stop.in_force(), pytest.raises(StoppedError):
        for _ in pool.map([b"a", b"sleep", b"sleep"], lambda request: request):
            stop.ask()
    assert not running(HERE)
    assert pool.ask(b"b") == b"b!"


def test_limits_of_time_and_memory_end_a_worker() -> None:
    worker = Worker(HERE, ("?",), memory=300 << 20)
    with pytest.raises(WorkerLostError):
        worker.ask(b"sleep", seconds=0.1)
    with pytest.raises(WorkerLostError):
        worker.ask(b"much")
    assert worker.ask(b"a") == b"a?"
    worker.kill()
    with pytest.raises(WorkerLostError):
        worker.ask(b"a")
    assert worker.end() == -signal.SIGKILL


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_worker_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    """Even while it works, and where that was killed. The script needs no guard."""
    script = tmp_path / "script.py"
    script.write_text(
        "import threading, time\n"
        "from trivium.common.worker_processes import Worker\n"
        f"worker = Worker({HERE!r})\n"
        "threading.Thread(target=worker.ask, args=(b'sleep',), daemon=True).start()\n"
        "while worker.pid is None: time.sleep(0.01)\n"
        "print(worker.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
    until(lambda: not Path(f"/proc/{pid}").exists(), 60)


def test_arguments_are_those_of_json() -> None:
    assert plain({"a": (1, None)}) == {"a": [1, None]}
    with pytest.raises(TypeError, match="object cannot be written as JSON"):
        Worker(HERE, (object(),))
