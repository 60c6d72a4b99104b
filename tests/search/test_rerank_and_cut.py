"""Searches that rerank and cut: what stays in its place, what is told, and what is refused."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.built_stores import copy_of_sample
from trivium.engine import Engine
from trivium.errors import ConfigurationError, InputError, RerankError
from trivium.rerank.reranker import Deadline, RerankCandidate
from trivium.search.stage_timing import StageEnded

QUESTION = "Who found the moons of Mars?"


class Backwards:
    """The last first; ``seen`` are the passages that it was given."""

    name, independent = "backwards", True

    def __init__(self, views: Sequence[str] = ()) -> None:
        self.views = tuple(views)
        self.seen: list[RerankCandidate] = []

    def rerank(
        self, question: str, candidates: Sequence[RerankCandidate], deadline: Deadline
    ) -> Sequence[float]:
        assert question == QUESTION
        assert deadline.left > 0
        self.seen = list(candidates)
        return range(len(candidates))


class Broken(Backwards):
    """Never gets anywhere."""

    name = "broken"

    def rerank(
        self, question: str, candidates: Sequence[RerankCandidate], deadline: Deadline
    ) -> Sequence[float]:
        raise RerankError("the model is not there")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(copy_of_sample(tmp_path_factory.mktemp("rerank") / "sample")) as engine:
        yield engine


ASKED: list[dict[str, object]] = [
    {"retrievers": ["vector"]},
    {"retrievers": ["lexical"]},
    {"fusion": "convex"},
    {},
]


def test_diffusion_is_that_of_the_list_it_reranks(engine: Engine) -> None:
    """Reranking the list of the first stage is the retriever of that name; after BM25 all passages have a score, also
    those that the vectors do not find. Its settings are the retriever's."""
    settings = {"rerank.passages": 20, "diffusion.chunks": 20, "diffusion.damping": 0.5}
    own = engine.search(QUESTION, 20, retrievers=["diffusion"], settings=settings)
    after = engine.search(QUESTION, 20, retrievers=["vector"], rerank="diffusion", settings=settings)
    assert {hit.uri: hit.rerank_score for hit in after} == pytest.approx(
        {hit.uri: hit.score for hit in own}, rel=1e-4
    )
    for first in ({"retrievers": ["lexical"]}, {}):
        found = engine.search(QUESTION, 20, rerank="diffusion", settings=settings, **first)  # type: ignore[arg-type]
        assert sum(hit.rerank_score or 0 for hit in found) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_the_first_are_in_the_order_of_the_reranker_and_the_rest_stays_behind(
    engine: Engine, asked: dict[str, object]
) -> None:
    plain = engine.search(QUESTION, 12, **asked)  # type: ignore[arg-type]
    reranker = Backwards()
    hits = engine.search(QUESTION, 12, rerank=reranker, settings={"rerank.passages": 5}, **asked)  # type: ignore[arg-type]
    uris = [hit.uri for hit in plain]
    assert [hit.uri for hit in hits] == [*uris[4::-1], *uris[5:]]
    assert [hit.rank for hit in hits] == list(range(1, 13))
    assert [hit.rerank_score for hit in hits] == [4, 3, 2, 1, 0, *[None] * 7]
    before = {hit.uri: (hit.score, hit.probability, hit.provenance) for hit in plain}
    assert all(before[hit.uri] == (hit.score, hit.probability, hit.provenance) for hit in hits)
    assert [(one.uri, one.text, one.score) for one in reranker.seen] == [
        (hit.uri, hit.text, hit.score) for hit in plain[:5]
    ]
    assert reranker.seen[0].full_text == f"{' > '.join(reranker.seen[0].headings)}: {plain[0].text}"


def test_more_are_reranked_than_are_given(engine: Engine) -> None:
    """By default 30 are looked at: the last of them comes first, and its contributions add up to its score."""
    plain = engine.search(QUESTION, 30)
    hits = engine.search(QUESTION, 2, rerank=Backwards(), explain=True)
    assert [hit.uri for hit in hits] == [plain[29].uri, plain[28].uri]
    for hit in hits:
        assert hit.baseline + sum(hit.contributions.values()) == pytest.approx(hit.score, abs=1e-4)


def test_equal_scores_keep_the_order_of_the_search(engine: Engine) -> None:
    class Equal(Backwards):
        def rerank(self, *_: object) -> Sequence[float]:
            return [1.0] * 30

    assert [hit.uri for hit in engine.search(QUESTION, rerank=Equal())] == [
        hit.uri for hit in engine.search(QUESTION)
    ]


