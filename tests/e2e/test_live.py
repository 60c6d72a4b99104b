"""``--live`` on the command line: passages of a live source beside those of the store, cited by address and date."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from tests.e2e.conftest import Run
from tests.fakes.live_server import ARXIV, SEARXNG, Known, Reply, live_server
from trivium.cli.app import app

TITAN = Known("Titan", "Titan is the largest moon of Saturn. Christiaan Huygens discovered it in 1655.")
OF_TITAN = "Who discovered Titan, the largest moon of Saturn?"


def test_search_and_ask_take_live_sources_and_papers_are_kept(trivium: Run, tmp_path: Path) -> None:
    records = tmp_path / "records.jsonl"
    records.write_text('{"title": "Mars", "text": "Mars has two moons, Phobos and Deimos."}\n')
    store = tmp_path / "store"
    with live_server(TITAN) as server:
        variables = {
            "TRIVIUM_SEARXNG_URL": f"{server.address}/searxng",
            "TRIVIUM_ARXIV_URL": f"{server.address}{ARXIV}",
            "TRIVIUM_LIVE_PAGES": "0",
            "XDG_CACHE_HOME": str(tmp_path),
        }
        built = trivium("build", records, "--store", store, "--embedder", "minilm")
        assert built.code == 0, built.err

        found = trivium("search", OF_TITAN, "-s", store, "--live", "searxng", "arxiv", "--json", **variables)
        assert found.code == 0, found.err
        assert [source["name"] for source in found.json["sources"]] == ["searxng", "arxiv"]
        assert found.json["hits"][0]["live"]["source"] in ("searxng", "arxiv")
        shown = trivium("search", OF_TITAN, "-s", store, "--live", "searxng", **variables)
        assert f"searxng: {server.address}/pages/titan (2026-02-03)" in shown.out
        assert "searxng: 1 found in" in shown.err
        answer = trivium("ask", OF_TITAN, "-s", store, "--live", "searxng", "--json", **variables)
        assert answer.json["sources"][0]["found"] == 1 and answer.json["passages"][0]["live"] is not None
        talk = CliRunner().invoke(
            app,
            ["chat", "-s", str(store), "--live", "searxng", "--json"],
            input=f"{OF_TITAN}\nThank you!\n",
            env=variables,
        )
        first, thanks = map(json.loads, talk.stdout.splitlines())
        assert first["citations"][0]["live"]["source"] == "searxng" and first["sources"][0]["found"] == 1
        assert thanks["intent"] == "small_talk" and thanks["sources"] == []

        server.replies[SEARXNG] = Reply(b"", 500)
        failed = trivium("search", "moons of Mars", "-s", store, "--live", "searxng", **variables)
        assert failed.code == 0 and "Mars" in failed.out and "HTTP 500" in failed.err
        for wrong in ("bing", "brave"):
            refused = trivium("search", OF_TITAN, "-s", store, "--live", wrong, **variables)
            assert refused.code == 2 and wrong in refused.err

        kept = trivium("add", "arxiv:titan", "-s", store, "--json", **variables)
        assert kept.code == 0 and kept.json["pages"]["added"] == 1, kept.err
        again = trivium("search", OF_TITAN, "-s", store, "--live", "arxiv", "--json", **variables)
        hits = again.json["hits"]
        assert [(hit["page"], hit["live"]) for hit in hits if hit["format"] == "arxiv"] == [("Titan", None)]
