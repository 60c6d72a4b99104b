"""The language of conditions: what is read, what is refused and where, and what comparisons mean."""

from __future__ import annotations

import re
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.errors import InputError
from trivium.graph.filter_conditions import All, Any, Comparison, Condition, Field, Not, Operator
from trivium.graph.filter_language import MAX_CHARACTERS, MAX_DEPTH, parse
from trivium.graph.filter_matching import Allowed, ChunkFacts, Coded, matching
from trivium.graph.records import PageRecord
from trivium.types import ChunkKind, MetadataValue


def test_a_condition_is_read_as_it_is_written() -> None:
    """By hand: ``and`` binds tighter than ``or``, ``not`` tighter than both."""
    year = Comparison(None, "year", Operator.AT_LEAST, (2020,))
    source = Comparison(Field.SOURCE, "", Operator.EQUAL, ("reports/*",))
    draft = Comparison(None, "draft", Operator.EXISTS)
    assert parse("year >= 2020 and source = 'reports/*'") == All((year, source))
    assert parse("draft exists or year>=2020 AND Source='reports/*'") == Any((draft, All((year, source))))
    assert parse("not (draft exists or year >= 2020)") == Not(Any((draft, year)))
    assert parse("not draft exists and year >= 2020") == All((Not(draft), year))


@pytest.mark.parametrize(
    ("text", "comparison"),
    [
        ("year != -3.5e1", Comparison(None, "year", Operator.UNEQUAL, (-35.0,))),
        ("kind in (table, 'image')", Comparison(Field.KIND, "", Operator.IN, ("table", "image"))),
        ("modified < 2024-05-01", Comparison(Field.MODIFIED, "", Operator.LESS, ("2024-05-01",))),
        ("draft = true", Comparison(None, "draft", Operator.EQUAL, (True,))),
        ("meta.page = 3", Comparison(None, "page", Operator.EQUAL, (3,))),
        ("'net sales' like 'a \\' b*'", Comparison(None, "net sales", Operator.LIKE, ("a ' b*",))),
        ('meta."a.b" == x', Comparison(None, "a.b", Operator.EQUAL, ("x",))),
        ("größe <> 1", Comparison(None, "größe", Operator.UNEQUAL, (1,))),
    ],
)
def test_comparisons(text: str, comparison: Comparison) -> None:
    """Values are typed, names may be quoted, and a metadata key may have the name of a field."""
    assert parse(text) == comparison


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected the name of a field, got the end at character 1: »"),
        ("year", "after year, got the end at character 5"),
        ("year >= ", "expected a value, got the end at character 9: year >= »"),
        (
            "year >= 2020 source = 1",
            "expected 'and', 'or' or the end, got 'source' at character 14: year >= 2020 »",
        ),
        ("(year = 1", "expected a closing parenthesis, got the end"),
        ("year in 1", "expected an opening parenthesis after 'in', got '1'"),
        ("year in (1 2)", "expected a comma or a closing parenthesis, got '2'"),
        ("source = 'reports", "expected the end of this text at character 10"),
        ("year = 1; drop", "expected a name, a value or a sign at character 9"),
        ("page = many", "expected the number of a page at character 8"),
        ("kind = tabel", "expected one of the kinds paragraph, list, table"),
        ("and = 1", "expected the name of a field, got 'and' at character 1"),
        ("year = 1e300", "expected a number below 2^63"),
        ("modified >= 2026-13", "expected a date"),
        ("modified >= '2026-13'", "expected a date such as 2024"),
        ("added = yesterday", "expected a date such as 2024"),
        ("added = 20240501", "expected a date such as 2024"),
        ("when > 2023-02-29", "expected a date that there is"),
        ("when > 2023-02-28T25:00", "expected a date that there is"),
        ("draft not exists", "write  not draft exists"),
        ("pages = many", "expected the number of a page"),
        ("(" * (MAX_DEPTH + 1), f"at most {MAX_DEPTH} levels"),
        ("x" * (MAX_CHARACTERS + 1), "may have 4,000 characters, got 4,001"),
    ],
)
def test_what_is_no_condition_is_refused_with_the_place(text: str, problem: str) -> None:
    with pytest.raises(InputError) as raised:
        parse(text)
    assert problem in str(raised.value)


NAMES = st.one_of(
    st.sampled_from(["year", "page", "and", "a.b", "x y", 'q"']), st.text(min_size=1, max_size=5)
)
VALUES: st.SearchStrategy[MetadataValue] = st.one_of(
    st.booleans(), st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6), st.text(max_size=6)
)
OPERATORS = st.sampled_from([Operator.EQUAL, Operator.UNEQUAL, Operator.LESS, Operator.AT_LEAST])
COMPARISONS: st.SearchStrategy[Condition] = st.one_of(
    st.builds(lambda key, sign, value: Comparison(None, key, sign, (value,)), NAMES, OPERATORS, VALUES),
    st.builds(
        lambda key, values: Comparison(None, key, Operator.IN, tuple(values)),
        NAMES,
        st.lists(VALUES, min_size=1, max_size=3),
    ),
    st.builds(lambda key: Comparison(None, key, Operator.EXISTS), NAMES),
)
CONDITIONS = st.recursive(
    COMPARISONS,
    lambda parts: st.one_of(
        st.builds(Not, parts),
        st.builds(lambda both: All(tuple(both)), st.lists(parts, min_size=2, max_size=3)),
        st.builds(lambda both: Any(tuple(both)), st.lists(parts, min_size=2, max_size=3)),
    ),
    max_leaves=6,
)


