"""The front door: what may be handed in, and what is refused."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Generator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.fakes.chat_model import ScriptedModel
from trivium.common import stopping
from trivium.fusion.rrf import ReciprocalRank
from trivium.llm.chat_model import Reply, ReplyUsage
from trivium.search.stage_timing import StageEnded
from trivium.testing import HashEmbedder, toy_store
from trivium.testing.toys import TOY_RECORDS

QUESTION = "Who discovered the moons of Mars?"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy")
    toy_store(folder).close()
    return folder / "store"


@pytest.fixture
def engine(store: Path) -> Iterator[trivium.Engine]:
    with trivium.Engine.open(store, HashEmbedder()) as engine:
        yield engine


def test_an_embedder_of_ones_own_fills_and_searches_a_store(engine: trivium.Engine) -> None:
    assert engine.info().embedder == HashEmbedder().identity
    assert engine.pages() == sorted(title for title, _ in TOY_RECORDS)
    assert engine.search(QUESTION, k=1)[0].page in ("Asaph Hall", "Phobos", "Mars")


def test_another_embedder_is_refused(store: Path) -> None:
    with pytest.raises(trivium.EmbedderMismatchError, match="filled by hash"):
        trivium.Engine.open(store, "minilm")
    with (
        pytest.raises(trivium.EmbedderMismatchError, match="64 dimensions"),
        trivium.Engine.open(store, HashEmbedder(32)) as engine,
    ):
        engine.search(QUESTION)


def test_a_fusion_of_ones_own_is_the_default(store: Path) -> None:
    class Own(ReciprocalRank):
        pass

    own = Own(constant=1.0, name="own")
    with trivium.Engine.open(store, HashEmbedder(), fusion=own) as engine:
        assert [hit.score for hit in engine.search(QUESTION)] == [
            hit.score for hit in engine.search(QUESTION, fusion="own")
        ]
        assert engine.search(QUESTION)[0].score > engine.search(QUESTION, fusion="rrf")[0].score
        assert engine.searcher.fusions.get("own") is own


def test_settings_reach_the_retrievers(engine: trivium.Engine) -> None:
    """A walk that stops at once stays where it began."""
    usual = engine.search(QUESTION, retrievers=["walk"])
    changed = engine.search(QUESTION, retrievers=["walk"], settings={"walk.damping": 0.0})
    assert [hit.score for hit in usual] != [hit.score for hit in changed]


def test_settings_of_the_file_hold_until_others_are_given(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trivium.toml").write_text("[retrievers.vector]\nchunks = 2\n")
    monkeypatch.chdir(tmp_path)
    with trivium.Engine.open(store, HashEmbedder()) as engine:
        assert engine.searcher.retrievers.choose()["vector"].settings.chunks == 2  # type: ignore[attr-defined]
    with trivium.Engine.open(store, HashEmbedder(), settings={"vector.chunks": 3}) as engine:
        assert engine.searcher.retrievers.choose()["vector"].settings.chunks == 3  # type: ignore[attr-defined]


def test_every_stage_of_a_search_is_told(store: Path) -> None:
    ended: list[StageEnded] = []
    with trivium.Engine.open(store, HashEmbedder(), on_stage=ended.append) as engine:
        engine.search(QUESTION, retrievers=["vector", "lexical"], fusion="rrf")
    # Another thread may embed the question meanwhile, so the order is not always the same.
    assert sorted((stage.stage, stage.retriever) for stage in ended) == [
        ("embed", ""),
        ("fetch", ""),
        ("fuse", ""),
        ("fuse", ""),
        ("retrieve", "lexical"),
        ("retrieve", "vector"),
        ("score", "lexical"),
        ("score", "vector"),
    ]
    assert ended[-1].stage == "fetch"
    assert all(stage.seconds >= 0 for stage in ended)


def test_the_asynchronous_twins_answer_alike(engine: trivium.Engine) -> None:
    async def both() -> tuple[list[trivium.Hit], trivium.Answer]:
        return await engine.asearch(QUESTION, 3), await engine.aask(QUESTION, k=3)

    hits, answer = asyncio.run(both())
    assert hits == engine.search(QUESTION, 3) and answer == engine.ask(QUESTION, k=3)


@pytest.mark.parametrize("name", ["search", "ask", "ask_stream"])
def test_the_asynchronous_twins_take_the_same(name: str) -> None:
    """For type checkers, too: no option is of any type."""
    usual, twin = (inspect.signature(getattr(trivium.Engine, one)) for one in (name, f"a{name}"))
    assert twin.parameters == usual.parameters


def test_events_come_without_blocking_the_loop_and_are_those_of_the_stream(engine: trivium.Engine) -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def collect() -> list[trivium.AnswerEvent]:
        counting = asyncio.ensure_future(count())
        events = [event async for event in engine.aask_stream(QUESTION, k=3)]
        counting.cancel()
        return events

    assert asyncio.run(collect()) == list(engine.ask_stream(QUESTION, k=3))
    assert turns > 3, "other tasks ran meanwhile"


class Endless(ScriptedModel):
    """Goes on writing, a number every few milliseconds, until it is closed."""

    def stream(self, *_: Any, **__: Any) -> Reply:
        """Its pieces."""

        def pieces() -> Generator[str, None, ReplyUsage]:
            try:
                for number in range(10_000):
                    stopping.sleep(0.005)
                    yield f"{number} "
            finally:
                self.closed += 1
            return ReplyUsage(1, 1)

        return Reply(pieces())


def test_who_stops_reading_events_stops_the_model(engine: trivium.Engine) -> None:
    """Whether the generator is closed or its task is cancelled; and wrong options are raised."""
    model = Endless("", context_tokens=1_000_000)

    async def read_a_piece() -> None:
        async with aclosing(engine.aask_stream(QUESTION, model=model)) as events:
            assert [type(await anext(events)) for _ in range(2)] == [trivium.Found, trivium.Piece]

    async def be_cancelled() -> None:
        pieces = 0
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                async for event in engine.aask_stream(QUESTION, model=model):
                    pieces += isinstance(event, trivium.Piece)
        assert pieces > 0

    begin = time.monotonic()
    asyncio.run(read_a_piece())
    assert model.closed == 1
    asyncio.run(be_cancelled())
    assert model.closed == 2
    assert time.monotonic() - begin < 10, "it would have written for a minute"

    async def ask_wrongly() -> None:
        options: Any = {"warmth": 1}
        async for _ in engine.aask_stream(QUESTION, **options):
            pass

    with pytest.raises(trivium.InputError, match="ask has no option 'warmth'"):
        asyncio.run(ask_wrongly())


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda engine: engine.search(123), "expected a question as text, got int"),
        (lambda engine: engine.search(None), "expected a question as text"),
        (lambda engine: engine.search("  "), "needs some text"),
        (lambda engine: engine.search(QUESTION, "3"), "expected k as a whole number, got str"),
        (lambda engine: engine.search(QUESTION, 0), "k must be 1 or more"),
        (lambda engine: engine.search(QUESTION, 10**9), "at most 10,000, got 1,000,000,000"),
        (lambda engine: engine.ask(QUESTION, k=10**9), "at most 10,000"),
        (lambda engine: engine.search("word " * 4001), "20,000 characters, got 20,005"),
        (lambda engine: engine.search(QUESTION, retrievers="walk"), "expected a list of retrievers"),
        (lambda engine: engine.search(QUESTION, fusion=7), "expected the name of a fusion, got int"),
        (lambda engine: engine.search_many(QUESTION), "expected several questions, got str"),
        (lambda engine: engine.ask(5), "expected a question as text, got int"),
        (lambda engine: engine.ask(QUESTION, warmth=1), "ask has no option 'warmth'"),
        (
            lambda engine: engine.ask(QUESTION, model=object()),
            "expected a language model, by name .* got object",
        ),
        (lambda engine: engine.ask(QUESTION, history=[{"asked": "x"}]), r"expected trivium.Turn\(.*got dict"),
        (
            lambda engine: engine.search(QUESTION, recal="x"),
            r"search has no option 'recal' \(did you mean recall\?",
        ),
        (
            lambda engine: engine.build(["x"], languag="en"),
            r"build has no option 'languag' \(did you mean language",
        ),
        (lambda engine: engine.build("pages"), "expected a list of sources"),
        (lambda engine: engine.build(5), "expected sources as a list of paths or addresses, got int"),
        (lambda engine: engine.build([object()]), "each of the sources as a path or an address, got object"),
        (lambda engine: engine.build(["x"], embed="no"), "expected embed as True or False, got str"),
        (lambda engine: engine.build(["x"], language=7), "expected language as text, got int"),
        (lambda engine: engine.build(["x"], limits={}), "expected limits as an object InputLimits, got dict"),
        (lambda engine: engine.search(QUESTION, explain=1), "expected explain as True or False, got int"),
        (lambda engine: engine.search(QUESTION, cut=0.5), "expected cut as text or an object Cut, got float"),
        (lambda engine: engine.ask(QUESTION, max_tokens="9"), "max_tokens as a whole number, got str"),
        (lambda engine: engine.check(repair="yes"), "expected repair as True or False, got str"),
        (lambda engine: engine.backup(None), "expected file as text or a path, got NoneType"),
        (lambda engine: engine.evaluate(3), "expected questions as text or a path or a list, got int"),
        (lambda engine: engine.is_about(QUESTION, 3), "expected hits as a list, got int"),
        (lambda _: trivium.Engine.open(b"store"), "expected store as text or a path, got bytes"),
        (
            lambda _: trivium.Engine.create("new", 5),
            "expected embedder as text or an object Embedder, got int",
        ),
        (lambda engine: engine.remove("Mars"), "expected a list of titles"),
        (lambda _: trivium.Engine("my-store"), r"Engine\.open\('my-store'\)"),
    ],
)
def test_a_wrong_argument_is_an_input_error(engine: trivium.Engine, call: Any, told: str) -> None:
    with pytest.raises(trivium.InputError, match=told):
        call(engine)


def test_flags_go_by_name(engine: trivium.Engine) -> None:
    with pytest.raises(TypeError):
        engine.search(QUESTION, 3, None, None, True)  # type: ignore[call-arg]


def test_using_the_runtime_loads_nothing_of_the_laboratory(store: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys, trivium; from trivium.testing import HashEmbedder\n"
        f"with trivium.Engine.open({str(store)!r}, HashEmbedder()) as engine: engine.ask({QUESTION!r})\n"
        "print([name for name in sys.modules if name.split('.')[:2][-1] in"
        " ('datasets', 'evaluation', 'training', 'synthetic') and name.startswith('trivium')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
