"""EPUB: chapters in reading order, named by the table of contents; each is read as a web page."""

from __future__ import annotations

import re
from contextlib import suppress
from xml.etree.ElementTree import Element, fromstring
from xml.etree.ElementTree import ParseError as XmlError

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from trivium.errors import ParseError, said
from trivium.parser.document import DamagedPartError, Document
from trivium.parser.documents.archive import Archive, resolved
from trivium.parser.documents.document_file import DocumentFile, page_of
from trivium.parser.documents.office import Deadline, sensible_title
from trivium.parser.html.input_limits import checked_bytes
from trivium.parser.html.reader import Reader, inline_text
from trivium.parser.picture_text import Pictures
from trivium.settings.limits import InputLimits
from trivium.text.normalise import normalise_title
from trivium.types import MetadataValue, Page

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
# Fonts may be obfuscated, which does not affect the text.
_FONT_SCRAMBLING = frozenset(("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"))
_HTML_TYPES = frozenset(
    ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document")
)
_NCX_TYPE = "application/x-dtbncx+xml"
_LABELS = (
    ("creator", "author"),
    ("language",) * 2,
    ("publisher",) * 2,
    ("identifier",) * 2,
    ("subject", "keywords"),
)
_MAX_VALUE = 1_000
_MAX_LABEL = 300
_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
_MAX_DEPTH = 6


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """Read the file as a page; see :class:`.DocumentReader`. Links between its chapters
    are dropped because they lead to the same page.
    """
    archive = Archive(file.data, limits)
    document = _ChapterDocument(limits.headings)
    package_name, package = "", Element("package")
    with document.part("the list of chapters"):
        package_name = _package_name(archive)
        package = _xml(archive, package_name)
    metadata = next((e for e in package if _local(e) == "metadata"), Element("metadata"))
    manifest = _manifest(package, package_name)
    chapters = _spine(package, manifest, archive, document)
    _check_rights(archive, chapters)
    title = sensible_title(_texts(metadata, "title")[0] if _texts(metadata, "title") else None)
    book = _Book(limits, archive, document, title, _contents(archive, manifest))
    for chapter in chapters:
        book.read(chapter)
    document.expect_chunks("the book has no text")
    return page_of(
        document, file, "epub", title=title, modified=_modified(metadata), metadata=_metadata(metadata)
    )


class _ChapterDocument(Document):
    """Places the headings of a chapter below the chapter's name."""

    depth = 0
    label = ""  # name of the chapter, until its first heading

    def heading(self, text: str, number: int, anchors: tuple[str, ...] = ()) -> None:
        """Add a heading. One that repeats the name of the chapter is left out."""
        repeats = bool(self.label) and _same(text, self.label)
        self.label = ""
        if not repeats:
            super().heading(text, number + self.depth, anchors)

    def chapter(self, label: str, depth: int) -> None:
        """Begin a chapter."""
        super().heading(label, depth)
        self.depth, self.label = depth, label


def _no_link(_address: str) -> None:
    """Resolve no links: they lead to chapters of the same book, or to the web."""


class _Book:
    def __init__(
        self,
        limits: InputLimits,
        archive: Archive,
        document: _ChapterDocument,
        title: str | None,
        labels: dict[str, tuple[str, int]],
    ) -> None:
        self.document = document
        self._limits = limits
        self._archive = archive
        self._title = title
        self._labels = labels
        self._pictures = Pictures(limits)
        self._deadline = Deadline(limits)

    def read(self, name: str) -> None:
        """Read a chapter. One that cannot be read is left out."""
        self._deadline.check()
        label = self._labels.get(name)
        called = f"the chapter {name if label is None else label[0]!r}"
        body = None
        with self.document.part(called):
            data = self._archive.read(name)
            if data.strip():
                body = _body(data, self._limits)
        if body is None:
            return
        pictures = self._pictures.beside(self._archive.beside(name))
        if label is not None:
            name, depth = label
            heading = body.css_first("h1, h2, h3, h4, h5, h6")
            if heading is not None and _same(
                heading.text(), name
            ):  # an older table of contents is plain text
                name = normalise_title(inline_text(heading)) or name
            self.document.chapter(name, depth)
        reader = Reader(self._title, None, self._limits, resolve_link=_no_link, read_picture=pictures.show)
        reader.document = self.document
        reader.read(body)


def _body(data: bytes, limits: InputLimits) -> LexborNode | None:
    try:
        return LexborHTMLParser(checked_bytes(data, limits)).body
    except (ParseError, SelectolaxError) as error:
        raise DamagedPartError(said(error)) from error


def _same(first: str, second: str) -> bool:
    """Whether two headings are equal apart from case and white space."""
    return normalise_title(first).casefold() == normalise_title(second).casefold()


def _package_name(archive: Archive) -> str:
    """Return the member that the container names as the package of the book, else the first that looks like one."""
    with suppress(DamagedPartError):
        for element in _xml(archive, _CONTAINER).iter():
            name = resolved("", element.get("full-path", ""))
            if _local(element) == "rootfile" and name and name in archive:
                return name
    for name in archive.names:
        if name.lower().endswith(".opf"):
            return name
    raise DamagedPartError("the archive has no package of a book (.opf)")


def _manifest(package: Element, package_name: str) -> dict[str, tuple[str, str, str]]:
    """Map ids to members with their type and properties. Items outside the archive are dropped."""
    found = {}
    for item in package.iter():
        if _local(item) == "item" and item.get("href"):
            name = resolved(package_name, item.get("href", ""))
            if name is not None:
                kind, properties = item.get("media-type", ""), item.get("properties", "")
                found[item.get("id", "")] = (name, kind, properties)
    return found


