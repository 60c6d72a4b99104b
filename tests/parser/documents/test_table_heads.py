"""Which rows of CSV files and sheets name the columns: also years, dates and numbers do."""

from __future__ import annotations

import io

import openpyxl
import pytest

from tests.parser.documents.files import read, texts


def lines(csv: str) -> list[str]:
    """The lines that a CSV file becomes; rows between ``/``."""
    return read("csv", csv.replace(" / ", "\n").encode()).text.split("\n")


def sheet(rows: list[list[object]], *merged: str) -> list[str]:
    """The lines that a sheet becomes."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for cells in merged:
        book.active.merge_cells(cells)
    out = io.BytesIO()
    book.save(out)
    return [line for _, _, text in texts(read("xlsx", out.getvalue())) for line in text.split("\n")]


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
