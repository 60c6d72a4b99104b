"""Document formats: original documents of each, how it is read, and how the result is checked."""

from __future__ import annotations

import bz2
import gzip
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from trivium.datasets.questions import read_questions
from trivium.errors import TriviumError
from trivium.graph.build_page_graph import build
from trivium.graph.dbpedia.open_source import open_source
from trivium.graph.dbpedia.source import Reporter
from trivium.graph.page_graph import PageGraph
from trivium.parser.gazetteer import Gazetteer
from trivium.parser.sources import natural_questions
from trivium.parser.sources.discover import discover, read
from trivium.parser.sources.locate_marked_text import MarkedPage
from trivium.parser.sources.natural_question_rows import as_row
from trivium.parser.sources.read_files import parse_json
from trivium.parser.sources.source_items import Format, Item, Problem
from trivium.parser.sources.title_text_records import Record, read_records, records_to_pages
from trivium.sample import folder as sample_folder
from trivium.sample import pages_folder
from trivium.types import Page

_PLAIN = (
    b"<html><head><title>Io</title></head><body><h1>Io</h1><p>Io is a <a href='/wiki/Moon'>moon</a> of Jupiter.</p>"
    b"<ul><li>one<ul><li>two</ul><li>three</ul><h2>Found</h2><table><tr><th rowspan=2>Who<td>Galileo<tr><td>1610</table>"
    b"<dl><dt>term<dd>meaning</dl><blockquote>said</blockquote><h3>Later</h3><pre>a  b</pre></body></html>",
    "<meta charset=koi8-r><title>Марс</title><p>Марс, планета.</p>".encode("koi8-r"),
    "\ufeff<title>Mars</title><p>naïve “so” planet</p>".encode("utf-16-le"),
)
_TRIPLES = "\n".join(
    f"<http://dbpedia.org/resource/{a}> <http://dbpedia.org/ontology/{p}> <http://dbpedia.org/resource/{b}> ."
    for a, p, b in (
        ("Io_(moon)", "discoverer", "Galileo_Galilei"),
        ("Mars", "satellite", "Phobos_%28moon%29"),
    )
) + (
    "\n<http://dbpedia.org/resource/Mars> <http://xmlns.com/foaf/0.1/isPrimaryTopicOf> "
    "<http://en.wikipedia.org/wiki/Mars> .\n"
    '<http://dbpedia.org/resource/Mars> <http://www.w3.org/2000/01/rdf-schema#label> "Mars \\u00e9"@en .\n'
    "<http://dbpedia.org/resource/Mars> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
    "<http://dbpedia.org/ontology/Planet> .\n"
)
_TURTLE = (
    "@prefix dbr: <http://dbpedia.org/resource/> .\n@prefix dbo: <http://dbpedia.org/ontology/> .\n"
    'dbr:Mars a dbo:Planet ; dbo:satellite dbr:Phobos , dbr:Deimos ; dbo:abstract """red\nplanet"""@en .\n'
    "dbr:Phobos dbo:discoverer [ a dbo:Person ] .\n"
)
_TSV = "Q111\tMars\tsatellite\tQ7547\tPhobos\nQ111\tMars\tsatellite\tQ7548\tDeimos (moon)\n"
_STATEMENTS = 20_000

Check = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Documents:
    """Documents of one format. ``suffix`` is what their files are called, ``check`` reads a file and raises
    AssertionError where what was read is wrong; errors of the package mean that the document was refused."""

    suffix: str
    originals: Sequence[bytes]
    check: Check


