"""Word overlap of an answer with the known answers.

An answer is a text without its citation marks. If a question has several known answers (gold), the closest one
counts. All measures lie in [0, 1], higher is better.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

from trivium.datasets.match import PageTexts
from trivium.text import words

_ARTICLES = re.compile(r"\b(a|an|the)\b")
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


def _f1(common: int, answer: int, gold: int) -> float:
    return 2 * common / (answer + gold) if common else 0.0
