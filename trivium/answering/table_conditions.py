"""A question in English read as conditions on a table: cells ("Which woods are out of stock?"), numbers ("How many boats
have more than 4 berths?"), yes and no, and the highest or lowest number ("Which dwelling is the largest?").

A reading counts only if it is certain which column each condition is about, and every other word of the question is
explained.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile, pairwise, takewhile
from operator import eq, gt, lt

from trivium.answering.comparing_words import (
    AMBIGUOUS,
    COMPARED,
    DEGREES,
    FREE,
    OPERATORS,
    ORDINALS,
    PEOPLE,
    SCALES,
    SIZE,
    SUPERLATIVE,
    UNITS,
)
from trivium.answering.table_columns import columns_of_days, only, rows_without_price, without
from trivium.answering.table_rows import Row, Table, numbers, yes_or_no
from trivium.text.normalise import NUMBER_WORDS, terms, words

ASKING = frozenset(words("which what who whom whose where list show name"))
_DENYING = frozenset(terms("not no out without lack lacks lacking never isn aren wasn weren doesn don none"))
_NEITHER = _DENYING | frozenset(terms(" ".join(ASKING)))
OF_COMPUTING = frozenset(
    terms(
        "how many number of count average mean total together altogether combined sum add up all every each are there"
        " cost costs price much pay spend do does have has hold own need require more less than least most exceed"
        " exceeding item thing entry row one line kind product"
    )
)
"""Words that ask for a value, or to compare, and those for whatever the rows are."""
_NOW = frozenset(terms("now right currently present moment today presently still all"))
_TAKING_PLACE = frozenset(
    terms(
        "shown held open opens takes take place taking happen run runs given offered scheduled available see go attend"
        " visit"
    )
)
"""What is said of things that are on a day, and says no more of them."""
_BEFORE_A_VERB = frozenset(terms("are is was were be being can will may must do does did not"))
_BEFORE_A_STATE = frozenset(terms("under in on at being"))
"""How cells begin that a question says with a verb ("under repair")."""
_OF_THE = frozenset(words("of the our your these all"))
_ENDS_NOUN = frozenset(
    words(
        "are is were was have has had do does did can could will cost costs of in on with without that which who under"
        " over there at from for not no a an the hold own need require"
    )
)
_LOGIC = frozenset(words("or nor but than more less fewer most least neither either except"))
"""Words that say how conditions belong together, or that compare: what is left of them is not understood."""
_ITEMS = re.compile(r"[,;/](?!\d)| and ")
_LETTER = re.compile(
    r"(?<=\w )[AI](?= \w+|[?.! ]*$)(?! (?:am|do|have|can|could|should|must|may|need|will)\b)"
)
"""A cell of one letter that is a word, too: "an A licence", "class A"."""
_LONGEST = 8
"""Words of a cell that a question may name."""


def selects_rows(question: str) -> bool:
    """Whether a question asks for what a condition or a superlative selects, in English."""
    asked = words(question)[:4]
    superlative = SUPERLATIVE.search(_with_digits(question)) is not None
    return "which" in asked or superlative or (compares_numbers(question) and not ASKING.isdisjoint(asked))


def asks_for_rows(question: str) -> bool:
    """Whether a question asks for rows if it has conditions on them ("Who was not elected?")."""
    return selects_rows(question) or not ASKING.isdisjoint(words(question)[:4])


def compares_numbers(question: str) -> bool:
    """Whether a question compares with a number ("more than 4 berths")."""
    return any(map(_compares, COMPARED.finditer(question.lower())))


def _compares(match: re.Match[str]) -> bool:
    return bool(match["operator"] or match["degree"])


def _with_digits(question: str) -> str:
    """Return a question in lower case with its number words as digits, and "do not" for "don't"."""
    said = re.sub(r"n['’]t\b", " not", question.lower())
    text = " ".join(NUMBER_WORDS.get(word, word) for word in said.split())
    return text.replace("square metres", "m²").replace("square meters", "m²").rstrip("?.! ")


@dataclass(slots=True)
class Reading:
    """A question read as conditions on a table. ``asked`` are its terms without those that ask or deny, ``noun`` is what
    it counts or asks for, ``rest`` what no condition explains yet, as stems between spaces; ``used`` are the heads of the
    columns, and ``known`` the stems, that conditions are about.
    """

    table: Table
    asked: frozenset[str]
    noun: frozenset[str]
    rest: str = ""
    used: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, question: str, table: Table) -> Reading:
        """Begin to read a question."""
        asked = frozenset(table.rows[0].passage.analyzer.question_terms(question))
        asked -= (_NEITHER | _NOW) - table.heads
        asked |= frozenset(map(str.lower, _LETTER.findall(question)))
        return cls(table, asked, frozenset(table.stems(_noun(question, table.heads, table.stems))))

    def rows(self, question: str, *, chosen_only: bool) -> list[Row] | None:
        """Return the rows that meet the conditions of the question; None if one is not certain. With ``chosen_only``,
        rows are asked for: by at least one condition, which may be a superlative.
        """
        asked = _with_digits(question)
        superlative = SUPERLATIVE.search(asked) if chosen_only else None
        if superlative is not None:
            asked = without(superlative)
        chosen: list[Sequence[Row]] = []
        equal = 0
        for said, column in columns_of_days(asked, self.table):
            if column is None:
                return None
            self.used.add(column.head)
            self.known |= _TAKING_PLACE
            chosen.append(column.rows)
            asked = without(said)
        if (free := FREE.search(asked)) and (
            without_price := rows_without_price(self.table, self.noun)
        ) is not None:
            chosen.append(without_price)
            asked = without(free)
        if not chosen_only:
            self.known |= OF_COMPUTING
        for match in list(COMPARED.finditer(asked)):
            rows = self._by_number(match)
            if rows is None and _compares(match):
                return None
            if rows is not None:
                chosen.append(rows)
                equal += not _compares(match)
                kept = " ".join(part for part in (match["word"], match["behind"] or "") if part)
                asked = asked.replace(match[0], kept, 1)
        if equal > 1 or not _LOGIC.isdisjoint(words(asked)):
            return None
        self.rest = f" {' '.join(self.table.stems(asked))} "
        ranked = {} if superlative is None else self._ranked(superlative)
        by_cells = self._by_cells(by_number=chosen_only)
        if by_cells is None or ranked is None:
            return None
        chosen += by_cells
        denials = [stem for stem in self.rest.split() if stem in _DENYING - self.table.heads]
        denies = len(denials) % 2 > 0  # "must not be handled without gloves"
        saying = self._by_yes(counts=chosen_only, says=not denies)
        chosen += saying
        if not chosen_only and self._some_have_none():
            return None  # "How many cadets have a licence?"
        if denials and (len(chosen) != 1 or "and" in words(asked) or "," in asked):
            return None
        if chosen_only and superlative is None and (not chosen or self.asked.isdisjoint(self.rest.split())):
            return None  # "What is an anchor?"
        denies = denies and not saying
        rows = [row for row in self.table.rows if all(row in one for one in chosen) != denies]
        return rows if superlative is None else _best(rows, ranked, superlative)

    def is_explained(self, *, chosen_only: bool) -> bool:
        """Whether all that is left of the question, and the thing that is counted, is in heads that were needed, or in
        most rows, or above the table. What only some rows say tells them apart: it should have been a condition. With
        ``chosen_only`` the word behind what is asked for may be a verb that the table has not.
        """
        used = [self.table.first, *self.used]
        if chosen_only:  # "Which tests ...?" has a column of tests
            used += [head for head in self.table.columns if not self.noun.isdisjoint(self.table.stems(head))]
        heads = frozenset(self.table.stems(" ".join(used)))
        if self.noun & self.table.heads and not self.noun & heads:
            return False  # "How many rooms does it have?" is looked up
        left = frozenset(self.rest.split())
        left = (left & self.asked) | {stem for stem in left if stem.isdecimal()} | self.noun
        said = [row.said for row in self.table.rows]
        called = self.table.above | self.table.names
        if chosen_only and self.noun & (self.table.heads | called):
            left -= {stem for stem in self._verb(heads) if not any(stem in one for one in said)}
        for stem in left - heads - self.known:
            count = sum(stem in one for one in said)
            in_rows = 2 * count >= len(said) and not stem.isdecimal()
            tells_apart = count and stem not in self.noun
            around = called if stem in self.noun else self.table.section
            if not in_rows and (tells_apart or stem not in around):
                return False
        return True

    def _verb(self, heads: frozenset[str]) -> set[str]:
        """Return the first unexplained word behind what is asked for, unless it may be a noun ("have a sauna")."""
        rest = self.rest.split()
        begin = next((at for at, stem in enumerate(rest) if stem in self.noun), len(rest))
        common = self.table.rows[0].passage.analyzer.function_words - _BEFORE_A_VERB
        for before, stem in pairwise(rest[begin:]):
            if stem in self.asked and stem not in heads | self.table.section:
                return set() if before in common else {stem}
        return set()

    def names_rows(self) -> bool:
        """Whether what is counted is what the rows are called."""
        return not self.noun.isdisjoint(self.table.names)

    def _by_number(self, match: re.Match[str]) -> list[Row] | None:
        """Return the rows with a number as it is asked for, in the only column that it can be about."""
        sign, about = DEGREES.get(match["degree"] or "", (0, ""))
        compare = OPERATORS.get(match["operator"] or "", eq)
        if sign:
            compare = gt if sign > 0 else lt
        if AMBIGUOUS.search(match["value"]):
            return None
        value = numbers([match["value"]])[0]
        unit = UNITS.get(match["currency"] or match["behind"] or "")
        columns = {
            head: values
            for head, column in self.table.filled.items()
            if (values := numbers([cell for _, cell in column]))
            and not any(AMBIGUOUS.search(cell) for _, cell in column)
        }
        is_year = 1500 <= value <= 2100 and unit is None and match["value"] not in self.table.above
        head = only(
            columns,
            lambda head: self.table.is_about(head, f"{match['word'] or ''} {match['behind'] or ''}"),
            lambda head: self.table.is_about(head, about),
            lambda head: unit is not None and unit in self._units(head),
            lambda head: (
                is_year and bool(match["operator"] or match["word"] == "in") and min(columns[head]) >= 1500
            ),
        )
        if head is None:
            return None
        units = self._units(head)
        if unit and units and unit not in units:
            scales = {SCALES[unit, one] for one in units if (unit, one) in SCALES}
            if len(scales) != 1:
                return None
            value *= scales.pop()
        self.used.add(head)
        if unit is not None:
            self.known.update(self.table.stems(match["behind"] or ""))
        if _compares(match):
            self.known |= OF_COMPUTING
        rows = zip(self.table.filled[head], columns[head], strict=True)
        return [row for (row, _), number in rows if compare(number, value)]

    def _units(self, head: str) -> set[str]:
        """Return the units that a head and its first cell name."""
        cell = self.table.filled[head][0][1]
        named = re.findall(r"[€$£%]|[^\W\d]+²?", f"{head} {cell}".lower())
        return {UNITS[word] for word in named if word in UNITS}

    def _ranked(self, superlative: re.Match[str]) -> dict[Row, float] | None:
        """Return the numbers of the one column that a superlative is about, by row, those asked for the highest; None if
        it is not certain which column that is.
        """
        sign, about = DEGREES[superlative["word"] or "expensive"]
        sign = -sign if superlative["sign"] == "least" else sign
        columns = {
            head: values
            for head, column in self.table.filled.items()
            if head != self.table.first
            and 2 * len(column) > len(self.table.rows)
            and (values := numbers([cell for _, cell in column]))
        }
        named = self.asked.intersection(self.rest.split())
        behind = words(superlative.string[superlative.end() :])[:1]
        head = only(
            columns,
            lambda head: not about and self.table.is_about(head, " ".join(behind)),
            lambda head: head not in self.used and not named.isdisjoint(self.table.stems(head)),
            lambda head: self.table.is_about(head, about),
            lambda head: about == SIZE and self.table.is_about(head, f"{PEOPLE} length weight"),
        )
        if head is None:
            return None
        self.used.add(head)
        rows = [row for row, _ in self.table.filled[head]]
        return {row: sign * value for row, value in zip(rows, columns[head], strict=True)}

    def _by_cells(self, *, by_number: bool) -> list[list[Row]] | None:
        """Return for each column of which cells are named, wholly or by how they begin, the rows with such a cell; None
        if words of cells could be meant in two columns. A number alone names cells only with ``by_number``.
        """
        rows_with: dict[tuple[str, str], list[Row]] = {}
        for head, column in self.table.columns.items():
            for row, cell in column:
                for item in _ITEMS.split(cell):
                    stems = self.table.stems(item)
                    begins = 0, len(list(takewhile(_BEFORE_A_STATE.__contains__, stems)))
                    for size in range(1, min(len(stems), _LONGEST) + 1):
                        for at in range(len(stems) - size + 1):
                            run = stems[at : at + size]
                            if (at in begins or size > 1) and not self.table.heads.issuperset(run):
                                rows_with.setdefault((" ".join(run), head), []).append(row)
        chosen: dict[str, list[Row]] = {}
        for (phrase, head), rows in sorted(rows_with.items(), key=lambda one: -len(one[0][0])):
            named = f" {phrase} " in self.rest and not self.asked.isdisjoint(phrase.split())
            if not named or (phrase.isdecimal() and not by_number) or self._is_of_a_compound(phrase, rows):
                continue
            if any(said == phrase and set(other) != set(rows) for (said, _), other in rows_with.items()):
                return None
            self.rest = self.rest.replace(f" {phrase} ", " ")
            chosen.setdefault(head, []).extend(rows)
            self.used.add(head)
        return list(chosen.values())

    def _is_of_a_compound(self, phrase: str, rows: Sequence[Row]) -> bool:
        """Whether a question says a word of cells behind one that no head and no such row has ("the customer day")."""
        before = self.rest[: self.rest.index(f" {phrase} ")].split()[-1:]
        alone = self.asked.intersection(before) - self.table.heads - self.noun - _BEFORE_A_STATE
        return " " not in phrase and bool(alone) and not any(alone <= row.said for row in rows)

    def _by_yes(self, *, counts: bool, says: bool) -> list[list[Row]]:
        """Return for each column that is named and says yes or no in most rows the rows that say yes, or no. With
        ``counts`` a number above zero says yes. "None" makes no column of numbers one of yes and no.
        """
        chosen = []
        for head, column in self.table.columns.items():
            cells = [cell for _, cell in column]
            said = [None if says and cell.casefold() == "none" else yes_or_no(cell) for cell in cells]
            known = 2 * said.count(None) < len(said) or (not says and False in said)
            known = known and (counts or not any(map(str.isdecimal, cells)))
            if known and head not in self.used and self.table.is_about(head, self.rest):
                chosen.append([row for (row, _), yes in zip(column, said, strict=True) if yes is says])
                self.used.add(head)
        return chosen

    def _some_have_none(self) -> bool:
        """Whether a column that is named, and that no condition is about, says in some rows that there is none."""
        return any(
            head not in self.used and self.table.is_about(head, self.rest)
            for head, column in self.table.columns.items()
            if any(cell.casefold() in ("none", "no") for _, cell in column)
        )


def _noun(question: str, heads: frozenset[str], stems: Callable[[str], Sequence[str]]) -> str:
    """Return what a question counts or asks for: the thing behind "how many" or "which", of several words one that
    ``heads`` have.
    """
    asked = words(question)
    for before in (["how", "many"], ["number", "of"], ["which"], ["what"]):
        size = len(before)
        for at in range(len(asked) - size):
            if asked[at : at + size] == before:
                behind = dropwhile(_OF_THE.__contains__, asked[at + size :])
                run = list(takewhile(lambda word: word not in _ENDS_NOUN, behind))
                named = [word for word in run if not heads.isdisjoint(stems(word))]
                plural = [word for word in run if word.endswith("s")]
                return " ".join((named or plural or run[-1:])[:1])
    return ""


def _best(rows: Sequence[Row], ranked: Mapping[Row, float], superlative: re.Match[str]) -> list[Row]:
    """Return the rows with the highest number, or with the one at the place that is asked for; or as many of the highest
    as are asked for, none if that parts equal ones.
    """
    rows = [row for row in rows if row in ranked]
    values = sorted({ranked[row] for row in rows}, reverse=True)
    place = ORDINALS.get(superlative["place"] or "", 1)
    count = int(superlative["count"] or superlative["behind"] or 1)
    wanted = values[place - 1 : place] if count == 1 else values[:count]
    best = [row for row in rows if ranked[row] in wanted]
    return best if count == 1 or len(best) == count else []
