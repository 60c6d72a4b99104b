"""What the commands do: start, stop, status, console."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace

from .errors import ToolError
from .files import locked, say
from .home import USER, Home, State
from .net import bolt_answers
from .prepare import Asked, prepare
from .process import environment, give_up, is_server, launch, terminate
from .readiness import PortTakenError, size, wait
from .versions import Version

_ATTEMPTS = 3
"""Starts with ports of our own choice: another program may take one between the choice and the start."""


@dataclass(frozen=True, slots=True)
class Report:
    """A server and how to reach it; ``ready`` when it answers."""

    bolt: str
    http: str
    user: str
    password: str
    version: str
    home: str
    pid: int
    ready: bool = True


def start(home: Home, version: Version, asked: Asked, *, timeout: float) -> Report:
    """Start the server of a home, or find it running; returns when Bolt answers. Raises ToolError.

    ``timeout`` is the time in seconds that it may take to answer.
    """
    with at_work(home, timeout):
        state = running(home)
        if state is not None:
            _refuse_other(state, version, asked, home)
            say(f"Neo4j {state.version} is running already")
            wait(home, state, None, offset=0, timeout=timeout)
            return report(home, state)
        for attempt in range(1, _ATTEMPTS + 1):
            command, state, password = prepare(home, version, asked)
            say(f"starting Neo4j {version.name} in {home.path} ...")
            offset = size(home.server_log)
            process = launch(command, home)
            try:
                state = replace(state, pid=process.pid)
                home.save(state)
                wait(home, state, process, offset=offset, timeout=timeout)
            except PortTakenError:
                if attempt == _ATTEMPTS or None not in (asked.bolt_port, asked.http_port):
                    raise
                continue
            except BaseException:
                # Not left behind half started, whether by an error or by Ctrl-C.
                give_up(process)
                raise
            return report(home, state, password)
    raise AssertionError("the last attempt returns or raises")


def console(home: Home, version: Version, asked: Asked) -> None:
    """Become the server: it has the terminal, Ctrl-C stops it. Raises ToolError; does not return otherwise."""
    with at_work(home, 60.0):
        state = running(home)
        if state is not None:
            raise ToolError(f"Neo4j {state.version} is running in {home.path} already (process {state.pid})")
        command, state, password = prepare(home, version, asked)
        state = replace(state, pid=os.getpid())
        home.save(state)
        say(f"{state.bolt} {state.http}/browser/ user {USER} password {password}")
        os.chdir(home.path)
        os.execve(command[0], [*command, "--console-mode"], environment(home))  # noqa: S606 - no shell is the point; frees the lock


def stop(home: Home, *, timeout: float) -> State | None:
    """Stop the server of a home and wait for its end; what was stopped, None if nothing ran. Raises ToolError."""
    if not home.path.is_dir():
        return None
    with at_work(home, timeout):
        state = running(home)
        if state is None:
            return None
        say(f"stopping Neo4j {state.version} (process {state.pid}) ...")
        if not terminate(state.pid, home, timeout):
            raise ToolError(
                f"Neo4j did not stop within {timeout:.0f} s. Wait and see {home.server_log}; or"
                f" kill -9 {state.pid}: the next start recovers what was committed"
            )
        return state


def status(home: Home) -> Report | None:
    """The server that runs in a home, if one does."""
    state = running(home)
    return None if state is None else replace(report(home, state), ready=bolt_answers(state.bolt_port))


def running(home: Home) -> State | None:
    """What runs in a home; None when nothing does."""
    state = home.state()
    return state if state is not None and is_server(state.pid, home) else None


def report(home: Home, state: State, password: str | None = None) -> Report:
    """How to reach a server."""
    return Report(
        bolt=state.bolt,
        http=state.http,
        user=USER,
        password=password if password is not None else home.password() or "",
        version=state.version,
        home=str(home.path),
        pid=state.pid,
    )


@contextmanager
def at_work(home: Home, timeout: float) -> Iterator[None]:
    """The only command at work on a home. Raises ToolError."""
    home.create()
    with locked(home.lock, timeout=timeout):
        yield


def _refuse_other(state: State, version: Version, asked: Asked, home: Home) -> None:
    """Raises ToolError when what runs is not what is asked for."""
    found = asdict(state)
    for name, wanted in {"version": version.name, **asdict(asked)}.items():
        if wanted is not None and wanted != found[name]:
            raise ToolError(
                f"the server in {home.path} runs with {name} {found[name]}, asked was {wanted}: stop it first"
            )
