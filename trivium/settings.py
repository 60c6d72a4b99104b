"""Settings: the environment (``TRIVIUM_*``) and ``trivium.toml`` in the working directory.

The environment wins over the file. An unknown key in the file is refused; an unknown ``TRIVIUM_*`` variable
is refused when it looks like a misspelt one and logged otherwise. Keys of remote services are kept as
:class:`pydantic.SecretStr`, so that neither a ``repr`` nor an error shows them."""

from __future__ import annotations

import logging
import os
import tomllib
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from trivium.domain import Domain
from trivium.errors import ConfigurationError
from trivium.index_parameters import IndexParameters
from trivium.limits import InputLimits, Positive

PREFIX = "TRIVIUM_"
MAX_TEMPERATURE = 2.0
"""Of a language model's chance: no provider takes more."""
TESTS = "TRIVIUM_TEST_"
"""Begins variables that are for the test-suite."""
SETTINGS_FILE = Path("trivium.toml")

StyleName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")]
Url = Annotated[str, Field(pattern=r"^https?://[^\s@]+$")]

_log = logging.getLogger(__name__)


def _default_home() -> Path:
    # The XDG specification has relative and empty values ignored.
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (cache if cache.is_absolute() else Path.home() / ".cache") / "trivium"


def _named(name: str, *others: str) -> Any:
    """A field that variables without the prefix set as well; the prefixed one comes first."""
    return AliasChoices(PREFIX + name.upper(), *others)


