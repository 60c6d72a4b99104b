"""HTML pages of arbitrary sites: extracts the main content and the metadata.

The content is the element that the page marks as such (``main``, ``role="main"``, the only ``article``), else its body.
Boilerplate is removed from it: menus, footers, and blocks that consist mostly of links. The rest is read like any page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from trivium.errors import ParseError
from trivium.limits import InputLimits
from trivium.parser.documents.base import DocumentFile, page_of
from trivium.parser.documents.front_matter import metadata_of
from trivium.parser.documents.markup import local_address
from trivium.parser.links import canonical_host, link_target
from trivium.parser.page import MAX_TITLE
from trivium.parser.pictures import Pictures
from trivium.parser.reader import Reader, inline_text
from trivium.parser.runs import Address
from trivium.text import normalise_title
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

_CONTENT = (
    "main",
    '[role="main"]',
    "article",
    '[itemprop="articleBody"]',
    "#main-content",
    "#content",
    ".markdown-body",
    ".body",
)
_LEAST_SHARE = 0.25
"""Minimum share of the body's text for an element to be the content, whatever its name."""
_LEAST_SHARE_OF_RIVAL = 0.05
"""The same for the best of several."""
_NAMES = """
    nav navigation navbar menu sidebar side-nav sidenav footer breadcrumb breadcrumbs pagination pager toc cookie cookies
    consent banner share sharing social related newsletter subscribe comments advert adverts advertisement skip-link
    skiplink masthead topbar toolbar search edit-page edit-this prev-next next-prev last-updated lastupdated
    comments comment-respond copyright copyrights relatedposts jp-relatedposts related-posts related-articles relatedlinks
    more-about read-more nextpost newsletter-form author-box entry-utility feed-links akismet advertisement outbrain
    taboola disqus
"""
_NAMED = re.compile(rf"(?:^|[-_ ])(?:{'|'.join(_NAMES.split())})(?:$|[-_ ])", re.IGNORECASE)
_PRUNED_TAGS = frozenset(("nav", "footer", "form", "template", "noscript"))
_BLOCKS = frozenset(
    ("div", "section", "aside", "header", "ul", "ol", "table", "dl", "p", "center", "span", "li")
)
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_LARGE_SHARE = 0.3
"""Minimum share of the text of an element that is never a menu, whatever its name."""
_MOST_LINKED = 0.75
_LEAST_LINKS = 4
_LONG_ITEM = 60
"""Average characters per link above which links are titles of articles, or sentences."""
_MAX_RIVALS = 20
_MAX_NAMES = 1_000
_HEADING_MARK = re.compile(r"\W{0,3}")
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
    for content, marked in chain(_contents(tree.body), _parsed(hidden)):
        _prune(content, marked=marked)
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
        heading = next((text for _, text in headings if text), "")
        candidates = [
            next((text for plain, text in headings if text and (plain in whole or plain in shared)), ""),
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


def _contents(body: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """Yield the element that is most likely the content, then the body; and whether the page marks it as content."""
    total = len(body.text())
    for selector in _CONTENT:
        found = body.css(selector)
        count = len(found)
        if count > 1:
            # Several articles are a list of articles.
            found = [] if selector == "article" else [max(found[:_MAX_RIVALS], key=_weight)]
        share = _LEAST_SHARE if len(found) == count else _LEAST_SHARE_OF_RIVAL
        if found and len(found[0].text()) >= share * total:
            yield found[0], True
            break
    yield body, False


def _weight(rival: LexborNode) -> tuple[bool, int]:
    """Of several elements marked as the main content, that with the title is it: comments may be longer."""
    return rival.css_first("h1") is not None, len(rival.text())


def _without_scripts(body: LexborNode) -> str:
    """Return the HTML of the longest text that a page shows where scripts do not run; empty if there is none."""
    longest = max(body.css("noscript"), key=lambda node: len(node.text()), default=None)
    return (longest.inner_html or "") if longest is not None and longest.text(strip=True) else ""


def _parsed(html: str) -> Iterator[tuple[LexborNode, bool]]:
    body = LexborHTMLParser(html).body if html else None
    if body is not None:
        yield body, False


@dataclass(slots=True)
class _Count:
    """The size of an element, in characters without white space, and its links."""

    text: int = 0
    linked: int = 0
    links: int = 0
    inside: int = 0  # links to another place on the same page


def _prune(root: LexborNode, *, marked: bool) -> None:
    """Remove boilerplate: elements named like menus, and, if the page does not mark its content, those that consist
    mostly of links. One pass, bottom-up.
    """
    total = sum(map(len, root.text().split()))
    gone: list[LexborNode] = []
    counts = [_Count()]
    stack: list[LexborNode] = []
    links = headings = 0  # open elements
    node = root.first_child
    while True:
        while node is None:
            if not stack:
                for element in gone:  # inner elements before outer ones
                    element.decompose()
                return
            node = stack.pop()
            count = counts.pop()
            if node.tag == "a":
                links -= 1
                count.links += 1
                count.inside += (node.attributes.get("href") or "").startswith("#")
            headings -= node.tag in _HEADINGS
            if (headings and _is_mark(node, count)) or _is_boilerplate(node, count, total, marked=marked):
                gone.append(node)
            else:
                outer = counts[-1]
                outer.text += count.text
                outer.linked += count.linked
                outer.links += count.links
                outer.inside += count.inside
            node = node.next
        if node.tag == "-text":
            length = sum(map(len, (node.text_content or "").split()))
            counts[-1].text += length
            counts[-1].linked += length if links else 0
            node = node.next
            continue
        links += node.tag == "a"
        headings += node.tag in _HEADINGS
        stack.append(node)
        counts.append(_Count())
        node = node.first_child


def _is_mark(node: LexborNode, count: _Count) -> bool:
    """Whether it is the permalink mark at a heading."""
    return node.tag == "a" and count.text <= 2 and _HEADING_MARK.fullmatch(node.text().strip()) is not None


def _is_boilerplate(node: LexborNode, count: _Count, total: int, *, marked: bool) -> bool:
    tag = node.tag or ""
    if tag in _PRUNED_TAGS:
        return tag != "form" or count.text < _LARGE_SHARE * total
    attributes = node.attributes
    if tag not in _BLOCKS or count.text >= _LARGE_SHARE * total:
        return False
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
    if len(names) < _MAX_NAMES and _NAMED.search(names) is not None:
        return True
    if count.links < _LEAST_LINKS or count.linked <= _MOST_LINKED * count.text:
        return False
    return count.inside == count.links or (not marked and count.text < _LONG_ITEM * count.links)