def test_scores_of_the_views_that_a_reranker_asks_for_are_theirs(engine: Engine) -> None:
    """Also where the search was by words alone, so that the question had not been embedded."""
    reranker = Backwards(["vector", "lexical", "page"])
    found = engine.search(QUESTION, 5, ["lexical"], rerank=reranker, settings={"rerank.passages": 5})
    with engine.store.pinned() as store:
        query = engine.searcher.query(QUESTION, store=store)
        uris = [hit.uri for hit in reversed(found)]
        for name, retriever in engine.searcher.retrievers.choose(reranker.views).items():
            expected = retriever.score(query, uris).tolist()
            assert [one.views[name] for one in reranker.seen] == pytest.approx(expected, nan_ok=True)
    assert all(abs(one.views["vector"]) > 0.1 for one in reranker.seen)


def test_one_that_fails_leaves_the_order_and_says_so(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[str] = []
    plain = engine.search(QUESTION)
    assert engine.search(QUESTION, rerank=Broken(), on_warnings=told.extend) == plain
    assert told == ["broken: the model is not there; the passages are in the order of the search"]
    with caplog.at_level(logging.WARNING):
        assert engine.search(QUESTION, rerank=Broken()) == plain
    assert "the model is not there" in caplog.text
    answer = engine.ask(QUESTION, rerank=Broken())
    assert answer.warnings == tuple(told)
    assert answer.text == engine.ask(QUESTION).text


def test_one_that_is_late_leaves_the_order_and_says_so(engine: Engine) -> None:
    class Late(Backwards):
        def rerank(self, *_: object) -> Sequence[float]:
            import time

            time.sleep(5)
            return [1.0]

    told: list[str] = []
    hits = engine.search(QUESTION, rerank=Late(), settings={"rerank.seconds": 0.1}, on_warnings=told.extend)
    assert hits == engine.search(QUESTION)
    assert told == ["backwards: no answer within 0.1 s; the passages are in the order of the search"]


def test_answers_are_made_of_the_passages_in_their_new_order(engine: Engine) -> None:
    found = engine.search(QUESTION, 3, rerank=Backwards(), settings={"rerank.passages": 8})
    answer = engine.ask(QUESTION, k=3, rerank=Backwards(), settings={"rerank.passages": 8})
    assert [hit.uri for hit in answer.passages] == [hit.uri for hit in found]
    assert not answer.warnings


def test_a_cut_ends_the_list_at_the_gap_of_the_scores(engine: Engine) -> None:
    scores = [hit.score for hit in engine.search(QUESTION, 9)]
    drops = np.array(scores[:-1]) - np.array(scores[1:])
    hits = engine.search(QUESTION, 8, cut="gap")
    assert [hit.score for hit in hits] == scores[: int(np.argmax(drops)) + 1]
    assert len(engine.search(QUESTION, 8, cut="gap:3-5")) in (3, 4, 5)
    assert [hit.uri for hit in engine.ask(QUESTION, k=8, cut="gap").passages] == [hit.uri for hit in hits]


def test_after_a_reranker_the_cut_goes_by_its_scores(engine: Engine) -> None:
    class Steps(Backwards):
        def rerank(self, *_: object) -> Sequence[float]:
            return [9.0, 8.9, 8.8, 1.0, 0.9, 0.8]

    hits = engine.search(QUESTION, 20, rerank=Steps(), cut="gap", settings={"rerank.passages": 6})
    assert [hit.rerank_score for hit in hits] == [9.0, 8.9, 8.8]
    runs_on = engine.search(QUESTION, 20, rerank=Steps(), cut="near:0.999", settings={"rerank.passages": 6})
    assert len(runs_on) == 5  # what was not reranked has no score to go by, and the last is the farthest


def test_a_cut_by_probability_ends_where_little_is_to_be_gained(engine: Engine) -> None:
    hits = engine.search(QUESTION, 10)
    none_right, count = 1.0, 0
    for hit in hits:
        assert hit.probability is not None
        if none_right * hit.probability < 0.05:
            break
        none_right *= 1 - hit.probability
        count += 1
    assert 1 <= count < 10
    assert engine.search(QUESTION, 10, cut="probability:0.05") == hits[:count]
    for asked in ({"retrievers": ["vector"]}, {"fusion": "rrf"}, {"where": "format = 'html'"}):
        with pytest.raises(InputError, match="needs probabilities"):
            engine.search(QUESTION, cut="probability", **asked)  # type: ignore[arg-type]


def test_what_is_named_wrongly_is_refused_before_anything_is_asked(engine: Engine) -> None:
    with pytest.raises(ConfigurationError, match="did you mean bm25"):
        engine.search(QUESTION, rerank="bm26")
    with pytest.raises(InputError, match="unknown cut"):
        engine.search(QUESTION, cut="elbow")
    with pytest.raises(ConfigurationError, match=r"did you mean rerank\.seconds"):
        engine.search(QUESTION, rerank="bm25", settings={"rerank.second": 3})
    with pytest.raises(ConfigurationError, match=r"rerank\.passages must be"):
        engine.search(QUESTION, settings={"rerank.passages": 1})
    with pytest.raises(InputError, match="k must be"):
        engine.search(QUESTION, cut="gap:1-100000")
    with pytest.raises(InputError, match="unknown cut"):
        engine.ask_stream(QUESTION, cut="elbow")


def test_settings_of_rerankers_may_stand_with_those_of_the_engine(tmp_path: Path) -> None:
    with Engine.open(copy_of_sample(tmp_path / "sample"), settings={"rerank": {"passages": 3}}) as engine:
        reranker = Backwards()
        engine.search(QUESTION, rerank=reranker)
        assert len(reranker.seen) == 3


def test_the_stage_is_told_of_and_nothing_else_changes(tmp_path: Path) -> None:
    ended: list[StageEnded] = []
    with Engine.open(copy_of_sample(tmp_path / "sample"), on_stage=ended.append) as engine:
        engine.search(QUESTION)
        assert "rerank" not in [stage.stage for stage in ended]
        engine.search(QUESTION, rerank="bm25")
    assert [stage.stage for stage in ended].count("rerank") == 1


def test_words_alone_are_reranked_where_nothing_is_embedded(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"title": "Mars", "text": "Mars has moons. Hall found them."}\n')
    with Engine.create(tmp_path / "store") as engine:
        engine.build([tmp_path / "rows.jsonl"], workers=1, embed=False)
        (hit,) = engine.search("Who found the moons?", 3, ["lexical"], rerank="bm25")
        assert hit.page == "Mars"


def test_as_a_column_it_scores_what_others_bring(engine: Engine) -> None:
    """BM25 as a reranker is the column of the lexical retriever; the default fusion, which was fitted without it, gives
    way to reciprocal ranks."""
    retrievers = engine.searcher.retrievers.choose(["vector", "lexical", "rerank:bm25"])
    assert list(retrievers) == ["vector", "lexical", "rerank:bm25"]
    with engine.store.pinned() as store:
        table = engine.searcher.table(engine.searcher.query(QUESTION, store=store), retrievers)
    reranked, lexical = table.raw[:, 2], table.raw[:, 1]
    assert np.array_equal(reranked, lexical)
    assert (table.ranks[:, 2] > 0).sum() == 30
    hits = engine.search(QUESTION, 5, ["vector", "rerank:bm25"], explain=True)
    assert set(hits[0].contributions) == {"vector", "rerank:bm25"}
    assert hits == engine.search(QUESTION, 5, ["vector", "rerank:bm25"], "rrf", explain=True)
    assert [hit.uri for hit in engine.search(QUESTION, 5, ["rerank:bm25"])]


def test_a_column_that_fails_costs_its_own_view_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Engine.open(copy_of_sample(tmp_path / "sample"), rerankers=[Broken()]) as engine:
        with caplog.at_level(logging.WARNING):
            hits = engine.search(QUESTION, 5, ["vector", "rerank:broken"])
        assert "rerank:broken: the model is not there, going on without" in caplog.text
        assert [hit.uri for hit in hits] == [hit.uri for hit in engine.search(QUESTION, 5, ["vector"], "rrf")]
        with pytest.raises(ConfigurationError, match="unknown reranker"):
            engine.search(QUESTION, 5, ["vector", "rerank:telepathy"])


def test_a_column_asks_for_each_passage_once(tmp_path: Path) -> None:
    class Counting(Backwards):
        name = "counting"

        def __init__(self) -> None:
            super().__init__()
            self.asked: list[str] = []

        def rerank(
            self, question: str, candidates: Sequence[RerankCandidate], deadline: Deadline
        ) -> Sequence[float]:
            self.asked += [candidate.uri for candidate in candidates]
            return [float(len(candidate.text)) for candidate in candidates]

    counting = Counting()
    with Engine.open(copy_of_sample(tmp_path / "sample"), rerankers=[counting]) as engine:
        engine.search(QUESTION, 5, ["vector", "walk", "rerank:counting"])
    assert len(counting.asked) == len(set(counting.asked)) > 30
