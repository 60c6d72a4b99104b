"""Who may ask: keys, host names, origins, sizes and rates."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import requests
from starlette.testclient import TestClient

from tests.server.world import QUESTION, as_file, build_store, listening, serving
from tests.waiting import until
from trivium.errors import ConfigurationError
from trivium.server import guard
from trivium.server.guard import RateLimit
from trivium.server.keys import KeyRing, new_key, parse_key, read_keys
from trivium.server.logs import FIELDS
from trivium.server.settings import ServerSettings

KEY, OTHER = "k" * 24, "o" * 24
KEYS = {"read": "r" * 24, "write": "w" * 24}
"""By scope."""
FRIEND = "https://friend.example"
SETTINGS = ServerSettings(
    api_keys=(KEY, OTHER), cors_origins=(FRIEND,), hosts=("trivium.example",), request_bytes=1000
)


@pytest.fixture(scope="module")
def client(store: Path) -> Iterator[TestClient]:
    with serving(store, SETTINGS) as client:
        yield client


@pytest.fixture(scope="module")
def open_client(store: Path) -> Iterator[TestClient]:
    """Of a server as it comes."""
    with serving(store) as client:
        yield client


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"x-api-key": "wrong"}, 401),
        ({"x-api-key": KEY[:-1]}, 401),
        ({"x-api-key": ""}, 401),
        ({"authorization": f"Basic {KEY}"}, 401),
        ({"x-api-key": KEY}, 200),
        ({"x-api-key": OTHER}, 200),
        ({"authorization": f"Bearer {KEY}"}, 200),
        ({"authorization": f"bearer  {OTHER}"}, 200),
    ],
)
def test_a_key_opens_the_api(client: TestClient, headers: Mapping[str, str], status: int) -> None:
    for answer in (
        client.post("/search", json={"question": QUESTION}, headers=headers),
        client.get("/documents", headers=headers),
        client.get("/metrics", headers=headers),
    ):
        assert answer.status_code == status
        assert status == 200 or answer.json()["error"]["code"] == "unauthorized"


@pytest.mark.parametrize("path", ["/health", "/ready", "/", "/page/page.css"])
def test_the_page_and_what_tells_that_the_server_lives_need_none(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 200


def test_keys_are_in_no_text(client: TestClient) -> None:
    assert KEY not in repr(SETTINGS) and KEY not in repr(client.app.state.service)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8000", 200),
        ("127.0.0.1", 200),
        ("[::1]:80", 200),
        ("trivium.example", 200),
        ("evil.example", 403),
    ],
)
def test_on_loopback_a_foreign_host_name_is_refused(client: TestClient, host: str, status: int) -> None:
    """A page of the web whose name was made to lead here is not let in, though its requests come from this machine."""
    assert client.get("/stats", headers={"host": host, "x-api-key": KEY}).status_code == status


@pytest.mark.parametrize(("hosts", "status"), [((), 200), (("trivium.example",), 403)])
def test_elsewhere_host_names_are_checked_where_some_are_allowed(
    store: Path, hosts: tuple[str, ...], status: int
) -> None:
    """As in a container, whose port only this machine can reach."""
    with serving(store, ServerSettings(host="0.0.0.0", hosts=hosts)) as client:
        assert client.get("/health", headers={"host": "evil.example"}).status_code == status
        for name in ("localhost:8000", "trivium.example"):
            assert client.get("/health", headers={"host": name}).status_code == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 202),
        ("http://localhost", 202),
        (FRIEND, 202),
        ("https://evil.example", 403),
        ("null", 403),
        ("http://[", 403),
    ],
)
def test_pages_of_other_origins_change_nothing(client: TestClient, origin: str | None, status: int) -> None:
    """Browsers send a form with files from any page, cookies or none, without asking first."""
    headers = {"x-api-key": KEY} | ({} if origin is None else {"origin": origin})
    files = [("files", ("a.html", "plain", "text/html"))]
    assert client.post("/documents", files=files, headers=headers).status_code == status


def test_cors_is_for_the_named_origins_only(client: TestClient, open_client: TestClient) -> None:
    asking = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "x-api-key,content-type",
    }
    allowed = client.options("/search", headers={"origin": FRIEND, **asking})
    assert allowed.status_code == 200 and allowed.headers["access-control-allow-origin"] == FRIEND
    answer = client.post("/search", json={"question": QUESTION}, headers={"origin": FRIEND, "x-api-key": KEY})
    assert answer.headers["access-control-allow-origin"] == FRIEND
    refused = client.post("/search", json={"question": QUESTION}, headers={"origin": FRIEND})
    assert refused.status_code == 401 and refused.headers["access-control-allow-origin"] == FRIEND
    for other in (
        client.options("/search", headers={"origin": "https://evil.example", **asking}),
        open_client.options("/search", headers={"origin": FRIEND, **asking}),
        open_client.get("/stats", headers={"origin": FRIEND}),
    ):
        assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize("declared", [True, False])
def test_a_request_that_is_too_large_is_refused_whether_it_says_so_or_not(
    client: TestClient, declared: bool
) -> None:
    body = b'{"question": "' + b"x" * 2000 + b'"}'
    answer = client.post(
        "/search",
        content=body if declared else iter([body[:500], body[500:]]),
        headers={"content-type": "application/json", "x-api-key": KEY},
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


@pytest.fixture(scope="module")
def scoped(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Of a server with a key of each scope, known by their hashes."""
    lines = [f"{name}:{name}:sha256${sha256(key.encode()).hexdigest()}" for name, key in KEYS.items()]
    spool = tmp_path_factory.mktemp("spool")  # beside the other servers of the store
    with serving(store, ServerSettings(api_keys=tuple(lines), rate_limit=1000, spool=spool)) as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path", "given", "reading", "writing"),
    [
        ("POST", "/search", {"question": QUESTION}, 200, 200),
        ("POST", "/ask", {"question": QUESTION}, 200, 200),
        ("POST", "/explain", {"question": QUESTION, "uri": "Phobos#chunk-1"}, 200, 200),
        ("GET", "/documents", None, 200, 200),
        ("GET", "/metrics", None, 200, 200),
        ("POST", "/documents", {}, 403, 415),
        ("DELETE", "/documents/Io", None, 403, (202, 404)),
        ("POST", "/whatever/is/new", {}, 403, 404),
    ],
)
def test_a_key_that_may_read_changes_nothing(
    scoped: TestClient, method: str, path: str, given: object, reading: int, writing: int | tuple[int, ...]
) -> None:
    answer = scoped.request(method, path, json=given, headers={"x-api-key": KEYS["read"]})
    assert answer.status_code == reading
    if reading == 403:
        told = answer.json()["error"]
        assert told["code"] == "forbidden" and "'read' may only read" in told["message"]
    answer = scoped.request(method, path, json=given, headers={"x-api-key": KEYS["write"]})
    assert answer.status_code == writing or answer.status_code in (
        writing if isinstance(writing, tuple) else ()
    )


