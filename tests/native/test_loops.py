"""Loops in C: they refuse what they would read wrongly, give the same bits on every processor, and are compiled where
they are not."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trivium.errors import ConfigurationError
from trivium.graph.vector_search import CoarseVectors
from trivium.native import compile as compiling
from trivium.native import loops as module
from trivium.native.loops import loops

FLOATS, PLACES = np.ones((3, 4), np.float32), np.zeros(2, np.int64)


@pytest.mark.parametrize(
    ("matrix", "places", "vector", "out"),
    [
        (FLOATS.astype(np.float64), PLACES, np.ones(4), np.empty(2)),
        (np.asfortranarray(FLOATS), PLACES, np.ones(4), np.empty(2)),
        (FLOATS[:, ::2], PLACES, np.ones(2), np.empty(2)),
        (FLOATS, PLACES.astype(np.int32), np.ones(4), np.empty(2)),
        (FLOATS, PLACES, np.ones(5), np.empty(2)),
        (FLOATS, PLACES, np.ones((1, 4)), np.empty(2)),
        (FLOATS, PLACES, np.ones(4), np.empty(3)),
        (FLOATS, PLACES, np.ones(4), np.empty(2, np.float32)),
        (FLOATS, PLACES.astype(np.float64), np.ones(4), np.empty(2)),
        (FLOATS[:, :1].copy(), PLACES, np.ones(1, np.float32), np.empty(2)),
        (FLOATS, PLACES, np.ones(4), np.broadcast_to(np.zeros(2), (2,))),
    ],
)
def test_arrays_of_another_type_or_shape_are_refused(matrix: Any, places: Any, vector: Any, out: Any) -> None:
    with pytest.raises(TypeError, match="dots_of_singles"):
        loops.dots_of_singles(matrix, places, vector, 1.0, out)


def test_a_place_beyond_the_arrays_is_refused() -> None:
    places, shares = np.array([[0, 7, 0]]), np.ones(2)
    with pytest.raises(TypeError, match="windows"):
        loops.windows(places, shares, np.array([8]), np.zeros((1, 1)))
    with pytest.raises(TypeError, match="windows"):
        loops.windows(np.zeros((5, 3), np.int64), shares, np.array([0]), np.zeros((1, 1)))
    with pytest.raises(TypeError, match="best_of_pairs"):
        loops.best_of_pairs(
            np.array([5]), np.array([0]), np.ones((2, 1)), np.ones(1), np.empty((5, 2)), np.zeros(2)
        )
    with pytest.raises(AttributeError, match="no loop nothing"):
        loops.nothing()


def test_a_vector_of_no_numbers_hides_no_other() -> None:
    codes = np.array([[127, 0], [0, 127], [90, 90]], np.int8)
    errors = np.array([np.nan, 0.0, 0.0], np.float32)
    vectors = CoarseVectors(codes, np.full(3, 1 / 127, np.float32), errors)
    assert 1 in vectors.nearest(np.array([0, 1], np.float32), 1)


def computed(library: ctypes.CDLL) -> dict[str, bytes]:
    """What loops over floating-point numbers make, of widths that fill their lanes and of others."""
    library.set_head(ctypes.c_int64(object.__basicsize__))
    for name, arguments in module._ARGUMENTS.items():
        getattr(library, name).argtypes, getattr(library, name).restype = arguments, ctypes.c_int64
    found = {}
    for width in (1, 7, 16, 157, 384):
        random = np.random.default_rng(width)
        rows = random.standard_normal((50, width)).astype(np.float32)
        vector, every = random.standard_normal(width), np.arange(50)
        dots, cosines, product = np.empty(50), np.empty(50), np.zeros((50, width))
        library.dots_of_singles(rows, every, vector, np.inf, dots)
        library.mean_cosines(rows, rows, every[::-1].copy(), vector, vector, cosines)
        library.add_product(rows.astype(float), random.standard_normal((width, width)), product)
        codes, scales = np.empty((50, width), np.int8), np.empty(50, np.float32)
        errors, scores = np.empty(50, np.float32), np.empty(50, np.float32)
        library.quantise(rows, every, codes, scales, errors)
        library.scan(codes, scales, np.arange(width, dtype=np.int16), 0.1, scores)
        arrays = (dots, cosines, product, codes, scales, errors, scores)
        assert all(np.isfinite(array).all() for array in arrays)
        np.testing.assert_allclose(dots, rows @ vector, rtol=1e-6, atol=1e-5)
        np.testing.assert_allclose(scores, codes @ np.arange(width) * scales * 0.1, rtol=1e-6, atol=1e-5)
        found |= {f"{place} of {width}": array.tobytes() for place, array in enumerate(arrays)}
    return found


def test_every_level_of_instructions_gives_the_same_bits(tmp_path: Path) -> None:
    """Of those that this processor has."""
    lowest, *levels = compiling.LEVELS
    library = ctypes.CDLL(str(compiling.compile_library(tmp_path, lowest)))
    expected = computed(library)
    for level in levels:
        other = compiling.compile_library(tmp_path, level)
        if level <= library.level():
            assert computed(ctypes.CDLL(str(other))) == expected


def test_a_checkout_that_was_not_built_compiles_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the user's cache where the folder of the package cannot be written."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(module, "FOLDER", Path(__file__) / "no folder")
    level = compiling.LEVELS[0]
    module._opened(level)
    (file,) = (tmp_path / "trivium" / "native").iterdir()
    assert file.name == compiling.library_name(level)
    changed = file.stat().st_mtime_ns
    module._opened(level)
    assert file.stat().st_mtime_ns == changed


def test_a_damaged_library_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    level = compiling.LEVELS[0]
    (tmp_path / compiling.library_name(level)).write_bytes(b"")
    assert module._opened(level).level() >= 0
    assert (tmp_path / compiling.library_name(level)).stat().st_size > 0


def test_without_a_compiler_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(module, "FOLDER", tmp_path / "package")
    monkeypatch.setattr(compiling, "_compilers", lambda: iter([["false"], ["/nowhere/cc"]]))
    with pytest.raises(ConfigurationError, match="no C compiler: install one"):
        module._opened(compiling.LEVELS[0])
    monkeypatch.setattr(compiling, "compiler", lambda: ["false"])
    with pytest.raises(ConfigurationError, match="cannot be compiled"):
        module._opened(compiling.LEVELS[0])


def test_changed_sources_have_a_library_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = compiling.library_name(0)
    (tmp_path / "more.c").write_text("int more;", "utf-8")
    monkeypatch.setattr(compiling, "SOURCES", [*compiling.SOURCES, tmp_path / "more.c"])
    assert compiling.library_name(0) != before
