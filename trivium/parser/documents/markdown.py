"""Markdown: GitHub's dialect with front matter, footnotes, definition lists and wiki links, and extensions of Hugo,
MkDocs, Docusaurus and Obsidian. It is converted to HTML, which is read like any other.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from html import escape
from pathlib import PurePosixPath
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.html_blocks import block_names
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock, html_block
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from trivium.errors import ParseError
from trivium.parser.document import MAX_TITLE
from trivium.parser.documents.document_file import DocumentFile, page_of
from trivium.parser.documents.front_matter import read_front_matter
from trivium.parser.documents.shortcodes import plain_blocks, without_shortcodes
from trivium.parser.documents.text import decode
from trivium.parser.html.fragment import first_title, parse_markup, read_blocks
from trivium.parser.ocr import parser_time
from trivium.parser.picture_text import Pictures
from trivium.settings.limits import InputLimits
from trivium.text.normalise import normalise_title
from trivium.types import Page

INDEX_STEMS = frozenset(("index", "_index", "readme"))
"""Names of files that represent their folder."""

_BRACKETS = re.compile(r"\[{50,}")
_WIKI_LINK = re.compile(r"(!?)\[\[([^\[\]|\n]{1,500})(?:\|([^\[\]\n]{0,500}))?\]\](?!\()")
_MATH = re.compile(
    r"(?<!\w)\$\$[^$]{1,4000}\$\$|(?<!\w)\$(?![\s\d])[^$\n]{0,500}(?<=[\w)\]}|'!])\$(?!\d)|(?<=\d)\*(?=\d)"
)
_HEADING_ATTRIBUTES = re.compile(r"(?<!\s)\s*+\{(?::?\s*+[#.][^{}]*|/\*[^{}]*\*/)\}\s*$")
_ANCHOR = re.compile(r"#([^\s{}*/]+)")
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".avif")
_TAG_NAME = re.compile(r"</?([a-zA-Z][\w-]*)\s*>?")
_HIDING = "title textarea style xmp iframe noembed noframes script plaintext select template body html head frameset"
_SWALLOWING = re.compile(rf"<(?=/?(?:{_HIDING.replace(' ', '|')})\b)", re.IGNORECASE)
_INLINE_TAGS = """
    a abbr acronym b bdi bdo big br button cite code data del dfn em font i img input ins kbd label mark math meter object
    picture q rp rt ruby s samp slot small span strike strong sub sup svg table time tt u var video audio wbr canvas
