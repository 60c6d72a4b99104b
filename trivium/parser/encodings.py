"""Detects the encoding of text: UTF-8 if valid, else the declared one if the bytes agree, else the guess of chardet,
verified. Text of two encodings, UTF-8 and an older one, is decoded line by line.

Wrongly decoded text cannot be found, so text whose encoding cannot be detected is rejected. Windows-1252 is by far the
most common one and is preferred when there is little evidence.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
import warnings
from functools import lru_cache

from trivium.errors import ParseError

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins like UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WESTERN = "cp1252"
_OF_LANGUAGE = {
    "ru": ("cp1251", "koi8-r", "cp866"),
    "zh": ("gb18030", "big5hkscs"),
    "ja": ("cp932", "euc-jp"),
    "ko": ("cp949",),
}
_OF_SEVERAL_BYTES = frozenset(("zh", "ja", "ko"))
_IN_WESTERN = frozenset(["en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "fi"])
_OF_WESTERN = (_WESTERN, "iso8859-15")
_TRIED = (
    *dict.fromkeys((*_OF_WESTERN, *(name for names in _OF_LANGUAGE.values() for name in names))),
    *(
        "cp1250",
        "iso8859-2",
        "cp1253",
        "cp1254",
        "cp1255",
        "cp1256",
        "cp1257",
        "koi8-u",
        "tis-620",
        "mac-roman",
    ),
)
"""Encodings of text files of recent decades. Each additional candidate makes the others harder to distinguish."""
_WIDER = {
    "ascii": _WESTERN,
    "iso8859-1": _WESTERN,
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "tis-620": "cp874",
}
"""Replaces codecs by supersets of them, as browsers do."""
_SAMPLE = 1 << 16
_BEFORE = 1_000
_LINE = re.compile(rb"[^\n]+")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_ASCII_LETTER = re.compile(rb"[A-Za-z]")
_ALPHABETS = frozenset(("LATIN", "CYRILLIC", "GREEK", "HEBREW", "ARABIC", "THAI"))
"""Alphabets that are never mixed within a word."""
_MOSTLY = 0.05
_MAX_ODD = 0.2
"""Maximum share of implausible words; above it a decoding is wrong."""
_FEW = 40
"""Maximum number of non-ASCII bytes for which Windows-1252 is preferred to a slightly better fit."""
_STRAY = 2
_LATIN = 4
"""Up to this many non-ASCII bytes, among this many times as many ASCII letters, are a symbol or an accent in Latin
text.
"""
_VERY_FEW = 6
"""Up to this many non-ASCII bytes, the best fit must be clearly better than the second."""
_LITTLE_BETTER = 0.8
_CLEARLY_BETTER = 1.2
_MAX_DAMAGE = 0.05
_MAX_FOREIGN = 0.5
"""Maximum share of non-ASCII letters among the letters of text in a Western encoding."""
_MAX_LATIN = 0.3
"""Maximum share of non-ASCII bytes in lines of Latin text."""
_MIN_SHARE = 0.2
"""Minimum share of non-ASCII bytes that are UTF-8, where single characters may be so by chance."""
_FEW_SEQUENCES = 4
"""Fewer characters in UTF-8 may be so by chance in text of a multi-byte encoding."""
_AFTER_LETTERS = "…‘’“”–—»\u00a0".encode(_WESTERN)
_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_CUT_OFF = re.compile(rb"(?:[\xe0-\xef][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{1,2})(?![\x80-\xff])")
_MAX_CUT_OFF = 1
_MIN_CUT_OFF = 8
_CONTROL = bytes({*range(32)} - {*b"\t\n\f\r\v\x1b"})
_MAX_CONTROL = 0.02
"""Share of control characters above which data is not text."""
_IN_TWO = "the text is in more than one encoding: save it as UTF-8"
_UNCERTAIN = "the encoding of the text could not be told: save it as UTF-8"


def decoded(data: bytes, language: str | None = None) -> str:
    """Decode text by its byte order mark, else as UTF-8, else with the detected encoding. ``language`` is the code of
    its language, if known. Raises ParseError when the encoding cannot be detected, and for binary data.

    >>> decoded("Größe".encode("cp1252")), decoded("Маяк построен в 1872 году".encode("cp1251"))
    ('Größe', 'Маяк построен в 1872 году')
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            data = data[len(mark) :]
            if encoding != "utf-8":
                return data.decode(encoding, "replace")
    wide = _wide(data)
    if wide is not None:
        return data.decode(wide, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        damaged = _in_two_encodings(data, language) or _damaged_utf8(data)
    if damaged is not None:
        return damaged
    head = data[:_SAMPLE]
    if len(head) - len(head.translate(None, _CONTROL)) > _MAX_CONTROL * len(head):
        raise ParseError("expected text, got binary data")
    encoding = _detected(data, language)
    text = data.decode(encoding, "replace")
    if text.count("\ufffd") > _MAX_DAMAGE * _beyond_ascii(text):
        raise ParseError(_UNCERTAIN)
    return text


def decoded_as(data: bytes, label: str | None, language: str | None = None) -> str:
    """Decode text labelled with an encoding. A label that the bytes contradict is ignored, as an unknown one is: the
    text is decoded like text without a label (:func:`decoded`), with its errors.

    >>> decoded_as("Größe".encode("cp1252"), "utf-8"), decoded_as("Größe".encode(), "latin-1")
    ('Größe', 'Größe')
    """
    text = _labelled(data, label, language) if label else None
    return decoded(data, language) if text is None else text


def as_utf8(data: bytes, label: str | None) -> bytes:
    """Return text that a server labels with an encoding as UTF-8 with a byte order mark, which has priority over labels
    in the text; unchanged without a label, or if the bytes contradict it.
    """
    if label is None or data.startswith(tuple(mark for mark, _ in _MARKS)):
        return data
    text = _labelled(data, label, None)
    encoded = data if text is None else text.encode("utf-8", "replace")
    return data if encoded == data else codecs.BOM_UTF8 + encoded


def _labelled(data: bytes, label: str, language: str | None) -> str | None:
    """Decode text by its label; None if the bytes contradict it."""
    try:
        encoding = _codec(codecs.lookup(label.strip()).name)
        text = data.decode(encoding, "replace")
    except (LookupError, ValueError):
        return None
    damage = text.count("\ufffd")
    if encoding.startswith(("utf-16", "utf-32")):  # whoever could read the label did not need it
        return None
    if encoding in ("utf-8", "utf-7") or encoding.startswith("iso2022"):  # hardly ever anything else
        return text if not damage and "\0" not in text else None
    beyond = _beyond_ascii(text)
    least = 1 if encoding in _OF_WESTERN else _FEW_SEQUENCES
    is_utf8 = len(_SEQUENCE.findall(data)) >= least and _SEQUENCE.sub(b"", data).isascii()
    foreign = encoding == _WESTERN and beyond > _MAX_FOREIGN * sum(map(str.isalpha, text))
    two = _in_two_encodings(data, language) if encoding in _OF_WESTERN else None
    return None if is_utf8 or foreign or damage > _MAX_DAMAGE * beyond else two or text


def _in_two_encodings(data: bytes, language: str | None) -> str | None:
    """Decode text of which some lines are UTF-8 and others in an older encoding; None for other text. Raises ParseError
    if the older one cannot be told.
    """
    lines = data.splitlines(keepends=True)
    good: list[str] = []
    old: list[bytes] = []
    damaged: list[bytes] = []
    for line in lines:
        if line.isascii():
            continue
        try:
            good.append(line.decode("utf-8"))
        except UnicodeDecodeError:
            (damaged if _SEQUENCE.search(line) else old).append(line)
    others = b"".join((*old, *damaged))
    beyond = len(_BEYOND_ASCII.findall(others))
    is_latin = beyond <= _MAX_LATIN * len(others)
    sequences = _beyond_ascii("".join(good))
    if not sequences and is_latin:
        found = b"".join(_SEQUENCE.findall(others))
        good = [found.decode("utf-8", "replace")] if len(found) >= _MIN_SHARE * beyond else []
    elif not is_latin and (sequences < _FEW_SEQUENCES or sequences < _MIN_SHARE * (sequences + beyond)):
        return None
    if not good or not beyond:
        return None
    western = _is_encodable("".join(good), _WESTERN)
    encoding = _WESTERN if western or not old else _detected(b"\n".join(old), language)
    texts = []
    for line in lines:
        is_utf8 = _SEQUENCE.search(line) is not None
        errors = "western" if is_utf8 and western else "replace"
        texts.append(line.decode("utf-8" if is_utf8 or line.isascii() else encoding, errors))
    text = "".join(texts)
    if text.count("\ufffd") > _MAX_DAMAGE * _beyond_ascii(text):
        raise ParseError(_IN_TWO)
    return text


def _is_encodable(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _western(error: UnicodeError) -> tuple[str, int]:
    """Decode a byte that is not UTF-8 as Windows-1252. Several are a truncated character, except a letter before a
    punctuation mark (``é’``).
    """
    assert isinstance(error, UnicodeDecodeError)
    wrong = error.object[error.start : error.end]
    is_cut = len(wrong) > 2 or wrong[1:] not in _AFTER_LETTERS
    return "\ufffd" if is_cut else wrong.decode(_WESTERN, "replace"), error.end


codecs.register_error("western", _western)


def _damaged_utf8(data: bytes) -> str | None:
    """Decode UTF-8 with a few damaged bytes or a truncated character; None for other text."""
    text = data.decode("utf-8", "replace")
    damage = text.count("\ufffd")
    if damage <= _MAX_DAMAGE * _beyond_ascii(text):
        return text
    if damage > _MAX_CUT_OFF or len(text) < _MIN_CUT_OFF:
        return None
    try:
        _CUT_OFF.sub(b"", data).decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text


def _beyond_ascii(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))


def _wide(data: bytes) -> str | None:
    """Detect UTF-16 and UTF-32 without a byte order mark, and 7-bit encodings that switch alphabets, which are all
    valid UTF-8.
    """
    head = data[:_SAMPLE]
    if b"\0" not in head and b"\x1b$" not in head:
        return None
    import chardet

    found = chardet.detect(head)["encoding"] or ""
    return found if found.lower().startswith(("utf-16", "utf-32", "iso-2022-")) else None


def _detected(data: bytes, language: str | None) -> str:
    sample = _sample(data)
    readings = _readings(sample)
    beyond = sum(map((127).__lt__, sample))
    best = next(iter(readings.values()), 0.0)
    own = _OF_WESTERN if language in _IN_WESTERN else _OF_LANGUAGE.get(language or "", ())
    # Text that is valid in a multi-byte encoding is rarely in another one.
    least = best / (10 if language in _OF_SEVERAL_BYTES else 2)
    for encoding in filter(set(map(_codec, own)).__contains__, readings):
        if readings[encoding] >= least:
            return encoding
    if _WESTERN in readings:
        is_latin = beyond <= _STRAY and len(_ASCII_LETTER.findall(sample)) >= _LATIN * beyond
        if is_latin or (beyond < _FEW and readings[_WESTERN] >= _LITTLE_BETTER * best):
            return _WESTERN
    confidences = [*readings.values(), 0.0, 0.0]
    if not best or (beyond < _VERY_FEW and confidences[0] < _CLEARLY_BETTER * confidences[1]):
        raise ParseError(_UNCERTAIN)
    return next(iter(readings))


def _sample(data: bytes) -> bytes:
    """Return some lines with non-ASCII bytes; pure ASCII lines carry no information."""
    lines: list[bytes] = []
    left = _SAMPLE
    for match in _LINE.finditer(data):
        line = match[0]
        beyond = None if line.isascii() else _BEYOND_ASCII.search(line)
        if beyond is None:
            continue
        # Of a long line, the part from shortly before its first non-ASCII byte; only its end is cut, possibly within a
        # character.
        lines.append(line[max(0, beyond.start() - _BEFORE) :][:left])
        left -= len(lines[-1]) + 1
        if left <= 0:
            break
    return b"\n".join(lines)


def _readings(sample: bytes) -> dict[str, float]:
    """Return the possible encodings of a text, best first, with their confidence. Of encodings that decode it
    identically, only one is returned.
    """
    import chardet

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the default encoding is not among the candidates
        found = chardet.detect_all(sample, ignore_threshold=True, include_encodings=_TRIED)
    fits = {
        _codec(guess["encoding"]): guess["confidence"] for guess in found if guess["encoding"] is not None
    }
    readings: dict[str, float] = {}
    texts: set[str] = set()
    for name in map(_codec, _TRIED):
        try:
            text = codecs.getincrementaldecoder(name)().decode(sample)
        except UnicodeDecodeError:
            continue
        odd = _odd_share(text)
        if name in fits and text not in texts and odd <= _MAX_ODD:
            texts.add(text)
            readings[name] = fits[name] * (1 - odd)
    return dict(sorted(readings.items(), key=lambda reading: -reading[1]))


def _codec(name: str) -> str:
    return codecs.lookup(_WIDER.get(name.lower(), name)).name


def _odd_share(text: str) -> float:
    """Return the share of implausible words: with letters of two alphabets, or capitals or symbols inside; and, in
    mostly Latin text, single letters of another alphabet.
    """
    words = [word for word in text.split() if not word.isascii()]
    letters = sum(map(str.isalpha, text))
    few = sum(character.isalpha() and not character.isascii() for character in text) < _MOSTLY * letters
    return sum(_is_odd_word(word, few) for word in words) / max(len(words), 1)


def _is_odd_word(word: str, is_rare: bool) -> bool:
    letters = list(filter(str.isalpha, word))
    if is_rare and len(letters) == 1 and _kind(letters[0]) in _ALPHABETS - {"LATIN"}:
        return True
    before, kind_before = "", ""
    for character in word:
        kind = _kind(character)
        if kind == "none":
            return True
        if before:
            is_letter, was_letter = character.isalpha(), before.isalpha()
            if (kind_before == "sign" and is_letter) or (kind == "opening" and was_letter):
                return True
            if kind in _ALPHABETS and kind_before in _ALPHABETS and kind != kind_before:
                return True
            if before.islower() and character.isupper() and not (character.isascii() and before.isascii()):
                return True
        before, kind_before = character, kind
    return False


@lru_cache(1 << 14)
def _kind(character: str) -> str:
    """Return the alphabet of a letter; ``sign`` for a character that does not precede letters, ``opening`` for one that
    does not follow them, and ``none`` for one that does not occur in text.
    """
    category = unicodedata.category(character)
    if category in ("Cc", "Co", "Cn"):
        return "" if character in "\t\r\n\f\v" else "none"
    if character.isascii():
        return "LATIN" if character.isalpha() else ""
    if category in ("Sc", "Sm", "Sk", "No") or "\u2500" <= character <= "\u259f":
        return "sign"
    if category == "Ps" or character in "¿¡‰¦":
        return "opening"
    return unicodedata.name(character, "").partition(" ")[0]
