"""What a question names and a part of a passage does not speak of: another year, place, person or code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from trivium.answering.answer_parts import Part
from trivium.answering.asked_kind import asks_when
from trivium.answering.evidence import NUMBER, VERSION, YEAR
from trivium.answering.passages import NumberedPassage
from trivium.answering.table_dates import LASTING, PERIOD, day_of, within
from trivium.answering.table_rows import rows_of
from trivium.graph.schema import headings_of
from trivium.parser.tables import cells_of
from trivium.text.identifiers import identifiers_of
from trivium.text.normalise import words

_CODE = re.compile(r"(?<![\w/.-])[A-Z]{1,6}(?:-\d{2,8}|\d{3,8})(?![\w-]|\.\d)")
"""A code of letters and digits: HP-250, E511. Fewer digits may be a size or a vitamin."""
_LETTERED = re.compile(r"\b[a-z]{3,15} [A-HJ-Z]\b(?![.'’&-])")
"""What a letter tells apart, but "I": "building B"."""
_FULL_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{1,20}(?: [A-Z][a-z]{1,20}){1,3}")
"""Words with capitals inside a question."""
_DATED = re.compile(r"\b(?:1\d|20)\d\d(?:-\d\d){0,2}\b")
_ADDRESSES = (
    (
        re.compile(r"\b(?:(?:tele)?phone|fax|mobile) (?:number|no)\b", re.IGNORECASE),
        re.compile(r"\+?\d[\d /()-]{2,15}\d"),
    ),
    (re.compile(r"\be-?mail address\b", re.IGNORECASE), re.compile(r"\w@\w")),
)
"""Questions for addresses, and what these have."""
_WORD = re.compile(r"\w+")
_LASTING = frozenset(words(LASTING))


def unsaid(question: str, part: Part, offered: Sequence[NumberedPassage] = ()) -> list[str]:
    """Return the years, versions, codes, letters, full names and kinds of addresses that a question names and a part does
    not: they are neither in its passage nor above it, or the part speaks of others. Names count if few of the
    passages that were ``offered`` have them.

    "What was the income in 2023?" is not answered by "Income 2025 was 214,300 euros".
    """
    above = part.passage.above
    around = f"{part.passage.body} {above}"
    anywhere = frozenset(NUMBER.findall(around))
    if part.kind == "row":  # another row speaks of something else
        rows = {row.text for row in rows_of(part.passage)} - {part.text}
        around = " ".join([above, *(line for line in part.passage.body.splitlines() if line not in rows)])
    # Of headings the nearest counts: "Fees 2026" of a document "Fees 2025 and 2026".
    dated = [found for one in headings_of(part.passage.hit.section)[1:] if (found := YEAR.findall(one))]
    years = frozenset([*YEAR.findall(part.shown), *(dated[-1] if dated else YEAR.findall(above))])
    missing = [one for one in dict.fromkeys(VERSION.findall(question)) if one not in anywhere]
    asked = list(dict.fromkeys(YEAR.findall(question)))
    if years.isdisjoint(asked) and (years or anywhere.isdisjoint(asked)):
        missing += asked
    analyzer = part.passage.analyzer
    codes, names = (dict.fromkeys(named.findall(question)) for named in (_CODE, _FULL_NAME))
    known = frozenset(analyzer.terms(around) if codes or names else ())  # most questions name neither
    missing += [code for code in codes if not any(one.is_in(known) for one in identifiers_of(code, analyzer))]
    letters = dict.fromkeys(_LETTERED.findall(question))
    missing += [said for said in letters if said[-1] not in _WORD.findall(around)]
    said_by = [one.said.union(analyzer.terms(one.above)) for one in offered] if names else []
    for name in names:
        named = frozenset(analyzer.terms(name))
        having = sum(named <= said for said in said_by)
        if 0 < having <= len(said_by) / 2 and not named <= known:
            missing.append(name)
    missing += _under_another(question, part, offered)
    period = PERIOD.search(question) if part.kind == "row" and asks_when(question) else None
    cells = [cell for head, cell in cells_of(part.text) if _LASTING.isdisjoint(words(head))]
    day = None if period is None else day_of("; ".join(cells))
    if period is not None and day is not None and not within(period, day):
        missing.append(period["name"])
    plain = _DATED.sub("", part.shown)
    for kind, value in _ADDRESSES:
        asked_for = kind.search(question)
        missing += [asked_for[0]] if asked_for and not value.search(plain) else []
    return missing


def _under_another(question: str, part: Part, offered: Sequence[NumberedPassage]) -> list[str]:
    """Return what a question names by two words of which a part has the second only, in a heading behind another word,
    though a passage that was offered has both: "weekly market" if it stands below "Evening market".
    """
    analyzer = part.passage.analyzer
    common = frozenset(analyzer.terms(" ".join(analyzer.function_words)))

    def pairs(text: str) -> set[tuple[str, str]]:
        return {pair for pair in pairwise(analyzer.terms(text)) if common.isdisjoint(pair)}

    above = headings_of(part.passage.hit.section)
    behind = {second for one in above for _, second in pairs(one) if second.isalpha()}
    said = frozenset(analyzer.terms(f"{part.passage.above} {part.shown}")) if behind else frozenset()
    named = map(" ".join, pairwise(_WORD.findall(question)))
    asked = {pair: two for two in named for pair in pairs(two) if pair[1] in behind and pair[0] not in said}
    known = [pairs(f"{passage.above} {passage.body}") for passage in offered] if asked else []
    return [two for pair, two in asked.items() if any(pair in one for one in known)]
