"""Exploring a store in Neo4j Browser: its address, and a guide with queries."""

from __future__ import annotations

import os
import re
import sys
import webbrowser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote, urlsplit

import requests
from markdown_it import MarkdownIt

from trivium.errors import StoreError
from trivium.graph.neo4j.address import parse_address
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import schema as cypher
from trivium.graph.neo4j.prepare_database import ensure_vector_indexes, recognise
from trivium.graph.open_store import is_address
from trivium.graph.records import Progress
from trivium.settings.settings import load_settings

_HTTP_SECONDS = 3.0
"""Time limit for an address to respond."""


def web_address(connection: Connection) -> str:
    """Return the root of the server's web pages, such as ``http://localhost:7474``: the first address derived from
    its settings at which a Neo4j server responds. Raises StoreError if there is none.
    """
    host = urlsplit(connection.address.uri).hostname or "localhost"
    addresses = candidates(dict(connection.read(cypher.WEB_SETTINGS)), host)
    with requests.Session() as session:
        session.trust_env = False  # the database is reached without a proxy, so its web pages are, too
        for address in addresses:
            if _is_neo4j(session, address):
                return address
    raise StoreError(
        f"the server at {connection.address.uri} shows no web pages (tried {', '.join(addresses) or 'none'}): turn"
        " server.http.enabled on, or connect another Neo4j Browser to it"
    )


def candidates(settings: Mapping[str, str], host: str) -> list[str]:
    """Derive addresses from a server's settings, most likely first, for a client that knows the server as ``host``.
    The advertised address comes last: unless it is set, it is the default port, where another server may run.

    >>> candidates({"server.http.enabled": "true", "server.http.listen_address": "0.0.0.0:7480"}, "db.example.org")
    ['http://db.example.org:7480']
    """
    found = []
    for scheme in ("https", "http"):
        if settings.get(f"server.{scheme}.enabled") != "true":
            continue
        listens = settings.get(f"server.{scheme}.listen_address", "")
        advertised = settings.get(f"server.{scheme}.advertised_address", "")
        name = f"[{host}]" if ":" in host else host
        found += [f"{scheme}://{name}:{_port(each)}" for each in (listens, advertised) if _port(each)]
        if advertised:
            found.append(f"{scheme}://{advertised}")
    return list(dict.fromkeys(found))


def _port(address: str) -> str:
    port = address.rpartition(":")[2]
    return port if port.isdecimal() else ""


def _is_neo4j(session: requests.Session, address: str) -> bool:
    try:
        answer = session.get(address, headers={"Accept": "application/json"}, timeout=_HTTP_SECONDS)
        return "neo4j_version" in answer.json()
    except (requests.RequestException, TypeError):
        return False


_STYLED = re.compile(r"node\.(?:Trivium)?(?=[A-Z])")
"""A label in the style sheet."""
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<base href="{base}">
<title>{title}</title>
<style>
body {{ max-width: 52rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; color: #222; }}
pre {{ padding: .8rem; overflow-x: auto; background: #f3f5f7; border-radius: 6px; font-size: 14px; }}
pre:has(.language-cypher) {{ user-select: all; border-left: 4px solid #2f6db5; }}
img {{ max-width: 100%; border: 1px solid #ddd; border-radius: 6px; }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class Exploration:
    """Where to explore a store. ``browser`` is the address of Neo4j Browser with the login form filled in except for
    the password; ``guide`` is an HTML page; ``style`` is the style sheet for Neo4j Browser.
    """

    browser: str
    user: str
    guide: Path
    style: Path


def explore(store: str, progress: Progress | None = None) -> Exploration:
    """Return where to explore a store in a Neo4j database; asks the server for the address of its web pages. Creates
    the vector indexes used by the guide if they are missing, as after a bulk import.

    Raises StoreError for a folder, and for a server that is unreachable or serves no web pages; StoreNotFoundError
    for an empty database.
    """
    if not is_address(store):
        raise StoreError(
            f"expected a store in Neo4j, bolt://HOST:PORT, got the folder {store!r}: take it there with"
            f"  trivium export FILES --store {store}  and  tools/neo4j/server import FILES"
        )
    settings = load_settings()
    address = parse_address(store)
    connection = Connection(address, timeout=settings.neo4j_timeout)
    try:
        recognise(connection)
        root = web_address(connection)
        ensure_vector_indexes(connection, progress)
    finally:
        connection.close()
    scheme, _, server = address.uri.partition("://")
    browser = f"{root}/browser/?connectURL={quote(f'{scheme}://{quote(address.user)}@{server}', safe=':/@%')}"
    if address.database is not None:
        browser += f"&db={quote(address.database, safe='')}"
    guide = write_guide(settings.home / "explore.html", connection.named)
    style = guide_folder() / "explore" / "trivium.grass"
    if address.prefix:
        usual, style = style.read_text("utf-8"), settings.home / f"{address.prefix}.grass"
        style.write_text(_STYLED.sub(f"node.{address.prefix}", usual), "utf-8")
    return Exploration(browser, address.user, guide, style)


def guide_folder() -> Path:
    """Return the folder of ``explore.md`` and its images: part of an installed package, ``docs`` in a checkout."""
    package = Path(str(files("trivium")))
    packaged = package / "guide"
    return packaged if packaged.is_dir() else package.parent / "docs"


def write_guide(target: Path, named: Callable[[str], str] = str) -> Path:
    """Write the guide as an HTML page, with the names of a store. Clicking a query selects all of it."""
    folder = guide_folder()
    text = named((folder / "explore.md").read_text("utf-8"))
    page = _PAGE.format(
        base=escape(f"{folder.as_uri()}/"),
        title=escape(text.partition("\n")[0].lstrip("# ")),
        body=MarkdownIt("commonmark").render(text),
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page, "utf-8")
    return target


def show(exploration: Exploration) -> bool:
    """Open the guide and Neo4j Browser in the user's web browser. Returns false if there is no graphical browser."""
    if not _has_screen():
        return False
    try:
        return webbrowser.open(exploration.guide.as_uri()) and webbrowser.open(exploration.browser)
    except webbrowser.Error:
        return False


def _has_screen() -> bool:
    # On other systems a text browser would take over the terminal.
    return sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