class Settings(BaseSettings):
    """What can be configured. The variable of a field is ``TRIVIUM_`` and its name in capitals."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        populate_by_name=True,
    )

    home: Path = Field(default_factory=_default_home)
    """Where model files live, in ``models``."""

    store: Annotated[str, Field(min_length=1)] | None = None
    """The store of commands that name none: a folder, or the address of a Neo4j server."""

    embedder: str | None = None
    """The embedder of a new store; None takes bge-small when it is installed, else minilm."""

    embed_with: Url | None = None
    """The Text Embeddings Inference server of embedders ``tei:NAME``."""

    device: Annotated[str, Field(pattern=r"^(cpu|cuda(:[0-9]{1,3})?)$")] = "cpu"
    """Where models embed: ``cpu``, ``cuda``, or ``cuda:N`` for the graphics card of that number (the extra ``cuda``)."""

    workers: Positive | None = None
    """Threads and processes at work; None means as many as there are cores."""

    retrievers: dict[str, Any] = Field(default_factory=dict)
    """Settings of retrievers: in ``trivium.toml`` tables such as ``[retrievers.walk]`` with ``damping = 0.4``, in the
    environment JSON."""

    path_selector: str = "match"
    """Who chooses for the path retriever: ``match`` needs no language model, ``llm`` asks ``chat_model``."""

    limits: InputLimits = Field(default_factory=InputLimits)
    """How large documents may be: in ``trivium.toml`` the table ``[limits]``, in the environment JSON."""

    index: IndexParameters = Field(default_factory=IndexParameters)
    """How vector indexes are made: in ``trivium.toml`` the table ``[index]``, in the environment JSON."""

    data: Path | None = None
    """The folder of the evaluation data."""

    mediawiki_api: Url = "https://en.wikipedia.org/w/api.php"
    """The API of the MediaWiki that sources ``wiki:TITLE``, and the live source ``mediawiki``, are read from."""

    arxiv_url: Url = "https://export.arxiv.org/api/query"
    """The API of arXiv."""

    arxiv_results: Positive = 30
    """Papers that ``arxiv:QUERY`` and the live source ``arxiv`` read at most."""

    arxiv_days: Annotated[int, Field(ge=0)] = 365
    """The live source ``arxiv`` looks at papers of so many days; 0 means of any time."""

    searxng_url: Url | None = None
    """The SearXNG server of the live source ``searxng``; it must allow answers in JSON (``search.formats``)."""

    serpapi_key: SecretStr | None = Field(
        default=None, validation_alias=_named("serpapi_key", "SERPAPI_API_KEY")
    )
    """The key of the live source ``serpapi``."""

    serpapi_url: Url = "https://serpapi.com/search.json"
    """The address of SerpAPI."""

    brave_key: SecretStr | None = Field(default=None, validation_alias=_named("brave_key", "BRAVE_API_KEY"))
    """The key of the live source ``brave``."""

    brave_url: Url = "https://api.search.brave.com/res/v1/web/search"
    """The address of the Brave Search API."""

    tavily_key: SecretStr | None = Field(
        default=None, validation_alias=_named("tavily_key", "TAVILY_API_KEY")
    )
    """The key of the live source ``tavily``."""

    tavily_url: Url = "https://api.tavily.com/search"
    """The address of Tavily."""

    live_sources: tuple[str, ...] = ()
    """The live sources of questions that name none, where a server is told to ask live sources always: in
    ``trivium.toml`` a list, in the environment JSON. None means ``web`` where a source of the web is configured, else
    ``mediawiki``."""

    live_results: Positive = 10
    """Results that a live source of the web or of a MediaWiki is asked for."""

    live_pages: Annotated[int, Field(ge=0, le=10)] = 3
    """Of how many of them the page itself is read; of the others what the source quotes. 0 reads none."""

    live_private_pages: bool = False
    """Whether pages may be of private networks, as for a search engine of an intranet."""

    live_seconds: Annotated[float, Field(gt=0, le=300)] = 6.0
    """Seconds that each live source has to answer, pages included."""

    live_total_seconds: Annotated[float, Field(gt=0, le=600)] = 8.0
    """Seconds after which a question goes on without the live sources that have not answered."""

    live_cache_seconds: Annotated[float, Field(ge=0)] = 86_400.0
    """How long answers of live sources are used again (kept below ``home``); 0 keeps none."""

    pdf_reader: Literal["pdfium", "docling"] = "pdfium"
    """What reads PDF files: PDFium, or the program Docling (slower by far; tables and formulas by neural networks)."""

    docling_command: str = "docling"
    """The program of ``pdf_reader = "docling"``, with arguments that come before those of this program."""

    recogniser: str = "whisper"
    """What hears questions: ``whisper`` with the weights of the extra ``speech`` (English), or ``whisper:FOLDER`` with a
    model of Whisper for CTranslate2."""

    voice: str = "hibari"
    """What speaks answers: ``hibari`` (English), ``hibari:NAME``, or ``piper:FILE.onnx`` by the program Piper."""

    audio_seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0
    """How long a spoken question may last."""

    piper_command: str = "piper"
    """The program of ``voice = "piper:FILE.onnx"``, with arguments that come before those of this program."""

    contact: str | None = None
    """How the operator of a MediaWiki can reach you; part of the user agent."""

    openai_base_url: Url = Field(
        default="https://api.openai.com/v1",
        validation_alias=_named("openai_base_url", "OPENAI_BASE_URL"),
    )
    """The OpenAI-compatible endpoint of embedders ``openai:NAME``."""

    openai_api_key: SecretStr | None = Field(
        default=None, validation_alias=_named("openai_api_key", "OPENAI_API_KEY")
    )
    """The key of ``openai_base_url``."""

    openai_api_version: str | None = None
    """Where ``openai_base_url`` is an Azure OpenAI resource, its API version; models are then named by deployment."""

    openai_requests_per_minute: Positive = 500
    """Requests per minute sent to the endpoint of embedders at most."""

    openai_tokens_per_minute: Positive = 1_000_000
    """Tokens per minute sent to the endpoint of embedders at most."""

    anthropic_base_url: Url = Field(
        default="https://api.anthropic.com",
        validation_alias=_named("anthropic_base_url", "ANTHROPIC_BASE_URL"),
    )
    """The endpoint of language models ``anthropic:NAME``, without ``/v1``."""

    anthropic_api_key: SecretStr | None = Field(
        default=None, validation_alias=_named("anthropic_api_key", "ANTHROPIC_API_KEY")
    )
    """The key of ``anthropic_base_url``."""

    gemini_base_url: Url = Field(
        default="https://generativelanguage.googleapis.com",
        validation_alias=_named("gemini_base_url", "GOOGLE_GEMINI_BASE_URL"),
    )
    """The endpoint of language models ``gemini:NAME``, without a version."""

    gemini_api_key: SecretStr | None = Field(
        default=None, validation_alias=_named("gemini_api_key", "GEMINI_API_KEY", "GOOGLE_API_KEY")
    )
    """The key of ``gemini_base_url``."""

    azure_endpoint: Url | None = Field(
        default=None, validation_alias=_named("azure_endpoint", "AZURE_OPENAI_ENDPOINT")
    )
    """The Azure OpenAI resource of language models ``azure:DEPLOYMENT``, such as ``https://NAME.openai.azure.com``."""

    azure_api_key: SecretStr | None = Field(
        default=None, validation_alias=_named("azure_api_key", "AZURE_OPENAI_API_KEY")
    )
    """The key of ``azure_endpoint``."""

    azure_api_version: str = Field(
        default="2024-10-21", validation_alias=_named("azure_api_version", "OPENAI_API_VERSION")
    )
    """The API version of ``azure_endpoint``."""

    chat_model: str | None = None
    """The language model: ``openai:NAME`` (in short the name its endpoint knows), ``azure:DEPLOYMENT``,
    ``anthropic:NAME``, ``gemini:NAME``, ``local``, ``local:PATH`` of a GGUF file, or ``none``."""

    chat_temperature: Annotated[float, Field(ge=0, le=MAX_TEMPERATURE)] = 0.0
    """What is left to chance when a language model writes; choices and judgements are always made with 0."""

    chat_max_tokens: Positive | None = None
    """The longest answer, in tokens; None means 512. A quarter of what the model reads where that is less."""

    chat_seed: Annotated[int, Field(ge=0, lt=1 << 31)] = 0
    """What chance begins with, where the endpoint takes a seed (Anthropic's does not)."""

    prompt: Annotated[str, Field(min_length=1)] = "zero-shot"
    """How the language model is asked for answers: a prompt style (``zero-shot``, ``few-shot``, ``instruction``,
    ``role``, ``extractive``, ``several-hops``, or a name of ``prompts``) or the TOML file of one."""

    prompts: dict[StyleName, Path] = Field(default_factory=dict, max_length=100)
    """Prompt styles of your own by name, each the TOML file of one, which questions may name over HTTP and MCP: in
    ``trivium.toml`` the table ``[prompts]``, in the environment JSON."""

    conversation: Domain = Field(default_factory=Domain)
    """What the collection is about: in ``trivium.toml`` the table ``[conversation]`` with ``terms = ["EKS: Elastic
    Kubernetes Service"]`` and ``scope = "the handbook of ACME"``, in the environment JSON."""

    chat_base_url: Url | None = None
    """The endpoint of the language model; None means ``openai_base_url`` (with its key)."""

    chat_api_key: SecretStr | None = None
    """The key of ``chat_base_url``. The OpenAI key is never sent to another endpoint."""

    chat_api_version: str | None = None
    """Where ``chat_base_url`` is an Azure OpenAI resource, its API version."""

    chat_timeout: Annotated[float, Field(gt=0)] = 60.0
    """Seconds without a byte, or in a stream without any text, after which a request to the endpoint has failed."""

    chat_total_timeout: Annotated[float, Field(gt=0)] = 900.0
    """Seconds after which a request to the endpoint has failed, however much has come."""

    chat_retries: Annotated[int, Field(ge=0, le=20)] | None = None
    """Attempts after the first where an endpoint is busy or cannot be reached; None means 6, and 2 where somebody waits
    for the answer (``trivium ask``, ``serve`` and ``mcp``)."""

    chat_context_tokens: Annotated[int, Field(ge=512)] | None = None
    """What the language model reads and writes at most; None means 8,192 of an endpoint, 4,096 of a GGUF file, 1,536 of
    the bundled one."""

    chat_requests_per_minute: Positive | None = None
    """Requests per minute sent to the language model at most; None means no limit."""

    chat_tokens_per_minute: Positive | None = None
    """Tokens per minute sent to the language model at most; None means no limit."""

    neo4j_user: str = Field(default="neo4j", validation_alias=_named("neo4j_user", "NEO4J_USER"))
    """The user of Neo4j databases."""

    neo4j_password: SecretStr = Field(
        default=SecretStr(""), validation_alias=_named("neo4j_password", "NEO4J_PASSWORD")
    )
    """The password of that user."""

    neo4j_database: str | None = Field(
        default=None, validation_alias=_named("neo4j_database", "NEO4J_DATABASE")
    )
    """The database of an address that names none; None means the user's home database."""

    neo4j_timeout: Annotated[float, Field(gt=0)] = 30.0
    """Seconds after which the server gives up a read. A write has twenty times as long."""

    neo4j_memory: Annotated[int, Field(ge=0)] = 1024
    """Megabytes that a process may take to keep a store in Neo4j in memory, which makes its questions several times as
    fast; a store that needs more is left to the server, and 0 leaves all to it."""

    @field_validator("store", mode="after")
    @classmethod
    def _at_home(cls, store: str | None) -> str | None:
        return store if store is None or "://" in store else str(Path(store).expanduser())

    @field_validator("home", "data", mode="after")
    @classmethod
    def _absolute(cls, path: Path | None) -> Path | None:
        return None if path is None else path.expanduser().absolute()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the library's signature
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, SETTINGS_FILE)


