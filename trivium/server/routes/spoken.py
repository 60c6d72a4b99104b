"""Transcription of spoken questions, and speech synthesis of answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import AfterValidator, BaseModel, Field
from starlette.responses import Response, StreamingResponse

from trivium.common import stopping
from trivium.server.pool import PoolFullError
from trivium.server.request_fields import Whole
from trivium.server.schemas import Given, errors
from trivium.server.service import Service, Serving, disconnected, unless_gone
from trivium.speech import Samples
from trivium.speech.wav import sound_bytes, wav_header

router = APIRouter(tags=["speech"])

MAX_CHARACTERS = 5000
"""Maximum length of a text to speak, about five minutes."""
_WAIT_SECONDS = 0.05
_MEDIA_TYPE = "audio/wav"
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_AUDIO = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            },
            **dict.fromkeys(
                ("audio/wav", "audio/webm", "audio/ogg", "audio/mp4", "audio/mpeg", "audio/flac"), _BINARY
            ),
        },
    }
}


class Transcription(BaseModel):
    """The transcribed text, empty if no speech was detected."""

    text: str
    language: str = Field(description="ISO 639-1 code.", examples=["en"])
    seconds: float = Field(description="Duration of the audio.")


def _sayable(text: str) -> str:
    if not text.strip():
        raise ValueError("needs some text")
    return text


class SpeakRequest(Given):
    """A text to speak, such as an answer. Citations and Markdown are not spoken."""

    text: Annotated[Whole, AfterValidator(_sayable)] = Field(
        min_length=1, max_length=MAX_CHARACTERS, examples=["Asaph Hall found them in 1877 [1]."]
    )


@router.post("/transcribe", openapi_extra=_AUDIO, responses=errors(400, 408, 413, 415, 422, 501, 503))
async def transcribe(request: Request, serving: Serving) -> Transcription:
    """Transcribe a spoken question: an audio file as the body, or the only file of a form. `GET /stats` tells whether
    this is installed, and how long the audio may be.
    """
    serving.speech.check_hearing()  # before the audio is received
    serving.speaking.check()
    async with serving.audio.receive(request) as audio:
        heard = await unless_gone(
            request,
            serving.speaking.run(lambda: serving.speech.transcribe(audio)),
            serving.settings.timeout,
        )
    return Transcription(text=heard.text, language=heard.language, seconds=heard.seconds)


@router.post(
    "/speak",
    response_class=Response,
    responses={
        200: {"content": {_MEDIA_TYPE: _BINARY}},
        **errors(400, 413, 422, 501, 503),
    },
)
async def speak(given: SpeakRequest, request: Request, serving: Serving) -> Response:
    """Speak a text, sentence by sentence. The response begins when the first sentence is ready. Its length is not known
    by then, so the header of the WAV file declares an unlimited length.
    """
    serving.speech.check_speaking()
    speaking = _Speaking(serving, given.text)
    first = await unless_gone(request, speaking.next(), serving.settings.timeout)
    assert first is not None, "a text without a sound is an error"
    return StreamingResponse(
        _sound(request, speaking, first),
        media_type=_MEDIA_TYPE,
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


class _Speaking:
    """A text being spoken. Each sentence uses a thread only while it is generated, so a slow client does not occupy
    one.
    """

    def __init__(self, serving: Service, text: str) -> None:
        self._serving = serving
        self._text = text
        self._sentences: Iterator[Samples] | None = None
        self.rate = 0
        """Sample rate of the voice, known after the first sentence."""
        self.seconds = serving.settings.answer_timeout

    async def next(self) -> Samples | None:
        """Return the next sentence, None after the last."""
        while True:
            try:
                return await self._serving.speaking.run(self._next)
            except PoolFullError:
                if self._sentences is None:
                    raise
                await asyncio.sleep(
                    _WAIT_SECONDS
                )  # the response has begun, so its status can no longer be changed

    def _next(self) -> Samples | None:
        if self._sentences is None:
            self.rate = self._serving.speech.voice.rate
            self._sentences = self._serving.speech.spoken(self._text)
        stopping.check()
        return next(self._sentences, None)


async def _sound(request: Request, speaking: _Speaking, first: Samples) -> AsyncIterator[bytes]:
    """Yield the file. The next sentence is generated while one is sent."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + speaking.seconds
    gone = asyncio.ensure_future(disconnected(request))
    following: asyncio.Future[Samples | None] | None = None
    try:
        yield wav_header(speaking.rate)
        samples: Samples | None = first
        while samples is not None:
            following = asyncio.ensure_future(speaking.next())
            yield sound_bytes(samples, speaking.rate)
            patience = max(0.0, deadline - clock())
            await asyncio.wait((following, gone), timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                return
            samples = following.result()
    finally:
        gone.cancel()
        if following is not None:
            following.cancel()
