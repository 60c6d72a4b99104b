"""An interpreter that has imported the package already.

Importing takes most of the seconds that a small command needs, and the tests run hundreds of them.
``python -m tests.preloaded SOCKET`` imports once; for everything it is asked to run it forks a process with the
arguments, the folder, the environment and the standard streams of whoever asks. ``preloaded_python`` starts such a
server and gives a command that is used like ``python``: exit codes and signals pass through.

What differs from an interpreter started anew: the seed of hashes is the server's, and of the variables that Python
itself reads when it starts (``PYTHON...``) only ``PYTHONIOENCODING`` counts. Tests of those, and of what two processes
have in common, start ``sys.executable``. Forking after such imports is safe on Linux only; elsewhere the command starts
the interpreter.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from trivium.cli.command_table import PANELS
from trivium.engine import LATER

ROOT = Path(__file__).parents[1]
COMMANDS = {f"trivium.cli.{place.partition('.')[0]}" for named in PANELS.values() for place in named.values()}
OTHERS = (
    "trivium.checking.check_store",
    "tokenizers",
    "tantivy",
    "usearch.index",
    "safetensors.numpy",
    "rich.markdown",
)
MODULES = ("trivium.cli", *sorted(COMMANDS), *LATER, *OTHERS)
"""What most commands import. Not ONNX Runtime: it starts a thread, for which a forked process waits at its end."""

_START_SECONDS = 300.0

_ASK = """
import array, json, os, signal, socket, sys
address = sys.argv.pop(1)
passed_on = (signal.SIGINT, signal.SIGTERM)
signal.pthread_sigmask(signal.SIG_BLOCK, passed_on)  # until there is a process to pass them on to
asked = json.dumps({"arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}).encode()
with socket.socket(socket.AF_UNIX) as server:
    server.connect(address)
    streams = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
    server.sendmsg([len(asked).to_bytes(4, "big")], streams)
    server.sendall(asked)
    answers = server.makefile("r")
    child = int(answers.readline())
    for number in passed_on:
        signal.signal(number, lambda got, frame: os.kill(child, got))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, passed_on)
    code = int(answers.readline())
if code < 0:
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be run: the interpreter's arguments, and where."""

    arguments: list[str]
    folder: str
    environment: dict[str, str]


@contextmanager
def preloaded_python() -> Iterator[Path]:
    """A command like ``python``, while the context lasts."""
    with tempfile.TemporaryDirectory(prefix="python-") as name:
        command, address = Path(name) / "python", Path(name) / "socket"
        if sys.platform != "linux":
            _write(command, f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
            yield command
            return
        client = Path(name) / "client.py"
        client.write_text(_ASK, "utf-8")
        _write(command, f'#!/bin/sh\nexec "{sys.executable}" -ISE "{client}" "{address}" "$@"\n')
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"}
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.preloaded", str(address)],
            stdin=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        try:
            _wait_until_listening(server, address)
            yield command
        finally:
            server.kill()
            server.wait()


def _write(command: Path, text: str) -> None:
    command.write_text(text, "utf-8")
    command.chmod(0o755)


def _wait_until_listening(server: subprocess.Popen[bytes], address: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not address.exists():
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"tests.preloaded has not started within {_START_SECONDS:.0f} s")
        time.sleep(0.02)


def _serve(address: Path) -> Request:
    """Answer requests until one is to be run in this process, which is then a fork of its own."""
    with socket.socket(socket.AF_UNIX) as listening:
        unnamed = address.with_suffix(".new")
        listening.bind(str(unnamed))
        listening.listen(64)
        unnamed.rename(address)  # visible only when connections are accepted
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the keepers are reaped by the system
        while True:
            client, _ = listening.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                break
            client.close()
    with client:
        request = _receive(client)
        child = os.fork()
        if child == 0:
            return request
        _keep(child, client)
        os._exit(0)


def _receive(client: socket.socket) -> Request:
    """Take over the streams of the client, and read what it asks."""
    head, streams, _, _ = socket.recv_fds(client, 4, 3)
    text = b""
    while len(text) < int.from_bytes(head, "big"):
        text += client.recv(1 << 20)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    return Request(**json.loads(text))


def _keep(child: int, client: socket.socket) -> None:
    """Say how the child ends; it ends with the client."""
    client.sendall(b"%d\n" % child)
    ended = os.pidfd_open(child)
    if ended not in select.select([ended, client.fileno()], [], [])[0]:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    for stream in range(3):  # whoever reads our output waits for its end
        os.close(stream)
    try:
        client.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    except OSError:
        return


def _run(request: Request) -> None:
    """As the interpreter does: a module, a text or a file; the real one for everything else."""
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    encoding = request.environment.get("PYTHONIOENCODING", "utf-8")
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        # Anew, since those that are there know whether their file can be sought in, and whether it is a terminal.
        errors = getattr(sys, name).errors
        buffering = 1 if name == "stderr" else -1
        setattr(sys, name, os.fdopen(number, mode, buffering, encoding, errors, closefd=False))
    match request.arguments:
        case ["-m", module, *rest]:
            sys.argv = [module, *rest]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-c", text, *rest]:
            sys.argv, sys.path[0] = ["-c", *rest], ""
            main = sys.modules["__main__"] = types.ModuleType("__main__")
            exec(compile(text, "<string>", "exec"), main.__dict__)
        case [file, *rest] if Path(file).is_file():
            sys.argv, sys.path[0] = [file, *rest], str(Path(file).resolve().parent)
            runpy.run_path(file, run_name="__main__")
        case arguments:
            os.execv(sys.executable, [sys.executable, *arguments])


if __name__ == "__main__":
    for name in MODULES:
        importlib.import_module(name)
    gc.freeze()  # else every process would copy all of it, to free it at its end
    _run(_serve(Path(sys.argv[1])))
