"""What a spaCy pipeline finds becomes names: the kinds of its labels, and no numbers or dates."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from trivium.entities import spacy_names
from trivium.entities.recogniser import NamedSpan, load_recogniser
from trivium.errors import ConfigurationError, MissingExtraError

FOUND = {
    "the World Health Organization": "ORG",
    "Alan Turing's": "PERSON",
    "London\nHe": "GPE",
    "1936": "DATE",
    "Germans": "NORP",
    "Mars": "PLANET",
    "Acme": "organization",
}
TEXT = "In 1936 Alan Turing's friends met the World Health Organization, Germans, Acme and Mars in London\nHe left."


class Pipeline:
    """Finds the texts of ``FOUND``."""

    def __init__(self, pipe_names: Sequence[str] = ("tok2vec", "ner")) -> None:
        self.pipe_names = list(pipe_names)

    def get_pipe_meta(self, name: str) -> Any:
        return SimpleNamespace(assigns=["doc.ents"] if name != "tagger" else ["token.tag"])

    def pipe(self, texts: Sequence[str]) -> Iterator[Any]:
        for text in texts:
            places = sorted((text.find(name), name) for name in FOUND if name in text)
            yield SimpleNamespace(
                ents=[
                    SimpleNamespace(start_char=at, end_char=at + len(name), label_=FOUND[name])
                    for at, name in places
                ]
            )


def load(model: str, exclude: Sequence[str]) -> Pipeline:
    if model == "nothing":
        raise OSError("[E050] Can't find model")
    if model == "parts":
        raise ValueError("[E002] Can't find factory for 'gliner_spacy'")
    return Pipeline(["tagger"] if model == "tags" else ["gliner_spacy"] if model == "gliner" else ["ner"])


@pytest.fixture
def spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("spacy")
    module.load = load  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", module)
    found = importlib.util.find_spec
    monkeypatch.setattr(spacy_names, "find_spec", lambda name: object() if name == "spacy" else found(name))


@pytest.mark.usefixtures("spacy")
def test_labels_become_kinds_and_names_are_trimmed() -> None:
    recogniser = load_recogniser("spacy:en_core_web_sm")
    assert recogniser.name == "spacy:en_core_web_sm"
    spans, none = recogniser.spans([TEXT, ""], "en")
    assert none == []
    assert [(TEXT[start:end], kind) for start, end, kind in spans] == [
        ("Alan Turing", "person"),
        ("World Health Organization", "organisation"),
        ("Acme", "organisation"),
        ("Mars", ""),
        ("London", "place"),
    ]
    assert all(isinstance(span, NamedSpan) for span in spans)


@pytest.mark.usefixtures("spacy")
def test_models_that_are_missing_or_find_no_names_say_so() -> None:
    with pytest.raises(ConfigurationError, match="run  pip install nothing"):
        load_recogniser("spacy:nothing")
    with pytest.raises(ConfigurationError, match=r"cannot be loaded: .*gliner_spacy"):
        load_recogniser("spacy:parts")
    with pytest.raises(ConfigurationError, match="finds no names: it has "):
        load_recogniser("spacy:tags")
    assert load_recogniser("spacy:gliner").name == "spacy:gliner", "whatever finds them"


def test_without_spacy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy_names, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'trivium\[entities\]'"):
        load_recogniser("spacy:en_core_web_sm")
