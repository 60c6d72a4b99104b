"""Rewrites follow-up questions of a question file as ``trivium ask`` does without a language model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from trivium.answering.rewriting import rewrite_question
from trivium.graph.protocols import GraphReader
from trivium.types import Question, Turn


def stand_alone(questions: Iterable[Question], store: GraphReader) -> tuple[Question, ...]:
    """Return the questions as they are searched for. Those with a history are rewritten as standalone questions
    without one; the others are unchanged.
    """
    return tuple(_stand_alone(question, store) if question.history else question for question in questions)


def _stand_alone(question: Question, store: GraphReader) -> Question:
    turns = [turn if isinstance(turn, Turn) else Turn(turn, "") for turn in question.history]
    asked = rewrite_question(question.text, turns, None, store)
    return replace(question, text=asked.match_query, history=())