def load_settings(**given: Any) -> Settings:
    """Read the environment and ``trivium.toml``; what is ``given`` by name of a setting wins over both. Raises
    ConfigurationError naming the key at fault."""
    _check_variables(os.environ, Settings.model_fields)
    try:
        return Settings(**given)
    except ValidationError as error:
        # Never with the input: it may be a key.
        faults = "; ".join(_fault(fault["loc"], fault["msg"]) for fault in error.errors(include_input=False))
        raise ConfigurationError(
            f"settings (environment or {SETTINGS_FILE}) are malformed: {faults}"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{SETTINGS_FILE.absolute()} is not TOML: {error}") from error
    except OSError as error:
        raise ConfigurationError(f"{SETTINGS_FILE.absolute()} cannot be read: {error.strerror}") from error


def _fault(location: tuple[int | str, ...], message: str) -> str:
    key = ".".join(map(str, location))
    close = get_close_matches(key, Settings.model_fields, n=1) if key not in Settings.model_fields else []
    return f"{key}: {message}" + (f" (did you mean {close[0]}?)" if close else "")


def _check_variables(environment: Iterable[str], fields: dict[str, FieldInfo]) -> None:
    variables = [PREFIX + name.upper() for name in fields]
    for variable in sorted(environment):
        if not variable.startswith(PREFIX) or variable.startswith(TESTS) or variable in variables:
            continue
        close = get_close_matches(variable, variables, n=1, cutoff=0.85)
        if close:
            raise ConfigurationError(f"unknown environment variable {variable}: did you mean {close[0]}?")
        _log.warning("unknown environment variable %s is ignored", variable)
