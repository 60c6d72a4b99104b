"""``python -m trivium``."""

from trivium.cli import main

main()
