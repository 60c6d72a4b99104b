"""tools/neo4j/server with a Java and a Maven that are scripts: what it fetches, runs, and says when that fails."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tools.neo4j.neo4j_tool import cli, jars
from tools.neo4j.neo4j_tool.bulk import Summary, read_manifest, summary
from tools.neo4j.neo4j_tool.errors import ToolError
from tools.neo4j.neo4j_tool.files import locked
from tools.neo4j.neo4j_tool.home import Home, State
from tools.neo4j.neo4j_tool.jars import ensure_jars
from tools.neo4j.neo4j_tool.java import Java
from tools.neo4j.neo4j_tool.process import is_server
from tools.neo4j.neo4j_tool.versions import CURRENT, LTS

SERVER = Path(__file__).parents[2] / "tools" / "neo4j" / "server"
MAVEN = """\
echo fetched >> {log}
[ -f "$PWD/pom.xml" ] || exit 9
mkdir -p lib
echo one > lib/other.jar
{middle}
echo two > lib/neo4j-server-5.26.30.jar
"""
JAVA = """\
case "$*" in
    *-version*) echo 'openjdk version "17.0.1"' >&2 ;;
    *AdminTool*set-initial-password*) echo "$@" >> {log} ;;
    *AdminTool*) {admin} ;;
    *) echo "$@" >> {log}; {server} ;;
