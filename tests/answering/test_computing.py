"""Counts, totals, averages and places over tables, against answers worked out by hand; and what must not be computed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.answering.table_files import in_excel, in_html, in_word
from tests.fakes.pdf_writer import PdfFile
from trivium.engine import Engine

REPAIRS = [
    ("Repair", "Workshop", "Cost (EUR)", "Year"),
    ("Rudder", "Molen", "410.50", "2023"),
    ("Mast", "Kade", "1,220.00", "2024"),
    ("Keel", "Molen", "89.50", "2024"),
    ("Total", "", "1,720.00", ""),
]
TENTS = [
    ("Tent", "Berths", "Weight", "Awning", "Phone of lender"),
    ("Alk", "2", "1.5 kg", "no", "0611 22334"),
    ("Bever", "4", "6.25 kg", "yes", "0611 22335"),
    ("Das", "6", "9.5 kg", "yes", "0611 22336"),
    ("Eland", "8", "14.75 kg", "no", "0611 22337"),
]
LAMPS = [
    ("Lamp", "Colour", "Price"),
    ("Desk lamp", "red", "€ 25"),
    ("Floor lamp", "blue", "€ 80"),
    ("Night light", "red", "€ 12"),
    ("Torch", "blue", "€ 12"),
]
STAFF = [
    ("Employee", "Department", "Days of leave", "Extension"),
    ("Ilse Brandt", "kitchen", "30", "114"),
    ("Jon Aker", "garden", "26", "115"),
    ("Wim Toft", "kitchen", "28", "116"),
    ("Una Selk", "office", "-", "117"),
]
SHEEP = [("Farm", "Sheep"), ("Orre", "120"), ("Vik", "95"), ("Nes", "310")]
MIXED = [("Rope", "Price"), ("Hemp", "12 EUR"), ("Nylon", "15 USD"), ("Wire", "9 EUR")]
TARIFFS = [
    ("Service", "Unit", "Fee"),
    ("Berth", "per night", "18"),
    ("Storage", "per month", "60"),
    ("Crane", "per lift", "95"),
]
MILLS = [
    ("Mill", "Built", "Sails", "Status", "Guide"),
    ("De Valk", "1743", "4", "under repair", "yes"),
    ("De Roos", "1679", "4", "open", "no"),
    ("De Zwaan", "1884", "6", "under repair", "on Sundays"),
]
FILMS = [
    ("Film", "Hall", "Days", "Length (min)", "Price", "Rating"),
    ("Salt", "1", "Mon-Fri", "112", "8.50", "12"),
    ("Nocturne", "2", "Thu, 20:15", "97", "9.00", "16"),
    ("Bramble", "1", "Sat", "84", "0", "F"),
    ("Orchard", "2", "Fri-Sun", "131", "9.00", "16"),
]
SHOPS = [("Shop", "Open"), ("Baker", "Mon-Sat"), ("Kiosk", "daily"), ("Smith", "Tue, Thu")]
HUTS = [("Hut", "Season"), ("Falk", "May to September"), ("Egge", "1 Dec - 15 March"), ("Rabe", "all year")]
SEEDS = [
    ("Seed", "Sow", "Harvest"),
    ("Leek", "March", "December"),
    ("Kale", "May", "January"),
    ("Bean", "May", "July"),
]

CADETS = [
    ("Name", "Boat licence", "Joined"),
    ("Ada Holm", "A", "2019"),
    ("Bo Kers", "B", "2021"),
    ("Cleo Vind", "A", "2023"),
    ("Dag Rand", "none", "2024"),
]


def in_pdf(rows: list[tuple[str, ...]]) -> bytes:
    file = PdfFile()
    page = file.page()
    for at, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            page.text(60 + 130 * column, 700 - 14 * at, cell)
    return file.data()


def in_csv(rows: list[tuple[str, ...]]) -> str:
    return "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)


FILES: Mapping[str, str | bytes] = {
    "Repairs.csv": in_csv(REPAIRS),
    "Tents.docx": in_word("Tents", TENTS),
    "Lamps.html": in_html("Lamps", LAMPS),
    "Staff.xlsx": in_excel(STAFF),
    "Sheep.pdf": in_pdf(SHEEP),
    "Ropes.csv": in_csv(MIXED),
    "Tariffs.html": in_html("Tariffs", TARIFFS),
    "Mills.docx": in_word("Mills", MILLS),
    "Films.csv": in_csv(FILMS),
    "Shops.html": in_html("Shops", SHOPS),
    "Huts.csv": in_csv(HUTS),
    "Seeds.csv": in_csv(SEEDS),
    "Cadets.xlsx": in_excel(CADETS),
}
COMPUTED = {
    "What do all the repairs cost together?": "1,720.00 in total (added up from 3 of 3 rows)",
    "What do the repairs at Molen cost altogether?": "500.00 in total (added up from 2 of 3 rows)",
    "What does a repair cost on average?": "573.3333 on average (computed from 3 of 3 rows)",
    "How many repairs were there in 2024?": "2 (counted: 2 of 3 rows)",
    "How many repairs cost more than 400 euros?": "2 (counted: 2 of 3 rows)",
    "How many tents have more than 4 berths?": "2 (counted: 2 of 4 rows)",
    "how many tents have at least four berths": "3 (counted: 3 of 4 rows)",
    "How many tents have an awning?": "2 (counted: 2 of 4 rows)",
    "How many tents have no awning?": "2 (counted: 2 of 4 rows)",
    "How many tents have more than 20 berths?": "0 (counted: 0 of 4 rows)",
    "What is the total weight of the tents?": "32.00 kg in total (added up from 4 of 4 rows)",
    "How many tents are heavier than 9 kg?": "2 (counted: 2 of 4 rows)",
    "what do the red lamps cost in total": "€ 37 in total (added up from 2 of 4 rows)",
    "How many lamps are red?": "2 (counted: 2 of 4 rows)",
    "How many employees work in the kitchen?": None,
    "How many employees of the kitchen are there?": "2 (counted: 2 of 4 rows)",
    "What is the average number of days of leave of the employees?": "28 on average (computed from 3 of 4 rows)",
    "How many sheep are there altogether on all farms?": "525 in total (added up from 3 of 3 rows)",
    "How many mills were built before 1700?": "1 (counted: 1 of 3 rows)",
    "How many cadets hold an A licence?": "2 (counted: 2 of 4 rows)",
    "How many cadets have licence A?": "2 (counted: 2 of 4 rows)",
    "How many cadets hold a B licence?": "1 (counted: 1 of 4 rows)",
    "How many cadets hold a licence for boats?": None,
    "How many films are shown on Thursdays?": "2 (counted: 2 of 4 rows)",
}
"""Questions, and how the value that is computed begins or reads; None where a word ("work") is not in the table."""
ROWS = {
    "Which tents have more than 4 berths?": {"Das", "Eland"},
    "Which tents are heavier than 5 kg?": {"Bever", "Das", "Eland"},
    "What is the second most expensive repair?": {"Rudder"},
    "Which is the most expensive repair?": {"Mast"},
    "Which are the two lightest tents?": {"Alk", "Bever"},
    "Which farm has the second most sheep?": {"Orre"},
    "Which is the heaviest tent with 4 berths?": {"Bever"},
    "What is the third oldest mill?": {"De Zwaan"},
    "Which mills are being repaired?": {"De Valk", "De Zwaan"},
    "Which mills need no guide?": {"De Roos"},
    "Which tents must not be lent without an awning?": {"Bever", "Das"},
    "Which films are shown on Saturday?": {"Bramble", "Orchard"},
    "Which films can I see on weekdays?": {"Salt", "Nocturne", "Orchard"},
    "Which films are not shown at the weekend?": {"Salt", "Nocturne"},
    "Which films are longer than 2 hours?": {"Orchard"},
    "Which films are free?": {"Bramble"},
    "Which shops are open on Sundays?": {"Kiosk"},
    "Which huts are open in August?": {"Falk", "Rabe"},
    "Which huts can be visited in January?": {"Egge", "Rabe"},
    "Which seeds are sown in May?": {"Kale", "Bean"},
    "Which cadets hold an A licence?": {"Ada Holm", "Cleo Vind"},
    "Which cadets joined after 2020 and have licence A?": {"Cleo Vind"},
    "Which cadets have no licence?": {"Dag Rand"},
    "Which tents have an awning and how much do they weigh?": {"Bever", "Das"},
}
NOT_COMPUTED = [
    "What do all the ropes cost together?",  # two currencies
    "What do all the services cost together?",  # by night, month and lift
    "What is the total of the phones of the lenders of the tents?",
    "What is the sum of the extensions of the employees?",
    "In which year were the mills built on average?",
    "What is the average height of the mills?",  # no such column
    "What do all the tents cost together?",
    "How many sails does De Valk have?",  # a cell says so
    "How many repairs were there in 1999 at Molen in room 7?",
    "How many mills have more than 3 millers?",
    "Which tents have more than 4 windows?",
    "How many lamps cost 12 euros or more?",
    "How many tents have 4 berths or an awning?",
    "How many repairs were there in 2023 and in 2024?",
    "How many lamps are red and not blue?",
    "How many more lamps are red than blue?",
    "How many lamps cost the most?",
    "Which lamps cost less than average?",
    "What does the price mean for lamps?",
    "Where is the total price of the lamps?",
    "How many tents have more than 4 berths? Which are they?",
    "What do the repairs at Molen cost together? And at Kade?",
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory):
    with Engine.create(tmp_path_factory.mktemp("tables") / "store", "minilm") as opened:
        opened.add_files(FILES, workers=1)
        yield opened


@pytest.mark.parametrize("question", COMPUTED)
def test_a_value_is_computed_from_the_rows_that_are_shown_and_cited(engine: Engine, question: str) -> None:
    found, wanted = engine.ask(question), COMPUTED[question]
    if wanted is None:
        assert found.form != "computed"
        return
    assert found.form == "computed" and wanted in found.text.splitlines()[0], found.text
    shown = [found.passages[part.number - 1].text[part.start : part.end] for part in found.parts]
    assert all(" ".join(row.split()) in found.text and "Total" not in row for row in shown)
    assert {one.how for one in found.statements[0].attribution} - {"graph"} == {"computed"}
    assert all("computed" not in {one.how for one in row.attribution} for row in found.statements[1:])


@pytest.mark.parametrize("question", ROWS)
def test_places_and_numbers_choose_rows(engine: Engine, question: str) -> None:
    found = engine.ask(question)
    every = {
        row[0]
        for table in (REPAIRS, TENTS, SHEEP, MILLS, FILMS, SHOPS, HUTS, SEEDS, CADETS)
        for row in table[1:]
    }
    assert found.outcome == "answered"
    assert {name for name in every if f": {name};" in found.text or f"{name};" in found.text} == ROWS[
        question
    ]


@pytest.mark.parametrize("asked", ["closed on Sundays", "open on Mondays and Sundays"])
def test_weekdays_that_are_not_certain_choose_no_rows(engine: Engine, asked: str) -> None:
    """A column says when shops are open; two weekdays may be meant together or each."""
    assert engine.ask(f"Which shops are {asked}?").form != "row"


@pytest.mark.parametrize("question", NOT_COMPUTED)
def test_what_is_not_certain_is_not_computed(engine: Engine, question: str) -> None:
    assert engine.ask(question).form != "computed"


def test_part_of_a_table_is_not_counted(tmp_path: Path) -> None:
    rows = "\n".join(f"Pump {n},{n % 97 + 3},{'grey ' * 30}" for n in range(200))
    with Engine.create(tmp_path / "store", "minilm") as opened:
        opened.add_files({"pumps.csv": f"Pump,Weight,Colour\n{rows}"}, workers=1)
        found = opened.ask("How many pumps have a weight over 50?")
    assert found.form != "computed" and found.outcome != "answered"


def test_rows_are_shown_if_what_is_asked_for_is_in_them_but_not_certain(engine: Engine) -> None:
    """Counting and adding up is left to the reader; what no table has is not in the collection."""
    shown = engine.ask("What do all the services cost together?")
    row = next(line for line in shown.text.splitlines() if "Unit: per month; Fee: 60" in line)
    assert shown.form == "closest" and row.count("Fee: ") == 1, "a line for each row"
    assert engine.ask("How many people live in Paris altogether?").outcome == "absent"


@pytest.mark.parametrize("asked", ["must save in the coming year", "get less money in 2026 than in 2025"])
def test_the_rows_that_a_question_may_select_are_shown(asked: str, tmp_path: Path) -> None:
    """A table of them is no proof that there are none; without one they are not in the collection."""
    budget = "Department,2025,2026\nFiction,31000,33500\nMusic,12000,9500\nMaps,3200,3200"
    files = {"budget.csv": budget, "cats.md": "# Cats\n\nCats sleep most of the day.\n"}
    with Engine.create(tmp_path / "store", "minilm") as opened:
        opened.add_files(files, workers=1)
        found, other = (opened.ask(f"Which {rows} {asked}?") for rows in ("departments", "animals"))
    assert found.outcome == "closest" and "Department: Music; 2025: 12000; 2026: 9500" in found.text
    assert other.outcome == "absent"


@pytest.mark.parametrize(
    ("table", "question"),
    [
        ("Barn,Rent\nRed,€ 1.500\nLow,€ 2.000\nOld,€ 950", "What do all the barns cost together?"),
        (
            'Barn,Weight\nRed,"0,250 kg"\nLow,"1,5 kg"\nOld,"2,75 kg"',
            "What is the total weight of the barns?",
        ),
        (
            "Tool,Maker,Price\nSaw,A,€ 10\n,B,€ 12\nDrill,A,€ 20\nVice,C,€ 5",
            "What do all the tools cost together?",
        ),
        ("Boat,Cost\nAlk,10\nAlk,20\nDas,30", "How many boats are there?"),
        ("Poll,Share\nMay,30 %\nJune,40 %\nJuly,50 %", "What is the total share of the polls?"),
    ],
)
def test_tables_that_can_be_read_in_two_ways_are_not_computed(
    tmp_path: Path, table: str, question: str
) -> None:
    """Thousands or decimals; a cell that holds for two rows; one thing in two rows; shares."""
    with Engine.create(tmp_path / "store", "minilm") as opened:
        opened.add_files({"table.csv": table}, workers=1)
        assert opened.ask(question).form != "computed"
