"""Text that does not say in which encoding it is: read in the right one, or refused."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tests.parser.documents.files import read, texts
from trivium.errors import ParseError
from trivium.graph.embedded import EmbeddedStore
from trivium.index.load import load
from trivium.parser.encodings import decoded, decoded_as
from trivium.parser.html import parse_html
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


MENU = "Crème brûlée, café et jalapeños à 5 € dès midi, piñata à la fête, naïveté et œufs frais."


@pytest.mark.parametrize(
    ("label", "encoding"), [("utf-8", "cp1252"), ("latin-1", "utf-8"), ("no-such", "utf-8")]
)
def test_a_label_that_the_bytes_contradict_is_not_believed(label: str, encoding: str) -> None:
    assert decoded_as(MENU.encode(encoding), label) == MENU
    page = f'<html><head><meta charset="{label}"></head><body><p>{MENU}</p></body></html>'
    assert MENU in parse_html(page.encode(encoding), title="Menu").text


def test_lines_in_two_encodings_are_read_each_in_its_own() -> None:
    lines = [MENU.encode("utf-8"), MENU.encode("cp1252")] * 3
    assert decoded(b"\n".join(lines)) == "\n".join([MENU] * 6)
