"""The versions of Neo4j that Trivium is tested with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Version:
    """One release of Neo4j Community.

    ``java`` are the major versions it supports, the preferred first; ``megabytes`` what its jars take;
    ``quiet_period`` the name and value of the setting that has Bolt shut down without idling for 10 s.
    """

    name: str
    main_class: str
    java: tuple[int, ...]
    megabytes: int
    quiet_period: tuple[str, str]


_QUIET = "internal.dbms.bolt.netty_server_shutdown_quiet_period"

LTS = Version(
    "5.26.30",
    "org.neo4j.server.CommunityEntryPoint",
    java=(17, 21),
    megabytes=137,
    quiet_period=(_QUIET, "0"),
)
CURRENT = Version(
    "2026.08.1",
    "org.neo4j.server.Neo4jCommunity",
    java=(25, 21),
    megabytes=152,
    quiet_period=(f"{_QUIET}_duration", "0s"),
)
VERSIONS = {version.name: version for version in (LTS, CURRENT)}
