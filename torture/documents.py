"""Mutated documents of every format: refused or read, never a crash, in bounded time and memory."""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from torture.cases import Kind, Outcome, dice, told
from torture.formats import Documents, formats, repacked, unpacked
from torture.mutations import mutated
from torture.sandbox import Child

BATCH = 200
CPU_SECONDS = 10.0
"""Of one document; the usual one takes a few milliseconds."""
MEMORY = 2 << 30
"""Bytes of one document."""


def outcomes(seeds: Iterator[int], scratch: Path) -> Iterator[Outcome]:
    """See :data:`torture.cases.Outcomes`."""
    return tried(seeds, scratch, case, formats)


def tried(
    seeds: Iterator[int],
    scratch: Path,
    case: Callable[[int], tuple[str, bytes]],
    formats: Callable[[], Mapping[str, Documents]],
) -> Iterator[Outcome]:
    """Read the document of each seed. A worker reads a batch; the document that ends it is the failure, and another one
    goes on behind it."""
    while batch := list(islice(seeds, BATCH)):
        while batch:
            done = scratch / "done"
            done.write_bytes(b"")
            ended = Child(lambda b=batch: _read_all(b, scratch, case, formats)).wait(600)  # type: ignore[misc]
            lines = [json.loads(line) for line in done.read_text("utf-8").splitlines()]
            for seed, what, failure in lines:
                yield Outcome(seed, what, failure)
            batch = batch[len(lines) :]
            if batch:
                name, _ = case(batch[0])
                killed = {-signal.SIGPROF: f"took more than {CPU_SECONDS:g} s of CPU time"}
                reason = (
                    killed.get(ended.code) or f"the process ended with {ended.code}: {ended.output[-1500:]}"
                )
                yield Outcome(batch[0], name, reason)
                batch = batch[1:]


def case(seed: int) -> tuple[str, bytes]:
    """Return the format and the document of a seed."""
    drawn = dice("documents", seed)
    name = drawn.choice(list(formats()))
    documents = formats()[name]
    original = drawn.choice(documents.originals)
    others = drawn.choice(list(formats().values())).originals if drawn.random() < 0.3 else documents.originals
    if drawn.random() < 0.6:
        return name, repacked(name, mutated(unpacked(name, original), others, drawn))
    return name, mutated(original, others, drawn)


def _read_all(
    seeds: list[int],
    scratch: Path,
    case: Callable[[int], tuple[str, bytes]],
    formats: Callable[[], Mapping[str, Documents]],
) -> None:
    formats()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    with (scratch / "done").open("a", encoding="utf-8") as done:
        for seed in seeds:
            name, document = case(seed)
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
            failure = _failure(formats()[name], document, scratch)
            signal.setitimer(signal.ITIMER_PROF, 0)
            done.write(json.dumps([seed, name, failure]) + "\n")
            done.flush()


def _failure(documents: Documents, document: bytes, scratch: Path) -> str | None:
    path = scratch / f"document{documents.suffix}"
    path.write_bytes(document)
    try:
        documents.check(path)
    except Exception as error:  # whatever is not the package's own is what is looked for
        trace, places = error.__traceback__, []
        while trace is not None:
            places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
            trace = trace.tb_next
        return f"{told(error)[:500]} (at {' '.join(places[-4:])})"
    return None


KIND = Kind("documents", 3.0, 200, outcomes)
