"""Whether what was found seems to be about the question. An answer without a language model decides alike; this knows
nothing of models and prompts, so that a search need not load them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trivium.answering.passages import passages
from trivium.answering.question_language import foreign_language
from trivium.answering.quoting import quote
from trivium.languages import StoreLanguages
from trivium.search.options import check_question
from trivium.search.searcher import Searcher
from trivium.types import Hit

PASSAGES = 6
"""Number of passages that are read for an answer unless another is given."""
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
    asked = searcher.domain.expand(question)
    with searcher.store.pinned() as store:
        known = StoreLanguages.read(store.languages)
        offered = passages(hits[:PASSAGES], known.analyzer)
        foreign = foreign_language(asked, known.codes) is not None
        quotation = quote(asked, offered, store, searcher.remembering(), outright=False, near=foreign)
    return quotation.outcome != "absent"


def nearest_warnings(
    searcher: Searcher, question: str, hits: Sequence[Hit], k: int, again: Callable[[int], Sequence[Hit]]
) -> list[str]:
    """Return a warning if the hits, of which ``k`` were asked for, are only the nearest passages, else nothing. As many
    are examined as for an answer: ``again`` searches for that many with the same options if there may be more.
    """
    best = hits if k >= PASSAGES or len(hits) < k else again(PASSAGES)
    return [] if not best or is_about(searcher, question, best) else [NOT_ABOUT]
