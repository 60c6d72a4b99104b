"""Files of every format over HTTP: uploaded, found, listed, and cited with their pages."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.fakes.hostile_files import encrypted_office, good_files, pdf
from tests.parser.documents.files import samples, zipped
from tests.pictures import drawn
from tests.server.test_documents import job
from tests.server.world import build_store, serving


def test_every_format_is_uploaded_found_and_the_bad_ones_are_named(tmp_path: Path) -> None:
    """Of a PDF, a picture, the Office formats, a book, Markdown, text, HTML, CSV and JSON."""
    store = Path(shutil.copytree(build_store(tmp_path), tmp_path / "served"))
    good = {suffix: file for suffix, file in good_files().items() if suffix not in samples()}
    report = pdf(["A report of the lock keepers.", "The ferry to Skagen sinks in 1911."])
    files = {
        **{f"The {format}.{format}": data for format, data in samples().items()},
        **{file.name: file.make() for file in good.values()},
        "report.pdf": report,
        "sign.png": drawn("BRIDGE CLOSED FOR WAGONS"),
    }
    bad = {
        "bomb.docx": zipped({"word/document.xml": bytes(20 << 20)}),
        "half.pdf": report[:200],
        "locked.pdf": pdf(["Nobody may read this."], encrypted=True),
        "locked.xlsx": encrypted_office(),
    }
    uploads = [("files", (name, data, "application/octet-stream")) for name, data in (files | bad).items()]
    with serving(store, extracts=True) as client:
        done = job(client, client.post("/documents", files=uploads))
        assert sorted(problem["location"] for problem in done["report"]["problems"]) == sorted(bad)
        assert (done["state"], done["report"]["added"]) == ("done", len(files))
        (incomplete,) = done["report"]["incomplete"]  # an entry of its package leads out of the book
        assert incomplete["location"] == "The epub.epub" and "the chapter 'out'" in incomplete["reason"]
        for question, name in (
            ("What does the lighthouse stand on?", "The docx.docx"),
            ("What is said about the price of colza?", "The pptx.pptx"),
            ("Since when is Ada keeper?", "The xlsx.xlsx"),
            ("When did a storm come?", "The epub.epub"),
            ("Who lives in Bergen?", "The csv.csv"),
            ("Is the bridge closed for wagons?", "sign.png"),
            *((file.word, file.name) for file in good.values()),
        ):
            hits = client.post("/search", json={"question": question, "k": 3}).json()["hits"]
            assert name in [hit["document"] for hit in hits], question
        (hit,) = client.post("/search", json={"question": "the price of colza", "k": 1}).json()["hits"]
        assert hit["page"] == "Lighthouses" and "colza" in hit["text"]
        assert (hit["document"], hit["pages"]) == ("The pptx.pptx", [2])

        answer = client.post("/ask", json={"question": "When does the ferry to Skagen sink?"}).json()
        assert "1911" in answer["answer"]
        cited = answer["citations"][0]
        assert (cited["document"], cited["pages"]) == ("report.pdf", [2])

        listed = {each["source"]: each for each in client.get("/documents?limit=50").json()["documents"]}
        assert {name: listed[name]["format"] for name in ("report.pdf", "sign.png", "The docx.docx")} == {
            "report.pdf": "pdf", "sign.png": "image", "The docx.docx": "docx",
        }  # fmt: skip
        whole = client.get(f"/documents/{listed['report.pdf']['uri']}").json()
        assert [passage["pages"] for passage in whole["passages"]] == [[1], [2]]
        assert (whole["format"], whole["path"]) == ("pdf", "report.pdf")
