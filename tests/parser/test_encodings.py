"""Text that does not say in which encoding it is: read in the right one, or refused."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tests.parser.documents.files import read, texts
from trivium.errors import ParseError
from trivium.graph.sqlite import EmbeddedStore
from trivium.index.load import load
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.documents.formats import reader_of
from trivium.parser.encodings import as_utf8, decoded, decoded_as
from trivium.parser.html import parse_html
from trivium.settings.limits import DEFAULT_LIMITS
from trivium.types import Page

TEXTS = {
    "ru": "Маяк был построен в 1872 году на острове. Смотритель жил в деревянном доме.",
    "uk": "Маяк був збудований у 1872 році на острові. Доглядач жив у дерев'яному будинку.",
    "ja": "東京タワーは1958年に建てられました。高さは333メートルです。",
    "zh": "这座灯塔建于一八七二年，位于岛上。守塔人住在一座木屋里。",
    "zh-Hant": "這座燈塔建於一八七二年，位於島上。守塔人住在一座木屋裡。",
    "ko": "등대는 1872년에 섬에 세워졌다. 등대지기는 나무 집에서 살았다.",
    "el": "Ο φάρος χτίστηκε το 1872 στο νησί. Ο φύλακας ζούσε σε ξύλινο σπίτι.",
    "de": "Der Leuchtturm wurde für die Küste gebaut – „größer“ als üblich, 5 € Eintritt.",
    "fr": "Le phare a été bâti à côté du château ; l’œuvre d’un maçon âgé.",
    "pl": "Latarnię morską zbudowano na wyspie. Latarnik mieszkał w małym domku, żył skromnie.",
    "cs": "Maják byl postaven na ostrově. Strážce žil v dřevěném domě u moře a byl šťastný.",
    "tr": "Deniz feneri adada inşa edildi. Bekçi küçük bir evde yaşıyordu; ışığı her akşam yakardı.",
    "he": "המגדלור נבנה על האי בשנת 1872. השומר גר בבית עץ.",
    "sv": "Fyren byggdes på ön. Fyrvaktaren bodde i ett litet trähus på östra sidan.",
}


@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        *(("ru", encoding) for encoding in ("cp1251", "koi8-r", "cp866")),
        *(("ja", encoding) for encoding in ("cp932", "euc-jp", "iso2022_jp")),
        *(("zh", "gb18030"), ("zh-Hant", "big5"), ("ko", "cp949"), ("uk", "cp1251"), ("el", "cp1253")),
        *(("de", "cp1252"), ("fr", "cp1252"), ("sv", "latin-1"), ("sv", "mac-roman"), ("tr", "cp1254")),
        *(("pl", "cp1250"), ("cs", "cp1250"), ("cs", "iso8859-2"), ("he", "cp1255")),
        *((language, "utf-16-le") for language in ("de", "fr")),
        *((language, encoding) for language in TEXTS for encoding in ("utf-8", "utf-8-sig", "utf-16")),
    ],
)
def test_text_is_read_in_its_encoding(language: str, encoding: str) -> None:
    assert decoded(TEXTS[language].encode(encoding)) == TEXTS[language]


@pytest.mark.parametrize(
    "text",
    [
        "Größe",
        "id,name\n1,José\n2,Zoë\n",
        "Item;Price\nValve;12 €",
        "20 °C",
        "© 2024 Acme",
        "It’s “so”.",
    ],
)
def test_a_few_letters_are_taken_for_windows_1252(text: str) -> None:
    assert decoded(text.encode("cp1252")) == text


def test_every_kind_of_text_file_is_read_so() -> None:
    russian = TEXTS["ru"].encode("cp1251")
    assert TEXTS["ru"] in read("text", russian).text
    assert TEXTS["ru"] in read("markdown", b"# 1\n\n" + russian).text
    assert (
        "Город: Москва" in read("csv", "Город;Число\nМосква;13000000\nКазань;1300000\n".encode("cp1251")).text
    )
    assert parse_html(b"<title>T</title><p>" + russian).text == TEXTS["ru"]
    assert parse_html(b"<?xml version='1.0' encoding='windows-1251'?><title>T</title><p>\xcc</p>").text == "М"


def test_what_cannot_be_told_is_refused() -> None:
    drawn = random.Random(1)
    noise = bytes(drawn.choice(range(0x80, 0x100)) for _ in range(300))
    for data in (noise, "Das Café ist in Zürich".encode("cp850")):
        with pytest.raises(ParseError, match="could not be told: save it as UTF-8"):
            decoded(data)


def test_utf_8_with_a_few_wrong_bytes_stays_utf_8() -> None:
    text = TEXTS["ru"] * 3
    assert decoded(text.encode() + b" caf\xe9") == text + " caf\ufffd"
    assert decoded("Eintritt: 5 €".encode()[:-1]) == "Eintritt: 5 \ufffd"


def test_the_language_that_is_known_decides_what_is_uncertain(tmp_path: Path) -> None:
    data = "кот\n".encode("koi8-r")
    assert decoded(data, "ru") == "кот\n" and decoded(TEXTS["de"].encode("cp1252"), "ru") == TEXTS["de"]
    for place, language, expected in (("with", "ru", "А и Б"), ("without", None, None)):
        (tmp_path / "a.txt").write_bytes("А и Б".encode("koi8-r"))
        store = EmbeddedStore.create(tmp_path / place)
        report = load([str(tmp_path / "a.txt")], store, language=language)
        read_texts = [page.text for page in store.page_graphs()]
        store.close()
        assert (read_texts, len(report.problems)) == (([expected], 0) if expected else ([], 1))


def test_much_text_is_decoded_in_time() -> None:
    started = time.process_time()
    for data in (
        b"plain text\n" * 500_000,
        "Größe\n".encode() * 500_000,
        "plain\nGröße\n".encode("cp1252") * 300_000,
    ):
        decoded(data)
    assert time.process_time() - started < 3


def page_of(data: bytes) -> Page:
    return read("text", data)


def test_the_offsets_of_what_was_decoded_fit() -> None:
    assert [text for _, _, text in texts(page_of(TEXTS["ja"].encode("cp932")))] == [TEXTS["ja"]]


MIXED = "Müller kauft Äpfel.\nDer Preis: 5 € – „günstig“.\nNoël et Zoé déjeunent.\n"


def test_text_of_two_encodings_is_read_line_by_line() -> None:
    """Every way to write some lines in UTF-8 and the others in Windows-1252."""
    lines = MIXED.splitlines(keepends=True)
    for number in range(1, 2 ** len(lines)):
        data = b"".join(
            line.encode("cp1252" if number >> at & 1 else "utf-8") for at, line in enumerate(lines)
        )
        assert decoded(data) == MIXED


def test_two_encodings_of_another_alphabet_stay_in_it() -> None:
    first, second = "Маяк построен в 1872 году.\n", "Смотритель живёт рядом с маяком.\n"
    assert decoded(first.encode() + second.encode("cp1251")) == first + second


def test_one_long_line_may_have_both() -> None:
    text = "<p>Crème brûlée</p><p>Señor Muñoz, ‘café’</p>"
    first, second = text[: text.index("</p>")], text[text.index("</p>") :]
    assert decoded(first.encode() + second.encode("cp1252")) == text


@pytest.mark.parametrize(
    ("label", "encoding"),
    [
        ("utf-8", "cp1252"),
        ("utf-8", "utf-16-le"),
        ("iso-8859-1", "utf-8"),
        ("windows-1252", "utf-8"),
        ("us-ascii", "cp1252"),
        ("nonsense", "cp1252"),
        ("shift_jis", "utf-8"),
    ],
)
def test_a_label_that_the_bytes_contradict_is_not_believed(label: str, encoding: str) -> None:
    assert decoded_as(MIXED.encode(encoding), label) == MIXED


def test_one_accent_contradicts_a_western_label() -> None:
    for text in ("The café by the river.", "20 °C", "It’s open."):
        assert decoded_as(text.encode(), "iso-8859-1") == text
    assert decoded_as("Її дім".encode("cp1251"), "windows-1251") == "Її дім"  # the first two are valid UTF-8


def test_a_label_that_fits_is_believed() -> None:
    for text, label in (("Příliš žluťoučký kůň", "iso-8859-2"), ("Κάτω", "iso-8859-7"), ("朱镕基", "gb2312")):
        assert decoded_as(text.encode("gbk" if label == "gb2312" else label), label) == text
    assert (
        decoded_as("Маяк построен в 1872 году".encode("cp1251"), "iso-8859-1") == "Маяк построен в 1872 году"
    )


def test_text_in_one_older_encoding_is_not_taken_for_two() -> None:
    """Words that happen to be valid UTF-8 (of 8 % of pairs in GBK, of Cyrillic in code page 866) prove nothing."""
    for text, encoding in (
        ("раб\nработа рабов у причала\nпароход ушёл в море\nсуда стоят\n" * 3, "cp866"),
        ("联通\n中国联通公司在北京开业\n新的办公楼在河边\n欢迎光临我们的商店\n" * 3, "gb18030"),
    ):
        assert decoded(text.encode(encoding)) == text


def test_damaged_utf8_stays_damaged() -> None:
    whole = "Der Bäcker verkauft Brötchen, Käse und Törtchen über die Straße. " * 5
    cut = whole.encode().replace("ü".encode(), b"\xe2\x82", 1)
    assert decoded(cut) == whole.replace("ü", "\ufffd", 1)


@pytest.mark.parametrize(
    ("name", "format", "before", "after"),
    [
        ("a.txt", "text", "", ""),
        ("a.md", "markdown", "# Title\n\n", ""),
        ("a.csv", "csv", "name;note\n", ""),
        ("a.html", "html", "<html><head><meta charset='utf-8'><title>T</title></head><body><p>", "</p>"),
    ],
)
def test_every_format_of_text_is_read_so(name: str, format: str, before: str, after: str) -> None:
    """A label over other bytes, and two encodings."""
    data = before.encode() + "Zoé;sirène\nJosé;".encode("cp1252") + "piñata".encode() + after.encode()
    page = reader_of(format)(DocumentFile(data, name, f"x/{name}"), DEFAULT_LIMITS)
    assert isinstance(page, Page)
    assert all(word in page.text for word in ("Zoé", "sirène", "José", "piñata"))


@pytest.mark.parametrize(
    ("text", "label", "encoding"),
    [
        (TEXTS["pl"], "iso-8859-2", "iso-8859-2"),
        (TEXTS["ru"], "koi8-r", "koi8-r"),
        ("朱", "gb2312", "gbk"),
        (MIXED, "utf-8", "cp1252"),
        (MIXED, None, "cp1252"),
    ],
)
def test_what_a_server_says_is_believed_where_the_bytes_agree(
    text: str, label: str | None, encoding: str
) -> None:
    """Before what the text says itself; a wrong label leaves that its word."""
    for meta in (
        "",
        "<meta charset='iso-8859-15'>" if encoding != "cp1252" else "<meta charset='windows-1252'>",
    ):
        page = f"<html><head>{meta}<title>T</title></head><body><p>{text}</p></body></html>".encode(encoding)
        assert " ".join(text.split()) in parse_html(as_utf8(page, label)).text
    assert decoded(as_utf8(text.encode(encoding), label)) == text
    assert decoded(as_utf8(text.encode(), label)) == text
