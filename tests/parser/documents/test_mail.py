"""Mails and saved pages are decoded, and what is attached to them is read."""

from __future__ import annotations

import base64
import io
import re
from email.message import EmailMessage
from pathlib import Path, PurePath

import docx
import pytest

from tests.fakes.memory_store import MemoryStore
from trivium.errors import ParseError
from trivium.index.load import load
from trivium.parser.documents import mail
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.sources.discover import discover, read
from trivium.parser.sources.source_items import Item
from trivium.settings.limits import DEFAULT_LIMITS
from trivium.types import Page


def pages(data: bytes, name: str = "letter.eml") -> list[Page]:
    return mail.read(DocumentFile(data, name, name), DEFAULT_LIMITS)


def letter(text: str, charset: str = "utf-8", cte: str = "quoted-printable") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = "Øyvind <oyvind@mill.example>", "loft@sails.example"
    message["Subject"], message["Date"] = "Segel für die Größe 7", "Tue, 03 Sep 2024 08:15:00 +0200"
    message.set_content(text, charset=charset, cte=cte)
    return message


LETTERHEAD = "From: Øyvind <oyvind@mill.example>. To: loft@sails.example. Date: 3 September 2024.\n\n"


def below_subject(page: Page) -> str:
    """The text without subject and letterhead."""
    return page.text.removeprefix(f"{page.title}\n\n").removeprefix(LETTERHEAD)


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
    assert [chunk.text for chunk in page.chunks] == [LETTERHEAD.strip(), *text.split("\n\n")]
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
    assert below_subject(page) == "Das Schiff fährt früh über die Förde."


def test_every_part_of_text_is_read_in_its_own_charset() -> None:
    """Plain text, HTML, an attached file; the page of a saved site is right about itself where MIME is silent."""
    text = "Судно стоит у причала."
    assert below_subject(pages(letter(text, "koi8-r", "8bit").as_bytes())[0]) == text
    message = EmailMessage()
    message["Message-ID"] = "<1@x>"
    message["Subject"] = "Ship"
    page = f"<html><head><meta charset='iso-8859-1'></head><body><p>{text}</p></body></html>"
    message.set_content(page, subtype="html", charset="koi8-r", cte="base64")
    message.add_attachment(text.encode("cp1251"), maintype="text", subtype="plain", filename="note.txt")
    message.get_payload(1).set_param("charset", "windows-1251")
    assert [text in found.text for found in pages(message.as_bytes())] == [True, True]
    message.get_payload(0).del_param("charset")
    silent = message.as_bytes().replace(b"koi8-r", b"")
    packed = page.replace("iso-8859-1", "koi8-r").encode("koi8-r")
    (begin, end) = (silent.index(b"PGh0"), silent.index(b"\n\n--"))
    assert text in pages(silent[:begin] + base64.encodebytes(packed) + silent[end:])[0].text


def test_every_mail_of_a_mailbox_is_a_document(tmp_path: Path) -> None:
    texts = (
        "The keel is of oak.",
        "The sails are of hemp.\n\nFrom here on they are patched.",
        "The anchor is of iron.",
    )
    mails = [letter(text, cte="7bit").as_bytes() for text in texts]
    mails.insert(1, b"From: nobody@mill.example\nMessage-ID: <2@x>\n\n")
    box = b"\n".join(b"From oyvind@mill.example Tue Sep  3 08:15:00 2024\n" + one for one in mails)
    found = pages(box, "old.mbox")
    assert [(page.path, below_subject(page)) for page in found] == [
        (f"old.mbox/{number}", text) for number, text in zip((1, 3, 4), texts, strict=True)
    ]
    assert found[0].missing == ("mail 2: the mail has no text",)
    assert len(pages(box.replace(b"\n", b"\r\n"), "old.mbox")) == 3
    (tmp_path / "old.mbox").write_bytes(box)
    store = MemoryStore()
    report = load([str(tmp_path / "old.mbox")], store, workers=1)
    assert report.problems == []
    assert [PurePath(page.path).name for page in store.pages()] == ["1", "3", "4"]


def test_mails_within_mails_are_read_as_deep_as_people_forward() -> None:
    message = letter("Level 0.")
    for level in range(1, 8):
        outer = letter(f"Level {level}.")
        outer.add_attachment(message)
        message = outer
    found = pages(message.as_bytes())
    assert [below_subject(page) for page in found] == [f"Level {level}." for level in (7, 6, 5, 4, 3, 2)]
    assert "forwarded more than 5 times" in found[-1].missing[0]


def test_plain_text_comes_before_html_and_html_alone_is_read() -> None:
    message = letter("The tide is at six.")
    message.add_alternative("<html><body><p>Tide in HTML.</p></body></html>", subtype="html")
    assert below_subject(pages(message.as_bytes())[0]) == "The tide is at six."
    only = EmailMessage()
    only["Subject"], only["Message-ID"] = "Tide", "<1@x>"
    only.set_content("<html><body><p>The tide is at <b>seven</b>.</p></body></html>", subtype="html")
    assert "The tide is at seven." in pages(only.as_bytes())[0].text


@pytest.mark.parametrize("subtype", ["plain", "html"])
def test_the_subject_is_text_and_may_be_all_there_is(subtype: str) -> None:
    message = EmailMessage()
    message["To"], message["Subject"] = "loft@sails.example", "The regatta begins at eleven"
    message["Message-ID"] = "<2@x>"
    message.set_content("<p>See above.</p>" if subtype == "html" else "See above.", subtype=subtype)
    (page,) = pages(message.as_bytes())
    assert (page.title, page.text) == (message["Subject"], f"{message['Subject']}\n\nSee above.")
    message.set_content("\n")
    assert "eleven" in pages(message.as_bytes())[0].text


@pytest.mark.parametrize("second", ["plain", "html"])
def test_a_text_in_several_parts_is_read_whole(second: str) -> None:
    message = letter("The first leg.")
    message.add_attachment(b"x", maintype="application", subtype="octet-stream", filename="x.unknown")
    for kind, text in ((second, "The second leg."), ("plain", "The third leg.")):
        part = EmailMessage()
        part.set_content(f"<p>{text}</p>" if kind == "html" else text, subtype=kind)
        message.attach(part)
    (page,) = pages(message.as_bytes())
    assert re.findall(r"The \w+ leg", page.text) == ["The first leg", "The second leg", "The third leg"]
    assert [missing.split(":")[0] for missing in page.missing] == ["x.unknown"]


def test_a_file_sent_as_the_mail_or_within_one_of_its_forms_is_a_document() -> None:
    direct = EmailMessage()
    direct["Subject"], direct["Message-ID"] = "Prices", "<3@x>"
    direct.set_content(b"Sail,Price\nJib,90\n", maintype="application", subtype="csv", filename="p.csv")
    assert [page.path for page in pages(direct.as_bytes())] == ["letter.eml", "letter.eml/p.csv"]
    form = EmailMessage()
    form.set_content("<p>In HTML.</p>", subtype="html")
    form.add_attachment("Sail,Price\nJib,90\n", subtype="csv", filename="p.csv")
    message = letter("In plain text.")
    message.make_alternative()
    message.attach(form)
    first, table = pages(message.as_bytes())
    assert below_subject(first) == "In plain text." and table.path == "letter.eml/p.csv"


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
        assert below_subject(read(item)[0]) == "<html> is a tag."
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
    assert below_subject(page) == "The gull sits." and "date" not in page.metadata
