"""Rows of tables as cells with heads, and the rows that a question asks for by a condition on cells ("Which woods are out
of stock?", "Which dwelling is the largest?").

A condition is answered only if it is certain which column it is about, and every other word of the question is found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from trivium.answering.passages import NumberedPassage
from trivium.graph.protocols import GraphReader
from trivium.graph.schema import Hop
from trivium.parser.tables import cells_of
from trivium.text.normalise import terms, words
from trivium.types import ChunkKind

MOST_ROWS = 12
"""More rows than these are no answer."""
ASKING = frozenset(words("which what who whom whose where list show name"))
DENYING = frozenset(words("not no out without lack lacks lacking never isn aren wasn weren doesn don none"))
_YES = frozenset(["yes", "y", "true", "x", "ja", "oui", "sí", "si", "✓", "✔", "☑", "✅"])
_NO = frozenset(["no", "n", "false", "nein", "non", "nee", "✗", "✘", "☐", "❌", "-", "–", "—"])
NUMBER = re.compile(r"[-−]?(?:\d{1,3}(?:[,\u00a0\u202f’]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)")
_THOUSANDS = re.compile(r"[,\u00a0\u202f’](?=\d{3}(?!\d))")
_TOTAL = re.compile(
    r"(?:grand |sub-?|overall )?(?:(?:totals?|sum|average|mean)(?: ?\(.{0,20}\)| \d{4})?|totals? .{1,30})\W?",
    re.IGNORECASE,
)
"""How rows begin that say what the others add up to."""
_FREE = re.compile(r"free\b", re.IGNORECASE)
PRICE = "price cost fee charge rate rent tariff fare amount total"
_SIZE, _HEIGHT, _YEAR = "area size surface capacity volume", "height elevation altitude", "built year founded"
SUPERLATIVES = {
    word: (sign, about)
    for said, sign, about in (
        ("cheapest", -1, PRICE),
        ("dearest", 1, PRICE),
        ("largest biggest", 1, _SIZE),
        ("smallest", -1, _SIZE),
        ("longest", 1, "length duration distance"),
        ("shortest", -1, "length duration distance"),
        ("highest tallest", 1, _HEIGHT),
        ("lowest", -1, _HEIGHT),
        ("deepest", 1, "depth"),
        ("heaviest", 1, "weight mass"),
        ("lightest", -1, "weight mass"),
        ("widest", 1, "width"),
        ("fastest", 1, "speed"),
        ("slowest", -1, "speed"),
        ("oldest", -1, _YEAR),
        ("newest", 1, _YEAR),
        ("most", 1, ""),
        ("fewest least", -1, ""),
    )
    for word in said.split()
}
"""Superlatives: whether the highest (1) or lowest (-1) value is asked for, and heads of columns they speak of. Those
without heads, and the others too, may be followed by the head ("the most votes", "the lowest price").
"""
_ORDINALS = {"second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}
_CARDINALS = {"two": 2, "2": 2, "three": 3, "3": 3, "four": 4, "4": 4, "five": 5, "5": 5}


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


def asks_for_rows(question: str) -> bool:
    """Whether a question asks for what a condition or a superlative selects, in English."""
    asked = words(question)
    return "which" in asked[:4] or _superlative(asked) is not None


def tells_apart(question: str, passage: NumberedPassage, text: str) -> bool:
    """Whether a cell of a row in a text of a passage has a word of a question, if the text has rows. Words of heads are
    true of every row.
    """
    rows = [row for row in rows_of(passage) if row.text in text]
    asked = passage.analyzer.question_terms(question)
    return not rows or any(not row.said.isdisjoint(asked) for row in rows)


def rows_asked(question: str, offered: Sequence[NumberedPassage], store: GraphReader) -> list[Row]:
    """Return the rows that a question asks for by a condition on cells; none if that is not certain, or if the table
    has rows in other passages.
    """
    if ASKING.isdisjoint(words(question)[:4]) and not asks_for_rows(question):
        return []
    for table in tables_of(offered, question):
        found = table.extreme() or table.matching()
        if 0 < len(found) < min(len(table.rows), MOST_ROWS + 1) and is_whole(table.rows, offered, store):
            return found
    return []


def tables_of(offered: Sequence[NumberedPassage], question: str) -> list[Table]:
    """Return the tables of passages, as far as they are there, without their rows of totals."""
    tables: dict[tuple[str, str], list[Row]] = {}
    for row in (row for passage in offered for row in rows_of(passage)):
        if _TOTAL.fullmatch(row.cells[0][1].strip()) is None:
            tables.setdefault((row.passage.hit.section, row.cells[0][0]), []).append(row)
    return [
        Table.of(sorted(rows, key=lambda row: row.passage.hit.start), question) for rows in tables.values()
    ]


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
    """Rows with common heads, and a question about them: its ``words``, and its terms without those that ask or deny.
    ``heads`` are the terms of the heads, ``above`` those of the text around the rows.
    """

    rows: Sequence[Row]
    words: Sequence[str]
    asked: frozenset[str]
    heads: frozenset[str]
    above: frozenset[str]

    @classmethod
    def of(cls, rows: Sequence[Row], question: str) -> Table:
        analyzer = rows[0].passage.analyzer
        own = {row.text for row in rows}
        passages = {row.passage.number: row.passage for row in rows}.values()
        above = [
            line for one in passages for line in [one.headings, *one.body.splitlines()] if line not in own
        ]
        heads = frozenset(analyzer.terms(" ".join({head for row in rows for head in dict(row.cells)})))
        left_out = frozenset(term for word in ASKING | DENYING for term in terms(word)) - heads
        asked = frozenset(analyzer.question_terms(question)) - left_out
        return cls(rows, words(question), asked, heads, frozenset(analyzer.terms(" ".join(above))))

    def shares_heads(self, other: Table) -> bool:
        """Whether another table of the same section has heads of this one."""
        one, two = self.rows[0], other.rows[0]
        return one.passage.hit.section == two.passage.hit.section and not dict(one.cells).keys().isdisjoint(
            dict(two.cells)
        )

    def columns(self) -> dict[str, list[tuple[Row, str]]]:
        """Return the rows of each head with their cells."""
        columns: dict[str, list[tuple[Row, str]]] = {}
        for row in self.rows:
            for head, cell in row.cells:
                columns.setdefault(head, []).append((row, cell))
        return columns

    def matching(self) -> list[Row]:
        """Return the rows of which the cells have the words of the question, or say yes or no to it."""
        wanted, known = self._wanted(self.asked)
        if not known:
            return []
        rest = f" {' '.join(self.words)} "
        for column in self.columns().values():
            phrases = [f" {' '.join(words(cell))} " for _, cell in column]
            equal = [
                one
                for one, phrase in zip(column, phrases, strict=True)
                if phrase.count(" ") > 2 and phrase in rest
            ]
            if equal:
                for phrase in phrases:
                    rest = rest.replace(phrase, " ")
                return self._or_others([row for row, _ in equal], rest)
        if wanted:
            found = [row for row in self.rows if wanted <= row.said]
            return self._or_others(found, rest) if wanted != self.asked else []
        fitting = []
        for head, column in self.columns().items():
            said = [yes_or_no(cell) for _, cell in column]
            if len(said) == len(self.rows) and None not in said and self._head(head) & self.asked:
                fitting.append([row for (row, _), yes in zip(column, said, strict=True) if yes])
        return self._or_others(fitting[0], rest) if len(fitting) == 1 else []

    def extreme(self) -> list[Row]:
        """Return the rows with the highest or lowest value in the one column that a superlative is about."""
        superlative = _superlative(self.words)
        if superlative is None:
            return []
        word, sign, about = superlative
        said, place, most = _places(self.words, word)
        wanted, known = self._wanted(self.asked - frozenset(terms(f"{word} most least {said}")))
        columns = {
            head: values
            for head, column in self.columns().items()
            if len(column) == len(self.rows) and (values := numbers([cell for _, cell in column]))
        }
        for named in (self.asked, frozenset(terms(about))):
            fitting = [head for head in columns if self._head(head) & named]
            if known and len(fitting) == 1:
                pairs = zip(self.rows, columns[fitting[0]], strict=True)
                rows = [(row, value) for row, value in pairs if wanted <= row.said]
                ranked = sorted({sign * value for _, value in rows}, reverse=True)
                asked = ranked[place - 1 : place] if most == 1 else ranked[:most]
                best = [row for row, value in rows if sign * value in asked]
                return best if most == 1 or len(best) == most else []
        return []

    def _wanted(self, asked: frozenset[str]) -> tuple[frozenset[str], bool]:
        """Return the terms that cells must have, and whether all others are in heads or above."""
        said = frozenset[str]().union(*(row.said for row in self.rows))
        wanted = (asked & said) - self.heads
        return wanted, asked - wanted <= self.heads | self.above

    def _or_others(self, found: list[Row], question: str) -> list[Row]:
        """Return the rows found, or, if the question denies, all others."""
        denies = any(word in DENYING and not self.heads.issuperset(terms(word)) for word in question.split())
        return [row for row in self.rows if row not in found] if denies and found else found

    def _head(self, head: str) -> frozenset[str]:
        return frozenset(self.rows[0].passage.analyzer.terms(head))


def _superlative(asked: Sequence[str]) -> tuple[str, int, str] | None:
    """Return the superlative of a question: its word, whether it asks for the highest (1) or lowest value (-1), and heads
    of columns that it is about.
    """
    for before, word in zip(["", *asked], asked, strict=False):
        if word == "expensive" and before in ("most", "least"):
            return word, 1 if before == "most" else -1, PRICE
        if (
            word in SUPERLATIVES
            and before != "at"
            and not ("expensive" in asked and word in ("most", "least"))
        ):
            return word, *SUPERLATIVES[word]
    return None


def _places(asked: Sequence[str], superlative: str) -> tuple[str, int, int]:
    """Return which word beside a superlative says so, from which place on, and how many are asked for: ("second", 2, 1)
    for "the second cheapest", ("two", 1, 2) for "the two cheapest" and "the cheapest two".
    """
    at = asked.index(superlative)
    before = asked[max(0, at - 2) : at] if superlative == "expensive" else asked[max(0, at - 1) : at]
    for word in [*before, *asked[at + 1 : at + 2]]:
        if word in _ORDINALS or word in _CARDINALS:
            return word, _ORDINALS.get(word, 1), _CARDINALS.get(word, 1)
    return "", 1, 1


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
