"""How hits, their reasons and their places are shown at terminals of some width, and in a pipe."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.resources import files

import pytest
from rich.cells import cell_len
from rich.color import ColorSystem

from trivium.cli.print_hits import MOST_REASONS, print_details, print_hits, print_reasons, reasons, told_place
from trivium.cli.terminal import out
from trivium.common.log_odds import LIKELY, SURE, UNLIKELY
from trivium.types import Hit

Shown = Callable[[Callable[[], None], int | None], list[str]]
TITLES = (
    "Mars",
    "A survey of the moons of the outer planets and of what is known about their oceans",
    "火星の衛星フォボスとダイモスの発見とその名前の由来についての詳細な歴史",
    "Name\nwith \x1b[31mcontrol characters",
)
WHY = {"lexical": 3.0, "vector": 2.5, "path": 2.0, "page": -1.0}
FOUND = {"lexical": "", "vector": "", "path": "Mars -[moons]-> Phobos -[found by]-> Asaph Hall"}


def hits() -> list[Hit]:
    """Ten, of titles and headings short, long, wide and hostile."""
    return [
        Hit(
            uri=f"{TITLES[n % 4]}#chunk-{n}",
            text="Nothing is said of it here. " * 12
            + "Asaph Hall found the moons in 1877.\n"
            + TITLES[2] * 5,
            score=1.5,
            rank=n + 1,
            page=TITLES[n % 4],
            section="#".join((TITLES[n % 4], "History", TITLES[(n + 1) % 4])),
            kind="paragraph",
            start=0,
            end=9,
            contributions=WHY,
            provenance=FOUND,
            baseline=-5.0,
            probability=0.8,
            document="reports/moons.pdf",
            pages=(7,),
        )
        for n in range(10)
    ]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """The lines that are printed at a terminal of so many columns, or, with None, into a pipe."""

    def run(prints: Callable[[], None], width: int | None) -> list[str]:
        written = io.StringIO()
        monkeypatch.setattr(out, "_width", width or 80)
        monkeypatch.setattr(out, "_force_terminal", width is not None)
        monkeypatch.setattr(out, "_color_system", None)
        monkeypatch.setattr(out, "_file", written)
        prints()
        return written.getvalue().splitlines()

    return run


@pytest.mark.parametrize("width", [60, 80, 132])
def test_ten_explained_hits_are_a_line_each_within_the_width(shown: Shown, width: int) -> None:
    """Wide characters take two columns; pages and the strongest reason are never cut away."""
    question, *lines = shown(lambda: print_reasons("Who found them?", hits()), width)
    assert question == "Who found them?" and len(lines) == 10
    assert all(cell_len(line) <= width for line in lines)
    assert all(", p. 7  " in line.replace("p. 7 ", "p. 7  ") and "80 %" in line for line in lines)
    assert all("its words match" in line for line in lines) and not any("\x1b" in line for line in lines)
    assert ("2 links from Mars" in lines[0]) == (width == 132)


def test_passages_are_read_within_the_width_from_where_the_question_is_met(shown: Shown) -> None:
    """At most three lines, from the sentence that has the question's words."""
    lines = shown(lambda: print_hits("Who found the moons?", hits()), 80)
    assert all(cell_len(line) <= 80 for line in lines) and len(lines) <= 1 + 10 * 5
    assert sum("… Asaph Hall found the moons in 1877." in line for line in lines) == 10
    assert sum(line.startswith("    … ") for line in lines) == 10


