"""Natural Questions from Hugging Face ``datasets``, on a small local file in that shape."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from trivium.errors import InputError, MissingExtraError
from trivium.parser.sources import huggingface
from trivium.parser.sources.discover import discover, read
from trivium.parser.sources.natural_questions import questions
from trivium.parser.sources.source_items import Item, Problem

needs_datasets = pytest.mark.skipif(
    importlib.util.find_spec("datasets") is None, reason="the extra  datasets  is not installed"
)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is fetched and nothing is kept outside of the test's folder."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))


def row(number: int, html: str | None = None) -> dict[str, object]:
    words = ["<p>", f"Moon {number}", "is", "small", "</p>"]
    return {
        "id": str(number),
        "document": {
            "html": html or f"<h1>Moon {number}</h1><p>Moon {number} is small.</p>",
            "title": f"Moon {number}",
            "url": f"https://en.wikipedia.org//w/index.php?title=Moon_{number}&amp;oldid={number + 100}",
            "tokens": {"token": words, "is_html": [word.startswith("<") for word in words]},
        },
        "question": {"text": f"how big is moon {number}", "tokens": ["how"]},
        "annotations": {
            "id": ["1"],
            "long_answer": [{"start_token": 0, "end_token": 5, "candidate_index": 0}],
            "short_answers": [{"start_token": [3], "end_token": [4], "text": ["small"]}],
            "yes_no_answer": [-1],
        },
    }


def write(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


@needs_datasets
@pytest.mark.usefixtures("offline")
def test_rows_are_streamed_into_items_that_carry_only_their_document(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.json", row(1), row(2))
    items = list(discover([f"hf:json:{path}"]))
    assert all(isinstance(item, Item) and b"tokens" not in (item.content or b"") for item in items)
    pages = [page for item in items if isinstance(item, Item) for page in read(item)]
    assert [(page.title, page.revision, page.source) for page in pages] == [
        ("Moon 1", 101, f"hf:json:{path}, row 1"),
        ("Moon 2", 102, f"hf:json:{path}, row 2"),
    ]


@needs_datasets
@pytest.mark.usefixtures("offline")
def test_streamed_rows_give_questions(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.json", row(3))
    (streamed,) = huggingface.rows(f"hf:json:{path}")
    (question,) = questions(streamed)
    assert (question.text, question.page, question.answers) == ("how big is moon 3", "Moon 3", ("small",))
    assert [marked.text for marked in question.marked] == ["Moon 3 is small"]


@needs_datasets
@pytest.mark.usefixtures("offline")
def test_rows_without_a_document_and_unreadable_sources_are_problems(tmp_path: Path) -> None:
    path = write(tmp_path / "other.json", {"title": "no document"})
    (found,) = discover([f"hf:json:{path}"])
    assert isinstance(found, Problem)
    assert (found.location, found.reason.split(",")[0]) == (
        f"hf:json:{path}, row 1",
        "expected a Natural Questions row",
    )
    (gone,) = discover([f"hf:json:{tmp_path / 'gone.json'}"])
    assert isinstance(gone, Problem)
    assert "cannot be read" in gone.reason


@pytest.mark.parametrize("source", ["hf:", "hf:json", "hf:json:", "hf:parquet:"])
def test_a_malformed_source_is_refused_at_once(source: str) -> None:
    with pytest.raises(InputError, match=r"expected hf:NAME\[:SPLIT\]"):
        discover([source])


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'trivium\[datasets\]'"):
        discover(["hf:natural_questions:validation"])
