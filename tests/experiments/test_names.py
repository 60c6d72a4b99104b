"""Names in text are compared with the links of pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.names import against_links

PAGE = """<html><head><title>Uranus - Wikipedia</title></head><body><h1>Uranus</h1>
<p>In 1781 the planet was found by <a href="/wiki/William_Herschel">William Herschel</a>, a <a
href="/wiki/Musician">musician</a> of
<a href="/wiki/Bath,_Somerset">Bath, Somerset</a>. Later he met Nevil Maskelyne.</p></body></html>"""


def test_links_that_look_like_names_are_the_truth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two such links one is found exactly and one in part; two more names are found, one beside a link."""
    (tmp_path / "Uranus.html").write_text(PAGE, "utf-8")
    against_links.main(["--data", str(tmp_path), "--sample", "9", "--mistakes", "9"])
    printed = capsys.readouterr().out
    assert "| all | 2 | 0.500 | 1.000 | 4 | 0.333 | 0.250 |" in printed
    assert "[[Nevil Maskelyne]]" in printed
    assert "found ['Bath', 'Somerset']" in printed
