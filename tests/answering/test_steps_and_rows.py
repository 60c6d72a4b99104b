"""Instructions are answered with all of their steps, in order; conditions over tables with the rows that meet them, and
never with the names of columns."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import docx
import pytest

from tests.answering.table_files import in_excel, in_html, in_word
from tests.answering.world import hit
from tests.retrievers.world import page, store_of
from trivium.answering.passages import passages
from trivium.answering.steps import asks_for_steps, lists_of
from trivium.answering.table_conditions import Reading
from trivium.answering.table_rows import tables_of
from trivium.engine import Engine
from trivium.graph.schema import Hop
from trivium.types import Answer, ChunkKind, Hit

STEPS = [
    "Hang the hive tool on your belt.",
    "Blow smoke into the entrance twice.",
    "Lift the lid from behind.",
    "Take out the second frame.",
    "Look for eggs.",
]
NUMBERED = list(enumerate(STEPS, start=1))
MARKED = "".join(f"{n}. {step}\n" for n, step in NUMBERED)
ITEMS = "".join(f"<li>{step}</li>" for step in STEPS)
TITLE, HEADING, OTHER = "Beekeeping", "Inspecting a hive", "Bees hum louder before rain."


def word() -> bytes:
    document, saved = docx.Document(), io.BytesIO()
    document.core_properties.title = TITLE
    document.add_heading(HEADING, 1)
    for step in STEPS:
        document.add_paragraph(step, style="List Number")
    document.add_heading("Weather", 1)
    document.add_paragraph(OTHER)
    document.save(saved)
    return saved.getvalue()


GUIDES: Mapping[str, str | bytes] = {
    "bees.md": f"# {TITLE}\n\n## {HEADING}\n\n{MARKED}\n## Weather\n\n{OTHER}\n",
    "bees.html": f"<h1>{TITLE}</h1><h2>{HEADING}</h2><ol>{ITEMS}</ol><h2>Weather</h2><p>{OTHER}",
    "bees.docx": word(),
    "bees.txt": "INSPECTING A HIVE\n\n" + "".join(f"{n}) {step}\n" for n, step in NUMBERED),
    "steps.txt": "INSPECTING A HIVE\n\n" + "".join(f"Step {n}: {step}\n" for n, step in NUMBERED),
    "told.md": f"# {TITLE}\n\n## {HEADING}\n\nFirst blow smoke into the entrance. Then lift the lid. "
    "Look for eggs. Finally close the hive.\n",
}


def ask(files: Mapping[str, str | bytes], question: str, folder: Path) -> Answer:
    with Engine.create(folder / "store", "minilm") as engine:
        engine.add_files(files, workers=1)
        return engine.ask(question)


@pytest.mark.parametrize("name", GUIDES)
def test_how_something_is_done_is_told_in_all_steps_and_their_order(name: str, tmp_path: Path) -> None:
    found = ask({name: GUIDES[name]}, "How do I inspect a hive?", tmp_path)
    wanted = (
        STEPS
        if name != "told.md"
        else ["First blow", "Then lift", "Look for eggs", "Finally close the hive."]
    )
    places = [found.text.find(step) for step in wanted]
    assert found.outcome == "answered" and -1 not in places and places == sorted(places)
    assert OTHER not in found.text
    assert len(found.statements) == len(found.citations) == 1


def test_a_list_goes_on_over_the_borders_of_passages(tmp_path: Path) -> None:
    """Also in passages that were not found: they are added behind those that were, with numbers of their own."""
    long = [f"Turn knob {n} until the {'very ' * 40}small lamp {n} is lit." for n in range(1, 61)]
    items = "".join(f"<li>{step}</li>" for step in long)
    html = f"<h1>Organ</h1><h2>Tuning the organ</h2><p>Proceed so:</p><ol>{items}</ol>"
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.add_files({"organ.html": html}, workers=1)
        parts = engine.store.expand(["Organ#Tuning the organ"], Hop.CHILD)["Organ#Tuning the organ"]
        assert len(parts) > 4
        found = engine.ask("How do I tune the organ?", k=2)
    assert len(found.passages) > 2 and [hit.rank for hit in found.passages] == list(
        range(1, len(found.passages) + 1)
    )
    numbers = [int(line.split(".")[0]) for line in found.text.splitlines() if line[:1].isdigit()]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) and len(numbers) > 20
    assert len(found.statements) == len(found.citations) > 2


def test_a_list_about_something_else_is_no_instruction(tmp_path: Path) -> None:
    found = ask({"bees.md": GUIDES["bees.md"]}, "How do I repaint a hive stand with lacquer?", tmp_path)
    assert found.outcome != "answered"


def test_questions_that_ask_how_something_is_done() -> None:
    assert all(
        map(
            asks_for_steps,
            [
                "How do I start it?",
                "and how can we stop it",
                "How to open a hive",
                "What should I do when it rains?",
                "Please tell me how to start",
                "Tell me how a trader leaves",
                "What are the steps to open it?",
                "How is the lid lifted?",
            ],
        )
    )
    assert not any(
        map(
            asks_for_steps,
            ["How many are there?", "What does it cost?", "Who did it?", "", "how", "What do they eat?"],
        )
    )


def of(text: str, kind: str = "paragraph") -> list[tuple[int, int, str]]:
    (passage,) = passages([Hit("a", text, 1.0, 1, "Page", "Page", kind, 0, len(text))])
    return [(steps.first, steps.last, steps.text) for steps in lists_of(passage)]


def test_lists_are_runs_of_numbers_letters_or_bullets() -> None:
    assert of("Do:\n1. A\n  a) x\n  b) y\n2. B\nEnd.") == [(1, 2, "Do:\n1. A\n  a) x\n  b) y\n2. B")]
    assert of("1. A\n2. B.\n\n1. C\n2. D") == [(1, 2, "1. A\n2. B."), (1, 2, "1. C\n2. D")]
    assert of("It ends by\n(a) notice\n(b) death") == [(1, 2, "It ends by\n(a) notice\n(b) death")]
    assert of("Alone:\n1. A") == [] and of("2.1 A clause.\n2.2 Another.") == []
    assert of("• A\n• B\nText.\n• C\n• D") == [(0, 0, "• A\n• B"), (0, 0, "• C\n• D")]
    assert of("oak\nash", "list") == [(0, 0, "oak\nash")] and of("1. A; x\n2. B; y", "table") == []
    assert of("1.: A; x\n2.: B", "table") == [(1, 2, "1.: A; x\n2.: B")]
    assert of("1.1 It is.\n1.2 Bring:\n  oak\n  ash\n1.3 End.\nWe have:\nelm;\nyew.\n\nNo.") == [
        (0, 0, "1.2 Bring:\n  oak\n  ash"),
        (0, 0, "We have:\nelm;\nyew."),
    ]
    told = "8.3 First call. Then wait. Call again. Finally go."
    assert of(f"8.2 It was then.\n\n{told}\n\n8.4 Now it is.") == [(0, 0, told)]
    assert of("To mend it, stop. It is hot. Then wait.") == [
        (0, 0, "To mend it, stop. It is hot. Then wait.")
    ]


CHEESES = [
    ("Cheese", "Milk", "Price", "Age (months)", "On sale"),
    ("Orva", "cow", "14.20", "6", "yes"),
    ("Tessel", "goat", "19.90", "3", "no"),
    ("Brim", "cow", "9.50", "12", "yes"),
    ("Kell", "sheep", "22.00", "9", "no"),
]


MARKDOWN = "\n".join(f"| {' | '.join(row)} |" for row in (CHEESES[0], ["---"] * 5, *CHEESES[1:]))
TABLES: Mapping[str, str | bytes] = {
    "cheese.csv": "\n".join(map(",".join, CHEESES)),
    "cheese.md": f"# Cheeses\n\n{MARKDOWN}",
    "cheese.html": in_html("Cheeses", CHEESES),
    "cheese.xlsx": in_excel(
        [[float(cell) if cell[:1].isdigit() else cell for cell in row] for row in CHEESES]
    ),
    "cheese.docx": in_word("Cheeses", CHEESES),
}
CONDITIONS = {
    "Which cheeses are not on sale?": {"Tessel", "Kell"},
    "Which cheeses are on sale?": {"Orva", "Brim"},
    "Which cheeses are without a sale?": {"Tessel", "Kell"},
    "Which cheese is the cheapest?": {"Brim"},
    "What is the most expensive cheese?": {"Kell"},
    "Which cheese has the highest age?": {"Brim"},
    "Which cheese of cow milk is the most expensive?": {"Orva"},
    "Which cheese that is not on sale is the cheapest?": {"Tessel"},
    "Which is the cheapest cheese with an age over 6 months?": {"Brim"},
    "Which cheeses are made of cow milk?": {"Orva", "Brim"},
    "Which cheese is the saltiest?": None,
}


@pytest.mark.parametrize("name", TABLES)
def test_rows_are_chosen_by_conditions_over_their_cells(name: str, tmp_path: Path) -> None:
    """Where a word of the question is nowhere, it is not certain what is asked, and nothing is chosen by a condition."""
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.add_files({name: TABLES[name]}, workers=1)
        for question, wanted in CONDITIONS.items():
            found = engine.ask(question)
            assert "Cheese | Milk" not in (found.text if found.outcome == "answered" else ""), question
            if wanted is not None:
                named = {row[0] for row in CHEESES[1:] if row[0] in found.text}
                assert (found.outcome, named) == ("answered", wanted), question


@pytest.mark.parametrize(
    ("question", "points"),
    [
        ("Which points get the Ferrol spray right now?", ["G1", "G3"]),
        ("Which of the points are under Ferrol spray?", ["G1", "G3"]),
        ("Which points of the plan had the most leaks?", ["G2"]),
        ("Which points with Ferrol spray have a cover?", []),
        ("Which points for children have Ferrol spray?", []),
    ],
)
def test_what_is_done_with_rows_needs_no_column(question: str, points: list[str]) -> None:
    """What they are or have does. A number that is missing is not the highest."""
    lines = [
        "Point: G1; Lubricant: Ferrol spray; Leaks: 2",
        "Point: G2; Lubricant: Ferrol paste; Leaks: 7",
        "Point: G3; Lubricant: Ferrol spray; Leaks: –",
    ]
    store = store_of([page("Plan", lead=[("\n".join(lines), [])])], {})
    (table,) = tables_of(passages([replace(hit(store, "Plan#chunk-1", 1), kind=ChunkKind.TABLE)]))
    reading = Reading.of(question, table)
    rows = reading.rows(question, chosen_only=True) or []
    named = [row.cells[0][1] for row in rows]
    assert (named if reading.is_explained(chosen_only=True) else []) == points


@pytest.mark.parametrize(
    ("question", "walks"),
    [
        ("Which walks are in March?", ["Fen", "Moor"]),
        ("Which walks are in March 2026?", ["Fen"]),
        ("Which walks are on 14 March?", ["Fen"]),
        ("Which walks of 2 hours are in March?", ["Moor"]),
        ("Which walks are before 14 March 2026?", ["Heath"]),
        ("Which walks are after March 2026?", ["Moor"]),
        ("Which walks are in June?", []),
        ("Which walks are valid from March 2026?", ["Heath", "Fen", "Moor"]),
        ("Which walks are valid in March 2026?", []),
        ("Which huts are in March?", []),
    ],
)
def test_rows_are_chosen_by_the_month_or_the_day_of_their_only_date(question: str, walks: list[str]) -> None:
    """The day from which a row is valid is not its day."""
    lines = [
        "Walk: Heath; On: 2026-02-28; Hours: 3; Valid from: 2026-03-01",
        "Walk: Fen; On: Sat, 14 March 2026; Hours: 4; Valid from: 2026-03-01",
        "Walk: Moor; On: 02.03.2027; Hours: 2; Valid from: 2026-06-01",
    ]
    store = store_of([page("Walks", lead=[("\n".join(lines), [])])], {})
    (table,) = tables_of(passages([replace(hit(store, "Walks#chunk-1", 1), kind=ChunkKind.TABLE)]))
    reading = Reading.of(question, table)
    rows = reading.rows(question, chosen_only=True) or []
    assert [row.cells[0][1] for row in rows if reading.is_explained(chosen_only=True)] == walks


@pytest.mark.parametrize(
    ("question", "rooms"),
    [
        ("Which rooms are free of charge?", ["Box"]),
        ("Which rooms cost nothing?", ["Box"]),
        ("Which rooms are free on Monday?", []),
        ("What is the biggest room?", ["Hall"]),
        ("Which rooms need no key?", ["Box", "Den"]),
        ("Which rooms are under repair?", ["Den"]),
        ("Which rooms are under car repair?", []),
        ("Which rooms don't need a key?", ["Box", "Den"]),
    ],
)
def test_no_price_no_cell_and_the_most_seats_choose_rows(question: str, rooms: list[str]) -> None:
    """What is free for others has a price. A word behind one that no row has is another thing than in the cells."""
    lines = [
        "Room: Hall; Seats: 90; Price per hour: 60, day: 340; Key: at the desk; State: open",
        "Room: Box; Seats: 2; Price per hour: 0, day: 0; Key: none; State: open",
        "Room: Den; Seats: 9; Price per hour: 0, day: 45; Key: -; State: repair",
    ]
    text = "\n".join(line.replace(", day", "; Price per day") for line in lines)
    store = store_of([page("Rooms", lead=[("A car park is near.", []), (text, [])])], {})
    hits = [
        replace(hit(store, uri, rank), kind=ChunkKind.TABLE)
        for rank, uri in enumerate(sorted(store.chunk_uris()), start=1)
    ]
    (table,) = tables_of(passages(hits))
    reading = Reading.of(question, table)
    rows = reading.rows(question, chosen_only=True) or []
    assert [row.cells[0][1] for row in rows if reading.is_explained(chosen_only=True)] == rooms


@pytest.mark.parametrize(
    ("question", "rows", "expected"),
    [
        ("Which rooms are free of charge?", "Box; Rent: 0; Fee: on request\nRoom: Den; Rent: 0; Fee: 0", []),
        ("What is the largest boat?", "Eel; Length: 9 m; Seats: 4\nBoat: Gull; Length: 7 m; Seats: 6", []),
        (
            "What is the largest boat?",
            "Eel; Length: 9 m; Deck: oak\nBoat: Gull; Length: 7 m; Deck: ash",
            ["Eel"],
        ),
        ("Which walks are in May 2026?", "Fen; On: 4 May\nWalk: Moor; On: 2 March", ["Fen"]),
        ("Which walks are in May 2027?", "Fen; On: 4 May\nWalk: Moor; On: 2 March", []),
        (
            "What draught does the boat have?",
            "Eel; Draught: 4\nBoat: Gull; Draught: none\nBoat: Tern; Draught: none",
            [],
        ),
    ],
)
def test_what_a_table_leaves_open_chooses_no_rows(question: str, rows: str, expected: list[str]) -> None:
    """A price that is no number, which of two sizes is meant, a year that is not above the days, a number among none."""
    first = question.split()[1].removesuffix("s").capitalize() if "Which" in question else "Boat"
    store = store_of([page("Plan 2026", lead=[(f"{first}: {rows}", [])])], {})
    (table,) = tables_of(passages([replace(hit(store, "Plan 2026#chunk-1", 1), kind=ChunkKind.TABLE)]))
    reading = Reading.of(question, table)
    found = reading.rows(question, chosen_only=True) or []
    assert [row.cells[0][1] for row in found if reading.is_explained(chosen_only=True)] == expected


def test_a_row_is_no_answer_to_a_question_with_words_of_heads_alone(tmp_path: Path) -> None:
    found = ask({"cheese.csv": TABLES["cheese.csv"]}, "What is the price of a cheese?", tmp_path)
    assert found.outcome != "answered"


def test_the_extreme_of_a_part_of_a_table_is_not_told(tmp_path: Path) -> None:
    """A table of more passages than are read has rows that nobody compared."""
    rows = "\n".join(f"Pump {n},{n % 97 + 3},{'grey ' * 30}" for n in range(200))
    found = ask({"pumps.csv": f"Pump,Weight,Colour\n{rows}"}, "Which pump is the heaviest?", tmp_path)
    assert found.outcome != "answered"
