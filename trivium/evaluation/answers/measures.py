"""The measures of an answer that need no model, by name; NaN where a measure has nothing to say of it.

=====================  ================================================================================================
``exact_match``        the whole answer is a known answer (SQuAD); of answers in sentences hardly ever
``f1``                 words shared with the known answer (SQuAD)
``contained``          the answer contains a known answer as whole words: the plainest "right"
``contained_offered``  the same, of questions for which a gold chunk was offered: what the reader makes of it
``rouge_l``            longest common subsequence of words
``gold_offered``       a gold chunk was among the passages the reader was given: what the retrieval makes possible
``cited_gold``         a gold chunk was cited, of the answers that were given
``citations_offered``  share of the citations that point to a passage the reader was given; must be 1
``supported``          share of the answer's statements that a passage bears out, as ``ask`` judges it
``not_found``          the reader said that the collection does not tell; then what compares texts is 0
=====================  ================================================================================================

The known answer that an answer comes closest to counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from trivium.datasets.gold import Gold
from trivium.evaluation.answers.overlap import contains, exact_match, rouge_l, token_f1
from trivium.evaluation.answers.records import Answered

MEASURES: Final = (
    "exact_match", "f1", "contained", "contained_offered", "rouge_l", "gold_offered", "cited_gold", "citations_offered",
    "supported", "not_found",
)  # fmt: skip
OF_TEXTS: Final = {"exact_match": exact_match, "f1": token_f1, "contained": contains, "rouge_l": rouge_l}


def measure(answered: Answered, answers: Sequence[str], gold: Gold) -> Mapping[str, float]:
    """Every measure of one answer to a question with these known ``answers`` and gold chunks."""
    chunks = {chunk for group in gold.groups for chunk in group}
    found = float(answered.outcome != "absent")
    said = answered.said
    # A refusal may share words with a known answer without stating it.
    values = {name: compare(said, answers) if found else 0.0 for name, compare in OF_TEXTS.items()}
    offered = not chunks.isdisjoint(answered.context)
    marks = answered.marks()
    pointing = [answered.points_to_offered(number, uri) for number, uri in marks]
    return {
        **values,
        "contained_offered": values["contained"] if offered else math.nan,
        "gold_offered": float(offered),
        "cited_gold": float(any(c.uri in chunks for c in answered.citations)) if found else math.nan,
        "citations_offered": _share(pointing),
        "supported": _share([statement.supported for statement in answered.statements]),
        "not_found": 1.0 - found,
    }


def _share(yes: Sequence[bool]) -> float:
    return sum(yes) / len(yes) if yes else math.nan
