"""The command that makes a store known to clients of the Model Context Protocol."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from trivium.cli.options import Store
from trivium.cli.terminal import out, shown
from trivium.errors import InputError, MissingExtraError

Client = Literal["claude-code", "claude-desktop", "cursor"]
_SERVERS = "mcpServers"


def mcp_install(
    client: Annotated[Client, typer.Argument(metavar="CLIENT")],
    store: Store,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print what would be added, and write nothing.")
    ] = False,
) -> None:
    """Add the MCP server of a store to the user's configuration of a client: claude-code, claude-desktop or cursor.

    Everything else there stays. Variables that the server needs can be added to its entry as  env.

    Example:  trivium mcp install claude-desktop --store my-store
    """
    if find_spec("mcp") is None:
        raise MissingExtraError("the MCP server", "mcp")
    from trivium.common.safe_files import replacing
    from trivium.graph.open_store import is_address, open_store

    open_store(store).close()  # fails here if there is none
    place = store if is_address(store) else os.fspath(Path(store).resolve())
    name = f"trivium-{re.sub('[^A-Za-z0-9_-]+', '-', place.rpartition(os.sep)[2])[:32]}"
    file = _file_of(client)
    configured = _read(file)
    servers = configured.setdefault(_SERVERS, {})
    servers[name] = entry = _merged(servers.get(name), place, f"{name} in {file}")
    if only_print:
        out.print(f"{shown(str(file))}:", soft_wrap=True)
        typer.echo(json.dumps({_SERVERS: {name: entry}}, indent=2, ensure_ascii=False))
        return
    text = json.dumps(configured, indent=2, ensure_ascii=False) + "\n"
    with replacing(file) as written:
        if file.exists():  # it may hold secrets
            Path(written.name).chmod(file.stat().st_mode)
        written.write(text.encode("utf-8", "backslashreplace"))  # half a surrogate pair is an escape again
    out.print(f"{name} is in {shown(str(file))}: start {client} anew", soft_wrap=True)


def _file_of(client: Client) -> Path:
    """Return where a client reads the servers of its user from."""
    home, variables = Path.home(), os.environ
    if client == "cursor":
        return home / ".cursor" / "mcp.json"
    if client == "claude-code":
        return Path(variables.get("CLAUDE_CONFIG_DIR") or home) / ".claude.json"
    folders = {
        "darwin": home / "Library" / "Application Support",
        "win32": Path(variables.get("APPDATA") or home / "AppData" / "Roaming"),
    }
    folder = folders.get(sys.platform, Path(variables.get("XDG_CONFIG_HOME") or home / ".config"))
    return folder / "Claude" / "claude_desktop_config.json"


def _read(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text("utf-8-sig") if file.exists() else ""
        configured = json.loads(text.strip() or "{}")
    except ValueError as error:
        raise InputError(f"expected JSON in {file}, got something else ({error}): mend it first") from error
    if not isinstance(configured, dict) or not isinstance(configured.get(_SERVERS, {}), dict):
        raise InputError(f"expected an object with an object {_SERVERS} in {file}, got something else")
    return configured


def _merged(entry: Any, place: str, where: str) -> dict[str, Any]:
    """Return the entry of a store: the one that is there, which may have more, started by this installation."""
    # Not by its name alone: clients do not have the PATH of a shell.
    script = shutil.which("trivium", path=os.fspath(Path(sys.executable).parent))
    command, *arguments = [script] if script else [sys.executable, "-m", "trivium"]
    given: Any = ["mcp", "--store", place]
    if entry is not None:
        given = entry.get("args") if isinstance(entry, dict) else None
        if not isinstance(given, list) or "mcp" not in given or place not in given:
            raise InputError(f"expected {where} to be the server of {place}, got another: rename it there")
    own = {"command": command, "args": [*arguments, *given[given.index("mcp") :]]}
    return {**(entry or {}), **own}
