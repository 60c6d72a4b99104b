"""Voices of Piper, in many languages, spoken by its program.

Piper runs as a separate program in its own environment, because its current versions are licensed under the GNU General
Public License, unlike this package. It is started once and receives one line per sentence. Source:
https://github.com/OHF-Voice/piper1-gpl
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tempfile
import threading
import wave
import weakref
from pathlib import Path
from typing import IO

import numpy as np

from trivium.common import stopping
from trivium.errors import ConfigurationError, SpeechError
from trivium.speech.protocols import Samples

_WROTE = re.compile(r"Wrote (.+\.wav)\s*$")
_PATIENCE_SECONDS = 60.0
PIPER = "piper"
"""The program, looked for in PATH."""


def check_piper(model: Path, command: str) -> int:
    """Return the sample rate of a voice in Hz. Raises ConfigurationError when the voice or the program is missing."""
    description = model.with_name(f"{model.name}.json")
    try:
        rate = int(json.loads(description.read_bytes())["audio"]["sample_rate"])
        if not model.is_file():
            raise FileNotFoundError(model)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"expected a voice of Piper (TRIVIUM_VOICE=piper:FILE.onnx), {model} and {description.name} beside it:"
            f" {type(error).__name__}: {error}"
        ) from error
    program = shlex.split(command)[:1]
    if not program or shutil.which(program[0]) is None:
        raise ConfigurationError(
            f"there is no program {command!r} to speak with: install it in an environment of its own (pipx install"
            " piper-tts), or set TRIVIUM_VOICE=hibari"
        )
    return rate


class PiperVoice:
    """A voice in a file. Sentences are spoken one after the other."""

    def __init__(self, model: Path, command: str = PIPER) -> None:
        """``model`` is the voice (``.onnx``), with its description (``.onnx.json``) next to it. ``command`` is the
        program, optionally with arguments. Raises ConfigurationError when one of them is missing.
        """
        self.name = f"piper:{model}"
        self.rate = check_piper(model, command)
        self._command = [*shlex.split(command), "--model", str(model)]
        self._folder = tempfile.mkdtemp(prefix="trivium-piper-")
        self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        with self._lock:
            self._program()

    def say(self, sentence: str) -> Samples:
        """See :class:`~trivium.speech.protocols.Voice`."""
        line = " ".join(sentence.split())
        if not line:
            return np.zeros(0, np.int16)
        with self._lock:
            stopping.check()
            process = self._program()
            assert process.stdin is not None and process.stderr is not None
            timer = threading.Timer(_PATIENCE_SECONDS, process.kill)
            timer.start()
            try:
                with stopping.calling(process.kill):
                    process.stdin.write(f"{line}\n")
                    process.stdin.flush()
                    written = _written(process.stderr)
            except OSError:
                written = None
            finally:
                timer.cancel()
            if written is None:
                self._end()
                stopping.check()
                raise SpeechError("Piper ended over a sentence, or took too long")
            try:
                return _sound(written)
            finally:
                written.unlink(missing_ok=True)

    def close(self) -> None:
        """End the program. It also ends with this process."""
        with self._lock:
            self._end()
        self._remove()

    def _program(self) -> subprocess.Popen[str]:
        """Return the running program, starting it if needed."""
        if self._process is not None and self._process.poll() is None:
            return self._process
        try:
            self._process = subprocess.Popen(
                [*self._command, "--output-dir", self._folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            raise SpeechError(f"the program {self._command[0]!r} cannot be started: {error}") from error
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _written(messages: IO[str]) -> Path | None:
    """Return the file that the program reports as written; None if it ends."""
    for message in messages:
        found = _WROTE.search(message)
        if found is not None:
            return Path(found[1])
    return None


def _sound(path: Path) -> Samples:
    try:
        with wave.open(str(path)) as file:
            if (file.getsampwidth(), file.getnchannels()) != (2, 1):
                raise SpeechError("expected sound of one channel and 16 bits from Piper")
            return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.int16)
    except (OSError, EOFError, wave.Error) as error:
        raise SpeechError(f"Piper wrote no sound: {error}") from error
