"""Settings come from the environment and trivium.toml, and what is unknown or malformed is said."""

from __future__ import annotations

import json
import logging
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.errors import ConfigurationError
from trivium.settings import settings as module
from trivium.settings.domain import Domain, Term
from trivium.settings.limits import InputLimits
from trivium.settings.settings import load_settings


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty working directory and no variable that matters."""
    for name in list(os.environ):
        if name.startswith(("TRIVIUM_", "OPENAI_")) or name == "XDG_CACHE_HOME":
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_defaults_need_nothing() -> None:
    """Without any configuration there are usable settings, and no key."""
    settings = load_settings()
    assert settings.home == Path.home() / ".cache" / "trivium"
    assert (settings.embedder, settings.openai_api_key, settings.workers) == (None, None, None)
    assert settings.openai_base_url == "https://api.openai.com/v1"


def test_what_changed_is_read_again_and_nothing_else(monkeypatch: pytest.MonkeyPatch, bare: Path) -> None:
    """The variables, the file, and the folder that it is in. An error is not remembered."""
    settings = load_settings()
    assert load_settings() is settings
    monkeypatch.setenv("TRIVIUM_WORKERS", "3")
    assert load_settings().workers == 3
    monkeypatch.delenv("TRIVIUM_WORKERS")
    assert load_settings() == settings
    (bare / "trivium.toml").write_text("workers = 4\n")
    assert load_settings().workers == 4
    (bare / "trivium.toml").write_text("workers = 5\n")
    assert (load_settings().workers, load_settings(workers=6).workers) == (5, 6)
    (bare / "trivium.toml").write_text("workers = 'many'\n")
    for _ in range(2):
        with pytest.raises(ConfigurationError, match="workers"):
            load_settings()
    (bare / "elsewhere").mkdir()
    monkeypatch.chdir(bare / "elsewhere")
    assert load_settings() == settings


def test_a_folder_that_has_been_removed_has_no_file(monkeypatch: pytest.MonkeyPatch, bare: Path) -> None:
    (bare / "gone").mkdir()
    monkeypatch.chdir(bare / "gone")
    (bare / "gone").rmdir()
    assert load_settings().workers is None


def test_a_file_that_is_written_to_meanwhile_is_read_again(
    monkeypatch: pytest.MonkeyPatch, bare: Path
) -> None:
    """What was read last is not taken for what the file contains."""
    file = bare / "trivium.toml"
    file.write_text("workers = 4\n")
    check = module._check_variables

    def written_meanwhile(*given: Any) -> None:
        file.write_text("workers = 5\n")
        check(*given)

    with monkeypatch.context() as patch:
        patch.setattr(module, "_check_variables", written_meanwhile)
        assert load_settings().workers == 5
    file.write_text("workers = 4\n")
    assert load_settings().workers == 4


def test_home_follows_the_xdg_cache_unless_it_is_relative(monkeypatch: pytest.MonkeyPatch) -> None:
    """XDG_CACHE_HOME moves the home; a relative value is ignored, as its specification says."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/caches")
    assert load_settings().home == Path("/var/caches/trivium")
    monkeypatch.setenv("XDG_CACHE_HOME", "caches")
    assert load_settings().home == Path.home() / ".cache" / "trivium"


