"""HTML in, :class:`~trivium.types.Page` out: the door of the parser."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from trivium.errors import ParseError
from trivium.parser import blocks, inline, table_reader  # noqa: F401  (their functions register themselves)
from trivium.parser.input_limits import checked_bytes
from trivium.parser.page import MAX_TITLE, REDIRECTED_MARK, identify
from trivium.parser.reader import Reader
from trivium.types import Page

# Where the article is, best first.
_ROOTS = ("#mw-content-text", "#bodyContent", ".mw-parser-output", "main", '[role="main"]', "article")


def parse_html(html: str | bytes, *, source: str = "", title: str | None = None) -> Page:
    """Turns one rendered page into text, sections, chunks, links and relations.

    Reads MediaWiki pages of any skin, Parsoid output, fragments of the MediaWiki API, Natural Questions
    documents and plain HTML.

    Args:
        html: the document; bytes may be in any encoding they declare.
        source: where it came from, kept with the page and named in errors.
        title: what to call a page that does not name itself.

    Returns:
        The page. Its title is canonical (what the page says of itself).

    Raises:
        ParseError: empty, binary, not HTML, hostile, without text, or without any title.

    >>> parse_html("<h1>Mars</h1><p>The <a href='/wiki/Planet'>planet</a>.</p>").chunks[0].links[0].target
    'Planet'
    """
    try:
        return _parse(html, source, title)
    except ParseError as error:
        if not source:
            raise
        raise ParseError(f"{source}: {error}") from error


def _parse(html: str | bytes, source: str, title: str | None) -> Page:
    data = checked_bytes(html)
    try:
        tree = LexborHTMLParser(data)
    except SelectolaxError as error:
        raise ParseError(f"the HTML parser gave up: {error}") from error
    identity = identify(tree, title, says_redirected=REDIRECTED_MARK in data)
    if identity.title is None:
        raise ParseError(
            f"the page does not say what it is called: expected a title of at most {MAX_TITLE} characters "
            "in its head or a heading; pass title=..."
        )
    reader = Reader(identity.title, identity.host)
    reader.read(_content(tree))
    document = reader.document
    if not document.has_chunks:
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
    )


def _content(tree: LexborHTMLParser) -> LexborNode:
    for selector in _ROOTS:
        root = tree.css_first(selector)
        # One of several articles, or of several pieces of parser output, is not the article.
        if root is not None and (selector.startswith("#") or len(tree.css(selector)) == 1):
            return root
    if tree.body is None:
        raise ParseError("the document has no body: expected an HTML page (is it a frameset?)")
    return tree.body
