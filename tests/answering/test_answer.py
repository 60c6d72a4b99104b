"""From a question to an answer that cites: events, statements, citations, with a scripted model and without one."""

from __future__ import annotations

import pytest

from tests.answering.world import HALL, LEAD, MOONS, SATURN, ground, hit, made_up, world
from tests.fakes.chat_model import ScriptedModel
from trivium.answering.answer import WITHOUT_MODEL, answer
from trivium.answering.answer_layout import as_markdown
from trivium.answering.events import CLOSEST, NOT_FOUND, Done, Found, Piece
from trivium.serialization import answer_json
from trivium.settings.domain import Domain
from trivium.types import Answer, Hit, Turn, Usage

STORE = world()
HITS = [hit(STORE, uri, rank) for rank, uri in enumerate([MOONS, HALL, LEAD], start=1)]
QUESTION = "Who discovered the moons of Mars?"


def asked(model: ScriptedModel | None, question: str = QUESTION, hits: list[Hit] | None = None) -> Answer:
    """The answer, after a look at the order of the events."""
    events = list(answer(question, ground(STORE, HITS if hits is None else hits), (), model))
    assert isinstance(events[0], Found) and isinstance(events[-1], Done)
    assert all(isinstance(event, Piece) for event in events[1:-1])
    return events[-1].answer


def test_a_model_answers_piece_by_piece() -> None:
    """Found with the hits, the text as it is written, then all of it."""
    model = ScriptedModel("Asaph Hall discovered both moons [1]. He was born in Goshen [2].")
    events = list(answer(QUESTION, ground(STORE, HITS), (), model))
    assert events[0] == Found(tuple(HITS), QUESTION)
    pieces = [event.text for event in events if isinstance(event, Piece)]
    done = events[-1]
    assert isinstance(done, Done) and len(pieces) > 10 and "".join(pieces) == done.answer.text
    whole = done.answer
    assert (whole.outcome, whole.model, whole.passages) == ("answered", "scripted", tuple(HITS))
    assert [whole.text[s.start : s.end] for s in whole.statements] == [
        "Asaph Hall discovered both moons [1].",
        "He was born in Goshen [2].",
    ]
    assert [(s.citations, s.supported) for s in whole.statements] == [((1,), True), ((2,), True)]
    assert [(c.number, c.uri, c.section) for c in whole.citations] == [
        (1, MOONS, "Mars#Moons"),
        (2, HALL, "Asaph Hall"),
    ]
    record = STORE.fetch([HALL])[0]
    assert (whole.citations[1].start, whole.citations[1].end) == (record.start, record.end)
    assert (
        whole.usage.completion_tokens
        == len("Asaph Hall discovered both moons [1]. He was born in Goshen [2].") // 4
    )


def test_a_citation_that_was_not_offered_is_dropped() -> None:
    """From the text and from the statements; the sentence is attributed to the passage that says it."""
    whole = asked(ScriptedModel("Asaph Hall discovered both moons in 1877 [7]."))
    assert whole.text == "Asaph Hall discovered both moons in 1877."
    (statement,) = whole.statements
    assert statement.citations == (1,) and statement.supported
    assert [citation.number for citation in whole.citations] == [1]


def test_a_sentence_without_a_citation_gets_the_one_that_bears_it_out() -> None:
    """And one that cites the wrong passage gets the right one as well."""
    whole = asked(ScriptedModel("He was born in Goshen in 1829. Asaph Hall discovered both moons [3]."))
    assert [s.citations for s in whole.statements] == [(2,), (3, 1)]
    assert all(s.supported for s in whole.statements)


