"""Questions that are spoken, and answers that are heard: a recogniser turns audio into text, a voice text into audio.

:func:`transcribe` and :func:`speak` do it with what the settings name, :class:`~trivium.speech.speech.Speech` with parts
of one's own. Importing this package loads no model; each is loaded at its first use, once for a process.
"""

from trivium.speech.base import Recogniser, Samples, Transcript, Voice
from trivium.speech.sentences import spoken_sentences
from trivium.speech.speech import Speech, speak, transcribe

__all__ = [
    "Recogniser",
    "Samples",
    "Speech",
    "Transcript",
    "Voice",
    "speak",
    "spoken_sentences",
    "transcribe",
]
