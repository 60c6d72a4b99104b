"""Take the pictures of the web page that README and docs show, on the sample: docs/images/desk.png, source.png,
graph.png, phone.png, and, of its texts without their links, names.png.

    .venv/bin/python tools/screenshots.py

Needs Chromium and its driver, as the tests of the page do.
"""

from __future__ import annotations

import base64
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from selenium.webdriver import Chrome  # noqa: E402

from tests.browser.chrome import dark_mode, open_chrome, soon  # noqa: E402
from tests.browser.thread import all_of, marked, one, open_why, pose, press_on, visit  # noqa: E402
from trivium.engine import Engine  # noqa: E402
from trivium.sample import pages_folder  # noqa: E402
from trivium.types import ChunkKind  # noqa: E402

QUESTIONS = ("Which probe visited Pluto?", "When was it launched?")
IMAGES = ROOT / "docs" / "images"


def window(chrome: Chrome, width: int, height: int, dark: bool) -> None:
    """A window of that size, in that mode."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    dark_mode(chrome, dark)


def draw(chrome: Chrome, address: str) -> None:
    """A thread with a passage explained, a source, the way of an answer, and the same thread on a phone."""
    window(chrome, 1280, 900, dark=False)
    visit(chrome, address)
    turns = [pose(chrome, question) for question in QUESTIONS]
    open_why(chrome, turns[-1])
    chrome.execute_script("arguments[0].scrollIntoView({block: 'start', behavior: 'instant'})", turns[-1])
    save(chrome, "desk.png")
    press_on(chrome, one(turns[-1], ".cite"))
    marked(chrome)
    save(chrome, "source.png")
    one(chrome, "#reader-close").click()
    one(chrome, "#open-graph").click()
    one(chrome, "#explorer-name").send_keys("Mars\n")
    soon(lambda: len(all_of(chrome, ".dot")) > 3)
    save(chrome, "graph.png")
    window(chrome, 390, 844, dark=True)
    visit(chrome, address)
    pose(chrome, QUESTIONS[0])
    save(chrome, "phone.png")


def draw_names(chrome: Chrome, address: str) -> None:
    """What most texts name, and what is said of one of them."""
    window(chrome, 1280, 900, dark=False)
    visit(chrome, address)
    one(chrome, "#open-graph").click()
    soon(lambda: all_of(chrome, ".dot-person"))
    press_on(chrome, one(chrome, ".dot[data-id='William Herschel'] .shape"))
    soon(lambda: "Mentioned in" in one(chrome, "#explorer-about").text)
    save(chrome, "names.png")


def save(chrome: Chrome, name: str) -> None:
    """What is seen, when nothing moves any more."""
    soon(lambda: chrome.execute_script("return document.getAnimations().length === 0"))
    picture = chrome.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    (IMAGES / name).write_bytes(base64.b64decode(picture["data"]))


def build_named(folder: Path, sample: Engine) -> None:
    """Write the paragraphs of the sample as plain text, and build a store with the names in them."""
    texts = folder / "texts"
    texts.mkdir()
    for page in sample.store.page_graphs():
        paragraphs = [chunk.body for chunk in page.chunks if chunk.kind == ChunkKind.PARAGRAPH]
        (texts / f"{page.uri}.txt").write_text("\n\n".join(paragraphs))
    with Engine.create(folder / "named") as engine:
        engine.build([texts], entities="rules")


def serve(store: Path, draw_it: Callable[[Chrome, str], None]) -> None:
    """Draw what a server of a store shows."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = [sys.executable, "-m", "trivium", "serve", "--store", str(store), "--port", port]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        try:
            assert server.stdout is not None
            server.stdout.readline()  # its address, once it listens
            with open_chrome(store.parent / f"{store.name}-profile") as chrome:
                draw_it(chrome, f"http://127.0.0.1:{port}")
        finally:
            server.terminate()


def main() -> None:
    """Build the sample, serve it, and draw; then the same with the names in its texts."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with Engine.create(folder / "store") as engine:
            engine.build([pages_folder()])
            build_named(folder, engine)
        serve(folder / "store", draw)
        serve(folder / "named", draw_names)


if __name__ == "__main__":
    main()
