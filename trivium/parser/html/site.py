"""HTML pages of arbitrary sites: extracts the main content and the metadata.

Boilerplate is removed (:mod:`trivium.parser.html.boilerplate`). The rest is read like any page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from itertools import chain
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from trivium.errors import ParseError
from trivium.parser.document import MAX_TITLE
from trivium.parser.documents.document_file import DocumentFile, page_of
from trivium.parser.documents.front_matter import metadata_of
from trivium.parser.html.boilerplate import contents
from trivium.parser.html.link_targets import canonical_host, link_target, local_address
from trivium.parser.html.reader import Reader, inline_text
from trivium.parser.picture_text import Pictures
from trivium.parser.text_runs import Address
from trivium.settings.limits import InputLimits
from trivium.text.normalise import normalise_title
from trivium.types import MetadataValue, Page

_WIKI_MARKS = (
    b"wgPageName",
    b"firstHeading",
    b"mw-parser-output",
    b"mw-content-text",
    b"bodyContent",
    b'content="MediaWiki',
    b'property="mw:',
)
_CANONICAL = re.compile(rb"<link\b[^>]{0,500}\bcanonical\b[^>]{0,500}>")

_BETWEEN = re.compile(r"(?<!\s)\s++(?:[-–—|·•»]|::)\s+")
_MAX_JSON = 200_000
_MAX_HEAD = 200_000
_DATES = (
    "article:published_time",
    "datePublished",
    "date",
    "dc.date",
    "dcterms.date",
    "pubdate",
    "citation_date",
)
_AUTHORS = ("author", "article:author", "dc.creator", "citation_author")


def is_wiki(data: bytes) -> bool:
    """Whether a page is from a MediaWiki."""
    return any(mark in data for mark in _WIKI_MARKS) or any(
        b"/wiki/" in link for link in _CANONICAL.findall(data[:_MAX_HEAD])
    )


def read_site(tree: LexborHTMLParser, file: DocumentFile, limits: InputLimits) -> Page:
    """Read a page of a site, with the addresses of other pages as references. Raises ParseError when it has no text."""
    if tree.body is None:
        raise ParseError("the document has no body: expected an HTML page (is it a frameset?)")
    head = _Head(tree)
    base = head.base(file)
    hidden = _without_scripts(tree.body)  # before it is removed as boilerplate
    tree.body.strip_tags(["script", "style", "noscript"], recursive=True)
    for content in chain(contents(tree.body, article=head.is_article), _parsed(hidden)):
        title = head.page_title(content) or file.title
        reader = Reader(
            title,
            None,
            limits,
            resolve_link=_resolver(base),
            read_picture=Pictures(limits, file).show_of_site,
        )
        reader.read(content)
        if reader.document.has_chunks:
            break
    document = reader.document
    if not document.has_text:
        raise ParseError("the page has no text: expected paragraphs, lists or tables")
    return page_of(document, file, "html", title=title, metadata=head.metadata())


class _Head:
    """The metadata of a page for search engines and link previews."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        self._meta: dict[str, str] = {}
        for node in tree.css("meta"):
            attributes = node.attributes
            name = attributes.get("property") or attributes.get("name") or attributes.get("itemprop")
            content = attributes.get("content")
            if name and content:
                self._meta.setdefault(name.lower(), content)
        self._linked = _json_ld(tree)

    def page_title(self, content: LexborNode) -> str:
        """Return the title of the page with this content, without the name of the site; empty if it has none."""
        site = normalise_title(self._meta.get("og:site_name", ""))
        shared = _without_site(normalise_title(self._meta.get("og:title", "")), site)
        node = self._tree.css_first("title")
        whole = normalise_title("" if node is None else node.text()[: 4 * MAX_TITLE])
        headings = [
            (normalise_title(h1.text()), normalise_title(inline_text(h1))) for h1 in content.css("h1")[:10]
        ]
        titles = f"{whole}\n{shared}".casefold()
        heading = next((text for _, text in headings if text), "")
        candidates = [
            next((text for plain, text in headings if text and plain.casefold() in titles), ""),
            shared,
            _without_site(whole, site) if heading or site else whole,
            heading,
        ]
        return next((name for name in candidates if 0 < len(name) <= MAX_TITLE), "")

    def metadata(self) -> dict[str, MetadataValue]:
        """Return author, description, date and language."""
        language = self._tree.css_first("html")
        found: dict[str, object] = {
            "author": self._first(_AUTHORS) or _name(self._linked.get("author")),
            "description": self._first(("description", "og:description")) or self._linked.get("description"),
            "date": _date(self._first(_DATES) or self._linked.get("datePublished")),
            "language": (language.attributes.get("lang") if language is not None else None) or "",
        }
        return metadata_of({key: value for key, value in found.items() if isinstance(value, str)})

    @property
    def is_article(self) -> bool:
        """Whether the page says that it is an article of the news or of a blog."""
        kind = str(self._linked.get("@type"))
        return (
            self._meta.get("og:type") == "article"
            or "article:published_time" in self._meta
            or (kind.endswith(("Article", "BlogPosting")) and kind != "TechArticle")
        )

    def base(self, file: DocumentFile) -> str:
        """Return the original address of the page; empty if unknown."""
        node = self._tree.css_first('link[rel="canonical"]')
        canonical = None if node is None else node.attributes.get("href")
        return canonical or self._meta.get("og:url") or (file.source if "://" in file.source else "")

    def _first(self, names: tuple[str, ...]) -> str:
        return next((self._meta[name.lower()] for name in names if self._meta.get(name.lower())), "")


