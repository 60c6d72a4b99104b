"""Code is a kind of its own, and keeps its lines: in passages, where it is split, and in quotations."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parser.documents.files import book_of
from trivium.engine import Engine
from trivium.parser.split_blocks import MAX_TOKENS, split_points
from trivium.text.normalise import count_tokens

COMMAND = "orchard plant \\\n  --tree pear \\\n  --row 14"
PAGES = {
    "orchard.md": f"# Orchard\n\nTo plant a pear tree in the orchard:\n\n```sh\n{COMMAND}\n```\n",
    "orchard.html": f"<h1>Orchard</h1><p>To plant a pear tree in the orchard:</p><pre><code>{COMMAND}</code></pre>",
    "orchard2.html": f"<h1>Orchard</h1><p>To plant a pear tree in the orchard:</p><pre>{COMMAND}</pre>",
}


def book() -> bytes:
    return book_of(f"<html><body>{PAGES['orchard.html'].replace('&', '&amp;')}</body></html>")


@pytest.mark.parametrize("name", [*PAGES, "orchard.epub"])
def test_code_is_found_and_quoted_with_its_lines(name: str, tmp_path: Path) -> None:
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.add_files({name: PAGES[name] if name in PAGES else book()}, workers=1)
        (hit, *_) = engine.search("plant a pear tree", where="kind = code")
        assert hit.kind == "code" and COMMAND in hit.text
        answer = engine.ask("How do I plant a pear tree in the orchard?")
        assert COMMAND in answer.text and ";" not in answer.text


@pytest.mark.parametrize("name", ["press.md", "press.html", "press.epub"])
def test_brackets_of_quoted_code_are_no_citations(name: str, tmp_path: Path) -> None:
    code = "    apples = crates[1]\n    press(apples, [2, 3])"
    html = f"<p>To press the apples of a crate:</p><pre><code>{code}</code></pre>"
    page = f"<html><head><title>Press</title></head><body>{html}</body></html>"
    markdown = f"# Press\n\nTo press the apples of a crate:\n\n```py\n{code}\n```\n"
    data = {"md": markdown, "html": page, "epub": book_of(page)}[name.partition(".")[2]]
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.add_files({name: data}, workers=1)
        answer = engine.ask("How do I press the apples of a crate?")
        assert code in answer.text and answer.text.endswith(" [1]")
        assert [statement.citations for statement in answer.statements] == [(1,)]


@pytest.mark.parametrize("name", ["press.md", "press.html"])
def test_steps_with_code_are_quoted_whole(name: str, tmp_path: Path) -> None:
    steps = (
        "<p>Steps to start the press:</p><ol><li>Fetch the tool:<pre><code>pick press</code></pre></li>"
        "<li>Unpack it:<pre><code>lay press \\\n  --down</code></pre></li><li>Turn the wheel.</li></ol><p>It hums.</p>"
    )
    page = f"<html><head><title>Press</title></head><body><main>{steps}</main></body></html>"
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.add_files({name: page if name.endswith("html") else f"# Press\n\n{steps}\n"}, workers=1)
        text = engine.ask("How do I start the press?").text
    places = [
        text.find(part)
        for part in ("1. Fetch", "pick press", "2. Unpack", "lay press \\\n  --down", "3. Turn")
    ]
    assert places == sorted(places) and places[0] >= 0


def test_preformatted_poems_are_no_code(tmp_path: Path) -> None:
    with Engine.create(tmp_path / "store", "minilm") as engine:
        poem = "<h1>Song</h1><pre>The pear tree stood in snow,\n  and nobody came;\nthe gate (of oak) stayed low.</pre>"
        engine.add_files({"song.html": poem}, workers=1, embed=False)
        assert [chunk.kind for page in engine.store.page_graphs() for chunk in page.chunks] == ["paragraph"]


def test_long_code_is_split_between_lines_and_never_inside_a_command() -> None:
    text = "\n".join(f"    run step-{n} \\\n        --with tool-{n} \\\n        --fast" for n in range(90))
    pieces = [text[start:end] for start, end in split_points(text, code=True)]
    assert len(pieces) > 1 and "\n".join(pieces) == text
    assert all(count_tokens(piece) <= MAX_TOKENS and not piece.endswith("\\") for piece in pieces)
    blocks = ["\n".join(f"value_{n} = make({m})" for m in range(20)) for n in range(8)]
    parted = "\n\n".join(blocks)
    assert all(parted[:end].endswith(tuple(blocks)) for _, end in split_points(parted, code=True))
