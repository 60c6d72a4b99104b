"""Reads the identity of a page from its HTML: canonical title, redirects to it, revision, site."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser

from trivium.parser.document import MAX_TITLE
from trivium.parser.html.link_targets import canonical_host, link_target
from trivium.parser.html.reader import inline_text
from trivium.text.normalise import normalise_title

REDIRECTED_MARK = b"mw-redirectedfrom"
"""Present in every page that displays a redirect below its title. Other pages need not be searched for one."""

_PAGE_NAME = re.compile(r'"wgPageName"\s*:\s*("(?:[^"\\]|\\.)*")')
_REDIRECTED_FROM = re.compile(r'"wgRedirectedFrom"\s*:\s*("(?:[^"\\]|\\.)*")')
_REVISION = re.compile(r'"wgRevisionId"\s*:\s*(\d{1,18})\b')
_OLD_ID = re.compile(r"[?&]oldid=(\d{1,18})\b")
_ABOUT = re.compile(r"/revision/(\d{1,18})\b")
_SITE_SUFFIX = re.compile(r"\s[-–—|]\s[^-–—|]*wikip[eé]dia.*$", re.IGNORECASE | re.DOTALL)


@dataclass(slots=True)
class Identity:
    """The identity of a page, from its head and otherwise from its visible parts."""

    title: str | None = None
    aliases: list[str] = field(default_factory=list)
    revision: int | None = None
    host: str | None = None


@dataclass(slots=True)
class _Head:
    """The parts of ``<head>`` that identify the page."""

    config: str = ""
    canonical: str = ""
    base: str = ""
    title: str = ""


def identify(tree: LexborHTMLParser, fallback: str | None, *, says_redirected: bool) -> Identity:
    """Read the identity of a page. Its ``title`` is None only if neither the page nor ``fallback`` provides one.
    ``says_redirected`` is whether the page contains :data:`REDIRECTED_MARK`.

    Sources of the title, in order of preference: ``wgPageName`` of the page's configuration, the canonical link, the
    first heading, ``<title>`` without the name of the site, ``fallback``. Headings have low priority because they may
    show another form of the title (lower case, italics).
    """
    head = _read_head(tree)
    identity = Identity()
    host = _host(head.canonical or head.base)
    if host is not None:
        identity.host = canonical_host(host)
    for candidate in _titles(tree, head, fallback):
        title = normalise_title(candidate or "")
        if 0 < len(title) <= MAX_TITLE:
            identity.title = title
            break
    identity.aliases = [alias for alias in _aliases(tree, head, says_redirected) if alias != identity.title]
    identity.revision = _revision(tree, head)
    return identity


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:  # ignore a malformed address, but not the page
        return None


def _read_head(tree: LexborHTMLParser) -> _Head:
    head = _Head()
    for node in () if tree.head is None else tree.head.iter():
        tag = node.tag
        if tag == "script":
            text = node.text()
            if '"wgPageName"' in text and not head.config:
                head.config = text
        elif tag == "link" and node.attributes.get("rel") == "canonical":
            head.canonical = head.canonical or node.attributes.get("href") or ""
        elif tag == "base":
            head.base = head.base or node.attributes.get("href") or ""
        elif tag == "title":
            head.title = head.title or node.text()
    return head


def _json_text(match: re.Match[str] | None) -> str | None:
    if match is None:
        return None
    try:
        return str(json.loads(match[1]))
    except json.JSONDecodeError:  # the page's configuration is truncated or modified
        return None


def _page_name(canonical: str) -> str | None:
    """Return the page named by a canonical address of the form ``https://host/wiki/Name``."""
    _, marker, name = canonical.partition("/wiki/")
    return unquote(re.split(r"[?#]", name, maxsplit=1)[0]) if marker else None


def _titles(tree: LexborHTMLParser, head: _Head, fallback: str | None) -> Iterator[str | None]:
    """Yield candidates for the title in order of preference; lazily, because searching the tree is not free."""
    yield _json_text(_PAGE_NAME.search(head.config))
    yield _page_name(head.canonical)
    heading = tree.css_first("#firstHeading, h1.firstHeading")
    if heading is not None:
        yield inline_text(heading)
    stripped = _SITE_SUFFIX.sub("", normalise_title(head.title[: 4 * MAX_TITLE]))
    first = None if heading is not None else tree.css_first("h1")
    if first is not None and (not stripped or stripped.startswith(normalise_title(first.text()))):
        yield inline_text(first)  # "Mars - A Small Encyclopaedia" above a page headed "Mars"
    yield stripped
    yield fallback


def _aliases(tree: LexborHTMLParser, head: _Head, says_redirected: bool) -> list[str]:
    names = [_json_text(_REDIRECTED_FROM.search(head.config))]
    if says_redirected:
        names += [
            link_target(anchor.attributes.get("href") or "", None) or anchor.text()
            for anchor in tree.css(".mw-redirectedfrom a")
        ]
    titles = (normalise_title(name or "") for name in names)
    return list(dict.fromkeys(title for title in titles if 0 < len(title) <= MAX_TITLE))


def _revision(tree: LexborHTMLParser, head: _Head) -> int | None:
    match = _REVISION.search(head.config)
    if match is None and not head.config:
        root = tree.root
        match = _ABOUT.search((root.attributes.get("about") or "") if root is not None else "")
        match = match or _old_id(tree)
    # MediaWiki writes 0 if a page has no revision, as in a preview.
    return None if match is None else int(match[1]) or None


def _old_id(tree: LexborHTMLParser) -> re.Match[str] | None:
    """Return the revision in the page's link to itself; links in the text may refer to revisions of other pages."""
    for anchor in tree.css("#t-permalink a, .printfooter a"):
        match = _OLD_ID.search(anchor.attributes.get("href") or "")
        if match is not None:
            return match
    return None
