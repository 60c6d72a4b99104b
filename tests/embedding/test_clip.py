"""CLIP by fastembed's own classes and preprocessing, on a tiny model that is made here."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fastembed")

from PIL import Image

from tests.fakes.clip_files import COLOURS, write_clip
from trivium.embedding.image_embedders import ClipEmbedder, open_image_embedder
from trivium.errors import ConfigurationError, EmbeddingError, MissingExtraError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the tiny model."""
    return write_clip(tmp_path_factory.mktemp("clip"))


@pytest.fixture(scope="module")
def clip(folder: Path) -> ClipEmbedder:
    """The tiny model."""
    return ClipEmbedder(folder=folder)


def test_words_are_nearest_to_the_pictures_that_show_them(clip: ClipEmbedder) -> None:
    """Unit vectors of 512 numbers, of one space."""
    images = clip.embed_images([Image.new("RGB", (40, 30), colour) for colour in COLOURS])
    texts = clip.embed_texts([f"something {colour}" for colour in COLOURS])
    for vectors in (images, texts):
        assert vectors.shape == (3, 512) and vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    assert (texts @ images.T).argmax(axis=1).tolist() == [0, 1, 2]
    assert clip.embed_images([]).shape == clip.embed_texts([]).shape == (0, 512)


def test_the_preprocessing_is_fastembeds(clip: ClipEmbedder) -> None:
    """The middle is cut out of what is wide, and colours are brought to the mean and the deviation of its settings."""
    wide = Image.new("RGB", (900, 100), "green")
    wide.paste("red", (400, 0, 500, 100))
    (vector,) = clip.embed_images([wide])
    expected = np.array([2.0, -2.0, -2.0]) / np.sqrt(12)
    np.testing.assert_allclose(vector[:3], expected, atol=0.02)


def test_a_vector_does_not_hang_on_what_is_embedded_with_it(clip: ClipEmbedder) -> None:
    """Bit for bit."""
    pictures = [Image.effect_noise((64, 48), spread).convert("RGB") for spread in (10, 90)]
    both = clip.embed_images(pictures)
    assert all(np.array_equal(clip.embed_images([p])[0], row) for p, row in zip(pictures, both, strict=True))
    pair = clip.embed_texts(["red", "blue green and red"])
    assert np.array_equal(clip.embed_texts(["red"])[0], pair[0])


def test_other_weights_are_another_version(clip: ClipEmbedder, folder: Path, tmp_path: Path) -> None:
    """The files below the home are found, and the same ones are the same embedder."""
    other = ClipEmbedder(folder=write_clip(tmp_path / "other", 2.0))
    assert (other.identity.name, other.identity.dimension) == ("clip", 512)
    assert other.identity.version != clip.identity.version
    write_clip(tmp_path / "home" / "fastembed" / "clip")
    assert ClipEmbedder(home=tmp_path / "home").identity == clip.identity


@pytest.mark.parametrize(
    "gone", ["vision/preprocessor_config.json", "text/model.onnx", "text/tokenizer.json"]
)
def test_a_missing_file_is_named_with_what_to_do(gone: str, tmp_path: Path) -> None:
    (write_clip(tmp_path / "clip") / gone).unlink()
    with pytest.raises(
        EmbeddingError, match=rf"{Path(gone).name} missing.*pip install 'trivium\[fastembed\]'"
    ):
        ClipEmbedder(folder=tmp_path / "clip")


def test_a_damaged_file_is_an_embedding_error(tmp_path: Path) -> None:
    (write_clip(tmp_path / "clip") / "vision" / "model.onnx").write_bytes(b"no model")
    with pytest.raises(EmbeddingError, match="clip-ViT-B-32-vision cannot be loaded"):
        ClipEmbedder(folder=tmp_path / "clip")


def test_a_missing_extra_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'trivium\[fastembed\]'"):
        open_image_embedder("clip")


def test_an_unknown_image_embedder_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'dino': expected one of clip"):
        open_image_embedder("dino")
