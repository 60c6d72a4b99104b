"""Marks that do not end a sentence in languages other than English: after ordinals ("12. Oktober"), after abbreviations
("z. B.", "Abs. 2"), and before small letters beyond ASCII ("ca. über").

Vectors of sentences are stored in their order, so the sentences of English text must stay as they are: these rules apply
only where the words of other languages outnumber those of English. German has the most rules, because it alone writes
nouns, months among them, with a capital, as the beginning of a sentence.
"""

from __future__ import annotations

import re
from functools import cached_property

from trivium.text.function_words import FUNCTION_WORDS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = re.compile(r"\w+")
_UMLAUT = re.compile("[äöüß]")
_REACH = 28
"""Characters examined before a mark."""
_OPENING = "([{„“‚‘«»›‹\"'–-/"

# Single letters, such as "a", are parts of abbreviations, and initials.
_ENGLISH = frozenset(word for word in FUNCTION_WORDS["en"].split() if len(word) > 1)
_FUNCTION_WORDS = frozenset(
    word for code, words in FUNCTION_WORDS.items() if code != "en" for word in words.split()
)
_OTHER = frozenset(word for word in _FUNCTION_WORDS if len(word) > 1) | _words(
    "januar februar märz mai juni juli oktober dezember"
)
_LEAST = 2
"""References in English contain a single such word now and then ("de")."""

_NEVER_LAST = _words(
    "Nr Nrn Vgl vgl bzw Bzw bspw Bspw sog inkl exkl zzgl einschl ausschl evtl Evtl ggf Ggf ggfs insb insbes bzgl "
    "Bzgl vmtl gegr geb gest verh Dipl Ing Mag Hr Hrn Fr Frl Hl hl österr schweiz dt engl frz ital griech amtl ehem "
    "eigtl urspr wg d.h D.h v.a o.g s.o s.u "  # German
    "dhr Dhr mevr Mevr drs d.w.z bijv Bijv "  # Dutch
    "hr frk jf bl.a f.eks d.v.s t.ex "  # Danish, Norwegian, Swedish
    "Mme Mlle Mgr Sra Srta Dra Sig Dott Avv p.ex p.ej p.es "  # French, Spanish, Portuguese, Italian
    "esim Esim "  # Finnish
    "ул проф т.е т.к"  # Russian
)
_OF_A_DEGREE = _words("med phil jur habil nat rer oec theol")
"""Those that go on after another abbreviation only ("Dr. med."): some are words of other languages."""
_BEFORE_NUMBERS = _words(
    "Abb Abs Abschn Art Aufl Bd Bde Kap Tab Ziff Rn Rz Tel Str str max Max min mind Mind Jän Mär Okt Dez "  # German
    "nr kl klo pag pág cap стр рис"
)
_MONTHS_AS_IN_ENGLISH = _words("Jan Feb Apr Jun Jul Aug Sep Sept Nov")
"""Those that go on between an ordinal and a number only ("12. Sept. 2025")."""
_SOMETIMES_LAST = _words("Mio Mrd Tsd u.a")
"""Those that end a sentence if the next word begins one."""
_SECOND_PART = re.compile(r"[A-ZÄÖÜ][a-zäöü]{0,4}\.")
"""The rest of an abbreviation of two words ("z. B.", "v. Chr.")."""

