"""Address and credentials of a Neo4j store."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qs, urlsplit

from trivium.errors import ConfigurationError
from trivium.settings.settings import load_settings

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
EXPECTED = "bolt://HOST[:PORT][/DATABASE][?prefix=PREFIX&relations=upper] or neo4j:// the same"
STYLES = ("lower", "upper", "none")
_PREFIX = re.compile("[A-Z][A-Za-z0-9]{0,31}")


@dataclass(frozen=True, slots=True)
class Address:
    """A database on a server. ``uri`` is what the driver connects to; a ``database`` of None is the user's home
    database. ``prefix`` is that of the store's labels, indexes and constraints; empty for the usual names. ``relations``
    is how typed relationships are to be written (:mod:`trivium.graph.neo4j.typed_relations`); empty for no change.
    """

    uri: str
    database: str | None
    user: str
    password: str = field(repr=False)
    prefix: str = ""
    relations: str = ""

    def __str__(self) -> str:
        database = "" if self.database is None else f"/{self.database}"
        return f"{self.uri}{database}{self.prefix and f'?prefix={self.prefix}'}"


def parse_address(store: str) -> Address:
    """Parse an address; user and password come from the settings (NEO4J_USER, NEO4J_PASSWORD, NEO4J_DATABASE).

    Raises ConfigurationError for anything that is not an address, and for one with a password, which would appear in
    shell histories and process lists.
    """
    parts = _split(store)
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise ConfigurationError(f"expected the address of a Neo4j server, {EXPECTED}, got {store!r}")
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError(
            "expected an address without user and password: set NEO4J_USER and NEO4J_PASSWORD instead"
        )
    options = parse_qs(parts.query, keep_blank_values=True)
    prefix, relations = (options.pop(name, [None])[-1] for name in ("prefix", "relations"))
    if options or parts.fragment or parts.path.count("/") > 1 or not _has_sound_port(parts):
        raise ConfigurationError(f"expected {EXPECTED}, got {store!r}")
    if relations is not None and relations not in STYLES:
        raise ConfigurationError(
            f"expected relations to be {', '.join(STYLES[:-1])} or none, got {relations!r}"
        )
    if prefix is not None and (not _PREFIX.fullmatch(prefix) or prefix == "Trivium"):
        raise ConfigurationError(
            "expected a prefix of letters and digits that begins with a capital, such as Acme, and is not Trivium (32"
            f" characters at most), got {prefix!r}"
        )
    settings = load_settings()
    return Address(
        uri=f"{parts.scheme}://{parts.netloc}",
        database=parts.path.strip("/") or settings.neo4j_database,
        user=settings.neo4j_user,
        password=settings.neo4j_password.get_secret_value(),
        prefix=prefix or "",
        relations=relations or "",
    )


def _split(store: str) -> SplitResult:
    try:
        return urlsplit(store)
    except ValueError as error:  # for example an unclosed bracket of an IPv6 address
        raise ConfigurationError(f"expected {EXPECTED}, got {store!r}: {error}") from error


def _has_sound_port(parts: SplitResult) -> bool:
    """Whether the port is absent or a number from 0 to 65535."""
    try:
        parts.port  # noqa: B018 - read only when asked for
    except ValueError:
        return False
    return True
