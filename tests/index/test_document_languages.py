"""Documents in other languages than English: named or recognised, found by their words, and embedders refused."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.language_texts import TEXTS
from trivium.cli.app import app
from trivium.embedding.manifest import english_only
from trivium.engine import Engine
from trivium.errors import ConfigurationError, InputError
from trivium.index.document_languages import localised
from trivium.serialization import report_json
from trivium.testing import HashEmbedder
from trivium.text.languages import StoreLanguages

ASKED = {
    "de": ("Wo steht das Haus des Wärters?", "haus"),
    "fr": ("Où est la maison du gardien ?", "maison"),
    "es": ("¿Dónde está la casa del guardián?", "cas"),
    "it": ("Dov'è la casa del guardiano?", "cas"),
    "nl": ("Waar staat het huis van de wachter?", "wachter"),
    "pt": ("Onde fica a casa do guarda?", "cas"),
    "zh": ("守塔人的房子在哪里？", "房子"),
}
"""A question with other forms of the text's words, and one of its terms."""
OTHER = {
    "de": "Der Garten hinter dem Bahnhof ist das ganze Jahr für alle geöffnet, die einen Schlüssel haben.",
    "fr": "Le jardin derrière la gare est ouvert toute l'année pour ceux qui ont une clé.",
    "es": "El jardín detrás de la estación está abierto todo el año para los que tienen una llave.",
    "it": "Il giardino dietro la stazione è aperto tutto l'anno per chi ha una chiave.",
    "nl": "De tuin achter het station is het hele jaar open voor wie een sleutel heeft.",
    "pt": "O jardim atrás da estação está aberto todo o ano para quem tem uma chave.",
    "zh": "车站后面的花园全年开放。",
}


def _build(folder: Path, language: str | None, texts: dict[str, str]) -> Engine:
    sources = folder / "sources"
    sources.mkdir(exist_ok=True)
    for name, text in texts.items():
        (sources / f"{name}.txt").write_text(text, "utf-8")
        os.utime(sources / f"{name}.txt", (1_000_000_000, 1_000_000_000))
    engine = Engine.create(folder / "store", embedder=HashEmbedder())
    engine.build([sources], workers=1, sentences=False, language=language)
    return engine


@pytest.mark.parametrize("language", list(ASKED))
def test_other_forms_of_words_are_found_and_function_words_do_not_count(
    tmp_path: Path, language: str
) -> None:
    """The page that has the question's words is found, not the one that only has its function words."""
    question, term = ASKED[language]
    with _build(tmp_path, language, {"tower": TEXTS[language], "garden": OTHER[language]}) as engine:
        assert engine.store.languages == language
        assert term in engine.searcher.query(question).terms
        hits = engine.search(question, retrievers=["lexical"])
        assert [hit.page for hit in hits] == ["tower"]
        assert {hit.page for hit in engine.ask(question).passages} == {"tower", "garden"}


def test_documents_of_a_mixed_folder_are_recognised_one_by_one(tmp_path: Path) -> None:
    """Each has the terms of its language; a question is asked in all of them."""
    with _build(tmp_path, "auto", {f"tower {code}": TEXTS[code] for code in ("en", "de", "fr")}) as engine:
        kept = StoreLanguages.read(engine.store.languages)
        assert kept.detect
        assert set(kept.codes) == {"en", "de", "fr"}
        by_uri = {page.uri: page for page in engine.store.page_graphs()}
        assert "haus" in by_uri["tower de"].chunks[0].terms.split()
        assert "hous" not in by_uri["tower en"].chunks[0].terms.split()
        assert engine.search("Das Haus der Wärter", retrievers=["lexical"])[0].page == "tower de"
        assert engine.search("Who lived in the lighthouse?", retrievers=["lexical"])[0].page == "tower en"
        assert engine.search("les maisons d'un gardien", retrievers=["lexical"])[0].page == "tower fr"


def test_english_documents_are_as_they_were(tmp_path: Path) -> None:
    """Named, recognised or neither: the same pages with the same hashes, and the store keeps nothing."""
    found = []
    for number, language in enumerate((None, "en", "auto")):
        folder = tmp_path / str(number)
        folder.mkdir()
        with _build(folder, language, {"tower": TEXTS["en"]}) as engine:
            (page,) = engine.store.page_graphs()
            found.append((page.chunks, page.content_hash, page.metadata))
            assert engine.store.languages == (None if language != "auto" else "auto en")
    assert found[0] == found[1] == found[2]
    assert localised(page, "en") is page


