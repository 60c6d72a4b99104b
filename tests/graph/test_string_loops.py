"""Compiled loops over tables of strings do what Python does with lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.graph.compiled_loops import rows_before
from trivium.graph.schema import SEPARATOR, page_of
from trivium.graph.string_table import StringTable

URIS = st.lists(
    st.lists(st.sampled_from(["A", "Ä", "b", "", "#", "#chunk-", "#chunk-1", "é#"]), max_size=4).map("".join),
    max_size=12,
)


def table(kept: list[str], added: list[str]) -> StringTable:
    """Some strings that were there, without a row that was removed, and others that came later."""
    old = sorted({*kept, "#gone"})
    gone = np.array([old.index("#gone")])
    return StringTable.of(old).patched(gone, sorted({*added} - set(old)))[0]


@given(URIS, URIS, URIS, URIS)
@settings(max_examples=150, deadline=None)
def test_rows_of_what_comes_before_a_mark(a: list[str], b: list[str], c: list[str], d: list[str]) -> None:
    uris, others = table(a, b), table(c, d)
    rows = {text: row for row, text in enumerate(others[:])}
    assert rows_before(uris, SEPARATOR, others).tolist() == [rows.get(page_of(uri), -1) for uri in uris[:]]