@pytest.mark.parametrize(
    "text",
    [
        "Galileo Galilei discovered the moons of Mars [1].",
        "Asaph Hall discovered both moons in 1923 [1].",
        "Mars has two moons, Phobos and Charon.",
        "The moons of Mars taste of strawberries.",
    ],
)
def test_what_no_passage_says_is_marked(text: str) -> None:
    """Also where all of it but a name or a number is there, and whatever it cites. Alone it is no answer."""
    whole = asked(ScriptedModel(f"Asaph Hall discovered both moons [1]. {text}"))
    assert as_markdown(whole) == f"{whole.text} *(not in the documents)*"
    first, second = whole.statements
    assert first.supported and not second.supported and second.support < 0.86
    alone = asked(ScriptedModel(text))
    assert alone.warnings == (f"{WITHOUT_MODEL} wrote what is not in the documents",)
    assert alone.text == asked(None).text and alone.form is not None and alone.usage.prompt_tokens > 0


def test_what_does_not_answer_is_no_answer() -> None:
    """However true it is, where a passage answers."""
    alone = asked(
        ScriptedModel("Mars, the fourth planet from the Sun, has a colour that comes from iron oxide [3].")
    )
    assert alone.warnings == (f"{WITHOUT_MODEL} wrote what does not answer the question",)
    assert alone.text == asked(None).text


def test_to_speak_of_the_answer_is_no_statement_of_its_own() -> None:
    """Small models begin like that."""
    (statement,) = asked(ScriptedModel("The answer to this question is: Asaph Hall.")).statements
    assert statement.supported and statement.citations == (1,)


def test_what_states_nothing_is_borne_out_by_nothing() -> None:
    """It is not marked, and cites nothing."""
    first, second, third = asked(
        ScriptedModel("The answer is:\nAsaph Hall discovered both moons.\nGalileo did it.")
    ).statements
    assert (first.citations, first.supported, second.supported, third.supported) == ((), True, True, False)


@pytest.mark.parametrize(
    "text",
    [
        NOT_FOUND,
        "not found in the collection",
        f"The answer to this question is: {NOT_FOUND}",
        f"{NOT_FOUND} However, Galileo is well known [1].",
        "",
        "  \n",
        "[9]",
        "<think>I do not know</think>",
    ],
)
def test_a_model_that_finds_no_answer_leaves_the_closest_passages(text: str) -> None:
    """However it puts its refusal, none of its words stay; where the passages are near, they are quoted and cited."""
    whole = asked(ScriptedModel(text))
    assert whole.outcome == "closest" and whole.text.startswith(f"{CLOSEST}\n")
    assert [statement.citations for statement in whole.statements] == [(1,), (2,), (3,)]
    assert "Galileo" not in whole.text and whole.usage.prompt_tokens > 0


def test_a_model_that_finds_no_answer_where_nothing_is_near() -> None:
    """Then there is one sentence and nothing else."""
    hits = [hit(STORE, SATURN), hit(STORE, LEAD, 2)]
    whole = asked(ScriptedModel(NOT_FOUND), "Who composed the Moonlight Sonata?", hits)
    assert (whole.text, whole.outcome, whole.statements, whole.citations) == (NOT_FOUND, "absent", (), ())


def test_a_refusal_after_an_answer_is_left_out() -> None:
    """Half an answer stays half an answer."""
    whole = asked(ScriptedModel(f"Asaph Hall discovered both moons [1]. {NOT_FOUND}"))
    assert whole.text == "Asaph Hall discovered both moons [1]." and whole.outcome == "answered"


def test_without_hits_no_model_is_asked() -> None:
    """There is nothing to answer from."""
    model = ScriptedModel("Asaph Hall.")
    whole = asked(model, hits=[])
    assert (whole.text, whole.outcome) == (NOT_FOUND, "absent") and model.asked == []


@pytest.mark.parametrize("endless", [False, True])
def test_a_model_that_is_cut_leaves_the_answer_without_it(endless: bool) -> None:
    """At its limit, or because it ignores that."""
    said = "".join(f"Hall did it in {year} [1]. " for year in range(1_800, 20_000))
    model = ScriptedModel(said) if endless else ScriptedModel("Asaph Hall discovered [1]. He", cut=True)
    whole = asked(model)
    assert whole.warnings == (f"{WITHOUT_MODEL} did not come to an end",)
    assert whole.text == asked(None).text and model.closed == 1


