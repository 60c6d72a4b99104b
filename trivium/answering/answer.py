"""Answers a question: rewrites follow-ups, searches, writes the answer, and attributes it to passages."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from trivium.answering.attribution import attribute
from trivium.answering.classifier import load_classifier
from trivium.answering.clauses import sections_with_number
from trivium.answering.events import NOT_FOUND, AnswerEvent, Done, Found, Piece
from trivium.answering.followups import own_terms, with_subject
from trivium.answering.intent import TALK, recognise, searched_turns
from trivium.answering.joining import with_attribution
from trivium.answering.judging import judge, thresholds_of, worth_asking
from trivium.answering.marks import MarkFilter
from trivium.answering.passages import NumberedPassage, continuations, passages, respelled
from trivium.answering.prompting import make_prompt
from trivium.answering.question_language import foreign_language, language_warnings
from trivium.answering.quoting import NOTHING_TOLD, Quotation, Told, quote
from trivium.answering.rarity import Rarity
from trivium.answering.repetition import Repetition, cut_at
from trivium.answering.rewriting import Rewriting, rewrite_question
from trivium.answering.short_answers import check_short_answers
from trivium.answering.tables import asks_for_rows
from trivium.answering.talk import converse, greets, has_topic
from trivium.answering.writing import AS_USUAL, Writing
from trivium.embedding.embedder import Embedder
from trivium.graph.protocols import SearchStore
from trivium.llm.chat_model import ChatModel, usage_of
from trivium.settings.domain import NO_DOMAIN, Domain
from trivium.text.languages import StoreLanguages
from trivium.text.normalise import STOPS, composed, sentences, words
from trivium.types import (
    Answer,
    AnswerForm,
    AnswerPart,
    ChunkKind,
    Hit,
    Intent,
    Outcome,
    Statement,
    Turn,
    Usage,
)

_LONGEST_TOKEN = 16
"""Characters. A server that ignores how many tokens were asked for is not listened to any longer."""

_REFUSALS = words(NOT_FOUND), words("not found in the collection")
_BEFORE_A_REFUSAL = frozenset(words("the answer to this question is"))
"""Words with which small models begin a refusal."""


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """What a question is answered from: a store, its embedder, a ``search`` that maps a question and an optional
    recall query (:class:`~trivium.answering.rewriting.Rewriting`) to hits, best first, and the domain of the store.
    """

    store: SearchStore
    embedder: Embedder
    search: Callable[[str, str | None], Sequence[Hit]]
    domain: Domain = NO_DOMAIN


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of an answer, its outcome, its statements, and the tokens used. ``language`` is that of the question if
    the collection has none of its words and is in other languages.
    """

    text: str
    outcome: Outcome
    statements: tuple[Statement, ...]
    usage: Usage
    language: str | None = None
    form: AnswerForm | None = None
    parts: tuple[AnswerPart, ...] = ()


def answer(
    question: str,
    context: AnswerContext,
    history: Sequence[Turn] = (),
    model: ChatModel | None = None,
    writing: Writing = AS_USUAL,
    *,
    intent: Intent | None = None,
    rewrite: bool = True,
) -> Generator[AnswerEvent, None, None]:
    """Answer a question with a model, prompted as described by ``writing``, or by quoting passages.

    ``intent`` overrides the detected intent. Without ``rewrite`` a follow-up is searched for as it is. Closing the
    generator stops the model. Raises ChatModelError and the errors of the search.
    """
    question = composed(question)
    meant = recognise(question, context.embedder) if intent is None else intent
    if intent is None and meant == "collection" and greets(question):
        meant = "small_talk"
    if intent is None and meant == "small_talk" and has_topic(question, context.store):
        meant = "collection"
    asked: Rewriting | None = None
    hits = tuple[Hit, ...]()
    warnings: tuple[str, ...] = ()
    if meant in TALK:
        yield Found((), None, meant)
        text, used = yield from converse(
            question, meant == "conversation", history, model, context.domain.scope
        )
        found = _Text(text, "answered", (), used)
        offered: list[NumberedPassage] = []
    else:
        asked = Rewriting(question)
        before = searched_turns(history, context.embedder) if rewrite else []
        if rewrite:
            asked = rewrite_question(question, before, model, context.store, context.domain)
        hits = tuple(context.search(asked.match_query, asked.recall_query))
        kinds = _continued_kinds(asked.match_query)
        wanted = sections_with_number(asked.match_query, hits, context.store)
        hits += tuple(continuations(hits, kinds, context.store, wanted))
        yield Found(hits, asked.match_query, meant, recall_query=asked.recall_query)
        known = StoreLanguages.read(context.store.languages)
        language = foreign_language(question, known.codes)
        offered = passages(hits, known.analyzer)
        if model is None or not offered:
            told = _told(question, before, context, asked.match_query)
            found = yield from _quoted(asked.match_query, offered, context, told, language)
        else:
            found = yield from _written(asked, offered, context, model, writing, language)
        if found.language is not None:
            warnings = language_warnings(found.language, known.codes, context.embedder.identity.name)
    numbers = sorted({number for statement in found.statements for number in statement.citations})
    by_number = {passage.number: passage for passage in offered}
    statements = with_attribution(
        found.text,
        found.statements,
        offered,
        context.store,
        written=model is not None and found.outcome == "answered",
    )
    yield Done(
        Answer(
            question=question,
            searched_for=None if asked is None else asked.match_query,
            text=found.text,
            outcome=found.outcome,
            statements=statements,
            citations=tuple(by_number[number].citation for number in numbers),
            passages=hits,
            intent=meant,
            model=None if model is None else model.name,
            usage=found.usage if asked is None else asked.usage + found.usage,
            recall_query=None if asked is None else asked.recall_query,
            warnings=warnings,
            form=found.form,
            parts=found.parts,
        )
    )


