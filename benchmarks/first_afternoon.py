"""What a newcomer does first with a wheel, where nothing else is installed, and how long each command takes.

    make package && python benchmarks/first_afternoon.py dist/trivium-*.whl

Installs the wheel into an empty environment outside of the checkout and runs the commands there in an empty folder, with
nothing of the caller's settings but those of pip: the demo, a PDF file of one's own that is built, searched and asked,
the official client of OpenAI's API, and a client of MCP. Prints a row of Markdown for each, with its seconds, and those
of a processor. Ends with 1 at the first command that fails or does not say what it should. Needs a package index.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from experiments import command
from tests.fakes.pdf_writer import PdfFile

PORT = 8765
MANUAL = (
    "The harbour of Arlen has 35 berths for boats of up to 12 metres.",
    "The ferry was repaired by Mira Falk in 1931.",
)
QUESTION, ANSWER = "Who repaired the ferry?", "Mira Falk"
CHAT = f"""from openai import OpenAI

client = OpenAI(base_url="http://localhost:{PORT}/v1", api_key="none")
messages = [{{"role": "user", "content": "{QUESTION}"}}]
print(client.chat.completions.create(model="trivium", messages=messages).choices[0].message.content)
"""
TOOLS = f"""import anyio
from mcp import ClientSession, StdioServerParameters, stdio_client


async def ask():
    server = StdioServerParameters(command="trivium", args=["mcp", "--store", "my-store"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        print((await session.call_tool("ask", {{"question": "{QUESTION}"}})).content[0].text)


anyio.run(ask)
"""


class Desk:
    """An empty folder, and an environment with pip alone."""

    def __init__(self, folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", folder / "environment"], check=True)
        commands = folder / "environment" / "bin"
        self.folder = folder / "desk"
        self.folder.mkdir()
        self.alone = {
            "HOME": str(self.folder),
            "PATH": f"{commands}{os.pathsep}/usr/bin:/bin",
            "LANG": "C.UTF-8",
        }
        self.for_pip = {**os.environ, **self.alone}

    def run(self, command: str, says: str = "", environment: dict[str, str] | None = None) -> None:
        """Run a command and print its row. Ends the program unless it succeeds and its output has ``says``."""
        started, before = time.perf_counter(), processor_seconds()
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.folder,
            env=environment or self.alone,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or says not in done.stdout:
            sys.exit(f"{command}: expected {says!r}, got {done.returncode}\n{done.stdout}{done.stderr}")
        row(command, time.perf_counter() - started, f"{processor_seconds() - before:.1f} s")

    def serve(self, command: str) -> subprocess.Popen[bytes]:
        """Start a server and wait until it answers questions."""
        started = time.perf_counter()
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        server = subprocess.Popen(command.split(), cwd=self.folder, env=self.alone, **quiet)
        while server.poll() is None and time.perf_counter() < started + 120:
            try:
                urlopen(f"http://localhost:{PORT}/ready", timeout=10).close()
            except (URLError, OSError):
                time.sleep(0.05)
                continue
            row(f"{command} (until it is ready)", time.perf_counter() - started)
            return server
        server.kill()
        sys.exit(f"{command}: the server was not ready within two minutes")


def row(command: str, seconds: float, of_processor: str = "") -> None:
    """Print how long a command took, and how much of that a processor."""
    print(f"| `{command}` | {seconds:.1f} s | {of_processor} |", flush=True)


def processor_seconds() -> float:
    """Of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Run all of it."""
    parser = command.Parser(__doc__, takes="three minutes")
    parser.add_argument("wheel", type=command.existing)
    wheel = parser.parse_args().wheel.resolve()
    manual = PdfFile()
    manual.page().lines(72, 700, MANUAL)
    with tempfile.TemporaryDirectory(prefix="trivium-") as folder:
        desk = Desk(Path(folder))
        (desk.folder / wheel.name).symlink_to(wheel)
        (desk.folder / "manual.pdf").write_bytes(manual.data())
        (desk.folder / "chat.py").write_text(CHAT)
        (desk.folder / "tools.py").write_text(TOOLS)
        desk.run(f"pip install {wheel.name}", environment=desk.for_pip)
        desk.run("trivium demo", "Asaph Hall")
        desk.run("python -c 'import trivium'")
        desk.run("trivium --help", "build")
        desk.run("trivium build manual.pdf --store my-store")
        for _ in range(2):
            desk.run(f"trivium search '{QUESTION}' --store my-store", ANSWER)
        desk.run(f"trivium ask '{QUESTION}' --store my-store", ANSWER)
        desk.run(f"pip install '{wheel.name}[serve,mcp]' openai", environment=desk.for_pip)
        server = desk.serve(f"trivium serve --store my-store --port {PORT}")
        try:
            desk.run("python chat.py", ANSWER)
        finally:
            server.terminate()
            server.wait(60)
        desk.run("python tools.py", ANSWER)


if __name__ == "__main__":
    command.run(main)
