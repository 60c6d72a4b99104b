"""Dump files in every dress: what is well-formed arrives, what is not is named."""

from __future__ import annotations

import bz2
import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from tests.graph.dbpedia.world import TOPIC, fact, ntriples, wiki
from trivium.errors import InputError, MissingExtraError
from trivium.graph.dbpedia import Reporter, open_source
from trivium.graph.dbpedia.read_lines import LINE_LIMIT
from trivium.graph.dbpedia.source import Statement
from trivium.parser.sources.source_items import Problem

pytest.importorskip("pyoxigraph")

FACTS = [fact("Einstein", "deathPlace", "Princeton"), fact("Bohr", "birthPlace", "Copenhagen")]
TURTLE = """@prefix dbr: <http://dbpedia.org/resource/> . @prefix dbo: <http://dbpedia.org/ontology/> .
dbr:Einstein dbo:deathPlace dbr:Princeton ; dbo:abstract "He said: \\"it depends\\"."@en .
dbr:Bohr dbo:birthPlace dbr:Copenhagen .
"""


def read(*names: str | Path) -> tuple[list[Statement], list[Problem]]:
    found: list[Statement] = []
    problems: list[Problem] = []
    for name in names:
        found.extend(open_source(str(name)).facts([], Reporter(problems.append, lambda done, total: None)))
    return found, problems


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
@pytest.mark.parametrize(("suffix", "text"), [(".nt", ntriples(FACTS)), (".ttl", TURTLE)])
def test_every_format_and_packing_gives_the_same_statements(
    tmp_path: Path, suffix: str, text: str, pack: type[bytes]
) -> None:
    """The packing is told by the first bytes, so a file may also have lost or kept its suffix."""
    for name in (f"a{suffix}", f"b{suffix}.gz", f"c{suffix}.bz2"):
        path = tmp_path / name
        path.write_bytes(pack(text.encode()))
        assert read(path) == (FACTS, [])


def test_literals_and_blank_nodes_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_text(
        '# a comment\n\n<http://a/1> <http://a/p> "x <http://a/2> ."@en .\n<http://a/1> <http://a/p> _:b .\n'
        "_:b <http://a/p> <http://a/1> .\n" + ntriples(FACTS)
    )
    assert read(path) == (FACTS, [])


BAD_LINES = [
    b'<http://a/1> <http://a/p> "an open quote .',
    b"<http://a/1> <http://a/p> <http://a/ 2> .",
    b"<http://a/1> <http://a/p> <http://a/2>",
    b"<http://a/1> <http://a/p> <http://a/2> . <http://a/1> <http://a/p> <http://a/3> .",
    b"<http://a/1> <http://a/p> <http://a/\xff> .",
    b"garbage",
    b"\x00",
    b"<http://a/1> <http://a/p> " + b"<<( " * 5_000,
    b"<http://a/x> . DROP ALL> <http://a/p> <http://a/2> .",
]


@pytest.mark.parametrize("bad", BAD_LINES, ids=lambda line: repr(line[:40]))
def test_a_malformed_line_is_named_and_costs_no_other(tmp_path: Path, bad: bytes) -> None:
    """Also one that a parser running over the file would let swallow its neighbours."""
    path = tmp_path / "a.nt"
    first, last = (ntriples([each]).encode() for each in FACTS)
    path.write_bytes(first + bad + b"\n" + last)
    found, problems = read(path)
    assert found == FACTS
    assert [problem.location for problem in problems] == [f"{path}, line 2"]
    assert problems[0].reason and "line 1" not in problems[0].reason


def test_line_numbers_count_over_blocks(tmp_path: Path) -> None:
    """Blocks of 4,000 lines; bad lines in the first, the second and the last."""
    path = tmp_path / "a.nt"
    text = [ntriples(FACTS[:1])] * 9_000
    for number in (1, 4_001, 9_000):
        text[number - 1] = "bad\n"
    path.write_text("".join(text))
    found, problems = read(path)
    assert len(found) == 8_997
    assert [problem.location for problem in problems] == [f"{path}, line {n}" for n in (1, 4_001, 9_000)]


def test_an_endless_line_is_skipped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    first, last = (ntriples([each]).encode() for each in FACTS)
    path.write_bytes(first + b"<" + b"x" * (2 * LINE_LIMIT + 7) + b"\nbad\n" + last)
    found, problems = read(path)
    assert found == FACTS
    assert [problem.location for problem in problems] == [f"{path}, line 2", f"{path}, line 3"]


