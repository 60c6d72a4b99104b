"""Metadata and conditions at every door: the command line, HTTP, MCP's and LangChain's are in tests/integrations."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.conftest import Run
from tests.server.test_documents import job
from tests.server.world import serving


def test_a_byte_order_mark_hides_nothing_from_a_condition(trivium: Run, tmp_path: Path) -> None:
    """Whichever of file and condition has it: titles are copied from files that begin with one."""
    store, mark = tmp_path / "store", "\ufeff"
    record = {"title": f"{mark}Themis", "text": "A moon that was supposed near Saturn."}
    (tmp_path / "moons.jsonl").write_text(json.dumps(record))
    (tmp_path / "note.md").write_text(f"---\nauthor: {mark}Ann\n---\n\n# Neith\n\nA moon near Venus.\n")
    built = trivium("build", *sorted(tmp_path.glob("*.*")), "--store", store, "--embedder", "minilm")
    assert built.code == 0, built.err
    for where, page in (("title", "Themis"), ("author", "Ann")):
        for value in (page, f"{mark}{page}"):
            asked = ["search", "moon", "--store", store, "--where", f"{where} = '{value}'", "--json"]
            assert len(trivium(*asked).json["hits"]) == 1, ascii((where, value))


def test_metadata_and_conditions_on_the_command_line_and_over_http(trivium: Run, tmp_path: Path) -> None:
    """Five notes of one text: only the condition tells them apart. What is uploaded carries metadata, too."""
    store, folder = tmp_path / "store", tmp_path / "reports"
    for year in range(2019, 2024):
        folder.mkdir(exist_ok=True)
        text = f"---\nyear: {year}\n---\n\n# Report {year}\n\nThe lighthouse was painted white.\n"
        (folder / f"report-{year}.md").write_text(text)
    built = trivium("build", folder, "--store", store, "--embedder", "minilm", "--meta", "place=Fastnet Rock")
    assert built.code == 0, built.err

    def years(condition: str) -> set[str]:
        found = trivium(
            "search",
            "What colour is the lighthouse?",
            "--store",
            store,
            "-k",
            "3",
            "--where",
            condition,
            "--json",
        )
        assert found.code == 0, found.err
        return {hit["page"] for hit in found.json["hits"]}

    assert years("year >= 2021 and year != 2022") == {"Report 2021", "Report 2023"}
    assert years("path = 'report-2019.md' and place = 'Fastnet Rock'") == {"Report 2019"}
    assert years("place = 'Elsewhere'") == set()
    assert years("document = 'report-2019.md'") == {"Report 2019"}
    nothing = trivium("search", "lighthouse", "--store", store, "--where", "Year = 2020")
    assert nothing.code == 0 and "did you mean year?" in nothing.err
    answer = trivium(
        "ask", "What colour was the lighthouse painted?", "--store", store, "--where", "year = 2020", "--json"
    )
    assert {hit["page"] for hit in answer.json["passages"]} == {"Report 2020"}
    wrong = trivium("search", "lighthouse", "--store", store, "--where", "year >=")
    assert wrong.code == 2 and "--where" in wrong.err
    refused = trivium("add", folder, "--store", store, "--meta", "year")
    assert refused.code == 2 and "--meta" in refused.err

    with serving(store) as client:
        sent = client.post(
            "/documents",
            files=[("files", ("note.txt", b"The lighthouse is striped now.", "text/plain"))],
            data={"meta": json.dumps({"year": 2024, "checked": True})},
        )
        assert job(client, sent)["state"] == "done"
        asked = {
            "question": "What colour is the lighthouse?",
            "k": 5,
            "where": "year >= 2023 and checked = true",
        }
        (hit,) = client.post("/search", json=asked).json()["hits"]
        assert (hit["page"], hit["document"], hit["metadata"]["year"]) == ("note", "note.txt", 2024)
        answered = client.post("/ask", json={**asked, "where": "year = 2022"}).json()
        assert {hit["page"] for hit in answered["passages"]} == {"Report 2022"}
        none = client.post("/search", json={**asked, "where": "Year = 2020"}).json()
        assert none["hits"] == [] and "did you mean year?" in none["warnings"][1]
        bad = client.post("/search", json={**asked, "where": "year ="})
        assert bad.status_code in (400, 422) and "where" in bad.text
        assert "Value error" not in bad.text and "pydantic" not in bad.text
        bad = client.post("/documents", files=[("files", ("a.txt", b"x"))], data={"meta": "[1]"})
        assert bad.status_code in (400, 422) and "meta" in bad.text
