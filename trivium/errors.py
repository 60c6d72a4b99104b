"""The errors Trivium raises. All descend from :class:`TriviumError`, so one ``except`` catches them.

TriviumError
├── InputError              a document, question file or argument is not what was expected
│   ├── ParseError          a document cannot be turned into a page
│   ├── AudioError          what should be audio is not, or is damaged
│   │   └── AudioTooLongError  it lasts longer, or is larger, than is listened to
│   ├── NothingReadError    none of the documents that were given could be read
│   └── QuestionFileError   a question file is malformed (names the line)
├── StoreError              the store cannot do what was asked
│   ├── StoreNotFoundError  there is no store at that address
│   ├── StoreFormatError    the store was written by another schema version, or is damaged
│   ├── StoreBusyError      another process is writing
│   ├── NotEmbeddedError    nothing in the store has a vector yet
│   ├── StoreChangedError   what was found is gone: another process or thread has changed the store meanwhile
│   ├── EmbedderMismatchError  the store was filled by another embedder
│   └── ChunkerMismatchError   the pages of the store were cut by another chunker
├── EmbeddingError          an embedder failed or answered with something else than vectors
│   └── ModelNotInstalledError  model files are missing; the message names the command that installs them
├── SpeechError             a recogniser or a voice failed
├── ChatModelError          a language model failed or answered with something unusable
├── RerankError             a reranker failed, took too long or answered with something unusable
├── FusionError             a fusion name or its saved weights do not fit
├── ConfigurationError      settings are malformed or unknown
└── MissingExtraError       an optional package is missing; the message names the command that installs it

Messages say what was expected, what came, and what to do about it.
"""

from __future__ import annotations

from typing import Any


class TriviumError(Exception):
    """Root of every error this package raises on purpose."""


class InputError(TriviumError):
    """Something given from outside is not what was expected."""


class ParseError(InputError):
    """A document cannot be turned into a page."""


class AudioError(InputError):
    """What should be audio is not, or is damaged."""


class AudioTooLongError(AudioError):
    """Audio lasts longer, or is larger, than is listened to."""


class NothingReadError(InputError):
    """None of the documents that were given could be read, and the store holds none. ``report`` is the
    :class:`~trivium.index.load.IngestReport` of the load, with its ``problems`` and what was ``left_out``."""

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
    """Nothing in the store has a vector yet; only words can be searched."""


class StoreChangedError(StoreError):
    """What was found is gone, because the store was changed meanwhile; asking again helps."""


class EmbedderMismatchError(StoreError):
    """The store was filled by another embedder."""


class ChunkerMismatchError(StoreError):
    """The pages of the store were cut by another chunker."""


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
    """An optional package is missing. ``then`` is a command for what no extra can bring."""

    def __init__(self, feature: str, extra: str, then: str | None = None) -> None:
        commands = f"pip install 'trivium[{extra}]'" + ("" if then is None else f" && {then}")
        super().__init__(f"{feature} needs packages that are not installed: run  {commands}")
        self.extra = extra


def said(error: BaseException) -> str:
    """What a library says of a file it cannot read, as a reason to show: one line of at most 200 characters, since some
    quote the file.

    >>> said(ValueError("no such name:\\n" + "x" * 1000)) == "no such name: " + "x" * 186
    True
    """
    return " ".join(str(error).split())[:200]
