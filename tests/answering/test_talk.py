"""Greetings and questions about the conversation are answered without a search; what a question is taken for."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.answering.test_answer import HITS, QUESTION, STORE
from tests.answering.world import ground
from tests.fakes.chat_model import ScriptedModel
from trivium.answering.answer import answer
from trivium.answering.events import Done, Found
from trivium.answering.intent import expressions, load_intents, recognise, searched_turns
from trivium.answering.small_talk import recount, small_talk, talk_of
from trivium.embedding.registry import open_embedder
from trivium.types import Answer, Intent, Turn

TALK = [Turn(QUESTION, "Asaph Hall found both [1]."), Turn("And when?", "In 1877 [1].")]


def talked(text: str, intent: Intent | None, model: ScriptedModel | None = None) -> tuple[Answer, list[str]]:
    """The answer, and what was searched for."""
    searched: list[str] = []
    events = list(answer(text, ground(STORE, HITS, searched), TALK, model, intent=intent))
    assert isinstance(events[0], Found) and isinstance(events[-1], Done)
    assert events[0].intent == events[-1].answer.intent
    return events[-1].answer, searched


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Hello", "small_talk"),
        ("brilliant, ta very much", "small_talk"),
        ("perfect, that's all for today, bye", "small_talk"),
        ("What did I ask?", "conversation"),
        ("what did I want to know at the start?", "conversation"),
    ],
)
def test_what_needs_no_document_searches_for_none(text: str, intent: Intent) -> None:
    """Neither for a greeting nor about the conversation; with a model or without."""
    for model in (None, ScriptedModel("Hello there [1].")):
        whole, searched = talked(text, intent, model)
        assert searched == [] and whole.searched_for is None
        assert (whole.intent, whole.passages, whole.citations, whole.outcome) == (intent, (), (), "answered")


def test_a_question_about_the_conversation_is_told_what_was_said() -> None:
    """In the order of the questions, without the marks of citations."""
    whole, _ = talked("What did I ask?", "conversation")
    assert whole.text.splitlines()[1:] == [
        "1. Who discovered the moons of Mars? – Asaph Hall found both.",
        "2. And when? – In 1877.",
    ]
    assert recount([]) == "Nothing has been asked in this conversation yet."


def test_of_a_long_conversation_the_last_questions_are_told_by_their_numbers() -> None:
    """The eighth of ten is not called the first."""
    told = recount([Turn(f"Question {number}?", "Yes.") for number in range(1, 11)]).splitlines()
    assert told[0] == "Your last 8 questions were:"
    assert told[1] == "3. Question 3? – Yes." and told[-1] == "10. Question 10? – Yes."


def test_nobody_is_greeted_in_the_middle_of_a_conversation() -> None:
    """Except in reply to a greeting."""
    assert talked("ok", "small_talk")[0].text.startswith("I answer questions from")
    assert talked("hello again", "small_talk")[0].text.startswith("Hello. I answer")
    assert small_talk("ok").startswith("Hello. I answer")


def test_a_model_sees_its_role_alone_or_the_conversation_alone() -> None:
    """No passage, and for small talk no history either; it cites nothing, since nothing was offered."""
    greeted = ScriptedModel("Good morning [1].")
    assert talked("Good morning", "small_talk", greeted)[0].text == "Good morning."
    assert all("Asaph" not in message.content for message in greeted.asked[0])
    told = ScriptedModel("You asked about moons.")
    talked("What did I ask?", "conversation", told)
    assert "Asaph Hall found both." in told.asked[0][1].content and "<passage" not in told.asked[0][1].content


def test_an_intent_that_is_given_wins() -> None:
    """Whatever the words say."""
    whole, searched = talked("Hello", "collection")
    assert searched and whole.intent == "collection"


def test_words_and_pairs_of_words() -> None:
    """Each once."""
    assert expressions("Hi, hi there") == ["hi", "there", "hi hi", "hi there"]


PHRASES: list[tuple[str, Intent]] = [
    ("hello", "small_talk"),
    ("thanks a lot!", "small_talk"),
    ("what can you do", "small_talk"),
    ("what did I ask before?", "conversation"),
    ("summarise our conversation", "conversation"),
    ("search the web for comets", "live"),
    ("latest news on asteroid mining", "live"),
    ("what is hello world", "collection"),
    ("Who wrote the song Thank You for the Music?", "collection"),
    ("and when was he born?", "collection"),
    ("How many moons has Mars?", "collection"),
    ("why?", "collection"),
    ("what is the weather like on Venus", "collection"),
    ("Mercury", "collection"),
    ("laptop", "collection"),
    ("expense report", "collection"),
    ("tell me more", "collection"),
    ("no, I mean Pluto", "collection"),
]


@pytest.mark.parametrize("embedder", ["minilm", "none"])
def test_what_a_question_is_taken_for(embedder: str) -> None:
    """Without a vector, on words alone, fewer are told apart, but no question of content is taken for talk."""
    if embedder == "none":
        said = [load_intents("none").intent(text) for text, _ in PHRASES]
        assert all(
            intent in ("collection", "live")
            for intent, (_, meant) in zip(said, PHRASES, strict=True)
            if meant == "collection"
        )
        return
    with closing(open_embedder(embedder)) as model:
        assert [recognise(text, model) for text, _ in PHRASES] == [meant for _, meant in PHRASES]


def test_probabilities_add_up_to_one() -> None:
    """Also where all words are unknown."""
    for text in ("hello", "zxqv"):
        assert sum(load_intents("none").probabilities(text).values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "text",
    [
        "Merci bien !",
        "Guten Abend",
        "danke sehr",
        "¡Hola!",
        "Grazie mille",
        "hej",
        "Obrigado",
        "Dank je wel",
        "Tack så mycket",
        "Mange tak",
        "Tusen takk",
        "Kiitos paljon",
        "Спасибо",
        "谢谢你",
        "どうもありがとう",
        "감사합니다",
        "شكرا جزيلا",
        "Καλημέρα σας",
        "बहुत धन्यवाद",
        "สวัสดีครับ",
        "Çok teşekkür ederim",
        "Xin chào",
        "ok thanks",
    ],
)
def test_greetings_of_other_languages_are_greeted(text: str) -> None:
    """Unless the documents have the word."""
    whole, searched = talked(text, None)
    assert searched == [] and whole.intent == "small_talk"


@pytest.mark.parametrize(
    "text", ["good practice", "cool chain", "nice biscuits", "great auk", "สว", "السلام"]
)
def test_what_may_be_a_thing_is_searched_for(text: str) -> None:
    """Though it looks like small talk, which it is if no document has it."""
    assert talked(text, None)[1] == [text]


def test_a_question_about_the_conversation_is_searched_for_before_there_is_one() -> None:
    """Nobody who asks a first question is told that nothing was asked."""
    for text in ("Give me the thank-you sentence that I have to repeat.", "What did I ask for in my letter?"):
        events = list(answer(text, ground(STORE, HITS), []))
        assert isinstance(events[-1], Done) and events[-1].answer.intent == "collection"


@pytest.mark.parametrize(
    "text",
    [
        "Was habe ich zuerst gefragt?",
        "Quelle était ma première question ?",
        "¿Qué te he preguntado?",
        "Qual era la mia prima domanda?",
        "O que eu perguntei antes?",
        "Wat heb ik gevraagd?",
        "Vad frågade jag?",
        "Hvad var mit første spørgsmål?",
        "Hva spurte jeg om?",
        "Mitä kysyin aiemmin?",
        "Какой был мой первый вопрос?",
        "我刚才问了什么？",
        "私の最初の質問は何でしたか？",
        "내 첫 번째 질문은 뭐였지?",
    ],
)
def test_questions_about_the_conversation_are_recognised_in_other_languages(text: str) -> None:
    """English is in ``PHRASES``."""
    assert talk_of(text) == "conversation"
    whole, searched = talked(text, None)
    assert searched == [] and whole.intent == "conversation" and "1. " in whole.text


@pytest.mark.parametrize(
    "text",
    [
        "Was ist die erste Frage der Prüfung?",
        "Quelle est la première question de l'examen ?",
        "第一个问题是什么",
        "Мой вопрос о Марсе",
        "Was habe ich über Mars gefragt?",
        "What did I want to know of Mars?",
    ],
)
def test_a_question_that_names_anything_is_searched_for(text: str) -> None:
    whole, searched = talked(text, None)
    assert searched and whole.intent == "collection"


@pytest.mark.parametrize("said", ["Danke!", "gracias", "Was habe ich zuerst gefragt?"])
def test_a_follow_up_does_not_refer_to_thanks_in_any_language(said: str) -> None:
    turns = [Turn("Who found Phobos?", "Asaph Hall."), Turn(said, "You are welcome.")]
    assert searched_turns(turns, open_embedder("minilm")) == turns[:1]