def test_each_change_is_told_with_who_made_it_and_how_it_ended(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By lines of the log: the request's with the name of the key, the job's when it is accepted and when it ends."""
    lines = [f"{name}:{name}:sha256${sha256(key.encode()).hexdigest()}" for name, key in KEYS.items()]

    def told(message: str) -> list[dict[str, Any]]:
        found = [record for record in caplog.records if record.getMessage() == message]
        return [vars(record)[FIELDS] for record in found]

    with (
        caplog.at_level(logging.INFO, "trivium.server"),
        serving(build_store(tmp_path), ServerSettings(api_keys=tuple(lines))) as client,
    ):
        files = as_file({"title": "Io", "text": "Io is a secret moon."})
        client.post("/documents", files=files, headers={"x-api-key": KEYS["read"]})
        client.post("/documents", files=files, headers={"x-api-key": "wrong"})
        job = client.post("/documents", files=files, headers={"x-api-key": KEYS["write"]}).json()
        until(lambda: any(line["job"] == job["id"] for line in told("a change has ended")))
    requests = [line for line in told("request") if line["route"] == "/documents" or line["status"] >= 400]
    assert [(line["key"], line["status"], line["client"]) for line in requests] == [
        ("read", 403, "testclient"),
        (None, 401, "testclient"),
        ("write", 202, "testclient"),
    ]
    assert {"job": job["id"], "kind": "add", "key": "write"} in told("a change was accepted")
    assert {"job": job["id"], "kind": "add", "state": "done"} in told("a change has ended")
    assert "secret moon" not in caplog.text


def test_who_asks_too_often_is_told_when_to_come_again(store: Path) -> None:
    with serving(store, ServerSettings(rate_limit=3)) as client:
        answers = [client.get("/stats") for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 20
        assert client.get("/health").status_code == 200


@pytest.mark.parametrize(("trusted", "statuses"), [(None, [200, 200, 429, 429]), ("127.0.0.0/8", [200] * 4)])
def test_only_a_trusted_proxy_says_which_address_asks(
    store: Path, trusted: str | None, statuses: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over a real socket: anybody can send the header."""
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    if trusted is not None:
        monkeypatch.setenv("FORWARDED_ALLOW_IPS", trusted)
    with listening(store, ServerSettings(rate_limit=2)) as address:
        answers = [
            requests.get(f"{address}/stats", headers={"X-Forwarded-For": f"203.0.113.{number}"}, timeout=30)
            for number in range(4)
        ]
    assert [answer.status_code for answer in answers] == statuses


def test_who_tries_wrong_keys_has_to_wait_with_any_key(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests without a key are refused as ever, and cost nothing: the page asks for a key after one."""
    monkeypatch.setattr(guard, "WRONG_KEYS", 3)
    with serving(store, ServerSettings(api_keys=(KEY,))) as client:

        def status(**headers: str) -> int:
            return client.get("/stats", headers=headers).status_code

        assert [status() for _ in range(5)] == [401] * 5
        assert status(**{"X-API-Key": KEY}) == 200
        assert [status(**{"X-API-Key": f"wrong-{number}"}) for number in range(5)] == [401] * 3 + [429] * 2
        assert status(**{"X-API-Key": KEY}) == 429
        assert client.get("/health").status_code == 200


def test_tokens_flow_back_evenly_for_each_client_by_itself() -> None:
    now = [0.0]
    rates = RateLimit(60, lambda: now[0])
    assert [rates.wait("a") for _ in range(60)] == [0.0] * 60
    assert rates.wait("a") == pytest.approx(1.0) and rates.wait("b") == 0.0
    now[0] = 0.4
    assert rates.wait("a") == pytest.approx(0.6)
    now[0] = 1.1
    assert rates.wait("a") == 0.0 and rates.wait("a") == pytest.approx(0.9)


def test_keys_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"# ours\n{KEY}\n\n  {OTHER}  \n")
    assert [key.digest for key in read_keys(file)] == [sha256(key.encode()).digest() for key in (KEY, OTHER)]
    file.write_text("# nothing\n")
    with pytest.raises(ConfigurationError, match="API key a line"):
        read_keys(file)


def test_keys_are_read_again_when_their_file_changes_and_stay_while_it_makes_no_sense(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    now = [0.0]
    file = tmp_path / "keys"
    file.write_text(f"{KEY}\n")
    ring = KeyRing((), file, lambda: now[0])

    def known(*keys: str) -> list[str | None]:
        now[0] += 2
        found = [ring.find(key) for key in keys]
        return [None if key is None else key.scope for key in found]

    assert known(KEY, OTHER) == ["write", None]
    text, key = new_key("dashboard", "read")
    file.write_text(f"{KEY}\n{key.line}\n")
    assert known(KEY, text) == ["write", "read"]
    for broken in ("dashboard:admin:sha256$00\n", "# nothing\n", None):
        if broken is None:
            file.unlink()
        else:
            file.write_text(broken)
        assert known(KEY, text, OTHER) == ["write", "read", None]
    assert caplog.text.count("those before stay valid") == 3
    file.write_text(f"{OTHER}\n")
    assert known(KEY, text, OTHER) == [None, None, "write"]


def test_a_new_key_opens_the_api_and_only_its_hash_is_kept() -> None:
    text, key = new_key("dashboard", "read")
    assert parse_key(key.line) == key and KeyRing([key]).find(text) == key
    assert KeyRing([key]).find(key.line) is None and text not in key.line
    assert key.digest.hex() not in repr(key)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("short", "16 or more"),
        ("name:admin:sha256$" + "0" * 64, "read"),
        ("name:read:sha256$" + "0" * 63, "64 hexadecimal digits"),
        ("two words:read:sha256$" + "0" * 64, "name"),
        (":read:sha256$" + "0" * 64, "name"),
    ],
)
def test_a_line_that_is_no_key_is_refused_with_what_was_expected(
    line: str, says: str, tmp_path: Path
) -> None:
    file = tmp_path / "keys"
    file.write_text(f"\n{line}\n")
    with pytest.raises(ConfigurationError, match=says) as refusal:
        read_keys(file)
    assert "line 2" in str(refusal.value) and "short" not in str(refusal.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"api_keys": ("short",)},
        {"api_keys": ("with space" * 3,)},
        {"cors_origins": ("*",)},
        {"cors_origins": ("https://a.example/path",)},
        {"port": 70000},
        {"queue": 0},
        {"timeout": 0.0},
        {"rate_limit": 0},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        ServerSettings(**wrong)
    (name,) = wrong
    assert name in str(refusal.value)
    assert "with space" not in str(refusal.value)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("127.8.8.8", True),
        ("0.0.0.0", False),
        ("a.b", False),
    ],
)
def test_loopback_is_told_from_the_world(host: str, loopback: bool) -> None:
    assert ServerSettings(host=host).on_loopback is loopback
