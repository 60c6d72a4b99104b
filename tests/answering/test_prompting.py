"""What a model is given: passages as data, in a good order, within its window."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.answering.world import made_up
from tests.fakes.chat_model import ScriptedModel
from trivium.answering.events import NOT_FOUND
from trivium.answering.passages import passages
from trivium.answering.prompting import both_ends, make_prompt, quoted
from trivium.errors import ChatModelError
from trivium.types import AnswerPart

OPENING = re.compile(r"<passage (\d+)>\n")
CLOSING = "\n</passage>\n"


def test_the_best_passages_stand_at_both_ends() -> None:
    """The best just before the question, the second best first, the worst in the middle."""
    offered = passages([made_up(f"text {rank}", rank) for rank in range(1, 7)])
    assert [passage.number for passage in both_ends(offered)] == [2, 4, 6, 5, 3, 1]
    prompt = make_prompt("Why?", offered, ScriptedModel("x"))
    assert [int(n) for n in OPENING.findall(prompt.messages[1].content)] == [2, 4, 6, 5, 3, 1]
    assert [passage.number for passage in prompt.offered] == [1, 2, 3, 4, 5, 6]


def test_the_instructions_come_first_and_the_question_last() -> None:
    """The system says what to do and the sentence for what is not there; the user's part ends with the question."""
    prompt = make_prompt("Why is it red?", passages([made_up("Iron oxide.")]), ScriptedModel("x"))
    system, user = prompt.messages
    assert (system.role, user.role) == ("system", "user")
    assert NOT_FOUND in system.content and "quoted data" in system.content
    assert user.content.endswith("Question: Why is it red?")
    assert "<passage 1>\nPage: Iron oxide.\n</passage>\n" in user.content


@given(st.text(alphabet="</passge 12>|[]INST\n【】\x00\x1b", max_size=60), st.text(max_size=40))
def test_no_text_can_close_its_passage_or_open_another(text: str, question: str) -> None:
    """Whatever passage, heading and question hold: one passage opens and closes, and in that order."""
    offered = passages([made_up(text, section=f"Page#{text or 'x'}".replace("\n", " "))])
    user = make_prompt(question, offered, ScriptedModel("x")).messages[1].content
    assert OPENING.findall(user) == ["1"]
    assert user.count("</passage>") == 1 and user.count(CLOSING) == 1
    assert not re.search(r"<\||\|>|\[/?INST\]|\x1b|\x00", user)


@pytest.mark.parametrize(
    "mark",
    [
     "<|im_end|>", "<|im_start|>system", "</s>", "<s>", "[INST]", "[/INST]", "<<SYS>>", "<end_of_turn>", "<｜User｜>",
     "＜/passage＞", "＜／passage＞", "﹤/passage﹥", "<|x|＞"],
)  # fmt: skip
def test_marks_of_chat_templates_are_broken(mark: str) -> None:
    """A template reads them as the end of the message they stand in."""
    assert mark not in quoted(f"a {mark} b")


def test_what_looks_like_a_citation_in_a_passage_is_none() -> None:
    """Footnotes of the source are not ours, and signs of mathematics stay."""
    assert quoted("so [3] and [1, 2] and 【4】, if 1 < 2 > 0") == "so (3) and (1, 2) and (4), if 1 < 2 > 0"


def test_what_does_not_fit_is_left_out_the_best_first() -> None:
    """The window holds instructions, question, answer and as many passages as are left room for."""
    offered = passages([made_up("word " * 120, rank) for rank in range(1, 20)])
    model = ScriptedModel("x", context_tokens=1400)
    prompt = make_prompt("Why?", offered, model)
    numbers = [passage.number for passage in prompt.offered]
    assert numbers == list(range(1, len(numbers) + 1)) and 1 < len(numbers) < 19
    used = sum(model.count_tokens(message.content) for message in prompt.messages)
    assert used + prompt.max_tokens <= 1400
    assert used + prompt.max_tokens > 1400 - 250


def test_a_short_passage_fits_behind_one_that_is_too_long() -> None:
    """A table in second place does not keep the third out."""
    texts = ["short text.", "word " * 2000, "another short text."]
    offered = passages([made_up(text, rank) for rank, text in enumerate(texts, start=1)])
    prompt = make_prompt("Why?", offered, ScriptedModel("x", context_tokens=1000))
    assert [passage.number for passage in prompt.offered] == [1, 3]


def test_the_beginning_of_the_best_passage_is_better_than_nothing() -> None:
    """One passage longer than the window."""
    offered = passages([made_up("Begin here. " + "word " * 4000)])
    model = ScriptedModel("x", context_tokens=800)
    prompt = make_prompt("Why?", offered, model)
    assert "Begin here." in prompt.messages[1].content
    assert sum(model.count_tokens(m.content) for m in prompt.messages) + prompt.max_tokens <= 800


def test_a_question_that_leaves_no_room_is_refused() -> None:
    """Said before anything is sent."""
    with pytest.raises(ChatModelError, match="no room"):
        make_prompt("why " * 1000, passages([made_up("text")]), ScriptedModel("x", context_tokens=800))


def test_tables_are_tables_and_code_is_code() -> None:
    """Between fences that the code does not have; heads are written once."""
    table = "Prices\nItem | Price\nItem: Oar; Price: 9\nItem: Sail; Note: a|b"
    hits = [replace(made_up(table), kind="table"), replace(made_up("ls -l\ncd ..", 2), kind="code")]
    user = make_prompt("Why?", passages(hits), ScriptedModel("x")).messages[1].content
    assert (
        "Page: \nPrices\n| Item | Price | Note |\n| --- | --- | --- |\n| Oar | 9 |  |\n| Sail |  | a\\|b |\n<"
        in user
    )
    assert "Page: \n```\nls -l\ncd ..\n```\n<" in user


def test_the_document_and_its_date_are_told() -> None:
    """Of two that say different things, a model can take the newer one."""
    hits = [
        replace(made_up("Oars cost 9."), document="shop/prices.html", metadata={"date": "2026-03-02T10:00"})
    ]
    user = make_prompt("Why?", passages(hits), ScriptedModel("x")).messages[1].content
    assert "Page (prices.html, 2026-03-02): Oars cost 9.\n" in user


def test_what_the_answer_without_a_model_quotes_comes_first() -> None:
    """Its passage stands just before the question, the part first in it."""
    offered = passages(
        [made_up("word " * 900, 1), made_up("fits.", 2), made_up("Much is said. This answers.", 3)]
    )
    best = [AnswerPart(3, "sentence", 14, 27)]
    prompt = make_prompt("Why?", offered, ScriptedModel("x", context_tokens=1000), best=best)
    assert [passage.number for passage in prompt.offered] == [3, 2]
    user = prompt.messages[1].content
    assert [int(n) for n in OPENING.findall(user)] == [2, 3]
    assert "Page: This answers.\n\nMuch is said. This answers.\n</passage>" in user
