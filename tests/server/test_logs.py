"""The log is one line of JSON for each event, and delays no request."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from trivium.server.logs import FIELDS, MAX_TEXT, MAX_TRACEBACK, JsonFormatter, LogWriter

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
raise ValueError("caught by nobody")
"""


def test_whatever_is_logged_is_a_line_of_json() -> None:
    """Of libraries, of threads that fail, with arguments that do not fit, and a process's last words."""
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
        "ValueError: caught by nobody",
    ):
        assert expected in told
    assert done.returncode == 1 and len(lines) == 7


def test_a_line_is_of_bounded_length() -> None:
    made = logging.LogRecord("trivium.test", logging.WARNING, "here.py", 1, "x" * 10**6, None, None)
    setattr(made, FIELDS, {"path": "y" * 10**6, "seconds": 0.5})
    try:
        raise ValueError("z" * 10**6)
    except ValueError:
        made.exc_info = sys.exc_info()
    line = JsonFormatter().format(made)
    parsed = json.loads(line)
    assert len(line) < 2 * MAX_TEXT + MAX_TRACEBACK + 500
    assert parsed["message"].endswith("... (1000000 characters)") and parsed["seconds"] == 0.5


def test_a_log_that_nobody_reads_holds_up_nobody() -> None:
    """The pipe is full after 64 kB."""
    read, write = os.pipe()
    with os.fdopen(write, "w") as stream, os.fdopen(read) as reader:
        writer = LogWriter(stream)
        logger = logging.Logger("trivium.test")
        logger.addHandler(writer)
        started = time.monotonic()
        for number in range(12_000):
            logger.info("%05d %s", number, "x" * 100)
        assert time.monotonic() - started < 5
        lines = [json.loads(reader.readline()) for _ in range(10_000)]
        assert lines[-1]["message"].startswith("09999")
        logger.info("last")
        while lines[-1]["message"] != "last":
            lines.append(json.loads(reader.readline()))
        writer.close()


@pytest.mark.parametrize("broken", ["closed", "full"])
def test_a_stream_that_cannot_be_written_disturbs_nobody(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    stream = Path("/dev/full" if broken == "full" else os.devnull).open("w")  # noqa: SIM115
    writer = LogWriter(stream)
    logger = logging.Logger("trivium.test")
    logger.addHandler(writer)
    if broken == "closed":
        stream.close()
    for _ in range(3):
        logger.error("something")
    writer.flush()
    if broken == "full":
        with pytest.raises(OSError):
            stream.close()
