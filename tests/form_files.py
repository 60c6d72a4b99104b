"""A small collection whose answers have each form: a table in CSV and in Word, steps over a page of a PDF, and code."""

from __future__ import annotations

from collections.abc import Mapping

from tests.answering.table_files import in_word
from tests.fakes.pdf_writer import PdfFile

HEADS = ["Boat", "Berth", "Length (m)", "Engine (kW)", "Sleeps", "Hull", "Next survey", "Status"]
BOATS = [
    ["Libelle", "A1", "4.2", "2.3", "0", "timber", "2027-03", "in service"],
    ["Sarcelle", "A4", "6.8", "7.5", "2", "steel", "2026-11", "under repair"],
    ["Foulque", "B2", "9.1", "18", "4", "fibreglass", "2027-05", "under repair"],
    ["Grive", "B7", "11.4", "25", "6", "aluminium", "2028-01", "in service"],
]
PRICES = [
    ["Course", "Duration", "Price"],
    ["Taster sail", "2 hours", "35 euros"],
    ["Night sailing", "3 evenings", "180 euros"],
    ["Certificate", "8 days", "690 euros"],
]
STEPS = [
    "1. Close the fuel tap below the engine.",
    "2. Pump the bilge until the strainer is dry.",
    "3. Pull the orange lever of the seacock.",
    "4. Tie the tiller amidships with the blue line.",
    "5. Hang the key on hook 12 in the harbour office.",
]
CODE = 'moorage book --berth B2 \\\n    --from 2026-06-01\nmoorage status --json | grep "paid"'


def _guide() -> bytes:
    file = PdfFile()
    first, second = file.page(), file.page()
    first.text(72, 720, "Skipper guide", 20, bold=True)
    first.lines(72, 680, ["The guide lies in every cabin and is read before casting off."])
    first.text(72, 140, "Laying up a boat", 14, bold=True)
    first.lines(72, 116, ["How to lay up a boat for the winter:", *STEPS[:3]])
    second.lines(72, 720, STEPS[3:])
    second.text(72, 650, "Radio", 14, bold=True)
    second.lines(72, 626, ["The working channel of the jetty is 72."])
    return file.data()


FILES: Mapping[str, str | bytes] = {
    "Fleet.csv": "".join(",".join(row) + "\n" for row in [HEADS, *BOATS]),
    "Courses.docx": in_word("Courses", PRICES),
    "Skipper guide.pdf": _guide(),
    "booking.md": f"# Booking\n\n## Command line\n\nBook a berth from a terminal:\n\n```sh\n{CODE}\n```\n\n"
    "## By letter\n\nLetters are answered within a week.\n",
}
ROW, ROWS, LIST, CODED = (
    "How much is the course in night sailing?",
    "Which boats are under repair?",
    "How do I lay up a boat for the winter?",
    "What is the command to book a berth from a terminal?",
)
"""Questions that a row, several rows, a list and code answer."""