"""
_MARKED = re.compile(r"(?<![\w=])==(?=[^\s=])([^=]*[^\s=])==(?![\w=])")
_BLOCK_NAME = re.compile(r"(?:^|\s)\^(?=[\w-]*[a-zA-Z])[a-zA-Z0-9-]{3,60}$")
_OPENED = re.compile(r"<(?:table|ul|ol|dl)(?=[\s>]|$)", re.IGNORECASE)
_CLOSED = re.compile(r"</(?:table|ul|ol|dl)\s*>", re.IGNORECASE)
_PART = re.compile(
    r"</?(?:table|thead|tbody|tfoot|tr|td|th|caption|colgroup|col|ul|ol|li|dl|dt|dd)(?=[\s/>]|$)",
    re.IGNORECASE,
)
_KNOWN_TAGS = frozenset(block_names) | frozenset(_INLINE_TAGS.split())


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """Read the file as a page; see :class:`.DocumentReader`. The title comes from its
    front matter, else from its first heading, else from the file name. A file with only front matter or a heading
    becomes a page without text.
    """
    if len(file.data) > limits.markdown_bytes:
        raise ParseError(
            f"the file has {len(file.data):,} bytes, more than the limit of {limits.markdown_bytes:,} for Markdown:"
            " split it"
        )
    text = decode(file.data, file.language)
    front = read_front_matter(text)
    text = without_shortcodes(text[front.length :])
    mdx = file.path.lower().endswith(".mdx")
    env = {"source": text, "deadline": parser_time() + limits.seconds}
    html = _parser().render(plain_blocks(text, mdx=mdx), env)
    if not any(map(str.isalnum, html)):
        # Pages that only list their subpages have no other description of their content.
        html = f"<p>{escape(str(front.metadata.get('description', '')))}</p>"
    root = parse_markup(f"<div>{html}</div>", limits)
    title = normalise_title(front.title)
    title = title if 0 < len(title) <= MAX_TITLE else first_title(root) or _name(file)
    # A file with only a title is still a link target: a section of a site, or a note yet to be written.
    named = bool(front.length) or root.css_first("h1, h2, h3, h4, h5, h6") is not None
    document = read_blocks(root, title, limits, read_picture=Pictures(limits, file).show, may_be_empty=named)
    return page_of(
        document,
        file,
        "markdown",
        title=title,
        aliases=tuple(alias.strip("/") for alias in front.aliases),
        metadata=front.metadata,
    )


def _name(file: DocumentFile) -> str:
    """Return the title given by the file name; a file that represents its folder is named after that."""
    path = PurePosixPath(file.path)
    if path.stem.lower() in INDEX_STEMS and path.parent.name:
        return normalise_title(path.parent.name)
    return normalise_title(file.title)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 50})
    parser.enable(["table", "strikethrough"])
    parser.use(admon_plugin).use(deflist_plugin).use(footnote_plugin, inline=False)
    parser.inline.ruler.before("link", "wiki_link", _wiki_link)
    parser.inline.ruler.before("wiki_link", "brackets", _brackets)
    parser.inline.ruler.before("escape", "math", _math)
    parser.block.ruler.before("table", "deadline", _check_deadline)
    parser.block.ruler.before("code", "html_parts", _html_parts)
    parser.inline.ruler.before("text", "deadline", _check_time)
    parser.core.ruler.before("inline", "heading_attributes", _strip_heading_attributes)
    parser.core.ruler.before("inline", "underlined_lines", _underlined_lines)
    parser.core.ruler.push("unmarked", _strip_marks)
    parser.add_render_rule("footnote_ref", _nothing)
    parser.add_render_rule("footnote_anchor", _nothing)
    parser.add_render_rule("html_inline", _inline_html)
    parser.add_render_rule("html_block", _block_html)
    return parser


def _check_deadline(state: StateBlock, _start: int, _end: int, _silent: bool) -> bool:
    return _check_time(state, _silent)


def _check_time(state: StateBlock | StateInline, _silent: bool) -> bool:
    """A rule that never matches. Raises ParseError when the time limit of the document is exceeded."""
    if parser_time() > state.env["deadline"]:
        raise ParseError("to parse it takes more processor time than the limit: split it")
    return False


def _brackets(state: StateInline, silent: bool) -> bool:
    """Take a long run of brackets as text: the parser would look for the end of a link fifty times behind each."""
    run = _BRACKETS.match(state.src, state.pos)
    if run is None:
        return False
    if not silent:
        state.pending += run[0]
    state.pos = run.end()
    return True


def _html_parts(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse indented table rows and list items after an empty line as HTML while the element is open, not as code."""
    if silent or not state.is_code_block(start):
        return False
    if _PART.match(state.src, state.bMarks[start] + state.tShift[start]) is None or not _is_open(state):
        return False
    indent = state.sCount[start]
    state.sCount[start] = state.blkIndent
    try:
        return html_block(state, start, end, silent)
    finally:
        state.sCount[start] = indent


def _is_open(state: StateBlock) -> bool:
    """Whether an HTML table or list is open. Each token is examined once."""
    seen, depth = state.env.get("open", (0, 0))
    for token in state.tokens[seen:]:
        if token.type == "html_block":
            depth += len(_OPENED.findall(token.content)) - len(_CLOSED.findall(token.content))
            depth = max(0, depth)
    state.env["open"] = (len(state.tokens), depth)
    return bool(depth > 0)


