"""Documents over HTTP: read with their offsets, added, replaced and removed by jobs."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.language_texts import TEXTS
from tests.pictures import drawn
from tests.server.world import HTML, QUESTION, as_file, finished, serving
from trivium.engine import Engine
from trivium.parser.ocr import ocr_available
from trivium.server import uploads
from trivium.server.settings import ServerSettings
from trivium.text.languages import StoreLanguages

LIMITED = ServerSettings(upload_bytes=100_000)
FORM = "multipart/form-data; boundary=b"


@pytest.fixture(scope="module")
def untouched(store: Path) -> Iterator[TestClient]:
    """A server whose documents no test changes."""
    with serving(store, LIMITED) as client:
        yield client


@pytest.fixture
def client(store: Path, tmp_path: Path) -> Iterator[TestClient]:
    """A server of its own for a test that changes the documents."""
    # Without the folder in which ``untouched`` still tidies up after a refused upload.
    copy = shutil.copytree(store, tmp_path / "store", ignore=shutil.ignore_patterns("jobs"))
    with serving(Path(copy), LIMITED) as client:
        yield client


def job(client: TestClient, answer: Any) -> dict[str, Any]:
    """The job that an accepted change became, when it has ended."""
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"/jobs/{answer.json()['id']}"
    return finished(client, answer.json())


def found(client: TestClient, question: str) -> set[str]:
    return {hit["page"] for hit in client.post("/search", json={"question": question}).json()["hits"]}


def test_the_list_is_read_page_by_page(untouched: TestClient) -> None:
    seen, after = [], None
    while True:
        page = untouched.get(
            "/documents", params={"limit": 3, **({} if after is None else {"after": after})}
        ).json()
        assert page["total"] == 4
        seen += [document["uri"] for document in page["documents"]]
        assert all(document["source"] == "records.jsonl" for document in page["documents"])
        after = page["next"]
        if after is None:
            break
    assert seen == ["Asaph Hall", "Deimos", "Mars", "Phobos"]


def test_an_html_file_is_added_and_can_be_read_and_found(client: TestClient) -> None:
    files = [("files", ("../../etc/Vulcan.html", HTML, "text/html"))]
    done = job(client, client.post("/documents", files=files))
    assert (done["state"], done["kind"], done["report"]["added"]) == ("done", "add", 1)
    assert found(client, "Which planet did Le Verrier look for?") >= {"Vulcan"}
    whole = client.get("/documents/Vulcan").json()
    assert whole["source"] == "Vulcan.html" and whole["uri"] == "Vulcan"
    for passage in whole["passages"]:
        assert 0 <= passage["start"] < passage["end"] <= len(whole["text"])
    (section,) = whole["sections"]
    last = whole["passages"][-1]
    assert whole["text"][last["start"] : last["end"]] == "Search\n\nUrbain Le Verrier looked for it."
    assert (section["uri"], section["headings"], section["start"]) == (
        "Vulcan#Search",
        ["Vulcan", "Search"],
        last["start"],
    )
    assert last["section"] == "Vulcan#Search" and whole["passages"][0]["cites"] == ["Sun"]


def test_a_link_with_an_anchor_leads_to_a_section(client: TestClient) -> None:
    texts = {
        "a.md": b"# Guide\n\nSee [there](b.md#on-linux).\n",
        "b.md": b"# Setup\n\nx\n\n## On Linux\n\nRun it.\n",
    }
    files = [("files", (name, text, "text/markdown")) for name, text in texts.items()]
    assert job(client, client.post("/documents", files=files))["report"]["added"] == 2
    (passage,) = client.get("/documents/Guide").json()["passages"]
    assert passage["cites_sections"] == ["Setup#On Linux"]
    assert [each["cites_sections"] for each in client.get("/documents/Setup").json()["passages"]] == [[], []]


def test_what_a_passage_cites_is_told_by_uris(client: TestClient) -> None:
    """Of pages that are there, whatever the links call them; files that are nowhere are left out."""
    links = "[set up](setup.md), [[setup]], [broken](guide/nope.md), [[Missing note]]"
    files = [
        ("files", ("docs/start.md", f"# Start\n\nSee {links}.\n".encode(), "text/markdown")),
        ("files", ("docs/setup.md", b"# Set it up\n\nText.\n", "text/markdown")),
    ]
    assert job(client, client.post("/documents", files=files))["report"]["added"] == 2
    (passage,) = client.get("/documents/Start").json()["passages"]
    assert passage["cites"] == ["Set it up", "Missing note"]


def test_records_are_added_and_linked_to_what_is_there(client: TestClient) -> None:
    records = [
        {"title": "Stickney", "text": "Stickney is a crater on Phobos, named after the wife of Asaph Hall."}
    ]
    assert job(client, client.post("/documents", files=as_file(*records)))["report"]["added"] == 1
    whole = client.get("/documents/Stickney").json()
    (passage,) = whole["passages"]
    assert passage["cites"] == ["Phobos", "Asaph Hall"]
    listed = client.get("/documents", params={"limit": 1000}).json()["documents"]
    (document,) = [each for each in listed if each["uri"] == "Stickney"]
    assert (document["format"], document["passages"]) == ("records", 1)
    assert document["added"] == whole["added"] and document["added"].endswith("Z")
    around = client.get("/entities/Phobos/neighbours").json()
    assert {"source": "Stickney", "target": "Phobos", "type": "cites", "views": []} in around["graph"][
        "edges"
    ]


def test_records_may_have_metadata(client: TestClient) -> None:
    records = [
        {"title": "Stickney", "text": "Stickney is a crater.", "year": 1973},
        {"title": "Todd", "text": "Todd is a crater."},
    ]
    assert job(client, client.post("/documents", files=as_file(*records)))["report"]["added"] == 2
    hits = client.post("/search", json={"question": "a crater", "where": "year = 1973"}).json()["hits"]
    assert {hit["page"] for hit in hits} == {"Stickney"}


@pytest.mark.skipif(not ocr_available() and not os.environ.get("CI"), reason="the extra ocr is not installed")
def test_a_picture_is_read_and_found_by_its_text(client: TestClient) -> None:
    """In the process apart, with the memory and time that it has."""
    files = [("files", ("delivery.png", drawn("Delivery of 42 barometers"), "image/png"))]
    done = job(client, client.post("/documents", files=files))
    assert (done["state"], done["report"]["added"]) == ("done", 1), done
    hits = client.post("/search", json={"question": "How many barometers?"}).json()["hits"]
    hit = next(hit for hit in hits if hit["page"] == "delivery")
    assert (hit["kind"], hit["text"]) == ("image", "Delivery of 42 barometers")


def test_files_of_records_may_come_with_pages_and_the_bad_ones_are_named(client: TestClient) -> None:
    files = [
        (
            "files",
            ("a.jsonl", json.dumps({"title": "Stickney", "text": "A crater."}) + "\n{}\n", "text/plain"),
        ),
        ("files", ("b.html", HTML, "text/html")),
        ("files", ("c.pdf", b"%PDF-1.7", "application/pdf")),
    ]
    done = job(client, client.post("/documents", files=files))
    assert done["state"] == "done" and done["report"]["added"] == 2
    assert sorted(problem["location"] for problem in done["report"]["problems"]) == [
        "a.jsonl, line 2",
        "c.pdf",
    ]


def test_a_file_without_a_signature_is_known_by_the_name_it_was_sent_under(client: TestClient) -> None:
    text = b"Vulcan was thought to circle the Sun within the orbit of Mercury."
    done = job(client, client.post("/documents", files=[("files", ("about Vulcan.txt", text, "text/plain"))]))
    assert (done["state"], done["report"]["added"], done["report"]["problems"]) == ("done", 1, [])
    assert found(client, "Which planet circles within the orbit of Mercury?") >= {"about Vulcan"}
    assert client.get("/documents/about Vulcan").json()["source"] == "about Vulcan.txt"


def test_where_nothing_can_be_read_the_job_fails_and_says_why(tmp_path: Path) -> None:
    """Also in an empty collection."""
    Engine.create(tmp_path / "empty", "minilm").close()
    with serving(tmp_path / "empty", LIMITED) as client:
        files = [
            ("files", ("a.bin", b"\0\1", "application/octet-stream")),
            ("files", ("b.html", b"", "text/html")),
        ]
        failed = job(client, client.post("/documents", files=files))
    assert (failed["state"], failed["error"]["code"]) == ("failed", "unreadable")
    assert [problem["location"] for problem in failed["report"]["problems"]] == ["a.bin", "b.html"]


def _listed(client: TestClient) -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = client.get("/documents", params={"limit": 1000}).json()["documents"]
    return documents


def test_a_document_is_removed_by_any_of_its_names_and_once(client: TestClient) -> None:
    assert found(client, QUESTION) >= {"Asaph Hall"}
    done = job(client, client.delete("/documents/Asaph_Hall"))
    assert done["report"] == {"removed": ["Asaph Hall"]}
    assert client.get("/documents/Asaph Hall").status_code == 404
    assert "Asaph Hall" not in found(client, QUESTION)
    assert client.delete("/documents/Asaph Hall").status_code == 404
    assert client.get("/entities/Asaph Hall/neighbours").status_code == 404, "one passage still names it"
    assert client.get("/stats").json()["nodes"]["Page"] == 3


@pytest.mark.parametrize(
    ("given", "status", "code"),
    [
        ({"json": {"records": [{"title": "a", "text": "t"}]}}, 415, "unsupported_media_type"),
        ({"content": HTML, "headers": {"content-type": "text/html"}}, 415, "unsupported_media_type"),
        ({"content": b"x"}, 415, "unsupported_media_type"),
        ({"data": {"name": "value"}, "files": {}}, 415, "unsupported_media_type"),
        ({"files": [("files", ("a.html", b"x" * 200_000, "text/html"))]}, 413, "too_large"),
        ({"content": b"no boundary", "headers": {"content-type": "multipart/form-data"}}, 400, "bad_request"),
        ({"content": b"no form", "headers": {"content-type": FORM}}, 400, "bad_request"),
        ({"content": b"--b--\r\n", "headers": {"content-type": FORM}}, 422, "invalid"),
        ({"files": [("files", ("a", b"x"))] * 4}, 400, "bad_request"),
        ({"files": [("files", ("a", b"x"))], "data": {f"a{n}": "x" for n in range(11)}}, 400, "bad_request"),
        ({"files": [("files", ("a", b"x"))], "data": {"meta": "x" * 2000}}, 400, "bad_request"),
    ],
)
def test_what_is_no_upload_is_refused_at_once(
    untouched: TestClient, given: dict[str, Any], status: int, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MAX_FILES", 3)
    monkeypatch.setattr(uploads, "_MAX_FIELD_BYTES", 1000)
    answer = untouched.post("/documents", **given)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_what_cannot_be_read_fails_with_its_own_name_and_no_path(untouched: TestClient) -> None:
    failed = job(
        untouched, untouched.post("/documents", files=[("files", ("notes.org", b"plain text", "text/plain"))])
    )
    assert (failed["state"], failed["error"]["code"]) == ("failed", "unreadable")
    assert failed["error"]["message"].startswith("notes.org: ") and "/" not in str(failed["error"])


def test_the_listed_document_can_be_asked_for(client: TestClient, tmp_path: Path) -> None:
    text = b"# Neith\n\nNeith was thought to circle Venus."
    done = job(client, client.post("/documents", files=[("files", ("neith.md", text, "text/markdown"))]))
    assert done["report"]["replaced"] == 0
    listed = client.get("/documents/Neith").json()
    assert (listed["document"], listed["path"]) == ("neith.md", "neith.md")
    question = {"question": "What circles Venus?", "where": f"path = '{listed['document']}'"}
    hits = client.post("/search", json=question).json()["hits"]
    assert {(hit["page"], hit["document"]) for hit in hits} == {("Neith", listed["document"])}


def test_an_upload_takes_no_document_s_place_unless_it_is_that_document(store: Path, tmp_path: Path) -> None:
    """One with the same text is the document that came from a file and stays it; one with the same name and title as an
    upload before replaces that; any other is a document of its own."""
    reports = tmp_path / "reports"
    reports.mkdir()
    (reports / "neith.md").write_text("# Neith\n\nA moon of Venus.")
    served = Path(shutil.copytree(store, tmp_path / "store"))
    with Engine.open(served) as engine:
        engine.build([reports], embed=False)

    with serving(served, LIMITED) as client:

        def uploaded(text: str) -> dict[str, Any]:
            file = ("neith.md", text.encode(), "text/markdown")
            report: dict[str, Any] = job(client, client.post("/documents", files=[("files", file)]))["report"]
            return report

        def paths() -> dict[str, str]:
            documents = client.get("/documents?limit=100").json()["documents"]
            return {each["title"]: each["document"] for each in documents if each["format"] == "markdown"}

        def neith() -> dict[str, Any]:
            return {
                key: value for key, value in client.get("/documents/Neith").json().items() if key != "aliases"
            }

        before = neith()
        assert uploaded("# Neith\n\nA moon of Venus.")["unchanged"] == 1
        assert neith() == before

        assert uploaded("# Neith\n\nIt does not exist.")["added"] == 1
        assert paths() == {"Neith": "neith.md", "Neith (2)": "neith (2).md"}
        assert uploaded("# Neith\n\nIt never did.")["replaced"] == 1
        assert uploaded("# Chiron\n\nA moon of Saturn.")["added"] == 1
        assert paths() == {"Neith": "neith.md", "Neith (2)": "neith (2).md", "Chiron": "neith (3).md"}
        assert neith() == before


def test_a_form_says_in_which_language_its_documents_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ``trivium build --language``: another form of a word is found, and an embedder for English is refused that was
    chosen.
    """
    monkeypatch.setenv("TRIVIUM_EMBEDDER", "minilm")
    with Engine.create(tmp_path / "store", "minilm"):
        pass
    file = ("files", ("turm.txt", f"# Der Turm\n\n{TEXTS['de']}\n", "text/plain"))

    def sent(client: TestClient, language: str) -> Any:
        return client.post("/documents", files=[file], data={"language": language})

    with serving(tmp_path / "store") as client:
        wrong = sent(client, "klingon" * 10)
        assert (
            wrong.status_code == 422 and "language: expected a language" in wrong.json()["error"]["message"]
        )
        refused = job(client, sent(client, "de"))
        assert refused["state"] == "failed" and "knows English only" in refused["error"]["message"]
        assert client.get("/documents").json()["total"] == 0
    with Engine.open(tmp_path / "store") as engine:
        engine.store.set_languages(str(StoreLanguages(any_embedder=True)))
    with serving(tmp_path / "store") as client:
        assert job(client, sent(client, "DE"))["state"] == "done"
        given = {"question": "Haus eines Wärters", "retrievers": ["lexical"]}
        assert client.post("/search", json=given).json()["hits"], "Häusern der Wärter"
    with Engine.open(tmp_path / "store") as engine:
        assert "de" in str(engine.store.languages).split()


def test_documents_that_disagree_are_listed(
    client: TestClient,
) -> None:
    """Two files that were uploaded, the later one first."""
    said = {"prices 2025.md": 32, "prices 2026.md": 41}
    files = [
        ("files", (name, f"# Hut\n\nThe guest room costs {euros} euros per night.\n", "text/markdown"))
        for name, euros in said.items()
    ]
    assert job(client, client.post("/documents", files=files))["report"]["added"] == 2
    (found,) = client.get("/conflicts").json()["conflicts"]
    assert (found["document"], found["other_document"]) == ("prices 2026.md", "prices 2025.md")
    assert (
        "41" in found["text"] and "32" in found["other_text"] and found["reason"] == "2026 is later than 2025"
    )
