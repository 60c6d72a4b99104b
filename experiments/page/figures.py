"""Measures how fast the web page loads: paints, bytes, requests, layout shift and blocking time, at three window sizes.

    python experiments/page/figures.py                      # serves the sample encyclopaedia itself
    python experiments/page/figures.py --address http://127.0.0.1:8000/

Prints medians over several page loads in headless Chromium with an empty cache, read through the DevTools protocol: for
a first visit, and for a return to a thread stored in the browser. Requires Chromium and its driver, like the tests of
the page.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

from experiments import command
from trivium.engine import Engine
from trivium.sample import pages_folder

with command.errors_in_one_line():
    from selenium.webdriver import Chrome

    from tests.browser.chrome import open_chrome, soon
    from tests.browser.thread import all_of, one, pose, visit

ROOT = Path(__file__).resolve().parents[2]

SIZES = {"phone": (390, 844), "tablet": (820, 1180), "desktop": (1440, 900)}
QUESTIONS = ("Which probe visited Pluto?", "When was it launched?", "Who found the moons of Mars?")
QUIET_SECONDS = 1.0
"""The page counts as loaded after that many seconds without activity."""
BLOCKING_MILLISECONDS = 50
"""Tasks longer than this block the main thread noticeably."""

_OBSERVE = """
window.figures = {largest: 0, shift: 0, blocked: 0};
const observe = (type, each) =>
  new PerformanceObserver(list => list.getEntries().forEach(each)).observe({type, buffered: true});
observe('largest-contentful-paint', entry => { figures.largest = entry.startTime; });
observe('layout-shift', entry => { if (!entry.hadRecentInput) figures.shift += entry.value; });
observe('longtask', entry => { figures.blocked += Math.max(0, entry.duration - BLOCKING); });
""".replace("BLOCKING", str(BLOCKING_MILLISECONDS))
_FIGURES = """
const first = performance.getEntriesByName('first-contentful-paint')[0];
return {...figures, first: first ? first.startTime : NaN};
"""


def main() -> None:
    """Load the page repeatedly and print the medians."""
    parser = command.Parser(__doc__, takes="three minutes")
    parser.add_argument("--address", help="Address of a running server; by default the sample is served.")
    parser.add_argument("--openings", type=int, default=7, help="Number of page loads per kind and size.")
    given = parser.parse_args()
    grid = Grid()
    columns = (
        "page",
        "window",
        "first paint",
        "largest paint",
        "blocked",
        "layout shift",
        "requests",
        "script",
        "in all",
    )
    for column in columns:
        grid.add_column(column, justify="left" if column in columns[:2] else "right")
    with (
        serving(given.address) as address,
        tempfile.TemporaryDirectory() as profile,
        open_chrome(Path(profile)) as chrome,
    ):
        chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _OBSERVE})
        chrome.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
        for kept in (False, True):
            for name, size in SIZES.items():
                measure(chrome, address, size, kept)  # loads and compiles what is cached
                runs = [measure(chrome, address, size, kept) for _ in range(given.openings)]
                grid.add_row("with a thread" if kept else "for the first time", name, *shown(runs))
    Console(width=140).print(grid)


def measure(chrome: Chrome, address: str, size: tuple[int, int], kept: bool) -> dict[str, float]:
    """Return the figures of one page load; with ``kept``, with a stored thread of earlier questions."""
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    visit(chrome, address)
    soon(lambda: all_of(chrome, ".example"))
    if kept:
        for question in QUESTIONS:
            pose(chrome, question)
    chrome.get("about:blank")
    chrome.get_log("performance")
    chrome.get(address)
    if kept:
        soon(lambda: len(all_of(chrome, ".turn")) == len(QUESTIONS))
    else:
        soon(lambda: all_of(chrome, ".example"))
    time.sleep(QUIET_SECONDS)
    found: dict[str, float] = chrome.execute_script(_FIGURES)
    assert one(chrome, "#question").is_displayed()
    return {**found, **traffic(chrome)}


def traffic(chrome: Chrome) -> dict[str, float]:
    """Return the number of requests and the transferred bytes since the last call."""
    kinds: dict[str, str] = {}
    script = whole = 0
    for entry in chrome.get_log("performance"):
        message: dict[str, Any] = json.loads(entry["message"])["message"]
        given = message["params"]
        if message["method"] == "Network.requestWillBeSent" and given["request"]["url"].startswith("http"):
            kinds[given["requestId"]] = given.get("type", "Other")
        elif message["method"] == "Network.loadingFinished" and given["requestId"] in kinds:
            size = int(given["encodedDataLength"])
            whole += size
            script += size * (kinds[given["requestId"]] == "Script")
    return {"requests": len(kinds), "script": script, "whole": whole}


def shown(runs: list[dict[str, float]]) -> list[str]:
    """Return the medians formatted for the table."""
    middle = {name: median(run[name] for run in runs) for name in runs[0]}
    return [
        f"{middle['first']:.0f} ms",
        f"{middle['largest']:.0f} ms",
        f"{middle['blocked']:.0f} ms",
        f"{middle['shift']:.3f}",
        f"{middle['requests']:.0f}",
        f"{middle['script'] / 1000:.0f} kB",
        f"{middle['whole'] / 1000:.0f} kB",
    ]


@contextmanager
def serving(address: str | None) -> Iterator[str]:
    """Yield the given address, or that of a server of the sample started for this run."""
    if address is not None:
        yield address
        return
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        with Engine.create(store, "minilm") as engine:
            engine.build([pages_folder()])
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "trivium", "serve", "--store", str(store), "--port", str(port)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            assert process.stdout is not None
            process.stdout.readline()  # the line with its address: it is listening
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    command.run(main)
