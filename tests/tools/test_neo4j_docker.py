"""`make neo4j` where there is Docker: no password is needed beforehand, and the one printed is the server's."""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKER = """\
#!/bin/sh
# Of Docker: .env and the variable that goes before it, the refusal to start without a password, and a server that
# keeps its first one in a volume.
set -eu
case "$*" in
    version | "compose version") ;;
    "compose up "*)
        given=${NEO4J_PASSWORD:-$(if [ -f .env ]; then . ./.env; fi; printf %s "${NEO4J_PASSWORD:-}")}
        [ -n "$given" ] || { echo "required variable NEO4J_PASSWORD is missing" >&2; exit 1; }
        [ -f volume ] || printf %s "$given" >volume
        printf %s "neo4j/$given" >container ;;
    "compose exec -T neo4j printenv NEO4J_AUTH") cat container ;;
    "compose port neo4j "*) echo "127.0.0.1:$4" ;;
    *) echo "unknown: $*" >&2; exit 2 ;;
esac
"""

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


@dataclass(frozen=True)
class Checkout:
    """A checkout and a Docker of one's own."""

    path: Path

    def make(self, password: str | None = None) -> subprocess.CompletedProcess[str]:
        """`make neo4j`, with NEO4J_PASSWORD set or not."""
        environment = {"PATH": f"{self.path}/commands:/usr/bin:/bin"}
        if password is not None:
            environment["NEO4J_PASSWORD"] = password
        command = ["make", "--no-print-directory", "neo4j"]
        return subprocess.run(command, cwd=self.path, env=environment, capture_output=True, text=True)

    def password(self, given: str | None = None) -> str:
        """The password that it prints."""
        done = self.make(given)
        assert done.returncode == 0, done.stderr
        found = re.search(r"^  password  (.*)$", done.stdout, re.MULTILINE)
        assert found is not None
        return found[1]

    @property
    def accepted(self) -> str:
        """The password that the server has."""
        return (self.path / "volume").read_text()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    for name in ("Makefile", "docker-compose.yml", "tools/neo4j/docker"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    command = tmp_path / "commands" / "docker"
    command.parent.mkdir()
    command.write_text(DOCKER)
    command.chmod(0o755)
    return Checkout(tmp_path)


def test_address_user_and_password_are_printed_and_no_password_is_asked_for(checkout: Checkout) -> None:
    done = checkout.make()
    assert re.fullmatch(
        r"Neo4j answers on bolt://127\.0\.0\.1:7687\n"
        r"  Browser   http://127\.0\.0\.1:7474/browser/\n"
        r"  user      neo4j\n"
        r"  password  [0-9a-f]{24}\n",
        done.stdout,
    )
    assert done.stdout.endswith(f"password  {checkout.accepted}\n")
    assert stat.S_IMODE((checkout.path / ".env").stat().st_mode) == 0o600


def test_the_password_printed_again_is_that_of_the_first_start(checkout: Checkout) -> None:
    """Whatever the variable says by then: the server would refuse another one."""
    first = checkout.password()
    assert checkout.password() == checkout.password("another one") == first == checkout.accepted
    assert (checkout.path / ".env").read_text().count("NEO4J_PASSWORD") == 1


@pytest.mark.parametrize("given", ["my own choice", '$HOME `id` "#"'])
def test_a_password_may_be_chosen_at_the_first_start(checkout: Checkout, given: str) -> None:
    assert checkout.password(given) == checkout.password() == given == checkout.accepted


@pytest.mark.parametrize("given", ["short", "an apostrophe's", "back\\slash", "neo4j/neo4j"])
def test_a_password_that_would_not_arrive_is_refused(checkout: Checkout, given: str) -> None:
    done = checkout.make(given)
    assert done.returncode != 0
    assert "NEO4J_PASSWORD must have at least 8 characters" in done.stderr
    assert sorted(path.name for path in checkout.path.iterdir()) == [
        "Makefile",
        "commands",
        "docker-compose.yml",
        "tools",
    ]


def test_passwords_differ_from_one_checkout_to_another(checkout: Checkout) -> None:
    first = checkout.password()
    (checkout.path / "volume").unlink()
    (checkout.path / ".env").unlink()
    assert checkout.password() != first


def test_other_variables_for_compose_stay(checkout: Checkout) -> None:
    """NEO4J_HEAP and others may stand in the same file."""
    (checkout.path / ".env").write_text("NEO4J_HEAP=4g")
    checkout.password()
    assert (checkout.path / ".env").read_text().startswith("NEO4J_HEAP=4g\nNEO4J_PASSWORD='")
