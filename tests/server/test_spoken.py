"""Spoken questions and answers over HTTP: what is heard, what is said, and who may send what."""

from __future__ import annotations

import http.client
import io
import json
import socket
import wave
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from tests.fakes.speech import FakeRecogniser, FakeVoice
from tests.server.world import listening, serving
from tests.waiting import until
from trivium.errors import AudioTooLongError, SpeechError
from trivium.server.settings import ServerSettings
from trivium.settings.settings import Settings
from trivium.speech import Speech, registry

AUDIO = b"RIFF and some sound"
TEXT = "**Asaph Hall** found them [1]. It was in 1877 [2]. He had nearly given up."
KEY = "r" * 24
KEYS = (f"reader:read:sha256${sha256(KEY.encode()).hexdigest()}",)


@pytest.fixture(scope="module")
def recogniser() -> FakeRecogniser:
    return FakeRecogniser()


@pytest.fixture(scope="module")
def voice() -> FakeVoice:
    return FakeVoice()


@pytest.fixture(autouse=True)
def forgotten(recogniser: FakeRecogniser, voice: FakeVoice) -> Iterator[None]:
    """What a test made of them."""
    yield
    for fake in (recogniser, voice):
        fake.gate.clear()
        fake.open = True
    recogniser.heard.clear()
    recogniser.stopped = 0
    voice.said.clear()


@pytest.fixture(scope="module")
def speech(recogniser: FakeRecogniser, voice: FakeVoice) -> Speech:
    return Speech(recogniser=recogniser, voice=voice, settings=Settings())


@pytest.fixture(scope="module")
def client(store: Path, speech: Speech) -> Iterator[TestClient]:
    with serving(store, ServerSettings(audio_bytes=1000), speech=speech) as client:
        yield client


def error_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_recording_is_sent_as_it_is(client: TestClient, recogniser: FakeRecogniser) -> None:
    """Under whatever name a browser gives it."""
    expected = {"text": recogniser.text, "language": "en", "seconds": 1.5}
    for kind in ("audio/wav", "audio/webm;codecs=opus", "video/webm", "application/octet-stream"):
        answer = client.post("/transcribe", content=AUDIO, headers={"content-type": kind})
        assert (answer.status_code, answer.json()) == (200, expected), kind
    assert recogniser.heard == [AUDIO] * 4


def test_what_is_no_recording_is_refused_for_a_reason(client: TestClient, recogniser: FakeRecogniser) -> None:
    def sent(content: bytes, kind: str = "audio/wav") -> tuple[int, str]:
        return error_of(client.post("/transcribe", content=content, headers={"content-type": kind}))

    assert sent(b"") == (400, "bad_request")
    assert sent(b"<html>") == (400, "bad_request")
    assert sent(AUDIO, "application/json") == (415, "unsupported_media_type")
    assert sent(AUDIO, "multipart/form-data; boundary=x") == (415, "unsupported_media_type")
    assert sent(AUDIO + bytes(1000)) == (413, "too_large")
    assert not recogniser.heard


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (AudioTooLongError("the audio lasts longer than 120 seconds"), 413, "too_large"),
        (SpeechError("out of memory at 0x7f"), 503, "speech"),
    ],
)
def test_errors_of_the_recogniser_are_told_by_their_cause(
    client: TestClient,
    recogniser: FakeRecogniser,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
    code: str,
) -> None:
    """Only those of the sender in their words."""

    def fail(_: bytes) -> None:
        raise error

    monkeypatch.setattr(recogniser, "transcribe", fail)
    answer = client.post("/transcribe", content=AUDIO, headers={"content-type": "audio/wav"})
    assert error_of(answer) == (status, code)
    assert (str(error) in answer.text) == (status == 413)


def test_an_answer_is_a_wav_file_without_its_citations(client: TestClient, voice: FakeVoice) -> None:
    """Each sentence with a pause behind it, in one channel."""
    answer = client.post("/speak", json={"text": TEXT})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "audio/wav")
    assert voice.said == ["Asaph Hall found them.", "It was in 1877.", "He had nearly given up."]
    with wave.open(io.BytesIO(answer.content)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (8000, 1, 2)
    assert len(answer.content) == 44 + 3 * (200 + 4000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1] ...", (400, "bad_request")),
        ("  ", (422, "invalid")),
        ("", (422, "invalid")),
        ("x" * 5001, (422, "invalid")),
        ("\ud800", (422, "invalid")),
        (7, (422, "invalid")),
    ],
)
def test_what_cannot_be_spoken_is_refused(
    client: TestClient, text: object, expected: tuple[int, str]
) -> None:
    body = json.dumps({"text": text})
    answer = client.post("/speak", content=body, headers={"content-type": "application/json"})
    assert error_of(answer) == expected


@contextmanager
def asking(address: str, path: str, body: bytes, kind: str) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=20)) as connection:
        connection.request("POST", path, body, {"Content-Type": kind})
        yield connection


