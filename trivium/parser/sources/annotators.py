"""Rules that determine which annotators' answers to Natural Questions count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trivium.errors import InputError
from trivium.types import NoAnswer

if TYPE_CHECKING:
    from trivium.parser.sources.nq_rows import Annotation

ANNOTATORS = ("majority", "any", "agreed", "first")
"""Rules by which the answers of annotators count (:func:`counted`)."""
MAJORITY = "majority"
_ENOUGH = 2
"""Of several annotators, this many must have marked a long answer, as in the official evaluation."""
_NOBODY = "its annotator marked no long answer"
_NONE_OF = "none of its {} annotators marked a long answer"


def check_annotators(rule: str) -> None:
    """Raise InputError for a rule that is not in :data:`ANNOTATORS`."""
    if rule not in ANNOTATORS:
        raise InputError(f"expected annotators of {', '.join(ANNOTATORS)}, got {rule!r}")


def counted(annotations: Sequence[Annotation], rule: str = MAJORITY) -> list[int] | tuple[NoAnswer, str]:
    """Return the annotators (from 0) whose answers count, or why none do.

    - ``majority``: all who marked a long answer if at least two of them did, or the only annotator.
    - ``any``: all who marked a long answer.
    - ``agreed``: those who marked the same one as another, or the only annotator.
    - ``first``: the first annotator only.

    Raises InputError for any other rule.

    >>> from trivium.parser.sources.nq_rows import Annotation
    >>> alone, other = Annotation((3, 9), (), None), Annotation(None, (), None)
    >>> counted([alone]), counted([alone, other, other], "any")
    ([0], [0])
    >>> counted([alone, other, other])[1]
    '1 of 3 annotators marked a long answer, 2 are needed'
    """
    check_annotators(rule)
    if rule == "first":
        annotations = annotations[:1]
    total = len(annotations)
    spans = {index: one.long for index, one in enumerate(annotations) if one.long is not None}
    if not spans:
        nobody = (
            "the row has no annotations" if not total else _NOBODY if total == 1 else _NONE_OF.format(total)
        )
        return NoAnswer.NONE, nobody
    needed = 1 if rule == "any" else min(_ENOUGH, total)
    if rule == "agreed":
        alike = Counter(spans.values())
        kept = [index for index, span in spans.items() if alike[span] >= needed]
        return kept or (NoAnswer.FEW, f"no two of {total} annotators marked the same long answer")
    if len(spans) < needed:
        return NoAnswer.FEW, f"{len(spans)} of {total} annotators marked a long answer, {needed} are needed"
    return list(spans)
