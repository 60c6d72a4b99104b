"""Natural Questions, or data in the same format, from Hugging Face ``datasets``, streamed row by row."""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Iterator, Mapping
from typing import Any

from trivium.errors import InputError, MissingExtraError
from trivium.parser.sources.natural_question_rows import as_row, document_of
from trivium.parser.sources.source_items import HUGGING_FACE, Item, Problem

PREFIX = HUGGING_FACE
_FILE_FORMATS = ("json", "parquet")


def check(source: str) -> None:
    """Raise InputError when a source is not ``hf:NAME[:SPLIT]``, ``hf:json:PATH`` or ``hf:parquet:PATH``, and
    MissingExtraError when the package ``datasets`` is not installed.
    """
    _arguments(source)
    if importlib.util.find_spec("datasets") is None:
        raise MissingExtraError("reading Hugging Face data sets", "datasets")


def rows(source: str) -> Iterator[Mapping[str, object]]:
    """Yield the rows of a source. Raises the errors of :func:`check`, and InputError when it cannot be read fully."""
    check(source)
    arguments = _arguments(source)
    # Imported here because the package is optional and takes seconds to import.
    datasets: Any = importlib.import_module("datasets")
    try:
        yield from datasets.load_dataset(**arguments, streaming=True)
    except Exception as error:  # its readers raise errors of many libraries
        reason = str(error).splitlines()[0] if str(error) else ""
        raise InputError(f"{source} cannot be read: {type(error).__name__}: {reason}") from error


def items(source: str) -> Iterator[Item | Problem]:
    """Yield one item per row, with the document as its content. An interrupted stream ends with a Problem."""
    number = 0
    try:
        for number, row in enumerate(rows(source), 1):
            place = f"{source}, row {number}"
            try:
                document = document_of(as_row(row))
            except InputError as error:
                yield Problem(place, str(error))
                continue
            content = {"document": {key: document.get(key) for key in ("html", "title", "url")}}
            yield Item("nq", place, content=json.dumps(content).encode("ascii"))
    except InputError as error:
        yield Problem(f"{source}, after row {number}", str(error))


def _arguments(source: str) -> dict[str, str]:
    first, _, rest = source.removeprefix(PREFIX).partition(":")
    if first in _FILE_FORMATS and rest:
        return {"path": first, "data_files": rest, "split": "train"}
    if not first or first in _FILE_FORMATS:
        raise InputError(f"expected hf:NAME[:SPLIT], hf:json:PATH or hf:parquet:PATH, got {source!r}")
    return {"path": first, "split": rest or "train"}
