"""The embedder of a Text Embeddings Inference server, against a server on loopback with vectors of a real kind."""

from __future__ import annotations

import json
import pickle
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.fakes.local_server import LocalServer, QuietHandler
from trivium.cli.app import app
from trivium.embedding.registry import open_embedder
from trivium.embedding.tei_server import ServerEmbedder
from trivium.engine import Engine
from trivium.errors import ConfigurationError, EmbeddingError
from trivium.settings.settings import Settings
from trivium.testing import HashEmbedder

MODEL = "BAAI/bge-small-en-v1.5"
PREFIX = "Represent this sentence for searching relevant passages: "
BATCH = 4


class TeiServer(LocalServer):
    """Answers as the server does: refuses more texts than it allows, and what is scripted comes first."""

    def __init__(self) -> None:
        self.script: deque[tuple[int, Any, dict[str, str]]] = deque()
        self.info: Any = {
            "model_id": MODEL,
            "model_sha": "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
            "max_client_batch_size": BATCH,
        }
        self.asked: list[list[str]] = []
        self.at_once = self.most_at_once = 0
        lock = threading.Lock()
        vectors = HashEmbedder()
        server = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                self.say(200, server.info)

            def do_POST(self) -> None:
                with lock:
                    server.at_once += 1
                    server.most_at_once = max(server.most_at_once, server.at_once)
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                assert body["truncate"] is True
                with lock:
                    server.asked.append(body["inputs"])
                    scripted = server.script.popleft() if server.script else None
                if scripted is not None:
                    self.say(*scripted)
                elif len(body["inputs"]) > BATCH:
                    self.say(413, {"error": "batch size error", "error_type": "Validation"})
                else:
                    self.say(200, (2 * vectors.embed(body["inputs"])).tolist())
                with lock:
                    server.at_once -= 1

            def say(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
                data = json.dumps(value).encode()
                self.send_response(status)
                for name, header in (headers or {}).items():
                    self.send_header(name, header)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        super().__init__(Handler)


@pytest.fixture
def server() -> Iterator[TeiServer]:
    with TeiServer() as running:
        yield running


def test_vectors_come_in_order_in_batches_that_the_server_takes(server: TeiServer) -> None:
    """Equal texts once, unit length, and several requests at the same time."""
    embedder = ServerEmbedder(server.address + "/")
    assert (embedder.identity.name, embedder.identity.version) == (f"tei:{MODEL}", "5c38ec7c405e")
    server.asked.clear()
    texts = [f"text {number % 30}" for number in range(60)]
    done: list[int] = []
    found = embedder.embed(texts, done.append)
    np.testing.assert_allclose(found, HashEmbedder().embed(texts), atol=1e-6)
    assert sum(map(len, server.asked)) == sum(done) == 30
    assert max(map(len, server.asked)) == BATCH
    assert embedder.embed([]).shape == (0, embedder.identity.dimension)


def test_questions_have_the_prefix_of_the_family(server: TeiServer) -> None:
    """Passages have theirs; a model of no known family gets texts as they are."""
    ServerEmbedder(server.address).embed_query("Which moon?")
    assert server.asked[-1] == [f"{PREFIX}Which moon?"]
    server.info["model_id"] = "intfloat/multilingual-e5-base"
    embedder = ServerEmbedder(server.address)
    embedder.embed(["Mars"])
    embedder.embed_query("Which?")
    assert server.asked[-2:] == [["passage: Mars"], ["query: Which?"]]
    server.info["model_id"] = "acme/model"
    embedder = ServerEmbedder(server.address)
    embedder.embed_query("Which?")
    assert server.asked[-1] == ["Which?"]


def test_the_nodes_of_a_cluster_ask_the_same_server(server: TeiServer) -> None:
    """Ray sends them the embedder of `trivium build --ray ADDRESS --embed-with URL` pickled."""
    embedder = ServerEmbedder(server.address)
    other = pickle.loads(pickle.dumps(embedder))
    assert other.identity == embedder.identity
    np.testing.assert_array_equal(other.embed(["Mars", "Io"]), embedder.embed(["Mars", "Io"]))


def test_an_overloaded_server_is_asked_again(server: TeiServer) -> None:
    """After the time that it asks for."""
    embedder = ServerEmbedder(server.address)
    overloaded = {"error": "Model is overloaded", "error_type": "Overloaded"}
    server.script.extend([(429, overloaded, {"Retry-After": "0"})] * 3)
    assert embedder.embed(["a"]).shape == (1, embedder.identity.dimension)


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (422, {"error": "Tokenization error"}, "HTTP 422: Tokenization error"),
        (200, [[1.0, 2.0]], "expected vectors of shape"),
        (200, {"data": []}, "expected 1 vectors of one length"),
        (200, None, "expected JSON"),
    ],
)
def test_other_answers_are_errors(server: TeiServer, status: int, body: Any, reason: str) -> None:
    """With what the server said."""
    embedder = ServerEmbedder(server.address)
    server.script.append((status, body, {}))
    with pytest.raises(EmbeddingError, match=reason):
        embedder.embed(["a"])


def test_a_server_of_another_kind_or_model_is_refused(server: TeiServer) -> None:
    """And so is the name of a model without an address."""
    with pytest.raises(ConfigurationError, match=f"expected acme/model .* serves {MODEL}"):
        open_embedder("tei:acme/model", Settings(embed_with=server.address))
    with pytest.raises(ConfigurationError, match="TRIVIUM_EMBED_WITH"):
        open_embedder("tei:acme/model", Settings(embed_with=None))
    server.info = {"message": "hello"}
    with pytest.raises(EmbeddingError, match="Text Embeddings Inference server"):
        ServerEmbedder(server.address)


def test_a_store_is_filled_and_asked_through_the_server(
    server: TeiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the command line: the store remembers the model, not the address, and needs it to be asked."""
    (tmp_path / "moons.md").write_text(
        "# Moons\n\nPhobos is a moon of Mars.\n\nEuropa is a moon of Jupiter.\n"
    )
    store = str(tmp_path / "store")
    run = CliRunner()
    build = ["build", str(tmp_path / "moons.md"), "--store", store, "--embedder", f"tei:{MODEL}"]
    built = run.invoke(app, build, env={"TRIVIUM_EMBED_WITH": server.address})
    assert built.exit_code == 0, built.output
    with Engine.open(store) as engine:
        assert engine.store.embedder is not None
        assert engine.store.embedder.name == f"tei:{MODEL}"
    search = ["search", "a moon of Mars", "--store", store, "--json"]
    alone = run.invoke(app, search)
    assert alone.exit_code == 2 and "set TRIVIUM_EMBED_WITH" in alone.output
    monkeypatch.setenv("TRIVIUM_EMBED_WITH", server.address)
    found = run.invoke(app, search)
    assert found.exit_code == 0 and "Phobos" in json.loads(found.output)["hits"][0]["text"]