@given(CONDITIONS)
def test_a_condition_is_the_same_when_its_text_is_read_again(condition: Condition) -> None:
    """Whatever names and texts are in it."""
    assert parse(str(condition)) == condition


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    """And nothing else happens."""
    with suppress(InputError):
        parse(text)


def _matches(text: str, value: MetadataValue | None) -> bool:
    page = PageRecord("P", "", None, "", metadata={} if value is None else {"x": value})
    facts = ChunkFacts(
        ["P#chunk-1"], lambda: [page], lambda: (Coded.of(["paragraph"]), np.zeros((1, 2), np.int64))
    )
    return bool(matching(parse(text), facts)[0])


@pytest.mark.parametrize(
    ("text", "value", "fits"),
    [
        ("x = 1", 1, True),
        ("x = 1", 1.0, True),
        ("x = 1", "1", True),
        ("x = '1'", 1, True),
        ("x = 1", True, False),
        ("x = true", True, True),
        ("x = true", "True", True),
        ("x < 10", 9, True),
        ("x < 10", "9", True),
        ("x < '10'", "9", False),  # as texts
        ("x < 10", "many", False),
        ("x >= 2020", "2021-03-01", True),
        ("x = 2024-05", "2024-05-31T10:00:00Z", True),
        ("x <= 2024-05-01", "2024-05-01T23:00:00Z", True),
        ("x > 2024-05-01", "2024-05-01T23:00:00Z", False),
        ("x = 'a*c'", "abbc", True),
        ("x = 'a*c'", "ABBC", False),
        ("x like 'a*c'", "ABBC", True),
        ("x = 'a*a'", "a", False),
        ("x in ('*b*b*', q)", "abab", True),
        ("x in ('*b*b*', q)", "ab", False),
        ("x != 1", 2, True),
        ("x != 1", None, False),
        ("not x = 1", None, True),
        ("x exists", None, False),
        ("x exists", "", False),
        ("x exists", False, True),
        ("x < true", False, False),
        ("x >= '10'", 8, False),
        ("x >= '10'", 12, True),
        ("x = '8.0'", 8, True),
        ("x = 8.0", 8, True),
        ("x != '8.0'", 8, False),
        ("x < 'many'", 8, False),
        ("x = '007'", "007", True),
        ("x = '7'", "007", False),  # two texts
        ("x = 7", "007", True),
        ("x = 1", "nan", False),
        ("x = 2024-05-01T10:00:00Z", "2024-05-01T10:00:00+00:00", True),
        ("x = '2024-05-01T12:00:00+02:00'", "2024-05-01T10:00:00Z", True),
        ("x < 2024-05-01T11:00:00+02:00", "2024-05-01T10:00:00Z", False),
        ("x <= 2024-05-01T10:00", "2024-05-01T10:00:00+00:00", True),
        ("x < 2024-05-01T10:00:00Z", "2024-05-01", True),
        ("x = 2024-05-01", "2024-05-01T10:00:00+00:00", True),
        ("x = '2024-13-01T10:00:00Z'", "2024-13-01T10:00:00Z", True),  # a text
        ("x = alpha", "alpha, beta", True),
        ("x = 'alpha, beta'", "alpha, beta", True),
        ("x in (beta, gamma)", "alpha, beta", True),
        ("x = 'b*a'", "alpha, beta", True),
        ("x like 'BET*'", "alpha, beta", True),
        ("x = alp", "alpha, beta", False),
        ("x != alpha", "alpha, beta", False),
        ("x = 2020", "2019, 2020", True),
    ],
)
def test_what_comparisons_mean(text: str, value: MetadataValue | None, fits: bool) -> None:
    assert _matches(text, value) is fits


@pytest.mark.parametrize(
    ("text", "hints"),
    [
        ("Year = 2023", ["no document has 'Year' in its metadata: did you mean year?"]),
        ("yaer = 2023 and year = 2020", ["no document has 'yaer' in its metadata: did you mean year?"]),
        ("'title' = P", ["no document has 'title' in its metadata: did you mean the field title, without"]),
        ("nosuch = 3", ["no document has 'nosuch' in its metadata"]),
        ("nosuch = 3 and kind = paragraph", ["no document has 'nosuch' in its metadata"]),
        ("year = 2023", ["no passage has  year = 2023 : year is 2020"]),
        ("not year exists", []),
        ("kind = table", ["no passage has  kind = 'table' : kind is 'paragraph'"]),
        ("added exists", ["no passage has  added exists : added has no value in any document"]),
    ],
)
def test_a_condition_that_nothing_fulfils_is_told_of_unknown_names_and_of_the_values_there_are(
    text: str, hints: list[str]
) -> None:
    page = PageRecord("P", "", None, "", metadata={"year": 2020})
    facts = ChunkFacts(
        ["P#chunk-1"], lambda: [page], lambda: (Coded.of(["paragraph"]), np.zeros((1, 2), np.int64))
    )
    first, *more = Allowed.of(parse(text), facts).hints
    assert first == "no passage fulfils the condition"
    assert len(more) == len(hints) and all(map(str.startswith, more, hints))
    assert Allowed.of(parse("year = 2020 or nosuch = 3"), facts).hints == ()


