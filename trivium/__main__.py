"""``trivium`` and ``python -m trivium``."""

from __future__ import annotations

import os
import sys

COMPLETION = "_TRIVIUM_COMPLETE"
"""Environment variable set by the shell when it requests completions."""


def run() -> None:
    """Run the command. An interrupt while it is still loading does not print a traceback."""
    try:
        if COMPLETION in os.environ:
            from trivium.shell_completion import complete

            complete()
        from trivium.cli import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    run()
