"""``trivium`` and ``python -m trivium``."""

from __future__ import annotations

import sys


def run() -> None:
    """Start the command; an interrupt while it is still loading is no reason for a traceback."""
    try:
        from trivium.cli import main
    except KeyboardInterrupt:
        sys.exit(130)
    main()


if __name__ == "__main__":
    run()
