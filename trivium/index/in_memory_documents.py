"""Documents that a program has in memory, loaded as if they were files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

import orjson

from trivium.common.argument_checks import shown
from trivium.errors import InputError
from trivium.text.normalise import composed, has_lone_surrogate

_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
_MAX_NAME = 255
"""Maximum number of bytes of the last part of a name, as for files."""


@contextmanager
def as_files(files: Mapping[str, str | bytes]) -> Iterator[dict[str, str]]:
    """Write contents to temporary files, and yield the names by path. Raises InputError for a name that no file can
    have, and for contents that are neither text nor bytes.
    """
    if not isinstance(files, Mapping):
        raise InputError(
            f"expected contents by name, {{'notes.md': '# Notes ...'}}, got {type(files).__name__}"
        )
    with TemporaryDirectory(prefix="trivium-") as folder:
        names: dict[str, str] = {}
        seen: set[str] = set()
        for number, (name, content) in enumerate(files.items()):
            file = Path(folder, str(number), _last_part(name))
            if not isinstance(content, str | bytes):
                raise InputError(f"{name}: expected text or bytes, got {type(content).__name__}")
            file.parent.mkdir()
            file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
            if composed(name) in seen:
                raise InputError(
                    f"expected names that differ, got {name!r} twice, its letters composed in two ways"
                )
            seen.add(composed(name))
            names[str(file)] = name
        yield names


@contextmanager
def as_records(records: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """Write records to a temporary file, one at a time, and yield its path. Values that JSON does not know are written
    as text. Raises InputError for a record that is no mapping, and for a value that is no text of its own.
    """
    if isinstance(records, Mapping | str | bytes) or not isinstance(records, Iterable):
        raise InputError(
            "expected a list of records, [{'title': ..., 'text': ...}], got a single"
            f" {'record' if isinstance(records, Mapping) else type(records).__name__}"
        )
    with TemporaryDirectory(prefix="trivium-") as folder:
        file = Path(folder, "records.jsonl")
        with file.open("wb") as out:
            for number, record in enumerate(records, 1):
                out.write(record_line(record, f"record {number}"))
        yield str(file)


def record_line(record: Mapping[str, object], name: str) -> bytes:
    """Return a record as a line of JSON. ``name`` is for errors."""
    if not isinstance(record, Mapping):
        raise InputError(f"{name}: expected a mapping with title and text, got {type(record).__name__}")
    try:
        return orjson.dumps(dict(record), default=_as_text, option=_OPTIONS)
    except TypeError:  # large numbers, lone surrogates, values that contain themselves or are no text
        values = {}
        for key, value in record.items():
            try:
                values[json.dumps(str(key))] = json.dumps(value, default=_as_text)
            except (TypeError, ValueError, RecursionError) as error:
                raise InputError(f"{name}: {error}, in {str(key)!r:.80}") from error
        return ("{" + ", ".join(f"{key}: {value}" for key, value in values.items()) + "}\n").encode()


def _as_text(value: object) -> object:
    """Return what to write of a value that JSON does not know. Raises TypeError for an object whose text would only
    be its type and address.
    """
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if isinstance(value, bytes | bytearray) or type(value).__str__ is object.__str__:
        raise TypeError(f"expected a text, a number, a date or a list of them, got {type(value).__name__}")
    return str(value)


def _last_part(name: str) -> str:
    """Return the file name at the end of a name, which may have folders.

    >>> _last_part("guide/setup.md")
    'setup.md'
    """
    parts = PurePosixPath(name.replace("\\", "/")).parts if isinstance(name, str) else ()
    last = parts[-1] if parts else ""
    if (
        not last.strip("/. ")
        or ".." in parts
        or "\0" in name
        or has_lone_surrogate(name)
        or len(last.encode()) > _MAX_NAME
    ):
        raise InputError(f"expected the name of a file, such as 'guide/setup.md', got {shown(name)}")
    return last
