"""What a collection does not have is told before asking a model; a question in another language is not called absent."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from tests.answering.world import HALL, LEAD, MOONS, SATURN, WordEmbedder, hit, world
from tests.fakes.chat_model import ScriptedModel
from trivium.answering.answer import NOT_ASKED, WITHOUT_MODEL, AnswerContext, answer
from trivium.answering.events import CLOSEST, NOT_FOUND, Done, Piece
from trivium.embedding.embedder import Vectors
from trivium.text.languages import foreign_language
from trivium.types import Answer, EmbedderIdentity

STORE = world()
STORE_HITS = [hit(STORE, uri, rank) for rank, uri in enumerate([MOONS, SATURN, HALL, LEAD], start=1)]
ELSEWHERE = "Who composed the Moonlight Sonata in Vienna?"


class EnglishWords(WordEmbedder):
    """Words, under the name of a model that knows English only and has classifiers of its own."""

    identity = EmbedderIdentity("bge-small", "1", WordEmbedder.identity.dimension)


def asked(question: str, model: ScriptedModel | None, embedder: WordEmbedder | None = None) -> Answer:
    """The answer, whose pieces are its text."""
    context = AnswerContext(STORE, embedder or EnglishWords(), lambda *_: STORE_HITS)
    events = list(answer(question, context, (), model, intent="collection"))
    done = events[-1]
    assert isinstance(done, Done)
    streamed = "".join(event.text for event in events if isinstance(event, Piece))
    assert streamed == done.answer.text or (WITHOUT_MODEL in done.answer.warnings[0])
    return done.answer


@pytest.mark.parametrize("embedder", [WordEmbedder(), EnglishWords()])
def test_no_model_is_asked_what_no_passage_is_about(embedder: WordEmbedder) -> None:
    """It would name somebody from the passages."""
    model = ScriptedModel("The answer is: Asaph Hall.")
    found = asked(ELSEWHERE, model, embedder)
    assert (found.text, found.outcome, found.statements, model.asked) == (NOT_FOUND, "absent", (), [])
    assert found.warnings == (NOT_ASKED,)


def test_what_can_be_asked_of_any_text_is_asked() -> None:
    """No passage says "summarise"."""
    found = asked(
        "Summarise the main points of this document.", ScriptedModel("Asaph Hall discovered both moons.")
    )
    assert found.outcome == "answered" and found.statements[0].supported


@pytest.mark.parametrize(
    ("question", "text", "supported"),
    [
        ("Who discovered the moons of Mars?", "The answer is: Asaph Hall.", True),
        ("Who discovered the moons of Mars?", "Asaph Hall [1].", True),
        ("Who discovered the moons of Mars?", "The answer to this question is: Mars.", False),
        ("Which is red, Mars or Saturn?", "Saturn [2].", False),
        ("Who discovered the moons, Phobos or Deimos?", "Phobos.", True),
        ("Has Mars two moons?", "Mars has two moons.", True),
        ("Who discovered the moons of Mars?", "The answer is: Goshen [3].", False),
        ("What do the rings of Saturn consist of?", "The answer is: ice.", True),
        ("What do the rings of Saturn consist of?", "The answer is: iron oxide.", False),
    ],
)
def test_a_short_answer_needs_a_sentence_that_connects_it_with_the_question(
    question: str, text: str, supported: bool
) -> None:
    """That its words are somewhere in the passages is not enough: then the answer without the model stands."""
    found = asked(question, ScriptedModel(text), WordEmbedder())
    assert bool(found.warnings) != supported and (supported or found.text != text)
    assert not supported or found.statements[0].supported


def test_a_question_in_another_language_is_not_called_absent() -> None:
    """The passages are in English and words cannot tell; the model is asked, since it may know both languages."""
    found = asked("Wer hat die Monde des Mars entdeckt?", None)
    assert found.outcome == "closest" and found.text.startswith(CLOSEST)
    assert "German" in found.warnings[0] and "bge-small" in found.warnings[0]
    model = ScriptedModel("Asaph Hall [1].")
    found = asked("Wer hat die Monde des Mars entdeckt?", model)
    assert found.outcome == "answered" and len(model.asked) == 1 and len(found.warnings) == 1


def test_an_embedder_of_many_languages_needs_no_warning() -> None:
    """It finds passages in other languages; still words do not tell that there are none."""
    found = asked("Wer hat die Monde des Mars entdeckt?", None, WordEmbedder())
    assert (found.outcome, found.warnings) == ("closest", ())


class Multilingual(WordEmbedder):
    """Under the name of the embedder that was measured in many languages: whatever is asked is as near to sentences about
    moons as ``cosine``, and far from others.
    """

    def __init__(self, cosine: float) -> None:
        self.identity = EmbedderIdentity("e5", "1", 2)
        self._cosine = cosine

    def embed_query(self, text: str) -> Vectors:
        """Always the same."""
        return np.array([1.0, 0.0], np.float32)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """By whether it speaks of moons."""
        cosines = np.array([self._cosine if "moons" in text else 0.74 for text in texts], np.float32)
        return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1)


@pytest.mark.parametrize(
    "question",
    [
        "Wer hat die Monde des Mars entdeckt?",
        "谁发现了火星的卫星？",
        "Ποιος ανακάλυψε τα φεγγάρια του Άρη;",
        "Ay'ı kim keşfetti?",
    ],
)
def test_cosines_of_many_languages_tell_what_is_absent(question: str) -> None:
    """Nothing of these words is in the documents. Far from all of them the same question is called absent."""
    assert asked(question, None, Multilingual(0.9)).outcome == "closest"
    assert asked(question, None, Multilingual(0.75)).outcome == "absent"


def test_within_a_language_words_count_beside_cosines() -> None:
    """Where none of its words is said, a question has to be nearer."""
    near = Multilingual(0.815)
    assert asked("Who discovered the moons of Mars?", None, near).outcome == "answered"
    assert asked(ELSEWHERE, None, near).outcome == "absent"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wer hat die Monde des Mars entdeckt?", "de"),
        ("Qui a découvert les lunes de Mars ?", "fr"),
        ("¿Cuántas lunas tiene Marte?", "es"),
        ("Chi ha scoperto le lune di Marte?", "it"),
        ("Кто открыл спутники Марса?", "ru"),
        ("谁发现了火星的卫星？", "zh"),
        ("Who sang Je ne regrette rien?", None),
        ("Battle of Maroun al-Ras", None),
        ("A. P. J. Abdul Kalam", None),
        ("Mars", None),
        ("?", None),
    ],
)
def test_the_language_of_a_question(question: str, language: str | None) -> None:
    """Names in other languages are no question in them."""
    assert foreign_language(question, ["en"]) == language


def test_a_language_of_the_store_is_not_foreign() -> None:
    """And English is, where all documents are in another one."""
    assert foreign_language("Wer hat die Monde des Mars entdeckt?", ["en", "de"]) is None
    assert foreign_language("Who discovered the moons of Mars?", ["de"]) == "en"
