"""The command line does what its help says, on the sample encyclopaedia."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import Run
from tests.fakes.disks import make_read_only, small_disk
from tests.fakes.openai_server import OpenAIServer, chat
from tests.fakes.pdf_writer import PdfFile
from tests.waiting import until
from trivium.embedding.manifest import manifest
from trivium.sample import pages_folder, question_files

HIT_FIELDS = {
    "uri", "text", "score", "rank", "page", "section", "kind", "start", "end", "contributions", "provenance",
    "baseline", "probability", "document", "pages", "format", "metadata", "live", "rerank_score",
    "named",
}  # fmt: skip
RETRIEVERS = ["vector", "page", "section", "entity", "path", "lexical", "diffusion", "walk"]
QUESTION = "Who discovered the moons of Mars?"


def test_search_prints_every_field_of_the_contract(trivium: Run, sample_store: Path) -> None:
    hits = trivium("search", QUESTION, "--store", sample_store, "--k", "5", "--json").json["hits"]
    assert [hit["rank"] for hit in hits] == [1, 2, 3, 4, 5]
    assert all(set(hit) == HIT_FIELDS for hit in hits)
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    assert "Asaph Hall" in hits[0]["text"]


@pytest.mark.parametrize("k", ["1", "10"])
def test_passages_that_are_only_the_nearest_are_said_to_be(trivium: Run, sample_store: Path, k: str) -> None:
    """As an answer says that there is none; not where one retriever is asked for its own view."""
    absent = "Who won the football World Cup of 2014?"
    told = trivium("search", absent, "--store", sample_store, "-k", k, "--json").json
    assert len(told["hits"]) == int(k) and "only the nearest" in told["warnings"][0]
    assert trivium("ask", absent, "--store", sample_store, "--json").json["outcome"] == "absent"
    shown = trivium("search", absent, "--store", sample_store, "-k", k)
    assert "none of these passages seems to be about the question" in shown.err
    for question, options in ((QUESTION, []), ("moons of Mars", []), (absent, ["--retriever", "vector"])):
        found = trivium("search", question, "--store", sample_store, "-k", k, "--json", *options).json
        assert "warnings" not in found


def test_the_same_question_gives_the_same_answer_process_after_process(
    fresh_trivium: Run, sample_store: Path
) -> None:
    first, second = (
        fresh_trivium("search", QUESTION, "--store", sample_store, "--explain", "--json").out for _ in "ab"
    )
    assert first == second


def test_an_explanation_adds_up_and_names_what_led_there(trivium: Run, sample_store: Path) -> None:
    hits = trivium("search", QUESTION, "--store", sample_store, "--explain", "--json").json["hits"]
    for hit in hits:
        assert set(hit["contributions"]) == set(RETRIEVERS)
        assert hit["baseline"] + sum(hit["contributions"].values()) == pytest.approx(
            hit["score"], rel=1e-4, abs=1e-4
        )
        assert hit["provenance"]
    shown = trivium("search", QUESTION, "--store", sample_store, "--rank", "2").out
    assert "compared with the other passages" in shown and "vector" in shown


@pytest.mark.parametrize("name", RETRIEVERS)
def test_each_retriever_can_be_asked_alone(trivium: Run, sample_store: Path, name: str) -> None:
    hits = trivium("search", QUESTION, "--store", sample_store, "--retriever", name, "--json").json["hits"]
    assert hits
    assert all(list(hit["provenance"]) == [name] for hit in hits)


def test_a_language_model_can_pick_the_path(
    trivium: Run, sample_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what was offered counts: the same question gets the chunks of the place it names, or nothing."""
    arguments = [
        "search",
        QUESTION,
        "--store",
        sample_store,
        "--retriever",
        "path",
        "--json",
    ]
    with OpenAIServer() as server:
        server.script.extend([chat("1"), chat("Olympus#Zeus")])
        monkeypatch.setenv("TRIVIUM_PATH_SELECTOR", "llm")
        monkeypatch.setenv("TRIVIUM_CHAT_MODEL", "scripted")
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", server.base_url)
        picked = trivium(*arguments).json["hits"]
        invented = trivium(*arguments).json["hits"]
    assert picked and len({hit["provenance"]["path"] for hit in picked}) == 1
    assert invented == []
    monkeypatch.delenv("TRIVIUM_CHAT_MODEL")
    without = trivium(*arguments)
    assert without.code == 1 and "TRIVIUM_CHAT_MODEL" in without.err


