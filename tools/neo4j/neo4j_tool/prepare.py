"""Everything before a start: which Java, which ports, the jars, the configuration, the password."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass

from .errors import ToolError
from .files import say, write_text
from .home import SPACE, Home, State
from .jars import ensure_jars
from .java import find_java
from .net import BOLT_PORT, HTTP_PORT, choose_port
from .process import admin_command, environment, server_command
from .versions import Version

HEAP = "2g"
PAGE_CACHE = "1g"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user asked a server to be; None leaves it open."""

    bolt_port: int | None = None
    http_port: int | None = None
    heap: str | None = None
    page_cache: str | None = None
    read_only: bool | None = None


def prepare(home: Home, version: Version, asked: Asked) -> tuple[list[str], State, str]:
    """The command that starts a server, what it will be, and the password of its user. Raises ToolError."""
    check_version(home, version)
    if asked.read_only and not home.has_users:
        raise ToolError(
            f"{home.path} holds no data yet, and a server that may not write cannot make any: start it once without"
            " --read-only"
        )
    if home.free_space < SPACE:
        raise ToolError(
            f"the disk of {home.path} has {home.free_space >> 20} MB free, a server needs {SPACE >> 20} to start:"
            " make room, or choose another disk with --home"
        )
    java = find_java(version)
    state = settle(home, version, asked)
    lib = ensure_jars(version, java)
    home.write_conf(state)
    password = _set_password(home, admin_command(java, lib, "256m"))
    home.save(state)
    return server_command(version, java, lib, home, state.heap), state, password


def settle(home: Home, version: Version, asked: Asked) -> State:
    """What a server will be: ports are those of last time if they are free and no others are asked for."""
    last = home.state()
    bolt = choose_port(asked.bolt_port, last.bolt_port if last else BOLT_PORT)
    http = choose_port(asked.http_port, last.http_port if last else HTTP_PORT, taken=bolt)
    return State(
        version=version.name,
        bolt_port=bolt,
        http_port=http,
        heap=asked.heap or HEAP,
        page_cache=asked.page_cache or PAGE_CACHE,
        read_only=bool(asked.read_only),
    )


def _set_password(home: Home, admin: list[str]) -> str:
    password = home.choose_password()
    if home.has_users:
        if os.environ.get("NEO4J_PASSWORD", password) != password:
            say(
                f"NEO4J_PASSWORD is not the password that {home.path} was set up with, kept in its file password"
            )
        return password
    # In a file, as everybody on the machine can read the arguments of a process. Quoted as picocli reads it, and
    # after a line that ends the options: a password may begin with a dash.
    arguments = home.path / "run" / "password.arguments"
    quoted = password.replace("\\", "\\\\").replace('"', '\\"')
    write_text(arguments, f'--\n"{"@" if quoted.startswith("@") else ""}{quoted}"\n')
    try:
        done = subprocess.run(
            [*admin, "dbms", "set-initial-password", f"@{arguments}"],
            cwd=home.path,
            env=environment(home),
            capture_output=True,
            text=True,
            errors="replace",
        )
    finally:
        arguments.unlink()
    if done.returncode != 0:
        said = (done.stdout + done.stderr).replace(password, "...").strip()
        raise ToolError(f"neo4j-admin could not set the initial password in {home.path}:\n{said[-2000:]}")
    return password


def check_version(home: Home, version: Version) -> None:
    """Raises ToolError when the data of a home was written by another version."""
    state = home.state()
    if state is not None and state.version != version.name:
        raise ToolError(
            f"{home.path} holds data of Neo4j {state.version}, not of {version.name}:"
            f" say --version {state.version}, or give another --home"
        )
