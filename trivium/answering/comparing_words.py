"""Words of English that compare with numbers: degrees, operators and units, and heads of columns that they speak of."""

from __future__ import annotations

import re
from operator import eq, ge, gt, le, lt

PRICE = "price cost fee charge rate rent tariff fare amount total"
PEOPLE = "seats places persons people"
SIZE, _HEIGHT, _YEAR = "area size surface capacity volume", "height elevation altitude", "built year founded"
DEGREES = {
    word: (sign, about)
    for said, sign, about in (
        ("dearest dearer expensive", 1, PRICE),
        ("cheapest cheaper", -1, PRICE),
        ("largest larger biggest bigger", 1, SIZE),
        ("smallest smaller", -1, SIZE),
        ("longest longer", 1, "length duration distance"),
        ("shortest shorter", -1, "length duration distance"),
        ("highest higher tallest", 1, _HEIGHT),
        ("lowest lower", -1, _HEIGHT),
        ("deepest deeper", 1, "depth"),
        ("heaviest heavier", 1, "weight mass"),
        ("lightest lighter", -1, "weight mass"),
        ("widest wider", 1, "width"),
        ("fastest faster", 1, "speed"),
        ("slowest slower", -1, "speed"),
        ("oldest", -1, _YEAR),
        ("newest", 1, _YEAR),
        ("most", 1, ""),
        ("fewest least", -1, ""),
    )
    for word in said.split()
}
"""Whether a degree asks for high (1) or low (-1) numbers, and heads of columns that it speaks of. Those without heads,
and the others too, may be followed by the head ("the most votes", "the lowest price").
"""
ORDINALS = {"second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}
SUPERLATIVE = re.compile(
    rf"(?<!\bat )(?:\b(?:(?P<place>{'|'.join(ORDINALS)})|(?P<count>\d{{1,2}})) )?"
    rf"\b(?:(?P<sign>most|least) expensive|(?P<word>{'|'.join(word for word in DEGREES if word.endswith('st'))}))\b"
    r"(?: (?P<behind>\d{1,2})\b)?"
)
OPERATORS = {
    said: compare
    for operators, compare in (
        ("no more than|not more than|at most|up to", le),
        ("no less than|no fewer than|not less than|at least|since", ge),
        ("more than|greater than|over|above|exceeding|after", gt),
        ("less than|fewer than|under|below|before", lt),
        ("exactly", eq),
    )
    for said in operators.split("|")
}
UNITS = {
    word: unit
    for unit, said in (
        *(("eur", "eur euro euros €"), ("usd", "usd dollar dollars $"), ("gbp", "gbp pound pounds £")),
        *(("m", "m metre metres meter meters"), ("m²", "m² m2 sqm"), ("km", "km kilometres kilometers")),
        *(("kg", "kg kilo kilos kilograms"), ("l", "l litre litres"), ("h", "h hour hours")),
        *(("min", "min minute minutes"), ("%", "% percent"), ("kw", "kw kilowatts"), ("cm", "cm")),
    )
    for word in said.split()
}
SCALES = {("h", "min"): 60, ("min", "h"): 1 / 60, ("m", "cm"): 100, ("cm", "m"): 1 / 100, ("km", "m"): 1000}
"""Numbers of the second unit that make one of the first."""
COMPARED = re.compile(
    rf"(?:\b(?P<word>[\w²]{{1,30}}) )?"
    rf"(?:\b(?P<operator>{'|'.join(OPERATORS)}|(?P<degree>{'|'.join(w for w in DEGREES if w.endswith('er'))}) than) )?"
    r"(?<![\w/.,-])(?P<currency>[€$£])?(?P<value>\d{1,9}(?:[.,]\d{1,6})?)(?!\d|[\w/.,-]\d)"
    r"(?: ?(?P<behind>[€%]|[a-z²]{1,30}))?"
)
AMBIGUOUS = re.compile(r"(?<![\d.,])(?:\d{1,3}\.\d{3}|0,\d{3})(?![\d.,])")
"""Numbers that are thousands in one country and decimals in another."""
FREE = re.compile(
    r"\b(?:free of charge|for free|gratis|costs? nothing|without charge)\b|(?<=\bare )free\Z|(?<=\bis )free\Z"
)
"""How a question says that something has no price."""