def test_several_retrievers_can_be_named_in_every_usual_way(trivium: Run, sample_store: Path) -> None:
    ways = [
        ["--retriever", "vector", "--retriever", "walk"],
        ["--retriever", "vector", "walk"],
        ["--retriever", "vector,walk"],
    ]
    answers = [trivium("search", *way, QUESTION, "--store", sample_store, "--json").out for way in ways]
    assert answers[0] == answers[1] == answers[2]
    assert {v for hit in json.loads(answers[0])["hits"] for v in hit["provenance"]} <= {"vector", "walk"}


def test_offsets_cite_the_plain_text_of_the_page(trivium: Run, sample_store: Path) -> None:
    from trivium import Engine

    with Engine.open(sample_store) as engine:
        for hit in engine.search(QUESTION, k=10):
            assert engine.store.page_text(hit.page)[hit.start : hit.end] == hit.text


def test_evaluate_prints_all_retrievers_and_default(trivium: Run, sample_store: Path, tmp_path: Path) -> None:
    result = trivium(
        "evaluate", question_files()[0], "--store", sample_store, "--runs", tmp_path / "runs", "--json"
    )
    report = result.json
    assert list(report["rows"]) == [*RETRIEVERS, "default"]
    assert report["questions"] == report["traced"] >= 120
    assert report["rows"]["default"]["hit@5"] > 0.7
    assert {"hit@1", "recall@5", "all@5"} <= set(report["rows"]["vector"])
    assert (tmp_path / "runs" / "qrels.txt").exists()


def test_evaluate_prints_exactly_what_was_named(trivium: Run, sample_store: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(question_files()[0].read_text("utf-8").splitlines()[:5]), "utf-8")
    rows = trivium(
        "evaluate", few, "--store", sample_store, "--retriever", "vector", "--fusion", "rrf", "--json"
    ).json["rows"]  # fmt: skip
    assert list(rows) == ["vector", "rrf"]


def test_the_sample_keeps_its_promises(trivium: Run, sample_store: Path) -> None:
    """At least 40 pages, 500 links between them, 120 single-hop and 60 two-hop questions, all traceable."""
    stats = trivium("stats", "--store", sample_store, "--json").json
    assert stats["nodes"]["Page"] >= 40
    assert stats["embedder"] == "minilm" and stats["to_embed"] == 0
    questions = [
        json.loads(line) for path in question_files() for line in path.read_text("utf-8").splitlines()
    ]
    assert sum(q["hops"] == 1 for q in questions) >= 120
    assert sum(q["hops"] == 2 for q in questions) >= 60
    for path in question_files():
        report = trivium("evaluate", path, "--store", sample_store, "--retriever", "lexical", "--json").json
        assert report["traced"] == report["questions"]


def test_building_again_changes_nothing(trivium: Run, own_store: Path) -> None:
    before = trivium("stats", "--store", own_store, "--json").json
    again = trivium("build", pages_folder(), "--store", own_store, "--json").json
    assert again["pages"]["added"] == again["pages"]["replaced"] == 0
    assert again["pages"]["unchanged"] == before["nodes"]["Page"]
    after = trivium("stats", "--store", own_store, "--json").json
    assert after == before


def test_a_removed_page_is_gone_and_comes_back_with_add(trivium: Run, own_store: Path) -> None:
    before = trivium("stats", "--store", own_store, "--json").json
    removed = trivium("remove", "Mars", "--store", own_store, "--json").json
    assert removed["removed"] == ["Mars"]
    assert removed["nodes"]["Page"] == before["nodes"]["Page"] - 1
    hits = trivium("search", QUESTION, "--store", own_store, "--json").json["hits"]
    assert hits and all(hit["page"] != "Mars" for hit in hits)
    added = trivium("add", pages_folder() / "Mars.html", "--store", own_store, "--json")
    assert added.json["pages"]["added"] == 1
    assert trivium("stats", "--store", own_store, "--json").json == before


