"""Names are found by their capitals, and words that have capitals for other reasons are left out."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language_texts import TEXTS
from trivium.entities.recogniser import KINDS, load_recogniser
from trivium.entities.rules import RuleRecogniser, kind_of
from trivium.errors import ConfigurationError


def names(text: str, language: str = "en", *others: str) -> list[str]:
    """The names of a text; ``others`` are further passages of its document."""
    return [text[start:end] for start, end, _ in RuleRecogniser().spans([text, *others], language)[0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("In 1781 William Herschel discovered Uranus.", ["William Herschel", "Uranus"]),
        ("He met Mary and John of Gaunt.", ["Mary", "John of Gaunt"]),
        (
            "She read J. R. R. Tolkien, J.K. Rowling and W. Herschel.",
            ["J. R. R. Tolkien", "J.K. Rowling", "W. Herschel"],
        ),
        ("The Apollo 11 mission of NASA cost a lot.", ["Apollo 11", "NASA"]),
        ("He joined the University of Oxford and Acme, Inc. in May.", ["University of Oxford", "Acme, Inc"]),
        ("He liked Marie Curie's book and O'Brien.", ["Marie Curie", "O'Brien"]),
        ("They studied at St John's College with Jean-Luc Picard.", ["St John's College", "Jean-Luc Picard"]),
        ("He sold Procter & Gamble to the Bank of England.", ["Procter & Gamble", "Bank of England"]),
        ("The work of the Ministry of Health and Welfare ended.", ["Ministry of Health and Welfare"]),
        ("A London-based firm uses iPhone apps from GitHub.com.", ["iPhone", "GitHub.com"]),
        ("He led the U.S. Army in World War II.", ["U.S. Army", "World War II"]),
        ("They asked the Securities and Exchange Commission.", ["Securities and Exchange Commission"]),
        (
            "We filed Form 10-K of Acme at the U.S. Patent and Trademark Office.",
            ["Acme", "U.S. Patent and Trademark Office"],
        ),
        ("It was on Monday Charles Babbage came, and Sunday Mr Byron.", ["Charles Babbage", "Mr Byron"]),
    ],
)
def test_names_within_sentences(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "However, it rained. I said so on Monday and in May 1945.",
        "See Figure 3 and Table 2 of Chapter IV. Click Save to close.",
        "The German forces met a French ship.",
        "He wrote /usr/Local and Foo.bar(Baz) and my_Name and $HOME.",
        "It took 5 MB for the Company Limited for USD and on Sundays.",
        "We file a file in FILE.",
        "Many people came. Since then nobody knows.",
    ],
)
def test_capitals_that_name_nothing(text: str) -> None:
    assert names(text) == []


def test_posts_and_phrases_of_the_document_are_no_names() -> None:
    assert names(
        "Ask the Senior Product Manager or the Director of Sales, and the Google Assistant of a Google office."
    ) == ["Google Assistant", "Google"]
    assert names("We open a Merge Request today.", "en", "Several merge requests are open.") == []


def test_the_beginning_of_a_sentence_needs_the_name_elsewhere() -> None:
    assert names("Phobos rotates.") == []
    assert names("Phobos rotates.", "en", "It orbits with Phobos.") == ["Phobos"]
    assert names("Moons are near.", "en", "It has moons. Two Moons are near.") == []
    assert names("NASA went. GitLab stayed.") == ["NASA", "GitLab"]


def test_the_subject_of_a_short_document_is_a_name() -> None:
    """In a longer one it would stand within a sentence, too."""
    assert names("Phobos is near. Education is good. Critics were few.") == ["Phobos"]
    assert names("Phobos is near.", "en", "and so on " * 100) == []


def test_what_a_contract_writes_with_a_capital_is_no_name() -> None:
    text = "If a Participant is ill, the Committee may ask any Participant, and Acme, for it under the Plan."
    assert names(text, "en", "The Participant's Plan Award is due.") == ["Acme"]


def test_posts_before_and_people_of_a_place() -> None:
    assert names("Then the Prime Minister of South Africa met Werner Dankwort of Germany.") == [
        *("South Africa", "Werner Dankwort", "Germany")
    ]
    assert names("He leads the Supreme Court of India.") == ["Supreme Court of India"]


def test_headings_columns_and_lines_in_capitals_need_the_name_elsewhere() -> None:
    text = "EARLY LIFE OF TURING\n\nEarly Life and Career\n\nAlan Turing\n\nHe ran."
    assert names(text) == []
    assert names(text, "en", "In 1936 he met Alan Turing.") == ["Alan Turing"]
    assert names("Country | Capital\nCountry: Norway; Capital: Oslo", "en", "He lived in Oslo.") == ["Oslo"]
    assert names("Name: Ada Lovelace; Birth Place: old house") == ["Ada Lovelace"]


def test_who_stands_in_a_column_of_people_is_one() -> None:
    spans = RuleRecogniser().spans(
        ["He met Zoe Castagne.", "Room: Hall; Contact: Zoe Castagne; Owner: Acme Bank"], "en"
    )
    assert [span.kind for span in spans[1]] == ["person", "organisation"]


def test_german_needs_more_than_a_capital() -> None:
    text = (
        "Der Naturforscher Alexander von Humboldt traf Herrn Herschel. Humboldt sah die Entdeckung von Planeten. Neue "
        "Methoden der NASA kamen im Jahr 1799 in den Deutschen Bundestag. Viele Menschen aßen zwei Kilogramm Brot."
    )
    assert names(text, "de") == [
        *("Alexander von Humboldt", "Herrn Herschel", "Humboldt", "NASA", "Deutschen Bundestag")
    ]


def test_german_names_of_people_and_places() -> None:
    text = (
        "Johann Wolfgang von Goethe wurde 1749 geboren. In Weimar traf Goethe Friedrich Schiller. Dr. Anna Schmidt von "
        "der Technischen Universität München sprach mit Frau Meyer über die Verspätung der Züge und die Pläne der EU."
    )
    assert names(text, "de") == [
        *("Johann Wolfgang von Goethe", "Goethe Friedrich Schiller", "Anna Schmidt"),
        *("Technischen Universität München", "Frau Meyer", "EU"),
    ]


@pytest.mark.parametrize("language", sorted(TEXTS))
def test_texts_without_names_have_none(language: str) -> None:
    assert names(TEXTS[language], language) == []


def test_other_languages() -> None:
    french = "L'Europe et la France saluent Victor Hugo. Il a vécu à l'Hôtel de Rohan avec Charles de Gaulle."
    assert names(french, "fr", "Il aime l'Europe.") == [
        *("Europe", "France", "Victor Hugo", "Hôtel de Rohan", "Charles de Gaulle")
    ]
    assert names("Он жил в Москве и читал Льва Толстого.", "ru") == ["Москве", "Льва Толстого"]
    assert names("苹果公司 Apple 在 California。", "zh") == []


def test_kinds_are_told_by_first_and_last_words() -> None:
    assert kind_of(["Dr", "Watson"]) == kind_of(["W.", "Herschel"]) == "person"
    assert kind_of(["University", "of", "Oxford"]) == kind_of(["Acme", "GmbH"]) == "organisation"
    assert kind_of(["Battle", "Hastings"]) == kind_of(["Boer", "War"]) == "event"
    assert kind_of(["Lake", "Como"]) == kind_of(["Baker", "Street"]) == "place"
    assert kind_of(["South", "Korea"]) == kind_of(["U.S."]) == kind_of(["Berlin"]) == "place"
    assert kind_of(["Christine", "Lee"]) == "person"
    assert kind_of(["Emmy", "Noether", "Prize"]) == kind_of(["A", "New", "Family"]) == ""
    assert kind_of(["Clean", "Air", "Act"]) == "law"
    assert kind_of(["Enigma"]) == kind_of(["Y", "Combinator"]) == kind_of(["G.", "Stanley", "Hall"]) == ""


_PIECES = "Ada|Lovelace|the|of|von|and|W.|NASA|I|May|11|Ltd|.|, | & |\n|\n\n|’s|; |: |“|-|É|ß|Ministry|was|Apollo|(|_|/|И"
PIECES = st.sampled_from(_PIECES.split("|"))
DRAWN = st.lists(st.tuples(PIECES, st.sampled_from(["", " "])).map("".join), max_size=30).map("".join)


@settings(deadline=None)
@given(
    st.lists(DRAWN | st.text(max_size=40), max_size=3), st.sampled_from(["en", "de", "fr", "ru", "zh", ""])
)
def test_spans_are_sorted_and_apart_and_the_same_again(texts: list[str], language: str) -> None:
    found = RuleRecogniser().spans(texts, language)
    assert len(found) == len(texts)
    for text, spans in zip(texts, found, strict=True):
        end = 0
        for span in spans:
            assert end <= span.start < span.end <= len(text)
            assert text[span.start : span.end].strip() == text[span.start : span.end]
            assert span.kind in ("", *KINDS)
            end = span.end
    assert found == RuleRecogniser().spans(texts, language)


@pytest.mark.parametrize(
    "unit", ["Ada ", "Ada of ", "ada: ", "A.", "Ada's ", "Ada\n", "Ada-", ". Ada", "; a: "]
)
def test_time_grows_with_the_text(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * size
        begun = time.process_time()
        RuleRecogniser().spans([text], "en")
        return time.process_time() - begun

    small = max(min(seconds(500) for _ in range(3)), 1e-3)
    assert min(seconds(4_000) for _ in range(2)) < 24 * small


def test_recognisers_are_opened_by_name() -> None:
    assert load_recogniser("rules").name == "rules"
    for wrong in ("", "Rules", "spacy:", "spacy"):
        with pytest.raises(ConfigurationError, match="there are rules, spacy:MODEL"):
            load_recogniser(wrong)