@cache
def formats() -> Mapping[str, Documents]:
    """Return all formats by name."""
    pages = [
        path.read_bytes() for path in sorted(pages_folder().iterdir(), key=lambda path: path.stat().st_size)
    ]
    small = pages[:12]
    records = [
        {"title": f"Moon {n}", "text": f"Moon {n} is near Moon {n + 1}. It is (very) old."} for n in range(8)
    ]
    listed = json.dumps(records).encode()
    lines = b"\n".join(json.dumps(record).encode() for record in records)
    rows = [b"\n".join(json.dumps(row).encode() for row in some) for some in _natural_questions()]
    api = [
        json.dumps(
            {
                "parse": {
                    "title": "Io",
                    "revid": 7,
                    "text": page.decode(),
                    "redirects": [{"from": "Io I", "to": "Io"}],
                }
            }
        ).encode()
        for page in (_PLAIN[0], small[0])
    ]
    questions = b"\n".join((sample_folder() / "questions_single_hop.jsonl").read_bytes().splitlines()[:10])
    html, records_check, nq_check = source_check("html"), source_check("records"), source_check("nq")
    return {
        "mediawiki": Documents(".html", [*small, pages[-1]], html),
        "html": Documents(".html", _PLAIN, html),
        "records": Documents(".json", [listed], records_check),
        "json lines": Documents(".jsonl", [lines], records_check),
        "nq": Documents(".jsonl", rows, nq_check),
        "unnamed": Documents("", [*_PLAIN, listed, lines, *rows], source_check("auto")),
        "gzip": Documents(
            ".gz", [gzip.compress(data, mtime=0) for data in (*_PLAIN, lines, *rows)], source_check("auto")
        ),
        "wiki api": Documents(".json", api, _check_api),
        "questions": Documents(".jsonl", [questions], _check_questions),
        "n-triples": Documents(".nt", [_TRIPLES.encode()], _check_dump),
        "turtle": Documents(".ttl", [_TURTLE.encode()], _check_dump),
        "tsv": Documents(".tsv", [_TSV.encode()], _check_dump),
        "bzip2": Documents(".nt.bz2", [bz2.compress(_TRIPLES.encode())], _check_dump),
    }


def repacked(name: str, data: bytes) -> bytes:
    """Put a mutated document back into the container of its format, so that only the content is damaged."""
    return {"gzip": lambda: gzip.compress(data, mtime=0), "bzip2": lambda: bz2.compress(data)}.get(
        name, lambda: data
    )()


def unpacked(name: str, data: bytes) -> bytes:
    """Return the content of a format's container."""
    return {"gzip": lambda: gzip.decompress(data), "bzip2": lambda: bz2.decompress(data)}.get(
        name, lambda: data
    )()


def _natural_questions() -> list[list[dict[str, Any]]]:
    html = _PLAIN[0].decode()
    tokens = re.findall(r"<[^>]*>|[^\s<]+", html)
    answer = {"start_token": 8, "end_token": 20}
    short = {"start_token": 10, "end_token": 12}
    url = "https://en.wikipedia.org//w/index.php?title=Io_(moon)&amp;oldid=42"
    original = {
        "document_html": html,
        "document_title": "Io",
        "document_url": url,
        "document_tokens": [{"token": token, "html_token": token.startswith("<")} for token in tokens],
        "question_text": "when was io found",
        "example_id": 7,
        "annotations": [{"long_answer": answer, "short_answers": [short], "yes_no_answer": "NONE"}],
    }
    columns = {
        "id": "7",
        "document": {
            "html": html,
            "title": "Io",
            "url": url,
            "tokens": {"token": tokens, "is_html": [token.startswith("<") for token in tokens]},
        },
        "question": {"text": "when was io found"},
        "annotations": {
            "long_answer": [answer],
            "short_answers": [{"start_token": [10], "end_token": [12]}],
            "yes_no_answer": [-1],
        },
    }
    return [[original, original], [columns]]


def source_check(format: Format) -> Check:
    """Return a check that reads files as a build does and checks the resulting pages."""

    def check(path: Path) -> None:
        seen = set()
        for asked in dict.fromkeys((format, "auto")):
            for item in discover([str(path)], asked):
                if item in seen:  # read the same way already
                    continue
                seen.add(item)
                if isinstance(item, Problem):
                    _check_problem(item)
                elif item.format == "records":
                    _check_records(path)
                else:
                    _check_item(item)

    return check


