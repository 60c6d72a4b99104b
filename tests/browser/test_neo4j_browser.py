"""What the guide says about Neo4j Browser is true of the real one. The tests follow a first visit, in order.

With TRIVIUM_SCREENSHOTS=1 the pictures of the guide are taken anew.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from neo4j import GraphDatabase

from tests.browser.neo4j_browser import Neo4jBrowser
from tests.guide import GUIDE, STYLE, guide_query
from tests.neo4j_servers import Server
from trivium.graph.neo4j.browser_guide import Exploration

PICTURES = {2: "mars.png", 3: "outline.png", 15: "two-steps.png"}
"""Number of a query in the guide -> the picture of what it draws."""


def test_the_address_of_explore_leads_to_a_form_that_lacks_only_the_password(
    browser: Neo4jBrowser, exploration: Exploration, sample_server: Server
) -> None:
    """Server and user are filled in, the password is not part of the address."""
    assert sample_server.password not in exploration.browser
    browser.open(exploration.browser)
    assert browser.form() == {
        "boltaddress": urlsplit(sample_server.bolt).netloc,
        "username": sample_server.user,
        "password": "",
    }
    browser.log_in(sample_server.password)


def test_the_setting_that_keeps_trees_trees(browser: Neo4jBrowser) -> None:
    """The command in the guide turns the adding of relationships off."""
    found = re.search(r"`(:config [^`]+)`", GUIDE.read_text("utf-8"))
    assert found is not None
    assert browser.comes_to_remember("settings", lambda kept: kept["autoComplete"] is True)
    browser.run(found[1])
    assert browser.comes_to_remember("settings", lambda kept: kept["autoComplete"] is False)


def test_the_style_is_taken_when_its_file_is_dropped(browser: Neo4jBrowser) -> None:
    """Every rule of the file arrives, with its properties."""
    browser.drop(STYLE)
    assert browser.comes_to_remember("grass", lambda kept: kept == rules(STYLE))


def test_the_style_is_taken_as_a_command(browser: Neo4jBrowser) -> None:
    """Pasted after ``:style``, it is the same."""
    browser.run(":style reset")
    assert browser.comes_to_remember("grass", lambda kept: kept != rules(STYLE))
    browser.run(":style " + STYLE.read_text("utf-8"))
    assert browser.comes_to_remember("grass", lambda kept: kept == rules(STYLE))


@pytest.mark.parametrize("number", PICTURES)
def test_queries_of_the_guide_are_drawn_in_style(
    browser: Neo4jBrowser, sample_server: Server, tmp_path: Path, number: int
) -> None:
    """Every node and relationship that the query returns is drawn, in the colour of its label; the legend counts."""
    query = guide_query(number)
    with GraphDatabase.driver(sample_server.bolt, auth=sample_server.auth) as driver:
        graph = driver.execute_query(query.cypher, result_transformer_=lambda result: result.graph())
    labels = Counter(label for node in graph.nodes for label in node.labels)
    types = Counter(edge.type for edge in graph.relationships)
    # A rule further down wins, and a page is an entity as well.
    colours = [
        colour(next(label for label in ("Page", "Entity", "SubChapter", "Chunk") if label in node.labels))
        for node in graph.nodes
    ]
    with browser.drawn(query.cypher) as drawing:
        browser.screenshot(folder_for_pictures(tmp_path) / PICTURES[number])
        assert drawing.relationships == len(graph.relationships)
        assert drawing.legend == labels | types
        assert sorted(node.colour for node in drawing.nodes) == sorted(colours)
        assert all(node.caption.strip() for node in drawing.nodes)


def rules(style: Path) -> dict[str, dict[str, str]]:
    """A style file, read with two expressions: it has neither comments nor nesting."""
    return {
        selector: dict(re.findall(r"([\w-]+): '?([^;']+)'?;", block))
        for selector, block in re.findall(r"([\w.]+) \{\n(.*?)\n\}", style.read_text("utf-8"), re.DOTALL)
    }


def colour(label: str) -> str:
    """The colour of a label's nodes, as the web browser writes it."""
    red, green, blue = bytes.fromhex(rules(STYLE)[f"node.{label}"]["color"].removeprefix("#"))
    return f"rgb({red}, {green}, {blue})"


def folder_for_pictures(otherwise: Path) -> Path:
    """Where screenshots go."""
    return STYLE.parent if os.environ.get("TRIVIUM_SCREENSHOTS") == "1" else otherwise
