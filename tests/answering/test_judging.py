"""How probably a part answers, and which of several that overlap or disagree is taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.answering.world import hit, sentence_of
from tests.fakes.memory_store import MemoryStore
from tests.retrievers.world import page, store_of
from trivium.answering import judge_parts
from trivium.answering.answer_parts import Part, parts_of, with_antecedent
from trivium.answering.definitions import definition_asked
from trivium.answering.evidence import features
from trivium.answering.in_force import date_of, in_force, why_newer
from trivium.answering.judge_parts import (
    Judged,
    Trees,
    confirmed,
    fitted,
    load_trees,
    sure_from,
    thresholds_of,
)
from trivium.answering.missing_in_part import unsaid
from trivium.answering.passages import NumberedPassage, continuations, passages
from trivium.answering.quote_answer import understood
from trivium.answering.rarity import Rarity
from trivium.answering.spelling import mended
from trivium.graph.records import ChunkRecord
from trivium.text.languages import IN_ENGLISH
from trivium.types import ChunkKind, EmbedderIdentity

CLUB = "The club has three organs:\n\n(a) the assembly;\n(b) the board;\n(c) the council.\n\nMembers pay 32 euros."
ROWS = "Bin | Emptied\nBin: grey; Emptied: Tuesday\nBin: blue; Emptied: Thursday"


def read(text: str, kind: ChunkKind = ChunkKind.PARAGRAPH, document: str = "club.txt") -> NumberedPassage:
    """A passage of one page."""
    store = store_of([page("Club", lead=[(text, [])])], {})
    found = replace(hit(store, "Club#chunk-1", 1), kind=kind, document=document)
    return passages([found])[0]


def part(passage: NumberedPassage, text: str, kind: str) -> Part:
    """The part with this text and form."""
    return next(one for one in parts_of([passage]) if one.kind == kind and one.text.strip() == text)


def test_a_tree_adds_the_value_of_the_leaf_that_a_row_falls_into() -> None:
    """Two trees: feature 0 at most 1 gives 2 else -1; the other always 1. 1 / (1 + exp(-3)) and 1 / (1 + exp(0))."""
    trees = Trees(
        feature=np.array([[0, -1, -1], [-1, -1, -1]], np.int16),
        threshold=np.array([[1, 0, 0], [0, 0, 0]], np.float32),
        left=np.array([[1, 0, 0], [0, 0, 0]], np.int16),
        right=np.array([[2, 0, 0], [0, 0, 0]], np.int16),
        value=np.array([[0, 2, -1], [1, 0, 0]], np.float32),
        thresholds=np.array([0.5, 0.1, 0.3], np.float32),
        of_all=np.array([0.0], np.float32),
        risks=np.array([[0.1, 0.8]]),
    )
    rows = np.array([[1.0], [1.5]], np.float32)
    np.testing.assert_allclose(trees.probabilities(rows), [0.952574, 0.5], atol=1e-6)


def test_what_announces_a_list_is_quoted_with_it() -> None:
    """However little the list says of the question."""
    passage = read(CLUB)
    announcing = part(passage, "The club has three organs:", "sentence")
    whole = next(one for one in parts_of([passage]) if one.kind == "list" and "council" in one.text)
    found = fitted([Judged(announcing, 0.9, 1.0), Judged(whole, 0.01, 0.2)])
    assert found.part is whole


def test_of_a_table_the_row_is_quoted() -> None:
    passage = read(ROWS, ChunkKind.TABLE)
    table = next(one for one in parts_of([passage]) if one.kind == "block")
    blue, grey = (part(passage, line, "row") for line in ROWS.splitlines()[:0:-1])
    found = [Judged(table, 0.9, 1.0), Judged(blue, 0.3, 0.9), Judged(grey, 0.1, 0.5)]
    assert fitted(found).part is blue
    assert fitted([found[0], *(one._replace(probability=0.01) for one in found[1:])]).part is table


def test_a_code_that_no_passage_has_is_not_said() -> None:
    """Sizes and formulas are none."""
    (sentence, *_) = parts_of([read("The pump HP-630 gives 12 l of CO2 an hour.")])
    asked = ["How much does the HP-250 give?", "How much does the HP-630 give?", "How much CO2 on A4?"]
    assert [unsaid(question, sentence) for question in asked] == [["HP-250"], [], []]


@pytest.mark.parametrize("embedder", ["bge-small", "minilm", "words"])
def test_shipped_trees_read_the_features_that_are_made(embedder: str) -> None:
    """No node asks for a column that is not there, and none is asked for cosines without an embedder."""
    trees, needs_cosine = load_trees(embedder)
    passage = read(CLUB)
    (row, *_) = features("Who are the organs?", parts_of([passage]), Rarity({"organ": 1.0}), None)
    cosines = 6
    assert trees.feature.max() < len(row) + (cosines if needs_cosine else 0)
    assert needs_cosine == (embedder != "words")
    answered, nothing, near = thresholds_of(embedder)
    assert 0 < nothing < answered < 1 and 0 < near < 1


@pytest.mark.parametrize("embedder", ["bge-small", "minilm", "words"])
def test_who_risks_less_is_answered_from_a_higher_probability_on(embedder: str) -> None:
    """A risk between two that were measured takes the lower one; below all nothing is sure enough; 1 accepts any."""
    levels, thresholds = load_trees(embedder)[0].risks.T.tolist()
    identity = EmbedderIdentity(embedder, "without a reader", 384)
    assert levels == sorted(levels) and thresholds == sorted(thresholds, reverse=True)
    assert sure_from(identity, 0.12) == sure_from(identity, 0.1) == thresholds[levels.index(0.1)]
    assert sure_from(identity, 0.001) == 1
    assert sure_from(identity, 1.0) == thresholds[-1] < 1
    assert sure_from(identity, None) == thresholds_of(embedder).answered


def test_parts_are_lists_with_what_announces_them_rows_and_sentences() -> None:
    passage = read(CLUB)
    part(passage, "Members pay 32 euros.", "sentence")
    part(passage, "The club has three organs:\n\n(a) the assembly;\n(b) the board;\n(c) the council.", "list")
    part(read(ROWS, ChunkKind.TABLE), "Bin: blue; Emptied: Thursday", "row")
    code = read("Run this.\n\nfor x in y:\n    print(x)\n\nz = 1\n\nThen stop.", ChunkKind.CODE)
    part(code, "Run this.\n\nfor x in y:\n    print(x)\n\nz = 1", "code")


def test_a_question_in_a_document_is_a_part_with_its_answer_and_rows_are_no_sentences() -> None:
    """Two rows say nothing together, and what stands beside code is told in sentences."""
    asked = "Is the gate shut? And when?\n\nAt noon. Ring twice.\n\nWho has keys?\n\nAda."
    part(read(asked), "Is the gate shut? And when?\n\nAt noon. Ring twice.", "sentence")
    texts = [one.text for one in parts_of([read(f"Bins are:\n\n{ROWS}")])]
    rows = ROWS.splitlines()[1:]
    assert set(rows).issubset(texts) and not any("\n".join(rows[:2]) == one for one in texts)
    part(
        read("cores: 4\n\nCores are workers. More are slow.", ChunkKind.CODE),
        "Cores are workers.",
        "sentence",
    )


def test_the_title_of_a_paragraph_is_no_part_without_it() -> None:
    passage = read("FRIDAY 3 MAY ........\nPresent: Ada, Bo.\n\nKern 4\n\nNotes: none.")
    texts = [one.text for one in parts_of([passage])]
    assert "FRIDAY 3 MAY ........" not in texts and {"Present: Ada, Bo.", "Kern 4"}.issubset(texts)


def test_code_is_quoted_with_the_sentence_above_it_and_a_list_for_all_of_what_announces_it() -> None:
    """If both are about as probable; a sentence before the one with the colon is quoted alone."""
    code = read("The set for the pot.\n\nTOOL 4\n  END", ChunkKind.CODE)
    above, whole = part(code, "The set for the pot.", "code"), part(code, code.body, "code")
    assert fitted([Judged(above, 0.7), Judged(whole, 0.6)]).part is whole
    assert fitted([Judged(above, 0.7), Judged(whole, 0.5)]).part is above
    passage = read("It holds 9 l. Then:\n\n1. Open it.\n2. Wait.")
    steps = next(one for one in parts_of([passage]) if one.kind == "list" and one.start == 0)
    holds, both = part(passage, "It holds 9 l.", "sentence"), part(passage, "It holds 9 l. Then:", "sentence")
    assert fitted([Judged(holds, 0.6), Judged(steps, 0.5)]).part is holds
    assert fitted([Judged(both, 0.6), Judged(steps, 0.5)]).part is steps


def test_what_has_no_value_of_the_kind_asked_for_is_left_for_another_passage() -> None:
    words = EmbedderIdentity("words", "without a reader", 8)
    steps, fee = read("Pay the fee."), replace(read("Fee: 45 euros"), number=2)
    judged = [
        Judged(sentence_of(steps, steps.body), 0.4, lacks=True),
        Judged(sentence_of(fee, fee.body), 0.3),
    ]
    assert confirmed("How much do I pay?", judged, words)[0] is judged[1]
    assert confirmed("How?", [judged[0]._replace(lacks=False), judged[1]], words)[0].part is judged[0].part


def test_a_passage_that_is_read_besides_says_what_its_document_is_called_and_no_more() -> None:
    """Of another page than the hits: its own page, document, format and metadata, and no folder of this machine."""
    record = ChunkRecord(
        uri="Rules#Item 7#chunk-1", page="Rules", section="Rules#Item 7", text="Panels.", kind=ChunkKind.PARAGRAPH,
        position=0, start=3, end=10, token_count=2, document="records:/home/ada/rules.jsonl", format="jsonl",
        metadata={"year": 2025},
    )  # fmt: skip

    class Store(MemoryStore):
        def fetch(self, uris: Sequence[str]) -> list[ChunkRecord]:
            return [record for _ in uris]

    (found,) = continuations([read(CLUB).hit], (), Store(), [record.uri])
    assert (found.page, found.section, found.document) == ("Rules", "Rules#Item 7", "rules.jsonl")
    assert (found.format, found.metadata, found.rank) == ("jsonl", {"year": 2025}, 2)


def test_a_whole_list_is_taken_for_one_of_its_items_and_a_row_for_its_table() -> None:
    """If it is nearly as probable and says as much of the question."""
    passage = read(CLUB)
    whole = next(one for one in parts_of([passage]) if one.kind == "list")
    item = part(passage, "(b) the board;", "sentence")
    assert fitted([Judged(item, 0.6, covered=0.2), Judged(whole, 0.4, covered=0.9)]).part is whole
    assert fitted([Judged(item, 0.6, covered=0.9), Judged(whole, 0.4, covered=0.9)]).part is item
    assert fitted([Judged(item, 0.6, covered=0.2), Judged(whole, 0.2, covered=0.9)]).part is item
    table = read(ROWS, ChunkKind.TABLE)
    block = next(one for one in parts_of([table]) if one.kind == "block")
    row = part(table, "Bin: blue; Emptied: Thursday", "row")
    assert fitted([Judged(block, 0.5, covered=0.8), Judged(row, 0.3, covered=0.8)]).part is row


def test_who_asks_for_steps_is_told_the_list_that_a_sentence_stands_in() -> None:
    passage = read("Call first. Then wait.\n\nIt is late.")
    told, first = part(passage, "Call first. Then wait.", "list"), part(passage, "Call first.", "sentence")
    late = part(passage, "It is late.", "sentence")
    judged = [Judged(first, 0.6), Judged(told, 0.01)]
    assert fitted(judged, steps=True).part is told and fitted(judged).part is first
    assert fitted([Judged(late, 0.6), Judged(told, 0.01)], steps=True).part is late


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What does weeding mean?", "ILL = loan, weeding = taking out."),
        ("What counts as downtime?", "1.3 “Downtime” is, all told, a minute."),
        ("What are office hours in our contract?", "Office hours are those with light."),
        ("What's a bay", "Bay: a place."),
        ("What is the bay?", None),
        ("What is the price?", None),
        ("What is a fee?", None),
        ("What is the meaning of the bell at noon?", None),
    ],
)
def test_the_sentence_that_defines_a_word_answers_what_it_means(question: str, sentence: str | None) -> None:
    """Not what only says something of it, nor if documents differ; behind a colon may be a value of what is known."""
    texts = [
        "ILL = loan, weeding = taking out.\n1.3 “Downtime” is, all told, a minute.\nOffice hours are those with light."
        "\nBay: a place.\nThe price is a matter of taste.\nDowntime is rare. A fee is a sum.",
        "A fee is a share.",
    ]
    offered = [
        replace(one, hit=replace(one.hit, document=f"{n}.txt")) for n, one in enumerate(map(read, texts))
    ]
    found = definition_asked(question, offered)
    assert (found and found.text) == sentence


def test_who_asks_for_steps_is_told_a_list_that_is_about_as_probable_as_a_sentence_elsewhere() -> None:
    shut, listed = (
        read("It is shut by rain."),
        replace(read("Ring.\nKnock.\nWait.", ChunkKind.LIST), number=2),
    )
    sentence, steps = part(shut, shut.body, "sentence"), part(listed, listed.body, "block")
    judged = [Judged(sentence, 0.6, covered=0.5), Judged(steps, 0.55, covered=0.5)]
    assert fitted(judged, steps=True).part is steps and fitted(judged).part is sentence


def test_the_newer_document_answers() -> None:
    """By the date in its name, or because it says what has changed; not where a year is asked for."""

    def weigh(texts: Sequence[str]) -> Rarity:
        return Rarity(dict.fromkeys((term for text in texts for term in IN_ENGLISH.terms(text)), 1.0))

    def answering(judged: Sequence[Judged], question: str) -> Judged:
        return in_force(judged[0], judged, question, weigh)[0]

    old, new = (
        read(f"The flat costs {price} euros.", document=f"prices-{year}.txt")
        for price, year in ((32, 2024), (36, 2026))
    )
    first, second = (Judged(sentence_of(one, one.body), p) for one, p in ((old, 0.7), (new, 0.2)))
    assert answering([first, second], "What does the flat cost?") is second
    assert answering([second, first], "What does the flat cost?") is second
    assert answering([first, second], "What did the flat cost in 2024?") is first
    undated = read("The flat costs 32 euros.", document="flat.html")
    change = read("The price of the flat rises from 32 to 36 euros.", document="minutes 2025-11-05.txt")
    other = read("The boat costs 90 euros.", document="minutes 2025-11-05.txt")
    assert date_of(change) == (2025, 11, 5) and date_of(undated) == ()
    before = Judged(sentence_of(undated, undated.body), 0.7)
    told, unrelated = (Judged(sentence_of(one, one.body), 0.2) for one in (change, other))
    assert answering([before, told], "What does the flat cost?") is told
    assert answering([before, unrelated], "What does the flat cost?") is before
    mail = read("The flat is 36 euros from today, not 32.", document="note.eml")
    assert (
        answering([before, Judged(sentence_of(mail, mail.body), 0.2)], "How much is the flat?").passage
        is mail
    )
    row = Judged(sentence_of(new, "Item: Flat; Rate: 36.50 €"), 0.2, covered=0.5)
    assert answering([first._replace(covered=1.0), row], "What does the flat cost?") is row, (
        "an amount is a cost"
    )
    less = row._replace(covered=0.1)
    assert answering([first._replace(covered=1.0), less], "What does the flat cost?") is not less
    span = read("", document="fees 2024-26.csv")
    assert date_of(span) == (2026,) > date_of(read("", document="2025-11.txt"))
    manual = read("Heat the oven for 75 minutes.", document="manual.pdf")
    minutes = read("The oven heats for 90 minutes, the 75 in the manual are history.", document="minutes.txt")
    assert why_newer(minutes, minutes.body, manual, manual.body)
    assert not why_newer(minutes, minutes.body, replace(manual, hit=before.passage.hit), manual.body)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("How many desks are in building B?", ["building B"]),
        ("How many desks can I see in building A?", []),
        ("How many desks are there, Ada Kern?", ["Ada Kern"]),
        ("What is her phone number?", ["phone number"]),
        ("What is her e-mail address?", ["e-mail address"]),
    ],
)
def test_a_letter_a_name_or_an_address_that_is_asked_for_must_be_said(
    question: str, missing: list[str]
) -> None:
    """A name only if other passages have it."""
    passage, other, third = read("In 2026 building A has 40 desks."), read("Ada Kern sits here."), read("x")
    sentence = sentence_of(passage, passage.sentences[0])
    assert unsaid(question, sentence, [passage, other, third]) == missing
    assert unsaid("Is it Ada Kern?", sentence, [passage, third]) == []
    assert unsaid("Her phone number?", sentence_of(third, "0555 2300-61")) == []


def test_of_the_most_probable_parts_that_answers_which_does_so_read_together_with_the_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What another place answers, too, is less probable; a list or a row is not left for a sentence."""
    passage = read("The flat was let. The rent was 32 euros. The boat was sold.")
    let, rent, sold = (
        Judged(sentence_of(passage, text), p)
        for text, p in zip(passage.sentences, (0.6, 0.5, 0.1), strict=True)
    )

    def told(question: str, above: str, text: str) -> float:
        return 1.0 if "32" in text else 0.0

    reader = SimpleNamespace(
        read=told,
        odds=lambda read, judged: judged + read - 0.7,
        probability=lambda odds, rival, highest: odds - rival / 10 + highest / 100,
    )
    monkeypatch.setattr(judge_parts, "load_reader", lambda embedder: reader)
    embedder = EmbedderIdentity("any", "1", 2)
    best, probability, alone = confirmed("What was paid?", [let, rent, sold], embedder)
    assert best is rent and probability == pytest.approx(0.8 + 0.01 + 0.01)
    assert alone == pytest.approx(1 / (1 + math.exp(-0.8)))
    row = let._replace(part=replace(let.part, kind="row"))
    best, probability, _ = confirmed("What was paid?", [row, rent, sold], embedder)
    assert best is row and probability == pytest.approx(-0.1 - 0.08 + 0.01)
    monkeypatch.setattr(judge_parts, "load_reader", lambda embedder: None)
    assert confirmed("What was paid?", [let, rent, sold], embedder) == (let, 0.6, 0.6)