def _continued_kinds(question: str) -> tuple[ChunkKind, ...]:
    """Return the kinds of passages that are read beyond their borders for a question: lists and code, and tables for
    which of their rows meet a condition.
    """
    always = (ChunkKind.LIST, ChunkKind.CODE)
    return (*always, ChunkKind.TABLE) if asks_for_rows(question) else always


def _told(question: str, history: Sequence[Turn], context: AnswerContext, asked: str) -> Told:
    """Return what a quoted answer must add to if the question was completed from the conversation: the question's own
    terms, and the previous answer unless only a name was put into the question, which then asks for nothing that was
    asked before.
    """
    if not history or context.domain.expand(question) == asked:
        return NOTHING_TOLD
    clear = with_subject(question, history, context.store)
    named = clear is not None and context.domain.expand(clear.question) == asked
    return Told(own_terms(question), "" if named else history[-1].answer)


def _quoted(
    asked: str, offered: Sequence[NumberedPassage], context: AnswerContext, told: Told, language: str | None
) -> Generator[AnswerEvent, None, _Text]:
    quotation = quote(asked, offered, context.store, context.embedder, told=told)
    foreign = language is not None and quotation.outcome == "absent" and bool(offered)
    if foreign:
        # Words cannot tell that a collection in another language has no answer.
        quotation = quote(asked, offered, context.store, context.embedder, told=told, near=True)
    for piece in quotation.pieces:
        yield Piece(piece)
    return _text_of(quotation, Usage(), language if foreign else None)


def _text_of(quotation: Quotation, usage: Usage, language: str | None = None) -> _Text:
    text = "".join(quotation.pieces)
    return _Text(
        text, quotation.outcome, quotation.statements, usage, language, quotation.form, quotation.parts
    )


def _written(
    rewriting: Rewriting,
    offered: Sequence[NumberedPassage],
    context: AnswerContext,
    model: ChatModel,
    writing: Writing,
    language: str | None,
) -> Generator[AnswerEvent, None, _Text]:
    asked = respelled(rewriting.match_query, offered)
    embedder = context.embedder.identity.name
    rarity = Rarity.of(context.store, [asked])
    near_from = thresholds_of(embedder).near
    judged = judge(asked, offered, rarity, context.embedder, context.store)
    near = worth_asking(asked, judged, rarity, near_from)
    if not near and rewriting.recall_query is not None:
        # It has other words for what is meant.
        recalled = Rarity.of(context.store, [rewriting.recall_query])
        other = judge(rewriting.recall_query, offered, recalled, context.embedder, context.store)
        near = worth_asking(rewriting.recall_query, other, recalled, near_from)
    if near:
        language = None
    elif language is None:
        # A small model would answer all the same.
        yield Piece(NOT_FOUND)
        return _Text(NOT_FOUND, "absent", (), Usage())
    prompt = make_prompt(asked, offered, model, writing.style, writing.max_tokens, scope=context.domain.scope)
    marks = MarkFilter([passage.number for passage in prompt.offered])
    text, again, repetition, too_long = "", None, Repetition(), False
    with model.stream(
        prompt.messages, max_tokens=prompt.max_tokens, temperature=writing.temperature
    ) as reply:
        for shown in marks.filtered(reply):
            piece = shown if text else shown.lstrip()
            if piece:
                text += piece
                yield Piece(piece)
            again = repetition.start(text) if piece else None
            too_long = len(text) > _LONGEST_TOKEN * prompt.max_tokens
            if again is not None or too_long:
                break
    usage = usage_of(reply, model, prompt.messages, text)
    text = text if again is None else cut_at(text, again)
    text = final_text(text, cut=too_long or (reply.usage is not None and reply.usage.truncated))
    if text == NOT_FOUND:
        # The model found no answer: show the nearest passages instead.
        quotation = quote(
            asked, prompt.offered, context.store, context.embedder, outright=False, near=not near
        )
        return _text_of(quotation, usage, language)
    classifier = load_classifier(embedder)
    statements = attribute(asked, text, prompt.offered, classifier, context.store, context.embedder)
    read = {passage.number for passage in prompt.offered}
    sentences_read = [
        one for one in judged.parts if one.passage.number in read and one.part.kind in ("sentence", "row")
    ]
    statements = check_short_answers(
        asked, text, statements, sentences_read, thresholds_of(embedder).answered, rarity
    )
    return _Text(text, "answered", statements, usage, language)


def final_text(text: str, cut: bool) -> str:
    """Return the text up to a refusal to answer, since what follows one is of no use. A last sentence that was
    truncated at the token limit is dropped, or marked with an ellipsis if it is the only one.
    """
    text = text.strip()
    spans = sentences(text)
    said = [words(text[start:end]) for start, end in spans]
    refusals = [place for place, sentence in enumerate(said) if _refuses(sentence)]
    if not any(said) or refusals[:1] == [0]:
        return NOT_FOUND
    if refusals:
        spans = spans[: refusals[0]]
    elif cut and not text.endswith(STOPS):
        if len(spans) == 1:
            return f"{text} …"
        spans = spans[:-1]
    return text[: spans[-1][1]]


def _refuses(sentence: list[str]) -> bool:
    return any(
        sentence[-len(refusal) :] == refusal and _BEFORE_A_REFUSAL.issuperset(sentence[: -len(refusal)])
        for refusal in _REFUSALS
    )
