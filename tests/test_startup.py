"""What starts fast stays fast: a process loads what it is asked for, and nothing else.

Told by what is loaded, not by seconds, which depend on who else works on the machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from trivium.cli.command_table import PANELS
from trivium.engine import Engine
from trivium.testing.toys import HashEmbedder

COMPUTES = {"numpy", "scipy", "tantivy", "usearch", "onnxruntime"}
ENGINE = {"trivium.engine", "trivium.settings.settings"}
NO_SEARCH_NEEDS = {
    *("scipy.sparse", "requests", "jinja2", "tarfile"),
    *("trivium.parser.html", "trivium.parser.sources", "trivium.parser.documents.front_matter"),
    *("trivium.index.indexer", "trivium.index.load", "trivium.checking", "trivium.graph.backup"),
    *("trivium.graph.dbpedia", "trivium.graph.neo4j_import", "trivium.graph.neo4j", "neo4j"),
    *(
        "trivium.live.fetch_pages",
        "trivium.live.result_cache",
        "trivium.live.arxiv",
        "trivium.live.mediawiki",
    ),
    *("trivium.answering.answer", "trivium.endpoints", "trivium.chunking.registry"),
    *("trivium.evaluation", "trivium.datasets", "trivium.synthetic", "trivium.training", "trivium.server"),
    *("tensorflow", "torch", "langchain_core", "fastapi", "openai", "datasets"),
}


def loaded_by(code: str, *arguments: str) -> set[str]:
    """The modules that a new process has loaded when it ends."""
    told = "import atexit, json, sys; atexit.register(lambda: sys.stderr.write('\\n' + json.dumps(list(sys.modules))))"
    done = subprocess.run(
        [sys.executable, "-c", f"{told}\n{code}", *arguments], capture_output=True, text=True, check=False
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


def loaded_by_command(*arguments: str) -> set[str]:
    return loaded_by("from trivium.__main__ import run; run()", *arguments)


@pytest.mark.parametrize("line", ["--version", "--help", "", "serch", "--nonsense"])
def test_what_needs_no_command_loads_none(line: str) -> None:
    loaded = loaded_by_command(*line.split())
    assert "trivium.cli.app" in loaded
    assert not loaded & (COMPUTES | ENGINE)
    assert not {name for name in loaded if name.startswith("trivium.cli.")} & _modules_of_commands()


@pytest.mark.parametrize("command", ["search", "stats", "ask"])
def test_a_command_that_asks_loads_nothing_that_fills_or_measures(command: str) -> None:
    loaded = loaded_by_command(command, "--help")
    assert f"trivium.cli.{command}" in loaded
    assert not loaded & (NO_SEARCH_NEEDS - {"trivium.parser.sources"})  # of which options name the formats
    assert not loaded & {"trivium.cli.build", "trivium.cli.evaluate", "trivium.cli.synthesize", "yaml"}


@pytest.mark.parametrize("command", ["compare", "leaderboard", "keys", "train"])
def test_a_command_without_a_store_loads_no_engine(command: str) -> None:
    loaded = loaded_by_command(command, "--help")
    module = {"compare": "compare_runs", "leaderboard": "compare_runs"}.get(command, command)
    assert f"trivium.cli.{module}" in loaded and "trivium.engine" not in loaded


def test_a_search_loads_neither_what_fills_a_store_nor_what_answers(tmp_path: Path) -> None:
    (tmp_path / "mars.md").write_text("# Mars\n\nMars has two moons.\n", "utf-8")
    with Engine.create(tmp_path / "store", HashEmbedder()) as engine:
        engine.build([tmp_path / "mars.md"])
    opened = (
        "from trivium import Engine; from trivium.testing.toys import HashEmbedder\n"
        f"engine = Engine.open({str(tmp_path / 'store')!r}, HashEmbedder())\n"
    )
    for named in (["lexical"], None):
        searched = f"assert engine.search('moons of Mars', retrievers={named!r}); print('found')"
        assert not loaded_by(opened + searched) & (NO_SEARCH_NEEDS | {"yaml", "scipy"})


def test_nothing_but_training_needs_scipy(tmp_path: Path) -> None:
    (tmp_path / "mars.md").write_text("# Mars\n\nMars has two moons.\n", "utf-8")
    code = f"""
import sys
sys.modules["scipy"] = None
from trivium import Engine
from trivium.testing.toys import HashEmbedder
with Engine.create({str(tmp_path / "store")!r}, HashEmbedder()) as engine:
    engine.build([{str(tmp_path / "mars.md")!r}])
    assert engine.search("moons of Mars") and engine.ask("moons of Mars").text
