"""arXiv papers through the official API (https://info.arxiv.org/help/api): title and abstract of each, as one text.

The API asks its clients for three seconds between requests, one at a time; this is enforced within a process.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

from trivium.common import stopping
from trivium.common.fetching import fetch, user_agent
from trivium.errors import InputError
from trivium.metadata import clean
from trivium.parser.document import MAX_TITLE
from trivium.parser.sources.source_items import ARXIV, Item, Problem, clean_text
from trivium.settings.settings import Settings, load_settings
from trivium.text.languages import ENGLISH, function_words
from trivium.text.normalise import composed, normalise_title
from trivium.types import Chunk, ChunkKind, Page

PREFIX = ARXIV
FORMAT = "arxiv"
RESULTS = 30
"""Maximum number of papers read for a query."""
INTERVAL = 3.0
"""Minimum seconds between two requests to the API."""

_ATOM = "{http://www.w3.org/2005/Atom}"
_PRIMARY = "{http://arxiv.org/schemas/atom}primary_category"
_MAX_BYTES = 8 << 20
_MAX_WORDS = 12
_MAX_ABSTRACT = 20_000
_BUILD_SECONDS = 60.0
_FIELD = re.compile(r"\b(?:ti|au|abs|co|jr|cat|rn|id|all|submittedDate):")
_WORD = re.compile(r"\w[\w-]*")
_VERSION = re.compile(r"v\d+$")


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper as described by the API. ``address`` is that of its abstract, without a version; times are ISO 8601."""

    title: str
    abstract: str
    address: str
    published: str
    updated: str
    authors: tuple[str, ...]
    category: str


class _Pace:
    """Spaces requests by a minimum interval."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = 0.0

    def wait(self, interval: float, most: float) -> None:
        """Wait for the next slot. Raises InputError if it is more than ``most`` seconds away."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            if turn - now > most:
                raise InputError(f"it may be asked again in {turn - now:.0f} s: its API asks for such pauses")
            self._next = turn + interval
        stopping.sleep(turn - now)


_pace = _Pace()


def search(
    query: str, k: int, *, seconds: float, days: int = 0, settings: Settings | None = None
) -> list[Paper]:
    """Return the k papers that best match a query of the API, of the last ``days`` days (0: any time). Raises
    InputError when the API does not respond, or with something else.
    """
    settings = load_settings() if settings is None else settings
    began = time.monotonic()
    _pace.wait(INTERVAL if "arxiv.org" in settings.arxiv_url else 0.0, seconds)
    if days:
        query = f"({query}) AND {_window(days, datetime.now(UTC))}"
    answer = fetch(
        settings.arxiv_url,
        params={
            "search_query": query,
            "start": "0",
            "max_results": str(k),
            "sortBy": "relevance",
            "sortOrder": "descending",
        },
        headers={"User-Agent": user_agent(settings.contact)},
        seconds=max(0.1, seconds - (time.monotonic() - began)),
        max_bytes=_MAX_BYTES,
    )
    if answer.status != 200:
        raise InputError(f"the API answers HTTP {answer.status}")
    return read_feed(answer.body)[:k]


def query_of_words(text: str) -> str:
    """Create a query for papers with all words of a text. A query that names fields (``ti:``, ``au:``, ``cat:`` ...) is
    unchanged.

    >>> query_of_words("graph retrieval"), query_of_words("cat:cs.IR AND ti:graph")
    ('all:graph AND all:retrieval', 'cat:cs.IR AND ti:graph')
    """
    return text if _FIELD.search(text) else " AND ".join(f"all:{word}" for word in _words(text))


def query_of_question(text: str) -> str:
    """Create a query for papers with any of the content words of a question. The API ranks papers with more of them
    higher.

    >>> query_of_question("How do walks on graphs help retrieval?")
    'all:walks OR all:graphs OR all:help OR all:retrieval'
    """
    common = function_words(ENGLISH)
    words = _words(text)
    return " OR ".join(f"all:{word}" for word in ([word for word in words if word not in common] or words))


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word.lower() for word in _WORD.findall(text)))[:_MAX_WORDS]


