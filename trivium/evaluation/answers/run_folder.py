"""The folder of a run, which is written incrementally so that the run can be interrupted and resumed.

``settings.json`` holds everything the answers depend on. ``*.jsonl`` get one line per answer or judgement
immediately. A folder that was started with other settings is rejected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trivium.common.safe_files import write_file
from trivium.errors import InputError

SETTINGS = "settings.json"
_KEYED = ("rows", "judges")
"""Settings with named entries: entries may be added, but existing ones must not change."""


def begin(folder: Path, settings: Mapping[str, Any], files: Sequence[str]) -> None:
    """Prepare the folder for these settings, or resume in it. ``files`` are patterns of the files of a run besides its
    settings.

    Raises InputError, naming the settings that differ, if it was started with other ones.
    """
    wanted = json.loads(json.dumps(settings))
    path = folder / SETTINGS
    if not path.exists():
        if any(found for name in files for found in folder.glob(name)):
            raise InputError(f"{folder}: expected an empty folder, or that of a run; it lacks {SETTINGS}")
        write_file(path, json.dumps(wanted, indent=2) + "\n")
        return
    recorded = _read(path)
    changed = [
        f"{key}: {recorded.get(key)!r} before, {wanted.get(key)!r} now"
        for key in {**recorded, **wanted}
        if key not in _KEYED and recorded.get(key) != wanted.get(key)
    ]
    for key in _KEYED:
        before, now = recorded.get(key, {}), wanted.get(key, {})
        changed += [f"{key[:-1]} {name}" for name in now if name in before and before[name] != now[name]]
        wanted[key] = {**before, **now}
    if changed:
        raise InputError(
            f"{folder} was begun with other settings ({'; '.join(changed)}): name another folder with --out,"
            " or remove it to answer everything anew"
        )
    if wanted != recorded:
        write_file(path, json.dumps(wanted, indent=2) + "\n")


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected the settings of a run, got something unreadable") from error
    if not isinstance(value, dict):
        raise InputError(f"{path}: expected the settings of a run, got something else")
    return value