def _json_ld(tree: LexborHTMLParser) -> dict[str, object]:
    """Return the JSON-LD description of an article."""
    for node in tree.css('script[type="application/ld+json"]')[:10]:
        text = node.text()
        if len(text) > _MAX_JSON:
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        graph = value.get("@graph") if isinstance(value, dict) else value
        for part in [value, *(graph if isinstance(graph, list) else [])]:
            if isinstance(part, dict) and ("headline" in part or "datePublished" in part):
                return part
    return {}


def _name(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_name, value[:20])))
    if isinstance(value, dict):
        value = value.get("name")
    return value if isinstance(value, str) else ""


def _date(value: object) -> str:
    """Return a date in ISO 8601; empty if it is invalid."""
    if not isinstance(value, str):
        return ""
    try:
        if len(value.strip()) <= len("2024-05-01"):
            return date.fromisoformat(value.strip()).isoformat()
        return datetime.fromisoformat(value.strip().replace("Z", "+00:00")).isoformat()
    except ValueError:
        return ""


def _without_site(title: str, site: str) -> str:
    """Remove the name of the site from a title: the last part, or the first if the name is known."""
    parts = _BETWEEN.split(title)
    if len(parts) < 2:
        return title
    if site and normalise_title(parts[0]) == site:
        return title[len(parts[0]) :].lstrip(" -–—|·•»:")
    if site and normalise_title(parts[-1]) != site:
        return title
    return title[: title.rindex(parts[-1])].rstrip(" -–—|·•»:") or title


def _resolver(base: str) -> Callable[[str], str | None]:
    """Return a function that resolves links to titles, as in a wiki, or to other pages of the site."""
    try:
        host = canonical_host(urlsplit(base).hostname or "")
    except ValueError:
        host = ""

    def resolve(href: str) -> str | None:
        address = href.strip()
        if not address.startswith("./") and (title := link_target(address, None)) is not None:
            return title
        if host and "//" in address[:9]:
            try:
                parts = urlsplit(address)
                if parts.scheme in ("", "http", "https") and canonical_host(parts.hostname or "") == host:
                    return Address(parts.path or "/")
            except ValueError:
                return None
        return local_address(address)

    return resolve


def _without_scripts(body: LexborNode) -> str:
    """Return the HTML of the longest text that a page shows where scripts do not run; empty if there is none."""
    longest = max(body.css("noscript"), key=lambda node: len(node.text()), default=None)
    return (longest.inner_html or "") if longest is not None and longest.text(strip=True) else ""


def _parsed(html: str) -> Iterator[LexborNode]:
    body = LexborHTMLParser(html).body if html else None
    if body is not None:
        yield from contents(body, article=False)