def _window(days: int, now: datetime) -> str:
    """Return the date range of a query.

    >>> _window(30, datetime(2026, 3, 1, tzinfo=UTC))
    'submittedDate:[202601300000 TO 202603012359]'
    """
    return f"submittedDate:[{now - timedelta(days=days):%Y%m%d}0000 TO {now:%Y%m%d}2359]"


def read_feed(body: bytes) -> list[Paper]:
    """Parse the papers of an Atom feed. Raises InputError for anything else, and with its message for an error of the
    API.
    """
    try:
        text = body.decode("utf-8")
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            raise ValueError("it declares entities")
        feed = ElementTree.fromstring(text)  # noqa: S314 - nothing can be declared
    except (ValueError, ElementTree.ParseError, RecursionError) as error:
        raise InputError("expected an Atom feed from the API, got something else") from error
    if feed.tag != f"{_ATOM}feed":
        raise InputError(f"expected an Atom feed from the API, got the element {feed.tag[:60]}")
    papers = [_paper(entry) for entry in feed.iter(f"{_ATOM}entry")]
    return [paper for paper in papers if paper is not None]


def _paper(entry: ElementTree.Element) -> Paper | None:
    identifier = _text(entry, "id")
    abstract = composed(_text(entry, "summary"))[:_MAX_ABSTRACT]
    if "/api/errors" in identifier:
        raise InputError(f"the API refused the query: {abstract[:200]}")
    title = normalise_title(_text(entry, "title"))[:MAX_TITLE]
    _, found, name = identifier.partition("/abs/")
    if not (title and abstract and found):
        return None
    category = entry.find(_PRIMARY)
    return Paper(
        title=title,
        abstract=abstract,
        address=f"https://arxiv.org/abs/{_VERSION.sub('', name)}",
        published=_text(entry, "published"),
        updated=_text(entry, "updated"),
        authors=tuple(filter(None, (_text(author, "name") for author in entry.findall(f"{_ATOM}author")))),
        category="" if category is None else clean_text(category.get("term", "")),
    )


def _text(element: ElementTree.Element, name: str) -> str:
    return " ".join(clean_text(element.findtext(f"{_ATOM}{name}") or "").split())


# -- papers as documents of a collection --------------------------------------------------------------------------


def items(source: str) -> Iterator[Item | Problem]:
    """Yield one item per paper for ``arxiv:QUERY``, or a problem."""
    settings = load_settings()
    try:
        query = query_of_words(source.removeprefix(PREFIX).strip())
        if not query:
            raise InputError("expected words or a query after arxiv:, got nothing")
        papers = search(query, RESULTS, seconds=_BUILD_SECONDS, settings=settings)
    except InputError as error:
        yield Problem(source, str(error))
        return
    if not papers:
        yield Problem(source, "no paper fits: ask with fewer words")
    for paper in papers:
        yield Item(FORMAT, paper.address, content=json.dumps(asdict(paper)).encode("ascii"))


def to_page(paper: object, source: str = "") -> Page:
    """Convert the paper of an item to a page with a single chunk, its abstract, which is not split."""
    if not isinstance(paper, Mapping):
        raise InputError(f"expected a paper, got a JSON {type(paper).__name__}")
    title, abstract = str(paper["title"]), str(paper["abstract"])
    published = str(paper.get("published") or "")
    authors = paper.get("authors")
    values = {
        "authors": ", ".join(map(str, authors)) if isinstance(authors, list | tuple) else "",
        "category": str(paper.get("category") or ""),
        "published": published,
        "year": int(published[:4]) if published[:4].isdecimal() else "",
    }
    return Page(
        title=title,
        text=abstract,
        chunks=(Chunk(ChunkKind.PARAGRAPH, abstract, 0, len(abstract)),),
        source=source,
        format=FORMAT,
        modified=str(paper.get("updated") or "") or None,
        metadata=clean({key: value for key, value in values.items() if value != ""}),
    )
