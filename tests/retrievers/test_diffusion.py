"""diffusion is personalised PageRank over the dense list."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from tests.retrievers.world import SOLAR, ask, page, store_of, unit
from trivium.errors import ConfigurationError, InputError
from trivium.retrievers.diffusion import (
    DiffusionRetriever,
    DiffusionSettings,
    RankedList,
    diffuse,
    first_stage,
    seed_weights,
    similarity_graph,
)
from trivium.retrievers.lexical import LexicalRetriever, tfidf
from trivium.retrievers.passage_graph import passage_graph, strongest
from trivium.retrievers.query import Query
from trivium.retrievers.registry import RetrieverSettings
from trivium.retrievers.setting_values import with_values


def test_edges_are_cosines_never_negative_never_to_oneself() -> None:
    vectors = np.array([[1, 0], [0.6, 0.8], [-1, 0]], dtype=np.float32)
    expected = [[0, 0.6, 0], [0.6, 0, 0], [0, 0, 0]]
    np.testing.assert_allclose(similarity_graph(vectors), expected, atol=1e-7)


def test_sparsified_graph_keeps_the_strongest_edges_of_either_end() -> None:
    """On a line of directions 0, 10, 20, 60 degrees with k = 1: 0-10, 10-0 (ties with 20, first row wins),
    20-10 and 60-20 stay; the graph is symmetric."""
    angles = np.radians([0, 10, 20, 60])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    kept = similarity_graph(vectors, neighbours=1) > 0
    assert np.argwhere(np.triu(kept)).tolist() == [[0, 1], [1, 2], [2, 3]]
    assert (kept == kept.T).all()


def test_keeping_as_many_neighbours_as_there_are_keeps_all() -> None:
    vectors = np.abs(np.random.default_rng(1).normal(size=(6, 4)))
    assert (similarity_graph(vectors, neighbours=5) == similarity_graph(vectors)).all()


def test_chunks_without_a_vector_have_no_edges() -> None:
    vectors = np.array([[1, 0], [np.nan, np.nan]], dtype=np.float32)
    assert similarity_graph(vectors).tolist() == [[0, 0], [0, 0]]


def test_centrality_beats_a_slightly_better_cosine() -> None:
    """Chunks 1-3 resemble each other; chunk 4 is nearest to the question and resembles none of them much. It
    is seeded highest, but the walker is mostly among the three. The scores are those of NetworkX."""
    cluster = [0.70, 0.69, 0.68]
    texts = [(f"text {i}", []) for i in range(4)]
    cosines = {f"P#chunk-{i + 1}": unit(c, axis=1) for i, c in enumerate(cluster)}
    cosines["P#chunk-4"] = unit(0.75, axis=2)
    query = ask(store_of([page("P", lead=texts)], cosines))
    found = DiffusionRetriever().retrieve(query)
    assert [c.uri for c in found][-1] == "P#chunk-4"

    vectors = np.stack([cosines[f"P#chunk-{i}"] for i in range(1, 5)]).astype(np.float64)
    graph = nx.from_numpy_array(np.maximum(vectors @ vectors.T, 0) - np.eye(4))
    seeds = dict(enumerate(vectors[:, 0].tolist()))
    theirs = nx.pagerank(graph, 0.85, seeds, tol=1e-12, max_iter=1000)
    ours = {c.uri: c.score for c in found}
    assert [ours[f"P#chunk-{i + 1}"] for i in range(4)] == pytest.approx(
        [theirs[i] for i in range(4)], abs=1e-6
    )


def test_without_damping_the_order_is_that_of_the_cosines() -> None:
    query = ask(store_of(SOLAR, {"Earth#chunk-1": 0.9, "Mars#chunk-1": 0.8, "Phobos#chunk-1": 0.7}))
    found = DiffusionRetriever(DiffusionSettings(damping=0.0)).retrieve(query, 3)
    assert [c.uri for c in found] == ["Earth#chunk-1", "Mars#chunk-1", "Phobos#chunk-1"]
    assert found[0].score == pytest.approx(0.9 / 2.4)


def test_both_methods_rank_alike() -> None:
    query = ask(store_of(SOLAR, {"Earth#chunk-1": 0.9, "Mars#chunk-1": 0.8, "Phobos#chunk-1": 0.7}))
    solve, power = (
        [
            (c.uri, round(c.score, 6))
            for c in DiffusionRetriever(DiffusionSettings(method=method)).retrieve(query)
        ]
        for method in ("solve", "power")
    )
    assert solve == power


def test_scores_exist_for_the_dense_list_only() -> None:
    """Two of seven chunks are in the list; their scores sum to 1, the others have none."""
    query = ask(store_of(SOLAR, {"Earth#chunk-1": 0.9, "Mars#chunk-1": 0.8}))
    retriever = DiffusionRetriever(DiffusionSettings(chunks=2))
    assert len(retriever.retrieve(query)) == 2
    scores = retriever.score(query, ["Earth#chunk-1", "Mars#chunk-1", "Phobos#chunk-1"])
    assert scores[:2].sum() == pytest.approx(1) and np.isnan(scores[2])


def test_an_empty_store_diffuses_nothing() -> None:
    query = ask(store_of([page("P")], {}))
    assert DiffusionRetriever().retrieve(query) == []


SEEDED = [
    page("Mars", lead=[("red planet with moons", ["Sun", "Phobos"]), ("two small moons", ["Phobos"])]),
    page("Phobos", lead=[("small red moon of Mars", ["Mars", "Asaph Hall"])]),
    page("Hall", lead=[("found two moons of Mars", ["Mars", "Phobos"]), ("was born", [])]),
]
COSINES = {
    "Mars#chunk-1": unit(0.9),
    "Mars#chunk-2": unit(0.8, axis=2),
    "Phobos#chunk-1": unit(0.7),
    "Hall#chunk-1": unit(0.6, axis=2),
    "Hall#chunk-2": unit(0.5, axis=3),
}


def asked() -> Query:
    return ask(store_of(SEEDED, COSINES), "small moons of Mars")


@pytest.mark.parametrize("weights", ["scores", "ranks", "equal"])
@pytest.mark.parametrize("seeds", [None, 1, 3])
@pytest.mark.parametrize(
    ("graph", "similarity"),
    [("similarity", "cosine"), ("similarity", "words"), ("links", "cosine"), ("both", "centred")],
)
@pytest.mark.parametrize("stage", ["vector", "bm25", "tfidf"])
def test_every_setting_gives_what_networkx_gives(
    stage: str, graph: str, similarity: str, seeds: int | None, weights: str
) -> None:
    query = asked()
    values = {
        "first_stage": stage,
        "graph": graph,
        "similarity": similarity,
        "seeds": seeds,
        "seed_weights": weights,
        "damping": 0.6,
        "neighbours": 2,
    }
    named = {f"diffusion.{key}": value for key, value in values.items()}
    settings = with_values(RetrieverSettings(), named, constants=True).diffusion
    ours = DiffusionRetriever(settings).retrieve(query)
    found = first_stage(query, settings.first_stage, settings.chunks)
    edges = strongest(passage_graph(query, found.uris, settings.graph, settings.similarity), 2)
    kept = len(found.uris) if seeds is None else seeds
    mass = {"scores": found.scores, "ranks": [1 / (1 + row) for row in range(5)], "equal": [1.0] * 5}[weights]
    personal = {row: float(mass[row]) if row < kept else 0.0 for row in range(len(found.uris))}
    theirs = nx.pagerank(nx.from_numpy_array(edges), 0.6, personal, tol=1e-13, max_iter=1000)
    assert {one.uri: one.score for one in ours} == pytest.approx(
        {uri: theirs[row] for row, uri in enumerate(found.uris)}, abs=1e-6
    )


def test_the_first_stages_are_those_of_vector_and_lexical_and_tf_idf() -> None:
    query = asked()
    assert first_stage(query, "vector", 3).uris == ["Mars#chunk-1", "Mars#chunk-2", "Phobos#chunk-1"]
    by_words = LexicalRetriever().retrieve(query, 3)
    assert first_stage(query, "bm25", 3).uris == [one.uri for one in by_words]
    found = first_stage(query, "tfidf", 5)
    scores = tfidf(query.term_counts(found.uris), query.term_statistics)
    assert found.scores.tolist() == scores.tolist() == sorted(scores.tolist(), reverse=True)
    assert "Hall#chunk-2" not in found.uris  # it has none of the words


@pytest.mark.parametrize("stage", ["bm25", "tfidf"])
def test_a_question_without_words_has_no_list_by_words(stage: str) -> None:
    query = ask(store_of(SEEDED, COSINES), "?")
    assert DiffusionRetriever(DiffusionSettings(first_stage=stage)).retrieve(query) == []  # type: ignore[arg-type]


def test_one_seed_without_damping_leaves_the_first_alone() -> None:
    found = DiffusionRetriever(DiffusionSettings(damping=0.0, seeds=1)).retrieve(asked())
    assert found[0].uri == "Mars#chunk-1" and [one.score for one in found] == [1, 0, 0, 0, 0]


def test_any_list_can_be_diffused() -> None:
    """Two passages joined by an edge, all mass on the first: p1 = (1 - d) / (1 - d^2) = 2/3 for d = 1/2."""
    found = RankedList(["Phobos#chunk-1", "Mars#chunk-1"], np.array([3.0, -1.0]))
    scores = diffuse(asked(), found, DiffusionSettings(damping=0.5))
    assert scores.tolist() == pytest.approx([2 / 3, 1 / 3])
    with pytest.raises(InputError, match="a score for each of 2"):
        diffuse(asked(), RankedList(found.uris, np.ones(3)), DiffusionSettings())


def test_the_list_of_a_reranker_by_hand() -> None:
    """The same two: by scores 3 and 1 three quarters of the mass are on the first, p1 = (1 - d) (3/4 + d/4) / (1 - d^2) =
    7/12. Log-odds are no weights, so ranks stand in: 2/3 and 1/3 of the mass, p1 = 5/9."""
    retriever = DiffusionRetriever(DiffusionSettings(damping=0.5))
    uris = ["Phobos#chunk-1", "Mars#chunk-1"]
    for scores, first in (((3.0, 1.0), 7 / 12), ((3.0, -1.0), 5 / 9), ((0.0, 0.0), 5 / 9)):
        found = retriever.score_list(asked(), list(zip(uris, scores, strict=True)))
        assert found.tolist() == pytest.approx([first, 1 - first])


def test_seeds_are_by_score_by_rank_or_alike() -> None:
    scores = np.array([4.0, 2.0, 1.0])
    assert seed_weights(scores, 2).tolist() == [4, 2, 0]
    assert seed_weights(scores, None, "ranks").tolist() == pytest.approx([1, 1 / 2, 1 / 3])
    assert seed_weights(scores, 5, "equal").tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "values",
    [
        {"chunks": 0},
        {"damping": 1.0},
        {"neighbours": 0},
        {"method": "guess"},
        {"tol": 0.0},
        {"seeds": 0},
        {"seed_weights": "luck"},
        {"graph": "tree"},
        {"similarity": "euclid"},
        {"first_stage": "colbert"},
        {"threshold": 1.5},
    ],
)
def test_settings_out_of_range_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match=f"diffusion.{next(iter(values))}"):
        DiffusionSettings(**values)  # type: ignore[arg-type]