def test_words_of_the_question_are_bold_at_a_terminal_in_whatever_form(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe has them plain, and no text can add marks of its own."""
    hit = replace(hits()[0], text="Hall discovered [bold]the[/bold] moon; Moons, he said.")
    prints = lambda: print_hits("Who discovered the moons?", [hit])  # noqa: E731
    plain = shown(prints, None)[-1]
    assert plain.strip() == hit.text
    monkeypatch.setenv("TERM", "xterm")
    written = io.StringIO()
    monkeypatch.setattr(out, "_force_terminal", True)
    monkeypatch.setattr(out, "_color_system", ColorSystem.STANDARD)
    monkeypatch.setattr(out, "_file", written)
    prints()
    line = written.getvalue().splitlines()[-1]
    bold = re.findall("\x1b\\[1m(.*?)\x1b\\[0m", line)
    assert bold == ["discovered", "moon;", "Moons,"]
    assert re.sub("\x1b\\[[0-9;]*m", "", line).strip() == hit.text


def test_headings_that_the_place_shows_are_not_repeated_in_the_text(shown: Shown) -> None:
    hit = replace(hits()[0], section="Mars#Moons#Names", text="Moons\n\nNames\n\nFear and Terror.")
    assert shown(lambda: print_hits("Who?", [hit]), 80)[-1] == "    Fear and Terror."
    alone = replace(hit, text="Moons\n\nNames")
    assert shown(lambda: print_hits("Who?", [alone]), None)[-1] == "    Moons / Names"


def test_in_a_pipe_nothing_is_cut(shown: Shown) -> None:
    """Each hit is one whole line when explained, and its text one whole line when read."""
    explained = shown(lambda: print_reasons("Who?", hits()), None)
    assert len(explained) == 11
    assert explained[2] == (
        f" 2  sure  80 %  {TITLES[1]} › History › {TITLES[2]}, p. 7  its words match; near in meaning; 2 links from Mars"
    )
    read = shown(lambda: print_hits("Who?", hits()), None)
    assert len(read) == 1 + 10 * 3
    assert read[3].strip() == hits()[0].text.replace(" \n", "\n").replace("\n", " / ")


@pytest.mark.parametrize("width", [60, 80, None])
def test_details_have_the_whole_text_and_a_bar_for_what_mattered(shown: Shown, width: int | None) -> None:
    """Whatever the width: every word, the address, the whole path; no numbers, and nothing that hardly moved it."""
    hit = replace(hits()[1], contributions={**WHY, "walk": 0.1})
    lines = shown(lambda: print_details(hit, [hit]), width)
    flat = "".join("".join(lines).split())
    for text in (hit.text, hit.uri, hit.document, FOUND["path"], "characters 0 to 9", *WHY):
        assert "".join(text.split()) in flat, text
    bars = [line.split()[:3] for line in lines if "█" in line or "░" in line]
    assert bars == [
        ["lexical", "up", 12 * "█"], ["vector", "up", 10 * "█"], ["path", "up", 8 * "█"], ["page", "down", 4 * "░"]
    ]  # fmt: skip
    assert "sure (80 %)" in lines[0] and "1.5" not in flat and "-5" not in flat
    assert width is None or all(cell_len(line) <= width for line in lines[1:])


def test_words_say_how_likely_a_passage_answers(shown: Shown) -> None:
    """Where several share the answer, they say so, and percentages stand below each other."""
    ten = zip(hits(), (0.26, 0.16, 0.15, 0.04), strict=False)
    few = [replace(hit, probability=probability) for hit, probability in ten]
    lines = shown(lambda: print_reasons("moons", few), None)
    assert [line[4:22] for line in lines[1:]] == [
        "one of these  26 %", "one of these  16 %", "one of these  15 %", "unlikely       4 %"
    ]  # fmt: skip
    assert "one of these (26 %)" in shown(lambda: print_details(few[0], few), None)[0]


def test_reasons_are_those_of_the_page() -> None:
    """Strongest first, at most three, none for what speaks against; the same words as in the web page."""
    assert reasons({**WHY, "walk": 1.9, "page": 0.1}, FOUND) == [
        "its words match", "near in meaning", "2 links from Mars"
    ]  # fmt: skip
    assert reasons({"walk": 1.0, "section": 0.9}, {"section": "Mars#Moons"}) == [
        "links lead to it", "section “Moons” is about this"
    ]  # fmt: skip
    assert reasons({"lexical": -1.0}, {"lexical": ""}) == [] == reasons({}, {})
    assert reasons({"mine": 1.0}, {"mine": ""}) == ["found by mine"]
    page = files("trivium").joinpath("server/page/why.js").read_text("utf-8")
    for name in ("lexical", "vector", "page", "section", "walk", "diffusion", "image"):
        (words,) = reasons({name: 1.0}, {})
        assert f'"{words}"' in page, name
    assert f"const MOST = {MOST_REASONS};" in page
    for name, value in (("SURE", SURE), ("LIKELY", LIKELY), ("UNLIKELY", UNLIKELY)):
        assert f"const {name} = {value};" in page


def cells(texts: Sequence[str]) -> list[int]:
    return [cell_len(text) for text in texts]


def test_a_place_fits_whatever_the_room() -> None:
    """Page numbers stay, and title and last heading share what there is."""
    places = [told_place(hit.section, hit.pages, width) for hit in hits() for width in range(24, 60)]
    assert all(place.endswith(", p. 7") and " › " in place for place in places)
    assert all(width <= room for width, room in zip(cells(places), [*range(24, 60)] * 10, strict=True))


def test_reranked_hits_show_the_scores_that_order_them(shown: Shown) -> None:
    """Not the percentages of the search before; passages that were not reranked follow with theirs."""
    reranked = [replace(hit, rerank_score=9.5 - hit.rank) for hit in hits()[:2]]
    lines = shown(lambda: print_reasons("moons", [*reranked, hits()[2]]), None)
    assert [line.split()[:2] for line in lines[1:]] == [["1", "8.5"], ["2", "7.5"], ["3", "sure"]]