def test_a_model_in_a_loop_is_stopped() -> None:
    """The second time it says a sentence is the last time it is listened to."""
    sentence = "Asaph Hall discovered both moons. "
    model = ScriptedModel("Mars has two moons. " + sentence * 50)
    events = list(answer(QUESTION, ground(STORE, HITS), (), model))
    assert isinstance(events[-1], Done)
    assert events[-1].answer.warnings == (f"{WITHOUT_MODEL} began to repeat itself",)
    assert sum(len(event.text) for event in events if isinstance(event, Piece)) < 4 * len(sentence)
    assert model.closed == 1
    assert events[-1].answer.usage.prompt_tokens > 0 and events[-1].answer.usage.completion_tokens > 19


def test_who_stops_listening_stops_the_model() -> None:
    """An abandoned answer is not written to its end."""
    model = ScriptedModel("Asaph Hall discovered both moons.")
    events = answer(QUESTION, ground(STORE, HITS), (), model)
    next(events)
    next(events)
    assert model.closed == 0
    events.close()
    assert model.closed == 1


def test_a_follow_up_is_searched_for_as_it_was_meant() -> None:
    """The question that was asked, and the one that was searched for, are both told. As asked it only
    brings candidates, since "he" means nobody by itself."""
    searched: list[str] = []
    history = [Turn(QUESTION, "Asaph Hall [1].")]
    model = ScriptedModel("When was Asaph Hall born?", "In 1829 [2].")
    events = list(answer("When was he born?", ground(STORE, HITS, searched), history, model))
    assert searched == ["When was Asaph Hall born?", "When was he born?"]
    done = events[-1]
    assert isinstance(done, Done)
    assert (done.answer.question, done.answer.searched_for) == ("When was he born?", searched[0])
    assert "Question: When was Asaph Hall born?" in model.asked[1][1].content
    assert done.answer.usage.prompt_tokens > sum(len(m.content) for m in model.asked[1]) // 4


def test_candidates_of_the_recall_query_are_searched_for_too_and_the_answer_is_written_for_the_match_query() -> (
    None
):
    """Both questions are told. Undone, the question is searched for as it is, and the model is not asked to
    rewrite. The scope is told to the model whenever it writes."""
    history = [Turn(QUESTION, "Asaph Hall [1].")]
    queries = '{"match_query": "When was Asaph Hall born?", "search_query": "Asaph Hall birth year"}'
    searched: list[str] = []
    model = ScriptedModel(queries, "In 1829 [2].")
    context = ground(STORE, HITS, searched, Domain(scope="an atlas of Mars"))
    found, *_, done = answer("When was he born?", context, history, model)
    assert searched == ["When was Asaph Hall born?", "Asaph Hall birth year"]
    assert isinstance(found, Found) and isinstance(done, Done)
    assert [found.searched_for, found.recall_query] == searched
    assert [done.answer.searched_for, done.answer.recall_query] == searched
    assert answer_json(done.answer)["recall_query"] == searched[1]
    written = model.asked[1]
    assert (
        "Question: When was Asaph Hall born?" in written[1].content
        and "an atlas of Mars" in written[0].content
    )
    searched.clear()
    as_asked = ScriptedModel("In 1829 [2].")
    *_, done = answer("When was he born?", context, history, as_asked, rewrite=False)
    assert searched == ["When was he born?"] and len(as_asked.asked) == 1
    assert isinstance(done, Done) and done.answer.recall_query is None


def followed_up(question: str, history: list[Turn]) -> Answer:
    """The answer to a follow-up, without a model."""
    (*_, done) = answer(question, ground(STORE, HITS), history, None)
    assert isinstance(done, Done)
    return done.answer


