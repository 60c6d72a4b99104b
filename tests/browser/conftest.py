"""The sample, open in Neo4j Browser; a browser, and a small store for the page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from tests.browser.chrome import open_chrome
from tests.browser.neo4j_browser import CHROMIUM, DRIVER, Neo4jBrowser, neo4j_browser
from tests.browser.thread import HOSTILE
from tests.neo4j_servers import Server, log_in
from tests.sample_graph import fill_with_sample
from trivium.engine import Engine
from trivium.graph.neo4j.browser_guide import Exploration, explore
from trivium.sample import pages_folder

PAGES = ("Mars", "Phobos_(moon)", "Deimos_(moon)", "Asaph_Hall")


@pytest.fixture(scope="module")
def sample_server(neo4j_2026: Server) -> Server:
    """A server that holds the sample."""
    fill_with_sample(neo4j_2026)
    return neo4j_2026


@pytest.fixture(scope="module")
def exploration(sample_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exploration]:
    """Where ``trivium explore`` says to go."""
    with pytest.MonkeyPatch.context() as patch:
        log_in(patch, sample_server)
        patch.setenv("TRIVIUM_HOME", str(tmp_path_factory.mktemp("home")))
        yield explore(sample_server.bolt)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jBrowser]:
    """One browser for all tests of a module, with an empty profile."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("chromium and chromedriver are not installed")
    with neo4j_browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """One browser for all tests of a module."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("chromium and chromedriver are not installed")
    with open_chrome(tmp_path_factory.mktemp("chrome")) as browser:
        yield browser


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four pages of the sample, and one that means harm."""
    folder = tmp_path_factory.mktemp("page")
    records = folder / "records.jsonl"
    records.write_text(json.dumps({"title": HOSTILE, "text": f"A moon of Mars. {HOSTILE}"}) + "\n")
    with Engine.create(folder / "store", "minilm") as engine:
        engine.build([*(pages_folder() / f"{name}.html" for name in PAGES), records])
    return folder / "store"