def taken(address: str) -> int:
    with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=20)) as connection:
        connection.request("GET", "/stats")
        return int(json.load(connection.getresponse())["waiting"]["speech"])


@pytest.fixture(scope="module")
def address(store: Path, speech: Speech) -> Iterator[str]:
    with listening(store, speech=speech) as running:
        yield running


def test_a_client_that_leaves_ends_the_speaking(address: str, voice: FakeVoice) -> None:
    """The sentence that is being said too; the third is never begun."""
    voice.open = False
    body = json.dumps({"text": TEXT}).encode()
    with asking(address, "/speak", body, "application/json"):
        until(lambda: len(voice.said) == 2)
        assert taken(address) == 1
    until(lambda: taken(address) == 0, 5)
    assert len(voice.said) == 2


def test_a_client_that_leaves_ends_the_hearing(address: str, recogniser: FakeRecogniser) -> None:
    recogniser.open = False
    with asking(address, "/transcribe", AUDIO, "audio/wav"):
        until(lambda: recogniser.heard)
    until(lambda: recogniser.stopped == 1, 5)
    until(lambda: taken(address) == 0, 5)


def test_hearing_ends_after_its_time_and_further_ones_are_refused(
    store: Path, recogniser: FakeRecogniser, speech: Speech
) -> None:
    """With one place, a second question is told to come again before it is sent."""
    recogniser.open = False
    settings = ServerSettings(timeout=0.8, speech_workers=1, speech_queue=1)
    settings = settings.model_copy(update={"speech_queue": 0})
    with (
        listening(store, settings, speech=speech) as address,
        asking(address, "/transcribe", AUDIO, "audio/wav") as first,
    ):
        until(lambda: recogniser.heard)
        with asking(address, "/transcribe", AUDIO, "audio/wav") as second:
            answer = second.getresponse()
            assert (answer.status, json.load(answer)["error"]["code"]) == (503, "busy")
            assert answer.headers["Retry-After"]
        answer = first.getresponse()
        assert (answer.status, json.load(answer)["error"]["code"]) == (503, "timeout")


def test_a_recording_that_comes_too_slowly_is_given_up(store: Path, speech: Speech) -> None:
    with listening(store, ServerSettings(timeout=0.5), speech=speech) as address:
        parts = urlsplit(address)
        assert parts.hostname is not None
        with socket.create_connection((parts.hostname, parts.port or 0), timeout=20) as connection:
            head = f"POST /transcribe HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: audio/wav\r\n"
            connection.sendall(f"{head}Content-Length: 100\r\n\r\nRIFF".encode())
            assert b" 408 " in connection.recv(200)


def test_a_key_that_may_read_may_speak_and_none_may_not(store: Path, speech: Speech) -> None:
    settings = ServerSettings(api_keys=KEYS)
    with serving(store, settings, speech=speech) as client:
        for key, status in ((None, 401), ("w" * 24, 401), (KEY, 200)):
            headers = {} if key is None else {"x-api-key": key}
            heard = client.post(
                "/transcribe", content=AUDIO, headers={**headers, "content-type": "audio/wav"}
            )
            said = client.post("/speak", json={"text": TEXT}, headers=headers)
            assert heard.status_code == said.status_code == status


def test_the_state_says_whether_speech_is_there(
    store: Path, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is not, an answer names the command that installs it; nothing else of the server minds."""
    assert client.get("/stats").json()["speech"] == {"transcribe": True, "speak": True, "seconds": 120.0}
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    with serving(store, speech=Speech(settings=Settings())) as without:
        assert without.get("/stats").json()["speech"]["transcribe"] is False
        heard = without.post("/transcribe", content=AUDIO, headers={"content-type": "audio/wav"})
        said = without.post("/speak", json={"text": TEXT})
        assert error_of(heard) == error_of(said) == (501, "not_installed")
        assert "pip install 'trivium[speech]'" in heard.text


def test_no_more_recordings_are_held_than_there_is_room_for(
    store: Path, recogniser: FakeRecogniser, speech: Speech, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting and being heard; when they have been, there is room again."""
    monkeypatch.setattr("trivium.server.service.MAX_HEARD", 2)
    recogniser.open = False
    with (
        listening(store, ServerSettings(speech_workers=1), speech=speech) as address,
        asking(address, "/transcribe", AUDIO, "audio/wav") as first,
        asking(address, "/transcribe", AUDIO, "audio/wav") as second,
    ):
        until(lambda: taken(address) == 2)
        with asking(address, "/transcribe", AUDIO, "audio/wav") as third:
            assert third.getresponse().status == 503
        recogniser.gate.set()
        assert first.getresponse().status == second.getresponse().status == 200
        with asking(address, "/transcribe", AUDIO, "audio/wav") as fourth:
            assert fourth.getresponse().status == 200