esac
"""


@dataclass(frozen=True)
class Machine:
    """A machine of scripts: its home folder, the commands on its path, and what they noted."""

    home: Home
    commands: Path
    log: Path

    def command(self, name: str, text: str, **parts: str) -> Path:
        """Put a script on the path."""
        path = self.commands / name
        path.write_text("#!/bin/sh\n" + text.format(log=self.log, **parts))
        path.chmod(0o755)
        return path

    def maven(self, middle: str = "") -> None:
        self.command("mvn", MAVEN, middle=middle)

    def java(self, *, server: str = "exit 1", admin: str = "exit 1") -> Java:
        return Java(self.command("java", JAVA, server=server, admin=admin), 17)

    @property
    def noted(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def run(self, *arguments: str) -> int:
        return cli.main([arguments[0], "--home", str(self.home.path), "--version", LTS.name, *arguments[1:]])


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    commands = tmp_path / "commands"
    commands.mkdir()
    monkeypatch.setenv("PATH", f"{commands}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("NEO4J_PASSWORD", raising=False)
    made = Machine(Home(tmp_path / "home"), commands, tmp_path / "log")
    made.maven()
    return made


def test_jars_are_fetched_once(machine: Machine) -> None:
    lib = ensure_jars(LTS, machine.java())
    assert ensure_jars(LTS, machine.java()) == lib == jars.cache_folder() / LTS.name / "lib"
    assert sorted(path.name for path in lib.iterdir()) == ["neo4j-server-5.26.30.jar", "other.jar"]
    assert machine.noted == ["fetched"]


def test_a_fetch_that_fails_leaves_nothing_to_believe_and_says_what_maven_said(machine: Machine) -> None:
    machine.maven("echo the network is down; trap 'exit 1' EXIT")
    with pytest.raises(ToolError, match="the network is down"):
        ensure_jars(LTS, machine.java())
    assert [path.name for path in jars.cache_folder().iterdir()] == [f"{LTS.name}.lock"]
    machine.maven()
    assert ensure_jars(LTS, machine.java()).is_dir()


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"")])
def test_a_folder_that_lost_something_is_fetched_again(
    machine: Machine, damage: Callable[[Path], object]
) -> None:
    lib = ensure_jars(LTS, machine.java())
    damage(lib / "other.jar")
    assert (ensure_jars(LTS, machine.java()) / "other.jar").read_text() == "one\n"


def test_a_fetch_that_was_killed_is_not_believed(machine: Machine) -> None:
    part = jars.cache_folder() / f"{LTS.name}.part"
    (part / "lib").mkdir(parents=True)
    (part / "lib" / "half.jar").write_text("ha")
    lib = ensure_jars(LTS, machine.java())
    assert not (lib / "half.jar").exists()
    assert not part.exists()


def test_two_at_once_fetch_once(machine: Machine) -> None:
    machine.maven("sleep 0.3")
    java = machine.java()
    threads = [threading.Thread(target=ensure_jars, args=(LTS, java)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert machine.noted == ["fetched"]


def test_without_maven_the_error_names_what_to_install(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(ToolError, match="apt install maven"):
        ensure_jars(LTS, machine.java())


def test_a_lock_that_is_kept_is_an_error_after_the_timeout(tmp_path: Path) -> None:
    with (
        locked(tmp_path / "lock", timeout=1.0),
        pytest.raises(ToolError, match="another command"),
        locked(tmp_path / "lock", timeout=0.0),
    ):
        pass


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("java.lang.OutOfMemoryError: Java heap space", "too little memory: ask for less with --heap"),
        ("Invalid memory configuration - exceeds physical memory", "too little memory"),
        ("Too small maximum heap", "--heap 2g is not a size Java can use"),
        ("java.io.IOException: No space left on device", "no space left on the disk of"),
        ("Something new", "it does not say why"),
    ],
)
def test_a_server_that_ends_at_once_is_explained_by_its_logs(
    machine: Machine, capsys: pytest.CaptureFixture[str], words: str, reason: str
) -> None:
    machine.java(server=f"echo '{words}'; exit 1")
    assert machine.run("start") == 1
    said = capsys.readouterr()
    assert reason in said.err
    assert words in said.err
    assert said.out == ""


def test_ports_lost_to_another_program_are_chosen_anew_three_times(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.java(server='echo "Caused by: Address 127.0.0.1:7 is already in use"; exit 1')
    assert machine.run("start") == 1
    assert "another program took port" in capsys.readouterr().err
    assert len([line for line in machine.noted if "--home-dir" in line]) == 3


def test_a_server_that_never_answers_is_told_to_end_after_the_timeout(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    told = f"trap 'kill $!; echo told to end >> {machine.log}; exit' TERM"
    machine.java(server=f"{told}; echo waiting > {machine.home.server_log}; sleep 60 & wait")
    assert machine.run("start", "--timeout", "0.5") == 1
    said = capsys.readouterr().err
    assert "does not answer" in said
    assert "waiting" in said
    assert machine.noted[-1] == "told to end"
    state = machine.home.state()
    assert state is not None
    with pytest.raises(ProcessLookupError):
        os.kill(state.pid, 0)


def test_memory_goes_to_java_and_the_password_does_not(machine: Machine) -> None:
    machine.java()
    machine.run("start", "--heap", "3g", "--page-cache", "64m")
    server = next(line for line in machine.noted if "--home-dir" in line)
    assert any("set-initial-password" in line for line in machine.noted)
    assert "-Xmx3g" in server
    assert "server.memory.pagecache.size=64m" in (machine.home.conf / "neo4j.conf").read_text()
    password = machine.home.password()
    assert password is not None
    assert not [line for line in machine.noted if password in line]
    assert not list((machine.home.path / "run").iterdir())


def test_a_new_home_cannot_be_read_only(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.java()
    assert machine.run("start", "--read-only") == 1
    assert "without --read-only" in capsys.readouterr().err


def test_a_full_disk_is_noticed_before_the_start(
    machine: Machine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.java()
    monkeypatch.setattr(Home, "free_space", 5 << 20)
    assert machine.run("start") == 1
    assert "has 5 MB free, a server needs 128" in capsys.readouterr().err
    assert not machine.noted


def test_data_of_another_version_is_not_touched(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.home.create()
    machine.home.save(State("2026.08.1", 7001, 7002, "1g", "1g", read_only=False))
    assert machine.run("start") == 1
    assert "holds data of Neo4j 2026.08.1" in capsys.readouterr().err


@pytest.fixture
def running(machine: Machine) -> Iterator[State]:
    """A process that looks like the server of the machine's home."""
    home = machine.home
    home.create()
    folders = [f"--home-dir={home.path}", f"--config-dir={home.conf}"]
    waiting = "import time; print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", waiting, *folders], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        state = State(LTS.name, 7001, 7002, "1g", "1g", read_only=False, pid=process.pid)
        home.save(state)
        yield state
        process.kill()


def test_a_process_is_the_server_of_the_home_in_its_arguments(machine: Machine, running: State) -> None:
    assert is_server(running.pid, machine.home)
    assert not is_server(running.pid, Home(Path(str(machine.home.path)[:-1])))
    assert not is_server(running.pid, Home(Path(f"{machine.home.path}2")))
    assert not is_server(os.getpid(), machine.home)
    assert not is_server(0, machine.home)


def test_a_running_server_cannot_become_another(
    machine: Machine, running: State, capsys: pytest.CaptureFixture[str]
) -> None:
    assert machine.run("start", "--read-only") == 1
    assert "read_only False, asked was True: stop it first" in capsys.readouterr().err


