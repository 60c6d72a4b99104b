"""Waiting until a server answers, and saying why it does not."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

from .errors import ToolError
from .files import essence, tail
from .home import SPACE, Home, State
from .net import bolt_answers
from .process import is_server

_STARTED = b" Started."
_FULL = "there is no space left on the disk of {home}"
_REASONS = (
    (r"No space left on device|Disk quota exceeded", _FULL),
    (
        r"Could not reserve enough space|Cannot allocate memory|OutOfMemoryError|insufficient memory"
        r"|exceeds physical memory",
        "there is too little memory: ask for less with --heap and --page-cache",
    ),
    (r"Invalid maximum heap size|Too small maximum heap", "--heap {heap} is not a size Java can use"),
    (r"Unable to obtain lock|store_lock|already locked", "another server is at work on the data of {home}"),
    (r"Permission denied|AccessDenied", "files of {home} belong to another user"),
)
"""What logs say -> what it means."""


class PortTakenError(ToolError):
    """The server found a port in use."""


def wait(
    home: Home, state: State, process: subprocess.Popen[bytes] | None, *, offset: int, timeout: float
) -> None:
    """Wait until a server answers. Raises ToolError with what its logs say when it ends, or does not answer."""
    deadline = time.monotonic() + timeout
    while True:
        ended = process.poll() is not None if process else not is_server(state.pid, home)
        if ended:
            raise failure(home, state, offset)
        # The log too: another program may have taken the port and be the one that answers.
        if (process is None or _STARTED in since(home.server_log, offset)) and bolt_answers(state.bolt_port):
            return
        if time.monotonic() > deadline:
            raise ToolError(
                f"Neo4j (process {state.pid}) does not answer on {state.bolt} after {timeout:.0f} s; give it longer"
                f" with --timeout. {home.server_log} ends with:\n{tail(home.server_log, start=offset)}"
            )
        time.sleep(0.1)


def failure(home: Home, state: State, offset: int) -> ToolError:
    """Why a server ended, as its logs tell; ``offset`` is where its part of the server's log begins."""
    logs = since(home.console_log, 0), since(home.server_log, offset)
    said = "\n".join(line for log in logs for line in essence(log.decode("utf-8", "replace"), 20))
    if re.search(r"Address (\S+ is )?already in use", said):
        return PortTakenError(
            f"another program took port {state.bolt_port} or {state.http_port}: choose others with --bolt-port and"
            f" --http-port. The logs in {home.logs} end with:\n{said}"
        )
    reasons = [meaning for pattern, meaning in _REASONS if re.search(pattern, said)]
    # Asked of the disk as well: Neo4j fails in many ways when it is full, and seldom says so there.
    if not reasons and home.free_space < SPACE:
        reasons.append(_FULL)
    reason = reasons[0].format(home=home.path, heap=state.heap) if reasons else "it does not say why"
    return ToolError(
        f"Neo4j {state.version} could not start: {reason}. The logs in {home.logs} end with:\n{said}"
    )


def since(path: Path, offset: int) -> bytes:
    """What was written to a file after its first ``offset`` bytes; from the beginning if it became shorter."""
    try:
        with path.open("rb") as file:
            if path.stat().st_size >= offset:
                file.seek(offset)
            return file.read()
    except FileNotFoundError:
        return b""


def size(path: Path) -> int:
    """Bytes of a file, 0 where there is none."""
    return path.stat().st_size if path.exists() else 0
