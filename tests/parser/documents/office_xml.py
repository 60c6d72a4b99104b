"""Word files made of pieces of XML."""

from __future__ import annotations

from collections.abc import Mapping

import docx

from tests.parser.documents.files import members, saved, zipped

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*content: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(content)}</w:p>"


def word(*blocks: str, parts: Mapping[str, str] | None = None) -> bytes:
    """A Word file with these blocks; ``parts`` are further parts of the main one by their kinds."""
    content = dict(members(saved(docx.Document())))
    body = f"<w:document {W} {M} {R}><w:body>{''.join(blocks)}</w:body></w:document>"
    relations = content["word/_rels/document.xml.rels"].decode()
    for kind, xml in (parts or {}).items():
        content[f"word/own-{kind}.xml"] = xml.encode()
        own = f'<Relationship Id="own-{kind}" Type="{RELATED}/{kind}" Target="own-{kind}.xml"/>'
        relations = relations.replace("<Relationship ", own + "<Relationship ", 1)
    content["word/_rels/document.xml.rels"] = relations.encode()
    content["word/document.xml"] = body.encode()
    return zipped(content)
