"""How other languages than English ask for an amount, and the beginnings of words that say one, beside digits."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from trivium.text.folding import tokens

_AMOUNTS = {
    "ar": "كم|واحد اثن ثلاث أربع خمس ست سبع ثمان تسع عشر مئة مائة مئات ألف آلاف مليون ملايين مليار نصف",
    "de": "wie viele;wie viel;wie vielen;wieviel;wieviele|eins einzige zwei drei vier fünf sechs sieben acht neun zehn"
    " elf zwölf zwanzig dreißig vierzig fünfzig hundert tausend million milliard hälfte dutzend kein beide doppelt",
    "el": "πόσο;πόσα;πόσες;πόσοι;πόση;πόσων|ένα μία μια δύο δυο τρεις τρία τέσσερ πέντε έξι επτά εφτά οκτώ οχτώ εννέα"
    " εννιά δέκα έντεκα δώδεκα είκοσι τριάντα σαράντα πενήντα εκατ χιλι δισεκατ μισ κανέν καμία",
    "es": "cuánto;cuánta;cuántos;cuántas|un dos tres cuatro cinco seis siete ocho nueve diez once doce veint treinta"
    " cuarenta cincuenta cien doscient trescient mil mitad ning docena doble ambos",
    "hi": "कितने;कितनी;कितना|एक दो तीन चार पांच पाँच छह छः सात आठ नौ दस ग्यारह बारह बीस तीस चालीस पचास सौ हजार हज़ार लाख"
    " करोड़ मिलियन अरब आध",
    "ru": "сколько;скольких|один одна одно дв три трех трёх четыр пят шест сем восем восьм девят десят одиннадцат сорок"
    " сто сот тысяч миллион миллиард полов ни оба обе",
    "th": "กี่คน;กี่ครั้ง;กี่ปี;กี่วัน;กี่แห่ง;กี่ตัว;กี่ลำ;กี่ชนิด;เท่าไร;เท่าไหร่;เท่าใด|หนึ่ง สอง สาม สี่ ห้า หก"
    " เจ็ด แปด เก้า สิบ ร้อย พัน หมื่น แสน ล้าน ครึ่ง เดียว",
    "tr": "kaç;kaçı;ne kadar|bir iki üç dört beş altı yedi sekiz dokuz on yirmi otuz kırk elli yüz bin milyon milyar"
    " yarı hiç",
    "vi": "bao nhiêu;mấy|một hai ba bốn năm sáu bảy tám chín mười trăm nghìn ngàn triệu tỷ nửa",
    "zh": "多少;几个;几名;几位;几次;几年|一 二 两 三 四 五 六 七 八 九 十 百 千 万 亿 半",
}
_UNSPACED = ("th", "zh")


class _Language(NamedTuple):
    """How an amount is asked for, the beginnings of words that say one, and whether spaces part words."""

    asks: tuple[str, ...]
    amounts: tuple[str, ...]
    spaced: bool


_LANGUAGES = tuple(
    _Language(tuple(asks.split(";")), tuple(amounts.split()), language not in _UNSPACED)
    for language, (asks, amounts) in ((one, said.split("|")) for one, said in _AMOUNTS.items())
)
_DIGITS = re.compile(r"\d+")


def lacks_amount(question: str, text: str) -> bool:
    """Whether a question asks for an amount in one of these languages, and a text says none that the question does not.

    >>> lacks_amount("Wie viele Boote gibt es?", "Es gibt viele."), lacks_amount("Wie viele Boote?", "Es sind zwölf.")
    (True, False)
    """
    language = _asking(question)
    if language is None or not set(_DIGITS.findall(text)) <= set(_DIGITS.findall(question)):
        return False
    if language.spaced:
        return not any(one.startswith(language.amounts) for one in tokens(text))
    return not any(one in text for one in language.amounts)


@lru_cache(maxsize=64)  # asked of every part that is read for a question
def _asking(question: str) -> _Language | None:
    """Return the language in which a question asks for an amount, if it does."""
    asked = f" {' '.join(tokens(question))} "
    for language in _LANGUAGES:
        if any(f" {one} " in asked if language.spaced else one in question for one in language.asks):
            return language
    return None
