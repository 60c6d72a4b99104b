"""What is wrong with a question is seen without asking anybody, and replies are read however they look."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.synthetic.world import ANSWER, MOONS_CHUNK, QUESTION, STICKNEY_CHUNK, draft, hall
from trivium.answering.passage_prompts import Source
from trivium.synthetic.checks import AskedQuestions, Check, check_numbers, check_wording
from trivium.synthetic.read_replies import Declined, Draft, Unreadable, read_draft, read_scores

BRIDGE = hall()
BOTH = sorted(BRIDGE.sources, key=lambda source: source.uri != MOONS_CHUNK)


def failed(question: str = QUESTION, answer: str = ANSWER, used: list[Source] = BOTH) -> set[Check]:
    return set(check_wording(question, answer, BRIDGE, used))


def test_a_good_question_passes() -> None:
    assert failed() == set()
    assert failed(answer="shalersville.") == set(), "case and punctuation make no answer absent"


def test_what_a_passage_is_about_may_stand_in_its_headings_alone() -> None:
    """A page on Titan calls it "the moon"; the title is an answer that can be copied."""
    titan = Source("Titan#Air#chunk-1", "Titan", "Titan#Air", "The discoverer never saw the moon.")
    asked, used = "Which moon did the one who found those of Mars never see?", [titan, BOTH[0]]
    assert failed(asked, "Titan", used) == set()
    assert failed(asked, "Triton", used) == {Check.ANSWER_ABSENT}


@pytest.mark.parametrize(
    ("question", "answer", "check"),
    [
        ("Name the school of the wife of the discoverer.", ANSWER, Check.FORM),
        ("Where did she teach?", ANSWER, Check.FORM),
        (f"Where {'and where ' * 30} did the woman teach?", ANSWER, Check.FORM),
        (QUESTION, "", Check.NO_ANSWER),
        (QUESTION, "...", Check.NO_ANSWER),
        (QUESTION, STICKNEY_CHUNK + " x" * 20, Check.NO_ANSWER),
        (QUESTION, "Goshen", Check.ANSWER_ABSENT),
        (QUESTION, "Shalers", Check.ANSWER_ABSENT),
        ("Was it in Shalersville that the wife of the discoverer taught?", ANSWER, Check.ANSWER_GIVEN),
        (QUESTION, "Asaph Hall", Check.ANSWER_IS_BRIDGE),
        (QUESTION, "A. Hall", Check.ANSWER_IS_BRIDGE),
        ("Where did the wife of ASAPH HALL teach before that?", ANSWER, Check.BRIDGE_NAMED),
        ("Where did the wife of A. Hall teach before that?", ANSWER, Check.BRIDGE_NAMED),
        (
            "Taught mathematics at a school before she married the astronomer, who had been one of her pupils there?",
            ANSWER,
            Check.COPIED,
        ),
        ("Where was the school of Angelina Stickney before she married?", ANSWER, Check.ONE_PASSAGE),
    ],
)
def test_each_fault_is_found(question: str, answer: str, check: Check) -> None:
    assert check in failed(question, answer)


def test_one_passage_or_one_that_was_not_offered_is_not_enough() -> None:
    assert failed(used=BOTH[1:]) == {Check.FEW_PASSAGES}
    assert failed(used=[]) == {Check.FEW_PASSAGES, Check.ANSWER_ABSENT}
    assert check_numbers([1, 2], 2) == []
    assert check_numbers([0, 2], 2) == check_numbers([3], 2) == [Check.NOT_OFFERED]


def test_a_question_asked_again_is_known_in_another_order_of_words() -> None:
    """Function words and endings make no difference; another question about the same does."""
    asked = AskedQuestions([(QUESTION, ANSWER)])
    assert asked.has("The discoverer of the moon of Mars married a woman; where did she teach?")
    assert not asked.has("When did the discoverer of the moons of Mars marry a teacher?")
    asked.add("When did the discoverer of the moons of Mars marry a teacher?")
    assert asked.has("When did the discoverer of the moons of Mars marry the teacher?")


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        (draft(), Draft(QUESTION, ANSWER, (1, 2))),
        (f"```json\n{draft()}\n```\nI hope this helps {{!}}", Draft(QUESTION, ANSWER, (1, 2))),
        ('{"thought": {}} ' + draft(passages=["2", 1.0, 2]), Draft(QUESTION, ANSWER, (2, 1))),
        (draft(answer=1877), Draft(QUESTION, "1877", (1, 2))),
        (draft(question="Two\n  lines\u202e\x1b[0m?"), Draft("Two lines [0m?", ANSWER, (1, 2))),
        ('{"declined": "nothing in common"}', Declined("nothing in common")),
        ('{"declined": true}', Declined("")),
    ],
)
def test_replies_that_can_be_read(reply: str, read: object) -> None:
    assert read_draft(reply) == read


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot do that.",
        draft()[:-1],
        draft(answer=True),
        draft(answer=None),
        draft(passages=3),
        draft(passages=[1, "two"]),
        draft(passages=[True]),
        draft(passages=[1e99]),
        draft(passages=[-1]),
        '{"question": NaN, "answer": "x", "passages": []}',
        '{"question": ["x"], "answer": "x", "passages": []}',
        "{" * 200_000,
        '{"question":' + "[" * 100_000,
        json.dumps([1, 2]),
    ],
)
def test_replies_that_cannot_be_read_say_why(reply: str) -> None:
    read = read_draft(reply)
    assert isinstance(read, Unreadable) and read.reason


@given(st.text(alphabet='{}[]":,0123456789eE.-NaInfityqusodclr \n\\ud8', max_size=80), st.text(max_size=40))
def test_no_reply_breaks_the_reading(noise: str, text: str) -> None:
    """Whatever it is, it is something."""
    for reply in (noise, text, draft(question=text) + noise, noise + draft(answer=text)):
        assert isinstance(read_draft(reply), Draft | Declined | Unreadable)
        assert isinstance(read_scores(reply), dict | Unreadable)


@pytest.mark.parametrize("score", [0, 11, 7.5, "high", None, True, [7]])
def test_a_score_is_a_whole_number_from_1_to_10(score: object) -> None:
    """Three good ones do not make up for one that is none."""
    scores = {"multi_hop": 9, "clear": 8, "unambiguous": 8, "one_answer": score}
    read = read_scores(json.dumps(scores))
    assert read == Unreadable("no score from 1 to 10 for one_answer")
