"""Rerankers by name: what each name means, and what is said of one that means nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.chat_model import ScriptedModel
from tests.fakes.cross_encoder_files import write_cross_encoder
from tests.fakes.packages import install_package
from tests.rerank.candidates import candidates
from trivium.errors import ConfigurationError, InputError
from trivium.rerank.cross_encoder import OnnxCrossEncoder
from trivium.rerank.llm import ListwiseReranker, PointwiseReranker
from trivium.rerank.registry import Rerankers, make_reranker
from trivium.rerank.reranker import Deadline
from trivium.rerank.without_model import Bm25Reranker, DiffusionReranker, TfidfReranker, WeightedReranker


def test_names_of_the_package(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "model")
    made = {
        "bm25": Bm25Reranker,
        "tfidf": TfidfReranker,
        "diffusion": DiffusionReranker,
        "weighted:0.7": WeightedReranker,
        f"cross-encoder:{folder}": OnnxCrossEncoder,
        "llm-pointwise:openai:some-model": PointwiseReranker,
        "llm-listwise:openai:some-model": ListwiseReranker,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "k")
        for name, kind in made.items():
            reranker = make_reranker(name)
            assert isinstance(reranker, kind)
            assert reranker.name == name
    assert make_reranker("weighted").name == "weighted:0.5"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bm26", "did you mean bm25"),
        ("wieghted:0.5", "did you mean weighted"),
        ("nothing-like-it", "expected one of bm25, tfidf, diffusion, weighted:WEIGHT"),
        ("weighted:high", "expected a weight from 0 to 1, got 'high'"),
        ("weighted:2", "expected a weight from 0 to 1"),
        ("weighted:", "something behind the colon"),
        ("bm25:k1", "unknown reranker 'bm25:k1'"),
        ("cross-encoder", "unknown reranker"),
        ("", "expected one of bm25"),
        ("llm-listwise:local:/no/such.gguf", "expected a GGUF file"),
    ],
)
def test_a_name_that_means_nothing_is_refused_with_what_would(name: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        make_reranker(name)


def test_each_is_made_once_and_free_ones_are_for_anybody(tmp_path: Path) -> None:
    name = f"cross-encoder:{write_cross_encoder(tmp_path)}"
    rerankers = Rerankers()
    assert rerankers.get(name) is rerankers.get(name)
    assert rerankers.offers("bm25")
    assert rerankers.offers("weighted:0.123")
    assert not rerankers.offers(name)  # whoever reaches a server may not have it load files
    assert not rerankers.offers("llm-listwise")  # nor spend money
    assert Rerankers([name]).offers(name)
    assert Rerankers([name]).names == ("bm25", "tfidf", "diffusion", "weighted", name)


def test_one_of_ones_own_is_handed_in_or_given() -> None:
    class Mine(ListwiseReranker):
        pass

    mine = Mine(ScriptedModel('{"ranking": [2, 1]}'), "mine")
    rerankers = Rerankers([mine])
    assert rerankers.get("mine") is mine is rerankers.get(mine)
    assert rerankers.offers("mine")
    with pytest.raises(InputError, match="got int"):
        rerankers.get(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="names are their own"):
        Rerankers([mine, mine])
    with pytest.raises(InputError, match="names are their own"):
        Rerankers([Mine(ScriptedModel(""), "bm25")])
    with pytest.raises(ConfigurationError, match="unknown reranker"):
        Rerankers(["no-such"])


MODULE = """
class Longest:
    name, views, independent = "longest", (), True

    def rerank(self, question, candidates, deadline):
        return [len(candidate.text) for candidate in candidates]


def make(name, settings):
    return Longest()
"""


def test_one_that_a_package_declares_goes_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    install_package(
        tmp_path, "other_reranker", {"longest": "other_reranker:make"}, MODULE, group="trivium.rerankers"
    )
    rerankers = Rerankers()
    assert rerankers.offers("longest")
    assert rerankers.get("longest").rerank("?", candidates("x", "xyz"), Deadline()) == [1, 3]
