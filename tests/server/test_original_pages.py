"""Pages of PDF files over HTTP: shown where the file is there and unchanged, else with a word on why not."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.fakes.hostile_files import pdf
from tests.fakes.pdf_writer import PdfFile
from tests.server.test_documents import job
from tests.server.world import serving
from trivium.engine import Engine
from trivium.parser.documents import render_pdf_page
from trivium.server.settings import ServerSettings

pytest.importorskip("PIL")
from PIL import Image

FIRST = "A survey of the ridge was made by the keepers of the lighthouse in 1911."
SECOND = "The ferry to Skagen sank in a storm of the autumn, and all of its crew were saved."
KEY = "a-key-of-more-than-16-characters"
WHERE = "/originals/ridge%20survey?page=2"


def survey(second: str = SECOND) -> bytes:
    """Two pages, with a paragraph each; the second one stands a third of the page below its top."""
    file = PdfFile(info={"Title": "A survey"})
    file.page().text(72, 700, FIRST, 12)
    file.page().text(72, 528, second, 12)
    return file.data()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store, and beside it the folder that it was built from."""
    folder = tmp_path_factory.mktemp("originals")
    (folder / "docs").mkdir()
    (folder / "docs" / "ridge survey.pdf").write_bytes(survey())
    (folder / "docs" / "notes.md").write_text("# Notes\n\nNothing was seen.\n")
    with Engine.create(folder / "store", "minilm") as engine:
        engine.build([folder / "docs"])
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    with serving(folder / "store") as client:
        yield client


def shown(client: TestClient, where: str = WHERE) -> Any:
    answer = client.get(where)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_page_is_a_picture_and_the_passage_is_found_on_it(client: TestClient) -> None:
    (passage,) = [p for p in client.get("/documents/ridge survey").json()["passages"] if p["pages"] == [2]]
    page = shown(client, f"{WHERE}&passage={passage['uri'].replace('#', '%23')}")
    assert (page["page"], page["pages"], page["reason"]) == (2, 2, None)
    assert (page["width"], page["height"]) == (612, 792)
    (mark,) = page["marks"]
    assert mark["left"] == pytest.approx(72 / 612, abs=0.01)
    assert mark["top"] + mark["height"] == pytest.approx((792 - 528) / 792, abs=0.01)
    answer = client.get(page["image"])
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
    assert answer.headers["x-content-type-options"] == "nosniff"
    picture = Image.open(io.BytesIO(answer.content)).convert("L")
    assert max(picture.size) == 1600
    words = [
        round(share * side)
        for share, side in zip(
            (mark["left"], mark["top"], mark["left"] + mark["width"], mark["top"] + mark["height"]),
            picture.size * 2,
            strict=True,
        )
    ]
    assert picture.crop(tuple(words)).getextrema()[0] < 60, "there is ink at the mark"
    left, top, right, bottom = words
    picture.paste(255, (left - 8, top - 8, right + 8, bottom + 8))
    assert picture.getextrema()[0] > 200, "and nowhere else"