_MONTH = re.compile(
    r"(?:Januar|Jänner|Jan|Februar|Feber|Feb|März|Mär|Mrz|April|Apr|Mai|Juni|Jun|Juli|Jul|August|Aug|September|Sept"
    r"|Sep|Oktober|Okt|November|Nov|Dezember|Dez)\b"
)
_COUNTED = re.compile(
    r"Jahrhundert|Jahrtausend|Jahrzehnt|Jahrestag|Jhd?t?\b|Quartal|Halbjahr|Weltkrieg|Lebensjahr|Geburtstag"
    r"|Vorsitzende|Auflage|Bundesliga"
)
_ORDINAL = re.compile(r"(?:(?<![\w.,:/–-])|(?<=\d\.[/–-]))\d{1,3}\.$")
_OF_A_NOUN = re.compile(
    r"(?:\b(?:[DdWw]e[rmns]|[Dd]ie|[Dd]as|[Ii]m|[Aa]m|[Vv]om|[Zz]u[mr]|[Bb]eim|[Jj]ede[rmns]?"
    r"|(?:[Dd]ies|[Ss]ein|[Ii]hr|[Uu]nser|[Ee]in|[Kk]ein)(?:e[rmns]?)?)|\d\.\s?(?:und|oder|bis|–|-|/))\s?\d{1,3}\.$"
)
"""An ordinal after a word that needs a noun, or after another ordinal."""
_DAY_AND_MONTH = re.compile(r"(?<![\w.,:])\d{1,2}\.\s?\d{1,2}\.$")
_MONTH_AND_YEAR = re.compile(r"\d{1,2}\.\s?\d{2,4}\b")
_YEAR = re.compile(r"\d{4}\b")
_RANGE = re.compile(r"[–—-]\s?\d")
_STARTS = _FUNCTION_WORDS | _words(
    "danach dabei dafür damals dazu daher deshalb seitdem später zuvor heute jetzt außerdem jedoch allerdings insgesamt "
    "bisher zudem ferner darüber dadurch"
)
"""Words that begin a sentence after an ordinal rather than follow it."""


class SentenceEnds:
    """Says which marks do not end a sentence of ``text``, by the rules of languages other than English."""

    def __init__(self, text: str) -> None:
        self._text = text

    def continues(self, begin: int, mark: re.Match[str], rest: str) -> bool:
        """Whether the sentence that starts at ``begin`` goes on after ``mark`` with the ``rest`` of its line, which is
        not empty and begins with no white space.
        """
        before = self._text[max(begin, mark.end() - _REACH) : mark.end()]
        return _may_continue(before, mark[0], rest) and self._in_another_language

    @cached_property
    def _in_another_language(self) -> bool:
        found = _WORD.findall(self._text.lower())
        others = sum(word in _OTHER or _UMLAUT.search(word) is not None for word in found)
        return others - sum(word in _ENGLISH for word in found) >= _LEAST


def _may_continue(before: str, mark: str, rest: str) -> bool:
    if rest.removeprefix("(")[:1].islower():  # beyond ASCII: no sentence ends before the other small letters
        return True
    if mark != ".":
        return False
    if before[-2:-1].isdecimal():
        return _is_ordinal(before, rest)
    *earlier, last = before[:-1].split() or [""]
    return _is_abbreviation(earlier[-1].lstrip(_OPENING) if earlier else "", last.lstrip(_OPENING), rest)


def _is_ordinal(before: str, rest: str) -> bool:
    """Whether a number with a full stop is an ordinal that belongs to the ``rest``, or a part of a date."""
    if _DAY_AND_MONTH.search(before) is not None and _YEAR.match(rest) is not None:
        return True
    if _ORDINAL.search(before) is None:
        return False
    if any(pattern.match(rest) is not None for pattern in (_MONTH, _COUNTED, _MONTH_AND_YEAR, _RANGE)):
        return True
    return _OF_A_NOUN.search(before) is not None and not _starts(rest)


def _is_abbreviation(previous: str, last: str, rest: str) -> bool:
    """Whether the ``last`` word before a full stop, with or without the ``previous`` one, is an abbreviation that does
    not end a sentence.
    """
    names = {last, previous + last} if previous.endswith(".") else {last}
    if not names.isdisjoint(_NEVER_LAST) or (len(names) > 1 and last in _OF_A_DEGREE):
        return True
    if not names.isdisjoint(_SOMETIMES_LAST):
        return not _starts(rest)
    if rest[0].isdecimal():
        return (
            last in _BEFORE_NUMBERS
            or last.endswith("str")
            or (last in _MONTHS_AS_IN_ENGLISH and _ORDINAL.search(previous) is not None)
        )
    return len(last) == 1 and last.islower() and _SECOND_PART.match(rest) is not None


def _starts(rest: str) -> bool:
    """Whether a text begins with a word that begins sentences, or with none."""
    word = _WORD.match(rest)
    return word is None or word[0].lower() in _STARTS
