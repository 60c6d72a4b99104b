"""Limits of documents. Input beyond them is rejected before it exhausts memory or time."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[int, Field(ge=1)]

UNPACKED_UPLOAD = 256 << 20
"""Default for the unpacked size of an uploaded file in bytes."""

OCR_UPLOAD = 60.0
"""Maximum seconds for reading the pictures of an upload, because its client and other clients wait."""

UNPACKED_FREE = 8 << 20
"""Bytes that any packed file may unpack to regardless of the ratio, because small files are often very regular."""


class InputLimits(BaseModel):
    """Limits of documents. The defaults suit a machine with 1 GB of memory. Sizes are in bytes.

    A document is an HTML page, a row of Natural Questions or a record; a file of rows may have any size. Documents
    beyond a limit are left out and reported as problems. Python may give any of them; those of :data:`LIMIT_SETTINGS`
    are settings, in ``trivium.toml`` the table ``[limits]``, in the environment ``TRIVIUM_LIMITS`` in JSON.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    document_bytes: Positive = 32 << 20
    """Size of a document, unpacked."""

    file_bytes: Positive | None = None
    """Size of a packed file, unpacked. None means 256 MB for uploads and no limit for files read by a command."""

    ratio: Positive = 100
    """Maximum compression ratio of a packed file, beyond its first 8 MB."""

    members: Positive = 10_000
    """Files in an archive (DOCX, PPTX, XLSX and EPUB are archives). Such an archive may unpack to 256 MB if
    ``file_bytes`` is None.
    """

    values: Positive = 2_000_000
    """Values in the JSON of a row or record, and cells of a table file."""

    markdown_bytes: Positive = 8 << 20
    """Size of a Markdown file."""

    tags: Positive = 1_000_000
    """Tags of an HTML page; XML elements of a DOCX or PPTX file."""

    attributes: Positive = 1_000
    """Attributes of one element."""

    headings: Positive = 10_000
    """Sections of a page."""

    picture_pixels: Positive = 50_000_000
    """Width times height of a picture. The default corresponds to a page of 60 x 45 cm scanned at 300 dpi."""

    ocr_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 600.0
    """Processor seconds for reading the text in a document's pictures, in addition to ``seconds``. Further pictures are
    left unread; 0 reads none. Uploads are limited to 60 seconds.
    """
    pages: Positive = 10_000
    """Pages of a PDF."""

    graph_bytes: Positive = 64 << 20
    """Size of a parsed page: its texts, names, search terms and uris."""

    documents: Positive = 100_000
    """Pages and rows per upload."""

    records_bytes: Positive = 128 << 20
    """Total size of the records of an upload, valid or not. Each counts 500 bytes in addition to its title and text."""

    problems: Positive = 1_000
    """Problems listed in a report. Further ones are only counted."""

    worker_bytes: Positive = 768 << 20
    """Memory of the process that parses uploads."""

    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 30.0
    """Processor seconds per document in that process. The wall-clock limit is three times as long."""

    def of_uploads(self) -> InputLimits:
        """Return the limits for uploads."""
        return self.model_copy(
            update={
                "file_bytes": self.file_bytes or UNPACKED_UPLOAD,
                "ocr_seconds": min(self.ocr_seconds, OCR_UPLOAD),
            }
        )


LIMIT_SETTINGS = frozenset(
    (
        "document_bytes",
        "file_bytes",
        "values",
        "pages",
        "picture_pixels",
        "seconds",
        "ocr_seconds",
        "worker_bytes",
    )
)
"""The limits that are settings: what a good document may exceed. The others are constants that only damaged or hostile
ones exceed.
"""

DEFAULT_LIMITS = InputLimits()
"""Default limits of functions."""
