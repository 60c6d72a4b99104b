"""The errors Trivium raises. All descend from :class:`TriviumError`, so one ``except`` catches them.

TriviumError
├── InputError              a document, question file or argument is not what was expected
│   ├── ParseError          a document cannot be turned into a page
│   ├── AudioError          a file is not audio, or is damaged
│   │   └── AudioTooLongError  audio exceeds the maximum duration or size
│   ├── NothingReadError    none of the given documents could be read
│   └── QuestionFileError   a question file is malformed (names the line)
├── StoreError              the store cannot do what was asked
│   ├── StoreNotFoundError  there is no store at that address
│   ├── StoreFormatError    the store was written by another schema version, or is damaged
│   ├── StoreBusyError      another process is writing
│   ├── NotEmbeddedError    nothing in the store has a vector yet
│   ├── StoreChangedError   results are gone because another process or thread changed the store meanwhile
│   ├── EmbedderMismatchError  the store was built with another embedder
│   └── ChunkerMismatchError   the pages of the store were split by another chunker
├── EmbeddingError          an embedder failed or did not return vectors
│   └── ModelNotInstalledError  model files are missing; the message names the command that installs them
├── SpeechError             a recogniser or a voice failed
├── ChatModelError          a language model failed or answered with something unusable
├── RerankError             a reranker failed, took too long or answered with something unusable
├── FusionError             a fusion name or its saved weights do not fit
├── ConfigurationError      settings are malformed or unknown
└── MissingExtraError       an optional package is missing; the message names the command that installs it

Messages state what was expected, what was found, and how to fix it.
"""

from __future__ import annotations

from typing import Any


class TriviumError(Exception):
    """Base class of all errors that this package raises on purpose."""


class InputError(TriviumError):
    """Input is not as expected."""


class ParseError(InputError):
    """A document cannot be turned into a page."""


class AudioError(InputError):
    """A file is not audio, or is damaged."""


class AudioTooLongError(AudioError):
    """Audio exceeds the maximum duration or size."""


class NothingReadError(InputError):
    """None of the given documents could be read, and the store is empty. ``report`` is the
    :class:`~trivium.index.load.IngestReport` of the load, with its ``problems`` and what was ``left_out``.
    """

    def __init__(self, message: str, report: Any) -> None:
        super().__init__(message)
        self.report = report


class QuestionFileError(InputError):
    """A question file is malformed."""


class StoreError(TriviumError):
    """The store cannot do what was asked."""


class StoreNotFoundError(StoreError):
    """There is no store at that address."""


class StoreFormatError(StoreError):
    """The store has another schema version or is damaged."""


class StoreBusyError(StoreError):
    """Another process is writing to the store."""


class NotEmbeddedError(StoreError):
    """Nothing in the store has a vector yet; only keyword search works."""


class StoreChangedError(StoreError):
    """Results are gone because the store was changed meanwhile. Retrying helps."""


class EmbedderMismatchError(StoreError):
    """The store was built with another embedder."""


class ChunkerMismatchError(StoreError):
    """The pages of the store were split by another chunker."""


class EmbeddingError(TriviumError):
    """An embedder failed."""


class ModelNotInstalledError(EmbeddingError):
    """The files of a model are not on this machine."""


class SpeechError(TriviumError):
    """A recogniser or a voice failed."""


class ChatModelError(TriviumError):
    """A language model failed or answered with something unusable."""


class RerankError(TriviumError):
    """A reranker failed, took too long, or answered with something else than scores."""


class FusionError(TriviumError):
    """A fusion is unknown, or its saved weights do not fit."""


class ConfigurationError(TriviumError):
    """Settings are malformed or unknown."""


class MissingExtraError(TriviumError):
    """An optional package is missing. ``then`` is a further command for what no extra can install.

    The command is right wherever this package is installed, from a wheel or as a checkout: pip takes the installed one
    for ``trivium`` and adds what the extra needs. ``.[extra]`` would need the checkout, and would replace it by a copy.
    """

    def __init__(self, feature: str, extra: str, then: str | None = None) -> None:
        commands = f"pip install 'trivium[{extra}]'" + ("" if then is None else f" && {then}")
        super().__init__(f"{feature} needs packages that are not installed: run  {commands}")
        self.extra = extra


def said(error: BaseException) -> str:
    """Format a library's error about an unreadable file as one line of at most 200 characters, because some quote the
    file.

    >>> said(ValueError("no such name:\\n" + "x" * 1000)) == "no such name: " + "x" * 186
    True
    """
    return " ".join(str(error).split())[:200]
