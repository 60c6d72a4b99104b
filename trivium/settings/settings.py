"""Settings from the environment (``TRIVIUM_*``) and from ``trivium.toml`` in the working directory.

The environment overrides the file. An unknown key in the file is an error; an unknown ``TRIVIUM_*`` variable is an
error if it looks like a misspelt one, and logged otherwise. Keys of remote services are stored as
:class:`pydantic.SecretStr`, so that neither a ``repr`` nor an error reveals them.
"""

from __future__ import annotations

import json
import logging
import os
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from trivium.errors import ConfigurationError
from trivium.settings.domain import Domain
from trivium.settings.limits import DEFAULT_LIMITS, LIMIT_SETTINGS, InputLimits, Positive

PREFIX = "TRIVIUM_"
MAX_TEMPERATURE = 2.0
"""Maximum temperature of a language model. No provider accepts more."""
TESTS = ("TRIVIUM_TEST_", "TRIVIUM_DATA")
"""Beginnings of variables reserved for the test suite and for experiments."""
WITHDRAWN: Mapping[str, str] = {
    "arxiv_days": "the live source arxiv asks for papers of the last year",
    "arxiv_results": "30 papers are read",
    "audio_seconds": "a spoken question may take 120 seconds",
    "chat_api_version": "azure:DEPLOYMENT names a model of Azure, with azure_endpoint and azure_api_version",
    "chat_seed": "the seed is 0",
    "chat_total_timeout": "a request may take 900 seconds",
    "data": "nothing reads it",
    "index": "320 candidates are considered in a search, and approximate_from is a setting of its own",
    "live_results": "10 results are asked for",
    "live_total_seconds": "live_seconds is the limit of all together",
    "piper_command": "the program piper is looked for in PATH",
}
"""Settings that are gone, with what holds instead. For one release they are ignored with a warning."""
SETTINGS_FILE = Path("trivium.toml")

StyleName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")]
Url = Annotated[str, Field(pattern=r"^https?://[^\s@]+$")]

_log = logging.getLogger(__name__)


def _default_home() -> Path:
    # According to the XDG specification, relative and empty values are ignored.
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (cache if cache.is_absolute() else Path.home() / ".cache") / "trivium"