def test_status_tells_a_server_that_does_not_answer(
    machine: Machine, running: State, capsys: pytest.CaptureFixture[str]
) -> None:
    assert machine.run("status", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["running"], found["ready"], found["pid"]) == (True, False, running.pid)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of bulk files."""
    path = tmp_path / "bulk"
    path.mkdir()
    arguments = ["--nodes=Entity=h.csv,e.csv", "--relationships=cites=/abs/c.csv,./d.csv", "--id-type=string"]
    (path / "import.json").write_text(json.dumps({"arguments": arguments}))
    return path


def test_names_of_files_are_relative_to_the_folder_of_the_import(folder: Path) -> None:
    assert read_manifest(folder) == [
        "--nodes=Entity=./h.csv,./e.csv",
        "--relationships=cites=/abs/c.csv,./d.csv",
        "--id-type=string",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "[]",
        "{}",
        '{"arguments": "--nodes=a.csv"}',
        '{"arguments": [1]}',
        '{"arguments": [], "more": 1}',
        '{"arguments": ["@/etc/passwd"]}',
        '{"arguments": ["system"]}',
        '{"arguments": ["--"]}',
        '{"arguments": ["--report-file=/etc/passwd"]}',
        '{"arguments": ["--overwrite-destination=false"]}',
    ],
)
def test_anything_but_options_of_the_import_is_refused(folder: Path, text: str) -> None:
    (folder / "import.json").write_text(text)
    with pytest.raises(ToolError, match=r"import\.json"):
        read_manifest(folder)


def test_an_import_into_a_running_server_is_refused(
    machine: Machine, running: State, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.java(admin="exit 0")
    assert machine.run("import", str(folder)) == 1
    said = capsys.readouterr().err
    assert f"tools/neo4j/server stop --home {machine.home.path}" in said
    assert not machine.noted


def test_a_failed_import_shows_the_first_lines_of_its_report(
    machine: Machine, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.java(
        admin=f"seq -f 'bad line %g' 1 99 > {machine.home.logs}/import.report; echo 'no node a'; exit 1"
    )
    assert machine.run("import", str(folder)) == 1
    said = capsys.readouterr().err
    assert "exit status 1); what it left is no database, and the data before it may be gone" in said
    assert "bad line 1\n" in said
    assert "bad line 11" not in said
    assert said.endswith("ended with:\nno node a\n")


def test_an_import_passes_on_progress_and_prints_what_it_made(
    machine: Machine, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.java(admin="printf '.... 100%%\\nImported:\\n  2 nodes\\n  1 relationships\\n  6 properties\\n'")
    assert machine.run("import", "--json", str(folder)) == 0
    said = capsys.readouterr()
    assert ".... 100%" in said.err
    found = json.loads(said.out)
    assert (found["nodes"], found["relationships"], found["properties"]) == (2, 1, 6)
    assert found["seconds"] > 0
    assert found["home"] == str(machine.home.path)
    assert machine.run("import", str(folder)) == 0
    assert f"2 nodes, 1 relationships and 6 properties in 0.0 s\n  home      {machine.home.path}\n" in re.sub(
        r"\d+\.\d s", "0.0 s", capsys.readouterr().out
    )


def test_a_home_that_was_filled_keeps_the_version_of_the_import(
    machine: Machine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or its first start would be one of the default version, on files of another."""
    machine.java(admin="exit 0")
    assert machine.run("import", str(folder)) == 0
    monkeypatch.setattr(cli, "default_version", lambda: CURRENT)
    options = cli.parse(["start", "--home", str(machine.home.path)])
    assert cli.choose(options) == (machine.home, LTS)


def test_an_import_leaves_alone_what_a_home_was_started_with(machine: Machine, folder: Path) -> None:
    machine.java(admin="exit 0")
    machine.home.create()
    before = State(LTS.name, 7001, 7002, "3g", "1g", read_only=False, pid=99999999)
    machine.home.save(before)
    assert machine.run("import", str(folder)) == 0
    assert machine.home.state() == before


def test_an_import_that_is_interrupted_ends_and_says_what_became_of_the_data(
    machine: Machine, folder: Path
) -> None:
    """The signal reaches this command only, as from ``kill -INT``: neo4j-admin is not left at work."""
    told = f"trap 'echo told to end >> {machine.log}; exit' TERM"
    machine.java(admin=f"{told}; echo at work; for _ in $(seq 100); do sleep 0.1; done")
    command = [sys.executable, SERVER, "import", folder, "--home", machine.home.path, "--version", LTS.name]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "at work" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait() == 130
    assert (
        f"into {machine.home.path}; what it left is no database, and the data before it may be gone" in said
    )
    assert said.endswith("interrupted\n")
    assert machine.noted[-1] == "told to end"


def test_the_counts_of_an_import_are_read_from_its_words() -> None:
    said = "IMPORT DONE in 9s.\nImported:\n  368000 nodes\n  1000000 relationships\n  5 properties\nPeak: 1 nodes per\n"
    home = Home(Path("/data/graph"))
    assert summary(said, home, 1.23456) == Summary(368_000, 1_000_000, 5, 1.235, "/data/graph")
