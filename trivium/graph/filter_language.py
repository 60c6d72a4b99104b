"""Conditions on what is searched: a small language.

    year >= 2020 and source = 'reports/*' and not (kind in (table, image) or draft exists)

It is parsed to what :mod:`trivium.graph.filter_conditions` has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from trivium.errors import InputError
from trivium.graph.filter_comparisons import compared
from trivium.graph.filter_conditions import (
    FIELDS,
    META,
    WORDS,
    All,
    Any,
    Comparison,
    Condition,
    Field,
    Literal,
    Not,
    Operator,
    Where,
    joined,
)
from trivium.types import ChunkKind

MAX_CHARACTERS = 4_000
"""The longest condition."""
MAX_DEPTH = 50
"""How deep parentheses and ``not`` may be nested."""
MAX_COMPARISONS = 100
"""How many comparisons a condition may have, and values with an asterisk. All texts of one field that are compared by
``=`` are one comparison.
"""


def parse(where: Where) -> Condition:
    """A condition from its text; one that is parsed already is given back.

    >>> print(parse("year >= 2020 and not kind = table"))
    (year >= 2020) and (not (kind = 'table'))

    Raises InputError, which shows the place, for what is no condition.
    """
    if not isinstance(where, str):
        if isinstance(where, Comparison | Not | All | Any):
            return where
        raise InputError(f"expected a condition as text, got {type(where).__name__}")
    if len(where) > MAX_CHARACTERS:
        raise InputError(f"a condition may have {MAX_CHARACTERS:,} characters, got {len(where):,}")
    return _parsed(where)


@lru_cache(maxsize=64)
def _parsed(text: str) -> Condition:
    # What a server is asked is parsed as a field of the request, for the search and for hints.
    return _Parser(compared(text)).parse()


_DAY = re.compile(r"\d{4}-\d\d-\d\d($|[T ])")


def _is_date(text: str) -> bool:
    """Whether a text is a year, a month, a day or a time that there is, or a pattern."""
    if "*" in text:
        return True
    whole = re.fullmatch(r"(\d{4})(-\d\d)?", text)
    try:
        datetime.fromisoformat(f"{whole[1]}{whole[2] or '-01'}-01" if whole else text)
    except ValueError:
        return False
    return whole is not None or _DAY.match(text) is not None


def _cost(condition: Condition) -> int:
    """The number of comparisons of a condition, and of patterns in them."""
    if isinstance(condition, Comparison):
        return max(1, sum(isinstance(value, str) and "*" in value for value in condition.values))
    return sum(map(_cost, (condition.part,) if isinstance(condition, Not) else joined(condition)))


# -- from text ---------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<date>\d{4}-\d\d(?:-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?)?(?![\w.]))
  | (?P<number>[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
  | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<sign><=|>=|!=|<>|==|=|<|>|\(|\)|,)
  | (?P<word>[^\W\d][\w.-]*)
    """,
    re.VERBOSE | re.DOTALL,
)
_SIGNS = {"==": Operator.EQUAL, "<>": Operator.UNEQUAL} | {
    sign.value: sign
    for sign in (
        Operator.EQUAL,
        Operator.UNEQUAL,
        Operator.LESS,
        Operator.AT_MOST,
        Operator.MORE,
        Operator.AT_LEAST,
    )
}
_LARGEST = 1 << 63


class _Token(NamedTuple):
    kind: str
    text: str
    at: int

    @property
    def word(self) -> str:
        return self.text.lower() if self.kind == "word" else ""


