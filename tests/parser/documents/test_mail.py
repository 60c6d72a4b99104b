"""Mails and saved pages are decoded, and what is attached to them is read."""

from __future__ import annotations

import io
from email.message import EmailMessage
from pathlib import Path

import docx
import pytest

from trivium.errors import ParseError
from trivium.limits import DEFAULT_LIMITS
from trivium.parser.documents import mail
from trivium.parser.documents.base import DocumentFile
from trivium.parser.sources.base import Item
from trivium.parser.sources.discover import discover, read
from trivium.types import Page


def pages(data: bytes, name: str = "letter.eml") -> list[Page]:
    return mail.read(DocumentFile(data, name, name), DEFAULT_LIMITS)


def letter(text: str, charset: str = "utf-8", cte: str = "quoted-printable") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = "Øyvind <oyvind@mill.example>", "loft@sails.example"
    message["Subject"], message["Date"] = "Segel für die Größe 7", "Tue, 03 Sep 2024 08:15:00 +0200"
    message.set_content(text, charset=charset, cte=cte)
    return message


@pytest.mark.parametrize(
    ("charset", "cte"),
    [
        ("utf-8", "quoted-printable"),
        ("utf-8", "base64"),
        ("iso-8859-1", "quoted-printable"),
        ("utf-8", "8bit"),
    ],
)
def test_text_is_decoded_and_headers_are_metadata(charset: str, cte: str) -> None:
    text = (
        "Die Segel für den Kutter sind genäht und liegen am Tor bereit, wo der Wärter sie verwahrt.\n\nGrüße"
    )
    (page,) = pages(letter(text, charset, cte).as_bytes())
    assert [chunk.text for chunk in page.chunks] == text.split("\n\n")
    assert (page.title, page.format, page.modified) == (
        "Segel für die Größe 7",
        "mail",
        "2024-09-03T06:15:00Z",
    )
    assert (
        page.metadata["from"] == "Øyvind <oyvind@mill.example>"
        and page.metadata["to"] == "loft@sails.example"
    )


def test_a_charset_that_the_bytes_contradict_is_not_believed() -> None:
    data = letter("Das Schiff fährt früh über die Förde.", "utf-8", "8bit").as_bytes()
    (page,) = pages(data.replace(b'charset="utf-8"', b'charset="us-ascii"'))
    assert page.text == "Das Schiff fährt früh über die Förde."


def test_plain_text_comes_before_html_and_html_alone_is_read() -> None:
    message = letter("The tide is at six.")
    message.add_alternative("<html><body><p>Tide in HTML.</p></body></html>", subtype="html")
    assert pages(message.as_bytes())[0].text == "The tide is at six."
    only = EmailMessage()
    only["Subject"], only["Message-ID"] = "Tide", "<1@x>"
    only.set_content("<html><body><p>The tide is at <b>seven</b>.</p></body></html>", subtype="html")
    assert "The tide is at seven." in pages(only.as_bytes())[0].text


def test_attachments_are_documents_of_their_own_and_others_are_named() -> None:
    file, packed = docx.Document(), io.BytesIO()
    file.add_paragraph("The boom is four metres long.")
    file.save(packed)
    message = letter("See the plan.")
    message.add_attachment(
        packed.getvalue(), maintype="application", subtype="octet-stream", filename="plan.docx"
    )
    message.add_attachment(
        b"\x00\x01\x02", maintype="application", subtype="octet-stream", filename="old.xyz"
    )
    message.add_attachment(b"\x89PNG broken", maintype="image", subtype="png", filename="sail.png")
    forwarded = letter("The mast is of larch.")
    message.add_attachment(forwarded)
    found = pages(message.as_bytes())
    assert [page.path for page in found] == ["letter.eml", "letter.eml/plan.docx", "letter.eml/attachment 4"]
    assert "four metres" in found[1].text and "larch" in found[2].text
    assert [one.partition(":")[0] for one in found[0].missing] == ["old.xyz", "sail.png"]


def test_a_saved_page_is_read_as_the_page() -> None:
    data = (
        b"From: <Saved>\r\nSnapshot-Content-Location: https://otters.example/cafe\r\nSubject: The caf=C3=A9\r\n"
        b'MIME-Version: 1.0\r\nContent-Type: multipart/related; type="text/html"; boundary="B"\r\n\r\n'
        b"--B\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
        b'<html><head><meta charset=3D"utf-8"></head><body><main><h1>Otters</h1><p>The otter caf=C3=A9 opens at te=\r\nn.'
        b"</p></main></body></html>\r\n--B\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        b"iVBORw0KGgo=\r\n--B--\r\n"
    )
    (page,) = pages(data, "saved.mhtml")
    assert "The otter café opens at ten." in page.text and "iVBOR" not in page.text
    assert page.metadata["address"] == "https://otters.example/cafe"


def test_a_mail_is_recognised_by_its_content(tmp_path: Path) -> None:
    data = letter("<html> is a tag.").as_bytes()
    for name in ("mail.eml", "mail", "mail.txt"):
        (tmp_path / name).write_bytes(data)
        (item,) = discover([str(tmp_path / name)])
        assert isinstance(item, Item) and item.format == "mail"
        assert read(item)[0].text == "<html> is a tag."
    (tmp_path / "memo.txt").write_text("From: the mill\nTo: the loft\n\nSend sails.")
    (item,) = discover([str(tmp_path / "memo.txt")])
    assert isinstance(item, Item) and item.format == "text"


def test_deep_nesting_and_nothing_to_read_end_in_an_error() -> None:
    with pytest.raises(ParseError, match="no text"):
        pages(b"From: a@b.example\nMIME-Version: 1.0\n\n")
    nested = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (depth, depth) for depth in range(3_000)
    )
    with pytest.raises(ParseError):
        pages(b"From: a@b.example\nMIME-Version: 1.0\n" + nested)


def test_damaged_headers_lose_only_themselves() -> None:
    message = letter("The gull sits.").as_bytes().replace(b"From: ", b"From: <<,;@[: ", 1)
    broken = message.replace(b"Tue, 03 Sep", b"Foo, 99 Bar")
    (page,) = pages(broken)
    assert page.text == "The gull sits." and "date" not in page.metadata
