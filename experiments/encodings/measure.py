"""Measures how often the encoding of a text is detected correctly, by length.

    python -m experiments.encodings.measure django

The folder is that of an unpacked package of Django, whose translations are the texts.
"""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from experiments import command
from trivium.errors import ParseError
from trivium.parser.encodings import decoded

ENCODINGS = {
    **dict.fromkeys(("en", "it", "pt", "nl", "sv", "da", "nb"), ("cp1252",)),
    **dict.fromkeys(("de", "fi"), ("cp1252", "iso8859-15")),
    **dict.fromkeys(("pl", "cs"), ("cp1250", "iso8859-2")),
    **dict.fromkeys(("uk", "bg"), ("cp1251",)),
    **{"fr": ("cp1252", "mac-roman"), "es": ("cp1252", "latin-1"), "ru": ("cp1251", "koi8-r", "cp866")},
    **{"ja": ("cp932", "euc-jp"), "zh_Hans": ("gb18030",), "zh_Hant": ("big5",), "ko": ("cp949",)},
    **{"hu": ("cp1250",), "el": ("cp1253",), "tr": ("cp1254",), "he": ("cp1255",), "ar": ("cp1256",)},
    "th": ("tis-620",),
}
SIZES = (25, 50, 100, 200, 1_000, 4_000, 20_000)
_LINE = re.compile(r'(msgid|msgid_plural|msgstr(?:\[\d\])?|msgctxt)? ?(".*")\s*$')


def strings(folder: Path, language: str) -> list[str]:
    """Return the translated messages of Django without placeholders, in a fixed random order."""
    key, found = "msgid" if language == "en" else "msgstr", {}
    for file in sorted(folder.glob(f"**/locale/{language}/LC_MESSAGES/django.po")):
        for entry in file.read_text("utf-8").split("\n\n"):
            parts: dict[str, str] = {}
            at = ""
            for match in filter(None, map(_LINE.match, entry.split("\n"))):
                at = match[1] or at
                parts[at] = parts.get(at, "") + ast.literal_eval(match[2])
            text = parts.get(key, "")
            if text and "%" not in text and "Project-Id" not in text:
                found[text.replace("'", "’") if language == "en" else text] = None
    texts = list(found)
    random.Random(1).shuffle(texts)
    return texts


def samples(folder: Path, each: int) -> Iterator[tuple[int, str, bytes]]:
    """Yield (size, text, bytes) of samples that are not valid UTF-8."""
    for language, encodings in ENCODINGS.items():
        whole = "\n".join(f"{text.rstrip('.。')}." for text in strings(folder, language))
        for encoding in encodings:
            text = whole.encode(encoding, "ignore").decode(encoding)
            for size in SIZES:
                drawn = random.Random(size)
                for _ in range(each if size < SIZES[-1] else 3):
                    at = drawn.randrange(max(1, len(text) - size // 2))
                    piece = (text[at:] + text[:at])[:size]
                    while (over := len(piece.encode(encoding)) - size) > 0:
                        piece = piece[: -max(1, over // 2)]
                    data = piece.encode(encoding)
                    if data.decode("utf-8", "ignore").encode() != data:
                        yield size, piece, data


def charset_normalizer(data: bytes) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    return None if best is None else str(best)


def ours(data: bytes) -> str | None:
    try:
        return decoded(data)
    except ParseError:
        return None


def main() -> None:
    parser = command.Parser(__doc__, takes="a minute", packages=("charset-normalizer",))
    parser.add_argument("folder", type=command.existing, help="folder of an unpacked package of Django")
    parser.add_argument(
        "--each", type=int, default=8, help="number of samples per size, language and encoding"
    )
    asked = parser.parse_args()
    readers: tuple[Callable[[bytes], str | None], ...] = (ours, charset_normalizer)
    counts: Counter[tuple[str, int, str]] = Counter()
    for size, text, data in samples(asked.folder, asked.each):
        for reader in readers:
            read = reader(data)
            outcome = "refused" if read is None else "right" if read == text else "wrong"
            counts[reader.__name__, size, outcome] += 1
    for reader in readers:
        for size in SIZES:
            of = {name: counts[reader.__name__, size, name] for name in ("right", "refused", "wrong")}
            shares = ", ".join(f"{name} {number / sum(of.values()):.3f}" for name, number in of.items())
            print(f"{reader.__name__} {size} bytes (n={sum(of.values())}): {shares}")


if __name__ == "__main__":
    command.run(main)