class _Parser:
    """Recursive descent over the tokens of one condition."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._tokenise())
        self._next = 0
        self._depth = 0

    def parse(self) -> Condition:
        condition = self._any()
        if self._token.kind != "end":
            raise self._wrong("'and', 'or' or the end")
        if (count := _cost(condition)) > MAX_COMPARISONS:
            raise InputError(
                f"a condition may have {MAX_COMPARISONS} comparisons and values with an asterisk, got {count}: compare"
                " a field with several values by  in (a, b)"
            )
        return condition

    def _tokenise(self) -> Iterator[_Token]:
        at = 0
        while at < len(self._text):
            found = _TOKEN.match(self._text, at)
            if found is None:
                what = "the end of this text" if self._text[at] in "'\"" else "a name, a value or a sign"
                raise self._error(f"expected {what}", at)
            if found.lastgroup != "space":
                yield _Token(str(found.lastgroup), found.group(), at)
            at = found.end()
        yield _Token("end", "", at)

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._token
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def _takes(self, word: str) -> bool:
        if self._token.word == word or (self._token.kind == "sign" and self._token.text == word):
            self._take()
            return True
        return False

    def _any(self) -> Condition:
        parts = [self._all()]
        while self._takes("or"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else Any(tuple(parts))

    def _all(self) -> Condition:
        parts = [self._not()]
        while self._takes("and"):
            parts.append(self._not())
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _not(self) -> Condition:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"at most {MAX_DEPTH} levels of parentheses and 'not'", self._token.at)
        try:
            if self._takes("not"):
                return Not(self._not())
            if self._takes("("):
                inner = self._any()
                if not self._takes(")"):
                    raise self._wrong("a closing parenthesis")
                return inner
            return self._comparison()
        finally:
            self._depth -= 1

    def _comparison(self) -> Condition:
        token = self._token
        field, key = self._field()
        negated = self._token.word == "not"
        if negated:
            self._take()
        if not negated and self._takes("exists"):
            return Comparison(field, key, Operator.EXISTS)
        if self._takes("in"):
            found = Comparison(field, key, Operator.IN, self._list(field))
        elif self._takes("like"):
            found = Comparison(field, key, Operator.LIKE, (str(self._value(None)),))
        elif self._token.kind == "sign" and self._token.text in _SIGNS and not negated:
            operator = _SIGNS[self._take().text]
            found = Comparison(field, key, operator, (self._value(field),))
        else:
            if negated and self._token.word == "exists":
                raise self._error(
                    f"expected 'in' or 'like' after 'not': write  not {token.text} exists ", token.at
                )
            wanted = "'in' or 'like'" if negated else "=, !=, <, <=, >, >=, 'in', 'like' or 'exists'"
            raise self._wrong(f"{wanted} after {token.text}")
        return Not(found) if negated else found

    def _field(self) -> tuple[Field | None, str]:
        token = self._take()
        if token.kind == "text":
            return None, self._unquoted(token)
        if token.kind != "word" or token.word in WORDS:
            self._next -= token.kind != "end"
            raise self._wrong("the name of a field")
        if token.word == META and self._token.kind == "text":
            return None, self._unquoted(self._take())
        if token.word.startswith(META):
            return None, token.text[len(META) :]
        if token.word in FIELDS:
            return FIELDS[token.word], ""
        return None, token.text

    def _list(self, field: Field | None) -> tuple[Literal, ...]:
        if not self._takes("("):
            raise self._wrong("an opening parenthesis after 'in'")
        values = [self._value(field)]
        while self._takes(","):
            values.append(self._value(field))
        if not self._takes(")"):
            raise self._wrong("a comma or a closing parenthesis")
        return tuple(values)

    def _value(self, field: Field | None) -> Literal:
        token = self._token
        if token.kind not in ("text", "number", "date", "word") or token.word in WORDS[:6]:
            raise self._wrong("a value")
        self._take()
        value = self._literal(token)
        if field is Field.PAGE and (isinstance(value, bool) or not isinstance(value, int)):
            raise self._error("expected the number of a page", token.at)
        if field is Field.KIND and value not in tuple(ChunkKind) and "*" not in str(value):
            raise self._error(f"expected one of the kinds {', '.join(ChunkKind)}", token.at)
        if field in (Field.ADDED, Field.MODIFIED) and not _is_date(str(value)):
            raise self._error(
                "expected a date such as 2024, 2024-05, 2024-05-01 or 2024-05-01T10:00:00Z", token.at
            )
        return value

    def _literal(self, token: _Token) -> Literal:
        if token.kind == "text":
            return self._unquoted(token)
        if token.kind == "number":
            number = float(token.text)
            if re.fullmatch(r"[+-]?\d+", token.text) and len(token.text) < 20:
                return int(token.text)
            if not abs(number) < _LARGEST:
                raise self._error("expected a number below 2^63", token.at)
            return number
        if token.kind == "date" and not _is_date(token.text):
            raise self._error(
                "expected a date that there is (put it in quotation marks where it is a text)", token.at
            )
        if token.word in ("true", "false"):
            return token.word == "true"
        return token.text

    def _unquoted(self, token: _Token) -> str:
        return re.sub(r"\\(['\"\\])", r"\1", token.text[1:-1])

    def _wrong(self, expected: str) -> InputError:
        token = self._token
        got = "the end" if token.kind == "end" else repr(token.text)
        return self._error(f"expected {expected}, got {got}", token.at)

    def _error(self, problem: str, at: int) -> InputError:
        begin = max(0, at - 40)
        shown = f"{'…' if begin else ''}{self._text[begin:at]}»{self._text[at : at + 40]}"
        return InputError(f"the condition cannot be read: {problem} at character {at + 1}: {shown}")
