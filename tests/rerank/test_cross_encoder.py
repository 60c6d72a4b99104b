"""Cross-encoders in the usual format, on a tiny one whose scores can be computed by hand."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

import pytest

from tests.fakes.cross_encoder_files import write_cross_encoder
from tests.rerank.candidates import candidates
from trivium.errors import ConfigurationError, MissingExtraError, RerankError
from trivium.rerank.cross_encoder import MODEL_FILES, FastEmbedCrossEncoder, OnnxCrossEncoder
from trivium.rerank.reranker import Deadline

PASSAGES = candidates("moon", "hall hall", "dull dull")
"""Under the heading Mars, which weighs 2: 2 + 3, 2 + 1, 2 - 2."""
LISTED = "Xenova/ms-marco-MiniLM-L-6-v2"


def test_scores_are_the_logits_of_question_and_passage_together(tmp_path: Path) -> None:
    """The question's words count -10 times theirs: one about the moon (3) takes 30 from each."""
    encoder = OnnxCrossEncoder(write_cross_encoder(tmp_path))
    assert encoder.rerank("whatever", PASSAGES, Deadline()) == [5.0, 3.0, 0.0]
    assert encoder.rerank("the moon", PASSAGES, Deadline()) == [-25.0, -27.0, -30.0]


def test_of_two_labels_the_score_is_the_difference(tmp_path: Path) -> None:
    encoder = OnnxCrossEncoder(write_cross_encoder(tmp_path, labels=2))
    assert encoder.rerank("whatever", PASSAGES, Deadline()) == [5.0, 3.0, 0.0]


def test_more_labels_are_no_cross_encoder(tmp_path: Path) -> None:
    encoder = OnnxCrossEncoder(write_cross_encoder(tmp_path, labels=3))
    with pytest.raises(RerankError, match="one label or two, got one with 3"):
        encoder.rerank("whatever", PASSAGES, Deadline())


@pytest.mark.parametrize("file", [*MODEL_FILES, "anything.onnx"])
def test_the_model_is_found_where_exports_have_it(tmp_path: Path, file: str) -> None:
    encoder = OnnxCrossEncoder(write_cross_encoder(tmp_path, file=file))
    assert encoder.rerank("whatever", PASSAGES, Deadline()) == [5.0, 3.0, 0.0]


def test_fastembed_gives_the_same_scores(tmp_path: Path) -> None:
    """Two independent implementations on the same files."""
    pytest.importorskip("fastembed")
    folder = write_cross_encoder(tmp_path, file="onnx/model.onnx")
    theirs = FastEmbedCrossEncoder(LISTED, home=tmp_path / "home", folder=folder)
    ours = OnnxCrossEncoder(folder)
    passages = candidates("moon of mars", "hall dull moon moon", "nothing known", "", "x" * 300)
    for question in ("moon", "who was hall", "?"):
        assert theirs.rerank(question, passages, Deadline()) == ours.rerank(question, passages, Deadline())


def test_long_pairs_are_cut_to_what_the_model_reads(tmp_path: Path) -> None:
    """12 tokens: 3 marks, 1 of the question and 8 of the passage, "mars", ":" and 6 moons."""
    encoder = OnnxCrossEncoder(write_cross_encoder(tmp_path, reads=12))
    assert encoder.rerank("x", candidates("moon " * 100), Deadline()) == [2.0 + 6 * 3.0]


def test_a_length_that_means_no_limit_is_not_believed(tmp_path: Path) -> None:
    """Files of models whose length nobody wrote down have 10^30."""
    folder = write_cross_encoder(tmp_path)
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 10**30}))
    (score,) = OnnxCrossEncoder(folder).rerank("x", candidates("moon " * 1000), Deadline())
    assert score == 2.0 + (512 - 6) * 3.0  # of 512 tokens: 3 marks, "x", "mars", ":"


def test_when_the_time_is_up_no_further_pair_is_scored(tmp_path: Path) -> None:
    encoder = OnnxCrossEncoder(write_cross_encoder(tmp_path))
    with pytest.raises(RerankError, match="time is up"):
        encoder.rerank("x", PASSAGES, Deadline(0))


def test_text_that_no_tokenizer_takes_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    encoder = OnnxCrossEncoder(write_cross_encoder(tmp_path))
    assert encoder.rerank("\ud800", candidates("moon \udfff"), Deadline()) == [5.0]


def test_a_folder_without_a_model_or_tokenizer_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"expected a folder with model\.onnx"):
        OnnxCrossEncoder(tmp_path)
    write_cross_encoder(tmp_path / "m")
    (tmp_path / "m" / "tokenizer.json").unlink()
    with pytest.raises(ConfigurationError, match=r"tokenizer\.json"):
        OnnxCrossEncoder(tmp_path / "m")


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_named(tmp_path: Path, file: str) -> None:
    write_cross_encoder(tmp_path)
    (tmp_path / file).write_bytes(b"no model")
    with pytest.raises(RerankError, match=file):
        OnnxCrossEncoder(tmp_path).rerank("x", PASSAGES, Deadline())


def test_a_name_that_fastembed_does_not_list_says_what_there_is(tmp_path: Path) -> None:
    pytest.importorskip("fastembed")
    with pytest.raises(ConfigurationError, match=LISTED):
        FastEmbedCrossEncoder("no/such-model", home=tmp_path)


def test_without_fastembed_the_command_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fastembed.rerank.cross_encoder", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'trivium\[fastembed\]'"):
        FastEmbedCrossEncoder(LISTED, home=tmp_path)


def test_files_that_cannot_be_obtained_are_the_reason_at_once_from_then_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the search had to go on before that was known."""
    pytest.importorskip("fastembed")
    failed = threading.Event()

    def unreachable(*_: object) -> None:
        failed.wait(60)
        raise RerankError(f"{LISTED} cannot be loaded: no network")

    monkeypatch.setattr("trivium.rerank.cross_encoder._open_scorer", unreachable)
    encoder = FastEmbedCrossEncoder(LISTED, home=tmp_path)
    with pytest.raises(RerankError, match="not on this machine yet"):
        encoder.rerank("x", PASSAGES, Deadline(0.1))
    failed.set()
    for _ in range(2):
        with pytest.raises(RerankError, match="no network"):
            encoder.rerank("x", PASSAGES, Deadline(60))
