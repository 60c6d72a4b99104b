"""Transcription of spoken questions, and speech synthesis of answers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import AfterValidator, BaseModel, Field
from starlette.responses import Response

from trivium.server.errors import busy, unsupported
from trivium.server.request_fields import Whole
from trivium.server.schemas import Given, errors
from trivium.server.service import Serving, unless_gone
from trivium.server.uploads import content_type_of

router = APIRouter(tags=["speech"])

MAX_CHARACTERS = 5000
"""Maximum length of a text to speak, about five minutes."""
_ACCEPTED = ("audio/", "video/", "application/octet-stream", "application/ogg")
"""Content types of recordings. Browsers label them as audio/webm or video/webm."""
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_AUDIO = {
    "requestBody": {
        "required": True,
        "content": dict.fromkeys(
            ("audio/wav", "audio/webm", "audio/ogg", "audio/mp4", "audio/mpeg", "application/octet-stream"),
            _BINARY,
        ),
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
    """Transcribe a spoken question: an audio file as the body. `GET /stats` tells whether this is installed, and how
    long the audio may be.
    """
    serving.speech.check_hearing()  # before the audio is received
    serving.speaking.check()
    kind = content_type_of(request)
    if not kind.startswith(_ACCEPTED):
        raise unsupported(kind, "audio (such as audio/wav or audio/webm)")
    if serving.hearing.locked():
        raise busy("more spoken questions are waiting than can be heard soon", close=True)
    async with serving.hearing:
        audio = await request.body()  # whose size and time are limited by the checks of every request
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
        200: {"content": {"audio/wav": _BINARY}},
        **errors(400, 413, 422, 501, 503),
    },
)
async def speak(given: SpeakRequest, request: Request, serving: Serving) -> Response:
    """Speak a text. The answer is a WAV file."""
    serving.speech.check_speaking()
    work = serving.speaking.run(lambda: serving.speech.speak(given.text))
    sound = await unless_gone(request, work, serving.settings.answer_timeout)
    return Response(sound, media_type="audio/wav", headers={"Cache-Control": "no-store"})