def _spine(
    package: Element, manifest: dict[str, tuple[str, str, str]], archive: Archive, document: Document
) -> list[str]:
    """Return the members to read, in order and without duplicates, except the table of contents. Pages outside the order
    follow; without an order, it is that of the archive.
    """
    members = []
    pages = {
        name: None
        for name, kind, properties in manifest.values()
        if (kind in _HTML_TYPES or _is_page(name)) and "nav" not in properties.split()
    }
    for reference in package.iter():
        if _local(reference) == "itemref":
            idref = reference.get("idref", "")
            if idref not in manifest:
                document.leave_out(f"the chapter {idref[:_MAX_LABEL]!r}", "the book does not say where it is")
                continue
            if manifest[idref][0] in pages:
                members.append(manifest[idref][0])
    members += [name for name in pages if name in archive]
    if not members:
        contents = {name for name, _, properties in manifest.values() if "nav" in properties.split()}
        members = [name for name in archive.names if _is_page(name) and name not in contents]
    if not members:
        raise ParseError("expected a book (EPUB), got a package without chapters")
    return list(dict.fromkeys(members))


def _is_page(name: str) -> bool:
    return name.lower().endswith((".xhtml", ".html", ".htm"))


def _check_rights(archive: Archive, chapters: list[str]) -> None:
    """Raise ParseError for a book with encrypted text."""
    if _ENCRYPTION not in archive:
        return
    for data in _xml(archive, _ENCRYPTION).iter():
        if _local(data) != "EncryptedData":
            continue
        methods = {e.get("Algorithm", "") for e in data.iter() if _local(e) == "EncryptionMethod"}
        names = {resolved("", e.get("URI", "")) for e in data.iter() if _local(e) == "CipherReference"}
        if not methods <= _FONT_SCRAMBLING and names & {*chapters}:
            raise ParseError("the book is protected (DRM): expected one that can be read without a key")


def _contents(archive: Archive, manifest: dict[str, tuple[str, str, str]]) -> dict[str, tuple[str, int]]:
    """Map members to the name and depth (from 1) of the chapter that begins with them."""
    for name, _, properties in manifest.values():
        if "nav" in properties.split() and name in archive:
            found = _nav(archive, name)
            if found:
                return found
    for name, kind, _ in manifest.values():
        if kind == _NCX_TYPE and name in archive:
            try:
                root = _xml(archive, name)
            except ParseError:  # the chapters can be read without it
                return {}
            found = {}
            _ncx(root, name, 0, found)
            return found
    return {}


def _nav(archive: Archive, name: str) -> dict[str, tuple[str, int]]:
    data = archive.get(name) or b""
    try:
        tree = LexborHTMLParser(data)
    except SelectolaxError:
        return {}
    navigation = [
        nav for nav in tree.css("nav") if "toc" in (nav.attributes.get("epub:type") or "").split()
    ] or tree.css("nav")[:1]
    found: dict[str, tuple[str, int]] = {}
    for nav in navigation[:1]:
        for anchor in nav.css("a[href]"):
            depth, parent = 0, anchor.parent
            while parent is not None and parent.tag != "nav":
                depth += parent.tag in ("ol", "ul")
                parent = parent.parent
            _label(found, name, anchor.attributes.get("href") or "", inline_text(anchor), max(depth, 1))
    return found


def _ncx(element: Element, base: str, depth: int, found: dict[str, tuple[str, int]]) -> None:
    stack = [(element, depth)]
    while stack:
        node, level = stack.pop()
        if _local(node) == "navPoint":
            level += 1
            text = next((e for e in node if _local(e) == "navLabel"), None)
            source = next((e.get("src", "") for e in node if _local(e) == "content"), "")
            if text is not None:
                _label(found, base, source, "".join(text.itertext()), level)
        if _local(node) != "pageList":
            stack.extend((child, level) for child in reversed(node))


def _label(found: dict[str, tuple[str, int]], base: str, href: str, text: str, depth: int) -> None:
    """Name a member after the first entry that links to it."""
    name, label = resolved(base, href), normalise_title(text)[:_MAX_LABEL]
    if href and name is not None and label:
        found.setdefault(name, (label, min(depth, _MAX_DEPTH)))


def _metadata(metadata: Element) -> dict[str, MetadataValue]:
    found: dict[str, MetadataValue] = {}
    for name, key in _LABELS:
        values = list(dict.fromkeys(_texts(metadata, name)))
        if values:
            # Of several languages and identifiers, the first is that of the book.
            some = values if name in ("creator", "subject") else values[:1]
            found[key] = "; ".join(some)[:_MAX_VALUE]
    for date in _texts(metadata, "date")[:1]:
        match = _DATE.match(date)
        if match is not None:
            found["date"] = match[0]
    return found


def _modified(metadata: Element) -> str | None:
    for element in metadata:
        if element.get("property") == "dcterms:modified" and _DATE.match((element.text or "").strip()):
            return (element.text or "").strip()[:20]
    return None


def _texts(metadata: Element, name: str) -> list[str]:
    texts = (" ".join("".join(e.itertext()).split()) for e in metadata.iter() if _local(e) == name)
    return [text for text in texts if text]


def _local(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _xml(archive: Archive, name: str) -> Element:
    try:
        return fromstring(archive.read(name))  # noqa: S314 - see the import
    except (XmlError, ValueError, LookupError, RecursionError) as error:
        raise DamagedPartError(f"{name!r} in the book is damaged: {said(error)}") from error
