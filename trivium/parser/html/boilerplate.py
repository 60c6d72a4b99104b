"""What surrounds the content of a web page: menus, footers, teasers, comments, forms.

The content is the element that the page marks as such (``main``, ``role="main"``, the only ``article``), else its body.
Removed are elements named like boilerplate and, unless the page marks its content, blocks that consist mostly of links.
Of a page that says that it is an article (of the news, of a blog) more is known, because its text is prose: what follows
the text, blocks of links, and labels on their own do not belong to it. Manuals and catalogues may consist of just these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from selectolax.lexbor import LexborNode

from trivium.parser.html.boilerplate_names import (
    MAX_NAMES,
    is_article_text,
    is_boilerplate_name,
    speaks_to_readers,
)

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
_MAX_RIVALS = 20
_LEAST_KEPT = 0.1
"""Minimum share of the prose that is left. With less, names mean something else on this page."""
_LARGE_SHARE = 0.3
"""Minimum share of the prose of an element that is never a menu, whatever its name."""
_ALMOST_ALL = 0.8
"""The same for comments and other articles, which may be longer than the content."""
_BODY_SHARE = 0.35
"""Minimum share of the prose of the text of an article."""
_MOST_LINKED = 0.75
_LEAST_LINKS = 3
_LONG_ITEM = 60
"""Average characters per link above which links are titles of articles, or sentences."""
_MOST_LINKED_OF_ARTICLE = 0.4
_MOST_LINKED_OF_LINE = 0.7
"""Shares of the text of a block, or of a line, beside an article of at least this many characters of prose."""
_LEAST_PROSE = 800
_LEAST_LINKED = 6
_LABEL = 100
"""Most characters of a line that is a label of what follows."""
_MARKS = '.hentry, .h-entry, [itemtype*="Article"], [itemtype*="BlogPosting"]'
_SENTENCE_ENDS = '.!?…"”“»:'
_REMOVED = frozenset(("nav", "footer", "template"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_LINK_BLOCKS = frozenset(("div", "section", "article", "p", "span", "li"))
_NAMED = frozenset(
    [
        "a",
        "figure",
        "details",
        "div",
        "section",
        "aside",
        "header",
        "ul",
        "ol",
        "table",
        "dl",
        "p",
        "center",
        "span",
        "li",
    ]
)
_NAMED_BESIDE_ARTICLES = _NAMED | _HEADINGS | frozenset(["article", "figure", "a", "details", "address"])
_VERBATIM = frozenset(("pre", "code", "math"))
_LABELS = frozenset(("p", "div", "span", "header", "strong", "b"))
_TEXT_TAGS = ("div", "section", "article", "main", "td")
_FLOW = _HEADINGS | frozenset(
    ["p", "li", "td", "th", "dd", "dt", "pre", "figure", "blockquote", "figcaption"]
)
_HEADING_MARK = re.compile(r"\W{0,3}")


def contents(body: LexborNode, *, article: bool) -> Iterator[LexborNode]:
    """Yield the most likely content, without boilerplate, then the body. ``article``: the page says that it is one."""
    root, marked = _content(body)
    least = max(_BODY_SHARE * _size(root), 1)
    article = (
        article
        or root.css_first(_MARKS) is not None
        or any(
            _size(text) >= least
            for text in islice(filter(is_article_text, root.css(", ".join(_TEXT_TAGS))), _MAX_RIVALS)
        )
    )
    for content in (root, body):
        if not _Pruning(content, article=article, marked=marked, named=True).run():
            _Pruning(content, article=False, marked=marked, named=False).run()
        yield content
        marked = False


def _content(body: LexborNode) -> tuple[LexborNode, bool]:
    """Return the element that is most likely the content, and whether the page marks it as such."""
    total = _size(body)
    for selector in _CONTENT:
        found = body.css(selector)
        count = len(found)
        if count > 1:
            # Several articles are a list of articles.
            found = [] if selector == "article" else [max(found[:_MAX_RIVALS], key=_weight)]
        share = _LEAST_SHARE if len(found) == count else _LEAST_SHARE_OF_RIVAL
        if found and _size(found[0]) >= share * total:
            return found[0], True
    return body, False


def _weight(rival: LexborNode) -> tuple[bool, int]:
    """Of several elements marked as the main content, that with the title is it: comments may be longer."""
    return rival.css_first("h1") is not None, _size(rival)


def _size(node: LexborNode) -> int:
    """Return the number of characters without white space."""
    return sum(map(len, node.text().split()))


@dataclass(slots=True)
class _Count:
    """The size of an element, in characters without white space, and its links."""

    text: int = 0
    linked: int = 0
    titles: int = 0
    links: int = 0
    inside: int = 0  # links to another place on the same page
    gone: int = 0  # characters removed
    blocks: int = 0
    end: str = ""
    labels: tuple[_Label, ...] = ()  # open before the element
    texts: int = 0  # found before it
    parts: int = 0  # text and elements in it
    line: LexborNode | None = None  # the last one, if it is a line without a sentence


@dataclass(slots=True, eq=False)
class _Label:
    """A heading or short line without text below it, and whether text below it was removed."""

    node: LexborNode
    level: int
    size: int
    orphan: bool = False


class _Pruning:
    """Removes boilerplate in one pass, bottom-up."""

    def __init__(self, root: LexborNode, *, article: bool, marked: bool, named: bool) -> None:
        self.root = root
        self.article = article
        self.marked = marked
        self.named = named
        self.total = _size(root) - sum(map(_size, root.css("a")))
        self.gone: list[LexborNode] = []
        self.counts = [_Count()]
        self.labels: tuple[_Label, ...] = ()
        self.texts: list[tuple[int, LexborNode]] = []
        self.links = self.headings = self.flow = 0  # open elements

    def run(self) -> bool:
        """Return False, and remove nothing, if hardly anything would be left."""
        stack: list[LexborNode] = []
        node = self.root.first_child
        while True:
            while node is None:
                if not stack:
                    return self._finish()
                node = stack.pop()
                self._leave(node, self.counts.pop())
                node = node.next
            if node.tag == "-text":
                self._read((node.text_content or "").split())
                node = node.next
                continue
            self.links += node.tag == "a"
            self.headings += node.tag in _HEADINGS
            self.flow += node.tag in _FLOW
            stack.append(node)
            self.counts.append(_Count(labels=self.labels, texts=len(self.texts)))
            if node.tag in _VERBATIM:  # names inside are those of a highlighter
                self._read(node.text().split())
                node = None
            else:
                node = node.first_child

    def _read(self, words: list[str]) -> None:
        if words:
            count = self.counts[-1]
            length = sum(map(len, words))
            count.text += length
            count.parts += 1
            count.linked += length if self.links else 0
            count.titles += length if self.headings and not self.links else 0
            count.end = words[-1][-1]
            if not self.headings:
                self.labels = ()

    def _leave(self, node: LexborNode, count: _Count) -> None:
        if node.tag == "a":
            self.links -= 1
            count.links += 1
            count.inside += (node.attributes.get("href") or "").startswith("#")
        self.headings -= node.tag in _HEADINGS
        self.flow -= node.tag in _FLOW
        if count.line is not None and count.parts == 1:
            self.gone.append(count.line)
            count.gone, count.text = count.gone + count.text, 0
        while self.labels and self.labels[-1].orphan and self.labels[-1] not in count.labels:
            self._drop(count)
        if self.headings and _is_mark(node, count):
            self.gone.append(node)
        elif self._is_boilerplate(node, count):
            self._remove(node, count)
        elif count.text or count.gone:
            self._keep(node, count)

    def _remove(self, node: LexborNode, count: _Count) -> None:
        self.gone.append(node)
        self.counts[-1].gone += count.text + count.gone
        self.labels = count.labels
        del self.texts[count.texts :]
        for label in self.labels if count.text + count.gone else ():
            label.orphan = True

    def _keep(self, node: LexborNode, count: _Count) -> None:
        outer = self.counts[-1]
        outer.text += count.text
        outer.linked += count.linked
        outer.titles += count.titles
        outer.links += count.links
        outer.inside += count.inside
        outer.gone += count.gone
        outer.blocks += count.blocks + (node.tag in _FLOW)
        outer.end = count.end or outer.end
        if node.tag == "article" or (node.tag in _TEXT_TAGS and is_article_text(node)):
            self.texts.append((count.text - count.linked, node))
        if not self.article or self.headings or not count.text:
            return
        outer.parts += 1
        is_short = count.text <= _LABEL and not count.blocks
        if (
            is_short
            and (node.tag or "") in ("div", "span", "a")
            and not self.flow
            and count.end not in _SENTENCE_ENDS
        ):
            outer.line = node
        if node.tag in _HEADINGS:
            self._add(_Label(node, int((node.tag or "h9")[1]), count.text))
        elif is_short and (node.tag or "") in _LABELS and count.end not in ".!?…":
            self.labels = count.labels
            self._add(_Label(node, 9, count.text))

    def _add(self, label: _Label) -> None:
        """A label ends those of its level and below, which are not needed if their text was removed."""
        while self.labels and self.labels[-1].level >= label.level:
            if self.labels[-1].orphan:
                self._drop(self.counts[-1])
            else:
                self.labels = ()
        self.labels += (label,)

    def _drop(self, count: _Count) -> None:
        label = self.labels[-1]
        self.labels = self.labels[:-1]
        if label.level > 1:
            self.gone.append(label.node)
            count.text -= label.size
            count.titles -= label.size if label.level < 9 else 0
            count.gone += label.size

    def _is_boilerplate(self, node: LexborNode, count: _Count) -> bool:
        tag = node.tag or ""
        prose = count.text - count.linked
        large = prose >= _LARGE_SHARE * self.total
        if self.article and tag == "time" and not self.flow:  # a line of its own, which the metadata has
            return True
        if tag in _REMOVED or (
            not large and (tag == "form" or (tag == "aside" and (self.article or count.links > 0)))
        ):
            return True
        if tag not in (_NAMED_BESIDE_ARTICLES if self.article else _NAMED):
            return False
        if self.named and prose < _ALMOST_ALL * self.total and self._is_named(node, count, large=large):
            return True
        if large or not count.text + count.gone:
            return False
        if tag in _HEADINGS:
            return self.article and tag != "h1" and self._is_to_readers(node, count)
        if self.article and (self._is_to_readers(node, count) or self._is_beside_article(tag, count, prose)):
            return True
        if count.links < _LEAST_LINKS or count.linked <= _MOST_LINKED * count.text:
            return False
        return count.inside == count.links or (
            (self.article or not self.marked) and count.text < _LONG_ITEM * count.links
        )

    def _is_named(self, node: LexborNode, count: _Count, *, large: bool) -> bool:
        if (self.flow and node.tag in ("span", "a")) or node.tag == "article":
            return False  # it is part of a sentence, or an article itself
        attributes = node.attributes
        names = attributes.get("class") or ""
        if node.tag not in _HEADINGS and node.tag != "section" and "section" not in names.split():
            names += f" {attributes.get('id') or ''}"  # that of a section is often made of its heading
        links = count.links + count.gone > 0
        return len(names) <= MAX_NAMES and is_boilerplate_name(
            names, article=self.article, large=large, links=links
        )

    @staticmethod
    def _is_to_readers(node: LexborNode, count: _Count) -> bool:
        return speaks_to_readers(node.text(), count.text)

    def _is_beside_article(self, tag: str, count: _Count, prose: int) -> bool:
        """Whether it is a block of links, a line on its own, or what is left of a block whose text was removed."""
        if count.gone > count.text and prose - count.titles < 5:
            return True
        return (
            tag in _LINK_BLOCKS
            and self.total > _LEAST_PROSE
            and 0 < count.links != count.inside
            and count.linked
            > (_MOST_LINKED_OF_LINE if tag in ("p", "li", "span") else _MOST_LINKED_OF_ARTICLE) * count.text
            and count.text > _LEAST_LINKED
        )

    def _finish(self) -> bool:
        count = self.counts[-1]
        kept = count.text - count.linked
        if self.named and kept < _LEAST_KEPT * self.total:
            return False
        while self.labels and (self.labels[-1].orphan or (self.article and self.labels[-1].level < 9)):
            self._drop(count)
        for element in self.gone:  # inner elements before outer ones
            element.decompose()
        least = max(_BODY_SHARE * kept, 1)
        text = min(
            ((size, -index) for index, (size, _) in enumerate(self.texts) if size >= least), default=None
        )
        if text is not None:
            self._cut(self.texts[-text[1]][1], forward=True)
            self._cut(self.root.css_first("h1"), forward=False)
        return True

    def _cut(self, node: LexborNode | None, *, forward: bool) -> None:
        """Remove what follows an element, or what precedes it."""
        while node is not None and node.mem_id != self.root.mem_id:
            while (other := node.next if forward else node.prev) is not None:
                other.decompose()
            node = node.parent


def _is_mark(node: LexborNode, count: _Count) -> bool:
    """Whether it is the permalink mark at a heading."""
    return node.tag == "a" and count.text <= 2 and _HEADING_MARK.fullmatch(node.text().strip()) is not None
