"""Spellings of a word find each other, and numbers stay what they are."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.answering.passages import passages, respelled
from trivium.text.folding import folded, tokens, words_of
from trivium.text.languages import NAMES, Analyzer
from trivium.text.normalise import normalise_name, sentences, terms, words
from trivium.types import Hit


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("Kraków", "Krakow"),
        ("Tønder", "Tonder"),
        ("Þórshöfn", "Thorshofn"),
        ("Göttingen", "Goettingen"),
        ("Weißenfels", "Weissenfels"),
        ("ｗｉｄｅ", "wide"),
        ("ﬂow", "flow"),
        ("O’Keeffe", "okeeffe"),
        ("re‑entry", "reentry"),
        ("U.N.E.S.C.O.", "UNESCO"),
        ("Ph.D.", "PhD"),
        ("10⁻⁴", "10^-4"),
        ("cm³", "cm^3"),
        ("CO₂", "co2"),
        ("y₃", "y_3"),
        ("QX-77", "qx77"),
        ("v12.4.0", "12.4.0"),
        ("in\u00advoice", "invoice"),
        ("كِتَاب", "كتاب"),
        ("Алёна", "Алена"),
    ],
)
def test_both_spellings_have_a_term_in_common(written: str, typed: str) -> None:
    """In whatever normal form and case, in every language of the store."""
    for analyzer in [Analyzer(), *(Analyzer((code,)) for code in NAMES)]:
        for form in ("NFC", "NFD"):
            own = set(analyzer.terms(unicodedata.normalize(form, written)))
            assert own & set(analyzer.terms(typed))
            assert own & set(analyzer.terms(typed.upper()))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10³¹", "1031"),
        ("2024-05-17", "20240517"),
        ("3.14.2", "3142"),
        ("чай", "чаи"),
        ("ガ", "カ"),
        ("2½", "21/2"),
    ],
)
def test_what_is_something_else_has_other_terms(one: str, other: str) -> None:
    """Signs between digits count, and so do marks that are part of a letter."""
    assert terms(other)[-1] not in terms(one)


def test_english_endings_are_words_of_their_own() -> None:
    """Possessives and contractions are not joined."""
    assert terms("Earth's") == ["earth", "s"]
    assert terms("don't") == ["don", "t"]
    assert normalise_name("Earth’s") == "earth s"


@given(st.text(max_size=60))
def test_folding_again_changes_nothing(text: str) -> None:
    """And words that are plain stay as they are."""
    assert folded(folded(text)) == folded(text)


@pytest.mark.parametrize(
    ("typed", "written"),
    [("x ray", "X-ray"), ("hi fi", "hifi"), ("O Casey", "O’Casey"), ("N A S A", "NASA"), ("KX 77", "KX77")],
)
def test_a_question_finds_together_what_it_writes_apart(typed: str, written: str) -> None:
    """In every language of the store, and no function word is joined."""
    for analyzer in [Analyzer(), *(Analyzer((code,)) for code in ("de", "fr", "ru"))]:
        asked = {term for word in analyzer.question_words(f"{typed}?") for term in word.main}
        assert asked & set(analyzer.terms(written))
    assert not any(word.joined for word in Analyzer().question_words("What is land in use as a form?"))


def test_long_tokens_take_linear_time() -> None:
    """They have no joined form."""
    assert terms("a-" * 100_000 + "a") == ["a"] * 100_001
    assert len(tokens("'" * 100_000)) == 0


def test_a_question_is_answered_as_the_passages_spell_it() -> None:
    """Only where no passage spells it like the question."""
    hit = Hit("u", "Kraków lies on the Vistula. Send e-mail.", 1.0, 1, "Towns", "Towns", "paragraph", 0, 40)
    offered = passages([hit])
    assert respelled("Where is Krakow, by email?", offered) == "Where is Kraków, by e-mail?"
    assert respelled("Where is Kraków?", offered) == "Where is Kraków?"
    assert respelled("Send e mail to Kraków", offered) == "Send e mail to Kraków"
    hit = Hit("u", "Firefly email, N.A.S.A. or ﬁrewall", 1.0, 1, "Towns", "Towns", "paragraph", 0, 30)
    offered = passages([hit])
    assert respelled("An e mail, a firewall", offered) == "An email, a ﬁrewall"


def test_signs_of_indian_scripts_belong_to_their_words() -> None:
    """Vowels of Devanagari are marks, which once parted words into single consonants."""
    assert tokens("हिन्दी में") == ["हिन्दी", "में"]
    assert words("நன்றி, বাংলা") == ["நன்றி", "বাংলা"]
    assert [one for one, _ in words_of("pre-हिन्दी")][:2] == ["pre", "हिन्दी"]


def test_sentences_end_at_the_marks_of_their_scripts() -> None:
    """Danda, Arabic question mark, Urdu full stop."""
    for text, first in (("वे आए। वे गए।", "वे आए।"), ("من هو؟ هو هنا.", "من هو؟"), ("یہ ہے۔ وہ ہے۔", "یہ ہے۔")):
        begin, end = sentences(text)[0]
        assert text[begin:end] == first