def test_the_environment_wins_over_the_file(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value in both is taken from the environment; one only in the file is kept."""
    (bare / "trivium.toml").write_text('embedder = "minilm"\nworkers = 3\nhome = "~/elsewhere"\n')
    monkeypatch.setenv("TRIVIUM_EMBEDDER", "bge-small")
    settings = load_settings()
    assert (settings.embedder, settings.workers) == ("bge-small", 3)
    assert settings.home == Path.home() / "elsewhere"


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    """TRIVIUM_WORKERS= is how a shell says nothing."""
    monkeypatch.setenv("TRIVIUM_WORKERS", "")
    assert load_settings().workers is None


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "TRIVIUM_OPENAI_API_KEY"])
def test_the_openai_key_has_two_names_and_is_never_shown(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both variables are read, and the key is in no repr."""
    monkeypatch.setenv(variable, "sk-hidden")
    settings = load_settings()
    assert settings.openai_api_key is not None
    assert settings.openai_api_key.get_secret_value() == "sk-hidden"
    assert "sk-hidden" not in repr(settings) + str(settings)


def test_our_own_variable_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    """TRIVIUM_OPENAI_BASE_URL comes before OPENAI_BASE_URL."""
    monkeypatch.setenv("OPENAI_BASE_URL", "https://a.example/v1")
    assert load_settings().openai_base_url == "https://a.example/v1"
    monkeypatch.setenv("TRIVIUM_OPENAI_BASE_URL", "https://b.example/v1")
    assert load_settings().openai_base_url == "https://b.example/v1"


def test_the_file_may_name_the_fields_that_have_aliases(bare: Path) -> None:
    """Keys of trivium.toml are the field names."""
    (bare / "trivium.toml").write_text('openai_base_url = "http://localhost:9/v1"\n')
    assert load_settings().openai_base_url == "http://localhost:9/v1"


def test_an_unknown_key_of_the_file_is_refused_with_a_suggestion(bare: Path) -> None:
    """A misspelt key does not silently do nothing."""
    (bare / "trivium.toml").write_text('embeder = "minilm"\n')
    with pytest.raises(ConfigurationError, match=r"embeder: .*did you mean embedder\?"):
        load_settings()


def test_a_misspelt_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """TRIVIUM_EMBEDER is an error that names the right one."""
    monkeypatch.setenv("TRIVIUM_EMBEDER", "minilm")
    with pytest.raises(ConfigurationError, match="did you mean TRIVIUM_EMBEDDER"):
        load_settings()


def test_an_unrelated_variable_is_only_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Something else may use the prefix; it is mentioned."""
    monkeypatch.setenv("TRIVIUM_QUIZ_NIGHT", "friday")
    with caplog.at_level(logging.WARNING):
        load_settings()
    assert "TRIVIUM_QUIZ_NIGHT" in caplog.text


def test_settings_that_are_gone_are_ignored_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, bare: Path
) -> None:
    """In the environment and in the file, for one release."""
    monkeypatch.setenv("TRIVIUM_ARXIV_RESULTS", "5")
    (bare / "trivium.toml").write_text("arxiv_days = 3\nworkers = 2\n")
    assert not module.WITHDRAWN.keys() & module.Settings.model_fields.keys()
    with caplog.at_level(logging.WARNING):
        assert load_settings().workers == 2
    assert "TRIVIUM_ARXIV_RESULTS is gone and ignored: 30 papers are read" in caplog.text
    assert "arxiv_days is gone and ignored" in caplog.text


def test_variables_for_the_tests_are_nobodys_mistake(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """They are set all the time while one works on the package."""
    monkeypatch.setenv("TRIVIUM_TEST_NEO4J_5", "server.json")
    with caplog.at_level(logging.WARNING):
        load_settings()
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TRIVIUM_WORKERS", "0"),
        ("TRIVIUM_WORKERS", "many"),
        ("TRIVIUM_OPENAI_BASE_URL", "ftp://x"),
        ("TRIVIUM_OPENAI_BASE_URL", "https://user:secret@x.example"),
        ("TRIVIUM_CHAT_CONTEXT_TOKENS", "-1"),
        ("TRIVIUM_RETRIEVERS", "{secret}"),
    ],
)
def test_a_malformed_value_is_refused_without_repeating_it(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the setting, not its value, which may hold a credential."""
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    assert variable.removeprefix("TRIVIUM_").lower() in str(caught.value).lower()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("content", [b"workers = ", b"\xff\xfe\x00"])
def test_a_file_that_is_not_toml_is_an_error(bare: Path, content: bytes) -> None:
    """Damage is reported with the path of the file."""
    (bare / "trivium.toml").write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"trivium\.toml is not TOML"):
        load_settings()


def test_settings_do_not_change() -> None:
    """Settings are values."""
    with pytest.raises(ValueError, match="frozen"):
        load_settings().workers = 3


