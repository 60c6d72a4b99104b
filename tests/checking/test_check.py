"""Damage to a store in a folder is found, said in words, and repaired as far as it can be."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import pytest

from tests.checking.stores import SOURCES, Embedder, execute, make_store, open_store
from tests.fakes.flips import FOUND, HARMLESS, flip, flip_bits
from trivium.checking.report import CheckReport
from trivium.embedding.embedder import Vectors
from trivium.errors import EmbeddingError, StoreFormatError
from trivium.graph.check_findings import Finding, Severity
from trivium.graph.page_graph import QuestionNode
from trivium.graph.schema import page_of

QUESTION = "Who discovered the moons of Mars?"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that stays undamaged."""
    folder = tmp_path_factory.mktemp("kept") / "store"
    make_store(folder)
    return folder


@pytest.fixture
def folder(kept: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(kept, tmp_path / "store"))


def check(folder: Path, *, repair: bool = False, full: bool = True) -> CheckReport:
    with open_store(folder) as engine:
        return engine.check(repair=repair, full=full)


def answers(folder: Path) -> object:
    with open_store(folder) as engine:
        return (
            [(hit.uri, hit.score, hit.text) for hit in engine.search(QUESTION, k=5)],
            list(engine.store.page_graphs()),
            engine.store.types(),
        )


def test_a_store_as_it_was_built_is_well(folder: Path) -> None:
    """Everything was looked at."""
    report = check(folder)
    assert report.ok
    assert report.findings == ()
    assert report.checked["pages"] == 2
    assert report.checked["chunks"] > 10
    assert report.checked["vectors compared"] > 80


def test_a_flipped_bit_is_found_or_changes_nothing(kept: Path, tmp_path: Path) -> None:
    """Anywhere in the files of a store; reading it ends in an error of the package or not at all."""
    outcomes = flip_bits(kept, tmp_path, Embedder, count=30, seed=22)
    assert min(outcomes[FOUND], outcomes[HARMLESS]) >= 5


