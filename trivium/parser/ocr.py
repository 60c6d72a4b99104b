"""Optical character recognition of pictures, if the extra ``ocr`` is installed."""

from __future__ import annotations

import logging
import math
import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trivium.errors import MissingExtraError, ParseError
from trivium.parser import ocr_cache
from trivium.parser.open_pictures import LONGEST_SIDE, decoded, open_picture
from trivium.parser.sources.source_items import clean_text
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits
from trivium.text.normalise import composed

_COLUMN_LINES = 4
_COLUMN_LETTERS = 20
"""Minimum number of lines, and minimum average length of lines in characters, on each side of a gap between text
columns. Table cells are shorter and are read row by row.
"""


@dataclass(frozen=True, slots=True)
class TextBox:
    """A piece of text and its place in pixels; ``y`` points downwards. ``score`` is the confidence, 0 to 1."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    score: float = 1.0

    @property
    def height(self) -> float:
        return self.bottom - self.top


def lines_of(boxes: Sequence[TextBox]) -> list[str]:
    """Return the lines of a picture, column by column. Adjacent pieces form one line, separated by a space.

    >>> lines_of([TextBox("500", 90, 1, 99, 11), TextBox("Desk", 0, 0, 40, 10), TextBox("Lamp", 0, 20, 40, 30)])
    ['Desk 500', 'Lamp']
    """
    cut = _gap_between_columns(boxes)
    if cut is None:
        return _rows(boxes)
    above = [box for box in boxes if box.left < cut < box.right]  # headings across the columns
    top = min((box.top for box in boxes if not box.left < cut < box.right), default=0)
    head = [box for box in above if box.top <= top]
    rest = [box for box in boxes if box not in head]
    left = [box for box in rest if (box.left + box.right) / 2 <= cut]
    right = [box for box in rest if (box.left + box.right) / 2 > cut]
    return [*_rows(head), *lines_of(left), *lines_of(right)]


def _gap_between_columns(boxes: Sequence[TextBox]) -> float | None:
    """Return the middle of the widest vertical gap with running text on both sides."""
    if len(boxes) < 2 * _COLUMN_LINES:
        return None
    # Some lines may cross the gap: headings, which are the widest.
    width = max(box.right for box in boxes) - min(box.left for box in boxes)
    narrow = sorted((box for box in boxes if box.right - box.left < 0.6 * width), key=lambda box: box.left)
    best: tuple[float, float] | None = None
    reach = narrow[0].right if narrow else 0.0
    for number, box in enumerate(narrow):
        if box.left > reach:
            sides = narrow[:number], narrow[number:]
            if all(_is_running(side) for side in sides):
                best = max(best or (0.0, 0.0), (box.left - reach, (box.left + reach) / 2))
        reach = max(reach, box.right)
    across = len(boxes) - len(narrow)
    return None if best is None or across > len(narrow) / 4 else best[1]


def _is_running(side: Sequence[TextBox]) -> bool:
    return len(side) >= _COLUMN_LINES and sum(len(box.text) for box in side) >= _COLUMN_LETTERS * len(side)


def _rows(boxes: Sequence[TextBox]) -> list[str]:
    rows: list[list[TextBox]] = []
    for box in sorted(boxes, key=lambda box: (box.top + box.bottom) / 2):
        row = rows[-1] if rows else None
        if row is not None and _overlap(row[-1], box) > 0.5 * min(row[-1].height, box.height):
            row.append(box)
        else:
            rows.append([box])
    return [" ".join(box.text for box in sorted(row, key=lambda box: box.left)) for row in rows]


def _overlap(one: TextBox, other: TextBox) -> float:
    """Return the vertical overlap."""
    return min(one.bottom, other.bottom) - max(one.top, other.top)


if sys.platform != "win32":
    import resource

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels = NDArray[np.uint8]
"""Height x width x 3 (red, green, blue), or height x width (grey)."""

_DETECT_SIDE = 960
"""Longer side in pixels for detecting text. Detected text is recognised in the larger picture. 1,280 pixels find no
more, with twice the memory and time.
"""
_WORD = re.compile(r"[^\W\d_]{3}|\d{3}|[^\W\x00-\x7f]{2}")
"""Text must contain a match; single letters and digits are also detected in icons."""
_CLEAR = 0.85
"""Minimum mean score of an upright picture. Clear text has at least 0.95, upside-down text 0.6 to 0.71, illegible text
0.5 to 0.62.
"""
_LEGIBLE = 0.75
"""Mean score below which the recognised text is nonsense."""
_ILLEGIBLE = "\0"
"""Cache entry of a picture with illegible text."""
_SMALLEST = 16
"""Minimum side in pixels of a picture that can contain text."""

_spent = [0.0]  # seconds in this process
_lock = threading.Lock()  # the reader has state between its steps
_log = logging.getLogger(__name__)


class PictureReader(Protocol):
    """Detects and recognises text in a picture."""

    def __call__(self, pixels: Pixels) -> list[TextBox]:
        """Return the pieces of text in a picture of height x width x 3 (red, green, blue), in any order."""
        ...


def ocr_available() -> bool:
    """Whether the packages for reading pictures are installed. Imports nothing."""
    return all(find_spec(name) is not None for name in ("rapidocr", "PIL", "cv2"))


def require_ocr() -> None:
    """Raise MissingExtraError if pictures cannot be read."""
    if not ocr_available():
        raise MissingExtraError("reading the text of pictures", "ocr")


def parser_time() -> float:
    """Return the processor seconds of this process without those spent on pictures, for the time limit of a document."""
    return time.process_time() - _spent[0]


@contextmanager
def picture_time(seconds: float) -> Iterator[None]:
    """Exclude the block from :func:`parser_time`. If the processor time of this process is limited, extend the limit by
    ``seconds`` meanwhile.
    """
    started = time.process_time()
    try:
        with _processor_time(seconds):
            yield
    finally:
        _spent[0] += time.process_time() - started


class Ocr:
    """Reads the text of the pictures of one document, within a total of ``limits.ocr_seconds``."""

    def __init__(self, limits: InputLimits = DEFAULT_LIMITS, reader: PictureReader | None = None) -> None:
        """``reader`` replaces the one of the extra."""
        self._limits = limits
        self._reader = reader
        self.spent = 0.0
        """Processor seconds used."""
        self.unread = 0
        """Number of pictures left out for lack of time or memory."""
        self.illegible = 0
        """Number of pictures with illegible text, which is dropped."""

    @property
    def available(self) -> bool:
        """Whether pictures are read; never if ``limits.ocr_seconds`` is 0."""
        return self._limits.ocr_seconds > 0 and (self._reader is not None or ocr_available())

    def read(self, picture: bytes | Image | Pixels) -> str:
        """Return the text of a picture, also of a rotated one, line by line. Empty if there is none, if it is illegible
        (counted by :attr:`illegible`), if the extra is missing, or if the time limit of the document is exceeded
        (:attr:`unread`).

        Raises ParseError for data that is not a picture, is damaged, or has too many pixels.
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
    """Read a picture that may be rotated by a quarter or upside down. A reader also detects the lines of a rotated
    picture: tall boxes, which it reads from bottom to top.
    """
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
    """Return the mean score, weighted by characters."""
    return sum(len(box.text) * box.score for box in boxes) / max(1, sum(len(box.text) for box in boxes))


