"""No work on the way in is quadratic: of every kind of input four times as much takes about four times as long."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from trivium.index.parsing import parse_item
from trivium.index.record_pages import RecordPages
from trivium.parser.gazetteer import Gazetteer
from trivium.parser.sources.discover import file_items
from trivium.parser.sources.source_items import Item
from trivium.settings.limits import DEFAULT_LIMITS

MAX_EXPONENT = 1.5


def page(body: str) -> str:
    return f"<title>T</title><p>x</p>{body}"


def record(text: str) -> str:
    return json.dumps({"title": "T", "text": text})


KINDS: dict[str, tuple[int, Callable[[int], str]]] = {
    "equal headings": (900, lambda n: page("<h2>Same</h2><p>x</p>" * n)),
    "numbered headings": (700, lambda n: page("".join(f"<h2>A ({i})</h2><h2>A</h2>" for i in range(n)))),
    "elements of 500 attributes": (
        50,
        lambda n: page(("<p " + " ".join(f"a{i}" for i in range(500)) + ">x</p>") * n),
    ),
    "comments": (40_000, lambda n: page("<!-- c -->" * n)),
    "entities": (200_000, lambda n: page("<p>" + "&amp;" * n)),
    "unclosed paragraphs": (1_500, lambda n: page("<p>x" * n)),
    "unclosed links": (5_000, lambda n: page('<a href="/wiki/X">x' * n)),
    "misnested formatting": (8_000, lambda n: page("<b><i></b></i>x" * n)),
    "nested preformatted text": (2_000, lambda n: page("<pre>a  b" * n)),
    "nested tables": (1_000, lambda n: page("<table><tr><td>x" * n)),
    "rows of headers": (
        1_400,
        lambda n: page(
            "<table>" + "".join(f"<tr><th>h{i}<th>g{i}" for i in range(n)) + "<tr><td>a<td>b</table>"
        ),
    ),
    "wide headers": (
        600,
        lambda n: page(
            "<table>" + "".join(f"<tr><th colspan=200>h{i}<th>k" for i in range(n)) + "<tr><td>a<td>b</table>"
        ),
    ),
    "spans": (700, lambda n: page("<table>" + "<tr><td colspan=1000 rowspan=65534>a" * n + "</table>")),
    "infobox": (
        900,
        lambda n: page(
            "<table class=infobox>" + "".join(f"<tr><th>l{i}<td><a href=/wiki/X{i}>x</a>" for i in range(n))
        ),
    ),
    "definitions": (2_500, lambda n: page("<dl>" + "<dt>a<dd>b" * n)),
    "blanks in preformatted text": (10_000, lambda n: page("<pre>x" + " " * 10 * n + "x")),
    "a text of full stops": (100_000, lambda n: page("<p>" + "." * 5 * n)),
    "a text without spaces": (30_000, lambda n: page("<p>" + "x" * 10 * n)),
    "combining marks": (8_000, lambda n: record("a" + "\u0301\u0327" * n)),
    "records": (
        500,
        lambda n: "\n".join(json.dumps({"title": f"T{i}", "text": f"of T{i + 1}"}) for i in range(n)),
    ),
    "records of one title": (1_200, lambda n: "\n".join(record(f"the text {i}") for i in range(n))),
    "a record of names": (8_000, lambda n: record("a " * n)),
    "an array": (8_000, lambda n: "[" + record("x") + "," + "{}," * n + "{}]"),
    "an array of a long text": (2_500, lambda n: f"[{record('x ' * 5 * n)}]"),
    "bad lines": (5_000, lambda n: record("x") + "\n" + '["a"]\n' * n),
}


def seconds(file: Path) -> float:
    """Processor time to read the file and make its graphs, the better of two."""
    taken = []
    for _ in range(2):
        started = time.process_time()
        with closing(RecordPages(DEFAULT_LIMITS)) as pages:
            for found in file_items(str(file)):
                if isinstance(found, Item) and found.format == "records":
                    list(pages.read(found))
                elif isinstance(found, Item):
                    parse_item(found, DEFAULT_LIMITS)
            list(pages.graphs(Gazetteer(pages.names())))
        taken.append(time.process_time() - started)
    return min(taken)


@pytest.mark.parametrize("kind", KINDS)
def test_the_time_grows_with_the_size_and_not_its_square(tmp_path: Path, kind: str) -> None:
    """The slope of a line through the logarithms; once more where it is too steep, since the machine may be busy."""
    size, make = KINDS[kind]
    file = tmp_path / "input"
    sizes = [size, 2 * size, 4 * size]
    slope = math.inf
    for _ in range(3):
        times = []
        for many in sizes:
            file.write_text(make(many), "utf-8")
            times.append(seconds(file))
        slope = math.log(times[2] / times[0]) / math.log(4)
        if slope < MAX_EXPONENT:
            break
    assert slope < MAX_EXPONENT, times
