"""tools/neo4j/server without a server: options, the choice of a Java, ports, configuration, password, state."""

from __future__ import annotations

import re
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tools.neo4j.neo4j_tool import cli, java
from tools.neo4j.neo4j_tool.errors import ToolError
from tools.neo4j.neo4j_tool.home import Home, State, conf_text
from tools.neo4j.neo4j_tool.java import Java, default_version, find_java, java_major
from tools.neo4j.neo4j_tool.net import bolt_answers, choose_port, is_free
from tools.neo4j.neo4j_tool.versions import CURRENT, LTS

STATE = State(LTS.name, bolt_port=7001, http_port=7002, heap="1g", page_cache="256m", read_only=False, pid=42)

MakeJava = Callable[[str, str], Path]


@pytest.fixture
def fake_java(tmp_path: Path) -> MakeJava:
    """Makes a Java in a folder of a name: a command that says a version."""

    def make(name: str, says: str) -> Path:
        command = tmp_path / name / "bin" / "java"
        command.parent.mkdir(parents=True)
        command.write_text(f"#!/bin/sh\ncat >&2 <<'EOF'\n{says}\nEOF\n")
        command.chmod(0o755)
        return command

    return make


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without a Java, but for those under the folder given back."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/bin:/nowhere")
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(java, "FOLDERS", (f"{tmp_path}/jvm/*/bin/java",))
    return tmp_path / "jvm"


@pytest.mark.parametrize(
    ("says", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_292"', 8),
        ('openjdk version "25" 2025-09-16 LTS', 25),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx9g\nopenjdk version "21.0.1"', 21),
        ("no such thing", None),
    ],
)
def test_the_version_of_a_java_is_what_it_says(fake_java: MakeJava, says: str, major: int | None) -> None:
    assert java_major(fake_java("some", says)) == major


def test_a_java_that_fails_or_is_missing_has_no_version(fake_java: MakeJava, tmp_path: Path) -> None:
    broken = fake_java("broken", 'openjdk version "17.0.1"')
    broken.write_text(broken.read_text() + "exit 1\n")
    assert java_major(broken) is None
    assert java_major(tmp_path / "nothing") is None