def _is_high(boxes: Sequence[TextBox]) -> bool:
    """Whether most characters are in boxes that are taller than wide."""
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
    """Give pictures additional time if the processor time of the process is limited: reading them is slow, but does not
    indicate that a parser is stuck.
    """
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
    """Return the reader of the extra, created once per process (1 to 2 s). Raises MissingExtraError."""
    require_ocr()
    return _RapidReader()


class _RapidReader:
    """rapidocr with the models included in its package, so that nothing is downloaded."""

    def __init__(self) -> None:
        import rapidocr

        models = Path(rapidocr.__file__).parent / "models"
        parameters: dict[str, Any] = {
            "Global.log_level": "critical",
            # The orientation classifier is unreliable on short pieces.
            "Global.use_cls": False,
            "Det.model_path": str(_model(models, "det")),
            "Det.limit_type": "max",  # the default enlarges small pictures: three times as slow, no better
            "Det.limit_side_len": _DETECT_SIDE,
            "Rec.model_path": str(_model(models, "rec")),
            "Rec.rec_batch_num": 1,  # larger batches use the memory of the widest piece for each
            # There are as many processes as cores.
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            "EngineConfig.onnxruntime.enable_cpu_mem_arena": False,  # keeps the memory of the largest picture
        }
        self._read = rapidocr.RapidOCR(params=parameters)

    def __call__(self, pixels: Pixels) -> list[TextBox]:
        import cv2

        with _lock:
            threads = cv2.getNumThreads()
            cv2.setNumThreads(1)  # each thread needs its own memory
            try:
                found = self._read(np.ascontiguousarray(pixels[:, :, ::-1]))  # to blue, green, red
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
    """Return the model file of a step. With an explicit path nothing is downloaded."""
    found = sorted(folder.glob(f"*_{step}_*.onnx"))
    if not found:
        raise MissingExtraError("reading the text of pictures (the models of rapidocr are missing)", "ocr")
    return found[-1]
