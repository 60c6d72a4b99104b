"""How much a document may take: what comes in is refused before it costs a machine its memory or its time."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[int, Field(ge=1)]

UNPACKED_UPLOAD = 256 << 20
"""Bytes that an uploaded file may unpack to where the settings name no other limit."""

OCR_UPLOAD = 60.0
"""Seconds to read the pictures of an upload: a client waits for it, and others wait behind."""

UNPACKED_FREE = 8 << 20
"""Bytes that any packed file may unpack to, whatever the ratio: small files are often very regular."""


class InputLimits(BaseModel):
    """Limits of documents, with defaults that suit a machine with 1 GB of memory. Sizes are in bytes.

    A document is an HTML page, a row of Natural Questions or a record: a file of rows may be of any size. One that is
    beyond a limit is left out and reported as a problem. In ``trivium.toml`` they are the table ``[limits]``, in the
    environment ``TRIVIUM_LIMITS`` is JSON.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    document_bytes: Positive = 32 << 20
    """A document, unpacked."""

    file_bytes: Positive | None = None
    """A packed file, unpacked; None means that one that is uploaded may have 256 MB, and one that a command reads any
    size."""

    ratio: Positive = 100
    """How many times its size a packed file may unpack to, beyond the first 8 MB."""

    members: Positive = 10_000
    """Files in an archive, which DOCX, PPTX, XLSX and EPUB are; such an archive may unpack to 256 MB where
    ``file_bytes`` is None."""

    values: Positive = 2_000_000
    """Values in the JSON of a row or record, and cells of a table file."""

    markdown_bytes: Positive = 8 << 20
    """A Markdown file."""

    tags: Positive = 1_000_000
    """Tags of an HTML page, XML elements of a DOCX or PPTX."""

    attributes: Positive = 1_000
    """Attributes of one element."""

    headings: Positive = 10_000
    """Sections of a page."""

    picture_pixels: Positive = 50_000_000
    """Width times height of a picture: about those of a page of 60 x 45 cm that was scanned at 300 dots an inch."""

    ocr_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 600.0
    """Processor time to read the text of a document's pictures, beyond ``seconds``; the text of further pictures is
    left out. 0 reads none. For uploads it is 60 seconds at most."""
    pages: Positive = 10_000
    """Pages of a PDF."""

    graph_bytes: Positive = 64 << 20
    """What a page becomes: its texts, names, search terms and uris."""

    documents: Positive = 100_000
    """Pages and rows of one upload."""

    records_bytes: Positive = 128 << 20
    """The records of one upload, good or bad, each counted with 500 bytes more than its title and text."""

    problems: Positive = 1_000
    """Problems that a report lists; further ones are only counted."""

    worker_bytes: Positive = 768 << 20
    """Memory of the process that parses what clients upload."""

    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 30.0
    """Processor time for a document in that process; by the clock it may take three times as long."""

    def of_uploads(self) -> InputLimits:
        """The limits for what clients upload."""
        return self.model_copy(
            update={
                "file_bytes": self.file_bytes or UNPACKED_UPLOAD,
                "ocr_seconds": min(self.ocr_seconds, OCR_UPLOAD),
            }
        )


DEFAULT_LIMITS = InputLimits()
"""The limits of functions that are called without any."""
