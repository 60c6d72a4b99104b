"""Reads the text of pictures (optical character recognition), where the extra ``ocr`` is installed."""

from __future__ import annotations

import logging
import math
import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trivium.errors import MissingExtraError, ParseError
from trivium.limits import DEFAULT_LIMITS, InputLimits
from trivium.parser import ocr_cache
from trivium.parser.ocr_lines import TextBox, lines_of
from trivium.parser.picture_files import LONGEST_SIDE, decoded, open_picture
from trivium.parser.sources.base import clean_text
from trivium.text import composed

if sys.platform != "win32":
    import resource

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels = NDArray[np.uint8]
"""Height x width x 3 (red, green, blue), or height x width (grey)."""

_DETECT_SIDE = 960
"""Pixels of the longer side in which places of text are looked for. What is found is read from the larger picture.
With 1,280 as much is found, with twice the memory and time."""
_WORD = re.compile(r"[^\W\d_]{3}|\d{3}|[^\W\x00-\x7f]{2}")
"""Without one there is no text: single letters and digits are found in icons."""
_CLEAR = 0.85
"""Mean score of the pieces of an upright picture. Those of clear text have 0.95 and more, of text that stands on its head
0.6 to 0.71, of text that nobody can read 0.5 to 0.62."""
_LEGIBLE = 0.75
"""Mean score below which what is read is nonsense."""
_ILLEGIBLE = "\0"
"""What is kept of a picture whose text is nonsense."""
_SMALLEST = 16
"""Pixels: no text stands in what is smaller."""

_spent = [0.0]  # seconds of this process
_lock = threading.Lock()  # the reader keeps state between its steps
_log = logging.getLogger(__name__)


class PictureReader(Protocol):
    """Finds text in a picture."""

    def __call__(self, pixels: Pixels) -> list[TextBox]:
        """The pieces of text in a picture of height x width x 3 (red, green, blue), in any order."""
        ...


def ocr_available() -> bool:
    """Whether the packages that read pictures are installed; nothing is imported."""
    return all(find_spec(name) is not None for name in ("rapidocr", "PIL", "cv2"))


def require_ocr(feature: str = "reading the text of pictures") -> None:
    """Raise MissingExtraError where pictures cannot be read."""
    if not ocr_available():
        raise MissingExtraError(feature, "ocr")


def parser_time() -> float:
    """Seconds of processor time of this process without those in which it read pictures: for what limits the time of a
    document."""
    return time.process_time() - _spent[0]


@contextmanager
def picture_time(seconds: float) -> Iterator[None]:
    """What is done to a picture meanwhile is left out of :func:`parser_time`; where this process is limited in processor
    time, it may take so many seconds more."""
    started = time.process_time()
    try:
        with _processor_time(seconds):
            yield
    finally:
        _spent[0] += time.process_time() - started


class Ocr:
    """Reads the text of the pictures of one document, for ``limits.ocr_seconds`` altogether."""

    def __init__(self, limits: InputLimits = DEFAULT_LIMITS, reader: PictureReader | None = None) -> None:
        """``reader``: another one than that of the extra."""
        self._limits = limits
        self._reader = reader
        self.spent = 0.0
        """Seconds of processor time."""
        self.unread = 0
        """Pictures that were left out: there was no time, or no memory."""
        self.illegible = 0
        """Pictures with text that could not be read clearly, which is left out."""

    @property
    def available(self) -> bool:
        """Whether any picture is read; never with ``limits.ocr_seconds`` of 0."""
        return self._limits.ocr_seconds > 0 and (self._reader is not None or ocr_available())

    def read(self, picture: bytes | Image | Pixels) -> str:
        """The text of a picture, a line each, also of a turned one; empty where there is none, where it is not clear
        (:attr:`illegible` counts these), where the extra is missing, and where the time of the document is over
        (:attr:`unread`).

        Raises ParseError for what is no picture, is damaged, or has too many pixels.
        """
        if not self.available:
            return ""
        key = ocr_cache.key_of(picture) if self._reader is None else None
        known = None if key is None else ocr_cache.get(key)
        if known is not None:
            return self._legible(known)
        left = self._limits.ocr_seconds - self.spent
        if left <= 0:
            self.unread += 1
            return ""
        started = time.process_time()
        try:
            with _processor_time(left):
                text = self._text(picture)
        except MemoryError:
            self.unread += 1
            return ""
        finally:
            seconds = time.process_time() - started
            self.spent += seconds
            _spent[0] += seconds
        if key is not None:
            ocr_cache.put(key, text)
        return self._legible(text)

    def _legible(self, text: str) -> str:
        if text != _ILLEGIBLE:
            return text
        self.illegible += 1
        return ""

    def _text(self, picture: bytes | Image | Pixels) -> str:
        pixels = _pixels(picture, self._limits)
        if min(pixels.shape[:2]) < _SMALLEST:
            return ""
        reader = self._reader or rapid_reader()
        boxes = _upright(reader, pixels)
        text = composed(clean_text("\n".join(lines_of(boxes))))
        if not _WORD.search(text):
            return ""
        return text if _score(boxes) >= _LEGIBLE else _ILLEGIBLE


