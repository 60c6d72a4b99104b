"""Tables of passages: their rows, columns, heads and numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trivium.answering.citation_marks import without_marks
from trivium.answering.passages import NumberedPassage
from trivium.graph.protocols import GraphReader
from trivium.graph.schema import Hop, headings_of
from trivium.parser.tables import cells_of
from trivium.text.normalise import words
from trivium.types import ChunkKind

_YES = frozenset(["yes", "y", "true", "x", "ja", "oui", "sí", "si", "✓", "✔", "☑", "✅"])
_NO = frozenset(["no", "none", "n", "false", "nein", "non", "nee", "✗", "✘", "☐", "❌", "-", "–", "—"])
_MISSING = frozenset(["", "-", "–", "—", "n/a"])
NUMBER = re.compile(r"[-−]?(?:\d{1,3}(?:[,\u00a0\u202f’]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)")
_THOUSANDS = re.compile(r"[,\u00a0\u202f’](?=\d{3}(?!\d))")
_TOTAL = re.compile(
    r"(?:grand |sub-?|overall )?(?:(?:totals?|sum|average|mean)(?: ?\(.{0,20}\)| \d{4})?|totals? .{1,30})\W?",
    re.IGNORECASE,
)
"""How rows begin that say what the others add up to."""
_FREE = re.compile(r"free\b", re.IGNORECASE)
_JOINING = frozenset(words("and or with than versus vs the a an of for"))
"""What stands between things that are named one after the other."""
_RATINGS = frozenset(words("rating ratings rated"))
MOST_ROWS = 12
"""More rows than these are no answer."""
Column = Sequence[tuple["Row", str]]
"""Cells with their rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A row of a table as it is written in a ``passage``, and its cells with their heads (empty if there is none)."""

    passage: NumberedPassage
    text: str
    cells: list[tuple[str, str]]

    @property
    def said(self) -> frozenset[str]:
        """The terms of the cells without those of the heads."""
        return frozenset(self.passage.analyzer.terms(" ".join(cell for _, cell in self.cells)))


def rows_of(passage: NumberedPassage) -> list[Row]:
    """Return the lines of a passage that share heads with others."""
    lines = [Row(passage, line, cells_of(line)) for line in passage.body.splitlines() if ": " in line]
    counts = Counter(head for row in lines for head in dict(row.cells) if head)
    return [row for row in lines if len(row.cells) > 1 and any(counts[head] > 1 for head in dict(row.cells))]


def tells_apart(question: str, passage: NumberedPassage, text: str) -> bool:
    """Whether a cell of a row in a text of a passage has a word of a question, if the text has rows. Words of heads are
    true of every row.
    """
    rows = [row for row in rows_of(passage) if row.text in text]
    asked = passage.analyzer.question_terms(question)
    return not rows or any(not row.said.isdisjoint(asked) for row in rows)


def quoted_row(answer: str, offered: Sequence[NumberedPassage]) -> Row | None:
    """Return the row that an earlier answer quoted, wholly or without some cells; None if it is not clear which."""
    lines = [_values(cells_of(line)) for line in without_marks(answer).splitlines()]
    rows = {row.text: row for passage in offered for row in rows_of(passage)}.values()
    found = [row for row in rows if any(len(line) > 1 and line <= _values(row.cells) for line in lines)]
    return found[0] if len(found) == 1 else None


def _values(cells: Sequence[tuple[str, str]]) -> set[str]:
    return {cell.rpartition(": ")[2] for _, cell in cells}


def tables_of(offered: Sequence[NumberedPassage]) -> list[Table]:
    """Return the tables of passages, as far as they are there, without their rows of totals."""
    tables: dict[tuple[str, str], list[Row]] = {}
    for row in (row for passage in offered for row in rows_of(passage)):
        if _TOTAL.fullmatch(row.cells[0][1].strip()) is None:
            tables.setdefault((row.passage.hit.section, row.cells[0][0]), []).append(row)
    return [
        Table.of(
            sorted(rows, key=lambda row: row.passage.hit.start),
            [one for one in offered if one.hit.section == section],
        )
        for (section, _), rows in tables.items()
    ]


def rows_named(question: str, offered: Sequence[NumberedPassage]) -> list[Row]:
    """Return the rows of one table that a question names one after the other, in its order, if it names several: by all
    words of the cell that names the row.
    """
    said = f" {' '.join(words(question))} "
    for table in tables_of(offered):
        named: dict[str, Row] = {}
        for row in table.rows:
            name = " ".join(words(row.cells[0][1]))
            if any(map(str.isalpha, name)) and f" {name} " in said:
                named.setdefault(name, row)
        places = sorted((said.index(f" {name} "), name) for name in named)
        between = (said[at + 1 + len(name) : to] for (at, name), (to, _) in pairwise(places))
        if len(named) > 1 and all(_JOINING.issuperset(words(one)) for one in between):
            return [named[name] for _, name in places]
    return []


def is_whole(rows: Sequence[Row], offered: Sequence[NumberedPassage], store: GraphReader) -> bool:
    """Whether no passage beside those of the rows, and not among those ``offered``, is a table."""
    hit = rows[0].passage.hit
    chunks = store.expand([hit.section], Hop.CHILD).get(hit.section, [])
    own = {row.passage.hit.uri for row in rows}
    beside = {
        other
        for one, other in [*pairwise(chunks), *pairwise(chunks[::-1])]
        if one in own and other not in own
    } - {passage.hit.uri for passage in offered}
    return hit.live is None and all(record.kind != ChunkKind.TABLE for record in store.fetch(sorted(beside)))


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with common heads. ``columns`` are the cells below each head, ``filled`` those of them that say something,
    ``heads`` the terms of the heads, ``above`` those of the text around the rows, ``section`` also those of its section.
    """

    rows: Sequence[Row]
    columns: Mapping[str, Column]
    filled: Mapping[str, Column]
    heads: frozenset[str]
    above: frozenset[str]
    section: frozenset[str]

    @classmethod
    def of(cls, rows: Sequence[Row], beside: Sequence[NumberedPassage]) -> Table:
        """Read rows as a table, of whose section passages stand ``beside``."""
        analyzer = rows[0].passage.analyzer
        columns: dict[str, list[tuple[Row, str]]] = {}
        for row in rows:
            for head, cell in row.cells:
                columns.setdefault(head, []).append((row, cell))
        filled = {
            head: kept
            for head, column in columns.items()
            if (kept := [(row, cell) for row, cell in column if cell.strip().lower() not in _MISSING])
        }
        tables = {row.text for one in beside for row in rows_of(one)}

        def around(passages: Iterable[NumberedPassage]) -> frozenset[str]:
            lines = [line for one in passages for line in [one.above, *one.body.splitlines()]]
            return frozenset(analyzer.terms(" ".join(line for line in lines if line not in tables)))

        heads = frozenset(analyzer.terms(" ".join(columns)))
        above = around({row.passage.number: row.passage for row in rows}.values())
        return cls(rows, columns, filled, heads, above, around(beside))

    @property
    def first(self) -> str:
        """The head of the column that names the rows."""
        return self.rows[0].cells[0][0]

    @property
    def names(self) -> frozenset[str]:
        """The stems of what the rows are called: by the head of their first column, or the heading above them."""
        return frozenset(self.stems(f"{self.first} {headings_of(self.rows[0].passage.hit.section)[-1]}"))

    @property
    def read(self) -> list[NumberedPassage]:
        """The passages of the rows."""
        return list({row.passage.number: row.passage for row in self.rows}.values())

    def shares_heads(self, other: Table) -> bool:
        """Whether another table of the same section has heads of this one."""
        one, two = self.rows[0], other.rows[0]
        return one.passage.hit.section == two.passage.hit.section and not dict(one.cells).keys().isdisjoint(
            dict(two.cells)
        )

    def stems(self, text: str) -> list[str]:
        """Return the words of a text as stems, in order."""
        analyzer = self.rows[0].passage.analyzer
        return [(analyzer.terms(word) or [word])[0] for word in words(text)]

    def is_about(self, head: str, about: str) -> bool:
        """Whether a head has a word of a text. A rating is no rate."""
        shared = frozenset(self.stems(head)).intersection(self.stems(about))
        rated = not _RATINGS.isdisjoint(words(head)) and _RATINGS.isdisjoint(words(about))
        return bool(shared.difference(self.stems("rate") if rated else ()))


def yes_or_no(cell: str) -> bool | None:
    said = cell.strip().casefold()
    if said.isdecimal():
        return int(said) > 0  # how many there are
    return True if said in _YES else False if said in _NO else None


def numbers(cells: Sequence[str]) -> list[float]:
    """Return the numbers of a column; none if a cell has not exactly one, or they are not all of one unit."""
    values: list[float] = []
    units: set[str] = set()
    for cell in cells:
        found = NUMBER.findall(cell)
        if not found and _FREE.match(cell):
            values.append(0.0)
            continue
        if len(found) != 1:
            return []
        values.append(float(plain_number(found[0])))
        units.add(" ".join(NUMBER.sub(" ", cell).split()))
    return values if len(units) == 1 else []


def plain_number(text: str) -> str:
    """Return a number without separators of thousands, with a point before its decimals."""
    return _THOUSANDS.sub("", text).replace(",", ".").replace("−", "-")
