"""Names in running text: the protocol of their recognisers, and how one is opened by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from trivium.errors import ConfigurationError

RULES = "rules"
SPACY = "spacy:"
"""Prefix of recognisers that are spaCy pipelines."""

KINDS = ("person", "organisation", "place", "work", "event", "product", "law", "date")
"""The kinds of names. A recogniser writes an empty string where it does not know the kind."""


class NamedSpan(NamedTuple):
    """A name in a text: its characters ``start`` to ``end`` (exclusive), and its kind, one of ``KINDS`` or empty."""

    start: int
    end: int
    kind: str = ""


class EntityRecogniser(Protocol):
    """Finds names in texts. ``name`` is the specification that opens it again, such as ``rules``."""

    name: str

    def spans(self, texts: Sequence[str], language: str) -> list[list[NamedSpan]]:
        """Return the names of each text, in order, without overlaps.

        ``texts`` are the passages of one document, which a recogniser may read together: a word that is a name in one
        of them may be one at the beginning of another's sentence. ``language`` is the ISO 639-1 code of the document,
        empty if it is not known.
        """
        ...


def load_recogniser(spec: str) -> EntityRecogniser:
    """Open a recogniser: ``rules`` (:mod:`trivium.entities.rules`, no model) or ``spacy:MODEL``, a pipeline with entities
    such as ``spacy:en_core_web_sm``.

    Raises ConfigurationError for an unknown name or a model that is not installed, and MissingExtraError without spaCy.
    """
    if spec == RULES:
        from trivium.entities.rules import RuleRecogniser

        return RuleRecogniser()
    model = spec.removeprefix(SPACY)
    if model and model != spec:
        from trivium.entities.spacy_names import SpacyRecogniser

        return SpacyRecogniser(model)
    raise ConfigurationError(f"unknown recogniser of names {spec!r}: there are {RULES}, {SPACY}MODEL")
