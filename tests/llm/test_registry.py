"""Language models by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.packages import install_package
from trivium.embedding.registry import open_embedder
from trivium.errors import ConfigurationError
from trivium.llm.base import Message
from trivium.llm.registry import GROUP, open_chat_model
from trivium.settings import Settings

ACME = """
class Acme:
    def __init__(self, name, settings):
        self.name = name
        self.context_tokens = settings.chat_context_tokens
    def complete(self, messages, **options):
        return "acme"

def nothing(name, settings):
    return 3
"""
QUESTION = [Message("user", "Which planet has rings?")]


def test_an_installed_package_adds_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets the whole name and the settings; other names are still those of the endpoint."""
    monkeypatch.syspath_prepend(str(tmp_path))
    points = {"acme": "acme_chat:Acme", "openai": "acme_chat:Acme", "bad": "acme_chat:nothing"}
    install_package(tmp_path, "acme_chat", points, ACME, group=GROUP)
    with OpenAIServer() as server:
        own = Settings(openai_base_url=server.base_url, chat_context_tokens=600)
        added = open_chat_model("acme:large", own)
        assert (added.name, added.context_tokens, added.complete(QUESTION)) == ("acme:large", 600, "acme")
        assert open_chat_model("openai:acme", own).complete(QUESTION) == QUESTION[0].content
        assert open_chat_model("llama3.2:1b", own).complete(QUESTION) == QUESTION[0].content
        assert [request.body["model"] for request in server.requests] == ["acme", "llama3.2:1b"]
        with pytest.raises(
            ConfigurationError, match=r"'bad' of trivium\.chat_models: expected a ChatModel, got int"
        ):
            open_chat_model("bad", own)


@pytest.mark.parametrize("name", ["", "openai:"])
def test_no_name_is_an_error(name: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(ConfigurationError, match="expected openai:NAME"):
        open_chat_model(name, Settings())


def test_openai_without_a_key_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a request, and with the settings that help; another endpoint may do without."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=r"set OPENAI_API_KEY, or .*TRIVIUM_CHAT_BASE_URL"):
        open_chat_model("gpt", Settings())
    with pytest.raises(ConfigurationError, match="set OPENAI_API_KEY"):
        open_embedder("openai:ada", Settings())
    assert open_chat_model("gpt", Settings(chat_base_url="http://localhost:11434/v1")).name == "gpt"


def test_the_settings_name_the_model_and_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The OpenAI key goes to the OpenAI base url and never to another endpoint."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with OpenAIServer() as server:
        own = Settings(
            openai_base_url=server.base_url,
            openai_api_key=SecretStr("key"),
            chat_model="m",
            chat_base_url=None,
        )
        assert open_chat_model(settings=own).name == "m"
        open_chat_model(settings=own).complete(QUESTION)
        other = own.model_copy(update={"chat_base_url": server.base_url})
        open_chat_model("n", settings=other).complete(QUESTION)
    assert server.requests[0].headers["Authorization"] == "Bearer key"
    assert "Authorization" not in server.requests[1].headers
    assert server.requests[1].body["model"] == "n"


def test_without_a_model_the_message_says_what_to_set() -> None:
    """There is no default language model."""
    with pytest.raises(ConfigurationError, match="TRIVIUM_CHAT_MODEL"):
        open_chat_model(settings=Settings(chat_model=None))
