"""The jars of a version, resolved by Maven into a cache that all home folders share."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from .errors import ToolError
from .files import locked, say, tail, write_text
from .java import Java
from .versions import Version

BROWSER = "5.24.0"
"""Version of Neo4j Browser: the last one published as a jar."""

_LISTING = "jars.json"
_POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>trivium</groupId>
  <artifactId>neo4j</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.neo4j.app</groupId><artifactId>neo4j-server</artifactId><version>{version}</version></dependency>
    <dependency><groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{version}</version></dependency>
    <dependency><groupId>org.neo4j.client</groupId><artifactId>neo4j-browser</artifactId><version>{browser}</version></dependency>
  </dependencies>
</project>
"""


def cache_folder() -> Path:
    """Where jars are kept: ``trivium/neo4j`` below the user's cache folder."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "trivium" / "neo4j"


def ensure_jars(version: Version, java: Java) -> Path:
    """The folder with all jars of a version, fetched if it is not there yet. Raises ToolError.

    The folder comes into being in one rename, with a listing of its files: one that does not agree with
    its listing is fetched again.
    """
    cache = cache_folder()
    target = cache / version.name
    if _complete(target):
        return target / "lib"
    cache.mkdir(parents=True, exist_ok=True)
    with locked(cache / f"{version.name}.lock", timeout=3600.0):
        if not _complete(target):  # nobody else fetched it while we waited for the lock
            scratch = cache / f"{version.name}.part"
            shutil.rmtree(scratch, ignore_errors=True)  # of a fetch that was killed
            scratch.mkdir()
            try:
                _fetch(version, java, scratch)
                shutil.rmtree(target, ignore_errors=True)
                scratch.rename(target)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
    return target / "lib"


def _complete(folder: Path) -> bool:
    try:
        listing = json.loads((folder / _LISTING).read_text("utf-8"))
        return bool(listing) and listing == _sizes(folder / "lib")
    except (OSError, ValueError):
        return False


def _sizes(lib: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in sorted(lib.glob("*.jar"))}


def _fetch(version: Version, java: Java, folder: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise ToolError(
            f"the jars of Neo4j {version.name} come from Maven Central, and the command mvn is missing:"
            " install Maven (Debian: apt install maven), or use Docker (docker-compose.yml)"
        )
    say(f"fetching Neo4j {version.name} from Maven Central ({version.megabytes} MB, once) ...")
    write_text(folder / "pom.xml", _POM.format(version=version.name, browser=BROWSER))
    command = [maven, "--batch-mode", "--quiet", "--strict-checksums", "dependency:copy-dependencies"]
    command += ["-DoutputDirectory=lib", "-DincludeScope=runtime"]
    environment = dict(os.environ)
    if shutil.which("java") is None:
        environment.setdefault("JAVA_HOME", str(java.command.resolve().parents[1]))
    log = folder / "maven.log"
    with log.open("wb") as output:
        done = subprocess.run(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
    sizes = _sizes(folder / "lib")
    if done.returncode != 0 or f"neo4j-server-{version.name}.jar" not in sizes:
        raise ToolError(
            f"Maven could not fetch Neo4j {version.name} (exit status {done.returncode}). Is Maven Central, or a"
            f" mirror named in ~/.m2/settings.xml, within reach? It said:\n{tail(log)}"
        )
    write_text(folder / _LISTING, json.dumps(sizes, indent=1))