class Settings(BaseModel):
    """All settings. The environment variable of a field is ``TRIVIUM_`` followed by its name in upper case. A text in a
    field's annotation is another variable, which is read if that one is not set.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, validate_default=True)

    home: Path = Field(default_factory=_default_home)
    """Folder of model files, in its subfolder ``models``, and of caches."""

    store: Annotated[str, Field(min_length=1)] | None = None
    """Default store of commands: a folder, or the address of a Neo4j server."""

    embedder: str | None = None
    """The embedder of a new store. None uses bge-small if it is installed, else minilm."""

    embed_with: Url | None = None
    """The Text Embeddings Inference server for embedders ``tei:NAME``."""

    device: Annotated[str, Field(pattern=r"^(cpu|cuda(:[0-9]{1,3})?)$")] = "cpu"
    """Device for embedding models: ``cpu``, ``cuda``, or ``cuda:N`` for GPU number N (needs the extra ``cuda``)."""

    workers: Positive | None = None
    """Number of threads and processes; None means one per core."""

    retrievers: dict[str, Any] = Field(default_factory=dict)
    """Settings of retrievers: in ``trivium.toml`` tables such as ``[retrievers.walk]`` with ``damping = 0.4``, in the
    environment JSON.
    """

    path_selector: str = "match"
    """The selector of the path retriever: ``match`` needs no language model, ``llm`` asks ``chat_model``."""

    path_prompt: Path | None = None
    """Text file with instructions of your own for the language model that chooses paths. It is given a numbered list of
    places, and may reply with their numbers, in JSON or one a line, or with their names, separated by semicolons.
    """

    limits: InputLimits = Field(default_factory=InputLimits)
    """Limits of documents: in ``trivium.toml`` the table ``[limits]``, in the environment JSON."""

    approximate_from: Annotated[int, Field(ge=1)] = 65_536
    """Vectors of a kind (passages, sections, pages, entities) from which the index files of a folder store have an
    approximate index of them. Below that all vectors are compared, which finds the nearest for certain and takes longer
    the more there are. Takes effect when files are next made.
    """

    mediawiki_api: Url = "https://en.wikipedia.org/w/api.php"
    """The API of the MediaWiki for sources ``wiki:TITLE`` and the live source ``mediawiki``."""

    arxiv_url: Url = "https://export.arxiv.org/api/query"
    """The API of arXiv."""

    searxng_url: Url | None = None
    """The SearXNG server of the live source ``searxng``; it must allow JSON output (``search.formats``)."""

    serpapi_key: Annotated[SecretStr | None, "SERPAPI_API_KEY"] = None
    """The key of the live source ``serpapi``."""

    serpapi_url: Url = "https://serpapi.com/search.json"
    """The address of SerpAPI."""

    brave_key: Annotated[SecretStr | None, "BRAVE_API_KEY"] = None
    """The key of the live source ``brave``."""

    brave_url: Url = "https://api.search.brave.com/res/v1/web/search"
    """The address of the Brave Search API."""

    tavily_key: Annotated[SecretStr | None, "TAVILY_API_KEY"] = None
    """The key of the live source ``tavily``."""

    tavily_url: Url = "https://api.tavily.com/search"
    """The address of Tavily."""

    live_sources: tuple[str, ...] = ()
    """The live sources of questions that name none, on a server that always asks live sources: in ``trivium.toml`` a
    list, in the environment JSON. None means ``web`` if a web source is configured, else ``mediawiki``.
    """

    live_pages: Annotated[int, Field(ge=0, le=10)] = 3
    """Number of results whose full page is read; for the others the source's excerpt is used. 0 reads none."""

    live_private_pages: bool = False
    """Whether pages may be on private networks, as for the search engine of an intranet."""

    live_seconds: Annotated[float, Field(gt=0, le=300)] = 6.0
    """Time limit of live sources in seconds, including pages. They are asked at once, and a question continues without
    those that have not answered.
    """

    live_cache_seconds: Annotated[float, Field(ge=0)] = 86_400.0
    """How long answers of live sources are cached (below ``home``), in seconds; 0 disables the cache."""

    recogniser: str = "whisper"
    """Speech recogniser: ``whisper`` with the weights of the extra ``speech`` (English), or ``whisper:FOLDER`` with a
    Whisper model for CTranslate2.
    """

    voice: str = "hibari"
    """Voice of spoken answers: ``hibari`` (English), ``hibari:NAME``, or ``piper:FILE.onnx`` with the program Piper."""

    contact: str | None = None
    """Contact information for the operators of a MediaWiki, sent in the user agent."""

    openai_base_url: Annotated[Url, "OPENAI_BASE_URL"] = "https://api.openai.com/v1"
    """The OpenAI-compatible endpoint for embedders ``openai:NAME``."""

    openai_api_key: Annotated[SecretStr | None, "OPENAI_API_KEY"] = None
    """The key of ``openai_base_url``."""

    openai_api_version: str | None = None
    """API version if ``openai_base_url`` is an Azure OpenAI resource; models are then named by deployment."""

    anthropic_base_url: Annotated[Url, "ANTHROPIC_BASE_URL"] = "https://api.anthropic.com"
    """The endpoint for language models ``anthropic:NAME``, without ``/v1``; it is asked in OpenAI's protocol."""

    anthropic_api_key: Annotated[SecretStr | None, "ANTHROPIC_API_KEY"] = None
    """The key of ``anthropic_base_url``."""

    gemini_base_url: Annotated[Url, "GOOGLE_GEMINI_BASE_URL"] = "https://generativelanguage.googleapis.com"
    """The endpoint for language models ``gemini:NAME``, without a version; it is asked in OpenAI's protocol."""

    gemini_api_key: Annotated[SecretStr | None, "GEMINI_API_KEY", "GOOGLE_API_KEY"] = None
    """The key of ``gemini_base_url``."""

    azure_endpoint: Annotated[Url | None, "AZURE_OPENAI_ENDPOINT"] = None
    """The Azure OpenAI resource for language models ``azure:DEPLOYMENT``, such as ``https://NAME.openai.azure.com``."""

    azure_api_key: Annotated[SecretStr | None, "AZURE_OPENAI_API_KEY"] = None
    """The key of ``azure_endpoint``."""

    azure_api_version: Annotated[str, "OPENAI_API_VERSION"] = "2024-10-21"
    """The API version of ``azure_endpoint``."""

    answer_risk: Annotated[float, Field(gt=0, le=1)] | None = None
    """Share of answers without a language model that may be wrong, such as 0.1: what is less sure shows the closest
    passages instead. None answers from the probability on from which most answers are right.
    """

    chat_model: str | None = None
    """The language model: ``openai:NAME`` (or just the name its endpoint uses), ``azure:DEPLOYMENT``,
    ``anthropic:NAME``, ``gemini:NAME``, ``local``, ``local:PATH`` of a GGUF file, or ``none``.
    """

    chat_temperature: Annotated[float, Field(ge=0, le=MAX_TEMPERATURE)] = 0.0
    """Sampling temperature for writing. Choices and judgements always use 0."""

    chat_max_tokens: Positive | None = None
    """Maximum length of an answer in tokens; None means 512. Limited to a quarter of the context window."""

    prompt: Annotated[str, Field(min_length=1)] = "zero-shot"
    """Prompt style of answers: ``zero-shot``, ``few-shot``, ``instruction``, ``role``, ``extractive``,
    ``several-hops``, a name of ``prompts``, or a TOML file that defines one.
    """

    prompts: dict[StyleName, Path] = Field(default_factory=dict, max_length=100)
    """Custom prompt styles by name, each a TOML file, which may be requested over HTTP and MCP: in ``trivium.toml`` the
    table ``[prompts]``, in the environment JSON.
    """

    conversation: Domain = Field(default_factory=Domain)
    """Description of the collection: in ``trivium.toml`` the table ``[conversation]`` with ``terms = ["EKS: Elastic
    Kubernetes Service"]`` and ``scope = "the handbook of ACME"``, in the environment JSON.
    """

    chat_base_url: Url | None = None
    """The endpoint of the language model; None means ``openai_base_url`` (with its key)."""

    chat_api_key: SecretStr | None = None
    """The key of ``chat_base_url``. The OpenAI key is never sent to another endpoint."""

    chat_timeout: Annotated[float, Field(gt=0)] = 60.0
    """Seconds without a byte, or in a stream without text, after which a request to the endpoint fails."""

    chat_retries: Annotated[int, Field(ge=0, le=20)] | None = None
    """Retries when an endpoint is busy or unreachable; None means 6, and 2 in interactive use (``trivium ask``,
    ``serve`` and ``mcp``).
    """

    chat_context_tokens: Annotated[int, Field(ge=512)] | None = None
    """Context window of the language model, prompt and answer together; None means 8,192 for an endpoint, 4,096 for a
    GGUF file, 1,536 for the bundled model.
    """

    neo4j_user: Annotated[str, "NEO4J_USER"] = "neo4j"
    """The user of Neo4j databases."""

    neo4j_password: Annotated[SecretStr, "NEO4J_PASSWORD"] = SecretStr("")
    """The password of that user."""

    neo4j_database: Annotated[str | None, "NEO4J_DATABASE"] = None
    """The database of addresses that name none; None means the user's home database."""

    neo4j_timeout: Annotated[float, Field(gt=0)] = 30.0
    """Seconds after which the server aborts a read. Writes have twenty times as long."""

    neo4j_memory: Annotated[int, Field(ge=0)] = 1024
    """Megabytes of memory for a cached copy of a Neo4j store, which makes questions several times as fast. Larger
    stores are not cached; 0 disables the cache.
    """

    @field_validator("limits", mode="before")
    @classmethod
    def _settable(cls, given: Any) -> Any:
        """Ignore, with a warning, the limits that are settings no more."""
        if not isinstance(given, Mapping):
            return given
        gone = given.keys() & (InputLimits.model_fields.keys() - LIMIT_SETTINGS)
        for name in sorted(gone):
            _log.warning("limits.%s is gone and ignored: it is %s", name, getattr(DEFAULT_LIMITS, name))
        return {name: value for name, value in given.items() if name not in gone}

    @field_validator("store", mode="after")
    @classmethod
    def _at_home(cls, store: str | None) -> str | None:
        return store if store is None or "://" in store else str(Path(store).expanduser())

    @field_validator("home", mode="after")
    @classmethod
    def _absolute(cls, path: Path | None) -> Path | None:
        return None if path is None else path.expanduser().absolute()


