"""Live passages and those of the collection are in one ranking; without live sources everything is as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.contract.graphs import graph
from tests.fakes.live_server import ARXIV, Known, Reply, live_server
from tests.live.world import Scripted, document
from trivium.answering.events import Done, Found
from trivium.common.arrays import Floats
from trivium.engine import Engine
from trivium.errors import InputError, NotEmbeddedError
from trivium.live.ask_sources import LiveSources
from trivium.retrievers.query import Candidate, Query
from trivium.serialization import answer_json, hit_json, to_pandas
from trivium.settings.settings import Settings
from trivium.testing.toys import HashEmbedder, toy_store
from trivium.types import Hit, LiveOrigin, SourceOutcome

QUESTION = "Who discovered the moons of Mars?"
OF_TITAN = "Who discovered Titan, the largest moon of Saturn?"
TITAN = document(
    "Titan", "Titan is the largest moon of Saturn. Christiaan Huygens discovered it.", published="2026-02-03"
)
TITAN_URI = "Titan (example.org)#chunk-1"
PAPER = Known("Rings of dust", "We find faint rings of dust around the planet Mars, fed by its two moons.")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    with toy_store(tmp_path_factory.mktemp("toy")) as engine:
        return engine.store.location


@pytest.fixture
def source() -> Scripted:
    return Scripted([TITAN], name="web-of-tests")


@pytest.fixture
def engine(store: str, source: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path))
    with Engine.open(store, embedder=HashEmbedder(), live=[source]) as engine:
        yield engine


NAMES = ["web-of-tests"]


def test_without_sources_the_hits_are_the_same_to_the_last_bit(engine: Engine, source: Scripted) -> None:
    before = engine.search(QUESTION, explain=True)
    assert engine.search(QUESTION, explain=True, sources=[]) == before
    assert engine.search(QUESTION, explain=True, sources=None) == before
    source.documents = []
    assert engine.search(QUESTION, explain=True, sources=NAMES) == before
    source.error = InputError("out of order")
    assert engine.search(QUESTION, explain=True, sources=NAMES) == before
    assert all(hit.live is None for hit in before)


@pytest.mark.parametrize("fusion", ["convex", "rrf", "default"])
def test_the_passage_that_answers_comes_first_wherever_it_is_from(engine: Engine, fusion: str) -> None:
    outcomes: list[SourceOutcome] = []
    hits = engine.search(OF_TITAN, 5, fusion=fusion, sources=NAMES, on_sources=outcomes.extend)
    first = hits[0]
    assert first.uri == "Titan (example.org)#chunk-1"
    assert first.live is not None
    assert (first.live.source, first.live.address, first.live.published) == (
        "web-of-tests",
        TITAN.address,
        "2026-02-03",
    )
    assert (first.document, first.format, first.metadata) == (
        TITAN.address,
        "other",
        {"published": "2026-02-03"},
    )
    assert {hit.page for hit in hits[1:]} <= {"Mars", "Phobos", "Deimos", "Asaph Hall"}
    at_home = engine.search(QUESTION, 5, fusion=fusion, sources=NAMES)
    assert at_home[0].live is None
    assert [outcome.found for outcome in outcomes] == [1]


def test_contributions_of_live_hits_add_up_and_k_changes_nothing(engine: Engine) -> None:
    hits = engine.search(OF_TITAN, 5, explain=True, sources=NAMES)
    for hit in hits:
        assert hit.baseline + sum(hit.contributions.values()) == pytest.approx(hit.score, rel=1e-4, abs=1e-4)
    assert engine.search(OF_TITAN, 2, explain=True, sources=NAMES) == hits[:2]


@pytest.mark.parametrize("retriever", ["vector", "lexical", "diffusion", "page", "section"])
def test_retrievers_that_read_texts_find_live_passages_by_themselves(engine: Engine, retriever: str) -> None:
    hits = engine.search(OF_TITAN, 10, [retriever], sources=NAMES)
    assert any(hit.live is not None for hit in hits)


@pytest.mark.parametrize("retriever", ["entity", "walk"])
def test_retrievers_that_read_links_know_nothing_of_them(engine: Engine, retriever: str) -> None:
    hits = engine.search(OF_TITAN, 10, [retriever], sources=NAMES)
    assert hits and all(hit.live is None for hit in hits)


def test_conditions_hold_for_both(engine: Engine) -> None:
    hits = engine.search(OF_TITAN, 10, sources=NAMES, where="modified >= 2026")
    assert [hit.page for hit in hits] == ["Titan (example.org)"]
    hits = engine.search(OF_TITAN, 10, sources=NAMES, where="title = 'Mars'")
    assert {hit.page for hit in hits} == {"Mars"}
    assert all(
        hit.probability is None for hit in engine.search(OF_TITAN, sources=NAMES, where="format = 'other'")
    )
    assert engine.search(OF_TITAN, sources=NAMES, where="format = 'none'") == []


class Careless:
    """A retriever of one's own that looks at no condition."""

    name = "careless"

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        return [Candidate(uri, 1.0) for uri in (TITAN_URI, "Mars#chunk-1", "Phobos#chunk-1")]

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        return np.ones(len(chunks))


