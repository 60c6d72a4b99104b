"""Attacks a server with what clients may send, and measures what it costs the others.

    python benchmarks/server_attacked.py --store attacked-store

Starts ``trivium serve`` on a store of small documents with tags, which is built first if the folder does not exist. A
client asks new questions all the time; four others send conditions that are expensive, have answers written by a model
whose replies are degenerate (a server on the loopback interface), or one uploads documents that are expensive to parse.
Prints for each attack the median and 95th percentile of the first client's searches, in times of those beside as many
clients that do the same harmlessly (measured before and after it), the peak resident memory of the server and of its
parser, the seconds of an attack, and what the attackers got.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path

import requests
from hostile_uploads import Watch, ended, server, told, upload

from experiments import command

ATTACKERS = 4
_WORDS = (
    "harbour",
    "lantern",
    "copper",
    "violin",
    "orchard",
    "glacier",
    "engine",
    "meadow",
    "pepper",
    "anchor",
    "marble",
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_VALUES = [*_LETTERS, *map("".join, product(_LETTERS, repeat=2))]
_VALUES = [value for value in _VALUES if value not in ("or", "in")]
_LONGEST = 4_000  # characters of a condition
_COMPARISONS = 100

Send = Callable[[str], str]
"""An attack by one client at an address, once; returns what it got."""


def build(store: Path, documents: int) -> None:
    """Build a store of small documents with tags."""
    drawn = random.Random(7)
    records = store.with_suffix(".jsonl")
    with records.open("w") as file:
        for number in range(documents):
            text = " ".join(drawn.choices(_WORDS, k=12))
            tags = {
                "tag": drawn.choice(_VALUES),
                "site": f"place {number % 997}",
                "year": 1900 + number % 120,
            }
            file.write(json.dumps({"title": f"Item {number}", "text": f"{text} {number}.", **tags}) + "\n")
    command = [
        sys.executable,
        "-m",
        "trivium",
        "build",
        str(records),
        "--store",
        str(store),
        "--embedder",
        "minilm",
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    records.unlink()


# -- conditions --------------------------------------------------------------------------------------------------------


def values() -> str:
    """Return as many values as a condition may have, in any order."""
    chosen = random.sample(_VALUES, len(_VALUES)) + random.choices(_LETTERS, k=900)
    return ",".join(chosen)[: _LONGEST - 40].rpartition(",")[0]


def pattern() -> str:
    """Return a pattern that many texts fit in nearly."""
    return "*" + "*".join(random.choices("acelpr 0123456789", k=5)) + "*"


def among() -> str:
    """Return a list of patterns of a text that every document has of its own."""
    return ", ".join(f"'{pattern()}'" for _ in range(_COMPARISONS))


CONDITIONS: dict[str, Callable[[], str]] = {
    "tag in (...)": lambda: f"tag in ({values()})",
    "tag not in (...)": lambda: f"tag not in ({values()})",
    "or chain": lambda: " or ".join(f"year < {random.randrange(1800)}" for _ in range(_COMPARISONS)),
    "or chain of fields": lambda: " or ".join(
        f"{name} like '{pattern()}'" for name in ("title", "source", "tag", "site") * (_COMPARISONS // 4)
    ),
    "title in (patterns)": lambda: f"title in ({among()})",
    "section in (patterns)": lambda: f"not section in ({among()})",
}


def searching(condition: Callable[[], str]) -> Send:
    """Return an attack by searches under a condition, or what is none without."""

    def send(address: str) -> str:
        asked = {"question": " ".join(random.choices(_WORDS, k=3)), "where": condition()}
        return str(requests.post(f"{address}search", json=asked, timeout=120).status_code)

    return send


# -- replies of a model ------------------------------------------------------------------------------------------------

REPLIES: dict[str, str] = {
    "short": "The harbour has a lantern of copper [1].",
    "newlines": "A" + "\n" * 2_000,
    "phrases": "the same words again and " * 4_000,
    "citations": "[1]" * 20_000,
    "unclosed citations": "[1, " * 20_000,
    "nested brackets": "[" * 30_000 + "]" * 30_000,
    "list": "".join(f"{number}. \n" for number in range(20_000)),
    "sentences": "".join(f"Sentence {number % 3_000} of the harbour.\n" for number in range(12_000)),
    "one word": "a" * 400_000,
    "thoughts": "<think>" * 40_000,
}


class Model(BaseHTTPRequestHandler):
    """A language model that replies what the question names."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        last = asked["messages"][-1]["content"]
        reply = next((text for name, text in REPLIES.items() if f"({name})" in last), "Nothing.")
        if not asked.get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
            self._send("application/json", json.dumps({"choices": [choice]}).encode())
            return
        pieces = [reply[start : start + 200] for start in range(0, len(reply), 200)]
        deltas = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
        events = [*map(json.dumps, deltas), "[DONE]"]
        self._send("text/event-stream", "".join(f"data: {event}\n\n" for event in events).encode())

    def handle(self) -> None:
        with suppress(ConnectionError):  # the server has heard enough
            super().handle()

    def log_message(self, *_: object) -> None:
        pass

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def model() -> Iterator[str]:
    """Run the model; yields its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as running:
        running.daemon_threads = True
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}/v1"
        running.shutdown()


def asking(name: str) -> Send:
    """Return an attack by questions that the model answers so."""

    def send(address: str) -> str:
        question = f"What of the {' '.join(random.choices(_WORDS, k=3))} ({name})?"
        with requests.post(
            f"{address}ask", json={"question": question, "stream": True}, timeout=200, stream=True
        ) as got:
            events = [line for line in got.iter_lines() if line.startswith(b"event: ")]
            return f"{got.status_code} {events[-1][7:].decode() if events else ''}".strip()

    return send


# -- documents ---------------------------------------------------------------------------------------------------------


def wide_table() -> bytes:
    """Return a table of two rows and a million columns."""
    return b",".join(b"c%d" % i for i in range(1_000_000)) + b"\n" + b",".join([b"1"] * 1_000_000)


def large_page() -> bytes:
    """Return a page of 7 MB in paragraphs."""
    return b"<title>Large</title><body>" + b"".join(
        b"<h2>Part %d</h2><p>%s</p>" % (i, b"some words of it " * 40) for i in range(9_900)
    )


def large_markdown() -> bytes:
    """Return the same in Markdown."""
    return b"".join(b"## Part %d\n\n%s\n\n" % (i, b"some words of it " * 40) for i in range(9_900))


def note() -> bytes:
    """Return a short text."""
    return " ".join(random.choices(_WORDS, k=20)).encode()


DOCUMENTS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a million columns": ("wide.csv", wide_table),
    "a page of 7 MB": ("large.html", large_page),
    "Markdown of 7 MB": ("large.md", large_markdown),
}


def uploading(name: str, make: Callable[[], bytes]) -> Send:
    """Return an attack by an upload, until its job has ended."""

    def send(address: str) -> str:
        return told(ended(address, upload(address, name, make()), time.perf_counter() + 300))

    return send


# -- measuring ---------------------------------------------------------------------------------------------------------


@dataclass
class Client:
    """Asks new questions all the time, until its block ends."""

    address: str
    seconds: list[float] = field(default_factory=list)

    def __enter__(self) -> Client:
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._ask)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()

    def _ask(self) -> None:
        with requests.Session() as session:
            while not self._ending.wait(0.02):
                question = " ".join(random.choices(_WORDS, k=4)) + f" {random.random()}"
                started = time.perf_counter()
                session.post(
                    f"{self.address}search", json={"question": question}, timeout=120
                ).raise_for_status()
                self.seconds.append(time.perf_counter() - started)


def measured(
    process: int, address: str, send: Send, times: float, attackers: int
) -> tuple[Client, Watch, list[str], list[float]]:
    """Attack for a time, or once if it takes longer."""
    got: list[str] = []
    took: list[float] = []
    until = time.perf_counter() + times

    def attack() -> None:
        while True:
            started = time.perf_counter()
            got.append(send(address))
            took.append(time.perf_counter() - started)
            if time.perf_counter() > until:
                return

    watch = Watch(process, address, asks=False)
    with Client(address) as client, watch:
        threads = [threading.Thread(target=attack) for _ in range(attackers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        while time.perf_counter() < until:
            time.sleep(0.05)
    return client, watch, got, took


def at(seconds: Sequence[float], share: float) -> float:
    """Return a quantile in milliseconds."""
    return 1e3 * sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))]


def main() -> None:
    """Run the attacks and print the results."""
    parser = command.Parser(__doc__, takes="about ten minutes, and the store that is built")
    parser.add_argument("--store", type=Path, required=True, help="Built if it does not exist.")
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument(
        "--seconds", type=float, default=6.0, help="Length of each attack, and of each time without."
    )
    parser.add_argument("--only", default="", help="Run only attacks whose names contain this.")
    given = parser.parse_args()
    if not given.store.exists():
        build(given.store, given.documents)
    kinds: list[tuple[str, Send, int, list[tuple[str, Send]]]] = [
        (
            "where",
            searching(
                lambda: f"year > {random.randrange(1900, 1960)} or site = 'place {random.randrange(997)}'"
            ),
            ATTACKERS,
            [(n, searching(make)) for n, make in CONDITIONS.items()],
        ),
        ("reply", asking("short"), ATTACKERS, [(name, asking(name)) for name in REPLIES if name != "short"]),
        ("upload", uploading("note.txt", note), 1, [(n, uploading(*one)) for n, one in DOCUMENTS.items()]),
    ]
    with model() as replies:
        os.environ |= {"TRIVIUM_CHAT_BASE_URL": replies, "TRIVIUM_CHAT_API_KEY": "none"}
        with server(given.store, "--model", "openai:degenerate") as (running, address):
            measured(running.pid, address, asking("short"), given.seconds, 1)  # warms up
            print(
                "attack | median and 95 % of a search, times those without | MB server, parser | s median, most | got"
            )
            for kind, harmless, clients, attacks in kinds:
                quiet = measured(running.pid, address, harmless, given.seconds, clients)[0].seconds
                print(f"{kind}, harmless: {at(quiet, 0.5):.0f} and {at(quiet, 0.95):.0f} ms")
                for name, send in attacks:
                    if given.only not in name:
                        continue
                    client, watch, got, took = measured(running.pid, address, send, given.seconds, clients)
                    after = measured(running.pid, address, harmless, given.seconds, clients)[0].seconds
                    ratios = (
                        at(client.seconds, share) / at([*quiet, *after], share) for share in (0.5, 0.95)
                    )
                    quiet = after
                    print(
                        f"{kind}: {name} | {' '.join(f'{ratio:.2f}' for ratio in ratios)}"
                        f" | {watch.own:.0f}, {watch.child:.0f} | {statistics.median(took):.2f}, {max(took):.2f}"
                        f" | {'; '.join(f'{times} x {what}' for what, times in Counter(got).most_common(3))}",
                        flush=True,
                    )


if __name__ == "__main__":
    command.run(main)
