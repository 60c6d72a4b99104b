"""Lists of names can be written in every usual way."""

from __future__ import annotations

import pytest

from trivium.cli.lists import spread

TWO = ["--retriever", "vector", "--retriever", "page"]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["--retriever", "vector", "page", "question"], [*TWO, "question"]),
        (["--retriever", "vector,page", "question"], [*TWO, "question"]),
        (["--retriever=vector,page", "question"], [*TWO, "question"]),
        (["--retriever=vector", "page", "question"], [*TWO, "question"]),
        (
            ["question", "-r", "vector", "-f", "rrf", "convex"],
            ["question", "-r", "vector", "-f", "rrf", "-f", "convex"],
        ),
        (["--retriever", "telepathy", "question"], ["--retriever", "telepathy", "question"]),
        (["--retriever", "--json"], ["--retriever", "--json"]),
        (["question", "--retriever"], ["question", "--retriever"]),
        (["--retriever", "vector", "--", "page"], ["--retriever", "vector", "--", "page"]),
        (["page"], ["page"]),
        (
            ["train", "--importance", "1", ".5", "a.npz"],
            ["train", "--importance", "1", "--importance", ".5", "a.npz"],
        ),
        (["--importance", "1,0.5"], ["--importance", "1", "--importance", "0.5"]),
    ],
)
def test_spreading(given: list[str], read: list[str]) -> None:
    assert spread(given) == read