def test_a_sentence_that_begins_with_a_pronoun_is_quoted_with_the_one_before_it() -> None:
    """In the same paragraph."""
    passage = read("The boat was sold. It cost 90 euros. Nobody came.\nThey are away.")
    quoted = [with_antecedent(sentence_of(passage, text)).text for text in passage.sentences]
    assert quoted == [
        "The boat was sold.",
        "The boat was sold. It cost 90 euros.",
        "Nobody came.",
        "They are away.",
    ]


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What was the income in 2023?", ["2023"]),
        ("What was the income in 2025?", []),
        ("What was the income?", []),
        ("What was the income in version 4?", ["4"]),
        ("What was the income of 214,300 in 2025?", []),
    ],
)
def test_a_year_or_version_that_is_asked_for_must_be_said(question: str, missing: list[str]) -> None:
    passage = read("Income 2025, all told, was 214,300 euros. In 2024 it was less.")
    assert unsaid(question, sentence_of(passage, passage.sentences[0])) == missing


def test_who_asks_when_in_a_month_is_not_told_a_day_of_another() -> None:
    passage = read("Walk: Fen; On: 14 March; Guide: Ada\nWalk: Moor; On: 2 May; Guide: Bo", ChunkKind.TABLE)
    fen = part(passage, "Walk: Fen; On: 14 March; Guide: Ada", "row")
    for asked, missing in [("When is the fen in May?", ["May"]), ("When is the fen in March?", [])]:
        assert unsaid(asked, fen) == missing
    assert unsaid("Who guides the fen in May?", fen) == [], "a day may be the beginning of a time"
    since = read(
        "Walk: Fen; Since: 14 March; Hours: 9 to 5\nWalk: Moor; Since: 2 May; Hours: all", ChunkKind.TABLE
    )
    open_since = part(since, "Walk: Fen; Since: 14 March; Hours: 9 to 5", "row")
    assert unsaid("When is the fen open in May?", open_since) == []


