"""Options that several commands share: settings of retrievers, the default store, parts of installed packages; what is
wrong with them; and what a terminal shows."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.e2e.conftest import Result, Run, run_trivium
from tests.fakes.packages import install_package
from trivium.cli.app import main
from trivium.graph.schema import headings_of
from trivium.sample import question_files
from trivium.text.headings_in_passages import body_of

QUESTION = "Who discovered the moons of Mars?"
WALK = ["search", QUESTION, "--retriever", "walk", "--json"]


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the machine is set up for."""
    for name in ("TRIVIUM_STORE", "TRIVIUM_PATH_SELECTOR", "TRIVIUM_RETRIEVERS", "TRIVIUM_CHAT_MODEL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def few_questions(tmp_path: Path) -> Path:
    """The first questions of the sample."""
    file = tmp_path / "few.jsonl"
    file.write_text("\n".join(question_files()[0].read_text("utf-8").splitlines()[:4]), "utf-8")
    return file


def test_a_setting_holds_from_the_command_line_and_from_the_file(
    trivium: Run, sample_store: Path, tmp_path: Path
) -> None:
    """The command line wins over trivium.toml, which also names the store."""
    default = trivium(*WALK, "--store", sample_store).json
    changed = trivium(*WALK, "--store", sample_store, "--set", "walk.damping=0.4").json
    assert changed != default
    (tmp_path / "trivium.toml").write_text(
        f"store = {json.dumps(str(sample_store))}\n[retrievers.walk]\ndamping = 0.4\n", "utf-8"
    )
    assert trivium(*WALK, cwd=tmp_path).json == changed
    assert trivium(*WALK, "--set", "walk.damping=0.5", cwd=tmp_path).json == default


def test_the_store_may_be_left_out_where_the_settings_name_one(
    trivium: Run, sample_store: Path, tmp_path: Path, few_questions: Path
) -> None:
    """In the environment, which wins over trivium.toml; --store wins over both."""
    (tmp_path / "trivium.toml").write_text('store = "nowhere"\n', "utf-8")
    known = {"cwd": tmp_path, "TRIVIUM_STORE": str(sample_store)}
    assert trivium("stats", "--json", **known).json["nodes"]["Page"] >= 40
    report = trivium("evaluate", few_questions, "-r", "lexical", "--json", **known).json
    assert report["questions"] == 4
    assert "nowhere" in trivium("stats", cwd=tmp_path).err
    assert "elsewhere" in trivium("stats", "--store", "elsewhere", **known).err


def test_every_way_to_ask_takes_settings(
    trivium: Run, sample_store: Path, tmp_path: Path, few_questions: Path
) -> None:
    """Answers are made of other passages; they are measured, too."""
    store = ["--store", sample_store]
    asked = ["ask", QUESTION, *store, "--retriever", "walk", "--json"]
    changed = trivium(*asked, "--set", "walk.damping=0.1").json["passages"]
    assert trivium(*asked).json["passages"] != changed
    judged = ["evaluate", few_questions, *store, "-r", "walk", "--json"]
    assert trivium(*judged).json["traced"] == trivium(*judged, "--set", "walk.damping=0.1").json["traced"]


PARTS = """
from dataclasses import dataclass
from trivium.fusion.rrf import ReciprocalRank
from trivium.retrievers.vector_retrievers import VectorRetriever

@dataclass(frozen=True)
class Mine:
    inner: VectorRetriever
    name: str = "mine"

    def retrieve(self, query, depth=None):
        return self.inner.retrieve(query, depth)

    def score(self, query, chunks):
        return self.inner.score(query, chunks)

class Everything:
    def select(self, question, options):
        return list(options)

def retriever(settings):
    if settings.keys() - {"size"}:
        raise ValueError(f"unknown setting {', '.join(settings)}")
    return Mine(VectorRetriever())

def fusion(embedder):
    return ReciprocalRank(constant=1.0, name="steep")

def selector(settings):
    return Everything()
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with a retriever, a fusion and a selector."""
    site = tmp_path / "site"
    site.mkdir()
    install_package(site, "parts_one", {"mine": "parts_one:retriever"}, PARTS, group="trivium.retrievers")
    install_package(site, "parts_two", {"steep": "parts_one:fusion"}, "", group="trivium.fusions")
    install_package(site, "parts_three", {"all": "parts_one:selector"}, "", group="trivium.selectors")
    monkeypatch.setenv("PYTHONPATH", f"{site}:{Path.cwd()}")


@pytest.mark.usefixtures("installed")
def test_parts_of_installed_packages_go_by_name(
    trivium: Run, fresh_trivium: Run, sample_store: Path, few_questions: Path
) -> None:
    """In lists too, and with settings of their own. An interpreter finds packages when it starts."""
    found = ["search", QUESTION, "--store", sample_store, "--json", "--retriever"]
    own = fresh_trivium(*found, "mine", "--set", "mine.size=3").json["hits"]
    vector = trivium(*found, "vector").json["hits"]
    assert [hit["uri"] for hit in own] == [hit["uri"] for hit in vector]
    assert list(own[0]["provenance"]) == ["mine"]
    both = fresh_trivium(*found, "vector", "mine", "--fusion", "steep", "--explain").json["hits"]
    assert set(both[0]["contributions"]) == {"vector", "mine"} and both[0]["score"] == 1.0
    everything = fresh_trivium(*found, "path", TRIVIUM_PATH_SELECTOR="all").json["hits"]
    assert everything != trivium(*found, "path").json["hits"]
    rows = fresh_trivium(
        "evaluate", few_questions, "--store", sample_store, "-r", "lexical,mine", "-f", "steep", "--json"
    ).json["rows"]  # fmt: skip
    assert list(rows) == ["lexical", "mine", "steep"]
    wrong = fresh_trivium(*found, "mine", "--set", "mine.colour=red")
    assert wrong.code == 2 and "unknown setting colour" in told(wrong)


WRONG = [
    (["--retriever", "telepathy"], "unknown retriever telepathy"),
    (["--fusion", "cold"], "unknown fusion 'cold'"),
    (["--set", "walk.dampin=0.4"], "did you mean walk.damping?"),
    (["--set", "walk.damping=much"], "walk.damping: "),
    (["--set", "walk.damping=2"], "walk.damping: "),
    (["--set", "walk"], "expected a setting as KEY=VALUE"),
]


@pytest.mark.parametrize("command", [["search", "Mars"], ["ask", "Mars"], ["evaluate", "Q"]], ids=" ".join)
def test_a_wrong_value_is_a_wrong_argument(
    command: list[str],
    sample_store: Path,
    few_questions: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """It ends every command with 2 and says what there is; nothing is made."""
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    given = [str(few_questions) if word == "Q" else word for word in command]
    for options, said in WRONG:
        with pytest.raises(SystemExit) as ended:
            main([*given, "--store", str(sample_store), *options])
        result = Result(int(ended.value.code or 0), *capfd.readouterr())
        assert (result.code, result.out) == (2, ""), options
        assert said in told(result) and "Traceback" not in result.err
    assert sorted(tmp_path.iterdir()) == before


def told(result: Result) -> str:
    """What stderr says, without the frame around it."""
    return " ".join(result.err.replace("│", " ").split())


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_lacks_characters_gets_question_marks(
    trivium_process: Run, sample_store: Path, encoding: str
) -> None:
    """JSON keeps every character, as an escape; errors and help are shown too."""
    arguments = ["search", "When did Asaph Hall live? ☿", "--store", sample_store]
    arguments += ["--rank", *map(str, range(1, 11))]
    shown = trivium_process(*arguments, PYTHONIOENCODING=encoding)
    assert (shown.code, shown.err) == (0, "")
    assert "Asaph Hall ? Life" in shown.out
    assert shown.out.startswith("When did Asaph Hall live? ?\n") and "????" in shown.out
    exact = trivium_process(*arguments, "--json").json
    assert trivium_process(*arguments, "--json", PYTHONIOENCODING=encoding).json == exact
    wrong = trivium_process("stats", "--store", "Šťuř", PYTHONIOENCODING=encoding)
    assert wrong.code == 1 and "?" in wrong.err and "Traceback" not in wrong.err
    assert trivium_process("search", "--help", PYTHONIOENCODING=encoding).code == 0


def at_a_terminal(*arguments: str | Path) -> list[str]:
    """Lines that a command prints at a terminal of 80 columns, without their styles. Started anew: consoles are made
    when the command is imported."""
    shown = run_trivium(sys.executable, *arguments, COLUMNS="80", TTY_COMPATIBLE="1", TERM="dumb")
    assert shown.code == 0, shown.err
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.out).splitlines()


def test_ten_explained_hits_fit_a_screen_and_one_is_shown_in_full(trivium: Run, sample_store: Path) -> None:
    """A line each at 80 columns, with rank, probability, place and reasons; scores of one retriever are no
    probabilities; ``--rank`` has the whole text and what moved it."""
    asked = ["search", QUESTION, "--store", sample_store]
    first, *lines = at_a_terminal(*asked, "--explain")
    assert first == QUESTION and len(lines) == 10
    assert [int(line.split()[0]) for line in lines] == list(range(1, 11))
    assert all(cell_len(line) <= 80 and " %  " in line for line in lines)
    assert "Mars › History of" in lines[0] and "near in meaning" in lines[0]
    alone = trivium(*asked, "--retriever", "lexical", "--explain").out.splitlines()
    assert " %" not in alone[1] and alone[1].endswith("  its words match")

    hits = trivium(*asked, "--explain", "--json").json["hits"]
    full = trivium(*asked, "--rank", "1", "3").out
    for hit in (hits[0], hits[2]):
        assert hit["uri"] in full and all(line in full for line in hit["text"].splitlines())
    assert full.count("what moved it up or down") == 2 and "log-odds" not in full
    assert full.count(" up   █") >= 4
    assert trivium(*asked, "--rank", "12").out.splitlines()[2].startswith("12  ")
    ranked = trivium(*asked, "--rank", "3", "--json").json["hits"]
    assert [hit["uri"] for hit in ranked] == [hits[2]["uri"]] and ranked[0]["contributions"]
    wrong = trivium(*asked, "--rank", "9999")
    assert wrong.code == 2 and "there are no more passages" in told(wrong)


def test_passages_can_be_read_at_a_terminal_and_are_whole_in_a_pipe(trivium: Run, sample_store: Path) -> None:
    """Three lines of text at most, each within the width; in a pipe a line has all of it, below its headings."""
    asked = ["search", QUESTION, "--store", sample_store, "--k", "5"]
    lines = at_a_terminal(*asked)
    assert all(cell_len(line) <= 80 for line in lines) and len(lines) <= 1 + 5 * 5
    piped = trivium(*asked).out.splitlines()
    assert len(piped) == 1 + 5 * 3
    for hit in trivium(*asked, "--json").json["hits"]:
        body = body_of(hit["text"], headings_of(hit["section"]))
        assert f"    {' / '.join(filter(None, body.splitlines()))}" in piped


def test_limits_can_be_set_where_documents_are_loaded(trivium: Run, tmp_path: Path) -> None:
    """For that run; names and values are checked before anything is made."""
    (tmp_path / "long.txt").write_text("The lighthouse was painted white. " * 100, "utf-8")
    store = tmp_path / "store"
    build = ["build", tmp_path / "long.txt", "--store", store, "--no-embed"]
    refused = trivium(*build, "--set", "limits.document_bytes=1000")
    assert refused.code == 1 and "is larger than" in refused.err and not store.exists()
    wrong = {
        "limits.document_byte=1000": "did you mean limits.document_bytes",
        "limits.document_bytes=many": "limits.document_bytes",
        "limits.pages=0": "limits.pages",
        "walk.dampin=0.4": "did you mean walk.damping",
        "document_bytes=1000": "limits.document_bytes",
        "document_bytes": "KEY=VALUE",
    }
    for assignment, said in wrong.items():
        result = trivium(*build, "--set", assignment)
        assert result.code == 2 and said in " ".join(result.err.replace("│", " ").split()), (
            assignment,
            result.err,
        )
    assert not store.exists()
    assert trivium(*build, "--set", "limits.file_bytes=none", "--set", "walk.damping=0.4").code == 0
    assert trivium(*build, "--set", "limits.pages=10").code == 0
    gone = trivium(*build, "--set", "index.expansion_search=64")
    assert gone.code == 0 and "index.expansion_search is gone and ignored" in gone.err
