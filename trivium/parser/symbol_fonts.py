"""Characters of the fonts Symbol and Wingdings as the Unicode characters that look like them."""

from __future__ import annotations

_PRIVATE = 0xF000  # Word adds it to the codes of these fonts
_LAST = 0xF0FF
_SYMBOL = dict(
    zip(
        (*range(0x20, 0x7F), *range(0xA0, 0xF0), *range(0xF1, 0xFF)),
        " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
        "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪"
        "〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
        strict=True,
    )
)
_WINGDINGS = {
    **dict(zip(b'"$(*ABCDEFGHJKLNRTVXYZlmnoqrstuvw', "✂👓☎✉✌👌👍👎☜☞☝☟☺😐☹☠☼❄✝✠✡☪●❍■□❑❒⬧⧫◆❖⬥", strict=True)),
    **dict(zip(range(0x80, 0x96), "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿", strict=True)),
    **dict(
        zip(
            b"\x9f\xa1\xa4\xa7\xa8\xab\xd8\xdf\xe0\xe1\xe2\xe8\xef\xf0\xf1\xf2\xf3\xfb\xfc\xfd\xfe",
            "•○◉▪□★➢←→↑↓➔⇦⇨⇧⇩⬄✗✓☒☑",
            strict=True,
        )
    ),
}
_FONTS = {
    "symbol": _SYMBOL,
    "wingdings": _WINGDINGS,
    "wingdings 2": dict(zip(b"OPQRSTUV\x97\xa2\xa3", "✗✓☒☑☒☒☒☒●■□", strict=True)),
    "wingdings 3": dict(zip(b"fghi\x7d\xa6\x7a", "←→↑↓▶→▼", strict=True)),
    "webdings": dict(zip(b"acgnr\x3c\x34\x33\x35\x36", "✓□■●✗■▶◀▲▼", strict=True)),
}
SYMBOL_FONTS = frozenset(_FONTS)
"""Their names, in lower case."""


def symbols(text: str, font: str | None, *, only_private: bool = False) -> str:
    """Return a text in a font as the characters that one sees. Of a font that is not known, the text is returned, without
    characters that have no meaning in other fonts. ``only_private``: the font is that of characters for private use only.

    >>> symbols("\\uf061", "Symbol"), symbols("\\xfc", "Wingdings"), symbols("a\\uf061", "Arial")
    ('α', '✓', 'a')
    """
    known = _FONTS.get((font or "").lower())
    if known is None:
        return text if text.isprintable() else "".join(c for c in text if not _PRIVATE <= ord(c) <= _LAST)
    if only_private:
        return "".join(symbols(c, font) if _PRIVATE <= ord(c) <= _LAST else c for c in text)
    codes = (ord(c) - _PRIVATE if _PRIVATE <= ord(c) <= _LAST else ord(c) for c in text)
    return "".join(" " if code == ord(" ") else known.get(code, "") for code in codes)
