"""Spoken questions and answers of ``trivium ask``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trivium.errors import InputError
from trivium.types import Answer

if TYPE_CHECKING:
    from trivium.speech import Speech, Transcript

STDIN = "-"


class SpokenAsk:
    """The speech options ``--listen`` and ``--speak``, validated before anything is opened."""

    def __init__(self, question: str | None, listen: str | None, speak: Path | None) -> None:
        """Raises typer.BadParameter for invalid combinations of options, and MissingExtraError or ConfigurationError
        for missing software.
        """
        self._listen = listen
        self._speak = speak
        self._speech: Speech | None = None
        if listen is None and speak is None:
            return
        if listen is not None and question is not None:
            raise typer.BadParameter(
                "expected a question or a recording of one, got both", param_hint="--listen"
            )
        if listen is None and question is None:
            raise typer.BadParameter(
                "expected a question, or --listen with a recording", param_hint="--speak"
            )
        if speak is not None and not speak.absolute().parent.is_dir():
            raise typer.BadParameter(f"there is no folder {speak.parent}", param_hint="--speak")
        # Imported here because no other command needs it.
        from trivium.speech import Speech

        self._speech = Speech()
        if listen is not None:
            self._speech.check_hearing()
        if speak is not None:
            self._speech.check_speaking()

    def hear(self) -> Transcript | None:
        """Transcribe the recording; None without ``--listen``. Raises InputError when it contains no speech, OSError,
        and the errors of :meth:`trivium.speech.Speech.transcribe`.
        """
        if self._listen is None or self._speech is None:
            return None
        heard = self._speech.transcribe(_content(self._listen))
        if not heard.text:
            raise InputError(
                f"expected a spoken question in {_name(self._listen)}, heard no speech in its {heard.seconds:g} seconds"
            )
        return heard

    def say(self, answer: Answer) -> None:
        """Write the spoken answer to the file of ``--speak``. Raises OSError, and the errors of
        :meth:`trivium.speech.Speech.speak`.
        """
        if self._speak is not None and self._speech is not None:
            self._speak.write_bytes(self._speech.speak(answer.text))


def _content(listen: str) -> bytes:
    from trivium.speech.base import MAX_BYTES

    if listen == STDIN:
        content = sys.stdin.buffer.read(MAX_BYTES + 1)
    else:
        with Path(listen).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise InputError(f"expected {MAX_BYTES:,} bytes of audio at most in {_name(listen)}, got more")
    return content


def _name(listen: str) -> str:
    return "the audio on stdin" if listen == STDIN else listen