@pytest.mark.parametrize(
    ("where", "page"), [("format = 'other'", "Titan (example.org)"), ("title = 'Mars'", "Mars")]
)
def test_what_a_careless_retriever_proposes_must_fulfil_the_condition_too(
    store: str, source: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, page: str
) -> None:
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path))
    with Engine.open(store, embedder=HashEmbedder(), live=[source], retrievers=[Careless()]) as engine:
        for views in (["careless"], ["careless", "vector"]):
            hits = engine.search(OF_TITAN, 10, views, sources=NAMES, where=where)
            assert {hit.page for hit in hits} == {page}


def test_words_alone_find_live_passages_without_any_vector(
    source: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(HashEmbedder, "embed", lambda *_, **__: pytest.fail("a text was embedded"))
    with Engine.create(tmp_path / "store", embedder=HashEmbedder(), live=[source]) as engine:
        engine.store.write([graph("Mars", [("Mars has two moons, and Saturn more.", [])])])
        assert engine.store.embedder is None
        hits = engine.search(OF_TITAN, 5, ["lexical"], sources=NAMES)
        assert {hit.page for hit in hits} == {"Titan (example.org)", "Mars"} and hits[0].live is not None
        limited = engine.search(OF_TITAN, 5, ["lexical"], sources=NAMES, where="title = 'Mars'")
        assert [hit.page for hit in limited] == ["Mars"]
        asked = len(source.asked)
        with pytest.raises(NotEmbeddedError):
            engine.search("Who saw Titan?", sources=NAMES)
        assert len(source.asked) == asked


def test_an_answer_cites_by_address_and_date_and_says_what_came_of_the_sources(engine: Engine) -> None:
    events = list(engine.ask_stream(OF_TITAN, sources=NAMES))
    found, done = events[0], events[-1]
    assert isinstance(found, Found) and isinstance(done, Done)
    assert [outcome.name for outcome in found.sources] == NAMES == [o.name for o in done.answer.sources]
    told = json.loads(json.dumps(answer_json(done.answer)))
    assert told["sources"][0] | {"seconds": 0} == {
        "name": "web-of-tests",
        "found": 1,
        "seconds": 0,
        "error": None,
        "cached_age": None,
    }
    live = [citation["live"] for citation in told["citations"] if citation["live"] is not None]
    assert live and all(
        origin["address"] == TITAN.address and origin["published"] == "2026-02-03" for origin in live
    )


def test_a_failing_source_never_fails_an_answer(engine: Engine, source: Scripted) -> None:
    source.error = RuntimeError("a bug")
    answer = engine.ask(QUESTION, sources=NAMES)
    assert answer.passages and answer.sources[0].error == "RuntimeError: a bug"


def test_wrong_names_are_refused_before_the_first_event(engine: Engine, source: Scripted) -> None:
    with pytest.raises(InputError, match="unknown live source 'bing'"):
        engine.ask_stream(QUESTION, sources=["bing"])
    with pytest.raises(InputError, match="unknown live source 'bing'"):
        engine.search(QUESTION, sources=["bing"])
    assert source.asked == []


def test_the_same_documents_are_embedded_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.search(OF_TITAN, sources=NAMES)
    embedded: list[str] = []
    embedder = engine.embedder
    monkeypatch.setattr(
        embedder, "embed", lambda texts, progress=None: embedded.extend(texts) or HashEmbedder().embed(texts)
    )
    engine.search("What is the largest moon of Saturn called?", sources=NAMES)
    assert embedded == []


def test_hits_as_json_and_as_a_table_have_where_they_are_from() -> None:
    origin = LiveOrigin("web", "https://example.org/a", None, "2026-03-01T10:00:00Z")
    hit = Hit("A#chunk-1", "x", 1.0, 1, "A", "A", "paragraph", 0, 1, live=origin)
    home = Hit("B#chunk-1", "x", 0.5, 2, "B", "B", "paragraph", 0, 1)
    assert hit_json(hit)["live"] == {
        "source": "web",
        "address": "https://example.org/a",
        "published": None,
        "retrieved": "2026-03-01T10:00:00Z",
    }
    assert hit_json(home)["live"] is None
    pytest.importorskip("pandas")
    frame = to_pandas([hit, home])
    assert frame["live.source"].tolist()[0] == "web" and "live" not in frame.columns


# -- papers of a collection ----------------------------------------------------------------------------------------


def test_papers_that_are_kept_and_new_ones_are_in_one_ranking_without_duplicates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with live_server(PAPER) as server, toy_store(tmp_path / "toy") as engine:
        monkeypatch.setenv("TRIVIUM_ARXIV_URL", f"{server.address}{ARXIV}")
        engine.build(["arxiv:dust rings"], workers=1)
        assert server.sent[0].query["search_query"] == "all:dust AND all:rings"
        (kept,) = [hit for hit in engine.search("faint rings of dust", 5) if hit.page == PAPER.title]
        assert (kept.document, kept.format) == ("https://arxiv.org/abs/2602.00001", "arxiv")
        assert kept.text == PAPER.text and kept.metadata["year"] == 2026
        assert kept.metadata["authors"] == "A. Author, B. Author"
        server.documents.append(Known("Dust storms", "Storms of dust on Mars hide its faint rings of dust."))
        object.__setattr__(
            engine.searcher,
            "live",
            LiveSources(Settings(home=tmp_path, arxiv_url=f"{server.address}{ARXIV}")),
        )
        hits = engine.search("faint rings of dust", 5, sources=["arxiv"])
        papers = [(hit.page, hit.live is not None) for hit in hits if hit.format == "arxiv"]
        assert sorted(papers) == [("Dust storms (arxiv.org)", True), ("Rings of dust", False)]


def test_a_build_from_arxiv_says_why_there_are_no_papers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with live_server() as server, toy_store(tmp_path / "toy") as engine:
        monkeypatch.setenv("TRIVIUM_ARXIV_URL", f"{server.address}{ARXIV}")
        told = [engine.build([source], workers=1).problems for source in ("arxiv:dust", "arxiv: ")]
        server.replies[ARXIV] = Reply(b"", 503)
        told.append(engine.build(["arxiv:dust"], workers=1).problems)
        reasons = [problem.reason for (problem,) in told]
        assert reasons == [
            "no paper fits: ask with fewer words",
            "expected words or a query after arxiv:, got nothing",
            "the API answers HTTP 503",
        ]