def test_a_page_that_cannot_be_read_is_reported_and_the_others_are_loaded(
    trivium: Run, tmp_path: Path
) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    shutil.copy(pages_folder() / "Mars.html", pages)
    (pages / "empty.html").write_text("")
    (pages / "noise.html").write_bytes(bytes(range(256)) * 40)
    result = trivium("build", pages, "--store", tmp_path / "store", "--no-embed", "--json")
    assert result.code == 3
    assert sorted(Path(problem["location"]).name for problem in result.json["problems"]) == [
        "empty.html",
        "noise.html",
    ]
    assert all(problem["reason"] for problem in result.json["problems"])
    assert result.json["nodes"]["Page"] == 1


def test_the_embedder_named_at_the_build_is_the_one_that_embeds_later(trivium: Run, tmp_path: Path) -> None:
    store = tmp_path / "store"
    page = pages_folder() / "Mars.html"
    built = trivium("build", page, "--store", store, "--embedder", "minilm", "--no-embed", "--json").json
    assert built["embedder"] == "minilm" and built["embedded"] == 0
    assert trivium("embed", "--store", store, "--json").json["embedder"] == "minilm"
    wrong = trivium("build", page, "--store", tmp_path / "other", "--embedder", "nosuch", "--no-embed")
    assert wrong.code == 2 and "minilm" in wrong.err and not (tmp_path / "other").exists()


def test_a_title_may_be_written_with_underscores(trivium: Run, own_store: Path) -> None:
    assert trivium("remove", "Asaph_Hall", "--store", own_store, "--json").json["removed"] == ["Asaph Hall"]


def test_an_interrupted_build_says_so_and_goes_on_from_there(trivium: Run, tmp_path: Path) -> None:
    """SIGINT while it embeds: exit code 130, and the next run embeds only what is left."""
    store, pages = tmp_path / "store", tmp_path / "pages"
    pages.mkdir()
    for page in sorted(pages_folder().iterdir())[:8]:
        shutil.copy(page, pages)
    command = [sys.executable, "-m", "trivium", "build", str(pages), "--store", str(store)]
    slowly = {**os.environ, "TRIVIUM_WORKERS": "1"}
    running = subprocess.Popen(
        [*command, "--embedder", "minilm"], stderr=subprocess.PIPE, text=True, env=slowly
    )
    for _ in range(600):
        time.sleep(0.1)
        if (store / "graph.db").exists() and trivium("stats", "--store", store, "--json").json[
            "embedded"
        ] > 0:
            break
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130 and "interrupted" in err and "Traceback" not in err
    left = trivium("stats", "--store", store, "--json").json
    assert left["to_embed"] > 0 and left["sentences_to_embed"] > 0
    whole = left["embedded"] + left["to_embed"]
    told = (
        f"{left['to_embed']} of {whole} texts are not embedded yet: unless a build is at work, run "
        " trivium embed --store STORE"
    )
    assert trivium("search", "moons", "--store", store, "--json").json["warnings"] == [told]
    checked = trivium("check", store)
    assert checked.code == 0 and f"warning: {told.replace('STORE', str(store))}" in checked.err
    done = trivium("embed", "--store", store, "--json").json
    assert done["texts"] == left["to_embed"]


