"""Pages found by web sources: fetched from public addresses and reduced to the passages relevant to a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from trivium.common.fetching import fetch
from trivium.errors import InputError
from trivium.live.run_concurrently import run_together
from trivium.live.source import LiveDocument, LivePassage
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.encodings import as_utf8
from trivium.parser.html import parse_html
from trivium.settings.limits import DEFAULT_LIMITS
from trivium.settings.settings import Settings
from trivium.text.headings_in_passages import with_headings
from trivium.text.normalise import terms
from trivium.types import ChunkKind, Page

PAGE_BYTES = 2 << 20
SMALL = DEFAULT_LIMITS.model_copy(
    update={"document_bytes": PAGE_BYTES, "tags": 50_000, "headings": 1_000, "graph_bytes": 8 << 20}
)
"""Limits of a page that is read while the user waits."""
PASSAGES = 8
"""Maximum number of passages per page: the first one, and those sharing most words with the question."""
_MAX_PASSAGE = 8_000
_HTML = ("text/html", "application/xhtml+xml")


def with_pages(
    documents: Sequence[LiveDocument], question: str, seconds: float, settings: Settings
) -> list[LiveDocument]:
    """Return the documents; the first ``live_pages`` of them with passages of their pages if these can be fetched in
    time.
    """

    def read(document: LiveDocument) -> LiveDocument:
        return with_page(document, _fetch(document, seconds, private=settings.live_private_pages), question)

    asked = {number: partial(read, document) for number, document in enumerate(documents)}
    some = {number: task for number, task in asked.items() if number < settings.live_pages}
    found = list(documents)
    for number, page in run_together(some, seconds).items():
        if isinstance(page, LiveDocument):
            found[number] = page
    return found


def with_page(document: LiveDocument, page: Page, question: str) -> LiveDocument:
    """Add passages of its page to a document, at most :data:`PASSAGES`, in order. The title is taken from the page,
    because a collection that contains the page knows it by that title.
    """
    passages = list(_passages(page))
    asked = frozenset(terms(question))

    def shared(number: int) -> int:
        passage = passages[number]
        return len(asked.intersection(terms(f"{' '.join(passage.headings)} {passage.text}")))

    best = sorted(range(1, len(passages)), key=lambda number: (-shared(number), number))[: PASSAGES - 1]
    kept = tuple(passages[number] for number in sorted((0, *best)) if number < len(passages))
    return replace(document, title=page.title or document.title, passages=kept) if kept else document


def _passages(page: Page) -> Iterator[LivePassage]:
    page = with_headings(page)
    headings: list[tuple[str, ...]] = []
    for section in page.sections:
        above = () if section.parent is None else headings[section.parent]
        headings.append((*above, section.heading))
    chunks = [page.chunks, *(section.chunks for section in page.sections)]
    for above, own in zip([(), *headings], chunks, strict=True):
        for chunk in own:
            if chunk.kind is not ChunkKind.IMAGE and chunk.text.strip():
                yield LivePassage(above, chunk.text[:_MAX_PASSAGE], str(chunk.kind))


def _fetch(document: LiveDocument, seconds: float, private: bool) -> Page:
    answer = fetch(
        document.address, seconds=seconds, max_bytes=PAGE_BYTES, public=not private, redirects=True
    )
    if answer.status != 200 or answer.content_type not in _HTML:
        raise InputError(f"expected an HTML page, got HTTP {answer.status} with {answer.content_type!r}")
    parts = urlsplit(answer.address)
    html = as_utf8(answer.body, answer.charset)
    file = DocumentFile(html, source=document.address, path=f"{parts.netloc}{parts.path}.html")
    return parse_html(html, source=document.address, title=document.title, limits=SMALL, file=file)
