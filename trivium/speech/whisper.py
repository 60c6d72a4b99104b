"""Whisper models through faster-whisper (CTranslate2). Radford et al. 2022, https://arxiv.org/abs/2212.04356"""

from __future__ import annotations

import threading
from pathlib import Path

from trivium.common import stopping
from trivium.errors import ConfigurationError, SpeechError
from trivium.speech.base import MAX_SECONDS, Transcript
from trivium.speech.decoding import decode

_FILES = ("model.bin", "config.json", "tokenizer.json")
_REPETITIVE = 2.4
"""How many times smaller a compressor makes a text that goes round in circles, as Whisper's do over noise."""


def check_model(folder: Path) -> None:
    """Raises ConfigurationError where a folder has not the files of a model: the library would look for what is missing
    on the network."""
    missing = [name for name in _FILES if not (folder / name).is_file()]
    if missing:
        raise ConfigurationError(
            "expected the folder of a Whisper model for CTranslate2 (TRIVIUM_RECOGNISER=whisper:FOLDER),"
            f" got {folder} without {', '.join(missing)}"
        )


class WhisperRecogniser:
    """A model on the processor, quantised to 8 bits. One question after the other is heard: each takes all cores."""

    name = "whisper"

    def __init__(self, folder: Path, *, seconds: float = MAX_SECONDS, workers: int | None = None) -> None:
        """``folder``: a Whisper model as CTranslate2 keeps it. ``seconds``: how long audio may last. ``workers``:
        threads, None for one a core. Raises ConfigurationError where the folder holds no such model."""
        from faster_whisper import WhisperModel

        check_model(folder)
        try:
            self._model = WhisperModel(
                str(folder),
                device="cpu",
                compute_type="int8",
                cpu_threads=0 if workers is None else workers,
                local_files_only=True,
            )
        except (RuntimeError, ValueError) as error:
            raise ConfigurationError(f"the Whisper model in {folder} cannot be loaded: {error}") from error
        self._seconds = seconds
        self._lock = threading.Lock()

    def transcribe(self, audio: bytes) -> Transcript:
        """See :class:`~trivium.speech.base.Recogniser`."""
        samples = decode(audio, self._seconds)
        with self._lock:
            stopping.check()
            try:
                segments, info = self._model.transcribe(
                    samples,
                    temperature=0.0,  # others are drawn by chance
                    condition_on_previous_text=False,
                    vad_filter=True,  # over silence the model makes words up
                )
                said = []
                for segment in segments:
                    stopping.check()
                    if segment.compression_ratio < _REPETITIVE:
                        said.append(segment.text.strip())
            except (RuntimeError, ValueError) as error:
                raise SpeechError(f"the audio could not be transcribed: {error}") from error
        return Transcript(" ".join(said), info.language, round(info.duration, 2))
