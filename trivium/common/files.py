"""Files that survive a crash: one that is replaced whole or not at all, a log that loses no finished line, and a lock
that a dead process does not keep."""

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
"""How the names of temporary files end. One that is left behind was left by a process that was killed."""
_MAX_NAME = 40
"""Characters of the file's own name in that of its temporary file: names have a limit."""


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A new file, which takes the place of ``path`` when the block ends; when the block raises, nothing has changed.

    Whoever opens ``path`` meanwhile finds the old content or the new one, complete. When the block has ended, the content
    is on the disk. The folder is made when missing, and a symbolic link stays one: the file it names is replaced. Raises
    OSError.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    with _written_beside(target, lambda temporary: temporary.replace(target)) as file:
        yield file


def write_file(path: Path, content: str | bytes) -> None:
    """Write a whole file as :func:`replacing` does, text in UTF-8. Raises InputError where it cannot be written."""
    try:
        with replacing(path) as file:
            file.write(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise _not_writable(path, error) from error


def is_full_disk(error: OSError) -> bool:
    """Whether an error means that there is no space left, on the disk or for this user."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def write_new_file(path: Path, content: bytes) -> None:
    """Write a whole file as :func:`writing_new_file` does."""
    with writing_new_file(path) as file:
        file.write(content)


@contextmanager
def writing_new_file(path: Path) -> Iterator[BinaryIO]:
    """A file that is not there yet. Whoever looks finds nothing or, when the block has ended, the whole file; of several
    processes at once one succeeds. Raises FileExistsError where there is something, other OSErrors where it cannot be
    written."""
    with _written_beside(path, lambda temporary: _link(temporary, path)) as file:
        yield file


@contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """A new folder beside a file, for what is needed to make the file; it is removed when the block ends. What processes
    that were killed left beside this file is removed, too. Raises OSError."""
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
    """Lock a folder as long as this process lives; whether no other one holds it."""
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
    """Remove temporary files and folders of processes that are gone. A folder is locked by its process; the files belong
    to a process with a folder."""
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
    """A temporary file beside ``target``; ``put`` gives it its name when all of it is on the disk."""
    temporary = _temporary(target)
    try:
        # Not by tempfile: its files cannot be read by others, whatever the umask.
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
    """A lock between processes, on a file of its own. The system lets go of it when its process ends, however that ends.
    On Windows everybody gets it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # A descriptor rather than a file object, which would let go of the lock when nothing refers to it any more,
        # though a thread that was given up may still do what it guards.
        self._file: int | None = None

    def take(self, *, shared: bool = False, wait: bool = False) -> bool:
        """Take the lock, alone or ``shared`` with others who share it; one that is held is exchanged for the other kind.
        False where others hold it, unless their end is waited for. Raises OSError where the file cannot be made."""
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
        """Let go of it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


class JsonLines(Generic[Record]):
    """A log: records of one kind (a dataclass or a pydantic model), one JSON object a line, which is only appended to.

    A record is on the disk when :meth:`append` returns. A process that is killed while it writes leaves a line without
    an end: it is never read, and dropped before the next record is appended. One process writes at a time.

    ``header``: how many lines at the beginning are no records.
    """

    def __init__(self, path: Path, kind: type[Record], header: int = 0) -> None:
        self.path = path
        self._type = TypeAdapter(kind)
        self._header = header
        self._held: IO[bytes] | None = None

    def lines(self) -> Iterator[bytes]:
        """The finished lines, header included, without their ends; none where there is no file. Raises InputError."""
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
        """The records, in order. Raises InputError, naming the line, for one that is not of this kind."""
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
        """Keep other processes from writing until the block ends. Where another one writes, InputError is raised, or with
        ``wait`` its end is waited for."""
        with self._opened() as file:
            _lock(file, self.path, wait)
            _drop_torn_line(file)
            self._held = file
            try:
                yield
            finally:
                self._held = None

    def append(self, record: Record) -> None:
        """Add a record. Outside of :meth:`writing` the log is locked for this record alone, when it is free. Raises
        InputError where it cannot be written."""
        self.append_line(self._type.dump_json(record))

    def append_line(self, line: bytes) -> None:
        """Add a line of JSON that is no record: a header."""
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
        """Drop all lines but the first ``count``, header included; only within :meth:`writing`."""
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
    """Cut the end off that has no line end."""
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
    """Returns when what was written to a file is on the disk."""
    file.flush()
    os.fsync(file.fileno())


def folder_to_disk(folder: Path) -> None:
    """Returns when the entries of a folder (files that are new, or renamed) are on the disk; some file systems, and
    Windows, cannot, and do it in their own time."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _not_writable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: expected a file that can be written, got {error.strerror or error}")