def test_limits_are_a_table_in_the_file_and_json_in_the_environment(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not named keeps its default; what is unknown is refused."""
    (bare / "trivium.toml").write_text("[limits]\nseconds = 5\n")
    limits = load_settings().limits
    assert (limits.seconds, limits.pages) == (5, 10_000)
    monkeypatch.setenv("TRIVIUM_LIMITS", '{"tag": 7}')
    with pytest.raises(ConfigurationError, match=r"limits\.tag"):
        load_settings()


def test_a_limit_that_is_no_setting_any_more_is_ignored_with_a_warning(
    bare: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (bare / "trivium.toml").write_text("[limits]\nseconds = 5\ntags = 7\n")
    assert load_settings().limits == InputLimits(seconds=5)
    assert "limits.tags is gone and ignored: it is 1000000" in caplog.text


def test_what_the_collection_is_about_is_a_table_in_the_file_and_json_in_the_environment(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Terms are taken apart at their first colon; the environment wins by key; named styles have a table."""
    (bare / "trivium.toml").write_text(
        '[conversation]\nterms = ["EKS: Elastic Kubernetes Service", " URL :https://x.example"]\n'
        'scope = "the handbook of ACME"\n[prompts]\nhouse = "styles/house.toml"\n'
    )
    settings = load_settings()
    assert settings.conversation.glossary == (
        Term("EKS", "Elastic Kubernetes Service"),
        Term("URL", "https://x.example"),
    )
    assert settings.conversation.scope == "the handbook of ACME"
    assert settings.prompts == {"house": Path("styles/house.toml")}
    monkeypatch.setenv("TRIVIUM_CONVERSATION", '{"terms": []}')
    assert load_settings().conversation == Domain(scope="the handbook of ACME")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ('{"terms": ["EKS"]}', 'terms.0: .*such as "EKS: Elastic'),
        ('{"terms": ["EKS: "]}', "a term and its meaning"),
        ('{"terms": ["EKS: Elastic\\nKubernetes"]}', "a meaning in one line"),
        ('{"terms": ["E\\u001bKS: Elastic"]}', "a term in one line"),
        (json.dumps({"terms": ["E" * 41 + ": x"]}), "at most 40 characters, got 41"),
        (json.dumps({"terms": ["E: " + "x" * 201]}), "at most 200 characters, got 201"),
        (json.dumps({"terms": [f"E{i}: x" for i in range(201)]}), "at most 200 items"),
        ('{"terms": ["EKS: a", "eks: b"]}', "'eks' twice"),
        ('{"terms": [7]}', "terms.0"),
        ('{"scope": " "}', "a scope in one line"),
        (json.dumps({"scope": "x" * 201}), "at most 200 characters"),
        ('{"topic": "x"}', "conversation.topic"),
    ],
)
def test_what_is_wrong_with_terms_and_scope_is_said(
    value: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIVIUM_CONVERSATION", value)
    with pytest.raises(ConfigurationError, match=says):
        load_settings()


@pytest.mark.parametrize("name", ["../x", "a.toml", "", "x" * 65])
def test_names_of_styles_are_no_paths(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_PROMPTS", json.dumps({name: "x.toml"}))
    with pytest.raises(ConfigurationError, match="prompts"):
        load_settings()


@given(
    st.text(max_size=200), st.lists(st.text(min_size=1, max_size=6).filter(lambda t: t.isalnum()), max_size=4)
)
def test_expanding_a_text_only_adds_meanings(text: str, names: list[str]) -> None:
    """In brackets, behind the terms; without them the text is as it was, and it is not expanded twice."""
    distinct = {name.casefold(): name for name in names}
    domain = Domain(terms=tuple(f"{name}: MEANING{place}!" for place, name in enumerate(distinct.values())))
    expanded = domain.expand(text)
    assert re.sub(r" \(MEANING\d+!\)", "", expanded) == text or "MEANING" in text.upper()
    assert domain.expand(expanded) == expanded or "meaning" in distinct
