"""The measures of an answer that need no model, by name; NaN where a measure has nothing to say of it.

=====================  ================================================================================================
``exact_match``        the whole answer is a known answer (SQuAD); of answers in sentences hardly ever
``f1``                 words shared with the known answer (SQuAD)
``contained``          the answer contains a known answer as whole words: the plainest "right"
``contained_offered``  the same, of questions for which a gold chunk was offered: what the reader makes of it
``rouge_l``            longest common subsequence of words
``bleu``               runs of one to four words that a known answer has
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
import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from trivium.datasets.gold import Gold
from trivium.datasets.match_text import PageTexts
from trivium.evaluation.answers.records import Answered
from trivium.text.normalise import words

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_LONGEST_RUN = 4
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """Normalise a text as SQuAD's evaluation does (Rajpurkar et al., EMNLP 2016): lower case, without punctuation,
    then without articles and surplus white space.

    >>> normalise("The  Phobos-Grunt, a probe.")
    'phobosgrunt probe'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """Return 1 if the whole answer equals a gold one after normalisation."""
    return float(normalise(answer) in map(normalise, gold))


def token_f1(answer: str, gold: Sequence[str]) -> float:
    """Return the harmonic mean of precision and recall of normalised words, with multiplicity (SQuAD's F1).

    >>> round(token_f1("It was Asaph Hall, in 1877.", ["Asaph Hall", "Hall"]), 3)
    0.5
    """
    return _best(_token_f1, normalise(answer).split(), [normalise(reference).split() for reference in gold])


def rouge_l(answer: str, gold: Sequence[str]) -> float:
    """Return ROUGE-L: the harmonic mean of precision and recall of the longest common subsequence of words (Lin,
    2004). Words are lower-cased and not stemmed; for ASCII text the value equals that of the package rouge-score.

    >>> round(rouge_l("Hall found it: Asaph Hall", ["Asaph Hall found it"]), 3)
    0.667
    """
    return _best(_rouge_l, _rouge_words(answer), [_rouge_words(reference) for reference in gold])


def bleu(answer: str, gold: Sequence[str]) -> float:
    """Return BLEU of a single answer (Papineni et al., 2002): the geometric mean of the shares of its runs of one to four
    words that a known answer has, times exp(1 - r / c) if it has c words, fewer than the r of the known answer. Answers
    shorter than four words are measured by the runs that they have; the first share of 0 counts as half a run, the next
    as a quarter (as ``sentence_bleu`` of the package sacrebleu, given the same words). 0 if no word is shared.

    >>> round(bleu("Hall found it: Asaph Hall", ["Asaph Hall found it"]), 3)
    0.473
    """
    return _best(_bleu, _rouge_words(answer), [_rouge_words(reference) for reference in gold])


def contains(answer: str, gold: Sequence[str]) -> float:
    """Return 1 if the answer contains a gold one as whole words, normalised as for tracing gold to chunks (lower
    case, punctuation as spaces). Suited to answers in sentences, of which a known answer is a part; longer answers
    have more chances.

    >>> contains("Asaph Hall found them in 1877.", ["asaph hall"]), contains("Asaph Halley", ["Asaph Hall"])
    (1.0, 0.0)
    """
    return float(bool(PageTexts([answer]).containing(gold)))


def _best(
    measure: Callable[[Sequence[str], Sequence[str]], float],
    answer: Sequence[str],
    gold: Sequence[Sequence[str]],
) -> float:
    return max((measure(answer, reference) for reference in gold), default=0.0)


def _token_f1(answer: Sequence[str], gold: Sequence[str]) -> float:
    if not answer or not gold:
        return float(answer == gold)
    return _f1((Counter(answer) & Counter(gold)).total(), len(answer), len(gold))


def _rouge_words(text: str) -> list[str]:
    return words(text.replace("_", " "))


def _rouge_l(answer: Sequence[str], gold: Sequence[str]) -> float:
    lengths = [0] * (len(gold) + 1)
    for word in answer:
        diagonal = 0
        for place, other in enumerate(gold, start=1):
            above = lengths[place]
            lengths[place] = diagonal + 1 if word == other else max(above, lengths[place - 1])
            diagonal = above
    return _f1(lengths[-1], len(answer), len(gold))


def _bleu(answer: Sequence[str], gold: Sequence[str]) -> float:
    logs: list[float] = []
    halved = 1.0
    for size in range(1, min(_LONGEST_RUN, len(answer)) + 1):
        own, known = _runs(answer, size), _runs(gold, size)
        common = (own & known).total()
        if not common:
            if size == 1:
                return 0.0
            halved /= 2
        logs.append(math.log((common or halved) / own.total()))
    if not logs:
        return 0.0
    return math.exp(min(0.0, 1 - len(gold) / len(answer)) + sum(logs) / len(logs))


def _runs(words: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(size)), strict=False))


def _f1(common: int, answer: int, gold: int) -> float:
    return 2 * common / (answer + gold) if common else 0.0


MEASURES: Final = (
    "exact_match", "f1", "contained", "contained_offered", "rouge_l", "bleu", "gold_offered", "cited_gold",
    "citations_offered", "supported", "not_found",
)  # fmt: skip
OF_TEXTS: Final = {
    "exact_match": exact_match,
    "f1": token_f1,
    "contained": contains,
    "rouge_l": rouge_l,
    "bleu": bleu,
}


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
