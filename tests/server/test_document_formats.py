"""Files of every Office format over HTTP: uploaded, found, and read with their pages."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.parser.documents.files import samples, zipped
from tests.server.test_documents import job
from tests.server.world import build_store, serving


def test_every_format_is_uploaded_found_and_the_bad_ones_are_named(tmp_path: Path) -> None:
    store = Path(shutil.copytree(build_store(tmp_path), tmp_path / "served"))
    files = [
        ("files", (f"The {format}.{format}", data, "application/octet-stream"))
        for format, data in samples().items()
    ]
    files.append(
        ("files", ("bomb.docx", zipped({"word/document.xml": bytes(20 << 20)}), "application/octet-stream"))
    )
    with serving(store) as client:
        done = job(client, client.post("/documents", files=files))
        assert (done["state"], done["report"]["added"]) == ("done", len(samples()))
        assert [problem["location"] for problem in done["report"]["problems"]] == ["bomb.docx"]
        for question, page in (
            ("What does the lighthouse stand on?", "Lighthouse Manual"),
            ("What is said about the price of colza?", "Lighthouses"),
            ("Since when is Ada keeper?", "The xlsx"),
            ("When did a storm come?", "The Rock"),
            ("Who lives in Bergen?", "The csv"),
        ):
            hits = client.post("/search", json={"question": question, "k": 3}).json()["hits"]
            assert page in [hit["page"] for hit in hits], question
        (hit,) = client.post("/search", json={"question": "the price of colza", "k": 1}).json()["hits"]
        assert hit["page"] == "Lighthouses" and "colza" in hit["text"]
        assert (hit["document"], hit["pages"]) == ("The pptx.pptx", [2])
