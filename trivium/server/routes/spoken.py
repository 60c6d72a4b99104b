"""Spoken questions as text, and answers as sound."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import AfterValidator, BaseModel, Field
from starlette.responses import Response, StreamingResponse

from trivium.common import stopping
from trivium.server.fields import Whole
from trivium.server.pool import PoolFullError
from trivium.server.schemas import Given, errors
from trivium.server.service import Service, Serving, disconnected, unless_gone
from trivium.speech import Samples
from trivium.speech.wav import sound_bytes, wav_header

router = APIRouter(tags=["speech"])

MAX_CHARACTERS = 5000
"""Of a text to be spoken: five minutes."""
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
    """What was said: empty where no speech was heard."""

    text: str
    language: str = Field(description="A code of ISO 639-1.", examples=["en"])
    seconds: float = Field(description="How long the audio lasts.")


def _sayable(text: str) -> str:
    if not text.strip():
        raise ValueError("needs some text")
    return text


class SpeakRequest(Given):
    """A text, such as an answer: its citations and its Markdown are not spoken."""

    text: Annotated[Whole, AfterValidator(_sayable)] = Field(
        min_length=1, max_length=MAX_CHARACTERS, examples=["Asaph Hall found them in 1877 [1]."]
    )


@router.post("/transcribe", openapi_extra=_AUDIO, responses=errors(400, 408, 413, 415, 422, 501, 503))
async def transcribe(request: Request, serving: Serving) -> Transcription:
    """The text of a spoken question: an audio file as body, or the one file of a form. `GET /stats` says whether
    that is installed, and how long the audio may last."""
    serving.speech.check_hearing()  # before the audio is sent
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
    """A text as sound, sentence by sentence: it begins when the first is ready. Its length is not known then, so the
    header of the WAV file says that it goes on to the end."""
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
    """A text being spoken. Each sentence takes a thread anew, so that a client that reads slowly keeps none."""

    def __init__(self, serving: Service, text: str) -> None:
        self._serving = serving
        self._text = text
        self._sentences: Iterator[Samples] | None = None
        self.rate = 0
        """Of the voice; known with the first sentence."""
        self.seconds = serving.settings.answer_timeout

    async def next(self) -> Samples | None:
        """The next sentence, None behind the last."""
        while True:
            try:
                return await self._serving.speaking.run(self._next)
            except PoolFullError:
                if self._sentences is None:
                    raise
                await asyncio.sleep(_WAIT_SECONDS)  # too late for a status: it has begun

    def _next(self) -> Samples | None:
        if self._sentences is None:
            self.rate = self._serving.speech.voice.rate
            self._sentences = self._serving.speech.spoken(self._text)
        stopping.check()
        return next(self._sentences, None)


async def _sound(request: Request, speaking: _Speaking, first: Samples) -> AsyncIterator[bytes]:
    """The file. The next sentence is made while one is sent."""
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
