"""Opening the sources that users name: dump files, folders, globs and endpoints."""

from __future__ import annotations

import glob
import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from trivium.errors import InputError, MissingExtraError
from trivium.graph.dbpedia.dump_files import DumpSource, readable_file
from trivium.graph.dbpedia.mapping import Titles
from trivium.graph.dbpedia.source import Source
from trivium.settings.settings import load_settings


def open_source(name: str, language: str = "en") -> Source:
    """A SPARQL endpoint (``https://dbpedia.org/sparql``), or the dump files of a path, folder or glob.

    What an endpoint has answered in this month is kept in a file under the home folder of the settings. Raises
    InputError when nothing is there, MissingExtraError when a package is missing.
    """
    if "://" in name:
        return _endpoint(name, language)
    return DumpSource(_expand(name), Titles(language))


def _endpoint(url: str, language: str) -> Source:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise InputError(
            "the address of an endpoint must look like https://host/sparql, without a user or password"
        )
    if readable_file(Path(parts.path)):
        raise InputError(f"{url} is a file, not an endpoint: download it first, then name the file")
    try:
        from trivium.graph.dbpedia.sparql_client import SparqlClient
        from trivium.graph.dbpedia.sparql_source import SparqlSource
    except ImportError as error:
        raise MissingExtraError("asking a SPARQL endpoint", "dbpedia") from error
    settings = load_settings()
    key = hashlib.sha256(repr((url, language)).encode()).hexdigest()[:12]
    answers = settings.home / "dbpedia" / f"{parts.hostname}-{key}-{datetime.now(UTC):%Y-%m}.jsonl"
    for earlier in set(answers.parent.glob(f"{parts.hostname}-{key}-*.jsonl")) - {answers}:
        earlier.unlink(missing_ok=True)
    return SparqlSource(SparqlClient(url, settings.contact), answers, language)


def _expand(name: str) -> list[Path]:
    """The files a name stands for, sorted; of a folder those that look like dumps."""
    path = Path(name)
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if file.is_file() and readable_file(file))
    elif os.path.lexists(path) or not glob.has_magic(name):
        if not path.exists():
            raise InputError(
                f"there is no file or folder {name!r}; expected a path, a glob or https://host/sparql"
            )
        found = [path]
    else:
        found = [Path(match) for match in sorted(glob.glob(name, recursive=True))]  # noqa: PTH207 - may be absolute
        found = [match for match in found if match.is_file()]
    if not found:
        raise InputError(f"there are no dump files in {name!r}")
    return found
