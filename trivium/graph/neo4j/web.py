"""Where a server's web pages are: Neo4j Browser is served beside the database."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

import requests

from trivium.errors import StoreError
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import server as cypher

_PATIENCE = 3.0
"""Seconds an address may take to answer."""


def web_address(connection: Connection) -> str:
    """The root of the server's web pages, such as ``http://localhost:7474``: the first of the addresses that its
    settings lead to where a Neo4j server answers. Raises StoreError where none does."""
    host = urlsplit(connection.address.uri).hostname or "localhost"
    addresses = candidates(dict(connection.read(cypher.WEB_SETTINGS)), host)
    with requests.Session() as session:
        session.trust_env = False  # the database is reached without a proxy, so its pages are as well
        for address in addresses:
            if _is_neo4j(session, address):
                return address
    raise StoreError(
        f"the server at {connection.address.uri} shows no web pages (tried {', '.join(addresses) or 'none'}): turn"
        " server.http.enabled on, or connect another Neo4j Browser to it"
    )


def candidates(settings: Mapping[str, str], host: str) -> list[str]:
    """Addresses by a server's settings, likeliest first, for someone who knows the server as ``host``. The
    advertised address comes last: unless it is set, it is the default port, where another server may be.

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
        answer = session.get(address, headers={"Accept": "application/json"}, timeout=_PATIENCE)
        return "neo4j_version" in answer.json()
    except (requests.RequestException, TypeError):
        return False
