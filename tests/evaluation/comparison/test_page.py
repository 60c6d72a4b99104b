"""The page that compares two runs, as text."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence

from bs4 import BeautifulSoup

from trivium.datasets.gold import Gold
from trivium.evaluation.comparison.page import Setting, Side, comparison_page

HOSTILE = "<script>alert(1)</script><img src=https://example.org/x onerror=alert(2)>\"' </style>&amp;"


def ranking(*uris: str) -> list[tuple[str, float]]:
    return [(uri, 1.0 / n) for n, uri in enumerate(uris, start=1)]


def page(most: int = 500) -> BeautifulSoup:
    """Question a: vector has the gold 3rd, mix 1st; b: not found by either; everything hostile that can be."""
    gold = {"a": Gold.of([["Mars#Moons#chunk-1"]]), "b": Gold.of([[f"{HOSTILE}#chunk-1"]])}
    vector = {"a": ranking("Io#chunk-1", "Venus#chunk-1", "Mars#Moons#chunk-1"), "b": ranking("Io#chunk-1")}
    lexical = {"a": ranking("Mars#Moons#chunk-1"), "b": []}
    mix = {"a": ranking("Mars#Moons#chunk-1", "Io#chunk-1"), "b": ranking("Io#chunk-1")}

    def explain(question: str, chunks: Sequence[str]) -> Mapping[str, Mapping[str, float]]:
        known = {
            "Mars#Moons#chunk-1": {"vector": 0.1, "lexical": 0.9},
            "Io#chunk-1": {"vector": 0.4, "lexical": 0.2},
        }
        return {uri: known[uri] for uri in chunks if uri in known}

    setting = Setting(
        gold,
        {"a": HOSTILE, "b": "plain?"},
        {"vector": vector, "lexical": lexical},
        [HOSTILE, "two questions"],
    )
    text = comparison_page(
        Side(HOSTILE, vector),
        Side("mix", mix, explain),
        setting,
        lambda uris: {uri: f"{HOSTILE} of {uri}" for uri in uris},
        most,
    )
    return BeautifulSoup(text, "html.parser")


def test_hostile_text_is_text() -> None:
    """One script and one style, ours; no element that loads anything; the question is shown as it was written."""
    found = page()
    assert len(found.find_all("script")) == len(found.find_all("style")) == 1
    assert not found.find_all(["img", "link", "iframe", "object", "embed", "a", "base"])
    assert not [tag for tag in found.find_all(True) if {"src", "href", "style"} & tag.attrs.keys()]
    assert not [name for tag in found.find_all(True) for name in tag.attrs if name.startswith("on")]
    assert HOSTILE in [tag.get_text() for tag in found.select(".question")]


def test_the_policy_allows_the_one_script_and_the_one_style() -> None:
    found = page()
    policy = found.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"]
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    for tag in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(found.find(tag).string.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_a_question_shows_ranks_top_three_gold_and_why() -> None:
    first = page().select("#list > li")[0]
    assert first["data-verdict"] == "won"
    assert [tag.get_text() for tag in first.select(".ranks b")] == ["3", "1"]
    left, right = first.select(".runs > div")
    assert [tag.get_text() for tag in left.select(".passage > b")] == ["Io", "Venus", "Mars › Moons"]
    assert [tag.get_text() for tag in right.select(".is-gold > b")] == ["Mars › Moons"]
    rows = [[cell.get_text() for cell in row.select("th, td")] for row in first.select(".views tbody tr")]
    assert rows == [
        ["lexical", "1", "–", "+0.90", "+0.20", "+0.70", ""],
        ["vector", "3", "1", "+0.10", "+0.40", "-0.30", ""],
    ]


def test_gold_that_nobody_ranked_is_shown_beside() -> None:
    second = page().select("#list > li")[1]
    assert second["data-verdict"] == "tied"
    assert "the gold was no candidate" in second.select_one(".views caption").get_text()
    assert second.select(".is-gold")[-1].select_one("b").get_text() == HOSTILE


def test_a_page_may_hold_only_the_largest_differences() -> None:
    """The totals are still over all questions, and the page says what it leaves out."""
    found = page(most=1)
    assert len(found.select("#list > li")) == 1
    assert "Shown are 1 of 2, those with the largest differences." in found.get_text()
    assert found.select_one("#totals").get_text() == "All 2 questions"
