"""The server's process: the command it runs, whether it is alive, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from .home import Home
from .java import Java
from .versions import Version

_ADD_OPENS = ("java.nio", "java.io", "sun.nio.ch")
_VECTOR_MODULE = "jdk.incubator.vector"


def server_command(version: Version, java: Java, lib: Path, home: Home, heap: str) -> list[str]:
    """The command line of the server."""
    return [
        str(java.command),
        f"-Xmx{heap}",
        "-XX:+UseG1GC",  # Java's own choice on small machines is the serial collector, with long pauses
        "-XX:+ExitOnOutOfMemoryError",  # half a server answers nobody; the data is safe
        *_module_options(java),
        *(
            [f"--add-modules={_VECTOR_MODULE}"] if java.has_module(_VECTOR_MODULE) else []
        ),  # similarities by SIMD
        "-cp",
        str(lib / "*"),
        version.main_class,
        *_folders(home),
    ]


def admin_command(java: Java, lib: Path, heap: str, *arguments: str) -> list[str]:
    """The command line of neo4j-admin; run it in :func:`environment`."""
    command = [
        str(java.command),
        f"-Xmx{heap}",
        "-XX:+UseParallelGC",
        "-Dfile.encoding=UTF-8",
        *_module_options(java),
    ]
    return [*command, "-cp", str(lib / "*"), "org.neo4j.cli.AdminTool", *arguments]


def environment(home: Home) -> dict[str, str]:
    """The environment of the server and of neo4j-admin; passwords stay out of it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    if not any(kept.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG")):
        kept["LC_ALL"] = "C.UTF-8"  # or Java cannot open files whose names are not ASCII
    return {**kept, "NEO4J_HOME": str(home.path), "NEO4J_CONF": str(home.conf)}


def launch(command: list[str], home: Home) -> subprocess.Popen[bytes]:
    """Start the server so that it outlives this command and the terminal."""
    with home.console_log.open("wb") as log:
        return subprocess.Popen(
            command,
            cwd=home.path,
            env=environment(home),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def is_server(pid: int, home: Home) -> bool:
    """Whether a process is the server of a home: process numbers are used again, its arguments tell."""
    return pid > 0 and f" {' '.join(_folders(home))} " in f"{command_line(pid)} "


def command_line(pid: int) -> str:
    """The arguments of a process, parted by blanks; empty when there is none, or only its exit status is left."""
    if Path("/proc/self/cmdline").exists():
        try:
            return os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" "))
        except OSError:
            return ""
    command = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    return os.fsdecode(subprocess.run(command, capture_output=True, check=False).stdout.rstrip(b"\n"))


def terminate(pid: int, home: Home, timeout: float) -> bool:
    """Ask the server to end, and wait. Whether it did within ``timeout`` seconds."""
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return True
    deadline = time.monotonic() + timeout
    while is_server(pid, home):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def give_up(process: subprocess.Popen[bytes]) -> None:
    """End a process of ours that is of no use any more; one that does not listen is killed."""
    process.terminate()
    try:
        process.wait(30.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _module_options(java: Java) -> list[str]:
    options = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _ADD_OPENS]
    if java.major >= 24:
        # Warned about from Java 24 on unless it is said that it may be.
        options += ["--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"]
    return options


def _folders(home: Home) -> tuple[str, str]:
    return f"--home-dir={home.path}", f"--config-dir={home.conf}"
