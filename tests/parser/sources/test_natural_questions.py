"""Natural Questions rows: their page, their question, and their answers traced to chunks."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from trivium.errors import InputError, ParseError
from trivium.parser.sources.discover import discover, read
from trivium.parser.sources.locate_marked_text import MarkedPage, words_of
from trivium.parser.sources.natural_question_rows import annotated, as_row, tokens
from trivium.parser.sources.natural_questions import questions, to_page
from trivium.parser.sources.source_items import Item, Problem
from trivium.types import Page

DATA = Path(os.environ.get("TRIVIUM_DATA", Path(__file__).parents[4] / "shared" / "data"))

HTML = (
    "<html><head><title>Io - Wikipedia</title></head><body><h1>Io</h1>"
    "<p>Io is a moon of Jupiter . It was found in 1610 .</p>"
    "<p>Galileo found it <sup class='reference'>[1]</sup> with a telescope in January 1610 .</p>"
    "<table><tr><th>Name</th><th>Found</th></tr><tr><td>Io</td><td>1610</td></tr>"
    "<tr><td>Amalthea</td><td>1892</td></tr></table></body></html>"
)
# Every tag and word a token, as in the data.
TOKENS = re.findall(r"<[^>]*>|[^\s<]+", HTML)


def span(first: str, last: str, after: int = 0) -> tuple[int, int]:
    start = TOKENS.index(first, after)
    return start, TOKENS.index(last, start) + 1


FIRST_P = span("<p>", "</p>")
SECOND_P = span("<p>", "</p>", FIRST_P[1])
TABLE = span("<table>", "</table>")
YEAR = span("1610", "1610", SECOND_P[0])
NOTHING = (-1, -1)


def annotation(long: tuple[int, int], *short: tuple[int, int], yes_no: str = "NONE") -> dict[str, Any]:
    return {
        "long_answer": {"start_token": long[0], "end_token": long[1]},
        "short_answers": [{"start_token": start, "end_token": end} for start, end in short],
        "yes_no_answer": yes_no,
    }


def original(*annotations: dict[str, Any]) -> dict[str, Any]:
    return {
        "document_html": HTML,
        "document_title": "Io",
        "document_url": "https://en.wikipedia.org//w/index.php?title=Io_(moon)&amp;oldid=42",
        "document_tokens": [{"token": token, "html_token": token.startswith("<")} for token in TOKENS],
        "question_text": "when was io found",
        "example_id": 7,
        "annotations": list(annotations),
    }


def columns(*annotations: dict[str, Any]) -> dict[str, Any]:
    """The same row in the shape of the Hugging Face data set."""
    return {
        "id": "7",
        "document": {
            "html": HTML,
            "title": "Io",
            "url": "https://en.wikipedia.org//w/index.php?title=Io_(moon)&amp;oldid=42",
            "tokens": {"token": TOKENS, "is_html": [token.startswith("<") for token in TOKENS]},
        },
        "question": {"text": "when was io found"},
        "annotations": {
            "long_answer": [one["long_answer"] for one in annotations],
            "short_answers": [
                {key: [short[key] for short in one["short_answers"]] for key in ("start_token", "end_token")}
                for one in annotations
            ],
            "yes_no_answer": [{"YES": 1, "NO": 0}.get(one["yes_no_answer"], -1) for one in annotations],
        },
    }


SHAPES = pytest.mark.parametrize("shape", [original, columns])


@SHAPES
def test_the_page_has_the_title_and_the_revision_of_the_row(shape: Any) -> None:
    page = to_page(shape(), source="rows, line 1")
    assert (page.title, page.revision, page.source) == ("Io", 42, "rows, line 1")
    assert page.chunks[0].text.startswith("Io is a moon of Jupiter")


def test_a_row_without_a_title_takes_that_of_its_address() -> None:
    row = original() | {"document_title": "", "document_html": "<p>Io is a moon.</p>"}
    assert to_page(row).title == "Io (moon)"
    row["document_url"] = "https://en.wikipedia.org/wiki/Io_%28moon%29"
    assert to_page(row).title == "Io (moon)"


def test_another_name_the_row_gives_is_an_alias() -> None:
    assert to_page(original() | {"document_title": "Jupiter I"}).aliases == ("Jupiter I",)


@SHAPES
def test_a_question_has_its_distinct_answers_and_the_most_marked_paragraph(shape: Any) -> None:
    (question,) = questions(
        shape(
            annotation(FIRST_P, span("1610", "1610")),
            annotation(SECOND_P, YEAR, span("January", "1610")),
            annotation(SECOND_P, yes_no="YES"),
            annotation(NOTHING),
        )
    )
    assert (question.id, question.text, question.page) == ("nq-7", "when was io found", "Io")
    assert question.answers == ("1610", "January 1610", "yes")
    assert question.paragraph == "Galileo found it [1] with a telescope in January 1610 ."


def test_a_question_nobody_could_answer_is_kept_without_answers() -> None:
    (question,) = questions(original(annotation(NOTHING), annotation(NOTHING)))
    assert (question.answers, question.paragraph) == ((), None)


def gold(row: dict[str, Any], page: Page) -> list[tuple[int, ...] | str]:
    """The chunks that hold the long answers of any annotator of a row, or why there are none."""
    (question,) = questions(row, "any")
    marked = MarkedPage(page.text, [(chunk.start, chunk.end) for _, chunk in page.all_chunks()])
    return [marked.find(one) for one in question.marked]


@SHAPES
def test_answers_are_traced_to_their_chunks_though_a_table_is_told_in_other_words(shape: Any) -> None:
    row = shape(annotation(SECOND_P, YEAR), annotation(FIRST_P), annotation(TABLE))
    assert gold(row, to_page(row)) == [(1,), (0,), (2,)]


def test_of_the_same_words_the_annotated_ones_are_traced() -> None:
    """The long reference mark is not on the page, so that places alone would mislead."""
    mark = "<sup class='reference'> " + "mark " * 12 + "</sup>"
    text = f"<p> ask ten moons </p><p> ask ten moons </p><p> of Jupiter {mark} </p><p> ask ten moons </p>"
    given = re.findall(r"<[^>]*>|[^\s<]+", text)
    for chunk, token in zip((0, 1, 3), [at for at, one in enumerate(given) if one == "ask"], strict=True):
        row = original(annotation((token, token + 3))) | {
            "document_html": text,
            "document_tokens": [{"token": one, "html_token": one.startswith("<")} for one in given],
        }
        assert gold(row, to_page(row)) == [(chunk,)]


def test_an_answer_that_is_not_on_the_page_comes_back_with_the_reason() -> None:
    row = original(annotation(FIRST_P), annotation(span("</p>", "</p>")))
    other = to_page(row | {"document_html": "<p>Io has volcanoes, unlike any other moon of Jupiter.</p>"})
    lost, empty = gold(row, other)
    assert re.match(r"[1-5]\d% of its words are on the page in one window, 60% are needed", str(lost))
    assert empty == "the annotated tokens hold no words"
    with pytest.raises(InputError, match="outside a document of"):
        questions(original(annotation((5, 10_000))))


@pytest.mark.parametrize(
    "value",
    [None, [], "text", {}, {"document_html": None}, {"document": {"html": 5}}, {"document": "x"}],
)
def test_a_value_without_a_document_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="expected a Natural Questions row"):
        as_row(value)


@pytest.mark.parametrize("broken", [{}, {"document_tokens": 5}, {"document_tokens": [{"token": "x"}]}])
def test_malformed_tokens_are_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="document's tokens"):
        tokens({"document_html": HTML} | broken)


@pytest.mark.parametrize("broken", [{}, {"annotations": 5}, {"annotations": [{"long_answer": {}}]}])
def test_malformed_annotations_are_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="expected annotations"):
        annotated({"document_html": HTML} | broken)


def test_a_row_without_its_question_is_refused() -> None:
    row = original()
    del row["question_text"]
    with pytest.raises(InputError, match="with its question"):
        questions(row)


def test_rows_are_read_from_their_place_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    other = columns() | {
        "document": columns()["document"] | {"html": HTML.replace("Io", "Europa"), "title": "Europa"}
    }
    path.write_text("\n".join([json.dumps(original()), "", json.dumps(other), '{"document_html": "cut']))
    items = list(discover([str(path)]))
    assert not [found for found in items if isinstance(found, Problem)]
    first, second, cut = (item for item in items if isinstance(item, Item))
    assert [page.title for page in (*read(first), *read(second))] == ["Io", "Europa"]
    assert read(second)[0].source == f"{path}, line 3"
    with pytest.raises(InputError, match="cut short"):
        read(cut)


def test_html_items_are_read_and_bad_ones_refused(tmp_path: Path) -> None:
    (tmp_path / "io.html").write_text(HTML)
    (tmp_path / "empty.html").write_text("<html></html>")
    (page,) = read(Item("html", str(tmp_path / "io.html")))
    assert (page.title, page.source) == ("Io", str(tmp_path / "io.html"))
    with pytest.raises(ParseError):
        read(Item("html", str(tmp_path / "empty.html")))
    with pytest.raises(InputError, match="No such file"):
        read(Item("html", str(tmp_path / "gone.html")))
    with pytest.raises(ValueError, match="read_records"):
        read(Item("records", str(tmp_path / "io.html")))


@pytest.mark.data
@pytest.mark.skipif(not DATA.is_dir(), reason="the evaluation data is not there (TRIVIUM_DATA)")
def test_every_answer_of_the_five_original_rows_is_traced() -> None:
    """At least 90 % of an answer's words are in the text of the chunks it is traced to."""
    pages = traced = 0
    for item in discover([str(DATA / "nq" / "original_format")]):
        assert isinstance(item, Item)
        row = json.loads(Path(item.location).read_bytes()[item.offset :][: item.length])
        (page,) = read(item)
        pages += 1
        chunks = [chunk for _, chunk in page.all_chunks()]
        (question,) = questions(row, "any")
        for marked, found in zip(question.marked, gold(row, page), strict=True):
            assert not isinstance(found, str), found
            traced += 1
            words = set(words_of(" ".join(chunks[at].text for at in found)))
            wanted = words_of(marked.text)
            assert sum(word in words for word in wanted) / len(wanted) > 0.9
    assert (pages, traced) == (5, 3)
