"""An identifier that stands in one passage only decides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parser.documents.office_xml import paragraph, run, word
from trivium.engine import Engine
from trivium.text.identifiers import identifiers_of
from trivium.text.languages import IN_ENGLISH

_CODES = {
    "version": [f"{n % 5 + 1}.{n % 7}.{n}" for n in range(12)],
    "part": [f"KX-{1200 + 7 * n}/{n % 3}" for n in range(12)],
    "date": [f"2023-0{n % 9 + 1}-{10 + n}" for n in range(12)],
    "MAC": [f"0A:1B:2C:3D:4E:{10 + n}" for n in range(12)],
    "CAS": [f"77{n:02}-18-5" for n in range(12)],
    "address": [f"10.0.3.{n + 20}" for n in range(12)],
    "fault": [f"E{n + 3}" for n in range(12)],
    "release": [f"{n % 3 + 5}.{n + 2}" for n in range(12)],
    "ticket": [f"#{3100 + 17 * n}" for n in range(12)],
    "paragraph": [f"§ {n + 41}b" for n in range(12)],
    "mail": [
        f"{name}.dock@quay.example"
        for name in ["ada", "bob", "cem", "dov", "eli", "fay", "gus", "hal", "ida", "jon", "kai", "lea"]
    ],
    "phone": [f"+49 {301 + n} 88{n + 10} 5{n + 20}" for n in range(12)],
    "constant": [
        f"ERR_{name}_LATE"
        for name in [
            "BELT",
            "CORE",
            "DISK",
            "FUSE",
            "GEAR",
            "HOOK",
            "LAMP",
            "MAST",
            "PUMP",
            "RAIL",
            "SEAL",
            "TANK",
        ]
    ],
    "station": [f"{first}QX-TVL" for first in "ABCDEFGHJKLM"],
    "folder": [
        f"/srv/{name}/main.conf"
        for name in ["ash", "bay", "elm", "fir", "ivy", "oak", "may", "rye", "sun", "tea", "vet", "yew"]
    ],
    "spaced": [f"ZR {2001 + n}" for n in range(12)],
}


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A card for every code, all about the same things."""
    folder: Path = tmp_path_factory.mktemp("cards")
    things = ("pump", "crane", "oven", "press")
    rows = [
        {"title": f"{kind} {n}", "text": f"{code}: The {things[n % 4]} stops with an error. Call the fitter."}
        for kind, codes in _CODES.items()
        for n, code in enumerate(codes)
    ]
    (folder / "cards.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with Engine.create(folder / "store", "minilm") as engine:
        engine.build([folder / "cards.jsonl"], workers=1)
        yield engine


@pytest.mark.parametrize("kind", list(_CODES))
@pytest.mark.parametrize(
    "template", ["{}", "error {}", "What does {} mean?", "How do I repair {} on the crane?"]
)
def test_its_passage_is_first_and_explained(cards: Engine, kind: str, template: str) -> None:
    """Whatever words stand beside it: the first, one in the middle, one of the last."""
    for number, code in list(enumerate(_CODES[kind]))[::4]:
        best = cards.search(template.format(code), 2, explain=True)
        assert best[0].page == f"{kind} {number}"
        assert best[0].score >= best[1].score
        assert best[0].baseline + sum(best[0].contributions.values()) == pytest.approx(
            best[0].score, abs=1e-4
        )


def test_it_is_answered(cards: Engine) -> None:
    """From its own passage, also where others say more of the other words; never with "Not in the collection."."""
    for codes in _CODES.values():
        assert codes[3] in cards.ask(f"What does {codes[3]} mean?").text
        answer = cards.ask(f"How do I repair {codes[5]} on the crane?")
        assert codes[5] in answer.text and len(answer.citations) == 1


def test_words_years_and_ordinals_do_not_decide() -> None:
    """Nor do dates in words."""
    plain = "In which year after the 21st of May 1969 did 40 well-known and/or U.S. poets of the 1980s die?"
    assert identifiers_of(plain, IN_ENGLISH) == []


def test_a_version_that_no_passage_has_lifts_none(cards: Engine) -> None:
    """Though its numbers stand in some."""
    asked = identifiers_of("version 5.30", IN_ENGLISH)
    assert not any(identifier.is_in({"5", "30", "version"}) for identifier in asked)
    assert any(identifier.is_in({"5.30"}) for identifier in asked)


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Files with powers and formulas, each in two spellings, among others that have none."""
    village = ("mill", "forge", "dairy", "tannery", "school", "bridge")
    others = [
        {
            "title": f"{place} {n}",
            "text": f"The {place} has {n} rooms and {2 * n} windows, made in {1800 + n}.",
        }
        for n, place in enumerate(village * 10, start=30)
    ]
    files: dict[str, bytes | str] = {
        "nova.html": "<title>Nova</title><p>The nova shone with 4·10<sup>27</sup> lamps.</p>",
        "nova-old.txt": "Old nova\n\nThe nova shone with 4x10^27 lamps, they say.",
        "marsh.md": "# Marsh\n\nIt covers 75 m<sup>2</sup> of the parish.",
        "marsh-old.txt": "Old marsh\n\nIt covers 75 m2 of the parish, they say.",
        "flue.docx": word(
            paragraph(run("The flue draws off NO"), run("2", '<w:vertAlign w:val="subscript"/>'), run("."))
        ),
        "flue-old.txt": "Old flue\n\nThe flue draws off NO2, they say.",
    }
    with Engine.create(tmp_path_factory.mktemp("notes") / "store", "minilm") as engine:
        engine.add_records(others, source="village.jsonl", workers=1)
        engine.add_files(files, workers=1)
        yield engine


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("10^27", "nova"),
        ("10²⁷", "nova"),
        ("m2", "marsh"),
        ("m²", "marsh"),
        ("m^2", "marsh"),
        ("NO2", "flue"),
        ("NO₂", "flue"),
        ("no_2", "flue"),
    ],
)
@pytest.mark.parametrize("retrievers", [None, ["lexical"]])
def test_whoever_types_a_power_or_a_formula_finds_each_spelling(
    notes: Engine, asked: str, name: str, retrievers: list[str] | None
) -> None:
    found = notes.search(asked, 2, **({} if retrievers is None else {"retrievers": retrievers}))
    assert {hit.document[: len(name)] for hit in found} == {name}
