"""How every script of experiments/ and benchmarks/ begins and ends: what it lacks is said in one line, before it works.

    def main() -> None:
        parser = command.Parser(__doc__, takes="a minute", packages=("lightgbm",))
        parser.add_argument("--store", type=command.store, required=True)
        given = parser.parse_args()

    if __name__ == "__main__":
        command.run(main)

The scripts run from the repository with the packages of ``make dev``, as ``python FOLDER/SCRIPT.py`` or
``python -m FOLDER.SCRIPT``.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NoReturn

from trivium.errors import InputError, TriviumError
from trivium.graph.open_store import exists, is_address

LACKING = 2
"""Exit code where something is missing or is not what was expected."""
INTERRUPTED = 130
_OF_EXTRA = {"trivium[train]": "keras", "trivium[speech]": "faster-whisper", "trivium[ray]": "ray"}


class Parser(argparse.ArgumentParser):
    """Parses a command line; an error is one line. ``takes`` says how long the script works, on two cores; ``packages``
    are what it needs besides Trivium, by their names on the package index: ``--help`` names both.
    """

    def __init__(
        self, description: str | None = None, *, takes: str = "", packages: Sequence[str] = (), **more: Any
    ) -> None:
        needs = f"Needs pip install {shlex.join(packages)}. " if packages else ""
        super().__init__(
            description=description,
            epilog=f"{needs}Takes {takes}." if takes else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **more,
        )
        self.packages = packages

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, then end the process if a package is missing."""
        given = super().parse_args(args, namespace)
        self.need(self.packages)
        return given

    def need(self, packages: Sequence[str]) -> None:
        """End the process if a package is missing."""
        if absent := missing(packages):
            self.error(f"packages are missing: pip install {shlex.join(absent)}")

    def error(self, message: str) -> NoReturn:
        """End the process with one line."""
        self.exit(LACKING, f"error: {message}\n")


def missing(packages: Sequence[str]) -> list[str]:
    """Return those that are not installed; an extra is told by one of its packages."""
    return [name for name in packages if not _installed(_OF_EXTRA.get(name, name))]


def _installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


class LackingError(InputError, argparse.ArgumentTypeError):
    """An argument names something that is missing."""


def existing(text: str | Path) -> Path:
    """Return the path of a file or folder; the type of an argument, like the following ones. Raises LackingError."""
    if not Path(text).exists():
        raise LackingError(f"expected a file or folder, got {text}: there is none")
    return Path(text)


def store(text: str) -> str:
    """Return the folder of a store, or the address of a server, which is not asked yet."""
    if not is_address(text) and not exists(text):
        raise LackingError(f"expected a store, got {text}: trivium build SOURCE... --store {text}")
    return text


def hits_and_store(text: str) -> tuple[Path, str]:
    """Return the parts of HITS=STORE."""
    hits, equals, of = text.partition("=")
    if not equals:
        raise LackingError(f"expected HITS=STORE, got {text}")
    return existing(hits), store(of)


def output(text: str) -> Path:
    """Return the path of a file that is written when the work is done; its folder must be there before."""
    if not Path(text).absolute().parent.is_dir():
        raise LackingError(f"expected a file in a folder, got {text}: the folder is missing")
    return Path(text)


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Around main, and around imports at the top of a script of what may be missing: end the process with one line in
    place of a traceback.
    """
    try:
        yield
    except KeyboardInterrupt:
        print("interrupted: what was printed and written stays", file=sys.stderr)
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has closed the pipe: the flush at exit must not write to it either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except ModuleNotFoundError as error:
        print(f"error: the module {error.name} is missing: pip install {error.name}", file=sys.stderr)
        code = LACKING
    except (TriviumError, OSError) as error:
        named = isinstance(error, OSError) and error.filename is not None
        said = f"{error.strerror}: {error.filename}" if named else str(error)
        print("error:", " ".join(said.splitlines()), file=sys.stderr)
        code = LACKING
    else:
        return
    sys.exit(code)


def run(main: Callable[[], int | None]) -> NoReturn:
    """Run the command of a script, and end the process with the exit code it returns, or 0."""
    code: int | None = None
    with errors_in_one_line():
        code = main()
    sys.exit(code)