def load_settings(**given: Any) -> Settings:
    """Read the environment and ``trivium.toml``. Settings ``given`` by name override both. What is returned may be
    shared, also with later callers, and is not to be changed. Raises ConfigurationError that names the invalid key.
    """
    if given:
        return _read(given)
    # Validating takes five milliseconds, which a change of a store would otherwise spend several times.
    key = _inputs()
    known = _known.get(key) if key is not None else None
    if known is not None:
        return known
    settings = _read(given)
    if key is not None and key == _inputs():  # otherwise the file was written to meanwhile
        _known.clear()
        _known[key] = settings
    return settings


_Inputs = tuple[frozenset[tuple[str, str]], Path, bytes | None]
_known: dict[_Inputs, Settings] = {}
"""The settings read last, by all that they are read from."""


def _inputs() -> _Inputs | None:
    """Return the environment, the place of the file and what it contains; None if that cannot be told."""
    try:
        path = SETTINGS_FILE.absolute()  # fails in a folder that has been removed
        file = path.read_bytes() if path.is_file() else None
    except OSError:
        return None
    return frozenset(os.environ.items()), path, file


def _read(given: Mapping[str, Any]) -> Settings:
    _check_variables(os.environ)
    try:
        return Settings(**_over(_over(_of_file(), _of_environment()), given))
    except ValidationError as error:
        # Never include the input, which may be a key.
        faults = "; ".join(_fault(fault["loc"], fault["msg"]) for fault in error.errors(include_input=False))
        raise ConfigurationError(
            f"settings (environment or {SETTINGS_FILE}) are malformed: {faults}"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{SETTINGS_FILE.absolute()} is not TOML: {error}") from error
    except OSError as error:
        raise ConfigurationError(f"{SETTINGS_FILE.absolute()} cannot be read: {error.strerror}") from error


def _of_file() -> dict[str, Any]:
    if not SETTINGS_FILE.is_file():
        return {}
    values = tomllib.loads(SETTINGS_FILE.read_text("utf-8"))
    for name in sorted(values.keys() & WITHDRAWN.keys()):
        _log.warning("%s: %s is gone and ignored: %s", SETTINGS_FILE, name, WITHDRAWN[name])
        del values[name]
    return values


def _of_environment() -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, field in Settings.model_fields.items():
        variable = next(filter(os.environ.get, variables_of(name)), None)
        if variable is None:
            continue
        values[name] = os.environ[variable]
        if isinstance(field.get_default(call_default_factory=True), dict | tuple | BaseModel):
            try:
                values[name] = json.loads(values[name])
            except ValueError as error:
                raise ConfigurationError(f"{variable} is not JSON: {error}") from None
    return values


def variables_of(name: str) -> list[str]:
    """Return the environment variables of a setting. The first that is set, and not empty, counts."""
    others = (each for each in Settings.model_fields[name].metadata if isinstance(each, str))
    return [PREFIX + name.upper(), *others]


def _over(values: Mapping[str, Any], stronger: Mapping[str, Any]) -> dict[str, Any]:
    """Return both; tables are merged key by key, and otherwise ``stronger`` wins."""
    merged = {**values, **stronger}
    for name in values.keys() & stronger.keys():
        if isinstance(values[name], Mapping) and isinstance(stronger[name], Mapping):
            merged[name] = _over(values[name], stronger[name])
    return merged


def _fault(location: tuple[int | str, ...], message: str) -> str:
    key = ".".join(map(str, location))
    close = get_close_matches(key, Settings.model_fields, n=1) if key not in Settings.model_fields else []
    return f"{key}: {message}" + (f" (did you mean {close[0]}?)" if close else "")


def _check_variables(environment: Iterable[str]) -> None:
    variables = [PREFIX + name.upper() for name in Settings.model_fields]
    for variable in sorted(environment):
        if not variable.startswith(PREFIX) or variable.startswith(TESTS) or variable in variables:
            continue
        gone = WITHDRAWN.get(variable.removeprefix(PREFIX).lower())
        if gone is not None:
            _log.warning("%s is gone and ignored: %s", variable, gone)
            continue
        close = get_close_matches(variable, variables, n=1, cutoff=0.85)
        if close:
            raise ConfigurationError(f"unknown environment variable {variable}: did you mean {close[0]}?")
        _log.warning("unknown environment variable %s is ignored", variable)
