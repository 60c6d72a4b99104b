"""Contracts of custom parts, as test suites to inherit from."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from trivium.embedding.embedder import Embedder, embed_queries
from trivium.fusion.score_table import Fusion, Table
from trivium.llm.chat_model import ChatModel, Message
from trivium.rerank.reranker import Deadline, RerankCandidate, Reranker
from trivium.retrievers.path import Option, OptionKind, Selector
from trivium.retrievers.query import Query, Retriever
from trivium.retrievers.retriever_names import RETRIEVERS
from trivium.testing.toys import toy_query, toy_store

_TEXTS = ("Mars is red.", "The Moon is grey.", "Mars is red.", "x")
_UNIT = 1e-3


class EmbedderContract:
    """Contract of an :class:`~trivium.embedding.embedder.Embedder`."""

    def make(self) -> Embedder:
        """Create the embedder under test."""
        raise NotImplementedError

    def test_the_identity_says_who_made_the_vectors(self) -> None:
        """A store saves the identity and rejects another one."""
        identity = self.make().identity
        assert identity.name and identity.version, "an identity needs a name and a version"
        assert identity.dimension >= 1, f"expected a dimension of 1 or more, got {identity.dimension}"

    def test_vectors_are_rows_of_unit_length(self) -> None:
        embedder = self.make()
        vectors = embedder.embed(_TEXTS)
        expected = (len(_TEXTS), embedder.identity.dimension)
        assert vectors.shape == expected, f"expected shape {expected}, got {vectors.shape}"
        assert vectors.dtype == np.float32, f"expected float32, got {vectors.dtype}"
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
        assert np.all(np.abs(lengths - 1) < _UNIT), f"expected vectors of length 1, got {lengths}"

    def test_a_query_is_one_unit_vector(self) -> None:
        embedder = self.make()
        vector = embedder.embed_query("Which planet is red?")
        assert vector.shape == (embedder.identity.dimension,), f"expected a 1-D vector, got {vector.shape}"
        assert abs(float(np.linalg.norm(vector.astype(np.float64))) - 1) < _UNIT

    def test_questions_have_the_same_vectors_alone_and_together(self) -> None:
        """If the embedder takes several (the optional ``embed_queries``)."""
        embedder = self.make()
        together = embed_queries(embedder, _TEXTS)
        assert len(together) == len(_TEXTS), f"expected {len(_TEXTS)} vectors, got {len(together)}"
        for text, vector in zip(_TEXTS, together, strict=True):
            assert np.array_equal(vector, embedder.embed_query(text)), (
                "a vector depends on the other questions"
            )

    def test_a_text_has_the_same_vector_alone_and_among_others(self) -> None:
        """Bit for bit, because caching, resuming and reproducible rankings depend on it."""
        embedder = self.make()
        together, alone = embedder.embed(_TEXTS), embedder.embed(_TEXTS[1:2])
        assert np.array_equal(together[0], together[2]), "equal texts have different vectors"
        assert np.array_equal(together[1], alone[0]), "a vector depends on the other texts of its call"

    def test_nothing_gives_no_vectors(self) -> None:
        embedder = self.make()
        assert embedder.embed([]).shape == (0, embedder.identity.dimension)

    def test_progress_counts_every_text(self) -> None:
        counted: list[int] = []
        texts = sorted(set(_TEXTS))
        self.make().embed(texts, counted.append)
        assert sum(counted) == len(texts), f"expected {len(texts)} texts counted, got {sum(counted)}"


class RetrieverContract:
    """Contract of a :class:`~trivium.retrievers.query.Retriever`, tested on a small store
    (:func:`~trivium.testing.toys.toy_store`).
    """

    question = "Who discovered the moons of Mars?"

    def make(self) -> Retriever:
        """Create the retriever under test."""
        raise NotImplementedError

    @contextmanager
    def query(self) -> Iterator[Query]:
        """Yield a question to the small store."""
        with tempfile.TemporaryDirectory() as folder, toy_store(folder) as engine:
            yield toy_query(engine, self.question)

    def test_it_has_a_name(self) -> None:
        name = self.make().name
        assert name and name == name.strip() and "." not in name, f"not a name to be typed: {name!r}"

    def test_candidates_are_chunks_of_the_store_best_first(self) -> None:
        retriever = self.make()
        with self.query() as query:
            found = retriever.retrieve(query)
            uris = [candidate.uri for candidate in found]
            assert len(query.store.fetch(uris)) == len(uris)  # raises for a chunk that does not exist
        assert len(set(uris)) == len(uris), "a chunk is proposed twice"
        scores = [candidate.score for candidate in found]
        assert np.all(np.isfinite(scores)), f"expected finite scores, got {scores}"
        rounded = [float(f"{score:.6g}") for score in scores]
        assert rounded == sorted(rounded, reverse=True), f"expected the best first, got {scores}"

    def test_depth_cuts_the_list(self) -> None:
        retriever = self.make()
        with self.query() as query:
            whole = [candidate.uri for candidate in retriever.retrieve(query, 4)]
            assert len(whole) <= 4
            best = [candidate.uri for candidate in retriever.retrieve(query, 1)]
        assert best == whole[:1], f"expected the best candidate, {whole[:1]}, got {best}"

    def test_every_candidate_has_a_score_in_complete_scoring(self) -> None:
        retriever = self.make()
        with self.query() as query:
            chunks = [candidate.uri for candidate in retriever.retrieve(query, 4)]
            scores = retriever.score(query, chunks)
            none = retriever.score(query, [])
        assert scores.shape == (len(chunks),), f"expected shape {(len(chunks),)}, got {scores.shape}"
        assert none.shape == (0,), f"expected no scores of no chunks, got shape {none.shape}"
        assert not np.isnan(scores).any(), "a candidate has no score in the retriever's own view"

    def test_the_score_of_a_chunk_does_not_hang_on_the_others(self) -> None:
        retriever = self.make()
        with self.query() as query:
            chunks = sorted(candidate.uri for candidate in retriever.retrieve(query, 4))
            together = retriever.score(query, chunks)
            backwards = retriever.score(query, chunks[::-1])
        assert np.array_equal(together, backwards[::-1], equal_nan=True)

    def test_the_same_question_has_the_same_answer(self) -> None:
        retriever = self.make()
        with self.query() as query:
            first = retriever.retrieve(query, 4)
        with self.query() as query:
            again = retriever.retrieve(query, 4)
        assert first == again


class FusionContract:
    """Contract of a :class:`~trivium.fusion.score_table.Fusion`, tested with random scores of the eight retrievers."""

    columns: Sequence[str] = RETRIEVERS

    def make(self) -> Fusion:
        """Create the fusion under test."""
        raise NotImplementedError

    def table(self, candidates: int = 6, seed: int = 0) -> Table:
        """Return random scores of candidates; each retriever did not return about a third of them."""
        drawn = np.random.default_rng(seed)
        shape = (candidates, len(self.columns))
        ranks = np.argsort(np.argsort(-drawn.random(shape), axis=0), axis=0) + 1
        ranks[drawn.random(shape) < 1 / 3] = 0
        ranks[np.all(ranks == 0, axis=1), 0] = candidates
        chunks = tuple(f"Page {number}#chunk-1" for number in range(candidates))
        found = tuple(
            {name: "" for name, rank in zip(self.columns, row, strict=True) if rank} for row in ranks
        )
        return Table(chunks, tuple(self.columns), drawn.random(shape), ranks.astype(np.int64), found)

    def test_every_candidate_gets_a_number(self) -> None:
        fused = self.make().fuse(self.table())
        assert fused.scores.shape == (6,), f"expected shape (6,), got {fused.scores.shape}"
        assert np.all(np.isfinite(fused.scores)), f"expected finite scores, got {fused.scores}"

    def test_baseline_and_contributions_are_the_score(self) -> None:
        table = self.table()
        fused = self.make().fuse(table)
        rows = [4, 0, 2]
        shares = fused.explain(rows)
        assert shares.shape == (3, len(table.columns)), f"got shape {shares.shape}"
        np.testing.assert_allclose(fused.baseline + shares.sum(axis=1), fused.scores[rows], atol=1e-4)

    def test_the_order_of_the_candidates_does_not_matter(self) -> None:
        table, fusion = self.table(), self.make()
        order = [3, 5, 0, 4, 1, 2]
        np.testing.assert_allclose(
            fusion.fuse(table.take(order)).scores, fusion.fuse(table).scores[order], rtol=1e-6, atol=1e-9
        )

    def test_no_candidates_are_no_scores(self) -> None:
        assert self.make().fuse(self.table().take([])).scores.shape == (0,)

    def test_the_table_stays_as_it_was(self) -> None:
        table = self.table()
        before = table.raw.copy(), table.ranks.copy()
        self.make().fuse(table).explain([0])
        assert np.array_equal(table.raw, before[0]) and np.array_equal(table.ranks, before[1])

    def test_it_says_what_it_needs_and_what_its_scores_are(self) -> None:
        fusion = self.make()
        assert fusion.name and isinstance(fusion.needs_signals, bool) and isinstance(fusion.log_odds, bool)


class ChatModelContract:
    """Contract of a :class:`~trivium.llm.chat_model.ChatModel`, tested with a few short questions."""

    messages = (Message("system", "Answer in one word."), Message("user", "Which planet is red?"))

    def make(self) -> ChatModel:
        """Create the model under test."""
        raise NotImplementedError

    def test_it_says_who_it_is_and_how_much_fits(self) -> None:
        model = self.make()
        assert model.name
        assert model.context_tokens > 0

    def test_a_longer_text_takes_no_fewer_tokens(self) -> None:
        model = self.make()
        assert (
            0
            <= model.count_tokens("")
            <= model.count_tokens("Mars")
            <= model.count_tokens("Mars is red. " * 9)
        )

    def test_an_answer_is_text(self) -> None:
        assert isinstance(self.make().complete(self.messages, max_tokens=8), str)

    def test_a_stream_is_the_answer_in_pieces(self) -> None:
        reply = self.make().stream(self.messages, max_tokens=8)
        assert reply.usage is None, "usage is known when the last piece has been taken"
        assert all(isinstance(piece, str) for piece in reply)
        assert reply.usage is not None, "usage is missing at the end of the stream"

    def test_a_stream_can_be_left(self) -> None:
        with self.make().stream(self.messages, max_tokens=8) as reply:
            next(reply, None)


class SelectorContract:
    """Contract of a :class:`~trivium.retrievers.path.Selector`."""

    question = "Who discovered the moons of Mars?"
    options = (
        Option(OptionKind.SECTION, "Mars#Moons", "Mars > Moons", ("Mars", "Moons"), ("Mars#Moons",), 0.8),
        Option(
            OptionKind.SECTION, "Mars#Climate", "Mars > Climate", ("Mars", "Climate"), ("Mars#Climate",), 0.3
        ),
        Option(OptionKind.SECTION, "Venus", "Venus", ("Venus",), ("Venus",), 0.1),
    )

    def make(self) -> Selector:
        """Create the selector under test."""
        raise NotImplementedError

    def test_only_offered_options_are_chosen_each_once(self) -> None:
        chosen = self.make().select(self.question, self.options)
        assert all(option in self.options for option in chosen), f"not among the options: {chosen}"
        assert len({option.identifier for option in chosen}) == len(chosen)

    def test_of_nothing_nothing_is_chosen(self) -> None:
        assert self.make().select(self.question, ()) == []


class RerankerContract:
    """Contract of a :class:`~trivium.rerank.reranker.Reranker`. Its ``views`` get artificial scores."""

    question = "Who discovered the moons of Mars?"
    texts = (
        "Mars is red.",
        "Asaph Hall discovered both moons of Mars in 1877.",
        "",
        "Venus has no moon. " * 200,
    )

    def make(self) -> Reranker:
        """Create the reranker under test."""
        raise NotImplementedError

    def candidates(self, reranker: Reranker) -> list[RerankCandidate]:
        """Return the candidates to rerank."""
        return [
            RerankCandidate(
                f"Page#chunk-{n}", ("Page",), text, -float(n), dict.fromkeys(reranker.views, n / 7)
            )
            for n, text in enumerate(self.texts, start=1)
        ]

    def test_it_says_who_it_is_and_what_it_wants(self) -> None:
        reranker = self.make()
        assert reranker.name and isinstance(reranker.independent, bool)
        assert set(reranker.views) <= set(RETRIEVERS), f"no retrievers: {reranker.views}"

    def test_each_passage_has_a_finite_score(self) -> None:
        reranker = self.make()
        scores = list(reranker.rerank(self.question, self.candidates(reranker), Deadline(600)))
        assert len(scores) == len(self.texts)
        assert all(np.isfinite(score) for score in scores), f"not finite: {scores}"

    def test_the_same_is_scored_the_same_again(self) -> None:
        reranker = self.make()
        asked = self.candidates(reranker)
        first, again = (list(reranker.rerank(self.question, asked, Deadline(600))) for _ in range(2))
        assert first == again

    def test_independent_scores_do_not_depend_on_the_others(self) -> None:
        reranker = self.make()
        asked = self.candidates(reranker)
        if reranker.independent:
            scores = list(reranker.rerank(self.question, asked, Deadline(600)))
            assert list(reranker.rerank(self.question, asked[1:2], Deadline(600))) == scores[1:2]
