"""Crash-safe files: atomic replacement, an append-only log that loses no complete line, and a lock that is released
when its process dies.
"""

from __future__ import annotations

import errno
import glob
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from trivium.errors import InputError

Record = TypeVar("Record")

TEMPORARY = ".part"
"""Suffix of temporary files. A leftover one belongs to a process that was killed."""
_MAX_NAME = 40
"""Maximum length of the target's name within that of its temporary file, because file names are limited."""


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file that replaces ``path`` when the block ends. If the block raises, nothing is changed.

    Readers of ``path`` always see the old or the new content, complete. When the block has ended, the content is
    durable. Missing folders are created. A symbolic link is kept, and the file it refers to is replaced. Raises
    OSError.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    with _written_beside(target, lambda temporary: temporary.replace(target)) as file:
        yield file


def write_file(path: Path, content: str | bytes) -> None:
    """Write a complete file as :func:`replacing` does, text as UTF-8. Raises InputError when it cannot be written."""
    try:
        with replacing(path) as file:
            file.write(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise _not_writable(path, error) from error


def is_full_disk(error: OSError) -> bool:
    """Whether an error means that the disk or the user's quota is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def write_new_file(path: Path, content: bytes) -> None:
    """Write a complete file as :func:`writing_new_file` does."""
    with writing_new_file(path) as file:
        file.write(content)


@contextmanager
def writing_new_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that must not exist yet. It becomes visible when the block ends, complete; of several concurrent
    processes one succeeds. Raises FileExistsError when it exists, and other OSErrors when it cannot be written.
    """
    with _written_beside(path, lambda temporary: _link(temporary, path)) as file:
        yield file


@contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """Create a temporary folder next to a file, for creating that file. It is removed when the block ends, and so are
    leftovers of killed processes for the same file. Raises OSError.
    """
    target = Path(os.path.realpath(beside))
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = _temporary(target)
    folder.mkdir()
    try:
        with _held(folder):
            _remove_left_behind(target, folder)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Lock a folder for the lifetime of this process, and yield whether no other process holds the lock."""
    if sys.platform == "win32":
        yield True
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _remove_left_behind(target: Path, own: Path) -> None:
    """Remove temporary files and folders of processes that have died. A folder is locked by its process; files belong
    to a process with a folder.
    """
    found = list(target.parent.glob(f".{glob.escape(target.name[:_MAX_NAME])}.*{TEMPORARY}"))
    alone = True
    with suppress(OSError):
        for folder in (path for path in found if path.is_dir() and path != own):
            with _held(folder) as free:
                if free:
                    shutil.rmtree(folder)
                alone = alone and free
        for file in (path for path in found if alone and path.is_file()):
            file.unlink()


@contextmanager
def _written_beside(target: Path, put: Callable[[Path], object]) -> Iterator[BinaryIO]:
    """Yield a temporary file next to ``target``. ``put`` renames it once it is durable."""
    temporary = _temporary(target)
    try:
        # Not with tempfile, whose files are unreadable for others regardless of the umask.
        with temporary.open("xb") as file:
            yield file
            to_disk(file)
        put(temporary)
        folder_to_disk(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name[:_MAX_NAME]}.{secrets.token_hex(4)}{TEMPORARY}")


def _link(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        temporary.rename(path)


class LockFile:
    """A lock between processes, on a separate file. The operating system releases it when the process ends, however it
    ends. On Windows it is always granted.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        # A descriptor rather than a file object, which would release the lock when garbage-collected although an
        # abandoned thread may still be working under it.
        self._file: int | None = None

    def take(self, *, shared: bool = False, wait: bool = False) -> bool:
        """Take the lock, exclusively or ``shared``. A held lock is converted to the other kind. Returns False when
        others hold it, unless ``wait``. Raises OSError when the file cannot be created.
        """
        if self._file is None:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        if sys.platform == "win32":
            return True
        import fcntl

        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.flock(self._file, kind if wait else kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        """Release the lock."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


class JsonLines(Generic[Record]):
    """An append-only log of records of one kind (a dataclass or a pydantic model), one JSON object per line.

    A record is durable when :meth:`append` returns. A process that is killed while writing leaves an incomplete line,
    which is never read and is dropped before the next record is appended. One process writes at a time. ``header`` is
    the number of lines at the beginning that are not records.
    """

    def __init__(self, path: Path, kind: type[Record], header: int = 0) -> None:
        self.path = path
        self._type = TypeAdapter(kind)
        self._header = header
        self._held: IO[bytes] | None = None

    def lines(self) -> Iterator[bytes]:
        """Yield the complete lines, header included, without line ends; none if the file does not exist. Raises
        InputError.
        """
        try:
            with self.path.open("rb") as file:
                for line in file:
                    if line.endswith(b"\n"):
                        yield line[:-1]
        except FileNotFoundError:
            return
        except OSError as error:
            raise InputError(f"{self.path}: expected a readable file, got {error.strerror}") from error

    def records(self) -> Iterator[Record]:
        """Yield the records in order. Raises InputError, with the line number, for an invalid record."""
        for number, line in enumerate(self.lines(), start=1):
            if number > self._header:
                try:
                    yield self._type.validate_json(line)
                except ValidationError as error:
                    raise InputError(
                        f"{self.path}, line {number}: expected a record of an earlier run, got something else;"
                        " delete the file, or begin in another folder"
                    ) from error

    @contextmanager
    def writing(self, *, wait: bool = False) -> Iterator[None]:
        """Lock the log for writing until the block ends. If another process is writing, raises InputError, or waits
        with ``wait``.
        """
        with self._opened() as file:
            _lock(file, self.path, wait)
            _drop_torn_line(file)
            self._held = file
            try:
                yield
            finally:
                self._held = None

    def append(self, record: Record) -> None:
        """Append a record. Outside of :meth:`writing` the log is locked for this record alone, as soon as it is free.
        Raises InputError when it cannot be written.
        """
        self.append_line(self._type.dump_json(record))

    def append_line(self, line: bytes) -> None:
        """Append a line of JSON that is not a record: a header."""
        if self._held is None:
            with self.writing(wait=True):
                self.append_line(line)
            return
        try:
            self._held.write(line + b"\n")
            to_disk(self._held)
        except OSError as error:
            raise _not_writable(self.path, error) from error

    def keep(self, count: int) -> None:
        """Drop all lines after the first ``count``, header included. Only allowed within :meth:`writing`."""
        if self._held is None:
            raise RuntimeError("a log is shortened while it is open for writing")
        self._held.seek(0)
        self._held.truncate(sum(len(self._held.readline()) for _ in range(count)))
        to_disk(self._held)

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self.path.open("ab+")
        except OSError as error:
            raise _not_writable(self.path, error) from error
        with file:
            yield file


def _drop_torn_line(file: IO[bytes]) -> None:
    """Drop an incomplete last line."""
    end = file.seek(0, os.SEEK_END)
    keep = end
    while keep:
        start = max(0, keep - (1 << 16))
        file.seek(start)
        found = file.read(keep - start).rfind(b"\n")
        if found >= 0:
            keep = start + found + 1
            break
        keep = start
    if keep < end:
        file.truncate(keep)


def _lock(file: IO[bytes], path: Path, wait: bool) -> None:
    if sys.platform == "win32":
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise InputError(f"{path}: another process is writing to it; wait until it ends") from error


def to_disk(file: IO[bytes]) -> None:
    """Flush a file to disk."""
    file.flush()
    os.fsync(file.fileno())


def folder_to_disk(folder: Path) -> None:
    """Flush the entries of a folder (new or renamed files) to disk. On Windows and some file systems this is not
    supported and has no effect.
    """
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _not_writable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: expected a file that can be written, got {error.strerror or error}")
