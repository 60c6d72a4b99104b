"""Mutated files of all document formats except HTML and JSON, equally many of each."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tests.fakes.hostile_files import archive, good_files, unpacked
from torture.cases import Kind, Outcome, dice
from torture.documents import tried
from torture.formats import Documents, source_check
from torture.mutations import mutated
from trivium.parser.documents.formats import BUILT_IN


def outcomes(seeds: Iterator[int], scratch: Path) -> Iterator[Outcome]:
    """See :data:`torture.cases.Outcomes`."""
    return tried(seeds, scratch, case, formats)


@cache
def formats() -> Mapping[str, Documents]:
    """Return the formats whose readers are installed, by file name extension."""
    known = {
        suffix[1:] for format in BUILT_IN.values() if format.name != "html" for suffix in format.suffixes
    }
    check = source_check("auto")
    found = {}
    for suffix, good in good_files().items():
        if suffix in known and (not good.package or find_spec(good.package) is not None):
            found[suffix] = Documents(f".{suffix}", [good.make()], check)
    return found


def case(seed: int) -> tuple[str, bytes]:
    """Return the format and the file of a seed; formats take turns."""
    drawn = dice("files", seed)
    name = list(formats())[seed % len(formats())]
    originals = formats()[name].originals
    original = drawn.choice(originals)
    if original.startswith(b"PK") and drawn.random() < 0.7:
        return name, _in_a_part(original, drawn)
    return name, mutated(original, originals, drawn)


def _in_a_part(data: bytes, drawn: random.Random) -> bytes:
    """Return an intact archive in which one or two members are damaged."""
    parts = unpacked(data)
    for _ in range(drawn.randint(1, 2)):
        name = drawn.choice(list(parts))
        parts[name] = mutated(parts[name], [drawn.choice(list(parts.values()))], drawn)
    try:
        return archive(parts)
    except (ValueError, zipfile.BadZipFile):
        return data


KIND = Kind("files", 2.0, 60, outcomes)