def test_the_same_build_again_changes_nothing_and_another_language_replaces(tmp_path: Path) -> None:
    """A page's hash changes with its language, so that terms are never those of another one."""
    with _build(tmp_path, "de", {"tower": TEXTS["de"]}) as engine:
        sources = [tmp_path / "sources"]
        assert engine.build(sources, language="de").unchanged == 1
        assert engine.build(sources).unchanged == 1  # the store's own
        assert engine.build(sources, language="fr").replaced == 1
        assert engine.store.languages == "de fr"


def test_records_keep_their_language_when_new_titles_give_them_links(tmp_path: Path) -> None:
    """They are made again from their texts."""
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    first.write_text(json.dumps({"title": "Turm", "text": TEXTS["de"]}), "utf-8")
    second.write_text(json.dumps({"title": "Hafen", "text": OTHER["de"]}), "utf-8")
    with Engine.create(tmp_path / "store", embedder=HashEmbedder()) as engine:
        engine.build([first], language="de")
        assert engine.build([second]).relinked == 1
        pages = {page.uri: page for page in engine.store.page_graphs()}
        assert pages["Turm"].chunks[0].cites == ("Hafen",)
        assert "haus" in pages["Turm"].chunks[0].terms.split()


def test_an_embedder_for_english_is_refused_with_one_for_many_languages_named(tmp_path: Path) -> None:
    """Before anything is loaded; without embedding it may be named for later, and knowingly it is used."""
    (tmp_path / "tower.txt").write_text(TEXTS["de"], "utf-8")
    with Engine.create(tmp_path / "store", "minilm") as engine:
        with pytest.raises(
            ConfigurationError,
            match=r"minilm knows English only.*German.*multilingual.*--no-embed.*--embedder minilm\)",
        ):
            engine.build([tmp_path / "tower.txt"], language="de")
        assert engine.store.count_pages() == 0
        assert engine.build([tmp_path / "tower.txt"], language="de", embed=False).added == 1
        with pytest.raises(ConfigurationError, match="minilm knows English only"):
            engine.build([tmp_path / "tower.txt"])
        with pytest.raises(InputError, match="expected a language"):
            engine.build([tmp_path / "tower.txt"], language="xx")