def _last_bit(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


ONE_CHUNK = "WHERE id = (SELECT max(id) FROM chunk)"
DAMAGED_PAGES = {
    "the text of a chunk": f"UPDATE chunk SET text = text || '.' {ONE_CHUNK}",
    "the kind of a chunk": f"UPDATE chunk SET kind = 'list' {ONE_CHUNK}",
    "where a chunk begins": f"UPDATE chunk SET start_char = start_char + 1 {ONE_CHUNK}",
    "the terms of a chunk": f"UPDATE chunk SET terms = 'x' || substr(terms, 2) {ONE_CHUNK}",
    "the number of its terms": f"UPDATE chunk SET term_count = term_count + 1 {ONE_CHUNK}",
    "the text of a page": "UPDATE page SET text = replace(text, 'e', 'f') WHERE id = (SELECT max(page_id) FROM chunk)",
    "the source of a page": "UPDATE page SET source = '' WHERE id = (SELECT max(page_id) FROM chunk)",
    "the level of a section": "UPDATE section SET level = 2 WHERE id = (SELECT max(id) FROM section WHERE level = 1)",
    "what a chunk cites": "DELETE FROM citation WHERE chunk_id = (SELECT max(chunk_id) FROM citation)",
}


@pytest.mark.parametrize("damage", DAMAGED_PAGES)
def test_a_damaged_page_is_named_and_whole_again_when_it_is_loaded_again(
    folder: Path, kept: Path, damage: str
) -> None:
    """A repair cannot make up what it said, but sees to it that the same source replaces it."""
    assert execute(folder, DAMAGED_PAGES[damage]) > 0
    (page,) = {uri for finding in check(folder).findings if finding.kind == "page" for uri in finding.where}
    left = check(folder, repair=True)
    assert not left.ok
    assert page in {uri for finding in left.findings for uri in finding.where}
    assert all("again" in finding.remedy for finding in left.findings)
    with open_store(folder) as engine:
        assert engine.build(SOURCES, workers=1).replaced == 1
        engine.store.set_types({"Deimos (moon)": "moon"})
        engine.indexer.embed()
    assert check(folder).ok
    assert answers(folder) == answers(kept)


def test_a_damaged_question_is_named_and_taken_out(folder: Path) -> None:
    """It is made again from its row; so is one that no chunk answers any more."""
    with open_store(folder) as engine:
        (chunk, other, *_) = engine.store.chunk_uris()
        page = page_of(chunk)
        asked = [QuestionNode(f"nq-{n}", f"question {n}", ("x",), (chunk, other)) for n in range(3)]
        assert engine.store.put_questions({page: asked}) == 3
    assert check(folder).ok
    damage = (
        "UPDATE question SET text = 'question 7' WHERE uri = 'nq-1'",
        "CREATE TEMP TABLE lost AS SELECT id FROM question WHERE uri = 'nq-2'",
        "DROP TRIGGER answer_went",
        "DELETE FROM answer WHERE question_id IN (SELECT id FROM lost)",
        "CREATE TRIGGER answer_went AFTER DELETE ON answer BEGIN\n    DELETE FROM question WHERE id = OLD.question_id\n"
        "    AND NOT EXISTS (SELECT 1 FROM answer WHERE question_id = OLD.question_id);\nEND",
    )
    execute(folder, *damage)
    (finding,) = check(folder).findings
    assert (finding.kind, finding.where) == ("question", ("nq-1", "nq-2"))
    assert check(folder, repair=True).ok
    with open_store(folder) as engine:
        assert engine.store.info().nodes["Question"] == 1
        assert engine.store.put_questions({page: asked}) == 2
    assert check(folder).findings == ()


REPAIRED = {
    "a vector": ("vector", "UPDATE vector SET data = flipped(data) WHERE id = (SELECT min(id) FROM vector)"),
    "vectors of sentences": (
        "vector",
        "UPDATE sentences SET data = flipped(data)"
        " WHERE text_id = (SELECT max(text_id) FROM sentences WHERE length(data) > 0)",
    ),
    "a checksum that is gone": ("vector", "DELETE FROM vector_sum WHERE text_id = 3"),
    "the forms of a title": ("lookup", "DELETE FROM lookup WHERE form = 'asaph hall'"),
    "where an alias leads": ("leftovers", "UPDATE name SET leads_to = NULL WHERE uri = 'Hall (astronomer)'"),
    "what nothing mentions": ("leftovers", "INSERT INTO name (uri) VALUES ('Nowhere')"),
    "a page that is not listed": (
        "page_uri",
        "DELETE FROM page_uri WHERE page_id = (SELECT max(id) FROM page)",
    ),
    "a page listed as another": (
        "page_uri",
        "UPDATE page_uri SET uri = 'Q' WHERE page_id = (SELECT max(id) FROM page)",
    ),
    "which numbers were given": (
        "sqlite_sequence",
        "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'chunk'",
    ),
    "two vectors exchanged": (
        "vector of another text",
        "CREATE TEMP TABLE two AS SELECT text_id, data FROM vector WHERE text_id IN (3, 4)",
        "UPDATE vector SET data = (SELECT data FROM two WHERE text_id = 7 - vector.text_id) WHERE text_id IN (3, 4)",
        "UPDATE vector_sum SET crc = crc32((SELECT data FROM vector WHERE text_id = vector_sum.text_id))"
        " WHERE text_id IN (3, 4)",
    ),
}
"""Damage -> the kind of the finding, or the table of derived rows that it names; and the statements that do it."""


def _named(findings: Sequence[Finding]) -> set[str]:
    return {
        name
        for finding in findings
        for name in (finding.where if finding.kind == "derived rows" else [finding.kind])
    }


@pytest.mark.parametrize("damage", REPAIRED)
def test_what_follows_from_the_pages_is_repaired(folder: Path, kept: Path, damage: str) -> None:
    """It is found, made again, and answers are as before."""
    kind, *statements = REPAIRED[damage]
    assert execute(folder, *statements, flipped=_last_bit, crc32=crc32) > 0
    if "text" in kind:
        shutil.rmtree(folder / "index")  # which still has the right ones
    found = check(folder)
    assert not found.ok
    assert kind in _named(found.findings)
    repaired = check(folder, repair=True)
    assert repaired.ok
    assert kind in _named(repaired.repaired)
    assert check(folder).findings == ()
    assert answers(folder) == answers(kept)


def test_derived_files_are_made_again(folder: Path, kept: Path) -> None:
    """Also where their size and time are those that were noted."""
    (matrix,) = folder.glob("index/*/matrix.npy")
    flip(matrix, matrix.stat().st_size - 1, 6)
    (finding,) = check(folder).findings
    assert (finding.severity, finding.where) == (Severity.STALE, (str(matrix.relative_to(folder)),))
    assert check(folder, repair=True).ok
    assert answers(folder) == answers(kept)


def test_an_index_of_the_database_that_lost_an_entry_is_made_again(folder: Path, kept: Path) -> None:
    """Without it, the rows are there and cannot be found."""
    execute(
        folder,
        "PRAGMA writable_schema = ON",
        "CREATE TABLE other (text_id INTEGER, id INTEGER)",
        "CREATE INDEX of_other ON other (text_id)",
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'of_other')"
        " WHERE name = 'chunk_text'",
    )
    execute(folder, "PRAGMA writable_schema = ON", "DELETE FROM sqlite_schema WHERE tbl_name = 'other'")
    found = check(folder)
    assert [finding.severity for finding in found.findings] == [Severity.BROKEN] * len(found.findings)
    assert "wrong # of entries in index chunk_text" in str(found.findings)


