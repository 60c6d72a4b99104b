"""Which rows of CSV files and sheets name the columns: also years, dates and numbers do."""

from __future__ import annotations

import docx
import pytest

from tests.parser.documents.files import read, saved, texts, workbook


def lines(csv: str) -> list[str]:
    """The lines that a CSV file becomes; rows between ``/``."""
    return read("csv", csv.replace(" / ", "\n").encode()).text.split("\n")


def sheet(rows: list[list[object]], *merged: str) -> list[str]:
    """The lines that a sheet becomes."""
    book = workbook(*rows)
    for cells in merged:
        book.active.merge_cells(cells)
    return [line for _, _, text in texts(read("xlsx", saved(book))) for line in text.split("\n")]


@pytest.mark.parametrize(
    ("csv", "second"),
    [
        ("Country,2019,2020 / Norway,5.3,5.4", "Country: Norway; 2019: 5.3; 2020: 5.4"),
        ("Country,2020,2019 / Norway,5300,54 / Fiji,9,9", "Country: Norway; 2020: 5300; 2019: 54"),
        ("Land;2019;2020 / Norwegen;5,3;5,4", "Land: Norwegen; 2019: 5,3; 2020: 5,4"),
        ("Country,1990,2000,2010 / Oslo,1950,90,n/a", "Country: Oslo; 1990: 1950; 2000: 90; 2010: n/a"),
        (",2019,2020 / Norway,5,6 / Fiji,7,8", "Norway; 2019: 5; 2020: 6"),
        ("Country,Code,2019.0 / Norway,1,5 / Fiji,2,6", "Country: Norway; Code: 1; 2019.0: 5"),
        ("Country,2019 / Norway,5.3 / Fiji,0.9", "Country: Norway; 2019: 5.3"),
        ("Country,2019 / Norway,5300000 / Fiji,900000", "Country: Norway; 2019: 5300000"),
        ("Item,2024-01-01,2024-02-01 / Oil,5,6", "Item: Oil; 2024-01-01: 5; 2024-02-01: 6"),
        ("Stop,08:00,09:00 / Oslo,5,6", "Stop: Oslo; 08:00: 5; 09:00: 6"),
        ("Player,1,2,3,4 / Ann,7,7,9,8 / Ben,1,1,3,1", "Player: Ann; 1: 7; 2: 7; 3: 9; 4: 8"),
        ("Team,2023,2024 / Reds,won,lost / Blues,lost,won", "Team: Reds; 2023: won; 2024: lost"),
        ("Name,Q1 2024,2024/25,FY2024 / Oil,1,2,3", "Name: Oil; Q1 2024: 1; 2024/25: 2; FY2024: 3"),
    ],
)
def test_years_dates_and_counts_above_other_values_are_heads(csv: str, second: str) -> None:
    assert lines(csv)[1] == second


@pytest.mark.parametrize(
    "csv",
    [
        "Norway,2019,5.3 / Fiji,2020,0.9 / Peru,2019,31.2",
        "Norway,2019 / Fiji,2020 / Peru,2018",
        "Norway,2019,2020 / Fiji,2018,2021",
        "2019,2020,2021 / 5.3,5.4,5.5",
        "1,2,3,4 / 5,6,7,9",
        "2021-01-01,12.5,3 / 2021-01-02,13.5,4",
        "Oil,2021-01-01,3 / Gas,2021-01-02,4",
        "Oil,2021-01-01,3 / Gas,pending,4",
        "Sofa,1899,1999 / Chair,499,599 / Table,899,1099",
        "Widget,2000 / Gadget,350 / Lamp,5000",
        "Widget,2000,5 / Gadget,350,7 / Lamp,5000,9",
        "a,1,2,3,4 / b,1,2,3,4",
        "a,1,2,3 / b,4,5,7",
        "a,0.5,1 / b,4,5",
        "a,yes,no / b,4,5",
    ],
)
def test_a_first_record_does_not_become_a_head(csv: str) -> None:
    first = csv.split(" / ")[0].split(",")
    assert lines(csv)[0] in (" | ".join(first), f"{first[0]}: {first[-1]}")
    assert lines(csv)[1] in (
        " | ".join(csv.split(" / ")[1].split(",")),
        ": ".join(csv.split(" / ")[1].split(",")),
    )


def test_every_chunk_of_a_long_table_has_the_years() -> None:
    rows = "".join(f"Land{at:03},{at}.3,{at}.4\n" for at in range(300))
    chunks = texts(read("csv", f"Country,2019,2020\n{rows}".encode()))
    assert len(chunks) > 3 and all("2019: " in text for _, _, text in chunks)


