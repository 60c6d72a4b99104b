"""Answers a question: rewrites follow-ups, searches, writes the answer, and attributes it to passages."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trivium.answering.check_statements import Checked, check
from trivium.answering.citation_marks import MarkFilter
from trivium.answering.clauses import sections_with_number
from trivium.answering.comparisons import comparison_of
from trivium.answering.events import NOT_FOUND, AnswerEvent, Done, Found, Piece
from trivium.answering.explain_citations import with_attribution
from trivium.answering.follow_up_questions import asks_for_more, goes_on, leaning, means_a_person
from trivium.answering.intent import TALK, is_surely_talk, recognise, searched_turns
from trivium.answering.judge_parts import (
    Judgement,
    confirmed,
    judge,
    of_follow_up,
    sure_from,
    thresholds_of,
    worth_asking,
)
from trivium.answering.nearness import knows_languages
from trivium.answering.passages import NumberedPassage, continuations, passages
from trivium.answering.prompting import make_prompt
from trivium.answering.query_rewriting import Rewriting, rewrite_question
from trivium.answering.question_language import language_warnings
from trivium.answering.quote_answer import AnswerText, absent, quote, quoted_again, understood
from trivium.answering.rarity import Rarity
from trivium.answering.repetition import Repetition
from trivium.answering.small_talk import converse, talk_of
from trivium.answering.spelling import mended
from trivium.answering.table_arithmetic import kind_of
from trivium.answering.table_conditions import selects_rows
from trivium.answering.table_rows import quoted_row
from trivium.answering.writing_options import AS_USUAL, Writing
from trivium.embedding.embedder import Embedder
from trivium.graph.protocols import SearchStore
from trivium.llm.chat_model import ChatModel, usage_of
from trivium.settings.domain import NO_DOMAIN, Domain
from trivium.text.languages import Analyzer, StoreLanguages, foreign_language
from trivium.text.normalise import composed, sentences, words
from trivium.types import (
    Answer,
    ChunkKind,
    Hit,
    Intent,
    Turn,
    Usage,
)

_LONGEST_TOKEN = 16
"""Characters. A server that ignores how many tokens were asked for is not listened to any longer."""

NOT_ASKED = "the language model was not asked, since the passages are not about the question"
WITHOUT_MODEL = "this is the answer without the language model, which"
_REPEATED, _CUT = "began to repeat itself", "did not come to an end"
_UNSUPPORTED = "wrote what is not in the documents"
_RAMBLED = "wrote what does not answer the question"

_REFUSALS = words(NOT_FOUND), words("not found in the collection")
_BEFORE_A_REFUSAL = frozenset(words("the answer to this question is"))
"""Words with which small models begin a refusal."""


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """What a question is answered from: a store, its embedder, a ``search`` that maps a question and an optional
    recall query (:class:`~trivium.answering.query_rewriting.Rewriting`) to hits, best first, and the domain of the
    store. At most a share ``risk`` of quoted answers should be wrong; None takes the threshold that most are right from.
    """

    store: SearchStore
    embedder: Embedder
    search: Callable[[str, str | None], Sequence[Hit]]
    domain: Domain = NO_DOMAIN
    risk: float | None = None


class _Answered(NamedTuple):
    """What was answered, the tokens used, and the passages that a language model was given. ``language`` is that of the
    question if the collection has none of its words and is in other languages; ``warning`` tells why a model was not
    asked, or its answer left out.
    """

    said: AnswerText
    usage: Usage = Usage()
    language: str | None = None
    offered: tuple[int, ...] = ()
    warning: str | None = None


class _Read(NamedTuple):
    """What was searched for, what was found, and its passages with their numbers. ``told`` is whether the answer was told
    already and more is asked for; ``last`` is the answer that a question leans on; ``judgement`` is that of all parts of
    the passages, if they were judged already.
    """

    asked: Rewriting
    hits: tuple[Hit, ...]
    offered: list[NumberedPassage]
    told: bool = False
    last: str = ""
    judgement: Judgement | None = None


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
    if intent is None and meant == "collection":
        meant = talk_of(question) or meant
    asked: Rewriting | None = None
    hits = tuple[Hit, ...]()
    warnings: tuple[str, ...] = ()
    known = StoreLanguages.read(context.store.languages)
    language = foreign_language(question, known.codes)
    # One in which words cannot tell that the collection has no answer.
    untold = None if knows_languages(context.embedder.identity.name) else language
    doubtful = intent is None and not is_surely_talk(question, context.embedder)
    if meant == "conversation" and not history and talk_of(question) is None and intent is None:
        meant = "collection"  # nothing was said that it can be about
    read: _Read | None = None
    quotation: _Answered | None = None
    if meant not in TALK or doubtful:
        if rewrite:
            before = searched_turns(history, context.embedder)
            spelled = mended(question, context.store) if language is None else question
            read = _read_in_context(spelled, before, context, model, known.analyzer)
        else:
            read = _read(Rewriting(question), context, known.analyzer)
        if meant in TALK:
            quotation = _quotation(read, context, untold)
            if quotation.said.outcome == "answered":
                meant = "collection"  # "great auk"
            else:
                read = None
    if read is None:
        yield Found((), None, meant)
        text, used = yield from converse(
            question, meant == "conversation", history, model, context.domain.scope
        )
        given = _Answered(AnswerText("answered", (text,), ()), used)
        offered: list[NumberedPassage] = []
    else:
        asked, hits, offered, *_ = read
        yield Found(hits, asked.match_query, meant, recall_query=asked.recall_query)
        if model is None or not offered:
            given = yield from _quoted(quotation or _quotation(read, context, untold))
        else:
            given = yield from _written(read, context, model, writing, language, untold)
        if given.language is not None:
            warnings = language_warnings(given.language, known.codes, context.embedder.identity.name)
    said, usage = given.said, given.usage
    numbers = sorted({number for statement in said.statements for number in statement.citations})
    by_number = {passage.number: passage for passage in offered}
    statements = with_attribution(
        said.text,
        said.statements,
        offered,
        context.store,
        written=model is not None and said.form is None,
        computed=said.form == "computed",
    )
    yield Done(
        Answer(
            question=question,
            searched_for=None if asked is None else asked.match_query,
            text=said.text,
            outcome=said.outcome,
            statements=statements,
            citations=tuple(by_number[number].citation for number in numbers),
            passages=hits,
            intent=meant,
            model=None if model is None else model.name,
            usage=usage if asked is None else asked.usage + usage,
            recall_query=None if asked is None else asked.recall_query,
            warnings=warnings if given.warning is None else (*warnings, given.warning),
            form=said.form,
            parts=said.parts,
            confidence=said.confidence,
            disagreements=said.disagreements,
        ),
        given.offered or tuple(by_number),
    )


def _continued_kinds(question: str) -> tuple[ChunkKind, ...]:
    """Return the kinds of passages that are read beyond their borders for a question: lists and code, and tables of
    which rows are chosen, counted or compared.
    """
    always = (ChunkKind.LIST, ChunkKind.CODE)
    of_rows = selects_rows(question) or kind_of(question) or comparison_of(question)
    return (*always, ChunkKind.TABLE) if of_rows else always


def _read(asked: Rewriting, context: AnswerContext, analyzer: Analyzer, typed: str | None = None) -> _Read:
    """Search for a question, also among the candidates for its recall query, or else for what was ``typed``, and read
    what its passages leave out.
    """
    hits = tuple(context.search(asked.match_query, asked.recall_query or typed))
    wanted = sections_with_number(asked.match_query, hits, context.store)
    hits += tuple(continuations(hits, _continued_kinds(asked.match_query), context.store, wanted))
    return _Read(asked, hits, passages(hits, analyzer))


def _read_in_context(
    question: str,
    history: Sequence[Turn],
    context: AnswerContext,
    model: ChatModel | None,
    analyzer: Analyzer,
) -> _Read:
    """Search for a question. One that was completed from the conversation is searched for as it was typed, too, and that
    is kept if it is surer: if what it finds answers it more probably than what the completed one finds answers that, and
    would answer the completed one more probably, too.
    """
    asked = rewrite_question(question, history, model, context.store, context.domain)
    typed = Rewriting(context.domain.expand(question), usage=asked.usage)
    last = history[-1].answer if history else ""
    if asked.match_query == typed.match_query:
        return _read(asked, context, analyzer)._replace(last=last if goes_on(question) else "")
    read = _read(asked, context, analyzer, typed.match_query)
    completed = _judged(asked, read.offered, context)
    leans = leaning(question, context.store)
    if leans == "unfinished" and not asks_for_more(question):
        completed = of_follow_up(question, completed)
    if leans == "refers" and not means_a_person(question):
        found = _read(typed, context, analyzer)
        alone = _judged(typed, found.offered, context)
        if alone.best > completed.best and _judged(asked, found.offered, context).best > completed.best:
            return found._replace(last=last, judgement=alone)
    return read._replace(told=asks_for_more(question), last=last, judgement=completed)


def _judged(rewriting: Rewriting, offered: Sequence[NumberedPassage], context: AnswerContext) -> Judgement:
    spelled, rarity = understood(rewriting.match_query, offered, context.store)
    return judge(spelled, offered, rarity, context.embedder, context.store)


def _quotation(read: _Read, context: AnswerContext, untold: str | None) -> _Answered:
    """Return the answer without a model; ``untold`` is a language in which words cannot tell that there is none."""

    def quoted(near: bool) -> AnswerText:
        return quote(
            read.asked.match_query,
            read.offered,
            context.store,
            context.embedder,
            outright=not read.told,
            near=near,
            risk=context.risk,
            judgement=read.judgement,
        )

    quotation = quoted(near=False)
    if quotation.outcome != "answered" and not read.told:
        quotation = _of_quoted_row(read, context) or quotation
    if untold is None or quotation.outcome != "absent" or not read.offered:
        return _Answered(quotation)
    return _Answered(quoted(near=True), language=untold)


def _quoted(quotation: _Answered) -> Generator[AnswerEvent, None, _Answered]:
    for piece in quotation.said.pieces:
        yield Piece(piece)
    return quotation


def _of_quoted_row(read: _Read, context: AnswerContext) -> AnswerText | None:
    """Return the row that the last answer quoted, if a question that leans on it may ask for another of its cells."""
    row = quoted_row(read.last, read.offered)
    if row is None:
        return None
    judged = read.judgement or _judged(read.asked, read.offered, context)
    nothing = thresholds_of(context.embedder.identity.name).nothing
    again = [one for one in judged.parts if one.text == row.text and one.probability >= nothing]
    return quoted_again(again[0]) if again else None


def _written(
    read: _Read,
    context: AnswerContext,
    model: ChatModel,
    writing: Writing,
    language: str | None,
    untold: str | None,
) -> Generator[AnswerEvent, None, _Answered]:
    question, rarity = understood(read.asked.match_query, read.offered, context.store)
    judged = read.judgement or judge(question, read.offered, rarity, context.embedder, context.store)
    quotation = _quotation(read._replace(judgement=judged), context, untold)
    near = _is_near(question, read, context, judged, rarity)
    unsaid = quotation.said.outcome == "absent" and quotation.said.text != NOT_FOUND
    if unsaid or not (near or untold or quotation.said.outcome == "answered"):
        # A small model would answer all the same.
        unanswered = quotation.said if unsaid else absent()
        return (yield from _quoted(_Answered(unanswered, warning=NOT_ASKED)))
    prompt = make_prompt(
        question,
        read.offered,
        model,
        writing.style,
        writing.max_tokens,
        scope=context.domain.scope,
        best=quotation.said.parts,
    )
    numbers = tuple(passage.number for passage in prompt.offered)
    marks = MarkFilter(numbers)
    text, again, repetition, too_long = "", False, Repetition(), False
    with model.stream(
        prompt.messages, max_tokens=prompt.max_tokens, temperature=writing.temperature
    ) as reply:
        for shown in marks.filtered(reply):
            piece = shown if text else shown.lstrip()
            if piece:
                text += piece
                yield Piece(piece)
            again = piece != "" and repetition.is_in(text)
            too_long = len(text) > _LONGEST_TOKEN * prompt.max_tokens
            if again or too_long:
                break
    quotation = quotation._replace(usage=usage_of(reply, model, prompt.messages, text), offered=numbers)
    text = final_text(text)
    if text == NOT_FOUND:
        # The model found no answer: show the nearest passages instead.
        nearest = quote(
            question, prompt.offered, context.store, context.embedder, outright=False, near=not near
        )
        return quotation._replace(said=nearest)
    read_parts = [one for one in judged.parts if one.passage.number in numbers]
    answered = thresholds_of(context.embedder.identity.name).answered
    checked = check(question, text, read_parts, context.store, answered)
    fault = _REPEATED if again else None
    if too_long or (reply.usage is not None and reply.usage.truncated):
        fault = _CUT
    if fault is None and language is None:  # who answers in another language has other words
        fault = _fault_of(question, checked, quotation.said.outcome == "answered", context)
    if fault is not None:
        return quotation._replace(warning=f"{WITHOUT_MODEL} {fault}")
    statements = tuple(one.statement for one in checked)
    return quotation._replace(said=AnswerText("answered", (text,), statements))


def _is_near(question: str, read: _Read, context: AnswerContext, judged: Judgement, rarity: Rarity) -> bool:
    """Whether a model should be asked, for the question or for its recall query, which has other words for the same."""
    near_from = thresholds_of(context.embedder.identity.name).near
    recall = read.asked.recall_query
    near = worth_asking(question, judged, rarity, near_from)
    if near or recall is None:
        return near
    recalled = Rarity.of(context.store, [recall])
    other = judge(recall, read.offered, recalled, context.embedder, context.store)
    return worth_asking(recall, other, recalled, near_from)


def _fault_of(
    question: str, checked: Sequence[Checked], answered: bool, context: AnswerContext
) -> str | None:
    """Return what is wrong with all of a model's answer: that no part supports any of it, or, where a question is
    ``answered`` without it, that none that does is an answer.
    """
    resting = [one.by for one in checked if one.by is not None]
    if not resting:
        return _UNSUPPORTED
    best = max(resting, key=lambda one: one.probability)
    embedder = context.embedder.identity
    if not answered or confirmed(question, [best], embedder).probability >= sure_from(embedder, None):
        return None
    return _RAMBLED


def final_text(text: str) -> str:
    """Return the text up to a refusal to answer, since what follows one is of no use."""
    text = text.strip()
    spans = sentences(text)
    said = [words(text[start:end]) for start, end in spans]
    refusals = [place for place, sentence in enumerate(said) if _refuses(sentence)]
    if not any(said) or refusals[:1] == [0]:
        return NOT_FOUND
    return text[: spans[refusals[0] - 1][1]] if refusals else text


def _refuses(sentence: list[str]) -> bool:
    return any(
        sentence[-len(refusal) :] == refusal and _BEFORE_A_REFUSAL.issuperset(sentence[: -len(refusal)])
        for refusal in _REFUSALS
    )