"""
    assert not {name for name in loaded_by(code) if name.startswith("scipy.")}


REMOTE = {f"trivium.parser.sources.{name}" for name in ("arxiv", "huggingface", "mediawiki", "web", "zim")}
SELDOM = {
    *("ray", "requests", "trivium.graph.neo4j_import", "trivium.graph.dbpedia", "trivium.graph.neo4j"),
    *("trivium.chunking.agentic", "trivium.chunking.semantic", "trivium.parser.sources.natural_questions"),
    *("trivium.index.load_questions", "trivium.index.isolated_load", "trivium.index.ray_build"),
    *(
        "trivium.search.searcher",
        "trivium.fusion.network",
        "trivium.retrievers.walk",
        "trivium.live.extended_store",
    ),
}


def test_a_build_loads_what_its_documents_need(tmp_path: Path) -> None:
    """No cluster, no DBpedia, no remote source, no reader of another format."""
    (tmp_path / "mars.md").write_text("# Mars\n\nMars has two moons.\n", "utf-8")
    loaded = loaded_by_command(
        *("build", str(tmp_path / "mars.md"), "--store", str(tmp_path / "store"), "--no-embed", "--json")
    )
    assert {"trivium.index.load", "trivium.parser.documents.markdown"} <= loaded
    assert loaded & (REMOTE | SELDOM) == set()
    assert not {name for name in loaded if name.startswith("trivium.parser.documents.pdf")}


def test_a_server_loads_at_its_start_what_its_requests_need(tmp_path: Path) -> None:
    """Nobody waits for it within a request."""
    (tmp_path / "mars.md").write_text("# Mars\n\nMars has two moons.\n", "utf-8")
    with Engine.create(tmp_path / "store", HashEmbedder()) as engine:
        engine.build([tmp_path / "mars.md"])
    code = f"""
from trivium import Engine
from trivium.server.collection import Collection
from trivium.testing.toys import HashEmbedder
collection = Collection(Engine.open({str(tmp_path / "store")!r}, HashEmbedder()), readers=1)
collection.open(follow=False)
collection.close()
"""
    needed = {
        "trivium.search.answers",
        "trivium.index.indexer",
        "trivium.parser.html",
        "trivium.live.fetch_pages",
    }
    assert needed | {"trivium.live.arxiv", "requests", "jinja2"} <= loaded_by(code)


def test_every_part_of_an_engine_is_there_when_it_is_used(tmp_path: Path) -> None:
    """In one process that has used none of them, from several threads at once."""
    (tmp_path / "mars.md").write_text("# Mars\n\nMars has two moons.\n", "utf-8")
    code = f"""
from concurrent.futures import ThreadPoolExecutor
from trivium import Engine
from trivium.testing.toys import HashEmbedder
folder = {str(tmp_path)!r}
with Engine.create(f"{{folder}}/store", HashEmbedder()) as engine:
    engine.build([f"{{folder}}/mars.md"])
    engine.backup(f"{{folder}}/copy")
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: engine.ask("moons of Mars").text, range(8)))
        sound = list(threads.map(lambda _: not engine.check().findings, range(2)))
    assert len(set(answers)) == 1 and all(sound), (answers, sound)
Engine.restore(f"{{folder}}/copy", f"{{folder}}/restored")
print("fine")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "fine\n", done.stderr


def test_an_interrupt_while_a_command_is_loaded_ends_without_a_traceback() -> None:
    code = """
import sys
class Interrupts:
    def find_spec(self, name, path, target=None):
        if name == "trivium.cli.search":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupts())
from trivium.__main__ import run
run()
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "search", "moons"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 130 and "Traceback" not in done.stderr


def _modules_of_commands() -> set[str]:
    return {
        f"trivium.cli.{place.partition('.')[0]}"
        for commands in PANELS.values()
        for place in commands.values()
    }


FIRST_USE = """
import sys
from importlib import import_module
from trivium.engine import LATER, Engine
from trivium.live.source import LiveDocument
from trivium.testing.toys import HashEmbedder

class Source:
    name, format, results, key = "own", "text", 3, ""
    def search(self, query, results, seconds):
        return [LiveDocument("https://example.org/phobos", "Phobos", "Phobos is a moon of Mars.")]

for name in LATER:
    import_module(name)
store, document = sys.argv[1:]
with Engine.open(store, HashEmbedder(), live=[Source()]) as engine:
    engine.search("moons of Mars")
    before = set(sys.modules)
    assert engine.ask("How many moons has Mars?").text
    assert not engine.build([document], isolated=True).problems
    assert engine.search("moons of Mars", sources=["own"])
    assert engine.ask("How many moons has Mars?", sources=["own"]).text
    assert engine.remove(["Io"])
    print(*(name for name in sys.modules if name not in before and name.startswith("trivium.")))
"""


def test_whoever_loads_before_what_an_engine_needs_later_has_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a server does: no answer, change or live source loads anything of the package then."""
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path / "home"))
    (tmp_path / "mars.md").write_text("# Mars\n\nMars has two moons.\n", "utf-8")
    (tmp_path / "io.html").write_text("<title>Io</title><h1>Io</h1><p>Io is a moon of Jupiter.", "utf-8")
    with Engine.create(tmp_path / "store", HashEmbedder()) as engine:
        engine.build([tmp_path / "mars.md"])
    done = subprocess.run(
        [sys.executable, "-c", FIRST_USE, tmp_path / "store", tmp_path / "io.html"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_a_process_that_embeds_reports_to_nobody(tmp_path: Path) -> None:
    """onnxruntime would number the device in the cache of its user and queue reports there, which it sends later."""
    code = "from trivium.embedding.registry import open_embedder; open_embedder('minilm').embed_query('Mars')"
    alone = {"HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=alone, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert [str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()] == []
