"""English voices of hibari-tts, which includes one (Apache License 2.0)."""

from __future__ import annotations

import logging
import threading

import numpy as np

from trivium.errors import ConfigurationError, SpeechError
from trivium.speech.protocols import Samples

_log = logging.getLogger(__name__)


class HibariVoice:
    """A voice of hibari-tts on one core, much faster than real time. The same sentence always sounds the same."""

    def __init__(self, voice: str | None = None) -> None:
        """``voice`` None uses the one included in the package. Others must have been downloaded with the command
        ``hibari``. Raises ConfigurationError for a missing voice.
        """
        from hibari import Hibari
        from hibari.voices import DEFAULT, VOICES, voice_path

        chosen = DEFAULT if voice is None else voice
        try:
            path = voice_path(chosen, download_missing=False)
        except ValueError as error:
            raise ConfigurationError(
                f"expected one of the voices {', '.join(VOICES)}, got {voice!r}"
            ) from error
        except FileNotFoundError as error:
            raise ConfigurationError(
                f"the voice {chosen!r} is not on this machine: run  hibari --voice {chosen} hello -o hello.wav  once"
            ) from error
        self.name = "hibari" if voice is None else f"hibari:{voice}"
        self._voice = Hibari(voice=chosen, model=path)
        self.rate: int = self._voice.sample_rate
        self._lock = threading.Lock()

    def say(self, sentence: str) -> Samples:
        """See :class:`~trivium.speech.protocols.Voice`."""
        with self._lock:
            try:
                phonemes = self._voice.phonemize(sentence)
            except (
                Exception
            ) as error:  # may raise anything on unusual text; the rest of the answer is still spoken
                _log.warning("hibari cannot pronounce a sentence: %s", type(error).__name__)
                phonemes = []
            try:
                sound = [self._voice.from_phonemes(part, seed=0) for part in phonemes]
            except Exception as error:  # ONNX Runtime has many exception classes
                raise SpeechError(
                    f"a sentence could not be spoken: {type(error).__name__}: {error}"
                ) from error
        whole = np.concatenate([np.zeros(0, np.float32), *sound])
        samples: Samples = (np.clip(whole, -1.0, 1.0) * 32767.0).astype(np.int16)
        return samples
