"""Mails (.eml), mailboxes (.mbox), and web pages saved as one file (.mht, .mhtml), which are MIME messages too.

A mail is a page titled by its subject, which is also text, as is who sent it to whom and when; addresses and date are
metadata, too. Its plain text is preferred to HTML. Attachments of known formats are documents of their own,
placed below the mail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from email.utils import parsedate_to_datetime
from html import escape
from typing import cast

from trivium.errors import InputError, MissingExtraError, ParseError, said
from trivium.parser.document import MAX_TITLE, DamagedPartError, Document
from trivium.parser.documents.document_file import DocumentFile, page_of
from trivium.parser.documents.formats import format_of_content, format_of_name, reader_of
from trivium.parser.documents.text import decode, write_paragraphs
from trivium.parser.encodings import as_utf8
from trivium.settings.limits import InputLimits
from trivium.text.normalise import normalise_title
from trivium.types import MetadataValue, Page

FORMAT = "mail"
_ADDRESSES = ("from", "to", "cc")
_MAX_VALUE = 1_000  # characters of a header that becomes metadata
_MAX_ATTACHMENTS = 200
_MAX_DEPTH = 5  # forwarded mails within mails
_HEADER = re.compile(r"([!-9;-~]{1,100}):")
_OF_MAILS = frozenset(("mime-version", "message-id", "received", "return-path", "delivered-to"))
"""Headers that stand in mails and hardly in other texts."""
_COMMON = frozenset(("from", "to", "date", "subject", "content-type"))
_OF_MAILBOX = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\n]*\n(?=[!-9;-~]{1,100}:)")
"""The line before a mail in a mailbox, behind an empty line."""
_FLOWED = re.compile(r" \n(?=[^\s>])")


def is_mail(head: str) -> bool:
    """Whether the beginning of a file is that of a mail.

    >>> is_mail("From: a@b.example\\nMIME-Version: 1.0\\nSubject: Tea\\n\\nHello"), is_mail("From: here\\nTo: there")
    (True, False)
    """
    names: set[str] = set()
    for number, line in enumerate(head.splitlines()):
        if not line.strip() or (number == 0 and line.startswith("From ")):
            if names:
                break
            continue
        found = _HEADER.match(line)
        if found is None and not (names and line[0] in " \t"):
            return False
        if found is not None:
            names.add(found[1].lower())
    return not _OF_MAILS.isdisjoint(names) and not _COMMON.isdisjoint(names)


def read(file: DocumentFile, limits: InputLimits) -> list[Page]:
    """Read a mail and its attachments, or all mails of a mailbox; see
    :class:`.DocumentReader`.
    """
    mails = _OF_MAILBOX.split(file.data)[1:] if file.data.startswith(b"From ") else []
    if len(mails) < 2:
        return _mail(file, limits)
    pages: list[Page] = []
    box = Document(limits.headings)
    for number, data in enumerate(mails, 1):
        inner = replace(file, data=data, source=f"{file.source}/{number}", path=f"{file.path}/{number}")
        try:
            pages += _mail(inner, limits)
        except ParseError as error:
            box.leave_out(f"mail {number}", error)
    if not pages:
        raise ParseError("; ".join(("the mailbox has no text", *box.missing)))
    return [replace(pages[0], missing=(*pages[0].missing, *box.missing)), *pages[1:]]


def _mail(file: DocumentFile, limits: InputLimits) -> list[Page]:
    try:
        return list(_pages(message_from_bytes(file.data, policy=policy.default), file, limits, 0))
    except RecursionError as error:
        raise ParseError("the parts of the mail are nested too deeply") from error


def _pages(message: EmailMessage, file: DocumentFile, limits: InputLimits, depth: int) -> Iterator[Page]:
    document = Document(limits.headings)
    subject = normalise_title(_header(message, "subject"))[:MAX_TITLE]
    saved = message.get("Snapshot-Content-Location") or message.get_content_type() == "multipart/related"
    body = message.get_body(("html", "plain") if saved else ("plain", "html"))
    texts, attachments = _texts_and_attachments(message, body)
    attached: list[Page] = []
    for number, part in enumerate(attachments):
        name = part.get_filename() or f"attachment {number + 1}"
        if number == _MAX_ATTACHMENTS:
            document.leave_out("attachments", f"there are more than {_MAX_ATTACHMENTS}")
            break
        with document.part(name):
            attached += _attached(part, name, file, limits, depth)
    page: Page | None = None
    try:
        if any(part.get_content_subtype() == "html" for part in texts):
            page = _web_page(subject if message.get("To") else "", texts, message, file, limits)
        else:
            if subject:
                document.title(subject)
            written = [_text_of(part, file) for part in texts]
            if any(text.strip() for text in written):
                write_paragraphs(document, _letterhead(message))
            for text in written:
                write_paragraphs(document, text)
    except ParseError as error:
        document.leave_out("text", error)
    if page is None and not document.has_text and not attached:
        raise ParseError("; ".join(("the mail has no text", *document.missing)))
    page = page or page_of(document, file, FORMAT)
    yield replace(
        page,
        title=subject or page.title,
        format=FORMAT,
        modified=_date(message) or file.modified,
        metadata={**page.metadata, **_metadata(message)},
        missing=tuple(dict.fromkeys((*page.missing, *document.missing))),
    )
    yield from attached


def _texts_and_attachments(
    message: EmailMessage, body: MIMEPart | None
) -> tuple[list[MIMEPart], list[MIMEPart]]:
    """Return the parts of the text, first the ``body``, and the attachments. Other forms of the text, the pictures within
    it and signatures are neither.
    """
    texts = [] if body is None else [body]
    attachments = []
    for part, around in _leaves(message, frozenset()):
        if part is body or part.get_content_maintype() == "multipart":
            continue
        if part.is_attachment():
            attachments.append(part)
        elif part.get_content_type() in ("text/plain", "text/html") and part.get_filename() is None:
            texts += [] if {"alternative", "related"} & around else [part]
        elif not (
            "related" in around
            or "signed" in around
            or (part.get_filename() is None and "alternative" in around)
        ):
            attachments.append(part)
    return texts, attachments


def _leaves(part: MIMEPart, around: frozenset[str]) -> Iterator[tuple[MIMEPart, frozenset[str]]]:
    """Yield the parts that have none themselves, with the kinds of parts that they are in."""
    if part.get_content_maintype() == "multipart":
        for child in part.iter_parts():
            yield from _leaves(child, around | {part.get_content_subtype()})
    else:
        yield part, around


def _attached(part: MIMEPart, name: str, file: DocumentFile, limits: InputLimits, depth: int) -> list[Page]:
    """Read an attachment. Raises DamagedPartError for one that cannot be read."""
    place = name.replace("/", "_").replace("\\", "_")
    inner = DocumentFile(b"", f"{file.source}/{place}", f"{file.path}/{place}", language=file.language)
    if part.get_content_type() == "message/rfc822":
        if depth == _MAX_DEPTH:
            raise DamagedPartError(f"it is forwarded more than {_MAX_DEPTH} times")
        try:
            return list(_pages(cast(EmailMessage, part.get_payload(0)), inner, limits, depth + 1))
        except ParseError as error:
            raise DamagedPartError(said(error)) from error
    data = _bytes_of(part)
    if part.get_content_maintype() == "text":
        data = as_utf8(data, part.get_content_charset())
    found = format_of_content(data[:4_096], name) or format_of_name(name)
    if found is None or not data.strip():
        raise DamagedPartError("it is of no format that is read")
    document = DocumentFile(data, inner.source, inner.path, language=file.language)
    try:
        pages = reader_of(found.name)(document, limits)
    except (InputError, MissingExtraError) as error:
        raise DamagedPartError(said(error)) from error
    return [pages] if isinstance(pages, Page) else list(pages)


def _web_page(
    subject: str, texts: Sequence[MIMEPart], message: EmailMessage, file: DocumentFile, limits: InputLimits
) -> Page:
    """Read texts, at least one of them HTML, as a page of any site, with the pictures that came with it."""
    from trivium.parser.html import read as read_html

    beside = {}
    for other in message.walk():
        if other.get_content_maintype() == "image":
            for address in (
                other.get("Content-Location"),
                f"cid:{(other.get('Content-ID') or '').strip('<>')}",
            ):
                if address:
                    beside[str(address)] = cast("bytes | None", other.get_payload(decode=True))
    html = f"<h1>{escape(subject)}</h1><p>{escape(_letterhead(message))}</p>".encode() if subject else b""
    for part in texts:
        if part.get_content_subtype() == "html":
            html += as_utf8(_bytes_of(part), part.get_content_charset())
        else:
            html += b"".join(f"<p>{escape(p)}</p>".encode() for p in _text_of(part, file).split("\n\n"))
    inner = DocumentFile(html, file.source, file.path, file.modified, beside.get, file.language)
    return read_html(inner, limits)


def _bytes_of(part: MIMEPart) -> bytes:
    return cast("bytes | None", part.get_payload(decode=True)) or b""


def _text_of(part: MIMEPart, file: DocumentFile) -> str:
    """Return the text of a part in the charset it names, unless its bytes contradict that."""
    text = decode(_bytes_of(part), file.language, part.get_content_charset())
    flowed = part.get_param("format") == "flowed"
    return _FLOWED.sub(" ", text) if flowed else text


def _header(message: EmailMessage, name: str) -> str:
    try:
        value = message.get(name)
    except Exception:  # the parser of addresses raises many kinds of errors on malformed ones
        return ""
    return " ".join(str(value or "").split())[:_MAX_VALUE]


def _addresses(message: EmailMessage) -> dict[str, str]:
    return {name: _header(message, name) for name in _ADDRESSES}


def _metadata(message: EmailMessage) -> dict[str, MetadataValue]:
    values = _addresses(message)
    values["date"] = _date(message) or ""
    values["address"] = _header(message, "Snapshot-Content-Location")
    return {name: value for name, value in values.items() if value}


def _letterhead(message: EmailMessage) -> str:
    """Return who wrote a mail to whom and when, as its first paragraph, so that it can be asked about. Empty for a text
    without sender.
    """
    values = _addresses(message)
    if not any(map(str.isalnum, values["from"])):
        return ""
    if (sent := _sent(message)) is not None:
        values["date"] = f"{sent.day} {sent:%B %Y}"
    return ". ".join(f"{name.capitalize()}: {value}" for name, value in values.items() if value) + "."


def _date(message: EmailMessage) -> str | None:
    sent = _sent(message)
    try:
        return None if sent is None else sent.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return None


def _sent(message: EmailMessage) -> datetime | None:
    try:
        return parsedate_to_datetime(_header(message, "date"))
    except (TypeError, ValueError, OverflowError):
        return None
