"""A home folder: where one server keeps its configuration, data, logs and password.

conf/neo4j.conf   written anew at every start
data/ import/ logs/ plugins/ run/
logs/console.log  what the process said outside of its own logs
password          of the user neo4j, readable by the owner only
server.json       what was started last, or will be after an import (:class:`State`)
lock              held while a command is at work
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from .errors import ToolError
from .files import write_text
from .net import HOST
from .versions import VERSIONS

USER = "neo4j"
MIN_PASSWORD = 8
"""Neo4j refuses shorter ones."""
SPACE = 128 << 20
"""Bytes a disk must have free; with less an empty server starts, but its database stays shut."""


@dataclass(frozen=True, slots=True)
class State:
    """What a home was started with last; ``pid`` 0 before its first start, sizes as Java writes them (``2g``)."""

    version: str
    bolt_port: int
    http_port: int
    heap: str
    page_cache: str
    read_only: bool
    pid: int = 0

    @property
    def bolt(self) -> str:
        """The address for drivers."""
        return f"bolt://{HOST}:{self.bolt_port}"

    @property
    def http(self) -> str:
        """The address for browsers; Neo4j Browser is at ``/browser/`` below it."""
        return f"http://{HOST}:{self.http_port}"


@dataclass(frozen=True, slots=True)
class Home:
    """The paths of a home folder and what is kept in its files."""

    path: Path

    @property
    def conf(self) -> Path:
        """The configuration folder."""
        return self.path / "conf"

    @property
    def logs(self) -> Path:
        """The folder of logs."""
        return self.path / "logs"

    @property
    def console_log(self) -> Path:
        """What the process wrote to its stdout and stderr."""
        return self.logs / "console.log"

    @property
    def server_log(self) -> Path:
        """The log of the server for its users."""
        return self.logs / "neo4j.log"

    @property
    def lock(self) -> Path:
        """Held by commands that change something."""
        return self.path / "lock"

    def create(self) -> None:
        """Make the folders that are missing. Raises ToolError for a folder that is not ours."""
        known = self.path / "conf"
        if self.path.is_dir() and not known.is_dir() and any(self.path.iterdir()):
            raise ToolError(
                f"{self.path} is not a home of Neo4j and not empty: give --home an empty or new folder"
            )
        for name in ("conf", "data", "import", "logs", "plugins", "run"):
            (self.path / name).mkdir(parents=True, exist_ok=True)

    @property
    def free_space(self) -> int:
        """Bytes that are free on the disk of the data."""
        return shutil.disk_usage(self.path).free

    @property
    def has_users(self) -> bool:
        """Whether a server has run here: its users, and their passwords, are in the database from then on."""
        return (self.path / "data" / "databases" / "system").exists()

    def password(self) -> str | None:
        """The password kept here, if any."""
        try:
            return (self.path / "password").read_text("utf-8").removesuffix("\n")
        except FileNotFoundError:
            return None

    def choose_password(self) -> str:
        """The password of the user: the one kept here, else NEO4J_PASSWORD, else a random one; kept from then on.

        Raises ToolError for one that Neo4j would refuse, and where the users' password was set by others.
        """
        kept, wanted = self.password(), os.environ.get("NEO4J_PASSWORD") or None
        if kept is not None and self.has_users:
            return kept
        if kept is None and wanted is None and self.has_users:
            raise ToolError(
                f"{self.path}/password is missing, and the password of this server cannot be read from its data:"
                " give it with NEO4J_PASSWORD"
            )
        password = wanted or kept or secrets.token_hex(12)
        if len(password) < MIN_PASSWORD or not password.isprintable():
            raise ToolError(
                f"NEO4J_PASSWORD must have at least {MIN_PASSWORD} characters, all of them printable"
            )
        write_text(self.path / "password", password + "\n")
        return password

    def state(self) -> State | None:
        """What was started last; None before that. Raises ToolError when the file is damaged."""
        path = self.path / "server.json"
        try:
            return State(**json.loads(path.read_text("utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError) as error:
            raise ToolError(
                f"{path} is damaged ({error}): stop the server by hand and delete the file"
            ) from error

    def save(self, state: State) -> None:
        """Keep what is started."""
        write_text(self.path / "server.json", json.dumps(asdict(state), indent=1) + "\n")

    def write_conf(self, state: State) -> None:
        """Write the configuration of the server."""
        write_text(self.conf / "neo4j.conf", conf_text(state))


def conf_text(state: State) -> str:
    """The configuration: loopback only, plain HTTP for Browser, bounded memory, nothing sent home."""
    bolt, http = f"{HOST}:{state.bolt_port}", f"{HOST}:{state.http_port}"
    settings = {
        "server.default_listen_address": HOST,
        "server.bolt.listen_address": bolt,
        # Browser asks the server where Bolt is.
        "server.bolt.advertised_address": bolt,
        # Signs of life while a query runs; they tell a client of a lost network, which loopback is not, and have
        # drivers in Python start a timer for every message.
        "server.bolt.connection_keep_alive_for_requests": "OFF",
        "server.http.listen_address": http,
        "server.http.advertised_address": http,
        "server.https.enabled": "false",
        "server.memory.heap.max_size": state.heap,
        "server.memory.pagecache.size": state.page_cache,
        "server.databases.default_to_read_only": str(state.read_only).lower(),
        "dbms.usage_report.enabled": "false",
        # Saves an empty server half a gigabyte of disk.
        "db.tx_log.preallocate": "false",
        **dict([VERSIONS[state.version].quiet_period]),
    }
    lines = [f"{name}={value}" for name, value in settings.items()]
    return "\n".join(
        ["# Written by tools/neo4j/server at every start: changes here do not last.", *lines, ""]
    )