def test_an_addition_says_what_it_embeds_beside_its_own_texts(trivium: Run, tmp_path: Path) -> None:
    """What an earlier load left: here a chunk and a page, and the sentences of the passage."""
    for title in ("Mars", "Venus", "Vulcan"):
        record = {"title": title, "text": f"{title} is a planet. It has no name of its own."}
        (tmp_path / f"{title}.jsonl").write_text(json.dumps(record) + "\n", "utf-8")
    store = tmp_path / "store"
    words = "also embedding what was not embedded before"
    first = trivium("build", tmp_path / "Mars.jsonl", "--store", store, "--embedder", "minilm", "--no-embed")
    assert first.code == 0 and words not in first.err
    added = trivium("add", tmp_path / "Venus.jsonl", "--store", store)
    assert added.code == 0, added.err
    assert f"{words}: 2 texts and the sentences of 1 passage\n" in added.err
    assert words not in trivium("add", tmp_path / "Vulcan.jsonl", "--store", store).err


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads processes from /proc")
@pytest.mark.parametrize("group", [False, True])
def test_a_build_that_is_interrupted_while_it_parses_ends_soon_and_says_what_is_there(
    tmp_path: Path, group: bool
) -> None:
    """Whether the interrupt goes to the command alone or, as of Ctrl-C, to all of its processes."""
    store, pages = tmp_path / "store", tmp_path / "pages"
    pages.mkdir()
    file = PdfFile()
    for number in range(300):
        file.page().lines(72, 700, [f"Line {line} of page {number} tells of the ridge" for line in range(40)])
    data = file.data()
    for number in range(8):
        (pages / f"ridge {number}.pdf").write_bytes(data)
    running = subprocess.Popen(
        [sys.executable, "-m", "trivium", "build", str(pages), "--store", str(store), "--no-embed"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TRIVIUM_WORKERS": "2"},
        start_new_session=True,
    )
    threads = Path(f"/proc/{running.pid}/task")
    until(
        lambda: len([child for each in threads.glob("*/children") for child in each.read_text().split()]) == 2
    )
    time.sleep(1)
    started = time.monotonic()
    (os.killpg if group else os.kill)(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert (running.returncode, store.exists()) == (130, False)
    assert "nothing was committed" in err and "Traceback" not in err
    assert time.monotonic() - started < 10


def test_a_store_is_embedded_later_and_says_so_until_then(trivium: Run, tmp_path: Path) -> None:
    store = tmp_path / "store"
    trivium("build", pages_folder() / "Mars.html", "--store", store, "--no-embed")
    early = trivium("search", QUESTION, "--store", store)
    assert early.code == 1 and "trivium embed" in early.err
    assert trivium("embed", "--store", store, "--embedder", "minilm", "--json").json["texts"] > 0
    assert trivium("search", QUESTION, "--store", store, "--json").json["hits"]
    assert trivium("embed", "--store", store, "--json").json["texts"] == 0


def test_sentences_are_left_to_later_where_it_is_asked_for(trivium: Run, tmp_path: Path) -> None:
    """The same store as one that was built whole, in two steps; a third finds nothing to do."""
    source = tmp_path / "records.jsonl"
    text = "Phobos is a moon of the planet Mars. It was found by Asaph Hall in 1877. It will fall one day."
    source.write_text(json.dumps({"title": "Phobos", "text": text}) + "\n")
    for store, more in (("whole", ()), ("later", ("--no-sentences",))):
        built = trivium("build", source, "--store", tmp_path / store, "--embedder", "minilm", "--json", *more)
        assert built.json["to_embed"] == 0

    def score(store: str) -> float:
        found = trivium("search", QUESTION, "--store", tmp_path / store, "--retriever", "vector", "--json")
        return float(found.json["hits"][0]["score"])

    before = score("later")
    done = trivium("embed", "--store", tmp_path / "later", "--json").json
    assert (done["texts"], done["sentences"]) == (0, 3)
    assert score("later") == score("whole") != before
    assert trivium("embed", "--store", tmp_path / "later", "--json").json["sentences"] == 0


def test_records_become_pages_that_link_to_each_other(trivium: Run, tmp_path: Path) -> None:
    records = [
        {"title": "Phobos", "text": "Phobos is a moon of the planet Mars."},
        {"title": "Mars", "text": "Mars is red. It was observed by Galileo Galilei."},
        {"title": "Mars", "text": "Mars has two moons."},
    ]
    source = tmp_path / "records.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in records))
    built = trivium("build", source, "--store", tmp_path / "store", "--embedder", "minilm", "--json").json
    assert (built["nodes"]["Page"], built["nodes"]["Chunk"]) == (2, 3)
    assert built["relationships"]["cites"] == 1
    more = tmp_path / "more.jsonl"
    more.write_text(json.dumps({"title": "Galileo Galilei", "text": "An astronomer from Pisa."}) + "\n")
    added = trivium("add", more, "--store", tmp_path / "store", "--json").json
    assert added["relationships"]["cites"] == 2, "an old record links to a title that came later"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["search", "q", "--store", "nowhere"], 1, "nowhere"),
        (["stats", "--store", "nowhere"], 1, "nowhere"),
        (["build", "nothing-here", "--store", "new"], 1, "nothing-here"),
        (["build"], 2, "SOURCE"),
        (["search", "q"], 2, "--store"),
        (["frobnicate"], 2, "frobnicate"),
        (["models", "install", "nosuch"], 2, "bge-small"),
    ],
)
def test_wrong_use_ends_with_a_clear_error(
    trivium: Run, tmp_path: Path, arguments: list[str], code: int, says: str
) -> None:
    result = trivium(*arguments, cwd=tmp_path)
    assert result.code == code
    assert says in result.err
    assert "Traceback" not in result.err
    assert list(tmp_path.iterdir()) in ([], [tmp_path / "new"])


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        (["--retriever", "telepathy"], "vector, page"),
        (["--fusion", "cold"], "default"),
        (["--k", "0"], "k"),
    ],
)
def test_a_search_with_wrong_names_says_what_is_there(
    trivium: Run, sample_store: Path, extra: list[str], says: str
) -> None:
    result = trivium("search", QUESTION, "--store", sample_store, *extra)
    assert result.code == 2 and says in result.err and "Traceback" not in result.err