def _upright(reader: PictureReader, pixels: Pixels) -> list[TextBox]:
    """What is read in a picture, be it turned by a quarter or on its head. A reader finds the lines of a turned picture
    as well: high ones, which it reads from below to above."""
    boxes = _read(reader, pixels)
    clear, is_high = _score(boxes) >= _CLEAR, _is_high(boxes)
    if not boxes or (clear and not is_high):
        return boxes
    quarters = (1 if clear else 3) if is_high else 2  # counter-clockwise
    turned = _read(reader, np.ascontiguousarray(np.rot90(pixels, quarters)))
    if clear:
        return turned if _score(turned) >= _CLEAR and not _is_high(turned) else boxes
    return max(boxes, turned, key=_score)


def _read(reader: PictureReader, pixels: Pixels) -> list[TextBox]:
    return [box for box in reader(pixels) if any(map(str.isalnum, box.text))]


def _score(boxes: Sequence[TextBox]) -> float:
    """The mean of all characters."""
    return sum(len(box.text) * box.score for box in boxes) / max(1, sum(len(box.text) for box in boxes))


def _is_high(boxes: Sequence[TextBox]) -> bool:
    """Whether most characters stand in pieces that are higher than wide."""
    high = sum(len(box.text) for box in boxes if len(box.text) > 2 and box.height > box.right - box.left)
    return high > sum(len(box.text) for box in boxes) / 2


def _pixels(picture: bytes | Image | Pixels, limits: InputLimits) -> Pixels:
    if isinstance(picture, bytes):
        return np.asarray(decoded(open_picture(picture, limits), limits))
    if not isinstance(picture, np.ndarray):
        return np.asarray(decoded(picture, limits))
    if picture.dtype != np.uint8 or picture.ndim not in (2, 3) or not picture.size:
        raise ValueError(
            f"expected pixels as uint8 of height x width x 3, got {picture.dtype} {picture.shape}"
        )
    if max(picture.shape[:2]) > LONGEST_SIDE:
        from PIL import Image

        return np.asarray(decoded(Image.fromarray(picture), limits))
    return picture if picture.ndim == 3 else np.repeat(picture[:, :, None], 3, axis=2)


@contextmanager
def _processor_time(seconds: float) -> Iterator[None]:
    """Where the process is limited in processor time, pictures have some of their own: reading them is slow, but no
    sign of a document that a parser loses itself in."""
    if sys.platform == "win32":
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if soft == resource.RLIM_INFINITY:
        yield
        return
    before = time.process_time()
    _limit_processor_time(soft + seconds, hard)
    try:
        yield
    finally:
        _limit_processor_time(soft + time.process_time() - before, hard)


def _limit_processor_time(seconds: float, hard: int) -> None:
    most = math.ceil(seconds)
    resource.setrlimit(
        resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard)
    )


@lru_cache(maxsize=1)
def rapid_reader() -> PictureReader:
    """The reader of the extra, made once in a process (1 to 2 s). Raises MissingExtraError."""
    require_ocr()
    return _RapidReader()


class _RapidReader:
    """rapidocr with the models that come in its package: nothing is fetched."""

    def __init__(self) -> None:
        import rapidocr

        models = Path(rapidocr.__file__).parent / "models"
        parameters: dict[str, Any] = {
            "Global.log_level": "critical",
            # Tells text that stands on its head from text that does not, and is wrong about short pieces.
            "Global.use_cls": False,
            "Det.model_path": str(_model(models, "det")),
            "Det.limit_type": "max",  # the default makes small pictures larger: three times the time, and no better
            "Det.limit_side_len": _DETECT_SIDE,
            "Rec.model_path": str(_model(models, "rec")),
            "Rec.rec_batch_num": 1,  # several at once take the memory of the widest for each
            # There are as many processes as cores.
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            "EngineConfig.onnxruntime.enable_cpu_mem_arena": False,  # it keeps what the largest picture took
        }
        self._read = rapidocr.RapidOCR(params=parameters)

    def __call__(self, pixels: Pixels) -> list[TextBox]:
        import cv2

        with _lock:
            threads = cv2.getNumThreads()
            cv2.setNumThreads(1)  # each takes memory of its own
            try:
                found = self._read(np.ascontiguousarray(pixels[:, :, ::-1]))  # blue, green, red
            except Exception as error:
                if "bad_alloc" in str(error):
                    raise MemoryError from error
                _log.debug("a picture cannot be read", exc_info=True)
                raise ParseError(f"its text cannot be read: {type(error).__name__}") from error
            finally:
                cv2.setNumThreads(threads)
        if found.txts is None or found.boxes is None:
            return []
        return [
            TextBox(text, *map(float, (*corners.min(axis=0), *corners.max(axis=0), score)))
            for text, corners, score in zip(found.txts, found.boxes, found.scores, strict=True)
        ]


def _model(folder: Path, step: str) -> Path:
    """The file of a step. A path that is given is not looked for in the network."""
    found = sorted(folder.glob(f"*_{step}_*.onnx"))
    if not found:
        raise MissingExtraError("reading the text of pictures (the models of rapidocr are missing)", "ocr")
    return found[-1]
