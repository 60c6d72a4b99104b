"""Documents at ``http`` and ``https`` addresses: fetched once, within limits, then recognised like any file."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import requests

from trivium.common.fetching import charset_of, leads_to_public, limited_session
from trivium.common.retries import PassingError, retried
from trivium.errors import InputError
from trivium.parser.documents.formats import document_formats, format_of_name
from trivium.parser.encodings import as_utf8
from trivium.parser.sources.read_files import read_document
from trivium.parser.sources.recognise_format import recognise
from trivium.parser.sources.source_items import Format, Item
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits

_CONNECT_SECONDS, _READ_SECONDS, _WHOLE_SECONDS = 10.0, 30.0, 120.0
_MAX_REDIRECTS = 5
_RETRIES = 1
_WAIT_SECONDS = 1.0
_BLOCK = 1 << 16
_PASSING = frozenset((429, 500, 502, 503, 504))


def fetch(address: str, format: Format = "auto", limits: InputLimits = DEFAULT_LIMITS) -> Item:
    """Fetch the document at an address. Its path is the host and path of the address after redirects, so that pages of
    one site find each other by their links.

    Any address reachable from this machine is fetched, including its private network: fetch only addresses given by the
    user. From a public address, redirects are followed to public ones only. Raises InputError when there is no such
    document, when it is too large or slow or in an unsupported format, and when redirects lead to other schemes than
    ``http`` and ``https``.
    """
    until = time.monotonic() + _WHOLE_SECONDS
    with (
        tempfile.TemporaryDirectory(prefix="trivium-") as folder,
        limited_session(_WHOLE_SECONDS, leads_to_public(address)) as session,
    ):
        try:
            file, place, charset = retried(
                lambda: _download(session, address, Path(folder), limits, until),
                _RETRIES,
                lambda *_: _WAIT_SECONDS,
            )
        except PassingError as error:
            raise InputError(str(error)) from error
        kind = recognise(file, limits) if format == "auto" else format
        found = document_formats().get(kind)
        if found is None:
            raise InputError(f"expected a document, got {kind}: download the file and build from that")
        content = read_document(file, limits)
        return Item(
            kind, address, content=as_utf8(content, charset) if found.media_types else content, path=place
        )


def _download(
    session: requests.Session, address: str, folder: Path, limits: InputLimits, until: float
) -> tuple[Path, str, str | None]:
    """Return the downloaded file, its path, and the encoding its server names. Raises InputError, and PassingError if a
    retry may succeed.
    """
    try:
        with session.get(address, stream=True, timeout=(_CONNECT_SECONDS, _READ_SECONDS)) as response:
            if response.status_code in _PASSING:
                raise PassingError(f"the server answers {response.status_code} {response.reason}")
            if not response.ok:
                raise InputError(f"the server answers {response.status_code} {response.reason}")
            place = _place(response.url)
            file = folder / _file_name(place, response.headers.get("Content-Type", ""))
            _write(response, file, limits.document_bytes, until)
            return file, place, charset_of(response)
    except InputError:
        raise
    except requests.exceptions.TooManyRedirects as error:
        raise InputError(f"more than {_MAX_REDIRECTS} redirects") from error
    except (requests.exceptions.InvalidSchema, requests.exceptions.InvalidURL, ValueError) as error:
        raise InputError(f"it leads to no http or https address: {error}") from error
    except requests.exceptions.SSLError as error:
        raise InputError(f"the certificate of the server cannot be trusted: {error}") from error
    except (requests.exceptions.RequestException, OSError) as error:
        if time.monotonic() > until:
            raise InputError(_too_slow()) from error
        raise PassingError(f"cannot be fetched: {_reason(error)}") from error


def _too_slow() -> str:
    return f"to fetch it takes more than {_WHOLE_SECONDS:g} seconds, the limit"


def _reason(error: Exception) -> str:
    if isinstance(error, requests.exceptions.Timeout):
        return "the server takes too long"
    if isinstance(error, requests.exceptions.ConnectionError):
        return "there is no connection to the server"
    return str(error)


def _write(response: requests.Response, file: Path, most: int, until: float) -> None:
    """Write the body to a file. Raises InputError when it is too large or slow."""
    size = 0
    with file.open("wb") as out:
        for block in response.iter_content(_BLOCK):
            size += len(block)
            if size > most:
                raise InputError(f"the document has more than {most:,} bytes, the limit")
            out.write(block)
    if time.monotonic() > until:  # a body without a length seems complete when its connection is cut
        raise InputError(_too_slow())


def _place(address: str) -> str:
    """Return the path of a page in the collection.

    >>> _place("https://example.org:8000/docs/a%20b.html?v=1#top"), _place("http://example.org")
    ('example.org:8000/docs/a b.html', 'example.org/index.html')
    """
    parts = urlsplit(address)
    path = unquote(parts.path).lstrip("/")
    path = path + "index.html" if not path or path.endswith("/") else path
    return f"{parts.netloc.rpartition('@')[2].lower()}/{path}"


def _file_name(place: str, content_type: str) -> str:
    """Return a name with the suffix of the content type, unless it has a known one."""
    suffix = PurePosixPath(place).suffix.lower()
    known = format_of_name(place) is not None
    media_type = content_type.partition(";")[0].strip().lower()
    labelled = next((one for one in document_formats().values() if media_type in one.media_types), None)
    if labelled is not None and (labelled.name == "html" or not known):
        return f"document{labelled.suffixes[0]}"
    return f"document{suffix}" if known else "document"