def test_a_picture_is_drawn_once_and_kept_by_no_browser(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = client.get(shown(client)["image"])
    monkeypatch.setattr(render_pdf_page, "_PROGRAM", Path("nowhere"))
    again = client.get(shown(client)["image"])
    assert again.content == first.content and first.headers["cache-control"] == "no-store"


def test_what_is_no_pdf_and_pages_that_are_not_there(client: TestClient) -> None:
    for where in ("/originals/Notes", "/page-images/Notes", "/originals/nothing", "/page-images/..%2Fetc"):
        assert client.get(where).status_code == 404
    assert client.get("/originals/ridge survey?page=0").status_code == 422
    assert "no page 9" in shown(client, "/originals/ridge survey?page=9")["reason"]


def test_a_file_that_is_gone_or_changed_is_not_shown(folder: Path, client: TestClient) -> None:
    """Its date, or where that was set back, its text or the number of its pages tell."""
    file = folder / "docs" / "ridge survey.pdf"
    content, times = file.read_bytes(), (file.stat().st_atime, file.stat().st_mtime)
    assert shown(client)["reason"] is None
    try:
        os.utime(file, (times[0], times[1] + 5))
        assert "has changed" in shown(client)["reason"]
        other = survey("Nobody knows what became of the three goats on the northern meadow in May.")
        for changed in (other, pdf([FIRST, SECOND, "More."])):
            file.write_bytes(changed)
            os.utime(file, times)
            page = shown(client)
            assert page["image"] is None and "has changed" in page["reason"]
            missing = client.get("/page-images/ridge survey?page=2")
            assert missing.status_code == 404 and "has changed" in missing.json()["error"]["message"]
        file.unlink()
        assert "not where it was read from" in shown(client)["reason"]
        file.mkdir()
        assert "not where it was read from" in shown(client)["reason"]
        file.rmdir()
    finally:
        file.write_bytes(content)
        os.utime(file, times)
    assert shown(client)["reason"] is None


def test_an_upload_never_leads_to_a_file_of_its_name(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the server runs, there is one that says the same of itself."""
    monkeypatch.chdir(tmp_path)
    report = PdfFile(info={"ModDate": "D:20240102030405Z"})
    report.page().text(72, 700, FIRST, 12)
    (tmp_path / "report.pdf").write_bytes(report.data())
    with Engine.create(tmp_path / "store", "minilm"):
        pass
    with serving(tmp_path / "store") as client:
        upload = ("files", ("../report.pdf", report.data(), "application/pdf"))
        assert job(client, client.post("/documents", files=[upload]))["state"] == "done"
        uri = client.get("/documents").json()["documents"][0]["uri"]
        page = shown(client, f"/originals/{uri}?page=1")
        assert page["image"] is None and "only the text of this file was kept" in page["reason"]
        assert client.get(f"/page-images/{uri}?page=1").status_code == 404


@pytest.mark.parametrize("source", ["ridge survey.pdf", "."])
def test_a_file_of_the_working_directory_has_pages_from_there_only(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    """Given to the build by its name alone, or with the folder that one is in."""
    monkeypatch.chdir(folder / "docs")
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([source], embed=False)
    with serving(tmp_path / "store") as client:
        assert shown(client)["reason"] is None
        monkeypatch.chdir(tmp_path)
        assert "start the server there" in shown(client)["reason"]


def test_pages_are_documents_and_need_the_key_of_these(folder: Path) -> None:
    with serving(folder / "store", ServerSettings(api_keys=(KEY,))) as client:
        for where in (WHERE, "/page-images/ridge survey?page=2"):
            assert client.get(where).status_code == 401
            assert client.get(where, headers={"X-API-Key": KEY}).status_code == 200


@pytest.mark.parametrize("box", [60_000.0, 1e-3])
def test_a_hostile_page_is_refused_within_limits(box: float) -> None:
    """Of any size it is no larger than was asked for; a file that kills the program is an error like others."""
    try:
        drawn = render_pdf_page.draw_page(pdf([FIRST], box=box), 1, longest=400)
    except render_pdf_page.ParseError:
        return
    assert max(Image.open(io.BytesIO(drawn.picture)).size) <= 400


def test_a_file_that_needs_too_much_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A form that shows itself again and again, garbage, and a program that does not come to an end."""
    with pytest.raises(render_pdf_page.ParseError, match="cannot be opened"):
        render_pdf_page.draw_page(b"%PDF-1.7 and no more", 1, longest=400)
    with pytest.raises(render_pdf_page.ParseError, match="cannot be opened"):
        render_pdf_page.draw_page(pdf([FIRST], encrypted=True), 1, longest=400)
    assert render_pdf_page.draw_page(pdf([FIRST], loop="form"), 1, longest=400).picture
    monkeypatch.setattr(render_pdf_page, "_PATIENCE_SECONDS", 0.0)
    with pytest.raises(render_pdf_page.ParseError, match="limits of memory and time"):
        render_pdf_page.draw_page(pdf([FIRST]), 1, longest=400)
