"""Names in running text: longest match, left to right."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trivium.parser.gazetteer import MAX_WORDS, Gazetteer, Mention, find_names, is_name, possible_names
from trivium.text.normalise import normalise_name, without_parenthesis


def titles(*names: str) -> Gazetteer:
    return Gazetteer((name, name) for name in names)


def targets(gazetteer: Gazetteer, text: str) -> list[str]:
    return [mention.target for mention in gazetteer.find(text)]


@pytest.mark.parametrize(
    ("names", "text", "found"),
    [
        (
            ["New York", "New York City", "York"],
            "From York to New York City and New York.",
            ["York", "New York City", "New York"],
        ),
        (["alpha beta", "beta gamma delta"], "alpha beta gamma delta", ["alpha beta"]),
        (["St. Peter's_Basilica"], "ST PETER’S BASILICA", ["St. Peter's_Basilica"]),
        (
            ["İstanbul Park"],
            "at İstanbul Park",
            ["İstanbul Park"],
        ),  # its first letter becomes two in lower case
        (["Art"], "Artist, smart, art", ["Art"]),
        (["Mercury (planet)"], "Mercury is small", ["Mercury (planet)"]),
        (["Rose (film)", "Rose (band)"], "the Rose", ["Rose (band)"]),  # the first by code point
    ],
)
def test_the_longest_names_are_found_from_the_left(names: list[str], text: str, found: list[str]) -> None:
    assert targets(titles(*names), text) == found


def test_offsets_delimit_the_mention_in_the_original_text() -> None:
    text = "The (Coca-Cola) company; Beyoncé's tour."
    found = titles("Coca Cola", "Beyoncé").find(text)
    assert [text[mention.start : mention.end] for mention in found] == ["Coca-Cola", "Beyoncé"]
    assert found[0] == Mention(5, 14, "coca cola", "Coca Cola")


def test_accents_written_as_characters_of_their_own_match_composed_names() -> None:
    text = "the Cafe\u0301 Royal"
    (found,) = titles("Café Royal").find(text)
    assert text[found.start : found.end] == "Cafe\u0301 Royal"


@pytest.mark.parametrize("reverse", [False, True])
def test_title_beats_alias_beats_shortened_title_beats_shortened_alias(reverse: bool) -> None:
    pairs = [
        ("Mercury (planet)", "Mercury (planet)"),
        ("Mercury", "Mercury"),
        ("Venus (planet)", "Venus (planet)"),
        ("Venus", "Morning star"),
        ("Mars (god)", "Ares"),
        ("Mars (planet)", "Mars (planet)"),
        ("Pluto (god)", "Hades"),
    ]
    gazetteer = Gazetteer(reversed(pairs) if reverse else pairs)
    assert targets(gazetteer, "Mercury, Venus, Mars, Pluto") == [
        "Mercury",
        "Morning star",
        "Mars (planet)",
        "Hades",
    ]


@given(st.permutations(["Io (moon)", "Io (myth)", "Io (film)", "Ion", "Io"]))
def test_the_order_the_names_come_in_does_not_matter(names: list[str]) -> None:
    gazetteer = Gazetteer((name, name) for name in names if name != "Io")
    same = Gazetteer((name, name) for name in sorted(names) if name != "Io")
    assert gazetteer.find("Io film and Io moon by Ion") == same.find("Io film and Io moon by Ion")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("io", False),
        ("u s", False),
        ("r e m", True),
        ("747", False),
        ("24 7", False),
        ("1984", True),
        ("this", False),
        ("is a", False),
        ("this year", True),
        ("", False),
        (" ".join(["word"] * MAX_WORDS), True),
        (" ".join(["word"] * (MAX_WORDS + 1)), False),
    ],
)
def test_short_names_short_numbers_and_common_words_are_not_names(name: str, wanted: bool) -> None:
    assert is_name(name) is wanted


def test_find_names_asks_once_for_every_distinct_run_of_words() -> None:
    asked: list[list[str]] = []

    def lookup(names: Sequence[str]) -> Mapping[str, str]:
        asked.append(list(names))
        return {"red planet": "Mars", "planet": "Planet"}

    found = find_names("Red planet, red planet!", lookup)
    assert [mention.target for mention in found] == ["Mars", "Mars"]
    assert asked == [
        [
            "red",
            "red planet",
            "red planet red",
            "red planet red planet",
            "planet",
            "planet red",
            "planet red planet",
        ]
    ]


@given(st.lists(st.sampled_from(["the", "of", "42", "x", "y", "moon", "1969"]), max_size=MAX_WORDS + 3))
def test_possible_names_are_the_runs_of_words_that_are_names(words: list[str]) -> None:
    runs = [
        " ".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + MAX_WORDS, len(words)) + 1)
    ]
    assert possible_names(" ".join(words)) == [run for run in dict.fromkeys(runs) if is_name(run)]


def test_find_names_does_not_ask_for_a_text_without_names() -> None:
    def lookup(names: Sequence[str]) -> Mapping[str, str]:
        raise AssertionError(names)

    assert find_names("is it?", lookup) == []
    assert find_names("", lookup) == []


_WORDS = st.sampled_from(["alpha", "beta", "gamma", "the", "of", "x", "1999"])
_PHRASES = st.lists(_WORDS, min_size=1, max_size=4).map(" ".join)


@given(st.lists(_PHRASES, max_size=8), st.lists(_WORDS, max_size=14).map(", ".join))
def test_both_ways_of_looking_agree_with_an_exhaustive_search(names: list[str], text: str) -> None:
    """The oracle tries every name at every word, longest first, on the normalised text."""
    known = {normalise_name(name) for name in names if is_name(normalise_name(name))}
    words = normalise_name(text).split()
    expected = []
    position = 0
    while position < len(words):
        fitting = [name for name in known if words[position : position + len(name.split())] == name.split()]
        if fitting:
            best = max(fitting, key=lambda name: len(name.split()))
            expected.append(best)
            position += len(best.split())
        else:
            position += 1
    gazetteer = titles(*names)
    found = gazetteer.find(text)
    assert [mention.name for mention in found] == expected
    by_name = {normalise_name(name): name for name in sorted(names, reverse=True)}
    assert [
        mention.name
        for mention in find_names(
            text, lambda asked: {name: by_name[name] for name in asked if name in by_name}
        )
    ] == expected


@given(
    st.lists(
        st.sampled_from(["Red moon", "Red (film)", "MOON", "moon_rise", "Red moon rise (1901)", "Of a"]),
        max_size=6,
    ),
    st.lists(st.sampled_from(["red", "Moon", "rise", "of", "a", "1901", "film"]), max_size=12),
)
def test_names_that_a_text_can_say_are_enough(names: list[str], text: list[str]) -> None:
    """A gazetteer of the names in question finds what one of all names finds."""
    said, forms = " ".join(text), set(possible_names(" ".join(text)))
    some = [
        name for name in names if forms & {normalise_name(name), normalise_name(without_parenthesis(name))}
    ]
    assert Gazetteer(zip(some, some, strict=True)).find(said) == Gazetteer(
        zip(names, names, strict=True)
    ).find(said)


@example("", "00\xadA")
@given(st.text(max_size=60), st.text(min_size=1, max_size=12))
def test_any_text_gives_ordered_offsets_that_normalise_to_the_name(text: str, title: str) -> None:
    text = f"{text} {title} {text}"
    end = 0
    for mention in titles(title).find(text):
        assert end <= mention.start < mention.end
        end = mention.end
        assert mention.name in normalise_name(unicodedata.normalize("NFC", text[mention.start : end]))
