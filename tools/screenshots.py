"""Take the pictures of the web page that README and docs show, on the sample: docs/images/desk.png and phone.png.

    .venv/bin/python tools/screenshots.py

Needs Chromium and its driver, as the tests of the page do.
"""

from __future__ import annotations

import base64
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from selenium.webdriver import Chrome  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

from tests.browser.chrome import dark_mode, open_chrome, soon  # noqa: E402
from trivium.engine import Engine  # noqa: E402
from trivium.sample import pages_folder  # noqa: E402

QUESTION = "Which rover explores Gale crater?"
IMAGES = ROOT / "docs" / "images"


def ask(chrome: Chrome, address: str, width: int, height: int) -> None:
    """The page with an answer, in a window of that size."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    chrome.get("about:blank")
    chrome.get(address)
    soon(lambda: chrome.find_elements(By.CSS_SELECTOR, ".title"), "the list of documents")
    chrome.find_element(By.ID, "question").send_keys(QUESTION, Keys.ENTER)
    soon(lambda: chrome.find_elements(By.CSS_SELECTOR, ".statement"), "the answer")
    soon(lambda: chrome.find_elements(By.CSS_SELECTOR, ".hit .bar"), "the passages")


def save(chrome: Chrome, name: str) -> None:
    """What is seen, when nothing moves any more."""
    soon(lambda: chrome.execute_script("return document.getAnimations().length === 0"))
    picture = chrome.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    (IMAGES / name).write_bytes(base64.b64decode(picture["data"]))


def main() -> None:
    """Build the sample, serve it, ask, open a passage on the desk, and save what is seen."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "store")
        with Engine.create(store) as engine:
            engine.build([pages_folder()])
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        serve = [sys.executable, "-m", "trivium", "serve", "--store", str(store), "--port", port]
        with subprocess.Popen(serve, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            try:
                assert server.stdout is not None
                server.stdout.readline()  # its address, once it listens
                with open_chrome(Path(folder, "profile")) as chrome:
                    dark_mode(chrome, False)
                    ask(chrome, f"http://127.0.0.1:{port}", 1280, 900)
                    first = chrome.find_element(By.CSS_SELECTOR, ".hit .head")
                    chrome.execute_script("arguments[0].click()", first)
                    soon(lambda: chrome.find_elements(By.CSS_SELECTOR, ".hit .contributions tfoot"), "why")
                    save(chrome, "desk.png")
                    dark_mode(chrome, True)
                    ask(chrome, f"http://127.0.0.1:{port}", 390, 844)
                    save(chrome, "phone.png")
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
