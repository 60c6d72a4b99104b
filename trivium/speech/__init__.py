"""Speech: a recogniser transcribes spoken questions, and a voice speaks answers.

:func:`transcribe` and :func:`speak` use the configured recogniser and voice, :class:`~trivium.speech.speech.Speech`
custom ones. Importing this package loads no model; each is loaded on first use, once per process.
"""

from trivium.speech.protocols import Recogniser, Samples, Transcript, Voice
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
