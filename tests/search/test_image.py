"""Search in pictures through the doors of the engine and the program, by a tiny CLIP that knows three colours."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastembed")

from PIL import Image
from typer.testing import CliRunner

from tests.checking.stores import execute
from tests.fakes.clip_files import COLOURS, write_clip
from tests.fakes.hostile_media import PICTURES
from tests.server.world import serving
from trivium.cli.app import app
from trivium.embedding.image_embedders import ClipEmbedder
from trivium.engine import Engine
from trivium.errors import EmbedderMismatchError, InputError, MissingExtraError, StoreError, StoreFormatError
from trivium.search.picture_queries import MAX_PICTURE_BYTES
from trivium.server.settings import ServerSettings
from trivium.testing.toys import HashEmbedder


def picture(colour: str, format: str = "PNG", side: int = 400) -> bytes:
    """The file of a picture in one colour."""
    file = io.BytesIO()
    Image.new("RGB", (side, side), {"green": "lime"}.get(colour, colour)).save(file, format)
    return file.getvalue()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the files of the tiny CLIP."""
    home = tmp_path_factory.mktemp("home")
    write_clip(home / "fastembed" / "clip")
    return home


@pytest.fixture(autouse=True)
def at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_HOME", str(home))


@pytest.fixture(scope="module")
def engine(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.create(tmp_path_factory.mktemp("pictures") / "store", HashEmbedder()) as engine:
        fill(engine, tmp_path_factory.mktemp("sources"), home)
        yield engine


@pytest.fixture(scope="module")
def store(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, embedded by a model that a server knows."""
    with Engine.create(tmp_path_factory.mktemp("served") / "store", "minilm") as engine:
        fill(engine, tmp_path_factory.mktemp("sources"), home)
        return Path(engine.store.location)


def fill(engine: Engine, sources: Path, home: Path) -> None:
    """Pictures in three colours whose names do not tell them, and a text that names one."""
    for colour, name in zip(COLOURS, ("Door", "Meadow", "Harbour"), strict=True):
        (sources / f"{name}.png").write_bytes(picture(colour))
    (sources / "Paint.md").write_text("# Paint\n\nA red paint for houses.\n")
    assert engine.build([sources], images=ClipEmbedder(home=home)).added == 4


def pages(hits: list) -> list[str]:
    return [hit.page for hit in hits]


@pytest.mark.parametrize(("colour", "page"), [("red", "Door"), ("green", "Meadow"), ("blue", "Harbour")])
def test_words_find_the_picture_that_shows_them(engine: Engine, colour: str, page: str) -> None:
    """Chunks without a picture are no candidates."""
    hits = engine.search(f"something {colour}", 9, ["image"])
    assert pages(hits)[0] == page and len(hits) == 3
    assert hits[0].score > 0.5 > hits[1].score


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP"])
def test_a_picture_finds_pictures_like_it(engine: Engine, format: str) -> None:
    """Without a question; whatever its format and size. The very file has a cosine of 1."""
    hits = engine.search("", 3, ["image"], image=picture("blue", format, 150))
    assert pages(hits)[0] == "Harbour"
    assert engine.search("", 1, ["image"], image=picture("blue"))[0].score == pytest.approx(1.0, abs=1e-6)


def test_it_is_fused_with_other_retrievers_only_when_it_is_named(engine: Engine) -> None:
    """A question for the words, a picture for the pictures."""
    both = engine.search("paint for houses", 4, ["vector", "image"], image=picture("green"), explain=True)
    assert {"Paint", "Meadow"} <= set(pages(both))
    shares = {hit.page: hit.contributions for hit in both}
    assert shares["Meadow"]["image"] > shares["Door"]["image"]
    assert all(set(share) == {"vector", "image"} for share in shares.values())
    assert "image" not in engine.searcher.retrievers.choose()
    with pytest.raises(InputError, match="for the retriever image: name it, got vector"):
        engine.search("paint", 4, ["vector"], image=picture("green"))
    with pytest.raises(InputError, match="needs some text"):
        engine.search("", 4, ["vector", "image"], image=picture("green"))
    with pytest.raises(InputError, match="needs some text"):
        engine.search("", 4, ["image"])


@pytest.mark.parametrize("processes", [0, 1])
def test_a_server_takes_pictures_in_base64(store: Path, processes: int) -> None:
    """They find what the engine finds, in the server's process and beside it; without words, or with them."""
    sent = b64encode(picture("blue", side=150)).decode()
    with serving(store, ServerSettings(processes=processes)) as client:
        found = client.post("/search", json={"image": sent, "k": 2})
        both = client.post(
            "/search", json={"question": "paint", "image": sent, "retrievers": ["vector", "image"], "k": 4}
        )
        refused = [
            (status, said, client.post("/search", json=given))
            for status, said, given in (
                (422, "question: needs some text", {"image": sent, "retrievers": ["vector", "image"]}),
                (422, "picture file in base64", {"image": "red.png"}),
                (400, "the picture to search by: expected a picture", {"image": b64encode(b"none").decode()}),
                (
                    400,
                    "for the retriever image: name it",
                    {"question": "a", "image": sent, "retrievers": ["vector"]},
                ),
                (413, "too_large", {"image": b64encode(b"0" * (256 << 10)).decode()}),
            )
        ]
        for content in PICTURES.values():
            answer = client.post("/search", json={"image": b64encode(content).decode()})
            refused.append((422 if not content else 400, "", answer))
    with Engine.open(store) as engine:
        hits = engine.search("", 2, ["image"], image=picture("blue", side=150))
    assert [(hit["uri"], hit["score"]) for hit in found.json()["hits"]] == [(h.uri, h.score) for h in hits]
    assert found.json()["hits"][0]["thumbnail"] == "/thumbnails/Harbour%23chunk-1"
    assert {"Paint", "Harbour"} <= {hit["page"] for hit in both.json()["hits"]}
    for status, said, answer in refused:
        assert answer.status_code == status and said in answer.text, answer.text


def test_a_server_starts_without_the_model_and_says_so(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """All but the retriever works."""
    write_clip(tmp_path / "fastembed" / "clip")
    (tmp_path / "fastembed" / "clip" / "text" / "model.onnx").unlink()
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path))
    with serving(store) as client:
        assert "the retriever image cannot be asked" in caplog.text
        assert client.post("/search", json={"question": "paint"}).status_code == 200
        assert client.post("/search", json={"question": "red", "retrievers": ["image"]}).status_code >= 500


def test_conditions_act_inside(engine: Engine) -> None:
    assert pages(engine.search("red", 1, ["image"], where="title = 'Meadow'")) == ["Meadow"]
    assert engine.search("red", 1, ["image"], where="title = 'Paint'") == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b"no picture", "the picture to search by: expected a picture"),
        (b"", "the picture to search by: expected a picture"),
        (picture("red")[:200], "the picture to search by: "),
        (b"\0" * (MAX_PICTURE_BYTES + 1), r"may have 20 MB, got 20\.0 MB"),
        ("red.png", "expected image as bytes, got str"),
    ],
)
def test_what_is_no_picture_is_refused(engine: Engine, given: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        engine.search("", 1, ["image"], image=given)


def test_a_picture_of_too_many_pixels_is_refused(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_LIMITS", '{"picture_pixels": 10000}')
    with pytest.raises(InputError, match="400 x 400 pixels, more than 10,000"):
        engine.search("", 1, ["image"], image=picture("red"))


def test_a_store_without_vectors_of_pictures_says_how_to_get_them(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nSomething red.\n")
    with Engine.create(tmp_path / "store", HashEmbedder()) as engine:
        engine.build([tmp_path / "a.md"])
        with pytest.raises(StoreError, match=f"trivium embed --store {tmp_path / 'store'} --images clip"):
            engine.search("red", 1, ["image"])
        assert engine.indexer.embed_pictures("clip") == 0
        assert engine.search("red", 1, ["image"]) == []


def test_other_weights_are_refused(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both when more pictures are embedded and when a question is."""
    other = ClipEmbedder(folder=write_clip(tmp_path / "fastembed" / "clip", 2.0))
    with pytest.raises(EmbedderMismatchError, match="build another store"):
        engine.indexer.embed_pictures(other)
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path))
    with (
        Engine.open(engine.store.location, HashEmbedder()) as again,
        pytest.raises(EmbedderMismatchError, match="install that version"),
    ):
        again.search("red", 1, ["image"])


def test_the_program_embeds_and_searches_pictures(tmp_path: Path, engine: Engine) -> None:
    """From the files to the hits, by the command line."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "Door.png").write_bytes(picture("red"))
    (tmp_path / "in" / "Harbour.png").write_bytes(picture("blue"))
    (tmp_path / "query.webp").write_bytes(picture("blue", "WEBP"))
    store = str(tmp_path / "store")

    def run(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, [*arguments, "--store", store])
        assert result.exit_code == code, result.output
        return " ".join(result.output.replace("│", " ").split())

    run("build", str(tmp_path / "in"), "--no-sentences")
    assert json.loads(run("embed", "--images", "clip", "--json"))["pictures"] == 2
    assert json.loads(run("embed", "--images", "clip", "--json"))["pictures"] == 0
    found = json.loads(run("search", "--image", str(tmp_path / "query.webp"), "--json"))
    assert [hit["page"] for hit in found["hits"]] == ["Harbour", "Door"]
    assert "Door" in run("search", "red", "--retriever", "image", "--k", "1")
    assert "expected one of clip" in run("embed", "--images", "dino", code=2)
    assert "cannot be read" in run("search", "--image", str(tmp_path / "none.png"), code=2)
    assert "a question, or --image" in run("search", code=2)
    nothing = run("build", str(tmp_path / "in"), "--no-embed", "--images", "clip", code=2)
    assert "leave out one of them" in nothing


def test_a_damaged_vector_is_found_and_made_again(tmp_path: Path) -> None:
    """By the command that the message names."""
    (tmp_path / "Door.png").write_bytes(picture("red"))
    with Engine.create(tmp_path / "store", HashEmbedder()) as engine:
        engine.build([tmp_path / "Door.png"], images="clip")
        before = engine.search("red", 1, ["image"])
    execute(tmp_path / "store", "UPDATE picture_vector SET data = zeroblob(length(data))")
    with Engine.open(tmp_path / "store", HashEmbedder()) as engine:
        with pytest.raises(StoreFormatError, match="trivium embed --store STORE --images clip"):
            engine.search("red", 1, ["image"])
        (finding,) = engine.check().findings
        assert (finding.kind, finding.where) == ("picture", ("Door#chunk-1",))
        assert not engine.check(repair=True).findings
        assert engine.indexer.embed_pictures("clip") == 1
        assert engine.search("red", 1, ["image"]) == before


def test_nothing_is_imported_unless_it_is_asked_for() -> None:
    """The main road does not pay for it."""
    code = "import sys, trivium.cli.search, trivium.engine; assert not {'fastembed', 'PIL'} & {*sys.modules}"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_the_extra_the_command_is_named(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'trivium\[fastembed\]'"):
        engine.indexer.embed_pictures("clip")
