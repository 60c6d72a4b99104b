"""``trivium`` and ``python -m trivium``."""

from __future__ import annotations

import os
import sys

COMPLETION = "_TRIVIUM_COMPLETE"
"""What the shell sets when it wants to be told how a line may go on."""


def run() -> None:
    """Start the command; an interrupt while it is still loading is no reason for a traceback."""
    try:
        if COMPLETION in os.environ:
            from trivium.completion import complete

            complete()
        from trivium.cli import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    run()