def test_years_are_heads_of_sheets() -> None:
    assert sheet([["Month", 2022, 2023], ["Jan", 100, 200], ["Feb", 101, 201]]) == [
        "Month | 2022 | 2023",
        "Month: Jan; 2022: 100; 2023: 200",
        "Month: Feb; 2022: 101; 2023: 201",
    ]


TWO_ROWS: list[list[object]] = [
    ["Region", "Sales", None, "Costs", None],
    [None, "Q1", "Q2", "Q1", "Q2"],
    ["North", 1, 2, 3, 4],
    ["South", 5, None, 7, 8],
]
READ = [
    "Region | Sales | Costs",
    "Q1 | Q2 | Q1 | Q2",
    "Region: North; Sales Q1: 1, Q2: 2; Costs Q1: 3, Q2: 4",
    "Region: South; Sales Q1: 5; Costs Q1: 7, Q2: 8",
]


def test_two_rows_of_headers_are_joined_for_each_column() -> None:
    """Whether their cells are merged, or a sheet with merged cells was saved as CSV."""
    assert sheet(TWO_ROWS, "A1:A2", "B1:C1", "D1:E1") == READ
    assert lines("Region,Sales,,Costs, / ,Q1,Q2,Q1,Q2 / North,1,2,3,4 / South,5,,7,8") == READ
    years = lines("Region,Sales,,Costs, / ,2023,2024,2023,2024 / North,1,2,3,4")
    assert years[2] == "Region: North; Sales 2023: 1, 2024: 2; Costs 2023: 3, 2024: 4"


def test_names_below_one_merged_head_are_a_second_row_though_the_others_are_not_merged() -> None:
    rows: list[list[object]] = [["Room", "Price", None, "Deposit"], [None, "hour", "day", None]]
    read = sheet([*rows, ["Hall", 60, 340, 250], ["Box", 0, None, None]], "B1:C1")
    assert read[2:] == ["Room: Hall; Price hour: 60, day: 340; Deposit: 250", "Room: Box; Price hour: 0"]
    titled: list[list[object]] = [
        ["Prices", None, None, "May"],
        ["Room", "hour", "day", None],
        ["Hall", 6, 34, None],
    ]
    assert sheet(titled, "A1:C1")[1] == "Room | hour | day"


def test_a_title_above_and_a_single_group_are_told_apart() -> None:
    rows: list[list[object]] = [
        ["Sales report", None, None],
        [None, "Sales", None],
        ["Region", 2023, 2024],
        ["North", 1, 2],
    ]
    expected = ["Sales report", "Sales", "Region | 2023 | 2024", "Region: North; Sales 2023: 1, 2024: 2"]
    assert sheet(rows, "A1:C1", "B2:C2") == sheet(rows, "A1:C1") == expected
    assert sheet([["Report", None], ["Region", "Sales"], ["North", 1]], "A1:B1") == [
        "Report",
        "Region | Sales",
        "Region: North; Sales: 1",
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [["Region", "Contact", None], ["North", "Ada", "Oslo"], ["South", "Ben", "Bergen"]],
        [["Region", "Sales", None], ["North", 1, 2], ["South", 3, 4]],
    ],
)
def test_data_below_a_merged_header_are_no_second_row(rows: list[list[object]]) -> None:
    assert sheet(rows, "B1:C1")[1].startswith(("Region: North", "North"))


def word(rows: list[list[object]], *merged: tuple[tuple[int, int], tuple[int, int]]) -> list[str]:
    """The lines that a table of a Word file becomes."""
    document = docx.Document()
    document.add_paragraph("Below is a table.")
    table = document.add_table(len(rows), len(rows[0]))
    for at, row in enumerate(rows):
        for column, value in enumerate(row):
            table.cell(at, column).text = "" if value is None else str(value)
    for first, last in merged:
        cell = table.cell(*first)
        text = cell.text
        cell.merge(table.cell(*last)).text = text
    return texts(read("docx", saved(document)))[1][2].split("\n")


def test_merged_headers_of_word_tables() -> None:
    assert word(TWO_ROWS, ((0, 0), (1, 0)), ((0, 1), (0, 2)), ((0, 3), (0, 4))) == READ
    assert word([["Month", 2022, 2023], ["Jan", 1, 2], ["Feb", 3, 4]])[1] == "Month: Jan; 2022: 1; 2023: 2"
