"""A wrong command line says what was given, and what was probably meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Result, Run
from trivium.datasets.questions import EXAMPLE

GOLD = f"{EXAMPLE}\n"


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the machine is set up for."""
    for name in ("TRIVIUM_STORE", "TRIVIUM_CHAT_MODEL", "TRIVIUM_CHAT_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def place(sample_store: Path, tmp_path: Path) -> Path:
    """A folder with a store called ``demo-store``."""
    (tmp_path / "demo-store").symlink_to(sample_store)
    return tmp_path


def told(result: Result) -> str:
    """What stderr says, without the frame around it."""
    return " ".join(result.err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("export demo-store", "Missing argument 'FOLDER'"),
        ("list demo-store demo-store", "did you mean --store demo-store?"),
        ("stats --json demo-store", "did you mean --store demo-store?"),
        ("list other", "got only PATTERN, 'other'"),
        ("--store demo-store search Mars", "as in trivium COMMAND --store"),
        ("check demo-store --store demo-store", "expected the store once, got demo-store and demo-store"),
        ("backup demo-store", "expected STORE and FILE, got only the store demo-store"),
        ("backup a b --store c", "expected the store once, got a and c"),
        ("restore a", "expected a new or empty folder"),
    ],
)
def test_a_store_in_a_wrong_place_is_told_where_it_goes(
    trivium: Run, place: Path, line: str, said: str
) -> None:
    result = trivium(*line.split(), cwd=place)
    assert (result.code, result.out) == (2, "") and said in told(result), told(result)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("stats demo-store", "demo-store\n"),
        ("list demo-store", "51 documents"),
        ("list Mars demo-store", "\n1 document\n"),
        ("search demo-store Phobos --k 1", "Phobos (moon)"),
        ("search Phobos demo-store --k 1", "Phobos (moon)"),
    ],
)
def test_a_store_among_the_arguments_is_taken(trivium: Run, place: Path, line: str, said: str) -> None:
    """Where none is named in any other way; an ``--option VALUE`` keeps its value."""
    result = trivium(*line.split(), cwd=place)
    assert result.code == 0 and said in result.out, told(result)


def test_commands_that_take_the_store_first_take_it_as_an_option_too(trivium: Run, place: Path) -> None:
    """Wherever the option stands."""
    assert trivium("check", "-s", "demo-store", "--json", cwd=place).json["store"] == "demo-store"
    assert trivium("backup", "b", "--store", "demo-store", cwd=place).code == 0
    assert trivium("restore", "b", "--store", "again", cwd=place).code == 0
    assert trivium("stats", "--store", "again", "--json", cwd=place).json["nodes"]["Page"] >= 40


def test_questions_without_gold_are_an_error_and_not_a_table_of_dashes(trivium: Run, place: Path) -> None:
    """Where some have gold, the others are listed as before."""
    without = '{"question": "Who?"}\n{"question": "Where?", "page": "Nowhere", "answers": ["x"]}\n'
    (place / "bad.jsonl").write_text(without)
    (place / "some.jsonl").write_text(without + GOLD)
    asked = ["evaluate", "--store", "demo-store", "-r", "lexical"]
    none = trivium(*asked, "bad.jsonl", "--runs", "runs", cwd=place)
    assert (none.code, none.out) == (1, "") and not (place / "runs").exists()
    assert "none of the 2 questions has its gold in this store" in told(none)
    assert "1: the page is not in the store" in told(none) and "docs/howto/evaluate.md" in told(none)
    as_json = trivium(*asked, "bad.jsonl", "--json", cwd=place)
    assert as_json.code == 1 and as_json.json["traced"] == 0
    some = trivium(*asked, "some.jsonl", cwd=place)
    assert some.code == 0 and "1 of 3 questions traced" in some.out


def test_the_example_in_the_message_about_question_files_is_right(trivium: Run, place: Path) -> None:
    """The line that messages show can be pasted into a file and measured on the sample."""
    (place / "bad.txt").write_text("Who is it?\n")
    refused = told(trivium("evaluate", "bad.txt", "--store", "demo-store", cwd=place))
    assert "bad.txt, line 1: expected a JSON object" in refused and "'Who is it?'" in refused
    assert GOLD.strip() in refused
    (place / "good.jsonl").write_text(GOLD)
    good = trivium("evaluate", "good.jsonl", "--store", "demo-store", "-r", "lexical", "--json", cwd=place)
    assert good.json["traced"] == 1


def test_an_unknown_provider_is_no_model_of_openai(trivium: Run, place: Path) -> None:
    """Not even with its key in the environment; a server that is named may have such a model."""
    asked = ["ask", "Who?", "--store", "demo-store", "--model", "foo:bar"]
    refused = trivium(*asked, cwd=place, OPENAI_API_KEY="key")
    assert refused.code == 2 and "unknown provider 'foo'" in told(refused)
    assert "openai:NAME" in told(refused) and "TRIVIUM_CHAT_BASE_URL" in told(refused)


def test_compare_says_which_file_is_missing(trivium: Run, tmp_path: Path) -> None:
    """The runs first, with those that may have been meant, then the judgements."""
    (tmp_path / "a.run").write_text("q Q0 c 1 0.5 a\n")
    (tmp_path / "b.run").write_text("q Q0 c 1 0.5 b\n")
    (tmp_path / "runs").mkdir()
    for runs, said in (
        (["a", "b.run"], "a: expected a run file, as trivium evaluate --runs DIR writes them, got no such file; did you"
         " mean a.run?"),
        (["a.run", "runs"], "runs: expected a run file, as trivium evaluate --runs DIR writes them, got a folder"),
        (["a.run", "b.run"], "qrels.txt: expected relevance judgements beside a.run"),
    ):  # fmt: skip
        refused = trivium("compare", *runs, cwd=tmp_path)
        assert refused.code == 1 and said in told(refused) and "Errno" not in refused.err


def test_a_build_of_nothing_names_the_file_as_given(trivium: Run, tmp_path: Path) -> None:
    """And a file that is not what its name says."""
    (tmp_path / "bad.jsonl").write_text("junk{")
    (tmp_path / "fake.pdf").write_bytes(b"\x93\0\1abc")
    (tmp_path / "text.docx").write_text("plain text")
    for file, said in (
        ("bad.jsonl", "(bad.jsonl: its name and content are of no format"),
        ("fake.pdf", "(fake.pdf: expected a PDF file, as its name ends in .pdf, got another binary file)"),
        ("text.docx", "expected a DOCX file, as its name ends in .docx, got text that begins 'plain text'"),
    ):
        refused = trivium("build", file, "--store", "new", cwd=tmp_path)
        assert refused.code == 1 and said in told(refused), told(refused)


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("file", "expected a new or empty folder for the store, got the file file"),
        ("full", "got full, with other files in it"),
        ("file/x", "a store cannot be made at file/x: Not a directory"),
        pytest.param(
            "/proc/x",
            "a store cannot be made at /proc/x: No such file or directory",
            marks=pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc"),
        ),
    ],
)
def test_a_store_that_cannot_be_made_says_why(trivium: Run, tmp_path: Path, store: str, said: str) -> None:
    (tmp_path / "note.md").write_text("# Note\n\nText.\n")
    (tmp_path / "file").write_text("x")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")
    refused = trivium("build", "note.md", "--store", store, "--no-embed", cwd=tmp_path)
    assert refused.code == 1 and said in told(refused), told(refused)