@pytest.mark.parametrize("what", ["text", "vector", "sentences"])
def test_damage_that_is_read_is_an_error_that_says_the_way_out(folder: Path, what: str) -> None:
    """A text that is shown, vectors that an index is made of, sentences that are compared."""
    if what == "text":
        execute(folder, "UPDATE chunk SET text = text || '.'")
    else:
        execute(folder, f"UPDATE {what} SET data = flipped(data) WHERE length(data) > 0", flipped=_last_bit)
        shutil.rmtree(folder / "index")
    with (
        open_store(folder) as engine,
        pytest.raises(StoreFormatError, match=r"damaged.*trivium check STORE --repair"),
    ):
        engine.search(QUESTION)


def test_what_the_store_knows_of_its_embedder_is_summed(folder: Path) -> None:
    """Another dimension or name would be believed."""
    execute(folder, "UPDATE meta SET value = replace(value, '\"1\"', '\"2\"') WHERE key = 'embedder'")
    with pytest.raises(StoreFormatError, match="what the store knows of its embedder is damaged"):
        open_store(folder)


def test_a_model_that_fails_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one does whose files are not those that were published, which loading it finds out."""

    def fail(embedder: Embedder, texts: Sequence[str]) -> Vectors:
        raise EmbeddingError("model.onnx has another sha256; run  trivium models install minilm")

    monkeypatch.setattr(Embedder, "embed", fail)
    (finding,) = check(folder).findings
    assert (finding.kind, finding.severity) == ("embedder", Severity.DAMAGE)
    assert "trivium models install minilm" in finding.problem


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "trivium", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )


def test_the_command_says_what_is_wrong_and_ends_with_1(folder: Path) -> None:
    """Where the database is malformed, too: never a traceback, and the way out is named."""
    database = (folder / "graph.db").read_bytes()
    (folder / "graph.db").write_bytes(database[:8192] + os.urandom(8192 * 4) + database[8192 * 5 :])
    shutil.rmtree(folder / "index")
    searched = run("search", QUESTION, "--store", folder)
    assert searched.returncode == 1
    assert "Traceback" not in searched.stderr
    assert "is damaged" in searched.stderr
    assert "restore a backup" in searched.stderr
    checked = run("check", folder, "--json")
    assert checked.returncode == 1
    report = json.loads(checked.stdout)
    assert not report["ok"]
    assert report["findings"][0]["severity"] == "broken"
