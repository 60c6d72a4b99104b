"""Products whose numbers do not depend on what is computed beside them, and that a search uses no others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import trivium
from trivium.common.arrays import dots, product

PACKAGE = Path(trivium.__file__).parent
OF_A_SEARCH = ("answering", "common", "fusion", "graph", "retrievers", "search")
BLAS = {"dot", "vdot", "inner", "matmul", "tensordot", "vecdot", "vecmat", "matvec", "solve", "inv", "lstsq"}
ALLOWED = {
    "graph/arrays/vector_matrix.py": "only picks rows, with some to spare; dots() orders them",
}


@pytest.mark.parametrize("width", [1, 3, 20, 157, 384])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int8, np.bool_])
def test_a_scalar_product_depends_on_its_row_only(width: int, kind: type) -> None:
    """The same bits for a row by itself, among others, and at any place in memory; within 1e-12 of the exact sum."""
    generator = np.random.default_rng(7)
    rows = (generator.standard_normal((40, width)) * 50).astype(kind)
    vector = generator.standard_normal(width)
    expected = dots(rows, vector)
    np.testing.assert_allclose(
        expected, (rows.astype(np.longdouble) * vector).sum(axis=1), rtol=1e-12, atol=1e-11
    )
    for row in range(len(rows)):
        memory = np.empty(width + row % 9, dtype=kind)[row % 9 :]
        memory[:] = rows[row]
        assert dots(memory[np.newaxis], vector)[0] == expected[row]
        assert dots(rows[row::3], vector)[0] == expected[row]


def test_products_are_clipped_and_of_no_row_not_a_number() -> None:
    rows, places = np.array([[1.5], [-1.5], [np.nan], [-0.0]]), np.array([0, 1, -1, 2, 3])
    found = dots(rows, np.array([1.0]), places, limit=1.0).tolist()
    assert [str(number) for number in found] == ["1.0", "-1.0", "nan", "nan", "0.0"]  # a sum begins with 0
    assert dots(rows, np.array([2.0]), places)[:2].tolist() == [3.0, -3.0]
    with pytest.raises(IndexError, match=r"rows 0\.\.3 or -1"):
        dots(rows, np.array([1.0]), np.array([4]))


@pytest.mark.parametrize("width", [1, 3])
def test_a_vector_of_another_length_is_refused(width: int) -> None:
    """The compiled loop would read what lies behind the row."""
    with pytest.raises(ValueError, match=r"got \(2, 2\) and"):
        dots(np.ones((2, 2)), np.ones(width))
    assert dots(np.empty((0, 0)), np.ones(width)).tolist() == []


@pytest.mark.parametrize("inner", [1, 2, 3, 4, 5, 157])
def test_a_row_of_a_product_depends_on_its_row_only(inner: int) -> None:
    generator = np.random.default_rng(7)
    rows, matrix = generator.standard_normal((33, inner)), generator.standard_normal((inner, 66))
    expected = product(rows, matrix)
    np.testing.assert_allclose(expected, rows @ matrix, rtol=1e-12, atol=1e-12)
    for row in range(len(rows)):
        assert (product(rows[row : row + 1], matrix)[0] == expected[row]).all()
        assert (product(rows[row:, :], matrix)[0] == expected[row]).all()


def test_a_gram_matrix_is_symmetric_to_the_last_bit() -> None:
    rows = np.random.default_rng(7).standard_normal((50, 384))
    gram = product(rows, rows.T)
    assert (gram == gram.T).all()


def blas_calls(source: str) -> Iterator[int]:
    """Lines that multiply matrices by the BLAS or ask LAPACK."""
    for node in ast.walk(ast.parse(source)):
        operator = isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult)
        named = isinstance(node, ast.Attribute) and node.attr in BLAS
        if operator or named:
            yield node.lineno


def test_nothing_of_a_search_calls_a_blas() -> None:
    """Its threads cost more than they save, and its sums may depend on how many they are."""
    assert list(blas_calls("a = b @ c\nnp.vecdot(a, b)\nnp.linalg.solve(a, b)\na.dot(b)")) == [1, 2, 3, 4]
    found = {
        str(path.relative_to(PACKAGE)): lines
        for folder in OF_A_SEARCH
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        if (lines := list(blas_calls(path.read_text("utf-8"))))
    }
    assert set(found) == set(ALLOWED), found