def test_an_empty_question_is_refused(trivium: Run, sample_store: Path) -> None:
    result = trivium("search", "  ", "--store", sample_store)
    assert result.code == 2 and "question" in result.err


def test_another_embedder_than_the_stores_is_refused(trivium: Run, own_store: Path) -> None:
    result = trivium("embed", "--store", own_store, "--embedder", "bge-small")
    assert result.code == 1
    assert "minilm" in result.err and "bge-small" in result.err


def test_verifying_models_exits_1_where_one_is_damaged(trivium: Run, tmp_path: Path) -> None:
    """The intact ones are said too, and a search with the damaged one fails as clearly."""
    spec = manifest()["minilm"]
    folder = tmp_path / "models" / f"minilm-{spec.version}"
    intact = trivium("models", "verify", TRIVIUM_HOME=str(tmp_path))
    assert intact.code == 0 and "damaged" not in intact.out, intact.err
    assert [line.split()[-1] for line in intact.out.splitlines()] == [
        "intact"
    ] * 5  # and two fusions, each also for names
    folder.mkdir(parents=True)
    for name, file in spec.files.items():
        with (folder / name).open("wb") as stream:
            stream.truncate(file.size)
    damaged = trivium("models", "verify", "--json", TRIVIUM_HOME=str(tmp_path))
    assert damaged.code == 1
    problems = {model["name"]: model["problems"] for model in damaged.json["models"]}
    assert len(problems["minilm"]) == 2 and problems["fusion of minilm"] == []
    assert all(spec.files[name].sha256 in "".join(problems["minilm"]) for name in spec.files)


def test_models_lists_what_is_known(trivium: Run) -> None:
    known = {model["name"]: model for model in trivium("models", "list", "--json").json["models"]}
    assert known["minilm"]["installed"] is True
    assert "bge-small" in known


def test_a_store_on_a_read_only_file_system_is_searched_as_ever(
    trivium: Run, sample_store: Path, tmp_path: Path
) -> None:
    asked = ["search", "Who found the moons of Mars?", "--json", "--store"]
    expected = trivium(*asked, sample_store).json
    with small_disk(tmp_path / "disk", 200):
        store = tmp_path / "disk" / "store"
        shutil.copytree(sample_store, store)
        make_read_only(tmp_path / "disk")
        found = trivium(*asked, store)
        assert found.code == 0, found.err
        assert found.json == expected
        refused = trivium("remove", "Mars", "--store", store)
        assert refused.code == 1 and "read-only file system" in refused.err
