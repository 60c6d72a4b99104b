"""Address and credentials of a Neo4j store."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from trivium.errors import ConfigurationError
from trivium.settings.settings import load_settings

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
EXPECTED = "bolt://HOST[:PORT][/DATABASE] or neo4j://HOST[:PORT][/DATABASE]"


@dataclass(frozen=True, slots=True)
class Address:
    """A database on a server. ``uri`` is what the driver connects to; a ``database`` of None is the user's home
    database.
    """

    uri: str
    database: str | None
    user: str
    password: str = field(repr=False)

    def __str__(self) -> str:
        return self.uri if self.database is None else f"{self.uri}/{self.database}"


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
    if parts.query or parts.fragment or parts.path.count("/") > 1 or not _has_sound_port(parts):
        raise ConfigurationError(f"expected {EXPECTED}, got {store!r}")
    settings = load_settings()
    return Address(
        uri=f"{parts.scheme}://{parts.netloc}",
        database=parts.path.strip("/") or settings.neo4j_database,
        user=settings.neo4j_user,
        password=settings.neo4j_password.get_secret_value(),
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
