"""The log is one line of JSON for each event."""

from __future__ import annotations

import json
import subprocess
import sys

_EVERYTHING = """
import logging, warnings
from trivium.server.logs import FIELDS, log_as_json
log_as_json()
logging.getLogger().error("from the root")
logging.getLogger("some.library").warning("a\\nwarning")
logging.getLogger("asyncio").error("of the loop")
logging.getLogger("trivium.x").info("told", extra={FIELDS: {"seconds": 0.5}})
warnings.warn("of Python")
try:
    raise ValueError("caught")
except ValueError:
    logging.getLogger("trivium.x").exception("failed")
"""


def test_whatever_is_logged_is_a_line_of_json() -> None:
    """Of libraries and of Python, too."""
    done = subprocess.run([sys.executable, "-c", _EVERYTHING], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    told = " ".join(line["message"] + line.get("traceback", "") for line in lines)
    for expected in ("from the root", "a\nwarning", "of the loop", "told", "of Python", "ValueError: caught"):
        assert expected in told
    assert len(lines) == 6 and lines[3]["seconds"] == 0.5
