"""The log is one line of JSON for each event, cannot be flooded, and delays no request."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from trivium.server import log_limits
from trivium.server.log_limits import FIELDS, UNLIMITED, RepetitionLimit
from trivium.server.logs import MAX_TEXT, MAX_TRACEBACK, JsonFormatter, LogWriter

_EVERYTHING = """
import asyncio, logging, threading, warnings
from trivium.server.logs import log_as_json
log_as_json()
logging.getLogger().error("from the root")
logging.getLogger("some.library").warning("a\\nwarning")
logging.getLogger("asyncio").error("of the loop")
logging.getLogger("trivium.x").info("%d and %d", 1)
warnings.warn("of Python")
def fail(): raise ValueError("in a thread")
thread = threading.Thread(target=fail, name="failing"); thread.start(); thread.join()
class Broken:
    def __del__(self): raise ValueError("at the end of an object")
Broken()
raise ValueError("caught by nobody")
"""


def record(message: str = "again", line: int = 1, **extra: Any) -> logging.LogRecord:
    made = logging.LogRecord("trivium.test", logging.WARNING, "here.py", line, message, None, None)
    for name, value in extra.items():
        setattr(made, name, value)
    return made


def test_whatever_is_logged_is_a_line_of_json() -> None:
    """Of libraries, of threads and objects that fail, with arguments that do not fit, and a process's last words."""
    done = subprocess.run([sys.executable, "-c", _EVERYTHING], capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    told = " ".join(line["message"] + line.get("traceback", "") for line in lines)
    for expected in (
        "from the root",
        "a\nwarning",
        "of the loop",
        "'%d and %d'",
        "of Python",
        "ValueError: in a thread",
        "ValueError: at the end of an object",
        "ValueError: caught by nobody",
    ):
        assert expected in told
    assert done.returncode == 1 and len(lines) == 8


def test_what_is_repeated_is_counted_by_place_and_status() -> None:
    now = [0.0]
    limit = RepetitionLimit(lambda: now[0])
    assert [limit.admits(record(f"try {n}")) for n in range(40)] == [True] * 10 + [False] * 30
    assert limit.admits(record(line=2)) and limit.admits(record(fields={"status": 503}))
    assert all(limit.admits(record(**{UNLIMITED: True})) for _ in range(40))
    assert list(limit.ended()) == []
    now[0] = log_limits.PERIOD
    (summary,) = limit.ended()
    assert summary.getMessage() == "30 more like this within 60 s: try 0" and summary.levelname == "WARNING"
    assert limit.admits(record()) and list(limit.ended(everything=True)) == []


def test_the_kinds_that_are_counted_are_limited_too() -> None:
    limit = RepetitionLimit(lambda: 0.0)
    for line in range(5000):
        list(limit.ended())
        limit.admits(record(line=line))
    assert len(limit._kinds) <= 1001


def test_a_line_is_of_bounded_length() -> None:
    made = record("x" * 10**6, **{FIELDS: {"path": "y" * 10**6, "seconds": 0.5}})
    try:
        raise ValueError("z" * 10**6)
    except ValueError:
        made.exc_info = sys.exc_info()
    line = JsonFormatter().format(made)
    parsed = json.loads(line)
    assert len(line) < 2 * MAX_TEXT + MAX_TRACEBACK + 500
    assert parsed["message"].endswith("... (1000000 characters)") and parsed["seconds"] == 0.5


def test_a_log_that_nobody_reads_holds_up_nobody() -> None:
    """The pipe is full after 64 kB; what could not be written is said when it can be read again."""
    read, write = os.pipe()
    with os.fdopen(write, "w") as stream, os.fdopen(read) as reader:
        writer = LogWriter(stream)
        logger = logging.Logger("trivium.test")
        logger.addHandler(writer)
        started = time.monotonic()
        for number in range(12_000):
            logger.info("%05d %s", number, "x" * 100, extra={UNLIMITED: True})
        assert time.monotonic() - started < 5
        lines = [json.loads(reader.readline()) for _ in range(10_000)]
        logger.info("last", extra={UNLIMITED: True})
        while lines[-1]["message"] != "last":
            lines.append(json.loads(reader.readline()))
        assert any("could not be written" in line["message"] for line in lines)
        writer.close()


@pytest.mark.parametrize("broken", ["closed", "full"])
def test_a_stream_that_cannot_be_written_disturbs_nobody(broken: str) -> None:
    stream = Path("/dev/full" if broken == "full" else os.devnull).open("w")  # noqa: SIM115
    writer = LogWriter(stream)
    logger = logging.Logger("trivium.test")
    logger.addHandler(writer)
    if broken == "closed":
        stream.close()
    for _ in range(3):
        logger.error("something")
    writer.flush()
    assert writer._dropped == 3
    if broken == "full":
        with pytest.raises(OSError):
            stream.close()
