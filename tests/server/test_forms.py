"""The files of a form are what was sent, however its bytes are cut on the way; what is no form is refused."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.server import forms
from trivium.server.errors import ApiError
from trivium.server.forms import FormReader
from trivium.server.uploads import Upload

KIND = "multipart/form-data; boundary=bound"


def form(*parts: tuple[str, bytes]) -> bytes:
    body = b"".join(
        f"--bound\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + content + b"\r\n"
        for head, content in parts
    )
    return body + b"--bound--\r\n"


def read(pieces: list[bytes]) -> list[tuple[str, bytes]]:
    with TemporaryDirectory() as folder:
        upload = Upload(Path(folder) / "upload")
        try:
            reader = FormReader(KIND, upload)
            for piece in pieces:
                reader.write(piece)
            reader.finish()
        finally:
            upload.close()
        contents = [(Path(folder) / "upload" / str(n)).read_bytes() for n in range(len(upload.names))]
        assert upload.size == sum(map(len, contents))
        return list(zip(upload.names, contents, strict=True))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.binary(max_size=60) | st.sampled_from([b"\r\n--bound", b"--bound--", b"\r\n"]),
        min_size=1,
        max_size=3,
    ),
    st.lists(st.integers(0, 400), max_size=6),
)
def test_files_come_as_they_were_sent_wherever_the_bytes_are_cut(
    contents: list[bytes], cuts: list[int]
) -> None:
    contents = [content.replace(b"\r\n--bound", b"\r\n-bound") for content in contents]
    parts = [(f'name="files"; filename="file {n}"', content) for n, content in enumerate(contents)]
    body = form(("name=other", b"skipped"), *parts)
    edges = [0, *sorted(cuts), len(body)]
    pieces = [body[start:end] for start, end in pairwise(edges)]
    assert read(pieces) == [(f"file {n}", content) for n, content in enumerate(contents)]


FILE = ('name="files"; filename="a"', b"x")


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (form(FILE)[:-12], 400, "in the middle"),
        (form(("name=a", b"x")), 422, "at least one file"),
        (form(*[FILE] * 4), 400, "files at most"),
        (form(*[("name=a", b"x")] * 11), 400, "fields at most"),
        (form(("name=a", b"x" * 2_000_000)), 400, "in a field"),
        (form(("filename=a", b"x")), 400, "a name"),
        (form((f"name={'x' * 9000}", b"x")), 400, ""),
        (b"something else", 400, "cannot be read"),
    ],
)
def test_what_is_no_form_of_files_is_refused(
    body: bytes, status: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "MAX_FILES", 3)
    with pytest.raises(ApiError) as refused:
        read([body])
    assert refused.value.status_code == status and says in refused.value.detail
