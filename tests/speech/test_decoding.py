"""Audio of strangers is decoded within limits, or refused for a reason."""

from __future__ import annotations

import io
import random
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from trivium.common.stopping import Stop, StoppedError
from trivium.errors import AudioError, AudioTooLongError
from trivium.speech import decoding
from trivium.speech.decoding import container_format, decode
from trivium.speech.speech import wav_file

av = pytest.importorskip("av", reason="needs the extra speech")

RATE = 24_000
FORMATS = [
    ("wav", "pcm_s16le", 24_000),
    ("aiff", "pcm_s16be", 24_000),
    ("flac", "flac", 24_000),
    ("ogg", "libopus", 48_000),
    ("webm", "libopus", 48_000),
    ("mp4", "aac", 44_100),
    ("adts", "aac", 44_100),
    ("mp3", "libmp3lame", 44_100),
]


def tone(seconds: float) -> NDArray[np.int16]:
    """440 Hz."""
    times = np.arange(int(seconds * RATE)) / RATE
    return (8000 * np.sin(2 * np.pi * 440 * times)).astype(np.int16)


def encoded(samples: NDArray[np.int16], form: str, codec: str, rate: int) -> bytes:
    """A file as another program would make it."""
    file = io.BytesIO()
    with av.open(file, "w", format=form) as container:
        stream = container.add_stream(codec, rate=rate)
        stream.layout = "mono"
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = RATE
        resampler = av.AudioResampler(format=stream.format.name, layout="mono", rate=rate)
        for part in (*resampler.resample(frame), *resampler.resample(None)):
            container.mux(stream.encode(part))
        container.mux(stream.encode(None))
    return file.getvalue()


@pytest.mark.parametrize(("form", "codec", "rate"), FORMATS, ids=[form for form, *_ in FORMATS])
def test_each_format_gives_the_same_sound(form: str, codec: str, rate: int) -> None:
    """A tone of half a second: its length and its pitch, at 16 kHz."""
    found = decode(encoded(tone(0.5), form, codec, rate))
    assert found.dtype == np.float32 and abs(len(found) - 8000) < 1300  # encoders add silence
    spectrum = np.abs(np.fft.rfft(found[1600:6400]))
    assert abs(int(np.argmax(spectrum)) * 16_000 / 4800 - 440) < 10


def test_a_wav_file_of_unknown_length_is_read_to_its_end() -> None:
    """As programs write it that do not know yet how long it will be."""
    file = bytearray(wav_file([tone(0.3)], RATE))
    known = decode(bytes(file))
    file[4:8] = file[40:44] = b"\xff" * 4
    assert np.array_equal(decode(bytes(file)), known)
    assert len(known) == int((0.3 + 0.25) * 16_000)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no audio",
        b"#EXTM3U\n#EXTINF:1\nfile:///etc/passwd\n",
        b"ffconcat version 1.0\nfile /etc/passwd\n",
        b"<!doctype html>",
        b"PK\x03\x04" + bytes(100),
        b"\x89PNG\r\n\x1a\n" + bytes(100),
    ],
)
def test_what_does_not_begin_like_audio_is_given_to_no_decoder(
    content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists of addresses above all: FFmpeg would fetch what they name."""
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a decoder was started"))
    with pytest.raises(AudioError, match="expected audio"):
        decode(content)


def wav_with(rate: int, channels: int, bits: int) -> bytes:
    """A header that says so, and a million bytes."""
    form = struct.pack("<HHIIHH", 1, channels, rate, rate, 2, bits)
    return b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0" + form + b"data\xff\xff\xff\xff" + bytes(1_000_000)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(encoded(tone(0.5), "mp4", "aac", 44_100)[:3000], id="mp4 without its index"),
        pytest.param(wav_file([tone(0.1)], RATE)[:40], id="wav of a header"),
        pytest.param(b"OggS" + random.Random(1).randbytes(50_000), id="noise as ogg"),
        pytest.param(b"\x1a\x45\xdf\xa3" + random.Random(2).randbytes(50_000), id="noise as webm"),
        pytest.param(b"\xff\xfb" + random.Random(3).randbytes(50_000), id="noise as mp3"),
        pytest.param(b"\0\0\0\x18ftypmp42" + bytes(100), id="mp4 without sound"),
        pytest.param(wav_with(4_000_000_000, 2, 16), id="4 GHz"),
        pytest.param(wav_with(16_000, 60_000, 16), id="60,000 channels"),
    ],
)
def test_what_is_damaged_is_an_error_of_who_sent_it(content: bytes) -> None:
    with pytest.raises(AudioError):
        decode(content)


def test_a_file_that_breaks_off_is_heard_as_far_as_it_goes() -> None:
    whole = encoded(tone(2.0), "ogg", "libopus", 48_000)
    assert 8000 < len(decode(whole[: len(whole) // 2])) < 24_000


def test_hours_in_a_small_file_are_refused_soon() -> None:
    """An hour of silence packs into less than a megabyte; no more than the limit is unpacked."""
    packed = encoded(np.zeros(3600 * RATE, np.int16), "flac", "flac", RATE)
    assert len(packed) < 1 << 20
    began = time.monotonic()
    with pytest.raises(AudioTooLongError, match="longer than 60 seconds"):
        decode(packed, 60.0)
    assert time.monotonic() - began < 10
    with pytest.raises(AudioTooLongError):
        decode(wav_with(1, 1, 16), 60.0)  # a sample a second


def test_the_decoder_can_open_nothing() -> None:
    """Neither a file nor a connection, once it is loaded: it has three descriptors, and may not have a fourth."""
    program, _, _ = decoding._PROGRAM.read_text("utf-8").rpartition("if __name__")
    code = (
        f"{program}\n"
        "import socket\n_limit()\n"
        "for attempt in (lambda: open('/etc/hostname'), lambda: socket.socket()):\n"
        "    try: attempt()\n"
        "    except OSError as error: print(error.errno)\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["24", "24"]  # EMFILE


def test_a_decoder_that_hangs_is_ended_when_nobody_waits_any_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And after its time in any case."""
    program = tmp_path / "hangs.py"
    program.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(decoding, "_PROGRAM", program)
    stop = Stop()
    threading.Timer(0.3, stop.ask).start()
    began = time.monotonic()
    with stop.in_force(), pytest.raises(StoppedError):
        decode(wav_file([tone(0.1)], RATE))
    monkeypatch.setattr(decoding, "_PATIENCE_SECONDS", 0.3)
    with pytest.raises(AudioError):
        decode(wav_file([tone(0.1)], RATE))
    assert time.monotonic() - began < 20


def test_a_decoder_that_writes_too_much_is_not_believed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "floods.py"
    program.write_text("import sys\nwhile True: sys.stdout.buffer.write(bytes(1 << 16))\n")
    monkeypatch.setattr(decoding, "_PROGRAM", program)
    with pytest.raises(AudioTooLongError):
        decode(wav_file([tone(0.1)], RATE), 1.0)


def test_an_mpeg_frame_is_told_from_aac() -> None:
    assert [container_format(bytes(start)) for start in ((0xFF, 0xFB), (0xFF, 0xF1), (0xFF, 0xF9))] == [
        "mp3",
        "aac",
        "aac",
    ]
