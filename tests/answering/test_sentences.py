"""Where sentences end: full stops that do, and those that do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.text.normalise import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("He lived in the U.S. for years. Dr. Who left.", ["He lived in the U.S. for years.", "Dr. Who left."]),
        ("Built c. 1900 by J. R. Smith. It stands.", ["Built c. 1900 by J. R. Smith.", "It stands."]),
        ("It weighs 3.5 kg. Heavy.", ["It weighs 3.5 kg.", "Heavy."]),
        ("So it is [1]. And [2][3]. “Yes.” [1] No", ["So it is [1].", "And [2][3].", "“Yes.” [1]", "No"]),
        ("Found in 1877. [1] So they say.", ["Found in 1877. [1]", "So they say."]),
        ("Mass: 5 kg\nMoons: 2\n\nEnd", ["Mass: 5 kg", "Moons: 2", "End"]),
        ("Their album is Help! (album). (So they say.)", ["Their album is Help! (album).", "(So they say.)"]),
        ("1. First thing.\n2. Second thing.", ["1. First thing.", "2. Second thing."]),
        ("这是。那是！", ["这是。", "那是！"]),
        (" \n ", []),
    ],
)  # fmt: skip
def test_sentences(text: str, expected: list[str]) -> None:
    """Abbreviations, initials, numbers and lists do not end one; marks belong to the sentence before them."""
    assert [text[start:end] for start, end in sentences(text)] == expected


@given(st.text(alphabet="aB .!?\n1[]“”。(", max_size=60))
def test_nothing_but_white_space_is_between_sentences(text: str) -> None:
    """Whatever the text: in order, trimmed, not overlapping, and all of it."""
    end = 0
    for start, stop in sentences(text):
        assert end <= start < stop
        assert not text[end:start].strip()
        assert text[start:stop] == text[start:stop].strip()
        end = stop
    assert not text[end:].strip()


@pytest.mark.parametrize(
    "text",
    [
        "Die Versammlung findet am 12. Oktober 2025 statt. | Danach gibt es Kuchen.",
        "Er wurde gewählt, z. B. weil er den Verein kennt. | Er nahm an.",
        "Der Verein wurde am 3. Mai 1908 gegründet. | Er hat 340 Mitglieder.",
        "Er starb 1908. | Der Verein besteht noch. | Sie wurde 12. | Er wurde 3.",
        "Vom 1. – 3. Mai und vom 1. bis 5. Juni ist zu. | Die 1. und 2. Mannschaft gewann.",
        "Die Kirche stammt aus dem 19. Jahrhundert. | Sie ist der 2. Bau. | Mehr ist nicht bekannt.",
        "Die Sitzung vom 12. 10. 2025 war lang. | Die am 31. | Danach kam nichts.",
        "Am 12. Sept. 2025 kam Dr. med. Müller. | Wer kam im Sept. | 2025 war er krank.",
        "Das gilt nach § 5 Abs. 2 Nr. 3 der Satzung. | Es geht auf diese Art. | Der Vorstand will es so.",
        "Er spielte u. a. Klavier, d. h. Tasten, bzw. Orgel usw. | Der Rest fehlt.",
        "Sie kostet ca. 3 Mio. Euro oder 2 Mrd. | Der Rest fehlt, i. d. R. Kleingeld.",
        "Rom fiel 476 n. Chr. | Danach war es vorbei mit dem Reich.",
        "Die Hauptstr. 12 ist zu. | Er wohnt in der Hauptstr. | Die Post ist offen.",
        "Er fährt bis Ulm, evtl. über Neu-Ulm. | Alles ist gut!",
        "Gründung: 3. Mai 1908",
        "Det er den 3. øvelse og ikke den 4. | Han er på nr. 5 i gaden.",
        "В 1908 г. он был в Москве. | Это было давно.",
    ],
)
def test_sentences_of_other_languages(text: str) -> None:
    """Ordinals and abbreviations do not end one, unless a word follows that begins one."""
    joined = text.replace(" | ", " ")
    assert [joined[start:end] for start, end in sentences(joined)] == text.split(" | ")


@pytest.mark.parametrize(
    "text",
    [
        "It was published on the 12. | Oktober is the month of its title.",
        "The law is cited as Abs. | 2, and the law of the land as Nr. | 3 of that book.",
        "What is in the 19. | Jahrhundert of Wundt was read by Gödel and Schrödinger.",
        "The nearest star is Proxima Centauri. | α Centauri is a pair.",
        "Der Spiegel, 12. | May 1990, Nr. | 5.",
    ],
)
def test_english_that_cites_german_is_split_as_english(text: str) -> None:
    """Vectors of its sentences are stored in order."""
    joined = text.replace(" | ", " ")
    assert [joined[start:end] for start, end in sentences(joined)] == text.split(" | ")
