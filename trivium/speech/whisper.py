"""Whisper models through faster-whisper (CTranslate2). Radford et al. 2022, https://arxiv.org/abs/2212.04356"""

from __future__ import annotations

import threading
from pathlib import Path

from trivium.common import stopping
from trivium.errors import ConfigurationError, SpeechError
from trivium.speech.decoding import decode
from trivium.speech.protocols import MAX_SECONDS, Transcript

_FILES = ("model.bin", "config.json", "tokenizer.json")
_REPETITIVE = 2.4
"""Compression ratio above which a text counts as repetitive, as Whisper produces for noise."""


def check_model(folder: Path) -> None:
    """Raise ConfigurationError when a folder lacks files of a model. The library would otherwise download them."""
    missing = [name for name in _FILES if not (folder / name).is_file()]
    if missing:
        raise ConfigurationError(
            "expected the folder of a Whisper model for CTranslate2 (TRIVIUM_RECOGNISER=whisper:FOLDER),"
            f" got {folder} without {', '.join(missing)}"
        )


class WhisperRecogniser:
    """A model on the CPU, quantised to 8 bits. Questions are processed one at a time, each with all cores."""

    name = "whisper"

    def __init__(self, folder: Path, *, seconds: float = MAX_SECONDS, workers: int | None = None) -> None:
        """``folder`` contains a Whisper model in CTranslate2 format. ``seconds`` is the maximum duration of audio.
        ``workers`` is the number of threads, None for one per core. Raises ConfigurationError when the folder does not
        contain such a model.
        """
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
        """See :class:`~trivium.speech.protocols.Recogniser`."""
        samples = decode(audio, self._seconds)
        with self._lock:
            stopping.check()
            try:
                segments, info = self._model.transcribe(
                    samples,
                    temperature=0.0,  # others would sample
                    condition_on_previous_text=False,
                    vad_filter=True,  # the model hallucinates words in silence
                )
                said = []
                for segment in segments:
                    stopping.check()
                    if segment.compression_ratio < _REPETITIVE:
                        said.append(segment.text.strip())
            except (RuntimeError, ValueError) as error:
                raise SpeechError(f"the audio could not be transcribed: {error}") from error
        return Transcript(" ".join(said), info.language, round(info.duration, 2))