def test_the_same_sentence_is_not_told_twice() -> None:
    """Who asks for more gets another, or the passages."""
    first = asked(None)
    told = "Asaph Hall discovered both moons in 1877."
    assert first.outcome == "answered" and told in first.text
    more = followed_up("tell me more", [Turn(QUESTION, first.text)])
    assert more.searched_for == QUESTION
    assert more.outcome == "closest" or told not in more.text


def test_the_same_sentence_may_answer_a_question_that_asks_for_something_else() -> None:
    """As where only a name was put into it: it has no word of the question before."""
    told = "Asaph Hall: He was born in Goshen in 1829."
    again = followed_up("Where was he born?", [Turn("When was Asaph Hall born?", f"{told} [2]")])
    assert again.searched_for == "Where was Asaph Hall born?"
    assert told.removeprefix("Asaph Hall: ") in again.text


def test_a_follow_up_leans_on_what_was_asked_of_the_documents() -> None:
    """Not on thanks, nor on a question about the conversation."""
    talk = [Turn(QUESTION, "Asaph Hall [1]."), Turn("what did I ask before?", "…"), Turn("thanks!", "Bye.")]
    whole = followed_up("When was he born?", talk)
    assert whole.searched_for == "When was Asaph Hall born?"


def test_a_title_alone_answers_nothing() -> None:
    """Neither a name that is asked for, nor a heading that holds it."""
    hits = [made_up("Saturn\nIts rings consist of ice.", section="Saturn"), made_up("Rings of Saturn", 2)]
    found = asked(None, "Saturn", hits)
    assert found.outcome == "closest" or "Its rings consist of ice." in found.text


@pytest.mark.parametrize("question", ["???", "…", "🙂"])
def test_a_question_without_a_word_is_about_nothing(question: str) -> None:
    """Whatever passages were found for it."""
    assert asked(None, question).outcome == "absent"


def test_without_a_model_the_best_part_is_the_answer() -> None:
    """Verbatim, each with its passage, behind its subject where it does not name it."""
    whole = asked(None)
    assert "Asaph Hall discovered both moons in 1877. [1]" in whole.text
    assert whole.form is not None and [part.number for part in whole.parts] == [1]
    for part in whole.parts:
        assert HITS[0].text[part.start : part.end] in whole.text
    assert (whole.outcome, whole.model, whole.usage) == ("answered", None, Usage())
    for statement in whole.statements:
        said, _, mark = whole.text[statement.start : statement.end].rpartition(" ")
        (number,) = statement.citations
        assert mark == f"[{number}]" and said.removeprefix("Mars: ") in HITS[number - 1].text
        assert statement.supported and statement.support == 1.0


def test_what_looks_like_a_citation_in_a_quoted_sentence_is_none() -> None:
    """Only the mark behind a sentence is ours."""
    hits = [made_up("Asaph Hall discovered the moons of Mars [99]."), *HITS[1:]]
    text = asked(None, hits=hits).text
    assert "Asaph Hall discovered the moons of Mars (99). [1]" in text and "[99]" not in text


def test_without_a_model_what_is_about_something_else_is_absent() -> None:
    """The passages have nothing to do with it."""
    whole = asked(None, "Who composed the Moonlight Sonata?", [hit(STORE, SATURN), hit(STORE, LEAD, 2)])
    assert (whole.text, whole.outcome, whole.citations) == (NOT_FOUND, "absent", ())


def test_sentences_that_say_the_same_are_told_once() -> None:
    """Encyclopaedias repeat themselves."""
    same = [made_up("Asaph Hall discovered the moons of Mars in 1877.", rank) for rank in (1, 2)]
    whole = asked(
        None, hits=[*same, *(hit(STORE, uri, rank) for rank, uri in ((3, SATURN), (4, LEAD), (5, HALL)))]
    )
    assert [statement.citations for statement in whole.statements] == [(1,)]
