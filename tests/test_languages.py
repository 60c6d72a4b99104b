"""Words in other languages than English: stems, function words, and which language a text is in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language_texts import TEXTS
from trivium.errors import InputError
from trivium.text.languages import (
    NAMES,
    Analyzer,
    StoreLanguages,
    check_language,
    detect_language,
    function_words,
)
from trivium.text.normalise import question_terms, terms

ENGLISH = Analyzer()


@given(st.text(max_size=200))
def test_english_is_as_it_was(text: str) -> None:
    """The same terms, the same terms of questions, and each at the place of its word."""
    assert ENGLISH.terms(text) == terms(text)
    assert ENGLISH.question_terms(text) == question_terms(text)
    found = terms(text)
    places = ENGLISH.places(text)
    assert {term: places[term] for term in found} == {term: found.index(term) for term in found}


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("de", "Häuser", "Hauses"),
        ("fr", "continuelles", "continuel"),
        ("es", "canciones", "canción"),
        ("it", "abbandonata", "abbandonati"),
        ("pt", "quilométricas", "quilométricos"),
        ("nl", "opglimpende", "opglimpen"),
        ("sv", "husen", "huset"),
        ("da", "bøgerne", "bøger"),
        ("no", "havnedistriktene", "havnedistrikt"),
        ("fi", "taloista", "talossa"),
        ("ru", "важнейших", "важнейшими"),
        ("ar", "العائلات", "العائلة"),
        ("el", "πηγές", "πηγή"),
        ("hi", "विश्वविद्यालयों", "विश्वविद्यालय"),
        ("tr", "bahçelerde", "bahçeler"),
    ],
)
def test_forms_of_a_word_are_one_term(language: str, one: str, other: str) -> None:
    """Which they are not in English."""
    analyzer = Analyzer((language,))
    assert analyzer.question_terms(one) == analyzer.question_terms(other) == analyzer.terms(one)[:1]
    assert analyzer.terms(one)[:1] == analyzer.terms(other)[:1]
    assert ENGLISH.terms(one) != ENGLISH.terms(other)


def test_function_words_do_not_count() -> None:
    """Those of the question's language, also where the store has another one."""
    assert Analyzer(("de",)).question_terms("Wer hat die Häuser der Stadt gebaut?") == [
        "haus",
        "stadt",
        "gebaut",
    ]
    assert Analyzer(("fr",)).question_terms("Qui a découvert les lunes de Mars ?") == [
        "decouvert",
        "lun",
        "mar",
    ]
    assert Analyzer(("es",)).question_terms("¿Quién descubrió las lunas de Marte?") == [
        "descubr",
        "lun",
        "mart",
    ]
    assert Analyzer(("it",)).question_terms("Chi ha scoperto le lune di Marte?") == ["scopert", "lun", "mart"]
    mixed = Analyzer(("en", "de"))
    assert mixed.question_terms("Wer hat die Häuser gebaut?") == ["hauser", "haus", "gebaut"]
    assert mixed.question_terms("Who can die of the war?") == ["die", "war"]
    assert Analyzer(("de",)).question_terms("Wer?") == ["wer"]
    foreign = Analyzer(("tr",)).question_terms("Who wrote of the moons on Mars?")
    assert {"wrote", "moons"} <= set(foreign) and {"who", "of", "the", "on"}.isdisjoint(foreign)


def test_texts_without_spaces_are_pairs_of_characters() -> None:
    """So that a word of a question is found in a sentence; what is in other letters stays whole."""
    chinese = Analyzer(("zh",))
    assert chinese.terms("火星有两颗卫星 Phobos") == ["火星", "星有", "有两", "两颗", "颗卫", "卫星", "phobo"]
    assert set(chinese.question_terms("卫星")) <= set(chinese.terms("火星有两颗卫星"))
    assert Analyzer(("ja",)).terms("月") == ["月"]


@pytest.mark.parametrize("language", list(TEXTS))
def test_a_text_shows_its_language(language: str) -> None:
    """A paragraph does, and so does its first sentence; upper case too."""
    text = TEXTS[language]
    assert detect_language(text) == language
    assert detect_language(text.upper()) == language
    assert detect_language(text, among=["en", language]) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12 345 6,7",
        "Oslo Roma Wien Paris Bern Madrid Lisboa Praha Riga",
        "x " * 50,
        "Soap: Neroli di Amalfi; Price: 4; Stock: no\n" * 9,
    ],
)
def test_what_shows_no_language_has_none(text: str) -> None:
    """Nothing, numbers, names, labels that a table repeats."""
    assert detect_language(text) is None


def test_every_language_has_a_name_and_those_with_words_list_them_once() -> None:
    """In lower case, as texts are compared."""
    for language in NAMES:
        assert all(word == word.lower() for word in function_words(language))
    assert not {language for language in NAMES if not function_words(language)} - {"zh", "ja", "ko"}


def test_a_language_that_is_not_known_is_refused_with_those_that_are() -> None:
    """Case does not matter."""
    assert check_language(" De ") == "de"
    with pytest.raises(InputError, match=r"one of en, de, fr.*auto.*got 'klingon'"):
        check_language("klingon")


@given(st.lists(st.sampled_from(list(NAMES)), unique=True, min_size=1), st.booleans())
def test_what_a_store_keeps_comes_back(codes: list[str], detect: bool) -> None:
    """As it was written; nothing, or something else, is English."""
    kept = StoreLanguages(tuple(codes), detect)
    assert StoreLanguages.read(str(kept)) == kept
    assert StoreLanguages.read(None) == StoreLanguages.read("xx") == StoreLanguages()