def _wiki_link(state: StateInline, silent: bool) -> bool:
    """Parse ``[[target|text]]``, and ``![[target]]``, which embeds a picture or another note."""
    if state.src[state.pos] not in "![" or state.linkLevel > 0:
        return False
    found = _WIKI_LINK.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        target = found[2].strip()
        shown = (found[3] or "").strip()
        if found[1] and target.lower().endswith(_PICTURES):
            picture = state.push("image", "img", 0)
            alt = "" if re.fullmatch(r"\d+(?:x\d+)?", shown) else shown  # in Obsidian, its width
            picture.attrs = {"src": target, "alt": alt}
            picture.children = []
            picture.content = alt
            if alt:
                word = Token("text", "", 0)
                word.content = alt
                picture.children.append(word)
        else:
            opening = state.push("link_open", "a", 1)
            opening.attrs = {"href": f"[[{target}]]"}
            word = state.push("text", "", 0)
            page, _, heading = target.partition("#")
            word.content = shown or page or heading
            state.push("link_close", "a", -1)
    state.pos = found.end()
    return True


def _math(state: StateInline, silent: bool) -> bool:
    """Keep formulas as they are written: ``$a*b*c$`` in TeX and ``2*3*4`` have nothing emphasised."""
    found = _MATH.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("text", "", 0).content = found[0]
    state.pos = found.end()
    return True


def _strip_heading_attributes(state: StateCore) -> None:
    """Handle ``## Setup {#setup}``, which has the heading "Setup" and the anchor ``setup``."""
    for opening, content in zip(state.tokens, state.tokens[1:], strict=False):
        if opening.type == "heading_open" and content.content.endswith("}"):
            found = _HEADING_ATTRIBUTES.search(content.content)
            if found is not None:
                content.content = content.content[: found.start()]
                anchor = _ANCHOR.search(found[0])
                if anchor is not None:
                    opening.attrSet("id", anchor[1])


def _underlined_lines(state: StateCore) -> None:
    """Several lines above a rule, as in receipts and mails, are a paragraph and no heading."""
    for opening, content, closing in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if opening.type == "heading_open" and opening.markup in ("-", "=") and "\n" in content.content:
            opening.type, closing.type = "paragraph_open", "paragraph_close"
            opening.tag = closing.tag = "p"


def _strip_marks(state: StateCore) -> None:
    """Remove the marks of ``==marked==`` words, and block names at the end of blocks (`` ^a1b2c3``)."""
    for token in state.tokens:
        children = token.children or []
        for child in children:
            if child.type == "text" and "==" in child.content:
                child.content = _MARKED.sub(r"\1", child.content)
        if children and children[-1].type == "text" and "^" in children[-1].content:
            children[-1].content = _BLOCK_NAME.sub("", children[-1].content)


def _nothing(*_arguments: Any) -> str:
    return ""


def _inline_html(
    _renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    _options: object,
    env: MutableMapping[str, Any],
) -> str:
    """Render an inline tag. A tag that would hide the following content becomes text, as on GitHub, and so does a word
    in angle brackets that is not an HTML tag, such as ``<name>``.
    """
    content = tokens[index].content
    tag = _TAG_NAME.fullmatch(content)
    if (
        tag is not None
        and tag[1] == tag[1].lower()
        and tag[1] not in _KNOWN_TAGS
        and f"</{tag[1]}" not in env["source"]
    ):
        return content.replace("<", "&lt;")
    return _SWALLOWING.sub("&lt;", content)


def _block_html(
    _renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    _options: object,
    _env: MutableMapping[str, Any],
) -> str:
    """Render lines of HTML. Unclosed elements do not hide the following content."""
    content = tokens[index].content
    for name in ("script", "style", "textarea", "template", "title", "iframe", "xmp", "svg"):
        opened = len(re.findall(rf"<{name}\b", content, re.IGNORECASE))
        if opened and opened > len(re.findall(rf"</{name}\b", content, re.IGNORECASE)):
            return _SWALLOWING.sub("&lt;", content) if name != "svg" else content + "</svg>"
    if content.count("<!--") > content.count("-->"):
        content += "-->"
    return re.sub(r"</?(?:html|head|body|frameset)\b[^<>]*>|<plaintext>", "", content, flags=re.IGNORECASE)