def _check_item(item: Item) -> None:
    try:
        pages = read(item)
    except TriviumError as error:
        _check_problem(Problem(item.name, str(error)))
        return
    for page in pages:
        check_page(page)
    if item.format == "nq":
        _check_row(item, pages[0])


def _check_row(item: Item, page: Page) -> None:
    try:
        data = item.content or Path(item.location).read_bytes()[item.offset :][: item.length]
        row = as_row(parse_json(data))
        chunks = [(chunk.start, chunk.end) for _, chunk in page.all_chunks()]
        marked_page = MarkedPage(page.text, chunks)
        for question in natural_questions.questions(row, "any"):
            for marked in question.marked:
                found = marked_page.find(marked)
                assert isinstance(found, str) or all(0 <= at < len(chunks) for at in found)
    except TriviumError:
        return


def _check_records(path: Path) -> None:
    found = list(read_records(path))
    records = [one for one in found if isinstance(one, Record)]
    for problem in [one for one in found if isinstance(one, Problem)][:20]:
        _check_problem(problem)
    titles = sorted({record.title for record in records})
    pages = records_to_pages(records, Gazetteer((title, title) for title in titles))
    assert sorted(page.title for page in pages) == titles
    for page in pages:
        check_page(page)


def _check_api(path: Path) -> None:
    _check_item(Item("wiki", "wiki:Io", content=path.read_bytes()))


def _check_questions(path: Path) -> None:
    try:
        questions = read_questions(path)
    except TriviumError as error:
        _check_problem(Problem(str(path), str(error)))
        return
    assert len({question.id for question in questions}) == len(questions)


def _check_dump(path: Path) -> None:
    problems: list[Problem] = []
    try:
        source = open_source(str(path))
        reporter = Reporter(problems.append, lambda *_: None)
        for statement in (
            *islice(source.links((), reporter), _STATEMENTS),
            *islice(source.facts((), reporter), _STATEMENTS),
        ):
            assert len(statement) == 3
            for part in statement:
                part.encode("utf-8")
    except TriviumError as error:
        problems.append(Problem(str(path), str(error)))
    for problem in problems[:20]:
        _check_problem(problem)


def _check_problem(problem: Problem) -> None:
    assert problem.reason, "a problem without a reason"
    assert len(problem.reason) < 2000, f"a reason of {len(problem.reason)} characters"


def check_page(page: Page) -> None:
    """Raise AssertionError if the parts of a page, or of its graph, contradict each other."""
    page.text.encode("utf-8")
    assert page.title and page.title == page.title.strip(), f"title {page.title!r}"
    end = 0
    for _, chunk in page.all_chunks():
        assert page.text[chunk.start : chunk.end] == chunk.text, (
            f"a chunk is not its slice: {chunk.text[:50]!r}"
        )
        assert end <= chunk.start < chunk.end, "chunks overlap"
        end = chunk.end
        for link in chunk.links:
            assert link.target and chunk.start <= link.start <= link.end <= len(page.text), f"a link {link}"
    for number, section in enumerate(page.sections):
        assert section.parent is None or section.parent < number, "a section stands under a later one"
        assert section.level == (1 if section.parent is None else page.sections[section.parent].level + 1)
    try:
        graph = build(page)
    except TriviumError as error:
        _check_problem(Problem(page.title, str(error)))
        return
    _check_graph(graph)


def _check_graph(graph: PageGraph) -> None:
    uris = [graph.uri, *(section.uri for section in graph.sections), *(chunk.uri for chunk in graph.chunks)]
    assert len(set(uris)) == len(uris), "a uri occurs twice"
    known = {graph.uri, *(section.uri for section in graph.sections)}
    assert all(node.parent in known for node in (*graph.sections, *graph.chunks)), "a parent is unknown"
    for uri in (*uris, *graph.aliases, *(edge.target for edge in graph.relations)):
        uri.encode("utf-8")
