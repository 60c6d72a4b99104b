"""Names in text are compared with the links of pages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from experiments.names import against_links, linear_rag
from trivium.graph.sqlite import EmbeddedStore
from trivium.index.load import load

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


def test_what_texts_state_is_counted_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "Datchet.md").write_text("# Datchet\n\nDatchet is a village of Caroline Herschel.\n", "utf-8")
    with EmbeddedStore.create(tmp_path / "store") as store:
        load([str(tmp_path / "Datchet.md")], store, entities="rules")
    against_links.main(["--stated", str(tmp_path / "store"), "--sample", "2"])
    printed = capsys.readouterr().out
    assert (
        "1 relations of 1 types\n2 entities, 1 by relations alone\n2 names, 2 with a kind, 1 told" in printed
    )
    assert "Datchet | village of | Caroline Herschel << Datchet is a village of Caroline Herschel." in printed


def test_linear_rag_reaches_a_passage_over_a_shared_name() -> None:
    """The name 0 of the question is in the first passage; a sentence there leads to the name 1, which the second has. The
    third is as close to the question and has another name."""
    counts = [Counter([0, 1]), Counter([1]), Counter([2])]
    names = linear_rag.Names(
        {}, counts, [[0, 1], [1], [2]], {0: [0], 1: [0, 1], 2: [2]}, np.eye(3)[[0, 0, 1]]
    )
    names.numbers.update({"mars": 0, "asaph hall": 1, "goshen": 2})
    active = linear_rag.activated(names, np.eye(3)[0], {0: (1.0, 1)})
    assert active == {0: (1.0, 2), 1: (1.0, 3)}
    steps = linear_rag.steps_among(counts, 3)
    assert steps.sum(axis=0).tolist() == pytest.approx([1.0] * 6)
    found = linear_rag.scores(names, steps, np.array([0.8, 0.5, 0.5]), active)
    assert np.argsort(-found).tolist() == [0, 1, 2]
