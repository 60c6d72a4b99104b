"""Whether what was found seems to be about the question. An answer without a language model decides alike; this knows
nothing of models and prompts, so that a search need not load them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trivium.answering.passages import passages
from trivium.answering.quote_answer import quote
from trivium.search.requests import ANSWER_PASSAGES, SearchRequest, check_question
from trivium.search.searched_text import searched_text
from trivium.search.searcher import Searcher
from trivium.text.languages import StoreLanguages, foreign_language
from trivium.types import Hit

NOT_ABOUT = (
    "none of these passages seems to be about the question: they are only the nearest, and their percentages only compare"
    " them with each other"
)
"""The warning about passages of which :func:`is_about` is False."""


def is_about(searcher: Searcher, question: str, hits: Sequence[Hit]) -> bool:
    """Whether some of the best hits seem to be about a question; see :meth:`trivium.engine.Engine.is_about`. A question
    in another language than the collection's is taken to be answered by them, since its words cannot tell.
    """
    check_question(question)
    asked = searched_text(searcher.domain.expand(question))
    with searcher.store.pinned() as store:
        known = StoreLanguages.read(store.languages)
        offered = passages(hits[:ANSWER_PASSAGES], known.analyzer)
        foreign = foreign_language(asked, known.codes) is not None
        quotation = quote(asked, offered, store, searcher.remembering(), outright=False, near=foreign)
    return quotation.outcome != "absent"


def search_and_judge(searcher: Searcher, request: SearchRequest) -> tuple[list[Hit], list[str]]:
    """Return the hits of a search, and a warning if they are only the nearest passages. Where a user has chosen the
    retrievers, or asks live sources, there is none.
    """
    judged = request.retrievers is None and not request.sources
    k = request.k
    if judged and request.cut is None:  # as many are examined as for an answer
        k = max(k, ANSWER_PASSAGES)
    hits = searcher.search(replace(request, k=k))
    warned = judged and hits and not is_about(searcher, request.question, hits)
    return hits if request.cut is not None else hits[: request.k], [NOT_ABOUT] if warned else []
