"""The entry point of the HTML parser, which converts HTML to :class:`~trivium.types.Page`."""

from __future__ import annotations

from dataclasses import replace

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from trivium.errors import ParseError
from trivium.parser.document import MAX_TITLE
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.html import (  # noqa: F401  (importing them registers their handlers)
    block_elements,
    inline_elements,
    table_elements,
)
from trivium.parser.html.input_limits import checked_bytes
from trivium.parser.html.page_identity import REDIRECTED_MARK, identify
from trivium.parser.html.reader import LinkResolver, Reader
from trivium.parser.html.site import is_wiki, read_site
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits
from trivium.types import Page

# Selectors of the article, best first.
_ROOTS = ("#mw-content-text", "#bodyContent", ".mw-parser-output", "main", '[role="main"]', "article")


def parse_html(
    html: str | bytes,
    *,
    source: str = "",
    title: str | None = None,
    limits: InputLimits = DEFAULT_LIMITS,
    file: DocumentFile | None = None,
    resolve_link: LinkResolver | None = None,
) -> Page:
    """Parse one rendered page into text, sections, chunks, links and relations.

    Reads MediaWiki pages of any skin, Parsoid output, fragments of the MediaWiki API, Natural Questions documents and
    plain HTML.

    - ``html``: the document; bytes may be in any encoding they declare.
    - ``source``: its origin; stored with the page and included in error messages.
    - ``title``: the title to use if the page does not state one. A title stated by the page has priority.
    - ``limits``: limits on the size and complexity of the document.
    - ``file``: the file it was read from. Pages other than MediaWiki pages are then read as pages of any site
      (:mod:`trivium.parser.html.site`).
    - ``resolve_link``: returns the title that an address leads to, if the addresses are not those of MediaWiki.

    Raises ParseError when the document is empty, binary, not HTML, too expensive to parse, without text, or without a
    title.

    >>> parse_html("<h1>Mars</h1><p>The <a href='/wiki/Planet'>planet</a>.</p>").chunks[0].links[0].target
    'Planet'
    """
    try:
        return _parse(html, source, title, limits, file, resolve_link)
    except ParseError as error:
        if not source:
            raise
        raise ParseError(f"{source}: {error}") from error


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """Read a file as a page, of the format ``wiki`` if a MediaWiki made it; see :class:`.DocumentReader`."""
    page = parse_html(file.data, source=file.source, limits=limits, file=file)
    return page if page.format else replace(page, format="html")


def _parse(
    html: str | bytes,
    source: str,
    title: str | None,
    limits: InputLimits,
    file: DocumentFile | None,
    resolve_link: LinkResolver | None,
) -> Page:
    data = checked_bytes(html, limits, None if file is None else file.language)
    try:
        tree = LexborHTMLParser(data)
    except SelectolaxError as error:
        raise ParseError(f"the HTML parser failed: {error}") from error
    if file is not None and not is_wiki(data):
        return read_site(tree, file, limits)
    identity = identify(tree, title, says_redirected=REDIRECTED_MARK in data)
    if identity.title is None:
        raise ParseError(
            f"the page does not say what it is called: expected a title of at most {MAX_TITLE} characters "
            "in its head or a heading; pass title=..."
        )
    reader = Reader(identity.title, identity.host, limits)
    reader.titles_are_text = False
    if resolve_link is not None:
        reader.resolve_link = resolve_link
    reader.read(_content(tree))
    document = reader.document
    if not document.has_text:
        raise ParseError("the page has no text: expected paragraphs, lists or tables")
    return Page(
        title=identity.title,
        text=document.text,
        chunks=tuple(document.lead),
        sections=document.sections,
        aliases=tuple(identity.aliases),
        relations=tuple(document.relations),
        source=source,
        revision=identity.revision,
        format="" if file is None else "wiki",
        missing=document.missing,
    )


def _content(tree: LexborHTMLParser) -> LexborNode:
    for selector in _ROOTS:
        root = tree.css_first(selector)
        # A selector that matches several elements does not identify the article.
        if root is not None and (selector.startswith("#") or len(tree.css(selector)) == 1):
            return root
    if tree.body is None:
        raise ParseError("the document has no body: expected an HTML page (is it a frameset?)")
    return tree.body