@pytest.mark.parametrize(
    ("text", "meant", "found"),
    [
        ("path like 'docs/*'", "source like 'docs/*'", 3),
        ("path = 'docs/a/one.md' and year > 2000", "source like 'docs/a/one.md'", 1),
        ("title = 'ONE'", "title like 'ONE'", 1),
        ("title = 'Thre'", "title like '*Thre*'", 1),
        ("author = 'Ada Lovelase' or year = 1", "author = 'Ada Lovelace'", 1),
        ("source = '/docs/*'", "source like '*/docs/*'", 3),
        ("author = 'Grace' and year = 2001", None, 0),
        ("author = 'Ada Lovelase' and year = 2003", None, 0),
    ],
)
def test_what_a_hint_suggests_finds_something(text: str, meant: str | None, found: int) -> None:
    """It is tried in the whole condition; where it finds nothing there, only the values are told."""
    titles = ("One", "Two", "Three")
    pages = [
        PageRecord(
            title, f"/home/ada/docs/{folder}/{title.lower()}.md", None, "", path=f"{folder}/{title.lower()}.md",
            metadata={"year": 2001 + n, "author": "Ada Lovelace" if n == 0 else "Alan Turing"},
        )
        for n, (title, folder) in enumerate(zip(titles, "aab", strict=True))
    ]  # fmt: skip
    chunks = sorted(f"{title}#chunk-1" for title in titles)
    pages.sort(key=lambda page: page.uri)
    details = (Coded.of(["paragraph"] * 3), np.zeros((3, 2), np.int64))
    facts = ChunkFacts(chunks, lambda: pages, lambda: details)
    hints = Allowed.of(parse(text), facts).hints
    assert len(hints) == 2 + text.count("or year = 1") and "/home/ada" not in " ".join(hints)
    (suggested,) = re.findall(r"did you mean  (.*) \?", hints[1]) or [None]
    assert suggested == meant
    if suggested is not None:
        assert Allowed.of(parse(suggested), facts).count == found


@given(st.text("ab", max_size=8), st.text("ab*", max_size=6))
def test_patterns_are_those_of_regular_expressions(value: str, pattern: str) -> None:
    """An independent oracle."""
    wanted = re.fullmatch(pattern.replace("*", ".*"), value) is not None
    assert value == "" or _matches(f"x like '{pattern}'", value) is wanted


def test_conditions_with_values_of_other_types_are_others() -> None:
    """What a condition leaves is remembered by the condition."""
    conditions = [parse(f"x = {value}") for value in ("1", "true", "1.0", "'1'")]
    assert len(set(conditions)) == 4


def test_many_patterns_are_each_of_them() -> None:
    asked = ["a*b*c", "*b", "x.y*", "a(*", "*", "**a*b", "ab"]
    for value in ("aXbYc", "b", "x.yz", "xzy", "a(", "ab", "ba", "abc", "a\nb\nc"):
        alone = [_matches(f"x = '{pattern}'", value) for pattern in asked if pattern != "*"]
        together = ", ".join(f"'{pattern}'" for pattern in asked if pattern != "*")
        assert _matches(f"x in ({together})", value) is any(alone)


def test_every_kind_of_chunk_can_be_asked_for() -> None:
    for kind in ChunkKind:
        assert parse(f"kind = {kind}") == Comparison(Field.KIND, "", Operator.EQUAL, (str(kind),))


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("source = 'reports/*'", True),
        ("source = 'x.pdf'", True),
        ("source in ('2024/x.pdf', y)", True),
        ("source like 'REPORTS/*'", True),
        ("source = 'eports/*'", False),
        ("source = '/reports/*'", False),
        ("source != 'reports/*'", False),
        ("path = '2024/*'", True),
        ("document = 'reports/2024/x.pdf'", True),
        ("document = 'y.pdf'", False),
        ("pages = 3", True),
        ("pages >= 4", False),
        ("title = 'x.pdf'", False),
        ("modified = 2024-05-01T12:00:00+02:00", True),
        ("modified >= 2024", True),
    ],
)
def test_places_may_be_named_from_any_folder_on(text: str, fits: bool) -> None:
    """``reports/*`` is what the user sees; the source begins at the root."""
    page = PageRecord(
        "a/x.pdf",
        "/home/ada/reports/2024/x.pdf",
        None,
        "",
        path="reports/2024/x.pdf",
        modified="2024-05-01T10:00:00Z",
    )
    facts = ChunkFacts(
        ["a/x.pdf#chunk-1"], lambda: [page], lambda: (Coded.of(["paragraph"]), np.array([[2, 3]]))
    )
    assert bool(matching(parse(text), facts)[0]) is fits