def test_turtle_goes_on_behind_a_malformed_statement(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text(
        TURTLE.replace("dbr:Bohr", "dbr:Mileva dbo:spouse dbr:Ein stein .\nun:known dbo:a dbr:B .\ndbr:Bohr")
    )
    found, problems = read(path)
    assert set(FACTS) <= set(found)
    assert {problem.location for problem in problems} == {f"{path}, line 3", f"{path}, line 4"}


def test_what_is_no_turtle_is_given_up_after_a_thousand_statements(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(TURTLE + ". un:known\n" * 3_000)
    (tmp_path / "b.nt").write_text(ntriples(FACTS))
    found, problems = read(tmp_path)
    assert found == FACTS + FACTS
    assert len(problems) == 1_001 and "rest of the file is left out" in problems[-1].reason


def test_a_statement_without_end_stops_a_turtle_file_only(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(TURTLE + '<http://a/1> <http://a/p> """' + "x" * (17 << 20))
    (tmp_path / "b.nt").write_text(ntriples(FACTS))
    found, problems = read(tmp_path)
    assert found == FACTS + FACTS
    assert len(problems) == 1 and "too long" in problems[0].reason


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
@pytest.mark.parametrize("kind", [".nt", ".ttl", ".tsv"])
def test_a_file_cut_short_is_named_and_the_next_one_read(
    tmp_path: Path, kind: str, suffix: str, pack: type[bytes]
) -> None:
    text = "Q1\ta\tp\tQ2\tb\n" * 5_000 if kind == ".tsv" else ntriples(FACTS) * 5_000
    whole = pack(text.encode())
    cut = tmp_path / f"a{kind}{suffix}"
    cut.write_bytes(whole[: len(whole) - 5])
    (tmp_path / "b.nt").write_text(ntriples(FACTS))
    found, problems = read(tmp_path)
    assert found[-2:] == FACTS
    assert [problem.location for problem in problems] == [str(cut)]
    assert "cut short" in problems[0].reason


@pytest.mark.parametrize("damage", [b"garbage", bytes(40)], ids=["codes", "sum"])
def test_a_damaged_file_is_named(tmp_path: Path, damage: bytes) -> None:
    """Whether the packed data make no sense or only their checksum does not fit."""
    whole = bytearray(gzip.compress(ntriples(FACTS).encode() * 5_000))
    place = 50 if damage == b"garbage" else len(whole) - 8
    whole[place : place + len(damage)] = damage
    path = tmp_path / "a.nt.gz"
    path.write_bytes(whole)
    _, problems = read(path)
    assert [problem.location for problem in problems if "damaged" in problem.reason] == (
        [str(path)] if damage == b"garbage" else []
    )
    assert problems[-1].location == str(path)


def test_tab_separated_rows_are_relations_and_names_are_pages(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(
        'Q937\tAlbert_Einstein\tbirthPlace\tQ3012\t\n\nQ1\t\tcountry\tQ9\tC#, "q" & Ä\n', encoding="utf-8"
    )
    item = "http://www.wikidata.org/entity/"
    found, problems = read(path)
    assert problems == []
    assert found == [
        (item + "Q937", "http://dbpedia.org/ontology/birthPlace", item + "Q3012"),
        (item + "Q937", TOPIC, wiki("Albert_Einstein")),
        (item + "Q1", "http://dbpedia.org/ontology/country", item + "Q9"),
        (item + "Q9", TOPIC, wiki("C%23,_%22q%22_&_Ä")),
    ]


@pytest.mark.parametrize(
    "bad",
    [
        b"Q1\ta\tp\tQ2",
        b"x\ta\tp\tQ2\tb",
        b"Q1\ta\tp p\tQ2\tb",
        b"Q1\ta\t\tQ2\tb",
        b"Q1\ta\tp> . DROP\tQ2\tb",
        b"\xff\ta\tp\tQ2\tb",
    ],
)
def test_a_malformed_row_is_named_and_costs_no_other(tmp_path: Path, bad: bytes) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(b"Q1\t\tp\tQ2\t\n" + bad + b"\nQ3\t\tp\tQ4\t\n")
    found, problems = read(path)
    assert len(found) == 2
    assert [problem.location for problem in problems] == [f"{path}, line 2"]


def test_folders_and_globs_are_read_in_order_and_other_files_are_refused(tmp_path: Path) -> None:
    for name, each in zip(("sub/b.nt", "a.nt"), FACTS, strict=True):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(ntriples([each]))
    (tmp_path / "notes.txt").write_text("not for us")
    assert read(tmp_path)[0] == FACTS[::-1]
    assert read(tmp_path / "**" / "*.nt")[0] == FACTS[::-1]
    for name in ("notes.txt", "missing.nt", "*.ttl"):
        with pytest.raises(InputError, match=r"notes|missing|ttl"):
            read(tmp_path / name)


def test_progress_counts_bytes_of_all_files(tmp_path: Path) -> None:
    for name in ("a.nt", "b.nt.gz"):
        (tmp_path / name).write_bytes(
            (gzip.compress if name.endswith("z") else bytes)(ntriples(FACTS).encode() * 9_000)
        )
    total = sum(path.stat().st_size for path in tmp_path.iterdir())
    calls: list[tuple[int, int]] = []
    reporter = Reporter(lambda problem: None, lambda done, whole: calls.append((done, whole)))
    list(open_source(str(tmp_path)).links([], reporter))
    assert calls == sorted(calls)
    assert calls[-1] == (total, total) and len(calls) > 2


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tab-separated files need none."""
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    for name in ("rdf", "sparql_client", "sparql_source"):
        monkeypatch.delitem(sys.modules, f"trivium.graph.dbpedia.{name}", raising=False)
    (tmp_path / "a.nt").write_text("")
    (tmp_path / "a.tsv").write_text("")
    for source in (str(tmp_path / "a.nt"), "http://127.0.0.1:1/sparql"):
        with pytest.raises(MissingExtraError, match=r"pip install 'trivium\[dbpedia\]'"):
            open_source(source)
    assert read(tmp_path / "a.tsv") == ([], [])


def test_neither_trivium_nor_this_package_loads_the_optional_one() -> None:
    code = "import sys, trivium, trivium.engine, trivium.graph.dbpedia;print('pyoxigraph' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "False", done.stderr