def test_at_the_command_line_whoever_names_an_embedder_for_english_gets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is only the default is refused; the store remembers."""
    monkeypatch.setenv("TRIVIUM_EMBEDDER", "minilm")
    (tmp_path / "tower.txt").write_text(TEXTS["de"], "utf-8")

    def run(*words: str) -> int:
        return CliRunner().invoke(app, [*words, "--store", str(tmp_path / "store")]).exit_code

    build = ("build", str(tmp_path / "tower.txt"), "--language", "de")
    assert run(*build) == 1 and not (tmp_path / "store").exists()
    assert run(*build, "--no-embed") == 0
    assert run("embed") == 1
    assert run("embed", "--embedder", "minilm") == 0 and run(*build) == 0
    with Engine.open(tmp_path / "store") as engine:
        assert engine.info().embedded > 0
    shutil.rmtree(tmp_path / "store")
    assert run(*build, "--embedder", "minilm") == 0
    shutil.rmtree(tmp_path / "store")
    assert run(*build, "--no-embed") == 0
    assert run(*build[:2]) == 1 and run(*build[:2], "--embedder", "minilm") == 0, (
        "the language is the store's"
    )


def test_a_store_of_english_documents_keeps_no_choice_of_an_embedder_for_english(tmp_path: Path) -> None:
    """German documents that come later are refused as ever."""
    (tmp_path / "english.txt").write_text(TEXTS["en"], "utf-8")
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([tmp_path / "english.txt"], any_embedder=True, sentences=False)
        engine.indexer.embed(any_embedder=True)
        assert engine.store.languages is None
        with pytest.raises(ConfigurationError, match="minilm knows English only"):
            engine.build([tmp_path / "english.txt"], language="de")


def test_where_most_pages_turn_out_to_be_in_another_language_nothing_is_embedded(tmp_path: Path) -> None:
    """They are loaded, and wait for another embedder."""
    (tmp_path / "tower.txt").write_text(TEXTS["fr"], "utf-8")
    with Engine.create(tmp_path / "store", "minilm") as engine:
        with pytest.raises(
            ConfigurationError, match=r"most documents of the store are in French.*trivium embed"
        ):
            engine.build([tmp_path / "tower.txt"], language="auto")
        assert engine.store.count_pages() == 1
        assert engine.info().embedded == 0
        assert engine.store.embedder is None  # so that the embedder that is advised can be taken
    with Engine.open(tmp_path / "store", HashEmbedder()) as engine:
        assert engine.indexer.embed() > 0


def test_what_was_loaded_without_embedding_is_not_embedded_by_a_model_for_english_later(
    tmp_path: Path,
) -> None:
    """Unless somebody says so, which the store remembers for everything that comes later."""
    (tmp_path / "tower.txt").write_text(TEXTS["de"], "utf-8")
    (tmp_path / "garden.txt").write_text(OTHER["fr"], "utf-8")
    (tmp_path / "english.txt").write_text(TEXTS["en"], "utf-8")
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([tmp_path / "tower.txt"], language="de", embed=False)
        with pytest.raises(ConfigurationError, match=r"store are in German.*another store"):
            engine.indexer.embed()
        assert engine.info().embedded == 0
        assert [hit.page for hit in engine.search("Häuser", retrievers=["lexical"])] == ["tower"]
        assert engine.indexer.embed(any_embedder=True) > 0
    with Engine.open(tmp_path / "store") as engine:
        assert engine.build([tmp_path / "garden.txt"], language="fr", sentences=False).added == 1
        assert engine.build([tmp_path / "english.txt"], language="en", sentences=False).added == 1
        assert StoreLanguages.read(engine.store.languages) == StoreLanguages(("de", "fr", "en"), False, True)


@pytest.mark.parametrize(
    ("texts", "language", "likely"),
    [
        (("de", "de", "en"), None, "de"),
        (("de", "en", "en"), None, None),
        (("de", "fr", "en"), None, None),
        (("de", "de"), "de", None),
        (("de", "de"), "auto", None),
        (("de", "de"), "en", None),
    ],
)
def test_most_documents_in_a_language_that_nobody_named_are_told_of(
    tmp_path: Path, texts: tuple[str, ...], language: str | None, likely: str | None
) -> None:
    for number, code in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(f"{TEXTS[code]} {number}", "utf-8")
    with Engine.create(tmp_path / "store", HashEmbedder()) as engine:
        report = engine.build(sorted(tmp_path.glob("*.txt")), language=language, embed=False)
    assert report.likely_language == likely
    assert report_json(report)["hints"] == (
        []
        if likely is None
        else ["most documents look German: --language de or auto searches their words better"]
    )


def test_a_table_of_foreign_names_says_nothing_of_the_language(tmp_path: Path) -> None:
    rows = ["Neroli di Amalfi per la casa", "Rosa della Riviera e del mare", "Il cedro di Como con la menta"]
    (tmp_path / "soaps.csv").write_text(
        "Soap,Price,Left\n" + "".join(f"{row},4,no\n" for row in rows), "utf-8"
    )
    with Engine.create(tmp_path / "store", HashEmbedder()) as engine:
        assert engine.build([tmp_path / "soaps.csv"], embed=False).likely_language is None


@pytest.mark.parametrize(
    ("name", "english"),
    [
        ("bge-small", True),
        ("minilm", True),
        ("fastembed:BAAI/bge-small-en-v1.5", True),
        ("fastembed:sentence-transformers/all-MiniLM-L6-v2", True),
        ("fastembed:BAAI/bge-small-zh-v1.5", False),
        ("fastembed:sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", False),
        ("fastembed:intfloat/multilingual-e5-large", False),
        ("fastembed:jinaai/jina-embeddings-v2-base-en", True),
        ("openai:text-embedding-3-small", False),
        ("hash", False),
    ],
)
def test_embedders_for_english_are_known_by_name(name: str, english: bool) -> None:
    """Those of the package, and models whose names say so; of others it is unknown."""
    assert english_only(name) is english


@pytest.mark.parametrize("name", ["towns.md", "towns.html"])
def test_a_list_of_foreign_names_says_nothing_of_the_language(tmp_path: Path, name: str) -> None:
    towns = ["Palma del Rio", "Los Barrios", "La Union", "El Puerto de la Torre", "San Juan de los Reyes"]
    mark = "- {}\n" if name.endswith(".md") else "<li>{}</li>"
    items = "".join(map(mark.format, towns))
    (tmp_path / name).write_text(items if name.endswith(".md") else f"<h1>Towns</h1><ul>{items}</ul>")
    with Engine.create(tmp_path / "store", HashEmbedder()) as engine:
        assert engine.build([tmp_path / name], embed=False).likely_language is None