def below(headings: str, text: str) -> NumberedPassage:
    """A passage below some headings."""
    passage = read(text)
    found = replace(passage.hit, section=headings, text=text)
    return passages([found])[0]


def test_of_headings_with_a_year_the_nearest_counts() -> None:
    """A document of two years does not say that each of its rows is of both."""
    passage = below("Fees 2025 and 2026#Fees 2026", "A wedding costs 340 euros, in 2027, 350.")
    sentence = sentence_of(passage, passage.sentences[0])
    asked = [f"What did a wedding cost in {year}?" for year in (2025, 2026, 2027)]
    assert [unsaid(question, sentence) for question in asked] == [["2025"], [], []]


def test_what_stands_below_another_kind_of_thing_is_not_about_the_one_asked_for() -> None:
    """If a passage speaks of that one by its name; other words for the same thing are none."""
    passage = below("Council#Evening market", "There were 23 stalls.")
    rules = read("The weekly market is on the square.")
    sentence = sentence_of(passage, passage.sentences[0])
    asked = [f"How many stalls did the {kind} market have?" for kind in ("weekly", "evening", "late")]
    assert [unsaid(question, sentence, [passage, rules]) for question in asked] == [["weekly market"], [], []]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("when is the supervisery council elected", "when is the supervisory council elected"),
        ("the Supervisery council", "the Supervisery council"),
        ("what is the largest strip", "what is the largest strip"),
        ("who meets frist in the coucnil", "who meets first in the council"),
        ("a thirst council", "a thirst council"),
    ],
)
def test_typing_errors_are_mended_and_other_words_left(asked: str, expected: str) -> None:
    """Not names, which begin with a capital; nor common words that the store lacks; nor short words."""
    text = "The supervisory council is large and meets first at the stop."
    assert mended(asked, store_of([page("Club", lead=[(text, [])])], {})) == expected


def test_how_a_topic_is_announced_is_not_part_of_the_question() -> None:
    store = store_of([page("Club", lead=[(CLUB, [])])], {})
    offered = passages([hit(store, "Club#chunk-1", 1)])
    assert understood("ok. something else: who pays 32 euros?", offered, store)[0] == "who pays 32 euros?"
    assert understood("Now is the time?", offered, store)[0] == "is the time?"
