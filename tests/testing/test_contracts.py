"""The parts of the package hold the contracts that others run on theirs, and parts that are wrong do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fakes.chat_model import ScriptedModel
from tests.fakes.cross_encoder_files import write_cross_encoder
from trivium.embedding.embedder import Embedder, Vectors
from trivium.embedding.registry import open_embedder
from trivium.fusion.convex import load as load_convex
from trivium.fusion.registry import make_fusion
from trivium.fusion.rrf import ReciprocalRank
from trivium.fusion.score_table import Fused, Fusion, Table
from trivium.llm.chat_model import ChatModel
from trivium.rerank.cross_encoder import OnnxCrossEncoder
from trivium.rerank.llm import ListwiseReranker, PointwiseReranker
from trivium.rerank.registry import make_reranker
from trivium.rerank.reranker import Reranker
from trivium.retrievers.llm_path_selectors import LlmSelector
from trivium.retrievers.path import MatchSelector, Option, Selector
from trivium.retrievers.query import Candidate, Query, Retriever
from trivium.retrievers.registry import RETRIEVERS, make_retrievers
from trivium.testing import (
    ChatModelContract,
    EmbedderContract,
    FusionContract,
    HashEmbedder,
    RerankerContract,
    RetrieverContract,
    SelectorContract,
)


class TestBm25Reranker(RerankerContract):
    def make(self) -> Reranker:
        return make_reranker("bm25")


class TestWeightedReranker(RerankerContract):
    def make(self) -> Reranker:
        return make_reranker("weighted:0.7")


class TestCrossEncoder(RerankerContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = write_cross_encoder(tmp_path)

    def make(self) -> Reranker:
        return OnnxCrossEncoder(self.folder)


class TestPointwiseReranker(RerankerContract):
    def make(self) -> Reranker:
        return PointwiseReranker(ScriptedModel('{"score": 3}'))


class TestListwiseReranker(RerankerContract):
    def make(self) -> Reranker:
        return ListwiseReranker(ScriptedModel('{"ranking": [2, 1]}'))


class TestHashEmbedder(EmbedderContract):
    def make(self) -> Embedder:
        return HashEmbedder()


class TestMinilm(EmbedderContract):
    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _opened(cls) -> Iterator[None]:
        cls.embedder = open_embedder("minilm")  # type: ignore[attr-defined]
        yield
        cls.embedder.close()  # type: ignore[attr-defined]

    def make(self) -> Embedder:
        return self.embedder  # type: ignore[attr-defined, no-any-return]


@pytest.fixture(params=RETRIEVERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestRetrievers(RetrieverContract):
    @pytest.fixture(autouse=True)
    def _named(self, name: str) -> None:
        self.name = name

    def make(self) -> Retriever:
        return make_retrievers()[self.name]


class TestConvex(FusionContract):
    def make(self) -> Fusion:
        return load_convex("")


class TestReciprocalRank(FusionContract):
    def make(self) -> Fusion:
        return ReciprocalRank()


class TestMatchSelector(SelectorContract):
    def make(self) -> Selector:
        return MatchSelector()


class TestLlmSelector(SelectorContract):
    def make(self) -> Selector:
        return LlmSelector(ScriptedModel("2, 9, Venus"))


class TestScriptedModel(ChatModelContract):
    def make(self) -> ChatModel:
        return ScriptedModel("Mars.")


class _Drifting(HashEmbedder):
    """Vectors that depend on the neighbours of a text, as quantised models' do in batches."""

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        rows = super().embed(texts, progress)
        rows[:, 0] += 1e-4 * len(texts)
        return rows


class _Twice:
    name = "twice"

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        return [Candidate("Mars#chunk-1", 1.0), Candidate("Mars#chunk-1", 2.0)][:depth]

    def score(self, query: Query, chunks: Sequence[str]) -> Any:
        return np.full(len(chunks), np.nan)


class _Unexplained(ReciprocalRank):
    def fuse(self, table: Table) -> Fused:
        return replace(super().fuse(table), baseline=1.0)


class _Inventing:
    def select(self, question: str, options: Sequence[Option]) -> list[Option]:
        return [replace(option, identifier="made up") for option in options]


@pytest.mark.parametrize(
    ("suite", "made", "test"),
    [
        (EmbedderContract, _Drifting, "test_a_text_has_the_same_vector_alone_and_among_others"),
        (RetrieverContract, _Twice, "test_candidates_are_chunks_of_the_store_best_first"),
        (RetrieverContract, _Twice, "test_every_candidate_has_a_score_in_complete_scoring"),
        (FusionContract, _Unexplained, "test_baseline_and_contributions_are_the_score"),
        (SelectorContract, _Inventing, "test_only_offered_options_are_chosen_each_once"),
    ],
)
def test_a_part_that_breaks_its_contract_is_caught(suite: Any, made: Any, test: str) -> None:
    tried = type("Tried", (suite,), {"make": lambda self: made()})()
    with pytest.raises(AssertionError):
        getattr(tried, test)()


def test_the_shipped_network_holds_the_contract_of_fusions() -> None:
    """It needs signals that made-up tables lack, so it takes those as missing."""

    class Shipped(FusionContract):
        def make(self) -> Fusion:
            return make_fusion("network", "bge-small")

    Shipped().test_every_candidate_gets_a_number()
    Shipped().test_baseline_and_contributions_are_the_score()
