"""The documentation as a site: it is built strictly, complete, and loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag

import trivium
from tests.code_blocks import ROOT
from trivium.cli.app import app as command_line
from trivium.server.app import create_app
from trivium.settings.settings import Settings

_LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "object": "data"}
"""Elements that a browser loads by themselves, and where they say what."""
_ELSEWHERE = re.compile(r"(https?:)?//")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site, by the command of ``make docs``."""
    target = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(target)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def article(site: Path, page: str) -> Tag:
    """What a page says, without menu and search."""
    found = BeautifulSoup((site / page).read_text("utf-8"), "lxml").find("article")
    assert isinstance(found, Tag)
    return found


def loaded(html: BeautifulSoup) -> Iterator[str]:
    """What a browser fetches to show a page."""
    for element in html.find_all(True):
        assert isinstance(element, Tag)
        if element.name == "link" and {"stylesheet", "icon", "preload", "preconnect"} & set(
            element.get_attribute_list("rel")
        ):
            yield str(element.get("href"))
        elif (where := _LOADS.get(element.name)) and element.get(where):
            yield str(element[where])


def test_language_models_find_every_page_of_the_menu_as_markdown(site: Path) -> None:
    """llms.txt leads to Markdown beside the pages, with the generated parts of the reference."""
    listed = re.findall(r"^- \[[^\]]+\]\((\S+\.md)\)$", (site / "llms.txt").read_text("utf-8"), re.MULTILINE)
    assert {"quickstart.md", "howto/ask.md", "reference/cli.md", "decisions/README.md"} <= set(listed)
    for path in listed:
        assert (site / path).with_suffix(".html").exists() or path.endswith("README.md")
        assert "<!-- generated" not in (site / path).read_text("utf-8")


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    """No fonts, scripts, pictures or style sheets of other servers, neither in pages nor in style sheets."""
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        html = BeautifulSoup(page.read_text("utf-8"), "lxml")
        fetched = list(loaded(html))
        assert any(address.endswith(".css") for address in fetched) or page.name == "404.html"
        assert not [address for address in fetched if _ELSEWHERE.match(address)], page
        # The theme's script would fetch a library for the one and counts from a server for the other.
        assert not html.select(".mermaid, [data-md-component=source]"), page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", sheet.read_text("utf-8")), sheet


def test_every_command_and_option_is_described(site: Path) -> None:
    """Also those of groups such as ``models``."""
    import typer

    text = article(site, "reference/cli.html").get_text()

    def check(path: str, command: Any) -> None:
        assert path in text
        for child_name, child in getattr(command, "commands", {}).items():
            check(f"{path} {child_name}", child)
        for parameter in command.params:
            if parameter.param_type_name == "option" and not parameter.hidden and path != "trivium":
                assert all(option in text for option in parameter.opts), (path, parameter.opts)

    check("trivium", typer.main.get_command(command_line))
    assert "[bold]" not in text and "\\[" not in text


def test_every_setting_has_its_variable_and_a_meaning(site: Path) -> None:
    """A row each."""
    table = article(site, "reference/settings.html").find("table")
    assert isinstance(table, Tag)
    rows = [[cell.get_text().strip() for cell in row.find_all("td")] for row in table.find_all("tr")[1:]]
    assert [row[0] for row in rows] == list(Settings.model_fields)
    for key, variables, _, meaning in rows:
        assert variables.startswith(f"TRIVIUM_{key.upper()}")
        assert len(meaning) > 10, key


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    """Classes with their docstrings, in which no markup is left."""
    page = article(site, "reference/api.html")
    headings = {heading.get_text().strip("¶\n ").split()[0] for heading in page.find_all("h3")}
    public = {name for name in trivium.__all__ if isinstance(getattr(trivium, name), type)}
    assert public <= headings
    assert {"Retriever", "Fusion", "Embedder", "ChatModel", "Selector"} <= headings
    assert not re.search(r":(meth|class|func|mod|data):", page.get_text())


def test_every_route_of_the_server_is_in_the_reference(sample_store: Path) -> None:
    """And no other; what is for people is not part of the API's description."""
    described = re.findall(r"`(GET|POST|PUT|DELETE) (/[^`]*)`", (ROOT / "docs/reference/http.md").read_text())
    paths = create_app(sample_store).openapi()["paths"]
    served = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert set(described) == served | {("GET", "/"), ("GET", "/docs")}


def test_every_decision_is_listed(site: Path) -> None:
    """By number and title."""
    links = {str(link["href"]) for link in article(site, "decisions/index.html").find_all("a")}
    for file in (ROOT / "docs/decisions").glob("0*.md"):
        assert f"{file.stem}.html" in links


def test_links_to_files_of_the_repository_name_the_file() -> None:
    """The site has no page for them; one that leads nowhere ends the build."""
    hooks = runpy.run_path(str(ROOT / "tools/docs/hooks.py"))
    page = ROOT / "docs/howto/train.md"
    link = hooks["repository_links"]
    assert link("[how](../../experiments/convex)", page) == "how (`experiments/convex`)"
    assert link("[`Makefile`](../../Makefile)", page) == "`Makefile`"
    assert link("[formats](evaluate.md#question-files)", page) == "[formats](evaluate.md#question-files)"
    with pytest.raises(hooks["PluginError"], match="leads to no file"):
        link("[x](../../no-such-folder)", page)
