"""Anchors: however a program names a heading, links find it."""

from __future__ import annotations

import pytest

from trivium.graph.link_fragments import anchor_key, anchor_of, section_anchors
from trivium.types import Section


def anchors(*headings: str | tuple[str, str]) -> list[tuple[str, ...]]:
    """Of headings, some with a name of their own."""
    given = [(each, "") if isinstance(each, str) else each for each in headings]
    return section_anchors([Section(text, 1, None, anchors=(name,) if name else ()) for text, name in given])


@pytest.mark.parametrize(
    ("heading", "links"),
    [
        (
            "What's new in v1.2?",
            ("whats-new-in-v12", "what-s-new-in-v1-2", "What's new in v1.2?", "whats_new_in_v1.2"),
        ),
        ("Cert & Keys – how", ("cert--keys--how", "cert-keys-how")),
        ("Für alle", ("f%C3%BCr-alle", "für-alle", "fur-alle")),
        ("日本語 の見出し", ("日本語-の見出し", "%E6%97%A5%E6%9C%AC%E8%AA%9E-の見出し")),
    ],
)
def test_slugs_of_all_programs_mean_the_heading(heading: str, links: tuple[str, ...]) -> None:
    [[key]] = anchors(heading)
    assert {anchor_of(f"a.md#{link}") for link in links} == {key}


@pytest.mark.parametrize(
    "address",
    ["a.md", "a.md#", "[[Page]]", "[[Page#^block]]", "a.html#:~:text=some%20words", "a.md#--", "#\ud800"],
)
def test_what_names_no_section_has_no_anchor(address: str) -> None:
    assert anchor_of(address) == ""


def test_a_heading_that_comes_again_has_a_number() -> None:
    """As on GitHub, also where another heading has taken it."""
    assert anchors("Setup", "Setup", "Setup") == [("setup",), ("setup1",), ("setup2",)]
    assert anchors("Setup 1", "Setup", "Setup", "") == [("setup1",), ("setup",), (), ()]


def test_a_name_that_a_document_gives_goes_before_headings() -> None:
    assert anchors("Linux", ("Other", "linux")) == [(), ("linux", "other")]
    assert anchors(("One", "x"), ("Two", "x")) == [("x", "one"), ("two",)]


def test_hostile_anchors_are_cut() -> None:
    assert len(anchor_key("%41" * 1_000_000)) <= 200
    assert len(anchor_key("\ufdfa" * 10_000)) <= 200  # one sign that becomes eighteen
