"""What clients upload is parsed in a process apart: what takes too much costs its document, and nothing else."""

from __future__ import annotations

import gzip
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import until
from trivium.errors import TriviumError
from trivium.graph.page_graph import PageGraph
from trivium.graph.sqlite import EmbeddedStore
from trivium.index import parser_process
from trivium.index.load import load
from trivium.index.parser_process import ParserProcess
from trivium.settings.limits import InputLimits

PAGE = "<!doctype html><title>{0}</title><h1>{0}</h1><p>{0} is about <a href='/wiki/Mars'>Mars</a>.</p>"
SLOW = "<title>Slow</title><p " + " ".join(f"a{i}='</b>'" for i in range(60_000)) + ">x</p>"


@pytest.fixture(scope="module")
def parser() -> Iterator[ParserProcess]:
    process = ParserProcess()
    yield process
    process.close()


def write(folder: Path, **contents: str | bytes) -> list[str]:
    files = []
    for name, content in contents.items():
        files.append(folder / name)
        files[-1].write_bytes(content.encode() if isinstance(content, str) else content)
    return [str(file) for file in files]


def test_a_process_apart_makes_the_same_store(tmp_path: Path, parser: ParserProcess) -> None:
    """Pages and records that link to each other, in both ways of loading."""
    lines = "\n".join(
        json.dumps({"title": f"Moon {i}", "text": f"It circles Mars with Moon {i + 1}."})
        for i in range(1_200)
    )
    files = write(tmp_path, a=PAGE.format("Mars"), b=PAGE.format("Earth"), c=lines, d=b"\0\1\2" * 99)
    with EmbeddedStore.create(tmp_path / "one") as one, EmbeddedStore.create(tmp_path / "two") as two:
        here = load(files, one)
        apart = load(files, two, isolated=parser)
        assert here == apart
        assert list(one.page_graphs(["Mars", "Moon 7"])) == list(two.page_graphs(["Mars", "Moon 7"]))
        assert one.info().relationships == two.info().relationships


def test_a_document_that_takes_too_long_is_the_only_one_lost(
    tmp_path: Path, store: EmbeddedStore, parser: ParserProcess
) -> None:
    files = write(tmp_path, a=PAGE.format("A"), slow=SLOW, z=PAGE.format("Z"))
    report = load(
        files, store, isolated=parser, names={files[1]: "slow.html"}, limits=InputLimits(seconds=0.5)
    )
    assert (report.added, [problem.location for problem in report.problems]) == (2, ["slow.html"])
    assert "seconds" in report.problems[0].reason


def test_a_document_that_takes_too_much_memory_is_the_only_one_lost(
    tmp_path: Path, store: EmbeddedStore, parser: ParserProcess
) -> None:
    large = "<title>L</title>" + "<p>some words of a text</p>" * 450_000
    files = write(tmp_path, a=PAGE.format("A"), large=large, z=PAGE.format("Z"))
    report = load(files, store, isolated=parser, limits=InputLimits(worker_bytes=300 << 20))
    assert (report.added, len(report.problems)) == (2, 1)
    assert "300 MB" in report.problems[0].reason


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell the two apart")
def test_a_process_is_kept_for_the_next_load_by_who_uses_much_memory(
    tmp_path: Path, store: EmbeddedStore
) -> None:
    """What counts is its own memory, not that of a server with its indexes."""
    much = b"x" * (parser_process._KEPT_BYTES + (64 << 20))
    process = ParserProcess()
    try:
        pids = []
        for title in ("A", "B", "C"):
            assert load(write(tmp_path, page=PAGE.format(title)), store, isolated=process).added == 1
            pids.append(process.pid)
    finally:
        process.close()
    assert len(much) > parser_process._KEPT_BYTES and len(set(pids)) == 1


def test_a_process_that_is_killed_is_replaced(
    tmp_path: Path, store: EmbeddedStore, parser: ParserProcess
) -> None:
    """Whether it is killed between two loads or within one."""
    assert load(write(tmp_path, a=PAGE.format("A")), store, isolated=parser).added == 1
    killed = []

    def kill(page: PageGraph) -> None:
        if not killed and parser.pid is not None:
            killed.append(parser.pid)
            os.kill(parser.pid, signal.SIGKILL)

    files = write(tmp_path, b=PAGE.format("B"), c=SLOW, d=PAGE.format("D"))
    report = load(files, store, isolated=parser, check=kill, limits=InputLimits(seconds=0.5))
    assert killed and report.added == 2 and len(report.problems) == 1


def test_who_gives_up_leaves_no_process_behind(
    tmp_path: Path, store: EmbeddedStore, parser: ParserProcess
) -> None:
    """A server that is told to end does not wait for a document."""

    class EndedError(TriviumError):
        pass

    seen: list[int] = []

    def give_up(stage: str, done: int, total: int) -> None:
        assert parser.pid is not None
        seen.append(parser.pid)
        if len(seen) > 3:
            raise EndedError

    with pytest.raises(EndedError):
        load(write(tmp_path, slow=SLOW), store, isolated=parser, progress=give_up)
    until(lambda: not Path(f"/proc/{seen[0]}").exists(), 10)


@pytest.mark.parametrize("apart", [False, True])
def test_problems_are_counted_beyond_those_that_are_listed(
    tmp_path: Path, store: EmbeddedStore, parser: ParserProcess, apart: bool
) -> None:
    """A file of bad lines would otherwise fill the memory with what is said of them."""
    lines = gzip.compress(b'{"title": "A", "text": "b"}\n' + b"x\n" * 30_000)
    report = load(write(tmp_path, bad=lines), store, isolated=parser if apart else None)
    assert (report.added, len(report.problems), report.unlisted) == (1, 1_000, 29_000)


def test_an_upload_of_more_records_than_fit_is_cut(
    tmp_path: Path, store: EmbeddedStore, parser: ParserProcess
) -> None:
    lines = "\n".join(json.dumps({"title": f"T{i}", "text": "x"}) for i in range(3_000))
    limits = InputLimits(records_bytes=1 << 20)
    report = load(write(tmp_path, many=lines), store, isolated=parser, limits=limits)
    assert (
        2_000 < report.added < 2_200
        and "more records than can be loaded at once" in report.problems[0].reason
    )
