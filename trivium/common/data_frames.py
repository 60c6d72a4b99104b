"""Rows of values as a pandas DataFrame. pandas is optional and imported on demand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from trivium.errors import MissingExtraError

if TYPE_CHECKING:
    from pandas import DataFrame


def data_frame(rows: Iterable[Mapping[str, object]], columns: Sequence[str] = ()) -> DataFrame:
    """Create a DataFrame with one line per row; the named ``columns`` come first, then the others in order of first
    appearance. Missing values are NaN. Raises MissingExtraError without pandas.
    """
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("a data frame", "pandas") from error
    listed = [dict(row) for row in rows]
    names = dict.fromkeys([*columns, *(name for row in listed for name in row)])
    return pandas.DataFrame(listed, columns=list(names))