def test_java_home_comes_before_the_usual_folders(
    bare: Path, fake_java: MakeJava, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = fake_java("jvm/a", 'openjdk version "17.0.1"')
    chosen = fake_java("mine", 'openjdk version "21.0.1"')
    assert find_java(LTS) == Java(usual, 17)
    monkeypatch.setenv("JAVA_HOME", str(chosen.parents[1]))
    assert find_java(LTS) == Java(chosen, 21)


def test_a_java_that_does_not_fit_is_passed_over_even_in_java_home(
    bare: Path, fake_java: MakeJava, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_java("old", 'openjdk version "17.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(old.parents[1]))
    fitting = fake_java("jvm/new", 'openjdk version "25.0.1"')
    assert find_java(CURRENT) == Java(fitting, 25)
    assert find_java(LTS) == Java(old, 17)


def test_without_a_fitting_java_the_error_lists_those_found(bare: Path, fake_java: MakeJava) -> None:
    found = fake_java("jvm/old", 'openjdk version "17.0.1"')
    message = re.escape(f"needs Java 21 or 25; {found} is Java 17.") + ".*apt install openjdk-21-jre-headless"
    with pytest.raises(ToolError, match=message):
        find_java(CURRENT)


def test_a_java_newer_than_those_supported_does_not_fit(bare: Path, fake_java: MakeJava) -> None:
    fake_java("jvm/new", 'openjdk version "25.0.1"')
    with pytest.raises(ToolError, match=r"needs Java 17 or 21; .* is Java 25"):
        find_java(LTS)


def test_without_any_java_the_error_says_so(bare: Path) -> None:
    with pytest.raises(ToolError, match="needs Java 17 or 21; there is no Java"):
        find_java(LTS)


@pytest.mark.parametrize(
    ("majors", "expected"), [((), LTS), ((11,), LTS), ((17, 25), LTS), ((21,), LTS), ((11, 25), CURRENT)]
)
def test_the_default_is_the_lts_unless_only_newer_javas_exist(
    bare: Path, fake_java: MakeJava, majors: tuple[int, ...], expected: object
) -> None:
    for major in majors:
        fake_java(f"jvm/{major}", f'openjdk version "{major}.0.1"')
    assert default_version() == expected


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["restart"],
        ["start", "--version", "4.4"],
        ["start", "--heap", "2"],
        ["start", "--heap", "0g"],
        ["start", "--heap", "2g -XX:+Evil"],
        ["start", "--bolt-port", "0"],
        ["start", "--bolt-port", "65536"],
        ["start", "--http-port", "٧"],
        ["start", "--timeout", "nan"],
        ["stop", "--timeout", "0"],
        ["stop", "--heap", "1g"],
        ["import"],
    ],
)
def test_options_that_make_no_sense_end_with_status_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.parse(arguments)
    assert ended.value.code == 2
    assert "usage: tools/neo4j/server" in capsys.readouterr().err


def test_options_not_given_are_left_open() -> None:
    options = cli.parse(["start"])
    assert (options.version, options.home, options.heap, options.page_cache) == (None, None, None, None)
    assert (options.bolt_port, options.http_port, options.read_only, options.json) == (
        None,
        None,
        None,
        False,
    )


def test_help_has_an_example_of_each_common_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.parse(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    for command in ("start", "status", "stop", "import"):
        assert f"tools/neo4j/server {command}" in text


def test_status_of_no_server_is_3_and_stopping_none_is_no_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    assert cli.main(["status", "--home", str(home), "--version", LTS.name]) == 3
    assert cli.main(["status", "--json", "--home", str(home), "--version", LTS.name]) == 3
    assert '"running": false' in capsys.readouterr().out
    assert cli.main(["stop", "--home", str(home), "--version", LTS.name]) == 0
    assert not home.exists()


def test_a_home_keeps_its_version(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.create()
    home.save(State(CURRENT.name, 7001, 7002, "1g", "1g", read_only=False))
    assert cli.choose(cli.parse(["start", "--home", str(tmp_path)])) == (home, CURRENT)


@pytest.mark.parametrize("command", ["start", "stop", "status"])
def test_a_home_of_a_version_that_is_no_longer_known_is_an_error_that_names_those_known(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    home = Home(tmp_path)
    home.create()
    home.save(State("5.1.0", 7001, 7002, "1g", "1g", read_only=False))
    assert cli.main([command, "--home", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert f"{tmp_path} holds data of Neo4j 5.1.0" in said
    assert f"it knows {LTS.name} and {CURRENT.name}" in said


def test_homes_lie_below_the_data_folder_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert cli.default_home(LTS) == tmp_path / "trivium" / "neo4j" / LTS.name
    monkeypatch.setenv("XDG_DATA_HOME", "not/absolute")
    assert cli.default_home(LTS) == Path.home() / ".local/share/trivium/neo4j" / LTS.name


def test_the_configuration_is_loopback_bounded_and_silent() -> None:
    lines = conf_text(STATE).splitlines()
    assert lines[1:] == [
        "server.default_listen_address=127.0.0.1",
        "server.bolt.listen_address=127.0.0.1:7001",
        "server.bolt.advertised_address=127.0.0.1:7001",
        "server.bolt.connection_keep_alive_for_requests=OFF",
        "server.http.listen_address=127.0.0.1:7002",
        "server.http.advertised_address=127.0.0.1:7002",
        "server.https.enabled=false",
        "server.memory.heap.max_size=1g",
        "server.memory.pagecache.size=256m",
        "server.databases.default_to_read_only=false",
        "dbms.usage_report.enabled=false",
        "db.tx_log.preallocate=false",
        "internal.dbms.bolt.netty_server_shutdown_quiet_period=0",
    ]


@contextmanager
def listening(answer: Callable[[bytes], bytes]) -> Iterator[int]:
    """A server on a free port that answers the first bytes of each connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(answer(connection.recv(64)))

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


def test_the_usual_port_is_taken_only_if_it_is_free() -> None:
    with listening(bytes) as taken:
        assert not is_free(taken)
        other = choose_port(None, taken)
        assert other != taken
        assert is_free(other)
    assert choose_port(None, taken) == taken
    assert choose_port(None, taken, taken=taken) != taken


def test_a_port_that_was_asked_for_and_is_taken_is_an_error() -> None:
    with listening(bytes) as taken, pytest.raises(ToolError, match=f"port {taken} is taken"):
        choose_port(taken, 7687)
    assert choose_port(taken, 7687) == taken
    with pytest.raises(ToolError, match="taken"):
        choose_port(taken, 7474, taken=taken)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (bytes([0, 0, 8, 5]), True),
        (bytes([0, 0, 4, 4]), True),
        (bytes(4), False),  # no version in common
        (b"HTTP/1.1 400 Bad Request", False),
        (b"\0\0", False),
    ],
)
def test_only_a_server_that_agrees_to_a_version_speaks_bolt(answer: bytes, expected: bool) -> None:
    seen = []

    def reply(request: bytes) -> bytes:
        seen.append(request)
        return answer

    with listening(reply) as port:
        assert bolt_answers(port) is expected
    assert seen[0].startswith(bytes.fromhex("6060b017"))
    assert len(seen[0]) == 20


def test_nobody_at_a_port_does_not_speak_bolt() -> None:
    with listening(bytes) as port:
        pass
    assert not bolt_answers(port)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A new home."""
    monkeypatch.delenv("NEO4J_PASSWORD", raising=False)
    made = Home(tmp_path / "home")
    made.create()
    return made


def test_a_folder_with_other_things_in_it_does_not_become_a_home(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ToolError, match="not empty"):
        Home(tmp_path).create()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_password_is_random_kept_and_private(home: Home, tmp_path: Path) -> None:
    password = home.choose_password()
    assert len(password) >= 16
    assert home.choose_password() == home.password() == password
    assert stat.S_IMODE((home.path / "password").stat().st_mode) == 0o600
    other = Home(tmp_path / "other")
    other.create()
    assert other.choose_password() != password


def test_the_password_may_be_chosen_until_there_are_users(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.choose_password()
    monkeypatch.setenv("NEO4J_PASSWORD", "first choice")
    assert home.choose_password() == "first choice"
    (home.path / "data" / "databases" / "system").mkdir(parents=True)
    monkeypatch.setenv("NEO4J_PASSWORD", "second choice")
    assert home.choose_password() == "first choice"


def test_a_lost_password_of_existing_users_must_be_given(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    (home.path / "data" / "databases" / "system").mkdir(parents=True)
    with pytest.raises(ToolError, match="NEO4J_PASSWORD"):
        home.choose_password()
    monkeypatch.setenv("NEO4J_PASSWORD", "remembered")
    assert home.choose_password() == "remembered"


@pytest.mark.parametrize("password", ["short", "with\nnewline", "a tab\tinside"])
def test_passwords_that_neo4j_would_refuse_are_refused_first(
    home: Home, monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    monkeypatch.setattr("os.environ", {"NEO4J_PASSWORD": password})
    with pytest.raises(ToolError, match="at least 8 characters"):
        home.choose_password()
    assert home.password() is None


def test_the_state_of_a_home_is_read_as_it_was_written(home: Home) -> None:
    assert home.state() is None
    home.save(STATE)
    assert home.state() == STATE


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": "5.26.30"}', '{"surprise": 1}'])
def test_a_damaged_state_is_an_error_that_names_the_file(home: Home, text: str) -> None:
    (home.path / "server.json").write_text(text)
    with pytest.raises(ToolError, match=r"server\.json is damaged"):
        home.state()
