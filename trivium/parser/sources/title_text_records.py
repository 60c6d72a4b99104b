"""``{title, text}`` records: passages of corpora without markup. Mentions of other titles become links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from trivium.errors import InputError
from trivium.metadata import clean
from trivium.parser.document import MAX_TITLE
from trivium.parser.documents.text import without_controls
from trivium.parser.gazetteer import Gazetteer, Mention
from trivium.parser.sources.read_files import (
    parse_json,
    read_array,
    read_head,
    read_lines,
    too_long,
)
from trivium.parser.sources.source_items import Problem, clean_text, printable_path, some_keys
from trivium.parser.split_blocks import split_points
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits
from trivium.text.normalise import composed, named_by_id, normalise_name, normalise_title, without_parenthesis
from trivium.types import Chunk, ChunkKind, Link, MetadataValue, Page

FORMAT = "records"
"""The format of pages created from records."""
DOCUMENT_ID = "_id"
"""The key of a document's id in a benchmark. Records that have one are documents of their own."""


@dataclass(frozen=True, slots=True)
class Record:
    """One passage. ``source`` is the file it came from, ``metadata`` its other values, as far as they can be stored."""

    title: str
    text: str
    source: str = ""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict, hash=False)


def read_records(
    path: str | Path, name: str | None = None, limits: InputLimits = DEFAULT_LIMITS
) -> Iterator[Record | Problem]:
    """Yield the records of a JSON Lines file or a JSON array, plain or gzipped, read one at a time, and a problem for
    every line without a valid record. ``name`` is the file's name for display, by default its path.

    A page is found by its title. Records with a :data:`DOCUMENT_ID` that have no title, or that of an earlier one, are
    named by their id: ``⟦Document 17⟧``, ``Heather ⟦17⟧``, which is not taken for text.

    Raises nothing: an unreadable or truncated file also yields a problem.
    """
    name = printable_path(str(path)) if name is None else name
    taken: dict[str, object] = {}  # title -> id
    try:
        for place, value in _values(Path(path), name, limits):
            if isinstance(value, Problem):
                yield value
                continue
            try:
                record = _record(value, name)
                if (identifier := record.metadata.get(DOCUMENT_ID)) is not None:
                    while taken.setdefault(record.title, identifier) != identifier:
                        record = replace(record, title=normalise_title(named_by_id(record.title, identifier)))
                yield record
            except InputError as error:
                yield Problem(place, str(error))
    except InputError as error:
        yield Problem(name, str(error))


def records_to_pages(records: Iterable[Record], gazetteer: Gazetteer) -> list[Page]:
    """Return one page per title, in order of first appearance, with its records as the chunks of its lead.

    A record over 400 tokens is split at sentence boundaries. ``page.text`` joins the records with blank lines. A page
    does not link to itself, neither by its title nor by its title without parenthesis.
    """
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(normalise_title(record.title), []).append(record)
    return [_page(title, group, gazetteer) for title, group in groups.items()]


def relinked(page: Page, gazetteer: Gazetteer) -> Page:
    """Return the page with the links of its chunks replaced by those that a gazetteer finds."""
    own = _own_names(page.title)
    chunks = tuple(
        replace(
            chunk,
            links=tuple(
                Link(mention.target, chunk.start + mention.start, chunk.start + mention.end)
                for mention in _mentions(page.title, own, chunk.text, gazetteer)
            ),
        )
        for chunk in page.chunks
    )
    return replace(page, chunks=chunks)


def _own_names(title: str) -> set[str]:
    return {normalise_name(title), normalise_name(without_parenthesis(title))}


def _mentions(title: str, own_names: set[str], text: str, gazetteer: Gazetteer) -> list[Mention]:
    return [
        mention
        for mention in gazetteer.find(text)
        if mention.target != title and mention.name not in own_names
    ]


def _page(title: str, records: Iterable[Record], gazetteer: Gazetteer) -> Page:
    own = _own_names(title)
    chunks: list[Chunk] = []
    texts: list[str] = []
    offset = 0
    source = ""
    records = list(records)
    for record in records:
        source = source or record.source
        text = record.text.strip()
        texts.append(text)
        mentions = _mentions(title, own, text, gazetteer)
        for start, end in split_points(text):
            links = tuple(
                Link(mention.target, offset + mention.start, offset + mention.end)
                for mention in mentions
                if start <= mention.start and mention.end <= end
            )
            chunks.append(Chunk(ChunkKind.PARAGRAPH, text[start:end], offset + start, offset + end, links))
        offset += len(text) + 2
    return Page(
        title=title,
        text="\n\n".join(texts),
        chunks=tuple(chunks),
        source=source,
        format=FORMAT,
        metadata=clean(common_metadata(records)[0]),
    )


def common_metadata(records: Sequence[Record]) -> tuple[dict[str, MetadataValue], list[str]]:
    """Return the metadata of the page of some records, and the keys in which they differ, or which some lack. Those are
    left out: a condition must not find a passage by a value that is another's.

    >>> common_metadata([Record("A", "1.", "", {"by": "Ada", "n": 1}), Record("A", "2.", "", {"by": "Ada", "n": 2})])
    ({'by': 'Ada'}, ['n'])
    """
    metadata: dict[str, MetadataValue] = {}
    for record in reversed(records):
        metadata |= record.metadata
    differing = [
        key
        for key, value in metadata.items()
        if any(key not in record.metadata or record.metadata[key] != value for record in records)
    ]
    return {key: value for key, value in metadata.items() if key not in differing}, differing


def _metadata(value: Mapping[str, object]) -> dict[str, MetadataValue]:
    return clean({key: part for key, part in value.items() if key not in ("title", "text")})


def _values(path: Path, name: str, limits: InputLimits) -> Iterator[tuple[str, object]]:
    """Yield the values of a file, each with its location. An unreadable line yields a Problem."""
    if read_head(path, 64).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"[":
        for index, value in enumerate(read_array(path, limits), 1):
            yield f"{name}, record {index}", value
        return
    for line in read_lines(path, limits):
        place = f"{name}, line {line.number}"
        if line.data is None:
            yield place, Problem(place, too_long("line", line.length, limits))
            continue
        try:
            yield place, parse_json(line.data, limits)
        except InputError as error:
            yield place, Problem(place, str(error))


def _record(value: object, source: str) -> Record:
    if not isinstance(value, Mapping):
        raise InputError(f"expected an object with title and text, got a JSON {type(value).__name__}")
    title, text, identifier = value.get("title"), value.get("text"), value.get(DOCUMENT_ID)
    if isinstance(identifier, str | int):
        text = text if str(text or "").strip() else title
        title = title if str(title or "").strip() else named_by_id("", identifier)
    if not isinstance(title, str) or not isinstance(text, str):
        raise InputError(f"expected title and text as strings, got {some_keys(value)}")
    # Composed characters, so that the offsets of mentions match the text of the page.
    record = Record(
        normalise_title(clean_text(title)),
        composed(clean_text(without_controls(text))).strip(),
        source,
        _metadata(value),
    )
    if not record.title or not record.text:
        raise InputError(f"the {'text' if record.title else 'title'} is empty")
    if len(record.title) > MAX_TITLE:
        raise InputError(f"expected a title of at most {MAX_TITLE} characters, got {len(record.title)}")
    return record
